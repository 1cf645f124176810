//! Inputs of the checks of the mesh's own certificates: the trust anchors, from all their sources,
//! and the issuer in its Secret. Reads and parses only.

use jiff::{SignedDuration, Timestamp};

use crate::certificates::{
    Certificate, from_base64_bundle, from_base64_pem, from_base64_restored_bundle, from_restored_bundle,
};
use crate::chart::values::Values;
pub(super) use crate::checks::control_plane::installation::config;
use crate::checks::control_plane::installation::none_installed;
use crate::checks::dates;
use crate::checks::prelude::*;
pub(super) use crate::checks::trust_roots::{BUNDLE, TRUST_ROOTS};
use crate::finding::Moment;
use crate::model::control_plane::components;
use crate::model::moments;
use crate::objects::{OwnerReference, Secret};

/// The Secret that holds the issuer's certificate and key.
pub(super) const ISSUER: &str = "linkerd-identity-issuer";
/// The check that reports a missing or unusable Secret of the issuer.
pub(super) const ISSUER_CHECK: &str = "issuer-secret-invalid";
/// The check that reports missing or unreadable trust anchors.
pub(super) const ROOTS_CHECK: &str = "trust-roots-missing";

/// The item of the ConfigMap [`TRUST_ROOTS`].
pub(super) fn roots_item() -> Item {
    named_item(Kind::ConfigMap, TRUST_ROOTS)
}

/// The item of the Secret [`ISSUER`].
pub(super) fn issuer_item() -> Item {
    named_item(Kind::Secret, ISSUER)
}

/// The item of `linkerd-config`.
pub(super) fn config_item() -> Item {
    named_item(Kind::ConfigMap, "linkerd-config")
}

fn named_item(kind: Kind, name: &str) -> Item {
    Item::named(kind, Scope::ControlPlane, name)
}

/// Verifies that a control plane is installed, for checks that have not found one of its objects.
///
/// # Errors
/// No control plane is installed; or Deployments are unavailable or incomplete, and no listed one belongs to
/// a control plane.
pub(super) fn need_control_plane(ctx: &Context<'_>) -> Result<(), Unjudged> {
    let namespace = &ctx.namespaces().control_plane;
    if !components(ctx.optional_list::<Deployment>(), namespace).is_empty() {
        return Ok(());
    }
    ctx.complete_list::<Deployment>()?;
    Err(none_installed())
}

/// The correlation key of findings about the identity of the mesh, shared with the Deployment that
/// needs it.
pub(in crate::checks) fn identity_deployment(ctx: &Context<'_>) -> Tie {
    Tie::Workload("Deployment".to_owned(), ctx.namespaces().control_plane.clone(), "linkerd-identity".to_owned())
}

/// The correlation key of findings about one trust anchor.
pub(super) fn anchor_tie(anchor: &Certificate) -> Tie {
    Tie::Fact(format!("trust-anchor:{}", anchor.print()))
}

/// The layout of the issuer's Secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    /// `linkerd.io/tls`: the chart writes `crt.pem` and `key.pem`; the trust anchors are in
    /// `linkerd-config`.
    Linkerd,
    /// `kubernetes.io/tls`: another tool writes `tls.crt`, `tls.key` and `ca.crt`.
    External,
}

impl Scheme {
    /// The key of the certificate.
    pub(super) fn certificate(self) -> &'static str {
        match self {
            Scheme::Linkerd => "crt.pem",
            Scheme::External => "tls.crt",
        }
    }

    /// Its name in the values.
    pub(super) fn name(self) -> &'static str {
        match self {
            Scheme::Linkerd => "linkerd.io/tls",
            Scheme::External => "kubernetes.io/tls",
        }
    }
}

/// The values in `linkerd-config`, if available.
pub(super) fn values(ctx: &Context<'_>) -> Option<Values> {
    config(ctx).ok().flatten().and_then(ConfigMap::chart_values)
}

