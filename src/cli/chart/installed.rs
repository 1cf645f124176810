//! The control plane's own chart, as objects of a change have it installed: their values over those that the cluster keeps, where it is
//! known that they are what the chart would get, and in words where it is not.

use super::{CONTROL_PLANE, few, laid};
use crate::chart::gitops::Installed;
use crate::chart::given::Given;
use crate::checks::chart;
use crate::knowledge::Knowledge;
use crate::model::Cluster;
use crate::source::change::Set;
use crate::version::LinkerdVersion;

const UNLAID: &str = "what values would change of the control plane's settings (linkerd-config)";
const UPGRADE: &str = "what another release of the control plane changes by itself (--to rehearses it)";

/// The release that an object names for a chart; else what it says instead.
pub(super) fn release(
    name: &str,
    version: Option<&(String, String)>,
    knowledge: &Knowledge,
) -> Result<LinkerdVersion, String> {
    let Some((_, text)) = version else { return Err("names no version".to_owned()) };
    let release = chart(&format!("{name}@{text}"), knowledge).ok().and_then(|(_, release)| release);
    release.ok_or_else(|| format!("says {text}"))
}

/// Whether a version names one chart, and no range of them.
pub(super) fn is_one(version: &(String, String)) -> bool {
    version.1.trim().trim_start_matches(['v', '=']).parse::<semver::Version>().is_ok()
}

/// What objects of a change make of the settings that the cluster keeps of its control plane, as a change, and in words what of that
/// cannot be known.
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
            set = laid(&given(one), today);
            if set.count() == 0 {
                unlaid.push(said(
                    one,
                    "is laid over nothing: the cluster's linkerd-config is not there or cannot be read",
                ));
            }
            // Of a version that is no one release it is that of the cluster.
            if let (Ok(to), Some(from)) = (release(&one.chart, one.version.as_ref(), knowledge), running)
                && !to.same_release(from)
            {
                upgrade.push(said(one, &format!("has {to} installed where {from} is")));
            }
        }
        ref several => {
            unlaid
                .extend(several.iter().map(|one| said(one, "is one of several for the same control plane")));
        }
    }
    let unknown = few(UNLAID, &unlaid).into_iter().chain(few(UPGRADE, &upgrade));
    (set, unknown.collect())
}

/// Why the values of an object are not what the control plane would be given.
fn unfit(one: &Installed, namespace: &str, knowledge: &Knowledge) -> Option<String> {
    if let Some(idle) = one.idle {
        return Some(idle.to_owned());
    }
    match one.namespace.as_deref() {
        None => return Some("names no namespace".to_owned()),
        Some(other) if other != namespace => {
            return Some(format!("is for the namespace {other}, and not {namespace}"));
        }
        Some(_) => {}
    }
    if !one.absent.is_empty() {
        return Some(format!("takes values from what is not here: {}", one.absent.join(", ")));
    }
    let release = release(&one.chart, one.version.as_ref(), knowledge);
    if let (Err(why), true) = (&release, one.version.as_ref().is_some_and(is_one)) {
        return Some(format!("{why}, a version that is not known here (--knowledge)"));
    }
    let edge = release.ok().and_then(|release| release.edge());
    let (first, through) = knowledge.charts().range();
    edge.filter(|edge| !knowledge.charts().covers(*edge)).map(|edge| {
        format!("has edge-{edge} installed, and the charts that are known are those of edge-{first} to edge-{through}")
    })
}

fn given(one: &Installed) -> Given {
    Given {
        chart: one.chart.clone(),
        release: None,
        files: one.files.clone(),
        by: Some((one.object.clone(), one.version.clone())),
        partial: false,
    }
}
