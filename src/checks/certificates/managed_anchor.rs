//! Steps for a trust anchor that cert-manager renews and from whose Secret trust-manager takes the bundle. The current
//! anchor becomes a source of its own before the renewal, so that proxies trust both, and is removed at the end.

use super::identity::{BUNDLE, ISSUER, TRUST_ROOTS, source_bundle};
use crate::certificates::{Certificate, from_restored_bundle};
use crate::checks::prelude::*;
use crate::command::{Call, Line, program};
use crate::model::managed_by::ManagedBy;
use crate::objects::{Bundle, CertManagerCertificate, ManagedCertificate, SourceObject, TrustBundle, TrustSource};

/// The Secret that keeps the anchor from before a renewal, without its key.
const PREVIOUS: &str = "linkerd-previous-anchor";
/// Its certificate.
const PREVIOUS_FILE: &str = "ca-previous.crt";
/// The entry of a certificate in a Secret.
const CERTIFICATE: &str = "tls.crt";

/// A trust anchor that cert-manager renews, with the Bundle of trust-manager that reads its Secret.
#[derive(Clone, Copy)]
pub(super) struct ManagedAnchor<'a> {
    anchor: &'a ManagedCertificate,
    bundle: &'a TrustBundle,
}

/// Whether a Certificate holds a trust anchor at present.
pub(super) fn holds(managed: &ManagedCertificate, anchor: &Certificate) -> bool {
    let status = &managed.status;
    managed.spec.is_ca
        && status.not_before.get() == Some(anchor.not_before())
        && status.not_after.get() == Some(anchor.not_after())
        && anchor.subject().contains(managed.spec.common_name.as_str())
}

/// The Bundle of trust-manager that writes the trust anchors, if it was read.
fn bundle_in_force<'a>(ctx: &Context<'a>) -> Option<(&'a ConfigMap, &'a TrustBundle)> {
    let roots = ctx.named_for_steps::<ConfigMap>(TRUST_ROOTS)?;
    let owner = source_bundle(roots)?;
    let bundle = ctx.for_steps::<Bundle>().iter().find(|bundle| bundle.metadata.name == owner.name)?;
    Some((roots, bundle))
}

/// Whether cert-manager writes the Secret of the issuer from a Certificate.
pub(super) fn is_of_issuer(ctx: &Context<'_>, managed: &ManagedCertificate) -> bool {
    managed.metadata.namespace == *ctx.namespaces().control_plane && managed.spec.secret_name.as_str() == ISSUER
}

/// The Certificate of the issuer, if cert-manager issues it.
pub(super) fn of_issuer<'a>(ctx: &Context<'a>) -> Option<&'a ManagedCertificate> {
    ctx.for_steps::<CertManagerCertificate>().iter().find(|managed| is_of_issuer(ctx, managed))
}

/// A Secret among the sources, and its entry.
fn named(source: &SourceObject) -> (&str, &str) {
    let entry = if source.key.is_empty() { CERTIFICATE } else { &source.key };
    (&source.name, entry)
}

