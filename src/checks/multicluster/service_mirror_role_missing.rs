//! `service-mirror-role-missing`: a Link's controller lacks its ServiceAccount or a role, or may not read the Secret
//! that the Link names.

use std::collections::HashMap;

use super::links::{CLUSTER, Controllers, field, links, subject, with_controller};
use crate::checks::prelude::*;
use crate::checks::rewrite::is_label_value;
use crate::checks::words::some;
use crate::command::Call;
use crate::knowledge::ServiceMirror;
use crate::objects::meta::Meta;
use crate::objects::rbac::{
    ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, rules_everywhere, rules_in,
};
use crate::objects::{Link, ServiceAccount};

/// Maximum number of quoted Secrets.
const NAMED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let links = links(ctx)?;
    let accounts = ctx.complete_list::<ServiceAccount>()?;
    let cluster_roles = ctx.complete_list::<ClusterRole>()?;
    let cluster_role_bindings = ctx.complete_list::<ClusterRoleBinding>()?;
    let roles = ctx.complete_list::<Role>()?;
    let role_bindings = ctx.complete_list::<RoleBinding>()?;
    let deployments = ctx.complete_list::<Deployment>();
    let controllers = deployments.as_ref().map(|all| Controllers::new(ctx, all));
    let known = ctx.knowledge.extensions().service_mirrors();
    let parts = [
        ControllerObjects::new(Kind::ServiceAccount, |m| &m.service_account, accounts.iter().map(|o| &o.metadata)),
        ControllerObjects::new(Kind::ClusterRole, |m| &m.cluster_role, cluster_roles.iter().map(|o| &o.metadata)),
        ControllerObjects::new(
            Kind::ClusterRoleBinding,
            |m| &m.cluster_role_binding,
            cluster_role_bindings.iter().map(|o| &o.metadata),
        ),
        ControllerObjects::new(Kind::Role, |m| &m.role, roles.iter().map(|o| &o.metadata)),
        ControllerObjects::new(Kind::RoleBinding, |m| &m.role_binding, role_bindings.iter().map(|o| &o.metadata)),
    ];
    let mut findings = Vec::new();
    // Of a Link that no controller reads, another check reports the namespace.
    let is_unread = |link: &Link| controllers.as_ref().is_ok_and(|all| all.are_elsewhere(link));
    for link in links.iter().filter(|link| !is_unread(link)) {
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
            let without_controller = match &controllers {
                Ok(controllers) => controllers.of_link(link).is_empty(),
                Err(missing) => {
                    ctx.gap(Missing::clone(missing));
                    false
                }
            };
            findings.push(incomplete(ctx, link, without_controller, lost));
            continue;
        }
        if !unmarked.is_empty() {
            findings.push(mark(ctx, link, &unmarked));
        }
        let home = link.metadata.namespace.as_str();
        // After a migration there may be accounts of several controllers.
        let accounts = parts[0].of_link(link, known);
        let of_accounts = accounts.iter().map(|(account, _)| {
            let account = (account.namespace.as_str(), account.name.as_str());
            let mut granted = rules_in(home, (roles, role_bindings), cluster_roles, account);
            granted.extend(rules_everywhere((cluster_roles, cluster_role_bindings), account));
            unreadable(ctx, link, account, &granted)
        });
        let unreadable: Option<Vec<Finding>> = of_accounts.collect();
        findings.extend(unreadable.and_then(|all| all.into_iter().next()));
    }
    Ok(findings.into())
}

/// The finding for missing objects of a controller. If the controller is missing too, both must be created.
fn incomplete(ctx: &Context<'_>, link: &Link, without_controller: bool, lost: Vec<Evidence>) -> Finding {
    let message = if without_controller {
        "the link has no controller, and no ServiceAccount or roles for one: no service of the other \
         cluster is mirrored"
    } else {
        "the controller of the link lacks its ServiceAccount or a role: it cannot read its credentials, or \
         cannot write mirror services"
    };
    let steps = with_controller(ctx, Remedy::new(), link);
    let finding = ctx.finding(subject(link), message).evidences(lost).remedy(steps);
    if !without_controller {
        return finding;
    }
    // A missing controller is not a consequence of its missing objects, and has a finding of its own.
    finding.severity(Severity::Info).rows_as(Severity::Error).explains_nothing()
}

/// The finding for a controller that may not read the Secret with the credentials of its Link.
fn unreadable(
    ctx: &Context<'_>,
    link: &Link,
    (namespace, account): (&str, &str),
    granted: &[&PolicyRule],
) -> Option<Finding> {
    let secret = link.spec.cluster_credentials_secret.as_str();
    // Another check reports a Link without a Secret.
    if secret.is_empty() || granted.iter().any(|rule| rule.allows_one("", "secrets", "get", secret)) {
        return None;
    }
    let named = granted.iter().filter(|rule| rule.resources.iter().any(|resource| resource == "secrets"));
    let named: Vec<&str> = named.flat_map(|rule| &rule.resource_names).map(String::as_str).collect();
    let named = if named.is_empty() { "no Secret".to_owned() } else { some(named, NAMED) };
    let name = format!("{account}-read-{secret}");
    let role = kubectl().namespace(namespace).words("create role").operand(&name);
    let role = role.words("--verb=get --resource=secrets").option("--resource-name", secret);
    let binding = kubectl().namespace(namespace).words("create rolebinding").operand(&name);
    let binding = binding.option("--role", &name).option("--serviceaccount", format!("{namespace}:{account}"));
    let message = "the link's controller may not read the Secret that the link names: it does not reach the other \
                   cluster, and its mirror services are not updated";
    let subject_of = Subject::object(Kind::ServiceAccount, namespace, account).to_string();
    let finding = ctx
        .finding(subject(link), message)
        .parameter("secret")
        .evidence(field(link, "spec.clusterCredentialsSecret", secret))
        .evidence(Evidence::other(subject_of, format!("may get Secrets: {named}")));
    Some(finding.remedy(Remedy::new().command(
        "Allow it. The roles of the chart name only the Secret cluster-credentials-CLUSTER",
        Command::lines([role, binding]),
    )))
}

