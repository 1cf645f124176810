//! The commands of each step of a rotation, from the functions that remedies of findings use, so that they
//! fit the tool that installed Linkerd and the tool that writes the certificates.

use std::collections::BTreeSet;

use super::evidence::{Evidence, is_current, renewed, trusts_next};
use super::proxies::Proxy;
use super::{AnchorRole, ConditionStatus, Phase, RotationSubject, Stage};
use crate::checks::certificates::identity::{Anchor, Issuer, Scheme, anchors};
use crate::checks::certificates::managed_anchor::{ManagedAnchor, added_in_line};
use crate::checks::certificates::remedy::{
    EDITED, NEW_ROOT, WITH_NEW, add_to_bundle, another_issuer, current_bundle, new_root, new_root_alone, put_bundle,
    put_known_bundle, put_new_issuer, restart_control_plane, see_it_taken, without_anchor,
};
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, meshed_but};
use crate::command::{Line, program};

/// The commands of a step, in a phase.
pub(super) fn remedy(
    ctx: &Context<'_>,
    evidence: &Evidence<'_>,
    stage: Stage,
    (phase, of): (Phase, RotationSubject),
) -> Remedy {
    match stage {
        Stage::AddAnchor => add_anchor(ctx, evidence),
        // The change of the bundle may restart it.
        Stage::RestartControlPlane if evidence.new_anchor().is_none() => {
            restart_control_plane_after(ctx, add_anchor(ctx, evidence))
        }
        Stage::RestartControlPlane => restart_control_plane(ctx, Remedy::new()),
        Stage::RestartWorkloads => restart_workloads(ctx, evidence),
        Stage::ReplaceIssuer => replace_issuer(ctx, evidence, of),
        Stage::RenewCertificates => renew_certificates(ctx, evidence, phase),
        Stage::RemoveAnchor => remove_anchor(ctx, evidence),
        Stage::DropOldAnchor => drop_old_anchor(ctx, evidence, phase),
    }
}

/// The steps that restart the control plane after others, which may already restart it. The others are left out.
fn restart_control_plane_after(ctx: &Context<'_>, before: Remedy) -> Remedy {
    let count = before.steps.len();
    let mut remedy = restart_control_plane(ctx, before);
    remedy.steps.drain(..count);
    remedy
}

fn add_anchor(ctx: &Context<'_>, evidence: &Evidence<'_>) -> Remedy {
    if let Some(remedy) = ManagedAnchor::find(ctx).and_then(|anchor| anchor.renewed(ctx, Remedy::new())) {
        let listed = program("step").words("certificate fingerprint --bundle").arg(WITH_NEW);
        let lines = [current_bundle(ctx).to_file(WITH_NEW), Line::from(listed)];
        return remedy.command(
            "Check that the bundle has both anchors: the command lists their fingerprints",
            Command::lines(lines).whole(),
        );
    }
    let by_tool = evidence.issuer.as_ref().is_some_and(|issuer| issuer.scheme == Scheme::External);
    let remedy = match by_tool {
        true => new_root_alone(ctx, Remedy::new()),
        false => new_root(ctx, Remedy::new()),
    };
    let act = "Write a bundle of the current anchors and the new one to a file";
    let remedy = add_to_bundle(ctx, remedy, act, WITH_NEW, NEW_ROOT);
    let act = "Put that bundle in place";
    // The old anchor stays in it also if another source is replaced later.
    added_in_line(ctx, remedy.clone(), act, WITH_NEW).unwrap_or_else(|| put_bundle(ctx, remedy, act, WITH_NEW))
}

/// The workloads without a pod in a state other than yes.
fn finished(evidence: &Evidence<'_>, state: &dyn Fn(&Proxy<'_>) -> ConditionStatus) -> BTreeSet<Owner> {
    let open: BTreeSet<&Owner> = evidence
        .proxies
        .iter()
        .filter(|proxy| state(proxy) != ConditionStatus::Yes)
        .map(|proxy| &proxy.owner)
        .collect();
    let all = evidence.proxies.iter().map(|proxy| &proxy.owner);
    all.filter(|owner| !open.contains(owner)).cloned().collect()
}

fn linked_clusters(evidence: &Evidence<'_>) -> Vec<String> {
    let linked = evidence.linked.as_ref().map_or(&[][..], Vec::as_slice);
    linked.iter().map(|one| one.cluster.clone()).collect()
}