/// The trust domain of proxy names, as the chart computes it; `None` if the values are unavailable.
pub(super) fn trust_domain(ctx: &Context<'_>) -> Option<String> {
    let values = values(ctx)?;
    let domain = values.text("identityTrustDomain").or_else(|| values.text("clusterDomain"));
    Some(domain.unwrap_or(DEFAULT_DOMAIN).to_owned())
}

/// The default lifetime of certificates that identity issues.
pub(super) const USUAL_LIFETIME: SignedDuration = SignedDuration::from_hours(24);
/// The default tolerance of identity for clocks that differ, which it adds to each certificate.
const USUAL_SKEW: SignedDuration = SignedDuration::from_secs(20);

/// The lifetime of certificates that identity issues; `None` if the values are unavailable.
pub(super) fn issuance_lifetime(ctx: &Context<'_>) -> Option<SignedDuration> {
    let values = values(ctx)?;
    Some(values.text("identity.issuer.issuanceLifetime").and_then(seconds).unwrap_or(USUAL_LIFETIME))
}

/// The tolerance that identity adds to that lifetime.
pub(super) fn clock_skew(ctx: &Context<'_>) -> SignedDuration {
    let values = values(ctx);
    let set = values.as_ref().and_then(|values| values.text("identity.issuer.clockSkewAllowance"));
    set.and_then(seconds).unwrap_or(USUAL_SKEW)
}

/// A duration in the format of the chart: `24h0m0s`, `86400s`.
fn seconds(text: &str) -> Option<SignedDuration> {
    text.parse::<SignedDuration>().ok().filter(|lifetime| lifetime.is_positive())
}

/// The default trust domain of the chart.
pub(super) const DEFAULT_DOMAIN: &str = "cluster.local";

/// The start of the container that holds the issuer.
pub(super) fn identity_started(pod: &Pod) -> Option<Timestamp> {
    pod.container_status("identity")?.state.running()?.started_at.get()
}

/// The layout that the values set. Without values, that of the Secret; without either, the usual
/// one.
pub(super) fn scheme(values: Option<&Values>, secret: Option<&Secret>) -> Scheme {
    match values.map(|values| values.text("identity.issuer.scheme")) {
        Some(None | Some("linkerd.io/tls")) => Scheme::Linkerd,
        Some(Some(_)) => Scheme::External,
        None if secret.is_some_and(|secret| secret.data.contains_key("tls.crt")) => Scheme::External,
        None => Scheme::Linkerd,
    }
}

pub(super) struct Issuer<'a> {
    pub(super) secret: &'a Secret,
    /// Its layout.
    pub(super) scheme: Scheme,
    /// Its certificate, followed by those above it from the Secret.
    pub(super) chain: Vec<Certificate>,
}

impl Issuer<'_> {
    /// Its own certificate.
    pub(super) fn certificate(&self) -> &Certificate {
        &self.chain[0]
    }

    /// The Secret as a subject.
    pub(super) fn subject(&self) -> Subject {
        Subject::object("Secret", &self.secret.metadata.namespace, ISSUER)
    }

    /// Evidence about the certificate.
    pub(super) fn quoted(&self, said: String) -> Evidence {
        let object = format!("Secret {}/{ISSUER}", self.secret.metadata.namespace);
        Evidence::field(object, format!("data[{}]", self.scheme.certificate()), said)
    }

    /// The start of its certificate's validity, and its expiry if past.
    pub(super) fn moments(&self, now: Timestamp) -> Vec<Moment> {
        let object = format!("Secret {}/{ISSUER}", self.secret.metadata.namespace);
        moments::of_certificate(&object, &format!("data[{}]", self.scheme.certificate()), self.certificate(), now)
    }

    /// The tool that renews it, if known: the owner of the Secret.
    pub(super) fn renewed_by(&self) -> Option<&'static str> {
        let tool = dates::renewed_by(&self.secret.metadata, self.certificate());
        tool.filter(|tool| self.scheme == Scheme::External || *tool == "cert-manager")
    }
}

