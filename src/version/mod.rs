//! The version strings of a mesh, parsed once into types: Linkerd releases, Kubernetes servers and kubelets, the
//! linkerd-cni plugin, and the image references that carry them. Nothing here reads files or knows what a release
//! contains; which edge opened which minor is handed in as a [`MinorTable`]. Nobody compares versions as strings.

mod cni;
mod contains;
mod image;
mod kubernetes;
mod linkerd;
mod numbers;

pub use cni::CniVersion;
pub use contains::{Contains, Introduced};
pub use image::{ImageRef, InvalidImage};
pub use kubernetes::{Distribution, InvalidK8sVersion, K8sMinor, K8sVersion};
pub use linkerd::{Channel, LinkerdVersion, Numbers};
pub use numbers::{EdgeTag, InvalidVersion, Minor, MinorTable, Release};
