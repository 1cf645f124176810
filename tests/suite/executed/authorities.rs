//! The certificate authorities of a case, with keys: an operator has them, and a case leaves them out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use meshdoctor::certificates::{Certificate, Key, Trust, from_bundle, trust};
use meshdoctor::scene::Scene;
use serde_json::Value;

use super::certificates::{self, Authority, split};
use super::world::objects;

/// Name of the authority that no object contains, among those with known keys.
pub const ROOT: &str = "root.crt";

/// Certificates whose keys the operator has.
#[derive(Default, Clone)]
pub struct Keys {
    /// Authorities by the PEM of their certificate.
    pub roots: BTreeMap<String, Arc<Authority>>,
    /// The keys of issuers by the PEM of their certificate.
    pub issuers: BTreeMap<String, String>,
}

/// Replaces each authority of a case by one with the same name and validity whose key is known: the roots, with `issuers`
/// also those that they sign, and those below.
pub fn authorities(scene: &mut Scene, issuers: bool) -> Keys {
    let mut found = BTreeSet::new();
    for object in objects(&scene.memory).values() {
        visit(object, &mut |pem| _ = found.insert(pem.to_owned()));
    }
    let read = |pem: &String| from_bundle(pem).ok().and_then(|all| all.into_iter().next());
    let all: Vec<(String, Certificate)> =
        found.iter().filter_map(|pem| Some((pem.clone(), read(pem)?))).filter(|(_, one)| one.is_authority()).collect();
    let mut new: BTreeMap<String, String> = BTreeMap::new();
    let mut keys = Keys::default();
    // An issuer may have the name of its anchor.
    let is_signed_by = |one: &Certificate, other: &Certificate| {
        trust(std::slice::from_ref(one), std::slice::from_ref(other)) == Trust::Yes
    };
    let signer = |pem: &String, one: &Certificate| {
        all.iter().find(|(other, above)| other != pem && is_signed_by(one, above)).map(|(other, _)| other)
    };
    let is_root = |pem: &String, one: &Certificate| one.is_self_issued() && signer(pem, one).is_none();
    for (pem, root) in all.iter().filter(|(pem, one)| is_root(pem, one)) {
        if root.key() == Key::Ecdsa(256) {
            let copy = certificates::copy_of_root(root);
            new.insert(pem.clone(), copy.pem().trim().to_owned());
            keys.roots.insert(copy.pem().trim().to_owned(), Arc::new(copy));
        }
    }
    let mut below: Vec<&(String, Certificate)> =
        all.iter().filter(|(pem, one)| issuers && !is_root(pem, one)).collect();
    // From the roots down: an intermediate before the issuers that it signs.
    while !below.is_empty() {
        let waits = |one: &&(String, Certificate)| {
            signer(&one.0, &one.1).is_some_and(|above| below.iter().any(|(pem, _)| pem == above))
        };
        let (later, ready): (Vec<_>, Vec<_>) = below.iter().copied().partition(waits);
        for (pem, issuer) in &ready {
            let above = signer(pem, issuer);
            let known = above.and_then(|above| keys.roots.get(new.get(above)?)).cloned();
            let signer = match (known, above) {
                (Some(signer), _) => signer,
                // A root that no object contains: the operator has its file.
                (None, None) => {
                    let name = issuer.issuer();
                    let root = Arc::new(certificates::root(certificates::common_name(&name), "2025-06-01"));
                    keys.roots.insert(ROOT.to_owned(), Arc::clone(&root));
                    root
                }
                (None, Some(_)) => continue,
            };
            let signs = all.iter().any(|(other, one)| other != pem && is_signed_by(one, issuer));
            let copy = certificates::copy_of_issuer(issuer, &signer, signs);
            let certificate = copy.pem().trim().to_owned();
            new.insert(pem.clone(), certificate.clone());
            keys.issuers.insert(certificate.clone(), copy.key().serialize_pem());
            if signs {
                keys.roots.insert(certificate, Arc::new(copy));
            }
        }
        if ready.is_empty() {
            break;
        }
        below = later;
    }
    for held in scene.memory.objects.values_mut().flatten() {
        let mut object: Value = serde_json::from_slice(&held.json).unwrap();
        replace(&mut object, &new);
        held.json = object.to_string().into_bytes();
    }
    keys
}

/// Calls a function with each certificate in the texts of a value, also in base64.
fn visit(value: &Value, see: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => {
            for pem in split(&decoded(text).unwrap_or_else(|| text.clone())) {
                see(pem.trim());
            }
        }
        Value::Array(all) => all.iter().for_each(|one| visit(one, see)),
        Value::Object(all) => all.values().for_each(|one| visit(one, see)),
        _ => {}
    }
}

fn decoded(text: &str) -> Option<String> {
    let bytes = text.starts_with("LS0tLS1CRUdJTi").then(|| STANDARD.decode(text).ok())??;
    String::from_utf8(bytes).ok()
}

fn replace(value: &mut Value, new: &BTreeMap<String, String>) {
    match value {
        Value::String(text) => {
            let inner = decoded(text);
            let mut plain = inner.clone().unwrap_or_else(|| text.clone());
            if !plain.contains("BEGIN CERTIFICATE") {
                return;
            }
            for (old, new) in new {
                plain = plain.replace(old, new);
                // In YAML within a text, the lines are indented.
                for indent in ["  ", "    "] {
                    let inside = |pem: &str| pem.replace('\n', &format!("\n{indent}"));
                    plain = plain.replace(&inside(old), &inside(new));
                }
            }
            *text = if inner.is_some() { STANDARD.encode(plain) } else { plain };
        }
        Value::Array(all) => all.iter_mut().for_each(|one| replace(one, new)),
        Value::Object(all) => all.values_mut().for_each(|one| replace(one, new)),
        _ => {}
    }
}
