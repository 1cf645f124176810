//! The evidence for the state of a rotation: bundle, issuer, proxies, linked clusters, proxies outside the cluster.

use jiff::{SignedDuration, Timestamp};

use super::proxies::{Bundled, Lifetime, Proxy, proxies, templates};
use super::{
    AnchorRole, ConditionStatus, EVENTS, EXTERNAL, LINKS, METRICS, Reading, RotationSubject, Statements, TEMPLATES,
};
use crate::certificates::{BundlePrint, Certificate, Validity, reach};
use crate::checks::certificates::identity::{
    BUNDLE, Bundle, Issuer, TRUST_ROOTS, bundles, clock_skew, issuance_lifetime, issuer,
};
use crate::checks::multicluster::links::links;
use crate::checks::prelude::*;
use crate::checks::trust_roots::chart_writes_bundle;
use crate::item::Program;
use crate::objects::{Event, ExternalWorkload, Link};

/// The event of identity for a loaded issuer.
const LOADED: &str = "IssuerUpdated";
/// The time after which every replica of identity has loaded a changed Secret, with a margin.
const DELIVERED: SignedDuration = SignedDuration::from_mins(5);
/// The same after the event of one replica.
const REPLICAS: SignedDuration = SignedDuration::from_mins(2);

/// A linked cluster.
pub(super) struct Linked {
    /// Its name.
    pub(super) cluster: String,
    /// The fingerprints of its trust anchors, or why they are unknown.
    pub(super) anchors: Result<Vec<String>, String>,
    /// How to read them.
    pub(super) close: Option<String>,
}

pub(super) struct Evidence<'a> {
    pub(super) now: Timestamp,
    /// What the plan rotates if no rotation is in progress.
    pub(super) of: RotationSubject,
    /// What expires soon.
    pub(super) due: Option<RotationSubject>,
    pub(super) bundles: Vec<Bundle>,
    pub(super) bundled: Option<Bundled<'a>>,
    pub(super) issuer: Option<Issuer<'a>>,
    /// The anchors of the bundle, each once, with their roles.
    pub(super) anchors: Vec<(Certificate, AnchorRole)>,
    /// When the issuer was put in place at the latest, and the source of this.
    pub(super) since: Option<(Timestamp, String)>,
    pub(super) lifetime: Lifetime,
    pub(super) proxies: Vec<Proxy<'a>>,
    /// Whether all pods were read.
    pub(super) knows_proxies: bool,
    /// The workloads whose templates hold trust anchors, or why they are unknown.
    pub(super) templates: Result<Vec<(Owner, BundlePrint)>, Missing>,
    /// Linked clusters, or why they are unknown.
    pub(super) linked: Result<Vec<Linked>, Missing>,
    /// Number of workloads outside the cluster, or why it is unknown.
    pub(super) external: Result<usize, Missing>,
    pub(super) statements: Statements,
    /// Evidence without which there is no state.
    pub(super) gaps: Vec<Missing>,
}

impl<'a> Evidence<'a> {
    /// Reads it. Never fails: what is missing is in `gaps`.
    pub(super) fn read(reading: &Reading<'a>, ctx: &Context<'a>, statements: &Statements) -> Evidence<'a> {
        let mut gaps = Vec::new();
        let bundles = known(bundles(ctx), &mut gaps).unwrap_or_default();
        let roots = ctx.object::<ConfigMap>(Scope::ControlPlane, TRUST_ROOTS);
        let roots = roots.map_err(|missing| gaps.push(missing)).ok().flatten();
        let text = roots.and_then(|roots| roots.data.get(BUNDLE)).map(String::as_str);
        let issuer = known(issuer(ctx), &mut gaps);
        let mut bundled = text.map(|text| Bundled {
            text,
            print: BundlePrint::from_pem(text),
            by_chart: chart_writes_bundle(ctx) == Some(true),
            since: statements.bundle_since,
        });
        let metrics = reading.context(METRICS);
        let proxies = proxies(ctx, &metrics, bundled.as_ref());
        let proxies = proxies.map_err(|missing| gaps.push(missing)).ok();
        let knows_proxies = proxies.is_some();
        let proxies = proxies.unwrap_or_default();
        if let Some(bundled) = &mut bundled {
            let print = &bundled.print;
            let created = proxies.iter().filter_map(|proxy| proxy.created_with(print)).min();
            bundled.since = bundled.since.into_iter().chain(created).min();
        }
        gaps.extend(metrics.into_gaps().into_iter().filter(Missing::was_asked_for));
        let now = ctx.now();
        // One that a proxy lacks, although it has the anchor in use, was added after that proxy started.
        let is_added = |anchor: &Certificate, used: &[&Certificate]| {
            let Some(bundled) = &bundled else { return false };
            let lacks = |proxy: &&Proxy<'_>| proxy.trusts(anchor, bundled) == ConditionStatus::No;
            let mut without = proxies.iter().filter(lacks);
            without.any(|proxy| used.iter().any(|used| proxy.trusts(used, bundled) == ConditionStatus::Yes))
        };
        let anchors = roles(&bundles, issuer.as_ref(), now, is_added);
        let since = issuer.as_ref().and_then(|issuer| since(reading, issuer, statements));
        let lifetime = lifetime(ctx, since.as_ref());
        let due = due(&anchors, issuer.as_ref(), now);
        gaps.sort();
        gaps.dedup();
        Evidence {
            now,
            of: statements.of.or(due).unwrap_or(RotationSubject::Anchor),
            due,
            bundles,
            bundled,
            issuer,
            anchors,
            lifetime,
            since: since.map(|(at, source, _)| (at, source)),
            proxies,
            knows_proxies,
            templates: templates(&reading.context(TEMPLATES)),
            linked: linked(reading),
            external: external(reading),
            statements: statements.clone(),
            gaps,
        }
    }

    /// The anchors with a role.
    pub(super) fn with(&self, role: AnchorRole) -> impl Iterator<Item = &Certificate> {
        self.anchors.iter().filter(move |(_, own)| *own == role).map(|(anchor, _)| anchor)
    }

    /// The newest anchor that is not yet used.
    pub(super) fn new_anchor(&self) -> Option<&Certificate> {
        self.with(AnchorRole::New).max_by_key(|anchor| anchor.not_before())
    }
}

