//! External requirements of tests, and the message of a test that lacks one. A developer's machine may lack
//! any of them. `.ci/run` lists in `MESHDOCTOR_MAY_SKIP` those that its machine lacks; a test that skips for
//! another one fails.

use std::io::Write as _;

/// A requirement that a machine may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "neither of the test binaries needs all of it")]
pub enum Need {
    /// Recorded clusters, which lie outside the repository.
    Recordings,
    /// Recorded calls and metrics of real proxies, which are outside the repository.
    Lab,
    /// Public reports rebuilt as clusters, which are outside the repository.
    Threads,
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
    /// The `kubectl` command.
    Kubectl,
    /// A Python with the MCP SDK: `MESHDOCTOR_MCP_PYTHON`, or `python3` on PATH.
    McpClient,
    /// Another user to become, which takes root and setpriv.
    OtherUser,
}

impl Need {
    /// Its name in `MESHDOCTOR_MAY_SKIP`.
    fn label(self) -> &'static str {
        match self {
            Need::Recordings => "recordings",
            Need::Lab => "lab",
            Need::Threads => "threads",
            Need::Manifests => "manifests",
            Need::ApiServer => "api-server",
            Need::Linkerd => "linkerd",
            Need::Browser => "browser",
            Need::Helm => "helm",
            Need::Promtool => "promtool",
            Need::Fish => "fish",
            Need::Kubectl => "kubectl",
            Need::McpClient => "mcp-client",
            Need::OtherUser => "other-user",
        }
    }
}

/// Prints a skipped test, also while the output of tests is captured.
///
/// # Panics
/// If `MESHDOCTOR_MAY_SKIP` is set and does not allow this skip.
pub fn skipped(need: Need, what: &str) {
    let word = need.label();
    if let Ok(may) = std::env::var("MESHDOCTOR_MAY_SKIP") {
        assert!(
            may.split(',').any(|one| one == word),
            "it would be skipped, and only {may:?} may be (MESHDOCTOR_MAY_SKIP), not {word}: {what}"
        );
    }
    // A closed stderr does not fail a test.
    _ = writeln!(std::io::stderr(), "SKIPPED for want of {word}: {what}");
}
