//! The volumes of a pod, as far as they hold identities.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};

use super::meta::nullable;
use super::shared::Word;
use crate::protobuf::schema::schemas;

/// The volume in which the proxy keeps its key and certificate.
pub const END_ENTITY_VOLUME: &str = "linkerd-identity-end-entity";
/// The volume with the token that the proxy shows to identity.
pub const TOKEN_VOLUME: &str = "linkerd-identity-token";
/// How the name of the volume begins in which the API server puts a token of the pod's service account.
const API_TOKEN: &str = "kube-api-access-";

/// What is read of volumes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Volumes {
    /// Whether there is any.
    pub some: bool,
    /// Whether one holds a token of the pod's service account, as the API server adds it.
    pub service_account_token: bool,
    /// Whether [`END_ENTITY_VOLUME`] is there.
    pub end_entity: bool,
    /// Whom the token in [`TOKEN_VOLUME`] is for; `None` where there is no such volume, empty where it holds no token.
    pub identity_token: Option<Word>,
}

/// A volume.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Volume<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    projected: Option<Projected>,
}

/// What a volume is made of.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Projected {
    #[serde(deserialize_with = "nullable")]
    sources: Vec<Projection>,
}

/// One of the things that a volume is made of.
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

/// What is read of the volumes that a container sees.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VolumeMounts {
    /// Whether there is any.
    pub some: bool,
    /// Their names, without that of the token which the API server adds: it is another one in each replica, and replicas have
    /// their containers in common.
    pub named: Vec<Word>,
}

/// A volume that a container sees.
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
        Ok(VolumeMounts {
            some: !mounts.is_empty(),
            named: named.map(|mount| Word::from(&*mount.name)).collect(),
        })
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