/// The value; missing evidence is noted. Problems that other checks report are not missing evidence.
fn known<T>(read: Result<T, Unjudged>, gaps: &mut Vec<Missing>) -> Option<T> {
    match read {
        Ok(value) => Some(value),
        Err(Unjudged::Missing(missing)) => {
            gaps.push(missing);
            None
        }
        Err(Unjudged::NotApplicable(_) | Unjudged::Blocked { .. }) => None,
    }
}

/// The anchors of the bundle in force: those that the issuer chains to, newer and older ones. `is_added`: whether an
/// anchor is known to be newer in the bundle than those in use, however old its certificate is (a company's root).
fn roles(
    bundles: &[Bundle],
    issuer: Option<&Issuer<'_>>,
    now: Timestamp,
    is_added: impl Fn(&Certificate, &[&Certificate]) -> bool,
) -> Vec<(Certificate, AnchorRole)> {
    let Some(bundle) = bundles.iter().find(|bundle| bundle.in_force) else { return Vec::new() };
    let mut anchors: Vec<&Certificate> = Vec::new();
    for anchor in &bundle.anchors {
        if !anchors.contains(&anchor) {
            anchors.push(anchor);
        }
    }
    let Some(issuer) = issuer else {
        return anchors.into_iter().map(|anchor| (anchor.clone(), AnchorRole::Unknown)).collect();
    };
    let signing = |usable: &dyn Fn(&Certificate) -> bool| -> Vec<&Certificate> {
        let is_signer =
            |anchor: &&Certificate| !reach(&issuer.chain, std::slice::from_ref(*anchor), usable).anchors.is_empty();
        anchors.iter().copied().filter(is_signer).collect()
    };
    let mut signers = signing(&|certificate| certificate.validity(now) == Validity::Current);
    if signers.is_empty() {
        // An expired anchor is still the one that signed the issuer.
        signers = signing(&|_| true);
    }
    let newest = signers.iter().map(|anchor| anchor.not_before()).max();
    let role = |anchor: &Certificate| match newest {
        None => AnchorRole::Unknown,
        Some(_) if signers.contains(&anchor) => AnchorRole::Current,
        Some(_) if anchor.validity(now) == Validity::Over => AnchorRole::Old,
        Some(newest) if anchor.not_before() > newest || is_added(anchor, &signers) => AnchorRole::New,
        Some(_) => AnchorRole::Old,
    };
    anchors.into_iter().map(|anchor| (anchor.clone(), role(anchor))).collect()
}

/// When the issuer was put in place at the latest, the source of this, and the time until identity signs with it.
fn since(
    reading: &Reading<'_>,
    issuer: &Issuer<'_>,
    statements: &Statements,
) -> Option<(Timestamp, String, SignedDuration)> {
    let made = issuer.certificate().not_before();
    if let Some(at) = statements.issuer_since.filter(|at| *at >= made) {
        return Some((at, "--issuer-since".to_owned(), DELIVERED));
    }
    let ctx = reading.context(EVENTS);
    let home = ctx.namespaces().control_plane.as_str();
    let loaded = ctx
        .optional_list::<Event>()
        .iter()
        .filter(|event| event.reason.as_str() == LOADED && event.about.namespace == *home);
    if let Some(at) = loaded.filter_map(|event| event.last.get()).max().filter(|at| *at >= made) {
        return Some((at, format!("event {LOADED}"), REPLICAS));
    }
    (issuer.renewed_by() == Some("cert-manager"))
        .then(|| (made, "start of its validity: cert-manager writes an issuer when it is signed".to_owned(), DELIVERED))
}

