//! Slim typed views of Kubernetes objects: what checks read, and nothing else. A new field here is read for every
//! object of its kind in every cluster, so it must be worth it.
//!
//! Everything defaults: a field that an old API server does not send is not an error.

pub mod access;
pub mod cluster_scope;
pub mod container;
pub mod extension;
pub mod kinds;
pub mod meta;
pub mod other;
pub mod pod;
pub mod probe;
pub mod rbac;
pub mod served;
pub mod shared;
pub mod workload;

use serde::de::{DeserializeOwned, Error as _, IgnoredAny};

use crate::names;
use crate::protobuf::{Broken, Message};
use crate::redact::{Clean, Rule};

pub use access::AccessReview;
pub use cluster_scope::{
    CustomResourceDefinition, LabelSelector, Namespace, Node, Webhook, WebhookConfiguration,
};
pub use container::Container;
pub use extension::{ApiService, Link, Named};
pub(crate) use kinds::store_for;
pub use kinds::{
    AuthorizationPolicy, DaemonSet, Deployment, KindOf, Listed, MutatingWebhookConfiguration, ReplicaSet,
    StatefulSet, ValidatingWebhookConfiguration,
};
pub use meta::{Meta, OwnerReference};
pub use other::{
    ConfigMap, ControllerRevision, EndpointSlice, Event, ObjectReference, Secret, Service, ServiceAccount,
};
pub use pod::{ContainerStatus, Pod, PodSpec};
pub use probe::ProbeAnswer;
pub use served::{ServedBy, ServedCertificates};
pub use shared::Shared;
pub use workload::{CronJob, Job, PodTemplate, Workload};

/// A slim object type.
pub trait Object: DeserializeOwned + Send + Sync + 'static {
    /// Name and namespace, for sorting and for messages.
    fn key(&self) -> (&str, &str);

    /// Why Kubernetes would not accept the names in it, if it would not.
    fn refused(&self) -> Option<String> {
        None
    }

    /// Drops what may not stay, right after decoding.
    fn trim(&mut self) {}

    /// Takes over what it has in common with the object that came before it: lists are sorted, so replicas are neighbours.
    fn share(&mut self, _before: &Self) {}
}

macro_rules! objects {
    ($( $type:ty, $rule:ident $(, names: $names:expr)? $(, trim: $trim:expr)? $(, share: $share:expr)? ; )*) => { $(
        impl Object for $type {
            fn key(&self) -> (&str, &str) {
                (&self.metadata.namespace, &self.metadata.name)
            }
            fn refused(&self) -> Option<String> {
                let refused = self.metadata.refused(names::Rule::$rule);
                $(
                    let names: fn(&$type) -> Option<String> = $names;
                    let refused = refused.or_else(|| names(self));
                )?
                refused
            }
            $( fn trim(&mut self) { let trim: fn(&mut $type) = $trim; trim(self) } )?
            $( fn share(&mut self, before: &Self) { let share: fn(&mut $type, &$type) = $share; share(self, before) } )?
        }
    )* };
}

objects! {
    Namespace, Label;
    Node, Subdomain;
    Pod, Subdomain, names: Pod::refused_names, trim: Pod::trim, share: Pod::share;
    Workload, Subdomain, trim: |workload| workload.spec.template.trim(&[&workload.metadata]), share: Workload::share;
    Job, Subdomain, trim: |job| job.spec.template.trim(&[&job.metadata]);
    CronJob, Subdomain, trim: |cron| {
        cron.spec.job_template.spec.template.trim(&[&cron.metadata, &cron.spec.job_template.metadata]);
    };
    ControllerRevision, Subdomain, trim: |revision| revision.data.spec.template.trim(&[&revision.metadata]);
    ConfigMap, Subdomain;
    Secret, Subdomain;
    Service, Subdomain;
    ServiceAccount, Subdomain;
    EndpointSlice, Subdomain;
    Event, Segment, trim: Event::trim;
    WebhookConfiguration, Subdomain;
    ServedCertificates, Subdomain, names: ServedCertificates::refused_names;
    rbac::ClusterRole, Segment;
    rbac::ClusterRoleBinding, Segment;
    rbac::Role, Segment;
    rbac::RoleBinding, Segment;
    ApiService, Segment;
    Link, Subdomain;
    Named, Subdomain;
    ProbeAnswer, Subdomain;
}

