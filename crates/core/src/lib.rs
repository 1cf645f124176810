//! The vocabulary that all crates of meshdoctor share: versions of a mesh, commands for a shell, findings,
//! and readers of hand-written texts. It reads no files and knows neither Kubernetes objects nor checks.

pub mod command;
pub mod encoding;
pub mod exit;
pub mod finding;
pub mod gap_remediation;
pub mod kubeconfig;
pub mod markdown;
pub mod names;
pub mod nearest;
pub mod networks;
pub mod report_api;
pub mod terminal;
pub mod token;
pub mod version;
pub mod yaml;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct CoreReadme;
