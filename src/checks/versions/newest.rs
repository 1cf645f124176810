//! Compares a version with the expected one, or else with the newest known edge. No server is queried: the
//! result is as old as the embedded release data, and states this.

use crate::checks::prelude::*;
use crate::version::Channel;

/// The difference between a version and the wanted one.
pub(super) struct Behind {
    /// A warning for a version that differs from an expected one, an info for one that is only old.
    pub severity: Severity,
    /// The wanted version.
    pub target: LinkerdVersion,
    /// The source of the wanted version.
    pub evidence: Evidence,
    /// Whether it is an expected version.
    pub expected: bool,
}

impl Behind {
    /// `edge-25.4.4; newest known edge-26.8.3`
    pub fn fact(&self, version: &LinkerdVersion) -> String {
        let what = if self.expected { "expected" } else { "newest known" };
        format!("{version}; {what} {}", self.target)
    }
}

/// The difference of a version; `None` if there is none, or if the newest version is unknown, such as for a
/// vendor's builds.
pub(super) fn behind(ctx: &Context<'_>, version: &LinkerdVersion) -> Option<Behind> {
    if let Some(target) = &ctx.settings.expected_version {
        let evidence = Evidence::other("--expected-version", target.as_str());
        return (!version.same_release(target)).then(|| Behind {
            severity: Severity::Warning,
            target: target.clone(),
            evidence,
            expected: true,
        });
    }
    let newest = ctx.knowledge.releases().newest_released();
    if version.channel() != Channel::Edge || version.edge().is_none_or(|edge| edge >= newest) {
        return None;
    }
    let evidence = Evidence::other("newest known edge", format!("{newest}, as of {}", ctx.knowledge.date()));
    Some(Behind { severity: Severity::Info, target: newest.into(), evidence, expected: false })
}
