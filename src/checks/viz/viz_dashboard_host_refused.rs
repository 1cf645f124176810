//! `viz-dashboard-host-refused`: an Ingress or HTTPRoute leads to the dashboard, which refuses its host.

use regex::Regex;

use crate::annotations::{HOST_HEADER, SNIPPETS, UPSTREAM_VHOST};
use crate::checks::extensions::{installed_in, reinstall_with};
use crate::checks::policy::defined;
use crate::checks::policy::ingress::Classes;
use crate::checks::policy::ingress_header::sets_headers;
use crate::checks::prelude::*;
use crate::command::helm_set;
use crate::objects::{HTTPRoute, Ingress, Route, RouteFilter};
use crate::redact::is_marked;

/// The component and its Service.
const WEB: &str = "web";
/// Its argument with the regular expression of accepted hosts, and the chart value behind it.
const FLAG: &str = "-enforced-host";
const VALUE: &str = "dashboard.enforcedHostRegexp";
/// The port of the Service, which documentation adds to the host.
const PORT: u16 = 8084;

/// The hosts that the dashboard accepts.
struct Accepted<'a> {
    /// The namespace of viz.
    viz: &'a str,
    written: &'a str,
    regex: Regex,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let viz = installed_in(ctx, Extension::Viz)?.metadata.name.as_str();
    let deployments = ctx.partial_list::<Deployment>()?;
    let ingresses = ctx.partial_list::<Ingress>();
    let routes = ctx.or_note(defined::<HTTPRoute>(ctx)).unwrap_or_default();
    let ingresses = ingresses?;
    let Some(accepted) = accepted(ctx, viz, deployments)? else { return Ok(Vec::new().into()) };
    let mut findings = Vec::new();
    if is_rewritten_by_kong(ctx, viz) {
        return Ok(findings.into());
    }
    let classes = Classes::new(ctx);
    for ingress in ingresses.iter().filter(|one| one.metadata.namespace == viz && ctx.judges(viz)) {
        if !classes.is_of_ingress_nginx(ingress)
            || SNIPPETS.iter().any(|key| ingress.metadata.annotation(key).is_some())
        {
            continue;
        }
        let hosts: Vec<&str> = ingress.hosts_of(WEB).collect();
        if hosts.is_empty() || hosts.iter().any(|host| accepted.may_be(host)) {
            continue;
        }
        let rewritten = ingress.metadata.annotation(UPSTREAM_VHOST).filter(|host| !host.is_empty());
        let rewritten = rewritten.map(|host| host.replace("$service_name", WEB).replace("$namespace", viz));
        if rewritten.as_deref().is_some_and(|host| host.contains('$') || accepted.may_be(host)) {
            continue;
        }
        match sets_headers(ctx, &classes, ingress) {
            Ok(false) => findings.push(of_ingress(ctx, &accepted, ingress, &hosts, rewritten.as_deref())),
            Ok(true) => {}
            Err(missing) => ctx.gap(missing),
        }
    }
    for route in routes.iter().filter(|route| ctx.judges(&route.metadata.namespace)) {
        let hosts = &route.spec.hostnames;
        if leads_unchanged(route, viz) && !hosts.is_empty() && !hosts.iter().any(|host| accepted.may_be(host)) {
            findings.push(of_route(ctx, &accepted, route));
        }
    }
    Ok(findings.into())
}

impl Accepted<'_> {
    /// Whether a host is accepted; true also if it contains a wildcard or is redacted.
    fn may_be(&self, host: &str) -> bool {
        host.is_empty() || host.contains('*') || is_marked(host) || self.regex.is_match(host)
    }
}

/// The accepted hosts; `None` if every host is.
///
/// # Errors
/// The argument is unknown.
fn accepted<'a>(
    ctx: &Context<'a>,
    viz: &'a str,
    deployments: &'a [Workload],
) -> Result<Option<Accepted<'a>>, Unjudged> {
    let web = deployments.iter().find(|one| one.metadata.key() == (viz, WEB));
    let web = web.and_then(|web| web.spec.template.spec.container(WEB));
    let Some(web) = web else { return Ok(None) };
    let unknown = |message: String| {
        let part = "the hosts that the dashboard accepts";
        Unjudged::Missing(ctx.missing(Item::List(Kind::Deployment), Why::NotJudged { message }, part))
    };
    let Some(written) = web.argument(FLAG) else {
        // A redacted argument may be this one.
        return match web.has_more_args || web.args.iter().any(|arg| is_marked(arg)) {
            true => Err(unknown(format!("Deployment {viz}/{WEB}: the arguments of the container are not kept"))),
            false => Ok(None),
        };
    };
    if is_marked(written) {
        return Err(unknown(format!("Deployment {viz}/{WEB}: {FLAG} is redacted")));
    }
    match Regex::new(written) {
        Ok(regex) => Ok(Some(Accepted { viz, written, regex })),
        Err(_) => Err(unknown(format!("Deployment {viz}/{WEB}: the regular expression in {FLAG} is not read"))),
    }
}

