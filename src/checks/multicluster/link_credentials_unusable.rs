//! `link-credentials-unusable`: the Secret with the credentials of a Link's controller for the other cluster
//! is unusable.

use super::links::{Controllers, field, link_again, links, release, subject};
use crate::checks::prelude::*;
use crate::objects::Link;
use crate::redact::{KUBECONFIG, RemoteAccess};
use crate::version::Contains;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let links = links(ctx)?;
    let mut findings = Vec::new();
    for link in links {
        if link.spec.cluster_credentials_secret.is_empty() {
            findings.push(finding(ctx, link, "missing"));
            continue;
        }
        match ctx.link_secret(link) {
            Err(missing) => ctx.gap(missing),
            // Of a Link that no controller reads, another check reports the namespace.
            Ok(None) if is_unread(ctx, link) => {}
            Ok(None) => findings.push(finding(ctx, link, "missing")),
            Ok(Some(secret)) => match RemoteAccess::parse(secret.metadata.annotation(KUBECONFIG)) {
                Some(access) if access.is_usable() => {
                    if let Some(expired) = access.expires_at().filter(|expires| *expires <= ctx.now()) {
                        findings.push(finding(ctx, link, &format!("its token expired at {expired}")));
                    }
                    if access.exec && refuses_exec(ctx) {
                        findings.push(runs_a_program(ctx, link));
                    }
                }
                Some(access) => findings.push(finding(ctx, link, &access.describe())),
                None => ctx.gap(ctx.missing(
                    Item::credentials_of(link),
                    Why::Malformed { message: "it has no data".to_owned() },
                    "data.kubeconfig",
                )),
            },
        }
    }
    Ok(findings.into())
}

/// Whether all controllers of a link are in other namespaces. Unavailable Deployments are noted.
fn is_unread(ctx: &Context<'_>, link: &Link) -> bool {
    let deployments = ctx.complete_list::<Deployment>();
    let deployments = ctx.or_note(deployments).unwrap_or_default();
    Controllers::new(ctx, deployments).are_elsewhere(link)
}

/// Whether the installed release, or the target of the upgrade, refuses credentials that run a program.
fn refuses_exec(ctx: &Context<'_>) -> bool {
    let accepts =
        |release: LinkerdVersion| ctx.knowledge.extensions().accepts_exec_credentials(&release, ctx.knowledge.minors());
    release(ctx).map(accepts) == Some(Contains::No)
}

fn runs_a_program(ctx: &Context<'_>, link: &Link) -> Finding {
    let meta = &link.metadata;
    let secret = format!("{} {}/{}", Kind::Secret, meta.namespace, link.spec.cluster_credentials_secret);
    let finding = ctx.finding(
        subject(link),
        "the credentials of the link run a program (exec), which this release refuses: its controller does \
         not reach the other cluster, and its mirror services are not updated",
    );
    let finding =
        finding.parameter("exec").evidence(Evidence::field(secret, "data.kubeconfig", "its user has an exec entry"));
    finding.remedy(link_again(ctx, Remedy::new(), link))
}

fn finding(ctx: &Context<'_>, link: &Link, said: &str) -> Finding {
    let secret = &link.spec.cluster_credentials_secret;
    let finding = ctx.finding(
        subject(link),
        "the credentials of the link are missing or invalid: its controller does not reach the other \
         cluster, and its mirror services are not updated",
    );
    let finding = if secret.is_empty() {
        finding.evidence(field(link, "spec.clusterCredentialsSecret", said))
    } else {
        let object = format!("{} {}/{secret}", Kind::Secret, link.metadata.namespace);
        finding.evidence(field(link, "spec.clusterCredentialsSecret", secret)).evidence(Evidence::field(
            object,
            "data.kubeconfig",
            said,
        ))
    };
    finding.remedy(link_again(ctx, Remedy::new(), link))
}
