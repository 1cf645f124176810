//! Everything the live tests stand on; no test and no knowledge of meshdoctor in here.

pub mod access;
pub mod api;
pub mod binaries;
pub mod cluster;
pub mod etcd;
pub mod front;
pub mod inject;
pub mod kubeconfig;
pub mod linkerd;
#[cfg(unix)]
pub mod linkerd_cli;
pub mod objects;
pub mod process;
pub mod road;
pub mod seed;
pub mod sketch;
#[path = "../../skip/mod.rs"]
pub mod skip;
pub mod slot;

pub use api::Api;
pub use cluster::{Cluster, Options};

use std::io::Write as _;

/// Says a line on the terminal even while the test harness captures what tests print.
///
/// Meant for what a reader of a green run must know: what was left out, and what takes minutes.
pub fn say(line: &str) {
    // A closed stderr is no reason to fail a test.
    let _ = writeln!(std::io::stderr(), "cluster tests: {line}");
}
