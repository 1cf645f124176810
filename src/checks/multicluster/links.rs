//! Links, their controllers and their mirror services, as several checks look at them.

use std::collections::{BTreeSet, HashMap};

use crate::checks::prelude::*;
use crate::checks::upgrade::guarded;
use crate::command::{Call, Line, linkerd};
use crate::model::control_plane::installed;
use crate::model::managed_by::ManagedBy;
pub(in crate::checks) use crate::objects::service::MIRRORS_CLUSTER as CLUSTER;
use crate::objects::service::REMOTE_DISCOVERY;
use crate::objects::{CustomResourceDefinition, EndpointSlice, Link, is_undefined};
use crate::version::Contains;

/// The label of a mirror service.
pub(in crate::checks) const MIRRORED: &str = "mirror.linkerd.io/mirrored-service";
/// The label of a service that represents the gateway of another cluster.
const GATEWAY: &str = "mirror.linkerd.io/mirrored-gateway";

/// The default namespace in which the CLI creates links.
const DEFAULT_NAMESPACE: &str = "linkerd-multicluster";

pub(super) const LINK_CRD: &str = "links.multicluster.linkerd.io";

/// The links of the cluster. Reads `links.multicluster.linkerd.io`, and, if these are not served,
/// `customresourcedefinitions.apiextensions.k8s.io`.
///
/// # Errors
/// Links are unavailable, or no CRD defines them.
pub(in crate::checks) fn links<'a>(ctx: &Context<'a>) -> Result<&'a [Link], Unjudged> {
    ctx.partial_list::<Link>().map_err(|missing| {
        let defined_by_none = || {
            let definitions = ctx.complete_list::<CustomResourceDefinition>();
            definitions.is_ok_and(|all| is_undefined(all, Kind::Link))
        };
        if missing.why == Why::NotServed && defined_by_none() {
            Unjudged::blocked("link-crd-missing", "the API server does not serve links")
        } else {
            missing.into()
        }
    })
}

/// The namespaces of links; empty without a link, and the check passes then.
///
/// # Errors
/// As [`links`].
pub(super) fn link_namespaces<'a>(ctx: &Context<'a>) -> Result<Vec<&'a str>, Unjudged> {
    let all: BTreeSet<&str> = links(ctx)?.iter().map(|link| link.metadata.namespace.as_str()).collect();
    Ok(all.into_iter().collect())
}

/// The reason for a check that does not apply without a link, and whose row is omitted.
pub(in crate::checks) fn no_links() -> Unjudged {
    Unjudged::not_applicable("the cluster has no Link")
}

/// A link as a finding's subject.
pub(super) fn subject(link: &Link) -> Subject {
    Subject::object(Kind::Link, &link.metadata.namespace, &link.metadata.name)
}

/// A field of a link as evidence.
pub(super) fn field(link: &Link, path: &str, said: impl Into<String>) -> Evidence {
    Evidence::field(subject(link), path, said)
}

/// The Deployments that mirror for links, in any namespace, by the cluster of the link.
pub(super) struct Controllers<'a>(HashMap<&'a str, Vec<&'a Workload>>);

impl<'a> Controllers<'a> {
    pub(super) fn new(ctx: &Context<'_>, deployments: &'a [Workload]) -> Controllers<'a> {
        let known = ctx.knowledge.extensions().service_mirrors();
        let mut controllers: HashMap<&str, Vec<&Workload>> = HashMap::new();
        for deployment in deployments {
            let component = deployment.metadata.label("component");
            let cluster = deployment.metadata.label(CLUSTER);
            if let Some(cluster) = cluster
                && known.iter().any(|mirror| component == Some(&mirror.component))
            {
                controllers.entry(cluster).or_default().push(deployment);
            }
        }
        Controllers(controllers)
    }

    pub(super) fn of_link(&self, link: &Link) -> &[&'a Workload] {
        self.0.get(link.spec.target_cluster_name.as_str()).map_or(&[], Vec::as_slice)
    }

    /// Whether all controllers of a link are in other namespaces than the link, which none of them reads.
    pub(super) fn are_elsewhere(&self, link: &Link) -> bool {
        let all = self.of_link(link);
        !all.is_empty() && all.iter().all(|one| one.metadata.namespace != link.metadata.namespace)
    }
}

/// The services that mirror a service of another cluster, except for gateways.
pub(super) fn mirrors(services: &[Service]) -> impl Iterator<Item = &Service> {
    services
        .iter()
        .filter(|service| service.metadata.label(MIRRORED).is_some() && service.metadata.label(GATEWAY).is_none())
}

