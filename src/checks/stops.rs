//! The releases by which an upgrade goes to its target, one minor after the other: with which of them begins what begins with the
//! upgrade. Each check that found something is asked again of the worlds around each stop.

use super::context::Run;
use super::rehearsal::{AFTER, Plugin, Upgrade, prints};
use super::{CheckResult, Settings, upgrades};
use crate::finding::{Evidence, Finding, When};
use crate::knowledge::Knowledge;
use crate::version::LinkerdVersion;

/// The worlds before and after an upgrade to each release on the way to the target; none where the target is the next.
pub(super) fn stops(run: &Run<'_>) -> Vec<[Settings; 2]> {
    let Some(upgrade) = &run.settings.upgrade else { return Vec::new() };
    let mut releases = upgrades::releases(run);
    releases.pop();
    let stop = |to: LinkerdVersion| {
        let plugin = Plugin::of(&to, run.knowledge.releases());
        let stop = Upgrade { given: to.to_string(), to, plugin, ..upgrade.clone() };
        let before = Settings { upgrade: Some(stop), upgraded: false, ..run.settings.clone() };
        let after = Settings { upgraded: true, ..before.clone() };
        [before, after]
    };
    releases.into_iter().map(stop).collect()
}

/// Says of what begins with the upgrade with which release on the way it does, where that is not the target: the first after
/// which `judge` finds it, given its place.
pub(super) fn mark(
    mut judged: CheckResult,
    stops: &[[Settings; 2]],
    knowledge: &Knowledge,
    judge: impl Fn(usize) -> CheckResult,
) -> CheckResult {
    let open = |finding: &Finding| finding.when == When::AfterUpgrade && finding.begins_with.is_none();
    for (at, stop) in stops.iter().filter_map(|[_, after]| after.upgrade.as_ref()).enumerate() {
        if !judged.findings.iter().any(open) {
            break;
        }
        let by_then = prints(&judge(at));
        for finding in judged.findings.iter_mut().filter(|finding| open(finding)) {
            // As that world says it, without the mark of the target's.
            let mut plain = finding.clone();
            plain.parameters.retain(|parameter| parameter != AFTER);
            let begins = |subject| by_then.contains(&(plain.subject_fingerprint(subject), plain.severity));
            if plain.subjects.iter().any(begins) {
                finding.begins_with = Some(stop.to.clone());
                finding.evidence.push(Evidence::other("begins with", stop.in_words(knowledge)));
            }
        }
    }
    judged
}
