//! Which slim type a list of each kind holds. The one table of it: whoever asks for a list names the kind as a type
//! ([`Listed`]), so that no call can read objects of one kind as another type and find nothing.

use std::marker::PhantomData;

use super::rbac::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use super::{
    ApiService, ConfigMap, ControllerRevision, CronJob, CustomResourceDefinition, EndpointSlice, Event, Job,
    Link, Named, Namespace, Node, Object, Pod, Secret, Service, ServiceAccount, Store, Unread,
    WebhookConfiguration, Workload,
};
use crate::item::Kind;

/// A kind of which lists are read, as a type: the slim type itself, or a name for one of several kinds that share it.
pub trait Listed {
    /// What a list holds.
    type Object: Object;
    /// The kind.
    const LIST: KindOf<Self::Object>;
}

/// A kind whose lists hold a slim type: for who asks for one of several kinds that share it.
#[derive(Debug)]
pub struct KindOf<T>(Kind, PhantomData<fn() -> T>);

impl<T> KindOf<T> {
    /// The kind.
    pub const fn kind(self) -> Kind {
        self.0
    }
}

impl<T> Clone for KindOf<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for KindOf<T> {}

macro_rules! listed {
    (own { $( $type:ident is $kind:ident, )* } shared { $( $name:ident holds $shared:ident, )* } unread { $( $unread:ident, )* }) => {
        $(
            impl Listed for $type {
                type Object = $type;
                const LIST: KindOf<$type> = KindOf(Kind::$kind, PhantomData);
            }
        )*
        $(
            #[doc = concat!("Lists of `", stringify!($name), "`.")]
            #[derive(Debug, Clone, Copy)]
            pub enum $name {}

            impl Listed for $name {
                type Object = $shared;
                const LIST: KindOf<$shared> = KindOf(Kind::$name, PhantomData);
            }
        )*

        /// An empty store of the right type for a kind.
        pub(crate) fn store_for(kind: Kind) -> Box<dyn Store> {
            match kind {
                $( Kind::$kind => Box::new(Vec::<$type>::new()), )*
                $( Kind::$name => Box::new(Vec::<$shared>::new()), )*
                $( Kind::$unread => Box::<Unread>::default(), )*
            }
        }
    };
}

listed! {
    own {
        Namespace is Namespace,
        Node is Node,
        Pod is Pod,
        Service is Service,
        ServiceAccount is ServiceAccount,
        EndpointSlice is EndpointSlice,
        ConfigMap is ConfigMap,
        Secret is Secret,
        ControllerRevision is ControllerRevision,
        Job is Job,
        CronJob is CronJob,
        Event is Event,
        CustomResourceDefinition is CustomResourceDefinition,
        ClusterRole is ClusterRole,
        ClusterRoleBinding is ClusterRoleBinding,
        Role is Role,
        RoleBinding is RoleBinding,
        ApiService is APIService,
        Link is Link,
    }
    shared {
        Deployment holds Workload,
        ReplicaSet holds Workload,
        DaemonSet holds Workload,
        StatefulSet holds Workload,
        MutatingWebhookConfiguration holds WebhookConfiguration,
        ValidatingWebhookConfiguration holds WebhookConfiguration,
        AuthorizationPolicy holds Named,
    }
    unread {
        Endpoints,
        PodDisruptionBudget,
        ResourceQuota,
        LimitRange,
    }
}
