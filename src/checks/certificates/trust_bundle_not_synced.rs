//! `trust-bundle-not-synced`: trust-manager does not write the trust anchors that Linkerd reads.

use super::identity::{BUNDLE, TRUST_ROOTS, identity_deployment, need_control_plane};
use crate::checks::policy::defined;
use crate::checks::prelude::*;
use crate::objects::{Bundle, CertManagerCertificate, Condition, ManagedCertificate, Texts, TrustBundle};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let bundles = defined::<Bundle>(ctx)?;
    let Some(bundle) = bundles.iter().find(|bundle| bundle.metadata.name == TRUST_ROOTS) else {
        return Err(Unjudged::not_applicable("trust-manager does not write the trust anchors"));
    };
    let namespaces = ctx.partial_list::<Namespace>();
    let roots = ctx.object::<ConfigMap>(Scope::ControlPlane, TRUST_ROOTS)?;
    let is_written = roots.is_some_and(|roots| roots.data.get(BUNDLE).is_some_and(|pem| !pem.trim().is_empty()));
    let home = ctx.namespaces().control_plane.as_str();
    let own = namespaces?.iter().find(|namespace| namespace.metadata.name == home);
    let omitted = own.and_then(|own| omitted(ctx, bundle, &own.metadata.labels));
    let finding = wrong_key(ctx, bundle).or(omitted).or_else(|| not_synced(ctx, bundle, is_written));
    let Some(finding) = finding else { return Ok(Verdict::fine()) };
    need_control_plane(ctx)?;
    let severity = if is_written { Severity::Warning } else { Severity::Error };
    let state = match roots {
        None => "does not exist",
        Some(_) if is_written => "exists",
        Some(_) => "missing",
    };
    let finding = finding
        .severity(severity)
        .evidence(Evidence::field(format!("ConfigMap {home}/{TRUST_ROOTS}"), format!("data[{BUNDLE}]"), state))
        .tie(identity_deployment(ctx));
    Ok(finding.into())
}

fn about(ctx: &Context<'_>, bundle: &TrustBundle, message: String) -> Finding {
    ctx.finding(Subject::object(Kind::Bundle, "", &bundle.metadata.name), message)
}

fn field(bundle: &TrustBundle, path: &str, said: impl Into<String>) -> Evidence {
    Evidence::field(Subject::object(Kind::Bundle, "", &bundle.metadata.name), path, said)
}

