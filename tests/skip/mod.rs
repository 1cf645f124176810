//! What tests need that a checkout does not hold, and how a test that lacks it says so. A developer's machine may lack any of
//! it. `.ci/run` names in `MESHDOCTOR_MAY_SKIP` all that its machine lacks; a test that skips for anything else fails.

use std::io::Write as _;

/// What a machine may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "neither of the test binaries needs all of it")]
pub enum Need {
    /// Recorded clusters, which lie outside the repository.
    Recordings,
    /// Recorded calls and metrics of real proxies, which are outside the repository.
    Lab,
    /// Manifests of releases, which lie outside the repository.
    Manifests,
    /// The programs of a cluster, built with Go from the module proxy.
    ApiServer,
    /// A real `linkerd` command.
    Linkerd,
    /// A Chromium that runs without a screen.
    Browser,
    /// The `helm` command.
    Helm,
    /// The `promtool` command.
    Promtool,
    /// The `fish` shell.
    Fish,
    /// Another user to become, which takes root and setpriv.
    OtherUser,
}

impl Need {
    /// As `MESHDOCTOR_MAY_SKIP` names it.
    fn word(self) -> &'static str {
        match self {
            Need::Recordings => "recordings",
            Need::Lab => "lab",
            Need::Manifests => "manifests",
            Need::ApiServer => "api-server",
            Need::Linkerd => "linkerd",
            Need::Browser => "browser",
            Need::Helm => "helm",
            Need::Promtool => "promtool",
            Need::Fish => "fish",
            Need::OtherUser => "other-user",
        }
    }
}

/// Says what is skipped, also while the output of tests is captured.
///
/// # Panics
/// Where `MESHDOCTOR_MAY_SKIP` says what may be skipped, and this may not.
pub fn skipped(need: Need, what: &str) {
    let word = need.word();
    if let Ok(may) = std::env::var("MESHDOCTOR_MAY_SKIP") {
        assert!(
            may.split(',').any(|one| one == word),
            "it would be skipped, and only {may:?} may be (MESHDOCTOR_MAY_SKIP), not {word}: {what}"
        );
    }
    // A closed stderr is no reason to fail a test.
    _ = writeln!(std::io::stderr(), "SKIPPED for want of {word}: {what}");
}