/// One kind of object of a controller, for any link.
struct ControllerObjects<'a> {
    kind: Kind,
    /// Its name, with `{cluster}` as a placeholder.
    name: fn(&ServiceMirror) -> &String,
    /// All objects of its kind, by namespace and name.
    all: HashMap<(&'a str, &'a str), Vec<&'a Meta>>,
}

impl<'a> ControllerObjects<'a> {
    fn new(
        kind: Kind,
        name: fn(&ServiceMirror) -> &String,
        all: impl Iterator<Item = &'a Meta>,
    ) -> ControllerObjects<'a> {
        let mut by_key: HashMap<_, Vec<&'a Meta>> = HashMap::new();
        all.for_each(|meta| by_key.entry(meta.key()).or_default().push(meta));
        ControllerObjects { kind, name, all: by_key }
    }

    fn is_namespaced(&self) -> bool {
        !matches!(self.kind, Kind::ClusterRole | Kind::ClusterRoleBinding)
    }

    /// Whether each link has an object of its own.
    fn is_of_one(&self, mirror: &ServiceMirror) -> bool {
        (self.name)(mirror).contains("{cluster}")
    }

    fn object_name(&self, mirror: &ServiceMirror, link: &Link) -> String {
        (self.name)(mirror).replace("{cluster}", &link.spec.target_cluster_name)
    }

    /// The objects of a link, by name.
    fn of_link<'k>(&self, link: &Link, known: &'k [ServiceMirror]) -> Vec<(&'a Meta, &'k ServiceMirror)> {
        let namespace = if self.is_namespaced() { link.metadata.namespace.as_str() } else { "" };
        let found = known.iter().flat_map(|mirror| {
            let name = self.object_name(mirror, link);
            let named = self.all.get(&(namespace, name.as_str())).map_or(&[][..], Vec::as_slice);
            named.iter().map(|meta| (*meta, mirror)).collect::<Vec<_>>()
        });
        found.collect()
    }

    /// Whether it has the labels that `linkerd check` selects by. An object that is not specific to a link
    /// belongs to all.
    fn is_marked(&self, meta: &Meta, mirror: &ServiceMirror, link: &Link, known: &[ServiceMirror]) -> bool {
        let component = meta.label("component");
        if !self.is_of_one(mirror) {
            return component == Some(mirror.component.as_str());
        }
        known.iter().any(|mirror| component == Some(mirror.component.as_str()))
            && meta.label(CLUSTER) == Some(link.spec.target_cluster_name.as_str())
    }

    fn absent(&self, link: &Link, known: &[ServiceMirror]) -> Evidence {
        let names: Vec<String> = known.iter().map(|mirror| self.object_name(mirror, link)).collect();
        let kind = self.kind;
        let place = if self.is_namespaced() { format!(" in {}", link.metadata.namespace) } else { String::new() };
        Evidence::other(format!("every {kind}{place}"), format!("none is named {}", names.join(" or ")))
    }
}

/// The finding for objects that exist without the labels, which still work.
fn mark(ctx: &Context<'_>, link: &Link, unmarked: &[(&ControllerObjects<'_>, &Meta, &ServiceMirror)]) -> Finding {
    let message = "objects of the link's controller lack their labels: they work, but `linkerd check` \
                   reports them as missing";
    let cluster = &link.spec.target_cluster_name;
    let mut lines: Vec<Call> = Vec::new();
    let mut finding = ctx.finding(subject(link), message).parameter("unmarked").severity(Severity::Info);
    for (part, meta, mirror) in unmarked {
        let label = |key: &str| format!("{key}: {}", meta.label(key).unwrap_or("missing"));
        let mut seen = label("component");
        let mut call = kubectl()
            .namespace(&meta.namespace)
            .words("label --overwrite")
            .arg(part.kind.to_string().to_ascii_lowercase())
            .operand(&meta.name)
            .arg(format!("component={}", mirror.component));
        if part.is_of_one(mirror) {
            seen = format!("{seen}, {}", label(CLUSTER));
            // Objects are named after the cluster, but its name may not be a valid label value.
            if is_label_value(cluster) {
                call = call.arg(format!("{CLUSTER}={cluster}"));
            }
        }
        lines.push(call);
        let object = Subject::object(part.kind, &meta.namespace, &meta.name).to_string();
        finding = finding.evidence(Evidence::field(object, "metadata.labels", seen));
    }
    let steps =
        Remedy::new().command("Set the labels, and also set them in the source of the objects", Command::lines(lines));
    finding.rows_as(Severity::Error).explains_nothing().remedy(steps)
}
