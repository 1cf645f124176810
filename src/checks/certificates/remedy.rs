//! Steps that replace the certificates of the mesh, with the tool that writes them, in the right
//! order. They follow Linkerd's own procedures; each check selects the one that fits. Files of
//! different purpose have different names, so that the steps of two findings do not overwrite each
//! other's.

use jiff::{SignedDuration, Timestamp};

use super::identity::{
    Anchor, DEFAULT_DOMAIN, ISSUER, Issuer, Scheme, TRUST_ROOTS, scheme, source_bundle, trust_domain,
};
use crate::certificates::{Certificate, PemDamage, from_restored_bundle};
use crate::checks::trust_roots::{
    TRUST_ROOT_HASH, chart_writes_bundle, current_for_steps, foreign_pods, is_hash_of, strands_proxies,
};
use crate::checks::upgrade::{self, Options};
use crate::checks::{Context, restart};
use crate::command::{Call, Command, Line, kubectl, own, program};
use crate::finding::{Remedy, Restarts, Step, StepKind};
use crate::model::installed::COMPONENT;
use crate::model::owners::Owner;
use crate::objects::{ConfigMap, Pod};

/// The certificate of a new trust anchor.
pub(super) const NEW_ROOT: &str = "ca-new.crt";
/// The key of a new issuer under the current anchor.
const KEY: &str = "issuer.key";
/// The key of an issuer under the new anchor.
const NEW_KEY: &str = "issuer-new.key";
/// The keys that a step may put into the installation, which stores them.
const KEYS: [&str; 2] = [KEY, NEW_KEY];
/// The current bundle with a new anchor.
pub(super) const WITH_NEW: &str = "bundle-with-new.crt";
/// The current bundle with the anchor above the issuer.
pub(super) const WITH_ROOT: &str = "bundle-with-root.crt";
/// The current bundle, to be edited.
pub(super) const EDITED: &str = "bundle-edited.crt";
/// The lifetime of a new issuer.
const YEAR: &str = "8760h";
/// The current trust anchor, as the cluster has it.
const CURRENT_ROOT: &str = "ca-current.crt";

/// The key of the current trust anchor.
const ROOT_KEY: &str = "ca.key";

