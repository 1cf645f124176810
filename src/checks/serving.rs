//! The certificate that one of Linkerd's servers presents to the API server, and the bundle with which the
//! API server verifies it. Shared by the checks of the injector and of the other webhooks, which report the
//! consequence of a mismatch.

use jiff::{SignedDuration, Timestamp};

use super::dates::ends_within;
use super::upgrade;
use crate::certificates::{Certificate, Obstacle, Trust, Validity, from_base64_bundle, reach, trust};
use crate::chart::values::Values;
use crate::checks::prelude::*;
use crate::objects::{Secret, ServiceReference};
use crate::redact::{KEY_MATCHES, KeyMatches};

/// Links a missing component of the control plane to its consequences.
pub(super) fn component_missing(component: &str) -> Tie {
    Tie::Fact(format!("component-missing:{component}"))
}

/// Links a missing CRD to the component of the control plane that needs it.
pub(super) fn definition_missing(component: &str) -> Tie {
    Tie::Fact(format!("definition-missing:{component}"))
}

/// Links chart values that the injector cannot read to the pods that it rejects.
pub(super) fn values_unreadable() -> Tie {
    Tie::Fact("injector-cannot-read-values".to_owned())
}

/// Links an annotation of a namespace to the pods there that are rejected because of it.
pub(super) fn annotation_denied(namespace: &str) -> Tie {
    Tie::Fact(format!("injector-rejects-pods-of:{namespace}"))
}

/// Links the injector of jaeger, which adds a volume again, to the pods that are rejected because of it.
pub(super) fn volume_added_twice() -> Tie {
    Tie::Fact("trace-volume-added-twice".to_owned())
}

/// Links an injector that cannot answer to the pods that were created without it.
pub(super) fn silent_injector() -> Tie {
    Tie::Fact("injector-does-not-answer".to_owned())
}

/// Why the API server rejects a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It has no bundle for verification.
    NoBundle,
    /// The bundle holds no certificate, so the API server cannot even connect.
    NoCertificate,
    /// The certificate does not chain to the bundle.
    NotTrusted,
    /// The certificate is valid for other names.
    WrongName,
    /// The certificate, or one that signed it, is restricted to purposes without servers.
    WrongPurpose,
}

/// Whether a webhook of Linkerd calls another Service than that of its server (`own`), and it does not exist.
pub(super) fn is_misdirected(ctx: &Context<'_>, called: &ServiceReference, own: &str) -> bool {
    let key = (called.namespace.as_str(), called.name.as_str());
    if key == (ctx.namespaces().control_plane.as_str(), own) {
        return false;
    }
    let services = ctx.or_note(ctx.complete_list::<Service>());
    services.is_some_and(|all| !all.iter().any(|known| known.metadata.key() == key))
}

/// The certificates in a Secret, the server's own first.
///
/// # Errors
/// The Secret contains no certificate, or an invalid one; the error states the reason.
pub(super) fn served(secret: &Secret) -> Result<Vec<Certificate>, String> {
    let lacks = match secret.data.contains_key("crt.pem") {
        true => "it lacks tls.crt, and Linkerd does not read its crt.pem",
        false => "it lacks tls.crt",
    };
    let served = from_base64_bundle(secret.data.get("tls.crt").ok_or(lacks)?)?;
    if served.is_empty() { Err("it holds no certificate".to_owned()) } else { Ok(served) }
}

