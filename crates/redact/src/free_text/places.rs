//! Harmless tokens in messages of Kubernetes, Flux or multus that are not words: generated names, accounts, files,
//! revisions.

use super::typed::{Numbers, is_hex, is_typed, is_uid};
use super::words::{is_generated_name, is_name, is_words};
use crate::knowledge::FreeText;

/// Errors of ACME servers (RFC 8555).
const ACME_ERRORS: [&str; 24] = [
    "accountDoesNotExist",
    "alreadyRevoked",
    "badCSR",
    "badNonce",
    "badPublicKey",
    "badRevocationReason",
    "badSignatureAlgorithm",
    "caa",
    "compound",
    "connection",
    "dns",
    "externalAccountRequired",
    "incorrectResponse",
    "invalidContact",
    "malformed",
    "orderNotReady",
    "rateLimited",
    "rejectedIdentifier",
    "serverInternal",
    "tls",
    "unauthorized",
    "unsupportedContact",
    "unsupportedIdentifier",
    "userActionRequired",
];

/// Whether a token is the error of an ACME server: `urn:ietf:params:acme:error:rateLimited`.
pub(super) fn is_acme_error(token: &str) -> bool {
    token.strip_prefix("urn:ietf:params:acme:error:").is_some_and(|error| ACME_ERRORS.contains(&error))
}

/// Names that Kubernetes generated, alone or with a namespace: `web-5d4f7b9c66-x7k2p_shop`.
pub(super) fn is_generated(known: &FreeText, token: &str) -> bool {
    match token.split_once(['/', '_']) {
        Some((one, other)) => {
            is_generated_name(known, one) && is_name(other) || is_name(one) && is_generated_name(known, other)
        }
        None => is_generated_name(known, token),
    }
}

/// A pod and its network, in the format of multus: `shop/web-1:k8s-pod-network`.
pub(super) fn is_attachment(known: &FreeText, token: &str) -> bool {
    token.split_once(':').is_some_and(|(pod, network)| {
        pod.contains('/') && pod.split('/').all(|part| is_name(part) || is_uid(part)) && is_words(known, network, true)
    })
}

/// Content of brackets in a regular expression: `-a-z0-9`.
pub(super) fn is_range(token: &str) -> bool {
    let mut rest = token;
    while let Some(more) = ["a-z", "A-Z", "0-9", "a-f", "-", "_", "."].iter().find_map(|range| rest.strip_prefix(range))
    {
        rest = more;
    }
    rest.is_empty()
}

/// A chart with its version, or a branch with its commit: `linkerd-crds@2026.8.3`, `main@sha1:...`.
pub(super) fn is_revision(token: &str) -> bool {
    let Some((name, revision)) = token.split_once('@') else { return false };
    let commit = revision.strip_prefix("sha1:").is_some_and(|hash| hash.len() == 40 && is_hex(hash));
    let version = revision.contains('.') && is_typed(revision, Numbers::Usual);
    is_name(name) && (commit || version)
}

/// `system:serviceaccount:shop:web`, and an identity of the mesh.
pub(super) fn is_account(known: &FreeText, token: &str, before: &str) -> bool {
    token
        .strip_prefix("system:")
        .is_some_and(|rest| rest.split(':').all(|part| is_name(part) || is_words(known, part, true)))
        || token.split_once('@').is_some_and(|(user, host)| before == "user" && is_name(user) && is_name(host))
        || token.contains(".serviceaccount.identity.") && is_name(token.trim_start_matches("*."))
}

/// A file of a dump or bundle, and a position in it: `cluster/pods.json:12`.
pub(super) fn is_file(known: &FreeText, token: &str) -> bool {
    let (file, line) = token.split_once(':').unwrap_or((token, ""));
    let Some((path, "json" | "yaml" | "yml" | "txt" | "log" | "conf" | "conflist" | "gz" | "tar")) =
        file.rsplit_once('.')
    else {
        return false;
    };
    line.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
        && path.split('/').all(|part| part.is_empty() || is_name(part) || is_words(known, part, true))
}

/// A position in the source of a program: `pod_workers.go:1298`.
pub(super) fn is_source_file(token: &str) -> bool {
    let (file, line) = token.split_once(':').unwrap_or((token, ""));
    let name = file.strip_suffix(".go").or_else(|| file.strip_suffix(".rs"));
    token.len() <= 64
        && line.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
        && name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'/')))
}
