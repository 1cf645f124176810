//! Steps that change the trust anchors.

use super::super::identity::{Anchor, TRUST_ROOTS, source_bundle};
use super::{restart_control_plane, restart_meshed, restart_meshed_apart};
use crate::certificates::{Certificate, PemDamage};
use crate::checks::prelude::*;
use crate::checks::trust_roots::{chart_writes_bundle, strands_proxies};
use crate::checks::upgrade::{self, Options};
use crate::command::{Call, Line, program};

/// The current bundle with a new anchor.
pub(in crate::checks::certificates) const WITH_NEW: &str = "bundle-with-new.crt";

/// The current bundle with the anchor above the issuer.
pub(in crate::checks::certificates) const WITH_ROOT: &str = "bundle-with-root.crt";

/// The current bundle, to be edited.
pub(in crate::checks::certificates) const EDITED: &str = "bundle-edited.crt";

/// Adds the steps that remove the unreadable part of the bundle.
pub(in crate::checks::certificates) fn take_out(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let remedy = read_bundle(ctx, remedy, "Write the bundle to a file", EDITED);
    let remedy = remedy.step(StepKind::Note, format!("Remove the unreadable part from {EDITED}"));
    put_bundle(ctx, remedy, "Put the edited bundle in place", EDITED)
}

/// The program that writes a PEM text without damage.
pub(super) fn undone(damage: PemDamage) -> Call {
    let awk = |script: &'static str| program("awk").arg(script);
    match damage {
        PemDamage::Joined => awk(r#"{gsub(/----- *-----BEGIN /, "-----\n-----BEGIN "); print}"#),
        PemDamage::Indented => awk(r#"{sub(/^[ \t]+/, ""); print}"#),
        PemDamage::Escaped => awk(r#"{gsub(/\\n/, "\n"); print}"#),
        PemDamage::Encoded => program("base64").words("-d"),
    }
}

/// Adds the steps that put the current bundle in place again without its damage.
pub(in crate::checks::certificates) fn restored_bundle(ctx: &Context<'_>, remedy: Remedy, damage: PemDamage) -> Remedy {
    let act = match damage {
        PemDamage::Joined => "Write the bundle to a file, with the missing line break",
        PemDamage::Indented => "Write the bundle to a file, without the indentation",
        PemDamage::Escaped => "Write the bundle to a file, with line breaks",
        PemDamage::Encoded => "Write the decoded bundle to a file",
    };
    let remedy = remedy.run(StepKind::Command, act, current_bundle(ctx).pipe(undone(damage)).to_file(EDITED));
    let remedy = put_bundle(ctx, remedy, "Put the corrected bundle in place", EDITED);
    remedy.step(StepKind::Note, "Correct the file that the bundle came from")
}

/// Adds the steps that remove an anchor from the bundle, and restart what reads it.
pub(in crate::checks::certificates) fn take_out_anchor(
    ctx: &Context<'_>,
    remedy: Remedy,
    anchor: &Anchor<'_>,
) -> Remedy {
    let remedy = without_anchor(ctx, remedy, "Write the bundle", anchor);
    let remedy = put_bundle(ctx, remedy, "Put the edited bundle in place", EDITED);
    let remedy = restart_control_plane(ctx, remedy);
    if strands_proxies(ctx) { restart_meshed_apart(ctx, remedy) } else { restart_meshed(ctx, remedy) }
}

/// Adds the step that writes the current bundle without an anchor to [`EDITED`], and shows the fingerprints
/// of the others.
pub(in crate::checks::certificates) fn without_anchor(
    ctx: &Context<'_>,
    remedy: Remedy,
    act: &str,
    anchor: &Anchor<'_>,
) -> Remedy {
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
                "{act} without certificate {at}, whose SHA-256 begins with {print}, to a file. The last line checks \
                 that it is gone"
            );
            remedy.command(text, Command::lines([rest, Line::from(listed)]).whole())
        }
        _ => {
            let text = format!(
                "{act} to a file, and delete the certificate from it whose SHA-256 begins with {print}; the second \
                 command lists them in order"
            );
            let read = current_bundle(ctx).to_file(EDITED);
            remedy.command(text, Command::lines([read, Line::from(listed)]).whole())
        }
    }
}

/// The call that prints the current bundle.
pub(in crate::checks::certificates) fn current_bundle(ctx: &Context<'_>) -> Call {
    let configmap = kubectl().namespace(&ctx.namespaces().control_plane).words("get configmap").arg(TRUST_ROOTS);
    configmap.words("-o").arg("jsonpath={.data.ca-bundle\\.crt}")
}

/// Adds the step that writes the current bundle to a file.
pub(in crate::checks) fn read_bundle(ctx: &Context<'_>, remedy: Remedy, act: &str, file: &'static str) -> Remedy {
    remedy.command(act, current_bundle(ctx).to_file(file))
}

/// Adds the step that writes the current bundle to a file, each certificate once.
pub(in crate::checks::certificates) fn read_bundle_once(ctx: &Context<'_>, remedy: Remedy, act: &str) -> Remedy {
    let once = program("awk").arg(
        r#"/BEGIN CERTIFICATE-/{c=""; p=1} p{c=c $0 "\n"} /END CERTIFICATE-/{p=0; if (!seen[c]++) printf "%s", c}"#,
    );
    remedy.command(act, current_bundle(ctx).pipe(once).to_file(EDITED))
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
    remedy.command(act, current_bundle(ctx).to_file(file).and(newline).and(added))
}

/// Adds the step that puts a bundle of trust anchors in place.
pub(in crate::checks) fn put_bundle(ctx: &Context<'_>, remedy: Remedy, act: &str, file: &'static str) -> Remedy {
    put_bundle_with(ctx, remedy, act, file, Options::none())
}

/// As [`put_bundle`], once every proxy has the anchor that the issuer chains to.
pub(in crate::checks::certificates) fn put_known_bundle(
    ctx: &Context<'_>,
    remedy: Remedy,
    act: &str,
    file: &'static str,
) -> Remedy {
    put_bundle_with(ctx, remedy, act, file, Options::none().after_restarts())
}

/// As [`put_bundle`], with further options.
pub(in crate::checks::certificates) fn put_bundle_with(
    ctx: &Context<'_>,
    remedy: Remedy,
    act: &str,
    file: &'static str,
    options: Options<'_>,
) -> Remedy {
    let act = match chart_writes_bundle(ctx) {
        Some(true) => act.to_owned(),
        Some(false) => return remedy.note(in_source(ctx, act, file)),
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
