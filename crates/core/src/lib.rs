//! The vocabulary that all crates of meshdoctor share: versions of a mesh, commands for a shell, findings,
//! and readers of hand-written texts. It reads no files and knows neither Kubernetes objects nor checks.

pub mod close;
pub mod command;
pub mod exit;
pub mod finding;
pub mod kubeconfig;
pub mod markdown;
pub mod names;
pub mod nearest;
pub mod networks;
pub mod published;
pub mod terminal;
pub mod token;
pub mod version;
pub mod yaml;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