/// The issuer in its Secret.
///
/// # Errors
/// The issuer is missing, or it is unknown whether the Secret exists.
pub(super) fn issuer<'a>(ctx: &Context<'a>) -> Result<Issuer<'a>, Unjudged> {
    let secret = ctx.object::<Secret>(Scope::ControlPlane, ISSUER)?;
    let Some(secret) = secret else {
        need_control_plane(ctx)?;
        return Err(Unjudged::blocked(ISSUER_CHECK, "the issuer is missing"));
    };
    let scheme = scheme(values(ctx).as_ref(), Some(secret));
    match restored_chain(secret, scheme) {
        Ok(chain) => Ok(Issuer { secret, scheme, chain }),
        Err(_) => Err(Unjudged::blocked(ISSUER_CHECK, "the issuer's certificate cannot be read")),
    }
}

/// The certificates in the issuer's Secret, its own first.
///
/// # Errors
/// It has none, or they are unreadable; contains the reason.
pub(super) fn chain(secret: &Secret, scheme: Scheme) -> Result<Vec<Certificate>, String> {
    chain_as(secret, scheme, from_base64_bundle)
}

/// [`chain`] without the damage that another check reports.
fn restored_chain(secret: &Secret, scheme: Scheme) -> Result<Vec<Certificate>, String> {
    chain_as(secret, scheme, from_base64_restored_bundle)
}

fn chain_as(
    secret: &Secret,
    scheme: Scheme,
    read: fn(&str) -> Result<Vec<Certificate>, String>,
) -> Result<Vec<Certificate>, String> {
    let key = scheme.certificate();
    let text = secret.data.get(key).ok_or_else(|| format!("no certificate under {key}"))?;
    let chain = read(text).map_err(|error| format!("{key}: {error}"))?;
    if chain.is_empty() { Err(format!("no certificate under {key}")) } else { Ok(chain) }
}

/// The Bundle of trust-manager that writes the trust anchors, if one does.
pub(super) fn source_bundle(roots: &ConfigMap) -> Option<&OwnerReference> {
    roots.metadata.controller().filter(|owner| owner.kind == "Bundle")
}

/// A source of trust anchors.
pub(super) struct Bundle {
    /// The object that holds them.
    pub(super) subject: Subject,
    /// Its field.
    pub(super) path: &'static str,
    /// Whether identity and proxies use it, rather than the next upgrade.
    pub(super) in_force: bool,
    pub(super) anchors: Vec<Certificate>,
}

impl Bundle {
    /// Evidence about it.
    pub(super) fn evidence(&self, said: impl Into<String>) -> Evidence {
        Evidence::field(&self.subject, self.path, said)
    }

    /// The start of the validity of some of its anchors, and their expiry if past.
    pub(super) fn moments<'a>(
        &self,
        anchors: impl IntoIterator<Item = &'a Certificate>,
        now: Timestamp,
    ) -> Vec<Moment> {
        let object = self.subject.to_string();
        anchors.into_iter().flat_map(|anchor| moments::of_certificate(&object, self.path, anchor, now)).collect()
    }
}

