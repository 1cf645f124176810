//! The version strings of a mesh, parsed into types: Linkerd releases, Kubernetes servers and kubelets, the
//! linkerd-cni plugin, and image references. This module reads no files and does not know the content of
//! releases; the opening edges of minors are passed in as a [`MinorTable`]. Versions are never compared as
//! strings.

/// Reads types from the text that they parse.
macro_rules! deserialize_by_text {
    ($($name:ty),+) => {$(
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <String as serde::Deserialize>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}

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