/// Whether a Service mirrors one of another cluster. Mirrors are evaluated with their Links.
pub(in crate::checks) fn is_mirror(service: &Service) -> bool {
    let meta = &service.metadata;
    [MIRRORED, REMOTE_DISCOVERY].iter().any(|key| meta.label(key).is_some() || meta.annotation(key).is_some())
}

/// Whether a mirror's endpoints are resolved in the other cluster.
pub(in crate::checks) fn is_found_over_there(service: &Service) -> bool {
    service.metadata.label(REMOTE_DISCOVERY).is_some()
}

/// The services that represent the gateway of a cluster.
pub(super) fn gateways<'a>(services: &'a [Service], cluster: &str) -> Vec<&'a Service> {
    let of = |s: &&Service| s.metadata.label(GATEWAY).is_some() && s.metadata.label(CLUSTER) == Some(cluster);
    services.iter().filter(of).collect()
}

/// Links the problem of a link to the mirrors of its cluster.
pub(in crate::checks) fn mirrors_of(cluster: &str) -> Tie {
    Tie::Fact(format!("mirrors-of:{cluster}"))
}

/// Namespace and name of every service that has an endpoint, ready or not.
pub(super) fn with_endpoints(slices: &[EndpointSlice]) -> BTreeSet<(&str, &str)> {
    slices
        .iter()
        .filter(|slice| !slice.endpoints.is_empty())
        .filter_map(|slice| {
            let service = slice.service()?;
            Some((slice.metadata.namespace.as_str(), service))
        })
        .collect()
}

/// Adds the step that reads the log of the link's controllers.
pub(super) fn ask_controller(remedy: Remedy, link_namespace: &str, cluster: &str, why: &str) -> Remedy {
    remedy.command(
        format!("Read the log of the link's controller{why}"),
        kubectl()
            .namespace(link_namespace)
            .words("logs")
            .option("-l", format!("{CLUSTER}={cluster}"))
            .words("--all-containers --tail 30"),
    )
}

/// The row of `linkerd check` that exists since the release whose chart creates controllers.
const CHART_ROW: (&str, &str) = ("linkerd-multicluster", "extension is managing controllers");

/// Whether the chart of the installed release creates the controllers of links; before, `linkerd multicluster
/// link` did. Reads `deployments.apps`, if available.
pub(super) fn chart_makes_controllers(ctx: &Context<'_>) -> Contains {
    release(ctx).map_or(Contains::Unknown, |release| made_by_chart(ctx, &release))
}

/// The target of the upgrade, or else the installed release.
pub(super) fn release(ctx: &Context<'_>) -> Option<LinkerdVersion> {
    let installed = || {
        let deployments = ctx.optional_list::<Deployment>();
        installed(deployments, None, &ctx.namespaces().control_plane).map(|(release, _)| release)
    };
    ctx.upgraded().map(|upgrade| upgrade.to.clone()).or_else(installed)
}

/// Whether the chart of a release creates the controllers of links.
pub(in crate::checks) fn made_by_chart(ctx: &Context<'_>, release: &LinkerdVersion) -> Contains {
    let row = ctx.knowledge.linkerd_check().row(CHART_ROW.0, CHART_ROW.1);
    row.map_or(Contains::Unknown, |row| row.releases.covers(release, ctx.knowledge.minors()))
}

/// Adds the steps that give a link a controller and its related objects.
pub(super) fn with_controller(ctx: &Context<'_>, remedy: Remedy, link: &Link) -> Remedy {
    let name = &link.spec.target_cluster_name;
    // Values replace lists as a whole.
    let entry = match ctx.for_steps::<Link>() {
        [] | [_] => format!("Set controllers[0].link.ref.name={name}"),
        _ => format!("Add an entry with link.ref.name={name} to the list `controllers`, after the existing ones,"),
    };
    let by_chart = format!(
        "{entry} in the values of the multicluster chart, and apply it: it creates the controller, its \
         ServiceAccount and its roles"
    );
    match chart_makes_controllers(ctx) {
        Contains::No => link_again(ctx, remedy, link),
        Contains::Yes => remedy.step(StepKind::ChartValue, by_chart),
        Contains::Unknown => remedy
            .step(StepKind::ChartValue, format!("{by_chart}; before 2.18, create the link again with the linkerd CLI")),
    }
}

/// The context of the other cluster, which only the reader knows.
pub(super) fn other_cluster() -> Arg {
    Arg::placeholder("OTHER_CLUSTER")
}

