//! What a run is told of an upgrade that is about to come (`--to`), and the two worlds that are judged then: the cluster as
//! it is, and the cluster as it would be with the target's release in the place of today's. A check whose card says
//! `rehearsed` is judged in both; what the second world alone has, the upgrade brings in, and what the first alone has ends
//! with it. Nothing of the evidence is changed: what reads the installed release, the API server's version or chart values
//! asks [`Context`] for the world it is in.

use std::collections::BTreeSet;

use super::{CheckResult, Context, Outcome};
use crate::chart::values::Values;
use crate::finding::{Evidence, FailedRows, Fingerprint, Severity, When};
use crate::knowledge::{Knowledge, Releases};
use crate::version::{CniVersion, K8sVersion, LinkerdVersion, Minor};

/// The chart of the control plane.
pub(super) const CHART: &str = "linkerd-control-plane";
/// The parameter of findings of the second world, which tells them from the same trouble of today.
pub(crate) const AFTER: &str = "after the upgrade";

/// An upgrade that is about to come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upgrade {
    /// `--to`, as it was given: `2.20`.
    pub given: String,
    /// The release that this means.
    pub to: LinkerdVersion,
    /// `--from`: the release that is installed, where the evidence does not tell or is not to be believed.
    pub from: Option<LinkerdVersion>,
    /// `--to-kubernetes`: the Kubernetes that the cluster will run by then.
    pub kubernetes: Option<K8sVersion>,
    /// The linkerd-cni that the target installs, where that is known.
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
    /// What a release installs, where that is known.
    pub fn of(release: &LinkerdVersion, releases: &Releases) -> Option<Plugin> {
        let plugin = releases.cni_plugin(release)?;
        Some(Plugin {
            by_cli: CniVersion::Plugin(plugin.by_cli),
            by_chart: CniVersion::Plugin(plugin.by_chart),
        })
    }

    /// What a way to install it brings; that of the chart where the way is not known.
    pub fn by(&self, cli: bool) -> &CniVersion {
        if cli { &self.by_cli } else { &self.by_chart }
    }
}

/// A target that names no release that is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoTarget {
    /// It is no version.
    #[error("{0:?} is not a release of Linkerd")]
    NoVersion(String),
    /// It is newer than what is known.
    #[error("the changes of {given} are not known: the newest known release is {newest}")]
    Beyond {
        /// As given.
        given: String,
        /// The newest edge that is known.
        newest: String,
    },
    /// It is older than what is known, or of no minor.
    #[error("the changes of {0} are not known")]
    Unknown(String),
}

impl Upgrade {
    /// The upgrade that `--to`, `--from` and `--to-kubernetes` mean.
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
        let plugin = Plugin::of(&to, releases);
        // A minor alone means the same release here as in the target.
        let from = from.map(|from| {
            let minor = from.as_str().parse::<Minor>().ok().and_then(|minor| releases.minor(minor));
            minor.map_or(from, |row| row.release())
        });
        Ok(Upgrade { given: given.to_owned(), to, from, kubernetes, plugin })
    }

    /// The release that the text of `--to` means: a minor (`2.20`) is the release that opened it, or its last stable one.
    ///
    /// # Errors
    /// It is no version, or of a release that is not known.
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
        if releases.is_beyond(&version) {
            return Err(beyond());
        }
        releases.for_version(&version).map(|_| version.clone()).ok_or_else(unknown)
    }

    /// The target in words: `2.20 (edge-26.6.3)`, `edge-26.8.3 (2.20)`.
    pub fn in_words(&self, knowledge: &Knowledge) -> String {
        let with_minor = || match self.to.minor(knowledge.minors()) {
            Some(minor) => format!("{} ({minor})", self.to),
            None => self.to.to_string(),
        };
        self.meant().unwrap_or_else(with_minor)
    }

    /// What was given and what it means, where that is not the same.
    fn meant(&self) -> Option<String> {
        (self.given != self.to.as_str()).then(|| format!("{} ({})", self.given, self.to))
    }

    /// The target as evidence.
    pub fn evidence(&self) -> Evidence {
        Evidence::other("--to", self.meant().unwrap_or_else(|| self.given.clone()))
    }
}

impl<'a> Context<'a> {
    /// The upgrade that the run was told of, in both worlds.
    pub(super) fn upgrade(&self) -> Option<&'a Upgrade> {
        self.settings.upgrade.as_ref()
    }

    /// The upgrade, in the world in which it is done.
    pub(super) fn upgraded(&self) -> Option<&'a Upgrade> {
        self.upgrade().filter(|_| self.settings.upgraded)
    }

    /// Chart values as the upgrade leaves them: where one has the default of the release that is installed, or that release has
    /// no such value, it gets that of the target. Who wrote that value out keeps it, which the values do not tell.
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

/// What a check says of both worlds. `infos` is whether what is only worth knowing of the second is told.
pub(super) fn both(mut today: CheckResult, then: CheckResult, infos: bool) -> CheckResult {
    let judged = matches!(then.outcome, Outcome::Pass | Outcome::Findings) && then.gaps.is_empty();
    let worse = |prints: &BTreeSet<(Fingerprint, Severity)>, print: &Fingerprint, severity: Severity| {
        !prints.iter().any(|(known, how)| known == print && *how >= severity)
    };
    let now: BTreeSet<_> = prints(&today);
    let after: BTreeSet<_> = prints(&then);
    if judged {
        for finding in &mut today.findings {
            let gone =
                |subject| !after.iter().any(|(print, _)| *print == finding.subject_fingerprint(subject));
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
        // `linkerd check` asks of today.
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