fn restart_workloads(ctx: &Context<'_>, evidence: &Evidence<'_>) -> Remedy {
    let done = match evidence.new_anchor() {
        Some(_) => finished(evidence, &|proxy| trusts_next(evidence, proxy, RotationSubject::Anchor)),
        None => BTreeSet::new(),
    };
    let act = "Restart the meshed workloads without the new anchor: a proxy keeps the anchors it was created with";
    let remedy = meshed_but(ctx, Remedy::new(), Needs::NewProxy, act, &|owner| done.contains(owner));
    let clusters = linked_clusters(evidence);
    if clusters.is_empty() {
        return remedy;
    }
    let remedy = match ManagedAnchor::find(ctx) {
        Some(anchor) => {
            let act = "Write the new anchor to a file, for the linked clusters";
            remedy.command(act, anchor.to_file(NEW_ROOT))
        }
        None => remedy,
    };
    remedy.note(format!(
        "In each linked cluster ({}), add {NEW_ROOT} to the bundle, and restart the control plane and \
             the meshed workloads",
        clusters.join(", ")
    ))
}

fn replace_issuer(ctx: &Context<'_>, evidence: &Evidence<'_>, of: RotationSubject) -> Remedy {
    let issuer = evidence.issuer.as_ref();
    if let (RotationSubject::Issuer, Some(issuer)) = (of, issuer) {
        return another_issuer(ctx, issuer);
    }
    let remedy = match issuer {
        Some(issuer) if issuer.scheme == Scheme::External => by_tool(ctx, issuer),
        _ => put_new_issuer(ctx, Remedy::new()),
    };
    see_it_taken(ctx, remedy)
}

/// The new issuer by the tool that writes its Secret.
fn by_tool(ctx: &Context<'_>, issuer: &Issuer<'_>) -> Remedy {
    let namespace = &ctx.namespaces().control_plane;
    let remedy = Remedy::new();
    if issuer.renewed_by() != Some("cert-manager") {
        return remedy.note(
            "Have the tool that writes the Secret linkerd-identity-issuer issue a certificate under the new \
             anchor: tls.crt, tls.key, and the new anchor as ca.crt",
        );
    }
    let name = issuer.secret.metadata.annotation("cert-manager.io/certificate-name").unwrap_or_default();
    let remedy = match ManagedAnchor::find(ctx) {
        // Its renewal put the new anchor into that Secret.
        Some(_) => remedy,
        None => into_authority(remedy, namespace, name),
    };
    remedy.command(
        "Have cert-manager issue the issuer again, under the new anchor",
        program("cmctl").words("renew").option("-n", namespace).operand(name),
    )
}

/// Adds the steps that put the new anchor into the Secret from which cert-manager signs the issuer.
fn into_authority(remedy: Remedy, namespace: &str, name: &str) -> Remedy {
    let reference = kubectl().namespace(namespace).words("get certificates.cert-manager.io").operand(name);
    let reference = reference.words("-o").arg("jsonpath={.spec.issuerRef}{\"\\n\"}");
    let columns = "custom-columns=KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name,\
                   SECRET:.spec.ca.secretName";
    let all = kubectl().words("get issuers.cert-manager.io,clusterissuers.cert-manager.io -A -o").arg(columns);
    let create = kubectl()
        .option("-n", Arg::placeholder("CA_NAMESPACE"))
        .words("create secret tls")
        .operand(Arg::placeholder("CA_SECRET"))
        .option("--cert", NEW_ROOT)
        .words("--key ca-new.key --dry-run=client -o yaml");
    remedy
        .command(
            "Find the Secret from which cert-manager signs the issuer: that of the Issuer or ClusterIssuer that the \
             Certificate names",
            Command::lines([reference, all]),
        )
        .command(
            "Put the new anchor into that Secret; CA_NAMESPACE is that of the Issuer, or of cert-manager for a \
             ClusterIssuer",
            create.pipe(kubectl().words("apply -f -")),
        )
}

/// The lifetime of certificates, if the values set another one than a day.
fn lifetime(ctx: &Context<'_>) -> Option<String> {
    let time = ctx.values_for_steps()?.text("identity.issuer.issuanceLifetime")?.to_owned();
    (!matches!(time.as_str(), "" | "24h" | "24h0m0s")).then_some(time)
}

