//! `extension-service-account-missing`: a Deployment of an extension uses a ServiceAccount that does not exist.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::extensions::{extension_namespace, reinstall};
use crate::checks::prelude::*;
use crate::item::EXTENSION_LABEL;
use crate::objects::ServiceAccount;
use crate::objects::service::MIRRORS_CLUSTER;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let accounts = ctx.complete_list::<ServiceAccount>();
    let deployments = ctx.partial_list::<Deployment>()?;
    let mut homes = Vec::new();
    for extension in Extension::ALL {
        if let Some(namespace) = extension_namespace(ctx, extension)? {
            homes.push((extension, namespace.metadata.name.as_str()));
        }
    }
    if homes.is_empty() {
        return Err(Unjudged::not_applicable("no extension of Linkerd is installed"));
    }
    let known: BTreeSet<(&str, &str)> = accounts?.iter().map(|one| one.metadata.key()).collect();
    let mut findings = Vec::new();
    for (extension, home) in homes {
        let mut lost: BTreeMap<&str, Vec<&Workload>> = BTreeMap::new();
        for deployment in deployments.iter().filter(|one| is_own(one, extension, home)) {
            let account = deployment.spec.template.spec.account();
            if !known.contains(&(home, account)) {
                lost.entry(account).or_default().push(deployment);
            }
        }
        findings.extend(lost.into_iter().map(|(account, users)| finding(ctx, (extension, home), account, &users)));
    }
    Ok(findings.into())
}

/// Whether a Deployment belongs to an extension. The controllers of links have a check of their own.
fn is_own(deployment: &Workload, extension: Extension, home: &str) -> bool {
    let meta = &deployment.metadata;
    meta.namespace == home
        && meta.label(EXTENSION_LABEL) == Some(extension.name())
        && meta.label(MIRRORS_CLUSTER).is_none()
        // A copy without the field says nothing about the account.
        && !deployment.spec.template.spec.service_account_name.is_empty()
}

fn finding(ctx: &Context<'_>, (extension, home): (Extension, &str), account: &str, users: &[&Workload]) -> Finding {
    let message = format!(
        "a ServiceAccount of the extension {extension} is missing: its pods lose their permissions and certificates, \
         and new ones cannot be created"
    );
    // Traffic between clusters depends on the gateway; viz and jaeger only observe.
    let severity = if extension == Extension::Multicluster { Severity::Error } else { Severity::Warning };
    let remedy = reinstall(ctx, Remedy::new(), extension, ", which creates the ServiceAccount").command(
        "Restart the pods that use it: their tokens are bound to the deleted account",
        kubectl()
            .namespace(home)
            .words("rollout restart")
            .operands(users.iter().map(|one| format!("deployment/{}", one.metadata.name))),
    );
    let used = users.iter().map(|one| {
        let object = Subject::object(Kind::Deployment, home, &one.metadata.name);
        Evidence::field(object, "spec.template.spec.serviceAccountName", account)
    });
    let finding = ctx
        .finding(Subject::object(Kind::ServiceAccount, home, account), message)
        .severity(severity)
        .evidence(Evidence::other(format!("ServiceAccount {home}/{account}"), "does not exist"))
        .evidences(used)
        .remedy(remedy);
    users.iter().fold(finding, |finding, one| {
        finding.tie(Tie::Workload(Kind::Deployment.to_string(), home.to_owned(), one.metadata.name.clone()))
    })
}
