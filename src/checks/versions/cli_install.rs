//! Installation of the linkerd CLI of a release.

use crate::command::{Command, Line, program};
use crate::knowledge::Knowledge;
use crate::version::LinkerdVersion;

/// Installs the CLI of a release with the script of its channel, or that of edges if none is known, and puts its
/// folder first on PATH.
pub(in crate::checks) fn install(knowledge: &Knowledge, version: &LinkerdVersion) -> Command {
    Command::lines(lines(knowledge, version))
}

/// The lines of [`install`].
pub(in crate::checks) fn lines(knowledge: &Knowledge, version: &LinkerdVersion) -> [Line; 2] {
    const EDGE: &str = "https://run.linkerd.io/install-edge";
    let address = knowledge.channels().origin(version).map_or(EDGE, |origin| &origin.cli).to_owned();
    let script = program("curl").words("--proto =https --tlsv1.2 -sSfL").arg(address);
    let install = program("env").arg(format!("LINKERD2_VERSION={version}")).words("sh");
    [script.pipe(install), Line::shell("export PATH=\"$HOME/.linkerd2/bin:$PATH\"")]
}
