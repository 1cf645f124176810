//! Steps that replace the certificates of the mesh, with the tool that writes them, in the right
//! order. They follow Linkerd's own procedures; each check selects the one that fits. Files of
//! different purpose have different names, so that the steps of two findings do not overwrite each
//! other's.

mod bundle;
mod restarts;

use jiff::{SignedDuration, Timestamp};

use super::identity::{DEFAULT_DOMAIN, ISSUER, Issuer, Scheme, scheme, trust_domain};
use crate::certificates::{Certificate, PemDamage, from_restored_bundle};
use crate::checks::prelude::*;
use crate::checks::trust_roots::{chart_writes_bundle, current_for_steps};
use crate::checks::upgrade::{self, Options};
use crate::command::{Call, Line, own, program};
use bundle::undone;
pub(super) use bundle::{
    EDITED, WITH_NEW, WITH_ROOT, current_bundle, put_bundle_with, put_known_bundle, read_bundle_once, restored_bundle,
    take_out, take_out_anchor, without_anchor,
};
pub(in crate::checks) use bundle::{add_to_bundle, put_bundle, read_bundle};
pub(super) use restarts::{
    identity_restarted, renew_certificates, restart_before, restart_meshed_apart, restart_trusted_control_plane,
    see_it_loaded, see_it_taken,
};
pub(in crate::checks) use restarts::{restart_control_plane, restart_meshed};

/// The certificate of a new trust anchor.
pub(super) const NEW_ROOT: &str = "ca-new.crt";
/// The key of a new issuer under the current anchor.
const KEY: &str = "issuer.key";
/// The key of an issuer under the new anchor.
const NEW_KEY: &str = "issuer-new.key";
/// The keys that a step may put into the installation, which stores them.
const KEYS: [&str; 2] = [KEY, NEW_KEY];
/// The lifetime of a new issuer.
const YEAR: &str = "8760h";
/// The current trust anchor, as the cluster has it.
const CURRENT_ROOT: &str = "ca-current.crt";

/// The key of the current trust anchor.
const ROOT_KEY: &str = "ca.key";

/// Adds the command that makes a new root, under which another tool makes the issuer.
pub(super) fn new_root_alone(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    remedy.command(
        "Make a new trust anchor with the step CLI. The tool that writes the issuer needs ca-new.key later",
        insecurely(root(ctx)),
    )
}

fn root(ctx: &Context<'_>) -> Call {
    create().arg(names(ctx, "root")).arg(NEW_ROOT).words("ca-new.key --profile root-ca")
}

/// Adds the commands that make a new root and an issuer under it, valid for a year.
pub(super) fn new_root(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let root = root(ctx);
    let issuer = create().arg(names(ctx, "identity")).words("issuer-new.crt issuer-new.key --profile intermediate-ca");
    let issuer = issuer.words("--not-after 8760h --ca").arg(NEW_ROOT).words("--ca-key ca-new.key");
    remedy
        .run(
            StepKind::Command,
            "Make a new trust anchor and an issuer under it with the step CLI",
            Command::lines([insecurely(root), insecurely(issuer)]).whole(),
        )
        .step(StepKind::Note, "Store ca-new.key offline: the next issuers need it")
}

fn create() -> Call {
    program("step").words("certificate create")
}

/// Without a password, since Linkerd supports none.
fn insecurely(call: Call) -> Call {
    call.words("--no-password --insecure")
}

/// Adds the command that makes a new issuer under the current trust anchor.
pub(super) fn new_issuer(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    new_issuer_by(ctx, remedy, "Make")
}