/// The finding for a Bundle that writes no ConfigMap, or one with another key.
fn wrong_key(ctx: &Context<'_>, bundle: &TrustBundle) -> Option<Finding> {
    let key = bundle.spec.target.config_map.as_ref().map(|target| target.key.as_str());
    let message = match key {
        Some(BUNDLE) => return None,
        Some(key) => format!(
            "trust-manager writes the trust anchors under the key {key}, and Linkerd reads only {BUNDLE}: new anchors \
             do not reach it"
        ),
        None => "trust-manager writes the trust anchors to no ConfigMap, and Linkerd reads nothing else: new anchors \
                 do not reach it"
            .to_owned(),
    };
    let patch = kubectl().words("patch bundles.trust.cert-manager.io").operand(&bundle.metadata.name);
    let patch = patch.words("--type merge -p").arg(r#"{"spec":{"target":{"configMap":{"key":"ca-bundle.crt"}}}}"#);
    let finding = about(ctx, bundle, message).parameter("key").evidence(field(
        bundle,
        "spec.target.configMap.key",
        key.unwrap_or("not set"),
    ));
    Some(finding.remedy(Remedy::new().run(
        StepKind::Command,
        "Set the key that Linkerd reads (also in its source manifest)",
        patch,
    )))
}

/// The finding for a Bundle whose selector omits the namespace of the control plane.
fn omitted(ctx: &Context<'_>, bundle: &TrustBundle, labels: &Texts) -> Option<Finding> {
    let selector = bundle.spec.target.namespace_selector.as_ref()?;
    if selector.matches(labels) {
        return None;
    }
    let home = ctx.namespaces().control_plane.as_str();
    let message = format!(
        "the Bundle's namespaceSelector omits namespace {home}: trust-manager does not write the trust anchors there, \
         and removes those that it wrote"
    );
    let name = &bundle.metadata.name;
    let remedy = match selector.only_labels_of_namespace() {
        Some(pairs) => Remedy::new().run(
            StepKind::Command,
            "Give the namespace the labels that the Bundle selects by (also in its source manifest)",
            pairs
                .into_iter()
                .fold(kubectl().words("label --overwrite namespace").operand(home), |call, (key, value)| {
                    call.arg(format!("{key}={value}"))
                }),
        ),
        None => Remedy::new().run(
            StepKind::Command,
            "Remove the selector (also in its source manifest): trust-manager then writes the ConfigMap in every \
             namespace",
            kubectl()
                .words("patch bundles.trust.cert-manager.io")
                .operand(name)
                .words("--type=json -p")
                .arg(r#"[{"op":"remove","path":"/spec/target/namespaceSelector"}]"#),
        ),
    };
    let shown: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let finding = about(ctx, bundle, message)
        .parameter("namespace")
        .evidence(field(bundle, "spec.target.namespaceSelector", selector.to_string()))
        .evidence(Evidence::field(format!("Namespace {home}"), "metadata.labels", shown.join(", ")));
    Some(finding.remedy(remedy))
}

/// The finding for a Bundle that trust-manager cannot build or write.
fn not_synced(ctx: &Context<'_>, bundle: &TrustBundle, is_written: bool) -> Option<Finding> {
    let synced = bundle.status.conditions.iter().find(|condition| condition.kind == "Synced")?;
    if synced.status != "False" || ctx.within_grace(synced.last_transition_time) {
        return None;
    }
    let said = [synced.reason.as_str(), synced.message.as_str()];
    let said: Vec<&str> = said.into_iter().filter(|part| !part.is_empty()).collect();
    let message = match is_written {
        true => {
            "trust-manager cannot update the trust anchors: a renewed or added anchor does not reach Linkerd, \
             and a rotation leaves certificates that proxies reject"
        }
        false => {
            "trust-manager cannot write the trust anchors, and the ConfigMap that Linkerd reads has none: no pod of \
             the control plane starts without them"
        }
    }
    .to_owned();
    let elsewhere = (synced.reason == "SourceNotFound").then(|| elsewhere(ctx, bundle, &synced.message)).flatten();
    let describe = kubectl().words("describe bundles.trust.cert-manager.io").operand(&bundle.metadata.name);
    let remedy = Remedy::new().command("Read the conditions and events of the Bundle", describe);
    let remedy = match (synced.reason.as_str(), elsewhere) {
        ("SourceNotFound", Some(certificate)) => remedy
            .note(format!(
                "Set app.trust.namespace in the chart of trust-manager to {}: it reads sources only there (by default \
                 in cert-manager)",
                certificate.metadata.namespace
            ))
            .step(
                StepKind::Note,
                "Or create the Secret with the root certificate in the namespace of trust-manager's sources",
            ),
        ("SourceNotFound", None) => remedy.note(
            "Create the missing source in the namespace of trust-manager's sources, by default cert-manager, or \
             correct its name or key in the Bundle",
        ),
        _ => remedy,
    };
    let finding = about(ctx, bundle, message).parameter("synced").evidence(field(
        bundle,
        "status.conditions[Synced]",
        format!("False: {}", said.join(": ")),
    ));
    let finding = finding.evidences(elsewhere.map(|one| {
        Evidence::field(
            one.metadata.described("Certificate"),
            "spec.secretName",
            format!("{}: trust-manager reads no Secret of this namespace", one.spec.secret_name),
        )
    }));
    Some(finding.remedy(remedy))
}

/// The Certificate of cert-manager with the Secret that trust-manager does not find: its namespace is not the one that
/// trust-manager reads. `None` if more than one Certificate has a Secret of this name.
fn elsewhere<'a>(ctx: &Context<'a>, bundle: &TrustBundle, said: &str) -> Option<&'a ManagedCertificate> {
    let secrets = bundle.spec.sources.iter().filter_map(|source| source.secret.as_ref());
    let missing = secrets
        .map(|secret| secret.name.as_str())
        .find(|name| said.contains(&format!("Secret \"{name}\" not found")))?;
    let all = ctx.optional_list::<CertManagerCertificate>();
    // It is ready once cert-manager has written the Secret.
    let is_ready = |one: &ManagedCertificate| Condition::is_true(&one.status.conditions, "Ready");
    let mut own = all.iter().filter(|one| one.spec.secret_name == missing && is_ready(one));
    own.next().filter(|_| own.next().is_none())
}