/// Why the API server rejects the served certificates for a name; `None` if it accepts them. `bundle` is the
/// text with the trusted certificates. Validity periods are not evaluated.
///
/// # Errors
/// A signature in the chain has an unknown algorithm, which is the error.
pub(super) fn refusal(
    served: &[Certificate],
    (bundle, trusted): (&str, &[Certificate]),
    name: &str,
) -> Result<Option<Refusal>, String> {
    Ok(match trust(served, trusted) {
        Trust::Unknown(algorithm) => return Err(algorithm),
        Trust::Yes if served.first().is_some_and(|leaf| leaf.covers(name)) => None,
        Trust::Yes => Some(Refusal::WrongName),
        Trust::Barred(Obstacle::Purpose) => Some(Refusal::WrongPurpose),
        Trust::Barred(_) => Some(Refusal::NotTrusted),
        Trust::No if bundle.is_empty() => Some(Refusal::NoBundle),
        Trust::No if trusted.is_empty() => Some(Refusal::NoCertificate),
        Trust::No => Some(Refusal::NotTrusted),
    })
}

/// The certificates outside their validity period that the API server needs: the server's own, and the
/// intermediates that its chain to the bundle depends on.
pub(super) fn out_of_date<'a>(
    served: &'a [Certificate],
    trusted: &[Certificate],
    now: Timestamp,
) -> Vec<&'a Certificate> {
    let current = |certificate: &Certificate| certificate.validity(now) == Validity::Current;
    let out: Vec<&Certificate> = served.iter().filter(|certificate| !current(certificate)).collect();
    let own = served.first().is_some_and(|own| !current(own));
    let needed =
        !reach(served, trusted, &|_| true).anchors.is_empty() && reach(served, trusted, &current).anchors.is_empty();
    if own || needed { out } else { Vec::new() }
}

/// Certificates that expire within this time, including other certificates of the chain that have expired.
pub(super) fn ending(served: &[Certificate], now: Timestamp, within: SignedDuration) -> Vec<&Certificate> {
    let soon = |(place, certificate): &(usize, &Certificate)| {
        ends_within(certificate, now, within) || (*place > 0 && certificate.validity(now) == Validity::Over)
    };
    served.iter().enumerate().filter(soon).map(|(_, certificate)| certificate).collect()
}

/// Both sides as evidence: the certificate in the Secret, and the bundle in the configuration.
pub(super) fn both_sides(
    secret: &str,
    served: &[Certificate],
    configuration: &str,
    path: &str,
    trusted: &[Certificate],
) -> [Evidence; 2] {
    let list = |certificates: &[Certificate]| match certificates {
        [] => "no certificate".to_owned(),
        some => some.iter().map(Certificate::summary).collect::<Vec<_>>().join(", "),
    };
    [
        Evidence::field(secret, "data: certificate", list(served.get(..1).unwrap_or_default())),
        Evidence::field(configuration, path, list(trusted)),
    ]
}

/// The annotation that requests a caBundle from cert-manager's cainjector: the namespace and the name of a
/// Certificate.
const INJECT_CA: &str = "cert-manager.io/inject-ca-from";

/// The step for a server whose certificate the bundle in its configuration does not verify: cert-manager's
/// cainjector writes a bundle without certificates; otherwise see [`align_ca_step`].
pub(super) fn bundle_step(
    ctx: &Context<'_>,
    (configuration, trusted): (&Meta, &[Certificate]),
    values: &str,
    server: &str,
) -> Remedy {
    match filled_by_cainjector(configuration).filter(|_| trusted.is_empty()) {
        Some(step) => step,
        None => align_ca_step(ctx, Remedy::new(), values, server),
    }
}

/// The step if cert-manager's cainjector has to fill in a caBundle; `None` if it is not requested to.
fn filled_by_cainjector(configuration: &Meta) -> Option<Remedy> {
    let (namespace, name) = configuration.annotation(INJECT_CA)?.split_once('/')?;
    let act = format!(
        "Get Certificate {namespace}/{name} ready, and see why cert-manager's cainjector does not run: it \
         writes the caBundle"
    );
    let get = kubectl().namespace(namespace).words("describe certificate").operand(name);
    Some(Remedy::new().command(act, get))
}

