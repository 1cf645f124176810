//! How the linkerd CLI of a release is installed, by Linkerd's own script.

use crate::command::{Line, program};
use crate::version::LinkerdVersion;

/// The line that installs the CLI of `version` by the script under `address`.
pub(in crate::checks) fn install(address: &'static str, version: &LinkerdVersion) -> Line {
    let script = program("curl").words("--proto =https --tlsv1.2 -sSfL").arg(address);
    let install = program("env").arg(format!("LINKERD2_VERSION={version}")).words("sh");
    script.pipe(install)
}