fn renew_certificates(ctx: &Context<'_>, evidence: &Evidence<'_>, phase: Phase) -> Remedy {
    let is_replaced = phase == Phase::IssuerReplaced;
    let done = match is_replaced {
        true => finished(evidence, &|proxy| renewed(evidence, proxy)),
        false => BTreeSet::new(),
    };
    let remedy = match is_replaced && evidence.lifetime.settled.is_none() {
        true => Remedy::new().command(
            "Note the time: no evidence shows when the issuer was replaced, so pass this time as --issuer-since later",
            Command::from(program("date").words("-u +%Y-%m-%dT%H:%M:%SZ")),
        ),
        false => Remedy::new(),
    };
    let over = evidence.lifetime.over.filter(|over| is_replaced && *over > evidence.now);
    let wait = match over {
        Some(over) => format!("wait until {over}, when the old ones have expired"),
        None => match lifetime(ctx) {
            None => "wait a day, until the old ones have expired".to_owned(),
            Some(time) => format!("wait {time} (issuanceLifetime), until the old ones have expired"),
        },
    };
    let act = format!("Restart the meshed workloads for certificates of the new issuer; or {wait}");
    let remedy = meshed_but(ctx, remedy, Needs::NewPods, &act, &|owner| done.contains(owner));
    let mut own = evidence.proxies.iter().filter(|proxy| proxy.is_control_plane);
    if !own.any(|proxy| !done.contains(&proxy.owner)) {
        return remedy;
    }
    let namespace = &ctx.namespaces().control_plane;
    remedy.command(
        "Restart the control plane for the same reason",
        kubectl().namespace(namespace).words("rollout restart deployment"),
    )
}

fn remove_anchor(ctx: &Context<'_>, evidence: &Evidence<'_>) -> Remedy {
    let all = anchors(&evidence.bundles);
    let role = if evidence.with(AnchorRole::Old).next().is_some() && evidence.new_anchor().is_none() {
        AnchorRole::Old
    } else {
        AnchorRole::Current
    };
    let goes: Vec<&Anchor<'_>> =
        all.iter().filter(|anchor| evidence.with(role).any(|certificate| certificate == anchor.certificate)).collect();
    let Some(first) = goes.first() else {
        return Remedy::new();
    };
    // The anchor that cert-manager holds only goes if its renewal is a step before.
    let is_before = role == AnchorRole::Current && evidence.new_anchor().is_none();
    let is_renewed = |anchor: &ManagedAnchor<'_>| is_before || !anchor.is_current(first.certificate);
    let managed = ManagedAnchor::find(ctx).filter(|anchor| goes.len() == 1 && is_renewed(anchor));
    if let Some(remedy) = managed.and_then(|anchor| anchor.without_previous(Remedy::new())) {
        return remedy;
    }
    let remedy = without_anchor(ctx, Remedy::new(), "Write the bundle", first);
    let remedy = put_known_bundle(ctx, remedy, "Put the edited bundle in place", EDITED);
    if goes.len() == 1 {
        return remedy;
    }
    let rest: Vec<String> = goes.iter().skip(1).map(|anchor| anchor.certificate.summary()).collect();
    remedy.note(format!("Remove the others in the same way: {}", rest.join(", ")))
}

fn drop_old_anchor(ctx: &Context<'_>, evidence: &Evidence<'_>, phase: Phase) -> Remedy {
    let is_removed = phase == Phase::AnchorRemoved;
    let left = |proxy: &Proxy<'_>| is_current(evidence, proxy);
    let own = |proxy: &&Proxy<'_>| proxy.is_control_plane;
    let is_control_plane_left = evidence.proxies.iter().filter(own).any(|proxy| left(proxy) != ConditionStatus::Yes);
    let remedy = match is_removed {
        true if !is_control_plane_left => Remedy::new(),
        true => restart_control_plane(ctx, Remedy::new()),
        false => restart_control_plane_after(ctx, remove_anchor(ctx, evidence)),
    };
    let done = if is_removed { finished(evidence, &left) } else { BTreeSet::new() };
    let act = "Restart the meshed workloads: they trust the old anchor until then";
    let remedy = meshed_but(ctx, remedy, Needs::NewProxy, act, &|owner| done.contains(owner));
    let clusters = linked_clusters(evidence);
    if clusters.is_empty() {
        return remedy;
    }
    remedy.note(format!("Remove the old anchor in each linked cluster in the same way: {}", clusters.join(", ")))
}
