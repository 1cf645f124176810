//! `service-mirror-role-missing`: a Link's controller lacks its account or a right.

use std::fmt::Write as _;

use super::links::{Links, controllers, links, no_links, subject, with_controller};
use crate::checks::extensions::remedy;
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Finding, Severity, StepKind, Subject};
use crate::item::{Extension, Kind};
use crate::knowledge::ServiceMirror;
use crate::model::objects::meta::Meta;
use crate::model::objects::rbac::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use crate::model::objects::{Link, ServiceAccount, Workload};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let links = match links(ctx)? {
        Links::Some(links) => links,
        Links::None => return Ok(no_links()),
        Links::Not(verdict) => return Ok(verdict),
    };
    let accounts = ctx.every::<ServiceAccount>(Kind::ServiceAccount)?;
    let cluster_roles = ctx.every::<ClusterRole>(Kind::ClusterRole)?;
    let cluster_role_bindings = ctx.every::<ClusterRoleBinding>(Kind::ClusterRoleBinding)?;
    let roles = ctx.every::<Role>(Kind::Role)?;
    let role_bindings = ctx.every::<RoleBinding>(Kind::RoleBinding)?;
    let deployments = ctx.hints::<Workload>(Kind::Deployment);
    let known = ctx.knowledge.extensions().service_mirrors();
    let parts = [
        Part::of(Kind::ServiceAccount, |m| &m.service_account, accounts.iter().map(|o| &o.metadata)),
        Part::of(Kind::ClusterRole, |m| &m.cluster_role, cluster_roles.iter().map(|o| &o.metadata)),
        Part::of(
            Kind::ClusterRoleBinding,
            |m| &m.cluster_role_binding,
            cluster_role_bindings.iter().map(|o| &o.metadata),
        ),
        Part::of(Kind::Role, |m| &m.role, roles.iter().map(|o| &o.metadata)),
        Part::of(Kind::RoleBinding, |m| &m.role_binding, role_bindings.iter().map(|o| &o.metadata)),
    ];
    let mut findings = Vec::new();
    for link in links {
        let mut lost = Vec::new();
        let mut unmarked = Vec::new();
        for part in &parts {
            let there = part.of_link(link, known);
            if there.is_empty() {
                lost.push(part.absent(link, known));
            } else if !there.iter().any(|(meta, mirror)| part.is_marked(meta, mirror, link, known)) {
                unmarked.extend(there.into_iter().map(|(meta, mirror)| (part, meta, mirror)));
            }
        }
        if !lost.is_empty() {
            findings.push(incomplete(ctx, link, controllers(ctx, deployments, link).is_empty(), lost));
        } else if !unmarked.is_empty() {
            findings.push(mark(ctx, link, &unmarked));
        }
    }
    Ok(findings.into())
}

/// What belongs to a controller is not there, and perhaps the controller is not either: then both are to be made.
fn incomplete(ctx: &Context<'_>, link: &Link, without_controller: bool, lost: Vec<Evidence>) -> Finding {
    let message = if without_controller {
        "what the controller of the link needs is not there, as the controller itself: nothing of the other cluster is mirrored"
    } else {
        "the controller of the link lacks its account or a right: it cannot read its credentials, or cannot write mirror services"
    };
    let steps = with_controller(ctx, remedy(Extension::Multicluster), link);
    let finding = ctx.finding(subject(link), message).evidences(lost).remedy(steps);
    // That there is no controller is not because it lacks something.
    if without_controller { finding.explains_nothing() } else { finding }
}

/// The label by which `linkerd check` knows whose an object is.
const CLUSTER: &str = "mirror.linkerd.io/cluster-name";

/// One of the objects that a controller consists of, whatever its link.
struct Part<'a> {
    kind: Kind,
    /// Its name, of which `{cluster}` is to be filled in.
    name: fn(&ServiceMirror) -> &String,
    /// All that there are of its kind.
    all: Vec<&'a Meta>,
}

