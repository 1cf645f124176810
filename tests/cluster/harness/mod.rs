//! The harness of the live tests. It contains no tests and does not depend on meshdoctor.

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

/// Prints a line on the terminal even while the test harness captures the output of tests.
///
/// Meant for information that matters in a successful run: skipped tests, and steps that take minutes.
pub fn print_line(line: &str) {
    // A closed stderr does not fail a test.
    let _ = writeln!(std::io::stderr(), "cluster tests: {line}");
}