/// The bundles of the mesh: that of the ConfigMap [`TRUST_ROOTS`], and the one that `linkerd check`
/// reads, from `linkerd-config` or, if a tool other than Linkerd writes it, from the issuer's
/// Secret. Records a gap for an unavailable one.
///
/// # Errors
/// None exists, or it is unknown whether one exists.
pub(super) fn bundles(ctx: &Context<'_>) -> Result<Vec<Bundle>, Unjudged> {
    let namespace = ctx.namespaces().control_plane.as_str();
    let mut bundles = Vec::new();
    let mut add = |item: Item, subject: Subject, path: &'static str, read: Result<Vec<Certificate>, String>| match read
    {
        Ok(anchors) if anchors.is_empty() => {}
        Ok(anchors) => bundles.push(Bundle { subject, path, in_force: path == IN_FORCE, anchors }),
        Err(message) => ctx.gap(ctx.missing(item, Why::Malformed { message }, "its trust anchors")),
    };
    let roots = ctx.object::<ConfigMap>(Scope::ControlPlane, TRUST_ROOTS);
    if let Ok(Some(roots)) = roots
        && let Some(pem) = roots.data.get(BUNDLE)
    {
        add(roots_item(), Subject::object("ConfigMap", namespace, TRUST_ROOTS), IN_FORCE, from_restored_bundle(pem));
    }
    let config = config(ctx);
    let values = values(ctx);
    match scheme(values.as_ref(), None) {
        Scheme::Linkerd => {
            if let Some(pem) = values.as_ref().and_then(|values| values.text("identityTrustAnchorsPEM")) {
                let subject = Subject::object("ConfigMap", namespace, "linkerd-config");
                // The chart trims the text that it writes.
                let anchors = from_restored_bundle(pem.trim());
                add(config_item(), subject, "data.values: identityTrustAnchorsPEM", anchors);
            }
        }
        Scheme::External => match ctx.object::<Secret>(Scope::ControlPlane, ISSUER) {
            Ok(secret) => {
                if let Some(text) = secret.and_then(|secret| secret.data.get("ca.crt")) {
                    let subject = Subject::object("Secret", namespace, ISSUER);
                    add(issuer_item(), subject, "data[ca.crt]", from_base64_pem(text));
                }
            }
            Err(missing) => ctx.gap(missing),
        },
    }
    let known = [roots.map(|_| ()), config.map(|_| ())];
    if bundles.is_empty() {
        known.into_iter().collect::<Result<Vec<()>, Missing>>()?;
        need_control_plane(ctx)?;
        return Err(Unjudged::blocked(ROOTS_CHECK, "the trust anchors are missing or unreadable"));
    }
    known.into_iter().filter_map(Result::err).for_each(|missing| ctx.gap(missing));
    Ok(bundles)
}

/// The issuer and the bundles that it may chain to.
///
/// # Errors
/// The issuer or the bundle is missing, or it is unknown whether they exist.
pub(super) fn issuer_and_bundles<'a>(ctx: &Context<'a>) -> Result<(Issuer<'a>, Vec<Bundle>), Unjudged> {
    Ok((issuer(ctx)?, bundles(ctx)?))
}

/// The field of the ConfigMap [`TRUST_ROOTS`].
pub(super) const IN_FORCE: &str = "data[ca-bundle.crt]";

/// A trust anchor and all its sources.
pub(super) struct Anchor<'a> {
    pub(super) certificate: &'a Certificate,
    /// Its sources, the current bundle first.
    pub(super) places: Vec<&'a Bundle>,
}

impl Anchor<'_> {
    /// The object to report.
    pub(super) fn subject(&self) -> Subject {
        self.places[0].subject.clone()
    }

    /// The start of its validity, and its expiry if past.
    pub(super) fn moments(&self, now: Timestamp) -> Vec<Moment> {
        self.places[0].moments([self.certificate], now)
    }

    /// Evidence from each of its sources.
    pub(super) fn evidence(&self, said: &str) -> impl Iterator<Item = Evidence> {
        self.places.iter().map(move |place| place.evidence(said))
    }
}

/// Each anchor once, in the order of the sources.
pub(super) fn anchors(bundles: &[Bundle]) -> Vec<Anchor<'_>> {
    let mut anchors: Vec<Anchor<'_>> = Vec::new();
    for bundle in bundles {
        for certificate in &bundle.anchors {
            match anchors.iter_mut().find(|anchor| anchor.certificate == certificate) {
                // A duplicate within one source counts once.
                Some(anchor) if anchor.places.iter().any(|place| std::ptr::eq(*place, bundle)) => {}
                Some(anchor) => anchor.places.push(bundle),
                None => anchors.push(Anchor { certificate, places: vec![bundle] }),
            }
        }
    }
    anchors
}
