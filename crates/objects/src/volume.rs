//! Volumes of a pod with identities.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};

use super::meta::nullable;
use super::shared::Word;
use crate::protobuf::schema::schemas;

/// Volume with the proxy's key and certificate.
pub const END_ENTITY_VOLUME: &str = "linkerd-identity-end-entity";
/// Volume with the proxy's token for the identity component.
pub const TOKEN_VOLUME: &str = "linkerd-identity-token";
/// Name prefix of the volume with the pod's service account token.
const API_TOKEN: &str = "kube-api-access-";

/// Facts about volumes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Volumes {
    /// Whether there are any.
    pub some: bool,
    /// Whether one contains the service account token that the API server adds.
    pub service_account_token: bool,
    /// Whether [`END_ENTITY_VOLUME`] exists.
    pub end_entity: bool,
    /// Audience of the token in [`TOKEN_VOLUME`]; `None` without the volume, empty without a token.
    pub identity_token: Option<Word>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Volume<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    projected: Option<Projected>,
}

/// Source of a volume.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Projected {
    #[serde(deserialize_with = "nullable")]
    sources: Vec<Projection>,
}

/// A projected source.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Projection {
    service_account_token: Option<ProjectedToken>,
}

/// A token of the pod's service account.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ProjectedToken {
    #[serde(deserialize_with = "nullable")]
    audience: Word,
}

impl<'de> Deserialize<'de> for Volumes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Volumes, D::Error> {
        let volumes: Vec<Volume<'de>> = nullable(deserializer)?;
        let mut read = Volumes { some: !volumes.is_empty(), ..Volumes::default() };
        for volume in volumes {
            match &*volume.name {
                END_ENTITY_VOLUME => read.end_entity = true,
                TOKEN_VOLUME => {
                    let sources = volume.projected.unwrap_or_default().sources;
                    let token = sources.into_iter().find_map(|source| source.service_account_token);
                    read.identity_token = Some(token.unwrap_or_default().audience);
                }
                name => read.service_account_token |= name.starts_with(API_TOKEN),
            }
        }
        Ok(read)
    }
}

/// Facts about a container's volume mounts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VolumeMounts {
    /// Whether there are any.
    pub some: bool,
    /// Their names, without that of the API server's token volume, which differs between replicas that otherwise share
    /// containers.
    pub named: Vec<Word>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct VolumeMount<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

impl<'de> Deserialize<'de> for VolumeMounts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<VolumeMounts, D::Error> {
        let mounts: Vec<VolumeMount<'de>> = nullable(deserializer)?;
        let named = mounts.iter().filter(|mount| !mount.name.starts_with(API_TOKEN));
        Ok(VolumeMounts { some: !mounts.is_empty(), named: named.map(|mount| Word::from(&*mount.name)).collect() })
    }
}

schemas! {
    VOLUME "Volume" {
        1 name: Text,
        2 volumeSource: Inline(&VOLUME_SOURCE),
    }

    VOLUME_SOURCE "VolumeSource" {
        26 projected: One(&PROJECTED),
    }

    PROJECTED "ProjectedVolumeSource" {
        1 sources: Many(&PROJECTION),
    }

    PROJECTION "VolumeProjection" {
        4 serviceAccountToken: One(&PROJECTED_TOKEN),
    }

    PROJECTED_TOKEN "ServiceAccountTokenProjection" {
        1 audience: Text,
    }
}
