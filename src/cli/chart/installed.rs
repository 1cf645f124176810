//! Values of the control-plane chart in objects of a change, applied on top of those in the cluster. If the resulting
//! values are unknown, a text states the reason.
use super::{CONTROL_PLANE, as_change, few};
use crate::chart::gitops::Installed;
use crate::chart::values_input::ValuesInput;
use crate::checks::chart;
use crate::knowledge::Knowledge;
use crate::model::Cluster;
use crate::source::change::Set;
use crate::version::LinkerdVersion;

const UNLAID: &str = "effects of these values on the control-plane settings (linkerd-config)";
const UPGRADE: &str = "changes of a new control-plane release (preview them with --to)";

/// The chart release that an object names, or else the reason why it is unknown.
pub(super) fn release(
    name: &str,
    version: Option<&(String, String)>,
    knowledge: &Knowledge,
) -> Result<LinkerdVersion, String> {
    let Some((_, text)) = version else { return Err("has no version".to_owned()) };
    let release = chart(&format!("{name}@{text}"), knowledge).ok().and_then(|(_, release)| release);
    release.ok_or_else(|| format!("says {text}"))
}

/// Whether a version is exact, not a range.
pub(super) fn is_one(version: &(String, String)) -> bool {
    version.1.trim().trim_start_matches(['v', '=']).parse::<semver::Version>().is_ok()
}

/// Applies chart values in objects of a change to the stored control-plane settings. Returns the change, and
/// descriptions of what is unknown.
pub(in crate::cli) fn over_control_plane(
    installed: &[Installed],
    (today, running): (&Cluster, Option<&LinkerdVersion>),
    knowledge: &Knowledge,
) -> (Set, Vec<String>) {
    let (mut fit, mut unlaid, mut upgrade) = (Vec::new(), Vec::new(), Vec::new());
    let said = |one: &Installed, why: &str| format!("{} ({}), which {why}", one.object, one.place);
    for one in installed.iter().filter(|one| one.chart == CONTROL_PLANE) {
        match unfit(one, &today.namespaces.control_plane, knowledge) {
            Some(why) => unlaid.push(said(one, &why)),
            None => fit.push(one),
        }
    }
    let mut set = Set::default();
    match fit[..] {
        [] => {}
        [one] => {
            set = as_change(&values_input(one), today);
            if set.count() == 0 {
                unlaid.push(said(one, "cannot be applied: the cluster's linkerd-config is missing or unreadable"));
            }
            // Without an exact version, the release of the cluster applies.
            if let (Ok(to), Some(from)) = (release(&one.chart, one.version.as_ref(), knowledge), running)
                && !to.same_release(from)
            {
                upgrade.push(said(one, &format!("installs {to} over {from}")));
            }
        }
        ref several => {
            unlaid.extend(several.iter().map(|one| said(one, "is one of several objects for the same control plane")));
        }
    }
    let unknown = few(UNLAID, &unlaid).into_iter().chain(few(UPGRADE, &upgrade));
    (set, unknown.collect())
}

/// Reason why the values of an object are not those of the control plane.
fn unfit(one: &Installed, namespace: &str, knowledge: &Knowledge) -> Option<String> {
    if let Some(idle) = one.idle {
        return Some(idle.to_owned());
    }
    match one.namespace.as_deref() {
        None => return Some("has no namespace".to_owned()),
        Some(other) if other != namespace => {
            return Some(format!("is for the namespace {other} instead of {namespace}"));
        }
        Some(_) => {}
    }
    if !one.absent.is_empty() {
        return Some(format!("takes values from missing sources: {}", one.absent.join(", ")));
    }
    let release = release(&one.chart, one.version.as_ref(), knowledge);
    if let (Err(why), true) = (&release, one.version.as_ref().is_some_and(is_one)) {
        return Some(format!("{why}, an unknown version (update the release data with --knowledge)"));
    }
    let edge = release.ok().and_then(|release| release.edge());
    let (first, through) = knowledge.charts().range();
    edge.filter(|edge| !knowledge.charts().covers(*edge))
        .map(|edge| format!("installs {edge}, but only charts of {first} to {through} are known"))
}

fn values_input(one: &Installed) -> ValuesInput {
    ValuesInput {
        chart: one.chart.clone(),
        release: None,
        files: one.files.clone(),
        by: Some((one.object.clone(), one.version.clone())),
        partial: false,
    }
}
