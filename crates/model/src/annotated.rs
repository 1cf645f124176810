//! Objects with annotations and labels that users set: workloads and their pod templates, namespaces,
//! Services, and pods without a template. Each object is one [`Annotated`] with its sites, and the scope in
//! which each site is read. Copies are left out: ReplicaSets, Jobs of CronJobs, and pods of a template
//! repeat their owner's annotations.

use crate::finding::{Evidence, Subject};
use crate::item::{EXTENSION_LABEL, Kind};
use crate::knowledge::KeyScope;

use super::installed::COMPONENT;
use crate::objects::{CronJob, Job, Meta, Namespace, Pod, Route, Service, Workload};

/// A site of an object with annotations and labels.
#[derive(Debug, Clone, Copy)]
pub struct Site<'a> {
    /// The scope in which it is read.
    pub scope: KeyScope,
    /// Its path in the object.
    pub path: &'static str,
    /// The annotations and labels.
    pub meta: &'a Meta,
}

/// An object with annotations that users set.
#[derive(Debug, Clone)]
pub struct Annotated<'a> {
    pub kind: Kind,
    /// Its own metadata, for the name.
    pub meta: &'a Meta,
    /// Its sites: the template first, if it has one.
    pub sites: Vec<Site<'a>>,
}

impl<'a> Annotated<'a> {
    fn own(kind: Kind, scope: KeyScope, meta: &'a Meta) -> Annotated<'a> {
        Annotated { kind, meta, sites: vec![Site { scope, path: "metadata", meta }] }
    }

    fn templated(kind: Kind, meta: &'a Meta, template: &'a Meta) -> Annotated<'a> {
        let sites = vec![
            Site { scope: KeyScope::PodTemplate, path: "spec.template.metadata", meta: template },
            Site { scope: KeyScope::Workload, path: "metadata", meta },
        ];
        Annotated { kind, meta, sites }
    }

