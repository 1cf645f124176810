//! Direct changes in etcd, bypassing the API server.
//!
//! A server gives every object that it creates a uid, a creation time and a generation of its own. A cluster
//! from a recording must keep the original ones: owner references and node files contain uids, and many
//! checks depend on creation times. So these fields, and no others, are restored in etcd after the server has
//! accepted the object. The server uses JSON as its storage format to make that possible.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::Api;
use super::api::text;

/// The fields of `metadata` that a server never takes from a client.
const KEPT: [&str; 5] = ["uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds"];

/// A client of etcd's JSON gateway.
#[derive(Clone)]
pub struct Etcd {
    api: Api,
}

impl Etcd {
    pub fn new(url: &str) -> Etcd {
        Etcd { api: Api::new(url, None, None) }
    }

    /// Gives every stored object the server-set metadata that it has in `objects`, if any.
    pub fn keep_metadata(&self, objects: &[Value]) {
        let wanted: BTreeMap<_, _> = objects.iter().map(|object| (identity(object), object)).collect();
        let everything = json!({ "key": encode("/registry/"), "range_end": encode("/registry0") });
        for pair in self.api.post("/v3/kv/range", &everything)["kvs"].as_array().into_iter().flatten() {
            let stored = STANDARD.decode(text(pair, "value")).unwrap();
            // Address leases and the like are not JSON; none of them is an object of a test.
            let Ok(mut stored) = serde_json::from_slice::<Value>(&stored) else { continue };
            let Some(object) = wanted.get(&identity(&stored)) else { continue };
            for field in KEPT {
                if let Some(value) = object["metadata"].get(field) {
                    stored["metadata"][field] = value.clone();
                }
            }
            // Events are stored with a lease; they keep it.
            let put = json!({ "key": pair["key"], "value": encode(&stored.to_string()), "ignore_lease": true });
            self.api.post("/v3/kv/put", &put);
        }
    }

    /// Forgets all history, so that page tokens of before have expired (see `Options::pages_from_etcd`).
    pub fn compact(&self) {
        // The revision of a token is itself kept unless something is written after it.
        let write = json!({ "key": encode("/cluster-tests"), "value": encode("compacted") });
        let revision = text(&self.api.post("/v3/kv/put", &write)["header"], "revision").to_owned();
        self.api.post("/v3/kv/compaction", &json!({ "revision": revision, "physical": true }));
    }
}

/// Group, kind, namespace and name: the version may differ between the written and the stored object.
fn identity(object: &Value) -> (String, String, String, String) {
    let group = text(object, "apiVersion").rsplit_once('/').map_or("", |(group, _)| group);
    let metadata = &object["metadata"];
    let [namespace, name] = [text(metadata, "namespace"), text(metadata, "name")];
    (group.to_owned(), text(object, "kind").to_owned(), namespace.to_owned(), name.to_owned())
}

fn encode(text: &str) -> String {
    STANDARD.encode(text)
}