/// As [`new_issuer`], with other words for `Make`.
fn new_issuer_by(ctx: &Context<'_>, remedy: Remedy, make: &str) -> Remedy {
    let issuer = create().arg(names(ctx, "identity")).words("issuer.crt issuer.key --profile intermediate-ca");
    let end = end_of_anchors(ctx).map(|end| end.to_string());
    let issuer = issuer.words("--not-after").arg(end.as_deref().unwrap_or(YEAR)).words("--ca");
    let issuer = issuer.arg(CURRENT_ROOT).words("--ca-key").arg(ROOT_KEY);
    let ends = if end.is_some() { ". It expires with the anchor, so replace the anchor before that date" } else { "" };
    let make = format!("{make} a new issuer with the step CLI under the current trust anchor");
    let issuer = Line::from(insecurely(issuer));
    if stores_anchor(ctx) {
        let text = format!("{make}, whose key the first lines read from the values that the installation stores{ends}");
        let key = upgrade::stored_key_to_file(ctx, ROOT_KEY);
        let deleted = program("rm").words("-f").arg(upgrade::OVERRIDES_FILE).arg(ROOT_KEY);
        let read = current_bundle(ctx).to_file(CURRENT_ROOT);
        let lines = key.into_iter().chain([read, issuer.and(deleted)]);
        return remedy.command(text, Command::lines(lines).whole());
    }
    let (read, several) = read_signer(ctx);
    let text = format!(
        "{make}. ca.key is the anchor's private key, kept by the maker of the anchor{several}{ends}. \
         If the key is lost, see: {}",
        own("explain trust-anchor-expired")
    );
    remedy.command(text, Command::lines([read, issuer]).whole())
}

/// The line that writes the trust anchor of the current issuer to [`CURRENT_ROOT`], since the step CLI reads only one
/// certificate; and the end of the sentence about its key.
fn read_signer(ctx: &Context<'_>) -> (Line, String) {
    let anchors = current_anchors(ctx).unwrap_or_default();
    if anchors.len() < 2 {
        return (current_bundle(ctx).to_file(CURRENT_ROOT), String::new());
    }
    let signers = current_for_steps(ctx).and_then(|bundle| upgrade::signers(ctx, bundle)).unwrap_or_default();
    let signer = (1..).zip(&anchors).find(|(_, anchor)| signers.contains(anchor));
    let (nth, text) = match signer {
        Some((at, anchor)) => {
            let print: String = anchor.print().chars().take(8).collect();
            let text = format!(". It is certificate {at} of the bundle, whose SHA-256 begins with {print}");
            (Arg::from(format!("nth={at}")), text)
        }
        None => {
            let text = ". Set ANCHOR to the number of its certificate in the bundle, from 1".to_owned();
            (Arg::from("nth=").then(Arg::placeholder("ANCHOR")), text)
        }
    };
    let one =
        program("awk").words("-v").arg(nth).arg("/BEGIN CERTIFICATE-/{n++; p=(n==nth)} p; /END CERTIFICATE-/{p=0}");
    (current_bundle(ctx).pipe(one).to_file(CURRENT_ROOT), text)
}

/// Whether the only trust anchor is the issuer of the stored values, as after `linkerd install` without certificates:
/// the CLI makes one certificate for both, and stores its key.
fn stores_anchor(ctx: &Context<'_>) -> bool {
    let stored = ctx.values_for_steps().and_then(|values| upgrade::stored_issuer(&values)?.into_iter().next());
    upgrade::uses_stored_values(ctx)
        && stored.zip(current_anchors(ctx)).is_some_and(|(stored, anchors)| anchors == [stored])
}

/// The end of the trust anchors, if all of them end sooner than an issuer that is valid for a year.
fn end_of_anchors(ctx: &Context<'_>) -> Option<Timestamp> {
    let end = current_anchors(ctx)?.iter().map(Certificate::not_after).max()?;
    let year = ctx.now() + SignedDuration::from_hours(8760);
    (end > ctx.now() && end < year).then_some(end)
}

/// The trust anchors of the current bundle, if it can be read.
fn current_anchors(ctx: &Context<'_>) -> Option<Vec<Certificate>> {
    from_restored_bundle(current_for_steps(ctx)?).ok()
}

