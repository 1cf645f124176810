//! The environment of a container: of its variables those are kept that checks read, without what may be secret in them.

use std::borrow::Cow;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::certificates::BundlePrint;
use crate::objects::meta::Text;
use crate::redact;

/// The variable in which a proxy gets its trust anchors. Of its value only a [`BundlePrint`] is kept.
pub const TRUST_ANCHORS: &str = "LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS";
/// The variable in which a proxy gets its own identity, with its account and namespace to be filled in.
pub const LOCAL_NAME: &str = "LINKERD2_PROXY_IDENTITY_LOCAL_NAME";
/// The variable in which a proxy gets the identity of what collects its traces.
pub const COLLECTOR_NAME: &str = "LINKERD2_PROXY_TRACE_COLLECTOR_SVC_NAME";

/// One environment variable that is set by value.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct EnvVar {
    /// Variable name.
    pub name: String,
    /// Its value; `None` when it comes from a reference.
    pub value: Option<String>,
}

/// Environment variables that checks read. The rest of a proxy's environment is large and the same in every pod.
const KEPT: &[&str] = &[
    TRUST_ANCHORS,
    "LINKERD2_PROXY_INBOUND_DEFAULT_POLICY",
    "LINKERD2_PROXY_INBOUND_LISTEN_ADDR",
    "LINKERD2_PROXY_OUTBOUND_LISTEN_ADDR",
    "LINKERD2_PROXY_OUTBOUND_LISTEN_ADDRS",
    "LINKERD2_PROXY_SHUTDOWN_ENDPOINT_ENABLED",
    LOCAL_NAME,
    COLLECTOR_NAME,
    "DEST_CNI_NET_DIR",
    "DEST_CNI_BIN_DIR",
];

/// Reads of an environment only what is kept of it.
pub(super) fn kept<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<EnvVar>, D::Error> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Variable<'a> {
        #[serde(borrow)]
        name: Cow<'a, str>,
        #[serde(borrow)]
        value: Option<Text<'a>>,
    }
    struct Kept;
    impl<'de> Visitor<'de> for Kept {
        type Value = Vec<EnvVar>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a list of environment variables")
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Vec::new())
        }

        fn visit_none<E>(self) -> Result<Self::Value, E> {
            Ok(Vec::new())
        }

        fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
            deserializer.deserialize_seq(self)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            let mut kept = Vec::new();
            while let Some(variable) = items.next_element::<Variable<'de>>()? {
                if KEPT.contains(&&*variable.name) {
                    let value = variable.value.and_then(|Text(value)| match &*variable.name {
                        // What somebody blotted out says nothing of what stood there.
                        TRUST_ANCHORS if redact::is_placeholder(&value) => None,
                        TRUST_ANCHORS => {
                            Some(BundlePrint::kept(&value, |pem| redact::setting(TRUST_ANCHORS, pem)))
                        }
                        name => Some(redact::setting(name, &value).into_owned()),
                    });
                    kept.push(EnvVar { name: variable.name.into_owned(), value });
                }
            }
            Ok(kept)
        }
    }
    deserializer.deserialize_option(Kept)
}
