//! The live tier: a real etcd and kube-apiserver on this machine, with real Linkerd manifests on them.
//!
//! `harness` contains everything that is not a test: building the servers, running them, calling them and
//! putting objects on them; `doctor` runs the real binary, and `staged` puts the demos on a server for it.
//! The other modules are the tests. No test may depend on an external cluster, and no program started here
//! may send traffic off the machine.
//!
//! `docs/testing.md` lists the requirements of the tier and its variables.
#![cfg(feature = "live")]
// All of this is test code, but only functions marked `#[test]` count as such for clippy's `allow-*-in-tests`.
#![allow(clippy::unwrap_used)]
#![allow(clippy::too_many_lines, reason = "a table of objects is one piece")]

#[cfg(unix)]
mod beside;
mod brought;
mod changes;
mod contexts;
mod deployed;
mod doctor;
#[cfg(unix)]
mod fixes;
mod forms;
mod harness;
mod installs;
mod keys;
mod node_pods;
#[cfg(unix)]
mod operator;
mod pages;
#[cfg(unix)]
#[path = "../parity/mod.rs"]
mod parity_rows;
mod published;
mod roles;
#[cfg(unix)]
mod rotation;
mod seeds;
mod servers;
mod staged;
mod stories;
mod upgrades;
mod waiting;
