//! Checks whether the proxies in an extension's namespaces have the expected release, and that of the
//! operator's linkerd CLI.

use super::{by_owner, names};
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::versions::compared::{Same, differs, tag};
use crate::model::control_plane::{installed, proxy_version};
use crate::model::pod_status::label;
use crate::version::ImageRef;

/// Reports proxies of another release than the expected one (`--expected-version`) or else the control
/// plane's. Reads `pods`, `deployments.apps` if no release is given, and, if available, `replicasets.apps`
/// and `jobs.batch`.
pub(in crate::checks) fn outdated(ctx: &Context<'_>, extension: Extension, namespaces: &[&str]) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let (expected, seen, severity) = match &ctx.settings.expected_version {
        Some(expected) => {
            (expected.clone(), Evidence::other("--expected-version", expected.as_str()), Severity::Warning)
        }
        // The permitted skew to the control plane is evaluated for all proxies by another check.
        None => match installed(ctx.complete_list::<Deployment>()?, None, &ctx.namespaces().control_plane) {
            Some((version, seen)) => (version, seen, Severity::Info),
            None => return Ok(Verdict::fine()),
        },
    };
    let message = if severity == Severity::Warning {
        format!("proxies of the extension {extension} are not of the expected release")
    } else {
        format!("proxies of the extension {extension} are of another build than the control plane")
    };
    let because = "new pods get the control plane's proxy";
    // Another build of the expected release matches it; compared with the control plane, another build
    // differs.
    let same = match severity {
        Severity::Warning => LinkerdVersion::same_release,
        Severity::Info | Severity::Error => LinkerdVersion::same_build,
    };
    let others = others(ctx, (pods, namespaces), (&expected, same), &message, because);
    let others = others.into_iter().map(|finding| finding.severity(severity));
    // Without an expected release, only the release is compared.
    let retagged = match severity {
        Severity::Warning => retagged(ctx, extension, (pods, namespaces), (&expected, same)),
        Severity::Info | Severity::Error => Vec::new(),
    };
    Ok(others.chain(retagged).map(|finding| finding.evidence(seen.clone())).collect())
}

/// Reports proxies of another release than the operator's linkerd CLI. Reads `pods`, `cli-version`, and, if
/// available, `replicasets.apps` and `jobs.batch`.
pub(in crate::checks) fn cli(ctx: &Context<'_>, extension: Extension, namespaces: &[&str]) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let cli = ctx.cli_version()?;
    let message = format!("proxies of the extension {extension} are of another release than the linkerd CLI");
    let because = "new pods get the control plane's proxy: if that is not the CLI's release either, use \
     the CLI of the installed release instead";
    let wanted: (_, Same) = (cli, LinkerdVersion::same_build);
    let others = others(ctx, (pods, namespaces), wanted, &message, because);
    let retagged = retagged(ctx, extension, (pods, namespaces), wanted);
    Ok(others
        .into_iter()
        .chain(retagged)
        .map(|finding| finding.evidence(Evidence::other("linkerd CLI", cli.as_str())))
        .collect())
}

/// A finding for each workload whose running proxies are not of a version.
fn others<'a>(
    ctx: &Context<'a>,
    (pods, namespaces): (&'a [Pod], &[&str]),
    (wanted, same): (&LinkerdVersion, Same),
    message: &str,
    because: &str,
) -> Vec<Finding> {
    let running = pods
        .iter()
        .filter(|pod| namespaces.contains(&pod.metadata.namespace.as_str()) && label(pod) == "Running")
        .filter_map(|pod| Some((version(pod)?, pod)))
        .filter(|(_, pod)| !proxy_version(pod).is_some_and(|version| same(&version, wanted)));
    let grouped = by_owner(ctx, running);
    let finding = |((owner, said), pods): (&(crate::model::owners::Owner, String), &Vec<&Pod>)| {
        let names = names(pods);
        let object = format!("Pod {}/{}", owner.namespace, names[0]);
        let remedy = Remedy::new().with(renew(ctx, owner, &names, Needs::NewProxy, because));
        ctx.finding(owner.subject(names), message)
            .evidence(Evidence::field(object, "containers[linkerd-proxy].image", said))
            .remedy(remedy)
    };
    grouped.iter().map(finding).collect()
}

/// A finding for each workload whose running proxies have the wanted version in the injector's annotation,
/// but an image with another tag.
fn retagged<'a>(
    ctx: &Context<'a>,
    extension: Extension,
    (pods, namespaces): (&'a [Pod], &[&str]),
    (wanted, same): (&LinkerdVersion, Same),
) -> Vec<Finding> {
    let running = pods.iter().filter_map(|pod| {
        let is_it = namespaces.contains(&pod.metadata.namespace.as_str())
            && tag(pod).is_some_and(|tag| differs(tag, wanted, same))
            && proxy_version(pod).is_some_and(|version| same(&version, wanted));
        Some((version(pod).filter(|_| is_it)?, pod))
    });
    let message = format!(
        "proxies of the extension {extension} have an image whose tag differs from their release. The \
         release is right according to the injector's annotation, but `linkerd check` compares the tag"
    );
    let finding = |((owner, said), pods): (&(crate::model::owners::Owner, String), &Vec<&Pod>)| {
        let names = names(pods);
        let object = format!("Pod {}/{}", owner.namespace, names[0]);
        let steps = Remedy::new().step(
            StepKind::Note,
            "If `linkerd check` has to pass, tag this image with the release (nothing is needed otherwise)",
        );
        ctx.finding(owner.subject(names), message.clone())
            .parameter("retagged")
            .severity(Severity::Info)
            .rows_as(Severity::Warning)
            .evidence(Evidence::field(object, "containers[linkerd-proxy].image", said))
            .remedy(steps)
    };
    by_owner(ctx, running).iter().map(finding).collect()
}

/// The image of a pod's proxy; `None` if the pod has no proxy, or neither the tag nor the injector's
/// annotation contains a version, such as an image pinned by digest.
fn version(pod: &Pod) -> Option<String> {
    let proxy = pod.spec.proxy()?;
    let tagged = proxy.image.parse::<ImageRef>().is_ok_and(|image| image.tag.is_some());
    (tagged || proxy_version(pod).is_some()).then(|| proxy.image.to_string())
}