fn lifetime(ctx: &Context<'_>, since: Option<&(Timestamp, String, SignedDuration)>) -> Lifetime {
    let settled = since.and_then(|(at, _, margin)| at.checked_add(*margin).ok());
    let valid = issuance_lifetime(ctx).map(|lifetime| lifetime.saturating_add(clock_skew(ctx)));
    let over = settled.zip(valid).and_then(|(settled, valid)| settled.checked_add(valid).ok());
    Lifetime { settled, over }
}

/// What expires soon: the anchor, which includes the issuer, or the issuer alone.
fn due(anchors: &[(Certificate, AnchorRole)], issuer: Option<&Issuer<'_>>, now: Timestamp) -> Option<RotationSubject> {
    const SOON: SignedDuration = SignedDuration::from_hours(60 * 24);
    let is_soon = |certificate: &Certificate| certificate.not_after().duration_since(now) < SOON;
    let mut current = anchors.iter().filter(|(_, role)| *role == AnchorRole::Current);
    if current.any(|(anchor, _)| is_soon(anchor)) {
        return Some(RotationSubject::Anchor);
    }
    issuer.is_some_and(|issuer| is_soon(issuer.certificate())).then_some(RotationSubject::Issuer)
}

fn linked(reading: &Reading<'_>) -> Result<Vec<Linked>, Missing> {
    let ctx = reading.context(LINKS);
    let links = match links(&ctx) {
        Ok(links) => links,
        Err(Unjudged::Missing(missing)) if missing.why != Why::NotServed => return Err(missing),
        // No link can exist.
        Err(Unjudged::Missing(_) | Unjudged::NotApplicable(_) | Unjudged::Blocked { .. }) => {
            return Ok(Vec::new());
        }
    };
    Ok(links.iter().map(|link| of_link(&ctx, link)).collect())
}

fn of_link(ctx: &Context<'_>, link: &Link) -> Linked {
    let cluster = link.spec.target_cluster_name.to_string();
    let read = ctx.probe(Program::LinkedCluster, &link.metadata.namespace, &link.metadata.name);
    match read {
        Ok(answer) if answer.is_well() => Linked { cluster, anchors: Ok(answer.anchors.clone()), close: None },
        Ok(answer) => Linked { cluster, anchors: Err(answer.describe()), close: None },
        Err(missing) => {
            let close = Some(missing.close().to_string());
            Linked { cluster, anchors: Err(missing.to_string()), close }
        }
    }
}

fn external(reading: &Reading<'_>) -> Result<usize, Missing> {
    let ctx = reading.context(EXTERNAL);
    match ctx.complete_list::<ExternalWorkload>() {
        Ok(workloads) => Ok(workloads.len()),
        Err(missing) if missing.why == Why::NotServed => Ok(0),
        Err(missing) => Err(missing),
    }
}

/// Whether a proxy trusts an anchor of the bundle.
pub(super) fn trusts(evidence: &Evidence<'_>, proxy: &Proxy<'_>, anchor: &Certificate) -> ConditionStatus {
    evidence.bundled.as_ref().map_or(ConditionStatus::Unknown, |bundled| proxy.trusts(anchor, bundled))
}

/// Whether a proxy trusts nothing beyond the bundle.
pub(super) fn is_current(evidence: &Evidence<'_>, proxy: &Proxy<'_>) -> ConditionStatus {
    evidence.bundled.as_ref().map_or(ConditionStatus::Unknown, |bundled| proxy.is_current(bundled))
}

/// Whether the certificate of a proxy is of the current issuer.
pub(super) fn renewed(evidence: &Evidence<'_>, proxy: &Proxy<'_>) -> ConditionStatus {
    let issuer = evidence.issuer.as_ref();
    issuer.map_or(ConditionStatus::Unknown, |issuer| {
        proxy.is_renewed(issuer.certificate(), &evidence.lifetime, evidence.now)
    })
}

/// The anchor that every proxy must trust before the issuer is replaced: the new one, or those of the current issuer.
pub(super) fn trusts_next(evidence: &Evidence<'_>, proxy: &Proxy<'_>, of: RotationSubject) -> ConditionStatus {
    match (of, evidence.new_anchor()) {
        (RotationSubject::Anchor, Some(anchor)) => trusts(evidence, proxy, anchor),
        (RotationSubject::Anchor, None) | (RotationSubject::Issuer, _) => evidence
            .with(AnchorRole::Current)
            .map(|anchor| trusts(evidence, proxy, anchor))
            .max()
            .unwrap_or(ConditionStatus::Unknown),
    }
}
