//! The settings of a rehearsed upgrade (`--to`), and its two evaluations: the cluster today, and the
//! cluster with the target's release. A check whose card declares `rehearsed` is evaluated for both. A
//! finding of only the second is introduced by the upgrade; one of only the first ends with it. The
//! evidence stays the same: checks read the installed release, the API server's version and chart values
//! through [`Context`], which returns those of the current evaluation.

use std::collections::BTreeSet;

use super::{CheckResult, Outcome};
use crate::chart::values::Values;
use crate::checks::prelude::*;
use crate::finding::{FailedRows, Fingerprint, When};
use crate::knowledge::{Knowledge, Releases};
use crate::version::{Channel, CniVersion, K8sVersion, Minor};

/// The chart of the control plane.
pub(super) const CHART: &str = "linkerd-control-plane";
/// The parameter of findings of the second evaluation, which separates them from the same findings of
/// today.
pub const AFTER: &str = "after the upgrade";

/// A rehearsed upgrade.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upgrade {
    /// `--to`, as it was given: `2.20`.
    pub given: String,
    /// The release that it resolves to.
    pub to: LinkerdVersion,
    /// `--from`: the installed release, if the evidence does not show it or shows it incorrectly.
    pub from: Option<LinkerdVersion>,
    /// `--to-kubernetes`: the Kubernetes of the cluster at the time of the upgrade.
    pub kubernetes: Option<K8sVersion>,
    /// The linkerd-cni that the target installs, if known.
    pub plugin: Option<Plugin>,
}

/// The linkerd-cni that a release installs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugin {
    /// With `linkerd install-cni`.
    pub by_cli: CniVersion,
    /// With Helm's chart.
    pub by_chart: CniVersion,
}

impl Plugin {
    /// The versions that a release installs, if known.
    pub fn installed_by(release: &LinkerdVersion, releases: &Releases) -> Option<Plugin> {
        let plugin = releases.cni_plugin(release)?;
        Some(Plugin { by_cli: CniVersion::Plugin(plugin.by_cli), by_chart: CniVersion::Plugin(plugin.by_chart) })
    }

    /// The version that an installation method installs; that of the chart if the method is not known.
    pub fn by(&self, cli: bool) -> &CniVersion {
        if cli { &self.by_cli } else { &self.by_chart }
    }
}

/// An invalid target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoTarget {
    /// It is not a version.
    #[error("{0:?} is not a release of Linkerd")]
    NoVersion(String),
    /// It is of a minor that is newer than the release data.
    #[error("the changes of {given} are not known: the newest release with known changes is {newest}")]
    Beyond {
        given: String,
        /// The newest known edge.
        newest: String,
    },
    /// The channel has no such release.
    #[error("{given} does not exist: {why}")]
    DoesNotExist {
        given: String,
        /// The reason, with what to name instead.
        why: String,
    },
    /// It is older than the release data, or of no minor.
    #[error("the changes of {0} are not known")]
    Unknown(String),
}

/// Why the channel of a version has no such release, if that is known.
fn no_release(version: &LinkerdVersion, releases: &Releases) -> Option<String> {
    match version.channel() {
        Channel::Stable => {
            let of_minor = releases.for_version(version).and_then(|row| row.last_stable);
            let all = || releases.rows().iter().rev().find_map(|row| row.last_stable);
            let last = LinkerdVersion::stable(of_minor.or_else(all)?);
            let is_later = version.cmp_same_channel(&last).is_some_and(std::cmp::Ordering::is_gt);
            let of = if of_minor.is_some() { "of its minor" } else { "of the open-source project" };
            is_later.then(|| format!("{last} is the last stable release {of}"))
        }
        Channel::Enterprise => {
            let lacks_patch = version.as_str().matches('.').count() < 2;
            lacks_patch.then(|| format!("add the number of its patch release, such as {version}.0"))
        }
        _ => None,
    }
}

impl Upgrade {
    /// Parses `--to`, `--from` and `--to-kubernetes`.
    ///
    /// # Errors
    /// As [`Upgrade::target`].
    pub fn new(
        given: &str,
        from: Option<LinkerdVersion>,
        kubernetes: Option<K8sVersion>,
        releases: &Releases,
    ) -> Result<Upgrade, NoTarget> {
        let to = Upgrade::target(given, releases)?;
        let plugin = Plugin::installed_by(&to, releases);
        // A minor alone resolves to the same release here as in the target.
        let from = from.map(|from| {
            let minor = from.as_str().parse::<Minor>().ok().and_then(|minor| releases.minor(minor));
            minor.map_or(from, |row| row.release())
        });
        Ok(Upgrade { given: given.to_owned(), to, from, kubernetes, plugin })
    }

    /// The release of the text of `--to`: a minor (`2.20`) resolves to the release that opened it, or to
    /// its last stable one. An edge may be newer than the release data.
    ///
    /// # Errors
    /// It is not a version, or of an unknown release.
    pub fn target(given: &str, releases: &Releases) -> Result<LinkerdVersion, NoTarget> {
        let beyond = || NoTarget::Beyond {
            given: given.to_owned(),
            newest: format!("{}, {}", releases.newest_edge(), releases.newest().minor),
        };
        let unknown = || NoTarget::Unknown(given.to_owned());
        if let Ok(minor) = given.strip_prefix('v').unwrap_or(given).parse::<Minor>() {
            return match releases.minor(minor) {
                Some(row) => Ok(row.release()),
                None if minor > releases.newest().minor => Err(beyond()),
                None => Err(unknown()),
            };
        }
        let version: LinkerdVersion = given.parse().map_err(|_| NoTarget::NoVersion(given.to_owned()))?;
        if let Some(why) = no_release(&version, releases) {
            return Err(NoTarget::DoesNotExist { given: given.to_owned(), why });
        }
        // An edge belongs to the newest known minor until another one is opened.
        if releases.is_beyond(&version) && version.channel() != Channel::Edge {
            return Err(beyond());
        }
        releases.for_version(&version).map(|_| version.clone()).ok_or_else(unknown)
    }