    pub fn namespace(namespace: &'a Namespace) -> Annotated<'a> {
        Annotated::own(Kind::Namespace, KeyScope::Namespace, &namespace.metadata)
    }

    pub fn service(service: &'a Service) -> Annotated<'a> {
        Annotated::own(Kind::Service, KeyScope::Service, &service.metadata)
    }

    /// A route of a kind whose annotations the policy controller reads.
    pub fn route(kind: Kind, route: &'a Route) -> Option<Annotated<'a>> {
        let scope = match kind {
            Kind::HTTPRoute => KeyScope::GatewayHttpRoute,
            Kind::LinkerdHTTPRoute => KeyScope::PolicyHttpRoute,
            Kind::GRPCRoute => KeyScope::GatewayGrpcRoute,
            _ => return None,
        };
        Some(Annotated::own(kind, scope, &route.metadata))
    }

    /// A Deployment, StatefulSet or DaemonSet.
    pub fn workload(kind: Kind, workload: &'a Workload) -> Annotated<'a> {
        Annotated::templated(kind, &workload.metadata, &workload.spec.template.metadata)
    }

    /// A Job, unless it belongs to a CronJob.
    pub fn job(job: &'a Job) -> Option<Annotated<'a>> {
        let copied = job.metadata.controller().is_some_and(|owner| owner.kind == Kind::CronJob.info().kind);
        (!copied).then(|| Annotated::templated(Kind::Job, &job.metadata, &job.spec.template.metadata))
    }

    /// A CronJob, which has a third site: the metadata of its Jobs.
    pub fn cron_job(cron: &'a CronJob) -> Annotated<'a> {
        let job = &cron.spec.job_template;
        let sites = vec![
            Site {
                scope: KeyScope::PodTemplate,
                path: "spec.jobTemplate.spec.template.metadata",
                meta: &job.spec.template.metadata,
            },
            Site { scope: KeyScope::Workload, path: "metadata", meta: &cron.metadata },
            Site { scope: KeyScope::Workload, path: "spec.jobTemplate.metadata", meta: &job.metadata },
        ];
        Annotated { kind: Kind::CronJob, meta: &cron.metadata, sites }
    }

    /// A pod that has not ended and whose template is not checked itself.
    pub fn pod(pod: &'a Pod) -> Option<Annotated<'a>> {
        let copied = pod
            .metadata
            .controller()
            .is_some_and(|owner| matches!(owner.kind.as_str(), "ReplicaSet" | "StatefulSet" | "DaemonSet" | "Job"));
        (!copied && !pod.is_finished()).then(|| Annotated::own(Kind::Pod, KeyScope::PodTemplate, &pod.metadata))
    }

    /// Its namespace; for a Namespace, its own name.
    pub fn namespace_name(&self) -> &'a str {
        if self.kind == Kind::Namespace { &self.meta.name } else { &self.meta.namespace }
    }

    /// The template of its pods, if it has one.
    pub fn template(&self) -> Option<Site<'a>> {
        self.sites.iter().find(|site| site.scope == KeyScope::PodTemplate).copied()
    }

    /// Itself as the subject of a finding.
    pub fn subject(&self) -> Subject {
        Subject::object(self.kind, &self.meta.namespace, &self.meta.name)
    }

    /// An annotation or label as evidence.
    pub fn evidence(&self, site: &Site<'_>, field: &str, key: &str, value: &str) -> Evidence {
        // Variables can contain secrets, and their values are not checked.
        let value = if key.ends_with("-env") { "(not shown)" } else { value };
        Evidence::field(self.subject(), format!("{}.{field}[{key}]", site.path), shortened(value))
    }

    /// Whether Linkerd's own charts wrote it. Problems with it then belong to the charts.
    pub fn is_linkerds(&self) -> bool {
        self.is_control_plane()
            || self.meta.label(EXTENSION_LABEL).is_some()
            || self.meta.label("app.kubernetes.io/part-of") == Some("Linkerd")
            || (self.kind != Kind::Pod && self.meta.annotation("linkerd.io/created-by").is_some())
    }

    /// Whether it belongs to the control plane or to linkerd-cni, whose pods are never injected.
    pub fn is_control_plane(&self) -> bool {
        self.sites
            .iter()
            .any(|site| site.meta.label(COMPONENT).is_some() || site.meta.label("linkerd.io/cni-resource").is_some())
    }
}

/// A value shortened to fit one line.
fn shortened(value: &str) -> String {
    match value.char_indices().nth(160) {
        Some((cut, _)) => format!("{}…", &value[..cut]),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object<T: serde::de::DeserializeOwned>(json: serde_json::Value) -> T {
        serde_json::from_value(json).expect("an object")
    }

    #[test]
    fn copies_are_left_out() {
        let owner = |kind: &str| json!([{"kind": kind, "name": "x", "controller": true}]);
        let job: Job = object(json!({"metadata": {"name": "j", "ownerReferences": owner("CronJob")}}));
        assert!(Annotated::job(&job).is_none());
        let job: Job = object(json!({"metadata": {"name": "j", "ownerReferences": owner("Workflow")}}));
        assert!(Annotated::job(&job).is_some());
        let pod: Pod = object(json!({"metadata": {"name": "p", "ownerReferences": owner("ReplicaSet")}}));
        assert!(Annotated::pod(&pod).is_none());
        let pod: Pod = object(json!({"metadata": {"name": "p"}}));
        assert!(Annotated::pod(&pod).is_some());
        let pod: Pod = object(json!({"metadata": {"name": "p"}, "status": {"phase": "Succeeded"}}));
        assert!(Annotated::pod(&pod).is_none());
    }

    #[test]
    fn variables_are_hidden_and_long_values_truncated() {
        let service: Service = object(json!({"metadata": {"name": "s", "namespace": "shop"}}));
        let it = Annotated::service(&service);
        let said = |key: &str, value: &str| it.evidence(&it.sites[0], "annotations", key, value).said;
        assert_eq!(said("config.linkerd.io/proxy-additional-env", "[{}]"), "(not shown)");
        assert_eq!(said("linkerd.io/inject", &"é".repeat(400)).chars().count(), 161);
    }
}