/// Adds the step that creates a link again, with the command that writes both link and credentials.
pub(super) fn link_again(ctx: &Context<'_>, remedy: Remedy, link: &Link) -> Remedy {
    let target = ctx.upgraded().map(|upgrade| &upgrade.to);
    link_again_with(remedy, link, chart_makes_controllers(ctx), target)
}

/// [`link_again`], in another namespace than that of the link.
pub(super) fn link_in(ctx: &Context<'_>, remedy: Remedy, link: &Link, namespace: &str) -> Remedy {
    let mut link = link.clone();
    link.metadata.namespace = namespace.into();
    link_again(ctx, remedy, &link)
}

/// [`link_again`], with the CLI of this release (`None`: the installed one).
pub(in crate::checks) fn link_again_with(
    remedy: Remedy,
    link: &Link,
    chart_makes_controllers: Contains,
    release: Option<&LinkerdVersion>,
) -> Remedy {
    let meta = &link.metadata;
    let (verb, before) = link_verb(chart_makes_controllers);
    let git = ManagedBy::from_metadata(meta).in_git().map(|git| format!("; {git}")).unwrap_or_default();
    let call = in_namespace(linkerd().in_context(other_cluster()).words(verb), &meta.namespace);
    let call = call.option("--cluster-name", &link.spec.target_cluster_name);
    // A link that is only known from its controller states nothing.
    let without_gateway = !link.spec.target_cluster_domain.is_empty()
        && link.spec.gateway_address.is_empty()
        && link.spec.gateway_identity.is_empty();
    let call = if without_gateway { call.words("--gateway=false") } else { call };
    let line = call
        // Its objects are in two namespaces, and each names its own.
        .pipe(kubectl().words("apply -f -"));
    let cli = match release {
        Some(release) => format!("CLI of {release}"),
        None => "CLI of the installed release".to_owned(),
    };
    remedy.command(
        format!("Create the link again with the linkerd {cli} and the options that it was created with{before}{git}"),
        match release {
            Some(_) => guarded(release, line),
            None => line.into(),
        },
    )
}

/// The command that writes a link and its credentials, and the end of its step's text.
fn link_verb(chart_makes_controllers: Contains) -> (&'static str, &'static str) {
    match chart_makes_controllers {
        Contains::Yes => ("multicluster link-gen", ""),
        Contains::No => ("multicluster link", ""),
        Contains::Unknown => ("multicluster link-gen", " (before 2.18 the command is link, not link-gen)"),
    }
}

/// Adds the step that creates links again which the API server deleted with their CRD.
pub(super) fn deleted_again(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let (verb, before) = link_verb(chart_makes_controllers(ctx));
    let call = linkerd().in_context(other_cluster()).words(verb);
    let line = call.option("--cluster-name", Arg::placeholder("CLUSTER_NAME")).pipe(kubectl().words("apply -f -"));
    remedy.command(
        format!(
            "Create each earlier link again with its options, because its objects were deleted with the CRD{before}"
        ),
        line,
    )
}

/// A `linkerd multicluster` command about a link in a namespace.
fn in_namespace(call: Call, namespace: &str) -> Call {
    match namespace {
        DEFAULT_NAMESPACE => call,
        other => call.option("--namespace", other),
    }
}

/// The command that deletes the controller that `linkerd multicluster link` created, with its Service,
/// account and roles. The CLI has it from the release on whose chart creates controllers; it reads the Link
/// at that release's version.
pub(in crate::checks) fn unlink_controller(namespace: &str, cluster: &str) -> Line {
    in_namespace(linkerd().words("multicluster unlink --only-controller"), namespace)
        .option("--cluster-name", cluster)
        .pipe(kubectl().words("delete --ignore-not-found -f -"))
}

/// The text of the step with [`unlink_controller`].
pub(in crate::checks) fn single_controller(cluster: &str) -> String {
    format!(
        "Once the chart's controller for {cluster} is ready, delete the one that `linkerd multicluster link` \
         created, with its gateway Service, account and roles"
    )
}

/// Adds the step that leaves a link with the controller of the chart. Reads `deployments.apps`.
pub(super) fn with_single_controller(ctx: &Context<'_>, remedy: Remedy, namespace: &str, cluster: &str) -> Remedy {
    let release = release(ctx);
    let command = guarded(release.as_ref(), unlink_controller(namespace, cluster));
    remedy.command(single_controller(cluster), command)
}