    /// The target as text: `2.20 (edge-26.6.3)`, `edge-26.8.3 (2.20)`.
    pub fn describe(&self, knowledge: &Knowledge) -> String {
        let with_minor = || match self.to.minor(knowledge.minors()) {
            Some(minor) => format!("{} ({minor})", self.to),
            None => self.to.to_string(),
        };
        self.meant().unwrap_or_else(with_minor)
    }

    /// The given text and its release, if they differ.
    fn meant(&self) -> Option<String> {
        (self.given != self.to.as_str()).then(|| format!("{} ({})", self.given, self.to))
    }

    /// The target as evidence.
    pub fn evidence(&self) -> Evidence {
        Evidence::other("--to", self.meant().unwrap_or_else(|| self.given.clone()))
    }
}

impl<'a> Context<'a> {
    /// The upgrade of the run, in both evaluations.
    pub(super) fn upgrade(&self) -> Option<&'a Upgrade> {
        self.settings.upgrade.as_ref()
    }

    /// The upgrade, in the evaluation after it.
    pub(super) fn upgraded(&self) -> Option<&'a Upgrade> {
        self.upgrade().filter(|_| self.settings.upgraded)
    }

    /// Chart values after the upgrade: a value at the default of the installed release, or unknown to it,
    /// gets the default of the target. A value that was set explicitly to the default keeps it, which the
    /// values do not show.
    pub(super) fn upgraded_values(&self, values: Values, installed: Option<&LinkerdVersion>) -> Values {
        let (Some(upgrade), Some(installed)) = (self.upgraded(), installed) else { return values };
        let releases = self.knowledge.releases();
        releases.changed_defaults(CHART, installed, &upgrade.to).into_iter().fold(
            values,
            |values, changed| match values.written(changed.value) {
                Some(written) if Some(written.as_str()) != changed.from => values,
                Some(_) | None => values.with(changed.value, changed.to),
            },
        )
    }
}

/// Combines the results of both evaluations. `infos`: whether infos of the second are reported.
pub(super) fn both(mut today: CheckResult, then: CheckResult, infos: bool) -> CheckResult {
    // Today's findings were made without the logs that were not provided, so they can also end without them.
    let is_known =
        |gap: &Missing| gap.request.item == Item::Logs && gap.why == Why::NotOffered && today.gaps.contains(gap);
    let judged =
        matches!(then.outcome, Outcome::Pass | Outcome::Findings | Outcome::Unknown) && then.gaps.iter().all(is_known);
    let worse = |prints: &BTreeSet<(Fingerprint, Severity)>, print: &Fingerprint, severity: Severity| {
        !prints.iter().any(|(known, how)| known == print && *how >= severity)
    };
    let now: BTreeSet<_> = prints(&today);
    let after: BTreeSet<_> = prints(&then);
    if judged {
        for finding in &mut today.findings {
            // A finding about the same object with other words is the same problem, in another form.
            let remains = |subject: &Subject| {
                let alike = then.findings.iter().filter(|other| other.severity >= finding.severity);
                alike.flat_map(|other| &other.subjects).any(|other| other.is_same_object(subject))
            };
            let gone = |subject| {
                !after.iter().any(|(print, _)| *print == finding.subject_fingerprint(subject)) && !remains(subject)
            };
            if finding.subjects.iter().all(gone) {
                finding.when = When::UntilUpgrade;
            }
        }
    }
    for mut finding in then.findings {
        if finding.severity < Severity::Warning && !infos {
            continue;
        }
        let new: Vec<_> = finding
            .subjects
            .iter()
            .filter(|subject| worse(&now, &finding.subject_fingerprint(subject), finding.severity))
            .cloned()
            .collect();
        if new.is_empty() {
            continue;
        }
        finding.subjects = new;
        finding.when = When::AfterUpgrade;
        finding.parameters.push(AFTER.to_owned());
        // `linkerd check` is about today.
        finding.rows = FailedRows::none();
        today.findings.push(finding);
    }
    today.gaps.extend(then.gaps);
    today.gaps.sort();
    today.gaps.dedup();
    today.outcome = match (today.outcome, then.outcome) {
        (crashed @ Outcome::Crashed(_), _) | (_, crashed @ Outcome::Crashed(_)) => crashed,
        _ if !today.findings.is_empty() => Outcome::Findings,
        _ if !today.gaps.is_empty() => Outcome::Unknown,
        (now @ Outcome::NotApplicable(_), Outcome::NotApplicable(_)) => now,
        _ => Outcome::Pass,
    };
    today
}

pub(super) fn prints(result: &CheckResult) -> BTreeSet<(Fingerprint, Severity)> {
    let each = result.findings.iter();
    each.flat_map(|finding| {
        finding.subjects.iter().map(|subject| (finding.subject_fingerprint(subject), finding.severity))
    })
    .collect()
}
