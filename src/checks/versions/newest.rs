//! Whether a version is where it should be: at the expected one, or else at the newest edge that is known here. No server is
//! asked: the answer is as old as the release knowledge, and says so.

use crate::checks::Context;
use crate::finding::{Evidence, Severity};
use crate::version::{Channel, LinkerdVersion};

/// How a version is not where it should be.
pub(super) struct Behind {
    /// A warning where somebody said what is expected, an info where only the calendar says so.
    pub severity: Severity,
    /// What it should be.
    pub target: LinkerdVersion,
    /// Where that is from.
    pub evidence: Evidence,
    /// Whether somebody expects it.
    pub expected: bool,
}

impl Behind {
    /// `edge-25.4.4; newest known edge-26.8.3`
    pub fn fact(&self, version: &LinkerdVersion) -> String {
        let what = if self.expected { "expected" } else { "newest known" };
        format!("{version}; {what} {}", self.target)
    }
}

/// How the version falls short; `None` where it does not, or where nothing here knows what is newest: of a vendor's builds,
/// say.
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
