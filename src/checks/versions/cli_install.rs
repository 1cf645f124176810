//! How the linkerd CLI of a release is installed, by Linkerd's own script.

use crate::command::{Line, program};
use crate::version::{Channel, LinkerdVersion};

/// The line that installs the CLI of an open-source release, by the script of its channel.
pub(in crate::checks) fn install(version: &LinkerdVersion) -> Line {
    let address = match version.channel() {
        Channel::Stable => "https://run.linkerd.io/install",
        _ => "https://run.linkerd.io/install-edge",
    };
    let script = program("curl").words("--proto =https --tlsv1.2 -sSfL").arg(address);
    let install = program("env").arg(format!("LINKERD2_VERSION={version}")).words("sh");
    script.pipe(install)
}