/// `root.linkerd.cluster.local`, with the namespace and the trust domain of this mesh.
fn names(ctx: &Context<'_>, what: &str) -> String {
    let domain = trust_domain(ctx).unwrap_or_else(|| DEFAULT_DOMAIN.to_owned());
    format!("{what}.{}.{domain}", ctx.namespaces().control_plane)
}

/// Makes a new issuer and puts it in place of one that must be replaced.
pub(super) fn another_issuer(ctx: &Context<'_>, issuer: &Issuer<'_>) -> Remedy {
    see_it_taken(ctx, put_issuer(ctx, new_issuer(ctx, Remedy::new()), Some(issuer)))
}

/// Adds the step that puts a new issuer in place, with the tool that writes the Secret.
pub(super) fn put_issuer(ctx: &Context<'_>, remedy: Remedy, issuer: Option<&Issuer<'_>>) -> Remedy {
    let namespace = &ctx.namespaces().control_plane;
    match issuer.map(|issuer| (issuer, issuer.scheme, issuer.renewed_by())) {
        Some((issuer, _, Some("cert-manager"))) => {
            let certificate = issuer.secret.metadata.annotation("cert-manager.io/certificate-name");
            let certificate = certificate.unwrap_or(ISSUER);
            remedy
                .run(
                    StepKind::Command,
                    "Find out why cert-manager does not renew it",
                    kubectl().namespace(namespace).words("describe certificate").operand(certificate),
                )
                .run(
                    StepKind::Command,
                    "Renew it",
                    program("cmctl").words("renew").option("-n", namespace).operand(certificate),
                )
        }
        Some((_, Scheme::External, _)) => by_owner(ctx, remedy),
        _ => put_pair(ctx, remedy, "issuer.crt", KEY),
    }
}

/// Adds the step that puts the issuer under a new trust anchor in place, once every proxy trusts the anchor.
pub(super) fn put_new_issuer(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    put_new_issuer_with(ctx, remedy, Options::none().after_restarts())
}

/// As [`put_new_issuer`], with further options.
pub(super) fn put_new_issuer_with(ctx: &Context<'_>, remedy: Remedy, options: Options<'_>) -> Remedy {
    if is_issuer_external(ctx) {
        let act = "Let cert-manager, or the tool used instead, issue the issuer under the new anchor (these \
            commands do it by hand)";
        return by_owner_of(ctx, remedy, act, ["issuer-new.crt", NEW_KEY, NEW_ROOT]);
    }
    let options = options.pair("issuer-new.crt", NEW_KEY);
    upgrade::step(ctx, remedy, StepKind::Command, new_issuer_act(ctx), options)
}

/// Whether another tool than Linkerd's chart writes the issuer, by the chart's values.
pub(super) fn is_issuer_external(ctx: &Context<'_>) -> bool {
    ctx.values_for_steps().is_some_and(|values| scheme(Some(&values), None) == Scheme::External)
}