/// Whether Kong sets the host for requests to the Service.
fn is_rewritten_by_kong(ctx: &Context<'_>, viz: &str) -> bool {
    let services = ctx.optional_list::<Service>();
    services.iter().any(|one| one.metadata.key() == (viz, WEB) && one.metadata.annotation(HOST_HEADER).is_some())
}

/// Whether a Gateway sends requests of a route to the dashboard, and no filter can change their host.
fn leads_unchanged(route: &Route, viz: &str) -> bool {
    let meta = &route.metadata;
    let of_gateway =
        route.spec.parent_refs.iter().any(|parent| parent.kind.as_deref().is_none_or(|kind| kind == "Gateway"));
    let changes = |filters: &[RouteFilter]| {
        filters.iter().any(|filter| {
            filter.url_rewrite.is_some() || filter.request_header_modifier.is_some() || filter.extension_ref.is_some()
        })
    };
    of_gateway
        && route.spec.rules.iter().any(|rule| {
            let mut to_web = rule.backend_refs.iter().filter(|backend| {
                let namespace = backend.namespace.as_deref().unwrap_or(&meta.namespace);
                backend.is_a("", "Service") && (namespace, backend.name.as_str()) == (viz, WEB)
            });
            !changes(&rule.filters) && to_web.any(|backend| !changes(&backend.filters))
        })
}

fn finding(ctx: &Context<'_>, kind: Kind, meta: &Meta, host: &str, accepted: &Accepted<'_>) -> Finding {
    let (namespace, name) = meta.key();
    let message = format!(
        "The dashboard of viz answers requests for {host} with 400: the host does not match the regular expression of \
         accepted hosts"
    );
    ctx.finding(Subject::object(kind, namespace, name), message).parameter(host).evidence(Evidence::field(
        format!("Deployment {}/{WEB}", accepted.viz),
        "spec.template.spec.containers[web].args",
        format!("{FLAG}={}", accepted.written),
    ))
}

fn of_ingress(
    ctx: &Context<'_>,
    accepted: &Accepted<'_>,
    ingress: &Ingress,
    hosts: &[&str],
    rewritten: Option<&str>,
) -> Finding {
    let viz = accepted.viz;
    let meta = &ingress.metadata;
    let host = rewritten.unwrap_or(hosts[0]);
    let object = format!("Ingress {viz}/{}", meta.name);
    let set = Evidence::field(
        &object,
        format!("metadata.annotations[{UPSTREAM_VHOST}]"),
        meta.annotation(UPSTREAM_VHOST).unwrap_or("not set"),
    );
    let known = [format!("{WEB}.{viz}.svc.cluster.local:{PORT}"), format!("{WEB}.{viz}.svc:{PORT}")];
    let remedy = match known.into_iter().find(|host| accepted.regex.is_match(host)) {
        Some(own) => {
            let annotate = kubectl().namespace(viz).words("annotate ingress").operand(&meta.name);
            let annotate = annotate.arg(format!("{UPSTREAM_VHOST}={own}"));
            let is_set = meta.annotation(UPSTREAM_VHOST).is_some();
            let annotate = if is_set { annotate.words("--overwrite") } else { annotate };
            let act = "Let the ingress controller send the host of the Service (also in its source manifest)";
            Remedy::new().run(StepKind::Annotation, act, annotate)
        }
        None => Remedy::new(),
    };
    finding(ctx, Kind::Ingress, meta, host, accepted)
        .likely()
        .evidence(Evidence::field(object, "spec.rules[].host", hosts.join(", ")))
        .evidence(set)
        .remedy(with_host(ctx, remedy, hosts[0], viz))
}

fn of_route(ctx: &Context<'_>, accepted: &Accepted<'_>, route: &Route) -> Finding {
    let meta = &route.metadata;
    let hosts = &route.spec.hostnames;
    let viz = accepted.viz;
    let act = format!(
        "Let the Gateway send the host of the Service, if it supports that: filter URLRewrite with hostname \
         {WEB}.{viz}.svc"
    );
    let remedy = Remedy::new().note(act);
    finding(ctx, Kind::HTTPRoute, meta, &hosts[0], accepted)
        .evidence(Evidence::field(meta.described("HTTPRoute"), "spec.hostnames", hosts.join(", ")))
        .remedy(with_host(ctx, remedy, &hosts[0], viz))
}

/// Adds the step that makes the dashboard accept a host.
fn with_host(ctx: &Context<'_>, remedy: Remedy, host: &str, viz: &str) -> Remedy {
    let in_class = |host: &str| host.replace('.', "[.]");
    let regexp = format!(
        "^(localhost|127[.]0[.]0[.]1|{}([.].*)?|{})(:[0-9]+)?$",
        in_class(&format!("{WEB}.{viz}.svc")),
        in_class(host)
    );
    let why = format!(" with {VALUE}, so that the dashboard accepts {host}");
    let set = Arg::from(helm_set(VALUE, &regexp));
    reinstall_with(ctx, remedy, Extension::Viz, &why, &[set])
}