/// Adds the steps that generate both sides together. `values` is the path of this server in the chart's
/// values, `server` its name as text.
pub(super) fn align_ca_step(ctx: &Context<'_>, remedy: Remedy, values: &str, server: &str) -> Remedy {
    let namespace = &ctx.namespaces().control_plane;
    let remedy = upgrade::reapply(
        ctx,
        remedy,
        &match chart_writes_pair(ctx, values) {
            Some(true) => "Reapply the control plane, which writes a new certificate and caBundle".to_owned(),
            Some(false) | None => format!(
                "Reapply the control plane, which writes a new certificate and caBundle (with cert-manager, set \
                 {values}.injectCaFrom)"
            ),
        },
    );
    let deployment = if values == "proxyInjector" { "linkerd-proxy-injector" } else { "linkerd-destination" };
    let rollout = |verb: &'static str| {
        kubectl().namespace(namespace).words("rollout").words(verb).arg(format!("deployment/{deployment}"))
    };
    let remedy = match is_rolled_with_pair(ctx, values) {
        true => remedy.command(
            format!("Wait until the {server} serves the new certificate: the change restarts it"),
            rollout("status").words("--timeout=5m"),
        ),
        false => remedy.command(
            format!("Restart the {server}, so that it serves the current certificate of the Secret"),
            rollout("restart"),
        ),
    };
    let by = upgrade::managed_by(ctx);
    if by.is_by_command() {
        return remedy;
    }
    let who =
        by.gitops.map_or_else(|| "If a GitOps tool manages the chart, let it".to_owned(), |tool| format!("Let {tool}"));
    remedy.note(format!(
        "{who} ignore the Secret's data and the caBundle, or render both once ({values}.externalSecret \
             and caBundle)"
    ))
}

/// Whether the chart restarts a webhook's server with each new certificate: in every release since 2.11, its pod
/// template has the hash of the manifests with the certificate, which the chart generates unless one is given.
fn is_rolled_with_pair(ctx: &Context<'_>, values: &str) -> bool {
    let is_given = |all: Values| all.text(&format!("{values}.crtPEM")).is_some_and(|pem| !pem.is_empty());
    upgrade::managed_by(ctx).is_by_command()
        && chart_writes_pair(ctx, values) == Some(true)
        && !ctx.values_for_steps().is_some_and(is_given)
}

/// Whether the chart generates the certificate and the caBundle of a webhook; `None` if the values are
/// unknown. `values` is the part of the chart's values about it.
pub(super) fn chart_writes_pair(ctx: &Context<'_>, values: &str) -> Option<bool> {
    let all = ctx.values_for_steps()?;
    Some(all.bool(&format!("{values}.externalSecret")) != Some(true))
}

/// The problem of a private key, as a clause about `it`; `None` if there is none or it is unknown.
pub(super) fn key_trouble(matches: KeyMatches) -> Option<(&'static str, &'static str)> {
    match matches {
        KeyMatches::True | KeyMatches::Unknown => None,
        KeyMatches::False => Some(("does not match its certificate", "it is the key of another certificate")),
        KeyMatches::Absent => Some(("is missing", "the Secret holds no key")),
        KeyMatches::Empty => Some(("is empty", "the Secret's entry for the key is empty")),
        KeyMatches::Unreadable => Some((
            "is in a form that Linkerd cannot read",
            "the key does not begin with an ECDSA or RSA key in plain PEM (EC PARAMETERS in front of it, \
             an encrypted or an Ed25519 key, or no key at all)",
        )),
    }
}

/// Whether a Secret's private key belongs to its certificate, as computed when the key was dropped.
pub(super) fn key_matches(secret: &Secret) -> KeyMatches {
    KeyMatches::parse(secret.metadata.annotation(KEY_MATCHES))
}

/// The gap if that is unknown: a dump without the key, or an unknown key type. The key was not requested, so
/// this is not refused evidence.
pub(super) fn key_not_known(ctx: &Context<'_>, item: Item) -> Missing {
    ctx.missing(item, Why::NotOffered, "whether its private key matches its certificate")
}
