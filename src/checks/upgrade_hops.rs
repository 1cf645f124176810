//! The releases on the way of an upgrade, one minor after the other: finds the release with which each
//! finding begins. Each check with findings is repeated for the states around each release.

use super::context::RunInput;
use super::rehearsal::{AFTER, Plugin, Upgrade, prints};
use super::{CheckResult, Settings, upgrades};
use crate::checks::prelude::*;
use crate::finding::When;
use crate::knowledge::Knowledge;

/// The states before and after the upgrade to each release on the way; empty if the target is the next
/// release.
pub(super) fn stops(run: &RunInput<'_>) -> Vec<[Settings; 2]> {
    let Some(upgrade) = &run.settings.upgrade else { return Vec::new() };
    let mut releases = upgrades::releases(run);
    releases.pop();
    let stop = |to: LinkerdVersion| {
        let plugin = Plugin::installed_by(&to, run.knowledge.releases());
        let stop = Upgrade { given: to.to_string(), to, plugin, ..upgrade.clone() };
        let before = Settings { upgrade: Some(stop), upgraded: false, ..run.settings.clone() };
        let after = Settings { upgraded: true, ..before.clone() };
        [before, after]
    };
    releases.into_iter().map(stop).collect()
}

/// Records for each finding that begins with the upgrade the release that introduces it, unless that is the
/// target: the first release after which `judge`, called with its index, reports it.
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
            // The finding as that state reports it, without the mark of the target.
            let mut plain = finding.clone();
            plain.parameters.retain(|parameter| parameter != AFTER);
            let begins = |subject| by_then.contains(&(plain.subject_fingerprint(subject), plain.severity));
            if plain.subjects.iter().any(begins) {
                finding.begins_with = Some(stop.to.clone());
                finding.evidence.push(Evidence::other("changed in", stop.describe(knowledge)));
            }
        }
    }
    judged
}