/// The instruction to put a new issuer in place.
fn new_issuer_act(ctx: &Context<'_>) -> &'static str {
    match ctx.values_for_steps().map(|values| scheme(Some(&values), None)) {
        Some(Scheme::Linkerd) => "Put the new issuer in place",
        Some(Scheme::External) | None => {
            "Put the new issuer in place (in cert-manager or another tool, if that writes its Secret)"
        }
    }
}

fn put_pair(ctx: &Context<'_>, remedy: Remedy, certificate: &'static str, key: &'static str) -> Remedy {
    let options = Options::none().pair(certificate, key);
    // With several anchors, the reader keeps one of them in the file.
    let is_whole = current_anchors(ctx).is_some_and(|anchors| anchors.len() == 1);
    let mut commands = remedy.steps.iter().filter_map(|step| step.command.as_ref());
    let options = match is_whole && commands.any(|command| command.to_string().contains(CURRENT_ROOT)) {
        true => options.with_bundle_in(CURRENT_ROOT),
        false => options,
    };
    upgrade::step(ctx, remedy, StepKind::Command, new_issuer_act(ctx), options)
}

/// Adds the step that restores an issuer that is stored in the values of the installation.
fn restore_issuer(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let act = "Apply the installation again, which keeps the issuer and restores the Secret";
    upgrade::reapply(ctx, remedy, act)
}

/// Adds the steps that restore an issuer which the installation keeps, or else make a new one.
pub(super) fn restored_issuer(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let remedy = see_it_taken(ctx, restore_issuer(ctx, remedy));
    otherwise_new(ctx, remedy, "If this does not restore the Secret, make")
}

/// Adds the steps that make a new issuer, if the steps before did not restore the stored one.
fn otherwise_new(ctx: &Context<'_>, remedy: Remedy, make: &str) -> Remedy {
    let remedy = new_issuer_by(ctx, remedy, make);
    let options = Options::none().pair("issuer.crt", KEY);
    let act = "If you made a new issuer, put it in place";
    upgrade::without_key(upgrade::step(ctx, remedy, StepKind::Command, act, options), &KEYS)
}

/// As [`restored_issuer`], if the Secret is missing: until it exists, a restart stops identity.
pub(super) fn restored_secret(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let namespace = &ctx.namespaces().control_plane;
    let remedy = restore_issuer(ctx, remedy).command(
        "Check that the Secret exists: running identity pods read it without a restart",
        kubectl().namespace(namespace).words("get secret").operand(ISSUER),
    );
    otherwise_new(ctx, remedy, "If it does not exist, do not restart identity, but make")
}

/// Adds the step that puts a new trust anchor and issuer in place at once.
pub(super) fn put_root(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    if is_issuer_external(ctx) || chart_writes_bundle(ctx) == Some(false) {
        let remedy = put_bundle(ctx, remedy, "Put the new trust anchor in place", NEW_ROOT);
        return put_new_issuer(ctx, remedy);
    }
    let act = match ctx.values_for_steps() {
        Some(_) => "Put the new trust anchor and the new issuer in place",
        None => {
            "Put the new trust anchor and the new issuer in place (in trust-manager or cert-manager, if \
             these write them)"
        }
    };
    let options = Options::none().anchors(NEW_ROOT).pair("issuer-new.crt", NEW_KEY).forced();
    upgrade::step(ctx, remedy, StepKind::Command, act, options)
}

/// Adds the steps that write the issuer of the Secret again, without damage of its certificate.
pub(super) fn restored_pair(ctx: &Context<'_>, remedy: Remedy, damage: PemDamage) -> Remedy {
    let files = upgrade::issuer_to_files(ctx, "issuer.crt", KEY, Some(undone(damage)));
    let remedy = remedy
        .command("Write the issuer's certificate, corrected, and its key to files", Command::lines(files).whole());
    see_it_taken(ctx, put_pair(ctx, remedy, "issuer.crt", KEY))
}

/// Adds the step that installs an issuer if the chart does not write the Secret. Only certificates and files
/// are named: no key is shown.
pub(super) fn by_owner(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let act = "Let cert-manager, or the tool used instead, write the Secret again (these commands write it by hand)";
    by_owner_of(ctx, remedy, act, ["issuer.crt", KEY, CURRENT_ROOT])
}

/// As [`by_owner`], with the files of the issuer's certificate, its key and its trust anchors.
pub(super) fn by_owner_of(
    ctx: &Context<'_>,
    remedy: Remedy,
    act: &str,
    [certificate, key, roots]: [&'static str; 3],
) -> Remedy {
    let create = kubectl().namespace(&ctx.namespaces().control_plane).words("create secret generic").arg(ISSUER);
    let create = create
        .words("--type kubernetes.io/tls")
        .option("--from-file", format!("tls.crt={certificate}"))
        .option("--from-file", format!("tls.key={key}"))
        .option("--from-file", format!("ca.crt={roots}"))
        .words("--dry-run=client -o yaml")
        .pipe(kubectl().words("apply -f -"));
    let command = match roots == CURRENT_ROOT {
        true => current_bundle(ctx).to_file(CURRENT_ROOT).and(create),
        false => create,
    };
    remedy.command(act, command)
}