impl<'a> ManagedAnchor<'a> {
    /// An anchor and the Bundle that reads its Secret.
    pub(super) fn new(anchor: &'a ManagedCertificate, bundle: &'a TrustBundle) -> ManagedAnchor<'a> {
        ManagedAnchor { anchor, bundle }
    }

    /// The anchor of the bundle in force that cert-manager renews, if trust-manager takes it from its Secret.
    pub(super) fn find(ctx: &Context<'a>) -> Option<ManagedAnchor<'a>> {
        let (roots, bundle) = bundle_in_force(ctx)?;
        let anchors = from_restored_bundle(roots.data.get(BUNDLE)?).ok()?;
        let is_source = |one: &ManagedCertificate| {
            let secrets = bundle.spec.sources.iter().filter_map(|source| source.secret.as_ref());
            secrets.into_iter().any(|secret| secret.name == one.spec.secret_name)
        };
        let anchor = ctx
            .for_steps::<CertManagerCertificate>()
            .iter()
            .find(|one| is_source(one) && anchors.iter().any(|anchor| holds(one, anchor)))?;
        Some(ManagedAnchor { anchor, bundle })
    }

    /// The source for the anchor from before the renewal: the only other source, if that is a Secret. `Some(None)` if
    /// it must be added, and `None` if other sources may hold anything.
    fn previous(self) -> Option<Option<&'a SourceObject>> {
        let own = &self.anchor.spec.secret_name;
        let is_own = |source: &TrustSource| source.secret.as_ref().is_some_and(|it| it.name == *own);
        let mut others = self.bundle.spec.sources.iter().filter(|one| !is_own(one) && !one.is_default());
        match (others.next(), others.next()) {
            (None, _) => Some(None),
            (Some(source), None) => source.secret.as_ref().map(Some),
            (Some(_), Some(_)) => None,
        }
    }

    /// The namespace of the Secrets.
    fn home(self) -> &'a str {
        self.anchor.metadata.namespace.as_str()
    }

    fn secret(self) -> Call {
        let get = kubectl().namespace(self.home()).words("get secret").operand(&self.anchor.spec.secret_name);
        get.words("-o").arg("jsonpath={.data.tls\\.crt}")
    }

    /// Adds the steps after which the bundle also has a new anchor, which cert-manager makes. Nothing is added if other
    /// sources are in the way.
    pub(super) fn renewed(self, ctx: &Context<'_>, remedy: Remedy) -> Option<Remedy> {
        const KEEP: &str =
            "Keep the current anchor in the Bundle as a source of its own: its certificate, without the key";
        let remedy = self.kept(self.with_time(ctx, remedy), KEEP)?;
        let (namespace, name) = self.anchor.metadata.key();
        let renew = program("cmctl").words("renew").option("-n", namespace).operand(name);
        let remedy = match self.anchor.spec.private_key.rotation_policy.as_str() {
            "Always" => remedy,
            _ => remedy.run(
                StepKind::Command,
                "Let cert-manager make a new key at renewals (also in its source manifest)",
                kubectl()
                    .namespace(namespace)
                    .words("patch certificates.cert-manager.io")
                    .operand(name)
                    .words("--type merge -p")
                    .arg(r#"{"spec":{"privateKey":{"rotationPolicy":"Always"}}}"#),
            ),
        };
        Some(remedy.command("Renew the trust anchor with cert-manager", renew))
    }

    /// Adds the step that renews the issuer first, since cert-manager renews it under the new anchor from then on.
    fn with_time(self, ctx: &Context<'_>, remedy: Remedy) -> Remedy {
        let Some(issuer) = of_issuer(ctx) else { return remedy };
        let (namespace, name) = issuer.metadata.key();
        let at = issuer.status.renewal_time.get().map(|at| format!(", now at {at}")).unwrap_or_default();
        remedy.command(
            format!(
                "Renew the issuer, under the current anchor. cert-manager makes the next one under the new anchor \
                 (renewalTime{at}), so the restarts of the next steps must be complete before"
            ),
            program("cmctl").words("renew").option("-n", namespace).operand(name),
        )
    }

    /// The command that copies the current anchor to the entry of a Secret.
    fn copied_to(self, secret: &str, entry: &str) -> Call {
        let data = Arg::from(format!("{{\"data\":{{\"{entry}\":\"")).then(Arg::output(self.secret())).then("\"}}");
        let patch = kubectl().namespace(self.home()).words("patch secret").operand(secret);
        patch.words("--type merge").option("-p", data)
    }

    /// Adds the steps that keep the current anchor in the bundle beyond its renewal, without its key; `act` is the
    /// instruction.
    pub(super) fn kept(self, remedy: Remedy, act: &str) -> Option<Remedy> {
        if let Some(source) = self.previous()? {
            let (secret, entry) = named(source);
            return Some(remedy.command(act, self.copied_to(secret, entry)));
        }
        let bundle = &self.bundle.metadata;
        let read = self.secret().pipe(program("base64").words("-d")).to_file(PREVIOUS_FILE);
        let create = kubectl().namespace(self.home()).words("create secret generic").arg(PREVIOUS);
        let create = create.option("--from-file", format!("{CERTIFICATE}={PREVIOUS_FILE}"));
        let create = create.words("--dry-run=client -o yaml").pipe(kubectl().words("apply -f -"));
        if let Some(git) = ManagedBy::from_metadata(bundle).in_git() {
            let text = format!("Add it to Bundle {}: secret {PREVIOUS}, key {CERTIFICATE}; {git}", bundle.name);
            let remedy = remedy.command(act, Command::lines([read, create]).whole());
            return Some(remedy.note(text));
        }
        let source = format!(r#"{{"secret":{{"name":"{PREVIOUS}","key":"{CERTIFICATE}"}}}}"#);
        let add = format!(r#"[{{"op":"add","path":"/spec/sources/-","value":{source}}}]"#);
        let patch = kubectl().words("patch bundles.trust.cert-manager.io").operand(&bundle.name);
        let patch = patch.words("--type json -p").arg(add);
        let lines = [read, create, Line::from(patch)];
        Some(remedy.command(act, Command::lines(lines).whole()))
    }

    /// Adds the step that replaces the previous anchor in the bundle with the current one. `None` if the previous one
    /// may come from another source.
    pub(super) fn without_previous(self, remedy: Remedy) -> Option<Remedy> {
        let (secret, entry) = self.previous()?.map_or((PREVIOUS, CERTIFICATE), named);
        Some(remedy.command(
            "Replace the previous anchor in the Bundle with the current one, which then outlasts its next renewal",
            self.copied_to(secret, entry),
        ))
    }

    /// Whether the Certificate holds an anchor at present.
    pub(super) fn is_current(self, anchor: &Certificate) -> bool {
        holds(self.anchor, anchor)
    }

    /// The command that writes the new anchor to a file.
    pub(super) fn to_file(self, file: &'static str) -> Command {
        self.secret().pipe(program("base64").words("-d")).to_file(file).into()
    }
}

/// Adds the step that adds the certificates of a file to the Bundle of trust-manager, as a source in itself. `None` if
/// trust-manager does not write the trust anchors, or Git holds the Bundle.
pub(super) fn added_in_line(ctx: &Context<'_>, remedy: Remedy, act: &str, file: &'static str) -> Option<Remedy> {
    let (_, bundle) = bundle_in_force(ctx)?;
    if ManagedBy::from_metadata(&bundle.metadata).in_git().is_some() {
        return None;
    }
    let source = r#"[{op: "add", path: "/spec/sources/-", value: {inLine: .}}]"#;
    let source = program("jq").words("-Rs").arg(source).arg(file);
    let patch = kubectl().words("patch bundles.trust.cert-manager.io").operand(&bundle.metadata.name);
    let patch = patch.words("--type json").option("-p", Arg::output(source));
    Some(remedy.command(
        format!("{act} as a source of trust-manager's Bundle {} (also in its source manifest)", bundle.metadata.name),
        patch,
    ))
}