impl Object for CustomResourceDefinition {
    fn key(&self) -> (&str, &str) {
        ("", &self.metadata.name)
    }

    fn refused(&self) -> Option<String> {
        names::refused(names::Rule::Subdomain, "", &self.metadata.name)
    }
}

impl Object for AccessReview {
    /// An answer has no name.
    fn key(&self) -> (&str, &str) {
        let asked = &self.spec.resource_attributes;
        (&asked.namespace, &asked.resource)
    }
}

/// A store for one answer, its element type erased: what [`crate::collect`] fills and the model files by item.
pub(crate) trait Store: Send + Sync {
    /// Decodes one object, its texts sanitized by the rule; the error names what could not be read.
    fn push(&mut self, json: &[u8], rule: &'static Rule) -> Result<(), serde_json::Error>;
    /// Decodes the object that begins `text`; its length, unless it is broken or not whole.
    fn push_first(&mut self, text: &str, rule: &'static Rule) -> Option<usize>;
    /// Decodes one object from protobuf.
    fn push_message(&mut self, message: Message<'_>, rule: &'static Rule) -> Result<(), Broken>;
    /// Forgets everything (the source begins again).
    fn clear(&mut self);
    /// Sorts by namespace and name, so that order never depends on the source.
    fn finish(&mut self);
    /// How many objects.
    fn len(&self) -> usize;
    /// The typed list behind it.
    fn as_any(&self) -> &dyn std::any::Any;
}

impl<T: Object> Store for Vec<T> {
    fn push(&mut self, json: &[u8], rule: &'static Rule) -> Result<(), serde_json::Error> {
        let mut deserializer = serde_json::Deserializer::from_slice(json);
        let object = T::deserialize(Clean::new(&mut deserializer, rule))?;
        deserializer.end()?;
        keep(self, object).map_err(serde_json::Error::custom)
    }

    fn push_first(&mut self, text: &str, rule: &'static Rule) -> Option<usize> {
        // One that is refused comes again, whole, and is counted then.
        let (object, length) = first(text, rule)?;
        keep(self, object).ok().map(|()| length)
    }

    fn push_message(&mut self, message: Message<'_>, rule: &'static Rule) -> Result<(), Broken> {
        keep(self, T::deserialize(Clean::new(message, rule))?).map_err(Broken::custom)
    }

    fn clear(&mut self) {
        Vec::clear(self);
    }

    fn finish(&mut self) {
        self.sort_by(|a, b| a.key().cmp(&b.key()));
        self.shrink_to_fit();
    }

    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

/// Files an object, unless its names are none.
fn keep<T: Object>(objects: &mut Vec<T>, mut object: T) -> Result<(), String> {
    if let Some(why) = object.refused() {
        return Err(why);
    }
    object.trim();
    if let Some(before) = objects.last() {
        object.share(before);
    }
    objects.push(object);
    Ok(())
}

fn first<T: DeserializeOwned>(text: &str, rule: &'static Rule) -> Option<(T, usize)> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = T::deserialize(Clean::new(&mut deserializer, rule)).ok()?;
    Some((value, deserializer.into_iter::<IgnoredAny>().byte_offset()))
}

/// Kinds that nothing reads yet are counted and dropped.
#[derive(Default)]
struct Unread(usize);

impl Store for Unread {
    fn push(&mut self, _: &[u8], _: &'static Rule) -> Result<(), serde_json::Error> {
        self.0 += 1;
        Ok(())
    }

    fn push_first(&mut self, text: &str, rule: &'static Rule) -> Option<usize> {
        let (_, length) = first::<IgnoredAny>(text, rule)?;
        self.0 += 1;
        Some(length)
    }

    fn push_message(&mut self, _: Message<'_>, _: &'static Rule) -> Result<(), Broken> {
        self.0 += 1;
        Ok(())
    }

    fn clear(&mut self) {
        self.0 = 0;
    }

    fn finish(&mut self) {}

    fn len(&self) -> usize {
        self.0
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}