/// Adds the command that makes a new root, under which another tool makes the issuer.
pub(super) fn new_root_alone(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    remedy.run(
        StepKind::Command,
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
    let issuer =
        create().arg(names(ctx, "identity")).words("issuer-new.crt issuer-new.key --profile intermediate-ca");
    let issuer = issuer.words("--not-after 8760h --ca").arg(NEW_ROOT).words("--ca-key ca-new.key");
    remedy.run(
        StepKind::Command,
        "Make a new trust anchor and an issuer under it with the step CLI. Keep ca-new.key offline",
        Command::lines([insecurely(root), insecurely(issuer)]).whole(),
    )
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
    let issuer =
        create().arg(names(ctx, "identity")).words("issuer.crt issuer.key --profile intermediate-ca");
    let end = end_of_anchors(ctx).map(|end| end.to_string());
    let issuer = issuer.words("--not-after").arg(end.as_deref().unwrap_or(YEAR)).words("--ca");
    let issuer = issuer.arg(CURRENT_ROOT).words("--ca-key").arg(ROOT_KEY);
    let ends = if end.is_some() {
        ". It expires with the anchor, so replace the anchor before that date"
    } else {
        ""
    };
    let make = format!("{make} a new issuer with the step CLI under the current trust anchor");
    let read = current_bundle(ctx).to_file(CURRENT_ROOT);
    let issuer = Line::from(insecurely(issuer));
    if stores_anchor(ctx) {
        let text = format!(
            "{make}, whose key the first lines read from the values that the installation stores{ends}"
        );
        let key = upgrade::stored_key_to_file(ctx, ROOT_KEY);
        let deleted = program("rm").words("-f").arg(upgrade::OVERRIDES_FILE).arg(ROOT_KEY);
        let lines = key.into_iter().chain([read, issuer.and(deleted)]);
        return remedy.run(StepKind::Command, text, Command::lines(lines).whole());
    }
    let several = match current_anchors(ctx).map(|anchors| anchors.len()) {
        None | Some(0 | 1) => "",
        Some(_) => ". Keep only the anchor of this key in ca-current.crt",
    };
    let text = format!(
        "{make}. ca.key is the anchor's private key, kept by the maker of the anchor{several}{ends}. \
         If the key is lost, see: {}",
        own("explain trust-anchor-expired")
    );
    remedy.run(StepKind::Command, text, Command::lines([read, issuer]).whole())
}

/// Whether the only trust anchor is the issuer of the stored values, as after `linkerd install` without certificates:
/// the CLI makes one certificate for both, and stores its key.
fn stores_anchor(ctx: &Context<'_>) -> bool {
    let stored =
        ctx.values_for_steps().and_then(|values| upgrade::stored_issuer(&values)?.into_iter().next());
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
            remedy.run(
                StepKind::Command,
                "Find out why cert-manager does not renew it, and renew it",
                Command::lines([
                    kubectl().namespace(namespace).words("describe certificate").operand(certificate),
                    program("cmctl").words("renew").option("-n", namespace).operand(certificate),
                ]),
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
        let act = "Have cert-manager, or the tool used instead, issue the issuer under the new anchor. This \
             command puts the new one in place by hand";
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
    upgrade::step(ctx, remedy, StepKind::Command, act, Options::none())
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
    let remedy = restore_issuer(ctx, remedy).run(
        StepKind::Command,
        "Check that the Secret exists: running identity pods read it without a restart",
        kubectl().namespace(namespace).words("get secret").operand(ISSUER),
    );
    otherwise_new(ctx, remedy, "If it does not exist, do not restart identity, but make")
}

/// Adds the restart of the proxies whose certificates ended with the issuer's. Those with other trust anchors
/// need more, which `data-plane-anchors-disjoint` describes.
pub(super) fn renew_certificates(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let owners = ctx.owners();
    let foreign: std::collections::HashSet<Owner> = foreign_pods(ctx).map(|pod| owners.owner(pod)).collect();
    let act = "Restart the meshed workloads: the certificates of their proxies ended with the issuer's, and \
     a proxy without a valid certificate cannot request the next one";
    restart::meshed_but(ctx, remedy, restart::Needs::NewPods, act, &|owner| foreign.contains(owner))
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

/// Adds the restart of the control plane, which reads the trust anchors only when it starts; if the step
/// before restarts it, the command that waits until it runs.
pub(in crate::checks) fn restart_control_plane(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    restarted(ctx, remedy, strands_proxies(ctx))
}

/// As [`restart_control_plane`], once every proxy trusts it.
pub(super) fn restart_trusted_control_plane(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    restarted(ctx, remedy, false)
}

fn restarted(ctx: &Context<'_>, remedy: Remedy, cuts_off: bool) -> Remedy {
    if is_rolled(&remedy) {
        let act = "Wait until the control plane has restarted";
        let remedy = remedy.run(StepKind::Command, act, control_plane_rolled(ctx));
        return upgrade::without_key(remedy, &KEYS);
    }
    upgrade::without_key(restart(ctx, remedy, None, cuts_off), &KEYS)
}

/// Whether the last step restarts the control plane.
fn is_rolled(remedy: &Remedy) -> bool {
    upgrade::last_change(remedy).is_some_and(|last| last.restarts == Restarts::ControlPlaneByUpgrade)
}

/// Adds the restart of the control plane before a step that must follow at once, since the old proxies cannot reach the
/// restarted control plane.
pub(super) fn restart_before(ctx: &Context<'_>, remedy: Remedy, next: &Step) -> Remedy {
    restart(ctx, remedy, Some(next), true)
}

/// Adds the restart of the control plane. If the step after it, or else the last one, needs a release of the linkerd
/// CLI, so does the restart. `cuts_off`: whether old proxies cannot reach the control plane afterwards.
fn restart(ctx: &Context<'_>, remedy: Remedy, next: Option<&Step>, cuts_off: bool) -> Remedy {
    let namespace = &ctx.namespaces().control_plane;
    let act = match cuts_off {
        true => {
            "Restart the control plane, which reads the trust anchors only at startup. Old pods cannot reach it from \
             then on, so do the next step at once"
        }
        false => {
            "Restart the control plane, which reads the trust anchors only at startup, and wait until it runs"
        }
    };
    let restart: Line = kubectl().namespace(namespace).words("rollout restart deployment").into();
    // With another CLI, the step before or after does nothing, and neither may this one.
    let guarded = next.or(upgrade::last_change(&remedy));
    let lines = [restart, control_plane_rolled(ctx)];
    let commands = match guarded.and_then(|step| step.command.as_ref()?.required_cli()) {
        // Without the restart, the wait would report that it is done.
        Some(release) => {
            let [restart, rolled] = lines;
            Line::only_with_cli(release.to_owned(), restart).and(rolled).into()
        }
        None => Command::lines(lines),
    };
    remedy.run(StepKind::Command, act, commands).restarting(Restarts::ControlPlane)
}

/// The line that waits until the control plane runs. kubectl waits for all Deployments of a namespace since 1.25.
fn control_plane_rolled(ctx: &Context<'_>) -> Line {
    let namespace = &ctx.namespaces().control_plane;
    kubectl().namespace(namespace).words("rollout status deployment --timeout=5m").into()
}

/// Adds the restart of the meshed workloads: proxies keep the bundle they were created with.
pub(in crate::checks) fn restart_meshed(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let act = "Restart every meshed workload: a proxy keeps the trust anchors it was created with";
    restart::all_meshed(ctx, remedy, restart::Needs::NewProxy, act)
}

/// As [`restart_meshed`], if old and new proxies share no trust anchor.
pub(super) fn restart_meshed_apart(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let mut remedy = restart_meshed(ctx, remedy);
    if let Some(last) = remedy.steps.last_mut() {
        last.insert(". Connections between old and new pods fail meanwhile");
    }
    remedy
}

/// Adds the steps that remove the unreadable part of the bundle.
pub(super) fn take_out(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let remedy = read_bundle(
        ctx,
        remedy,
        "Write the bundle to a file, and remove the unreadable part from it",
        EDITED,
    );
    put_bundle(ctx, remedy, "Put the edited bundle in place", EDITED)
}

/// The program that writes a PEM text without damage.
fn undone(damage: PemDamage) -> Call {
    let awk = |script: &'static str| program("awk").arg(script);
    match damage {
        PemDamage::Joined => awk(r#"{gsub(/----- *-----BEGIN /, "-----\n-----BEGIN "); print}"#),
        PemDamage::Indented => awk(r#"{sub(/^[ \t]+/, ""); print}"#),
        PemDamage::Escaped => awk(r#"{gsub(/\\n/, "\n"); print}"#),
        PemDamage::Encoded => program("base64").words("-d"),
    }
}

/// Adds the steps that put the current bundle in place again without its damage.
pub(super) fn restored_bundle(ctx: &Context<'_>, remedy: Remedy, damage: PemDamage) -> Remedy {
    let act = match damage {
        PemDamage::Joined => "Write the bundle to a file, with the missing line break",
        PemDamage::Indented => "Write the bundle to a file, without the indentation",
        PemDamage::Escaped => "Write the bundle to a file, with line breaks",
        PemDamage::Encoded => "Write the decoded bundle to a file",
    };
    let remedy = remedy.run(StepKind::Command, act, current_bundle(ctx).pipe(undone(damage)).to_file(EDITED));
    put_bundle(
        ctx,
        remedy,
        "Put the corrected bundle in place, and correct the file that it came from",
        EDITED,
    )
}

/// Adds the steps that write the issuer of the Secret again, without damage of its certificate.
pub(super) fn restored_pair(ctx: &Context<'_>, remedy: Remedy, damage: PemDamage) -> Remedy {
    let files = upgrade::issuer_to_files(ctx, "issuer.crt", KEY, Some(undone(damage)));
    let remedy = remedy.run(
        StepKind::Command,
        "Write the issuer's certificate, corrected, and its key to files",
        Command::lines(files).whole(),
    );
    see_it_taken(ctx, put_pair(ctx, remedy, "issuer.crt", KEY))
}

/// Adds the steps that remove an anchor from the bundle, and restart what reads it.
pub(super) fn take_out_anchor(ctx: &Context<'_>, remedy: Remedy, anchor: &Anchor<'_>) -> Remedy {
    let remedy = without_anchor(ctx, remedy, "Write the bundle", anchor);
    let remedy = put_bundle(ctx, remedy, "Put the edited bundle in place", EDITED);
    let remedy = restart_control_plane(ctx, remedy);
    if strands_proxies(ctx) { restart_meshed_apart(ctx, remedy) } else { restart_meshed(ctx, remedy) }
}

/// Adds the step that writes the current bundle without an anchor to [`EDITED`], and shows the fingerprints
/// of the others.
pub(super) fn without_anchor(ctx: &Context<'_>, remedy: Remedy, act: &str, anchor: &Anchor<'_>) -> Remedy {
    let print: String = anchor.certificate.print().chars().take(8).collect();
    let listed = program("step").words("certificate fingerprint --bundle").arg(EDITED);
    let current = anchor.places.iter().find(|place| place.in_force);
    let is_it = |(_, other): &(usize, &Certificate)| *other == anchor.certificate;
    let mut found = current.into_iter().flat_map(|place| (1..).zip(&place.anchors)).filter(is_it);
    match (found.next(), found.next()) {
        (Some((at, _)), None) => {
            // Text outside of certificates is left out: Linkerd rejects a bundle with text at its end.
            let rest = program("awk")
                .words("-v")
                .arg(format!("nth={at}"))
                .arg("/BEGIN CERTIFICATE-/{n++; p=1} p&&n!=nth; /END CERTIFICATE-/{p=0}");
            let rest = current_bundle(ctx).pipe(rest).to_file(EDITED);
            let text = format!(
                "{act} without certificate {at}, whose SHA-256 begins with {print}, to a file. Check that the file no \
                 longer contains it"
            );
            remedy.run(StepKind::Command, text, Command::lines([rest, Line::from(listed)]).whole())
        }
        _ => {
            let text = format!(
                "{act} to a file, and delete the certificate from it whose SHA-256 begins with {print}; the second \
                 command lists them in order"
            );
            let read = current_bundle(ctx).to_file(EDITED);
            remedy.run(StepKind::Command, text, Command::lines([read, Line::from(listed)]).whole())
        }
    }
}

/// The call that prints the current bundle.
pub(super) fn current_bundle(ctx: &Context<'_>) -> Call {
    let configmap =
        kubectl().namespace(&ctx.namespaces().control_plane).words("get configmap").arg(TRUST_ROOTS);
    configmap.words("-o").arg("jsonpath={.data.ca-bundle\\.crt}")
}

/// Adds the step that writes the current bundle to a file.
pub(in crate::checks) fn read_bundle(
    ctx: &Context<'_>,
    remedy: Remedy,
    act: &str,
    file: &'static str,
) -> Remedy {
    remedy.run(StepKind::Command, act, current_bundle(ctx).to_file(file))
}

/// Adds the step that writes the current bundle to a file, each certificate once.
pub(super) fn read_bundle_once(ctx: &Context<'_>, remedy: Remedy, act: &str) -> Remedy {
    let once = program("awk").arg(
        r#"/BEGIN CERTIFICATE-/{c=""; p=1} p{c=c $0 "\n"} /END CERTIFICATE-/{p=0; if (!seen[c]++) printf "%s", c}"#,
    );
    remedy.run(StepKind::Command, act, current_bundle(ctx).pipe(once).to_file(EDITED))
}

/// Adds the step that writes the current bundle, with one more certificate, to a file.
pub(in crate::checks) fn add_to_bundle(
    ctx: &Context<'_>,
    remedy: Remedy,
    act: &str,
    file: &'static str,
    more: &'static str,
) -> Remedy {
    let newline = Line::from(program("printf").words("\\n")).and_shell(">>").arg(file);
    let added = Line::from(program("cat").arg(more)).and_shell(">>").arg(file);
    remedy.run(StepKind::Command, act, current_bundle(ctx).to_file(file).and(newline).and(added))
}

/// Adds the step that puts a bundle of trust anchors in place.
pub(in crate::checks) fn put_bundle(
    ctx: &Context<'_>,
    remedy: Remedy,
    act: &str,
    file: &'static str,
) -> Remedy {
    put_bundle_with(ctx, remedy, act, file, Options::none())
}

/// As [`put_bundle`], once every proxy has the anchor that the issuer chains to.
pub(super) fn put_known_bundle(ctx: &Context<'_>, remedy: Remedy, act: &str, file: &'static str) -> Remedy {
    put_bundle_with(ctx, remedy, act, file, Options::none().after_restarts())
}

/// As [`put_bundle`], with further options.
pub(super) fn put_bundle_with(
    ctx: &Context<'_>,
    remedy: Remedy,
    act: &str,
    file: &'static str,
    options: Options<'_>,
) -> Remedy {
    let act = match chart_writes_bundle(ctx) {
        Some(true) => act.to_owned(),
        Some(false) => return remedy.step(StepKind::Note, in_source(ctx, act, file)),
        None => format!("{act} (in trust-manager, if that writes it)"),
    };
    upgrade::step(ctx, remedy, StepKind::Command, &act, options.anchors(file))
}

/// The instruction to change the source of a bundle that the chart does not write.
fn in_source(ctx: &Context<'_>, act: &str, file: &str) -> String {
    let roots = ctx.named_for_steps::<ConfigMap>(TRUST_ROOTS);
    match roots.and_then(source_bundle) {
        Some(owner) => format!(
            "{act}: make the sources of trust-manager's Bundle {} contain the certificates in {file}. The Bundle \
             writes ConfigMap {TRUST_ROOTS}",
            owner.name
        ),
        None => format!(
            "{act}: where the tool that writes ConfigMap {TRUST_ROOTS} reads it, for example in the sources of a \
             Bundle of trust-manager. The certificates are in {file}"
        ),
    }
}

/// Adds the step that installs an issuer if the chart does not write the Secret. Only certificates and files
/// are named: no key is shown.
pub(super) fn by_owner(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let act = "Have cert-manager, or the tool used instead, write the Secret again. These commands write it by hand";
    by_owner_of(ctx, remedy, act, ["issuer.crt", KEY, CURRENT_ROOT])
}

/// As [`by_owner`], with the files of the issuer's certificate, its key and its trust anchors.
pub(super) fn by_owner_of(
    ctx: &Context<'_>,
    remedy: Remedy,
    act: &str,
    [certificate, key, roots]: [&'static str; 3],
) -> Remedy {
    let create =
        kubectl().namespace(&ctx.namespaces().control_plane).words("create secret generic").arg(ISSUER);
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
    remedy.run(StepKind::Command, act, command)
}

/// Adds the steps that verify whether identity has loaded a new issuer, which it does without a restart. If
/// the control plane must be restarted in any case, its restart.
pub(super) fn see_it_taken(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    if is_control_plane_stale(ctx) {
        return restart_control_plane(ctx, remedy);
    }
    see_it_loaded(ctx, remedy)
}

/// Adds the steps that verify whether identity has loaded a new issuer under the current anchors.
pub(super) fn see_it_loaded(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    if is_rolled(&remedy) {
        return restart_control_plane(ctx, remedy);
    }
    let namespace = &ctx.namespaces().control_plane;
    let remedy = remedy
        .run(
            StepKind::Command,
            "Check that identity has loaded it: an event IssuerUpdated appears within two minutes",
            kubectl().namespace(namespace).words("get events --field-selector reason=IssuerUpdated"),
        )
        .run(
            StepKind::Command,
            "If there is no such event, restart identity",
            kubectl().namespace(namespace).words("rollout restart deployment/linkerd-identity"),
        );
    upgrade::without_key(remedy, &KEYS)
}

/// The remedy that restarts identity, which reads the issuer and the trust anchors when it starts.
pub(super) fn identity_restarted(ctx: &Context<'_>, act: &str) -> Remedy {
    let namespace = &ctx.namespaces().control_plane;
    let lines = [
        kubectl().namespace(namespace).words("rollout restart deployment/linkerd-identity"),
        kubectl().namespace(namespace).words("rollout status deployment/linkerd-identity --timeout=120s"),
    ];
    Remedy::new().run(StepKind::Command, act, Command::lines(lines))
}

/// Whether a pod of the control plane was created with other trust anchors than the current ones, according
/// to its annotation.
fn is_control_plane_stale(ctx: &Context<'_>) -> bool {
    let namespace = ctx.namespaces().control_plane.as_str();
    let Some(current) = current_for_steps(ctx) else { return false };
    ctx.for_steps::<Pod>().iter().any(|pod| {
        let meta = &pod.metadata;
        meta.namespace == namespace
            && meta.label(COMPONENT).is_some()
            && !pod.is_finished()
            && meta.annotation(TRUST_ROOT_HASH).is_some_and(|hash| !is_hash_of(hash, current))
    })
}