impl<'a> Part<'a> {
    fn of(kind: Kind, name: fn(&ServiceMirror) -> &String, all: impl Iterator<Item = &'a Meta>) -> Part<'a> {
        Part { kind, name, all: all.collect() }
    }

    fn is_namespaced(&self) -> bool {
        !matches!(self.kind, Kind::ClusterRole | Kind::ClusterRoleBinding)
    }

    /// Whether each link has one of its own.
    fn is_of_one(&self, mirror: &ServiceMirror) -> bool {
        (self.name)(mirror).contains("{cluster}")
    }

    fn named(&self, mirror: &ServiceMirror, link: &Link) -> String {
        (self.name)(mirror).replace("{cluster}", &link.spec.target_cluster_name)
    }

    /// Those that are a link's by their names.
    fn of_link<'k>(&self, link: &Link, known: &'k [ServiceMirror]) -> Vec<(&'a Meta, &'k ServiceMirror)> {
        let home = if self.is_namespaced() { link.metadata.namespace.as_str() } else { "" };
        let found = known.iter().flat_map(|mirror| {
            let name = self.named(mirror, link);
            let is_it = move |meta: &&&Meta| meta.namespace == home && meta.name == name;
            self.all.iter().filter(is_it).map(move |meta| (*meta, mirror)).collect::<Vec<_>>()
        });
        found.collect()
    }

    /// Whether it carries the labels by which `linkerd check` looks for it. What no link has for itself belongs to all.
    fn is_marked(&self, meta: &Meta, mirror: &ServiceMirror, link: &Link, known: &[ServiceMirror]) -> bool {
        let component = meta.label("component");
        if !self.is_of_one(mirror) {
            return component == Some(mirror.component.as_str());
        }
        known.iter().any(|mirror| component == Some(mirror.component.as_str()))
            && meta.label(CLUSTER) == Some(link.spec.target_cluster_name.as_str())
    }

    fn absent(&self, link: &Link, known: &[ServiceMirror]) -> Evidence {
        let names: Vec<String> = known.iter().map(|mirror| self.named(mirror, link)).collect();
        let kind = self.kind;
        let place =
            if self.is_namespaced() { format!(" in {}", link.metadata.namespace) } else { String::new() };
        Evidence::other(format!("every {kind}{place}"), format!("none is named {}", names.join(" or ")))
    }
}

/// What is there and lacks the labels: it serves all the same.
fn mark(ctx: &Context<'_>, link: &Link, unmarked: &[(&Part<'_>, &Meta, &ServiceMirror)]) -> Finding {
    let message = "objects of the link's controller are not labelled as such: they serve, but `linkerd check` takes them for \
                   missing";
    let cluster = &link.spec.target_cluster_name;
    let mut lines = Vec::new();
    let mut finding = ctx.finding(subject(link), message).parameter("unmarked").severity(Severity::Info);
    for (part, meta, mirror) in unmarked {
        let place = if meta.namespace.is_empty() { String::new() } else { format!(" -n {}", meta.namespace) };
        let said = |key: &str| format!("{key}: {}", meta.label(key).unwrap_or("absent"));
        let (mut labels, mut seen) = (format!("component={}", mirror.component), said("component"));
        if part.is_of_one(mirror) {
            _ = write!(labels, " {CLUSTER}={cluster}");
            _ = write!(seen, ", {}", said(CLUSTER));
        }
        let kind = part.kind.to_string().to_ascii_lowercase();
        lines.push(format!("kubectl label{place} {kind} {} --overwrite {labels}", meta.name));
        let object = Subject::object(part.kind, &meta.namespace, &meta.name).to_string();
        finding = finding.evidence(Evidence::field(object, "metadata.labels", seen));
    }
    let steps = remedy(Extension::Multicluster).run(
        StepKind::Command,
        "Set the labels right, and in what renders the objects as well",
        lines.join("\n"),
    );
    finding.rows_as(Severity::Error).explains_nothing().remedy(steps)
}
