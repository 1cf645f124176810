//! The fields that slim types read of objects that come as protobuf: their numbers, and how their JSON looks. The numbers
//! stand in `k8s.io/api` and `k8s.io/apimachinery` (`generated.proto` of meta/v1, core/v1, apps/v1 and batch/v1), where a
//! number is never given twice.

use crate::item::Kind;

/// The fields of a message.
#[derive(Debug, PartialEq, Eq)]
pub struct Schema {
    /// As in the Kubernetes API: `PodSpec`.
    pub name: &'static str,
    /// Those that are read.
    pub fields: &'static [Field],
}

/// One field.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// Its number.
    pub number: u64,
    /// Its name in JSON.
    pub name: &'static str,
    /// What it holds.
    pub holds: Holds,
}

/// What a field holds.
#[derive(Debug, PartialEq, Eq)]
pub enum Holds {
    /// A text. API servers write it also where it is empty; JSON leaves that out, and so is it left out here.
    Text,
    /// A number. Where none is a value of its own, it is not written.
    Number,
    /// True or false. Where none is a value of its own, it is not written.
    Bool,
    /// A time; an empty one is JSON's `null`.
    Time,
    /// A message.
    One(&'static Schema),
    /// Messages.
    Many(&'static Schema),
    /// Texts.
    Texts,
    /// Texts by name.
    Map,
}

impl Schema {
    /// The field of that number, if it is read.
    pub(super) fn field(&self, number: u64) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.number == number)
    }
}

/// How the objects of a kind are read from protobuf; `None` for kinds that are only read as JSON.
pub fn of(kind: Kind) -> Option<&'static Schema> {
    match kind {
        Kind::Pod => Some(&POD),
        Kind::Deployment => Some(&DEPLOYMENT),
        Kind::ReplicaSet => Some(&REPLICA_SET),
        Kind::DaemonSet => Some(&DAEMON_SET),
        Kind::StatefulSet => Some(&STATEFUL_SET),
        Kind::Job => Some(&JOB),
        _ => None,
    }
}

macro_rules! schemas {
    ($( $static:ident $name:literal { $( $number:literal $field:ident: $holds:expr, )* } )*) => { $(
        static $static: Schema = Schema {
            name: $name,
            fields: &[ $( Field { number: $number, name: stringify!($field), holds: $holds }, )* ],
        };
    )* };
}

use Holds::{Bool, Many, Map, Number, One, Text, Texts, Time};

schemas! {
    META "ObjectMeta" {
        1 name: Text,
        3 namespace: Text,
        5 uid: Text,
        8 creationTimestamp: Time,
        9 deletionTimestamp: Time,
        11 labels: Map,
        12 annotations: Map,
        13 ownerReferences: Many(&OWNER_REFERENCE),
    }
    OWNER_REFERENCE "OwnerReference" {
        1 kind: Text,
        3 name: Text,
        4 uid: Text,
        5 apiVersion: Text,
        6 controller: Bool,
    }

    POD "Pod" {
        1 metadata: One(&META),
        2 spec: One(&POD_SPEC),
        3 status: One(&POD_STATUS),
    }
    POD_SPEC "PodSpec" {
        1 volumes: Many(&VOLUME),
        2 containers: Many(&CONTAINER),
        3 restartPolicy: Text,
        7 nodeSelector: Map,
        8 serviceAccountName: Text,
        10 nodeName: Text,
        11 hostNetwork: Bool,
        20 initContainers: Many(&CONTAINER),
        21 automountServiceAccountToken: Bool,
        24 priorityClassName: Text,
    }
    VOLUME "Volume" {
        1 name: Text,
    }
    CONTAINER "Container" {
        1 name: Text,
        2 image: Text,
        3 command: Texts,
        4 args: Texts,
        6 ports: Many(&CONTAINER_PORT),
        7 env: Many(&ENV_VAR),
        24 restartPolicy: Text,
    }
    CONTAINER_PORT "ContainerPort" {
        1 name: Text,
        3 containerPort: Number,
    }
    ENV_VAR "EnvVar" {
        1 name: Text,
        2 value: Text,
    }
    POD_STATUS "PodStatus" {
        1 phase: Text,
        2 conditions: Many(&POD_CONDITION),
        4 reason: Text,
        6 podIP: Text,
        7 startTime: Time,
        8 containerStatuses: Many(&CONTAINER_STATUS),
        10 initContainerStatuses: Many(&CONTAINER_STATUS),
    }
    POD_CONDITION "PodCondition" {
        1 type: Text,
        2 status: Text,
        4 lastTransitionTime: Time,
        5 reason: Text,
        6 message: Text,
    }
    CONTAINER_STATUS "ContainerStatus" {
        1 name: Text,
        2 state: One(&CONTAINER_STATE),
        3 lastState: One(&CONTAINER_STATE),
        4 ready: Bool,
        5 restartCount: Number,
        6 image: Text,
    }
    CONTAINER_STATE "ContainerState" {
        1 waiting: One(&WAITING),
        2 running: One(&RUNNING),
        3 terminated: One(&TERMINATED),
    }
    WAITING "ContainerStateWaiting" {
        1 reason: Text,
        2 message: Text,
    }
    RUNNING "ContainerStateRunning" {
        1 startedAt: Time,
    }
    TERMINATED "ContainerStateTerminated" {
        1 exitCode: Number,
        3 reason: Text,
        4 message: Text,
        5 startedAt: Time,
        6 finishedAt: Time,
    }
    POD_TEMPLATE "PodTemplateSpec" {
        1 metadata: One(&META),
        2 spec: One(&POD_SPEC),
    }

    DEPLOYMENT "Deployment" {
        1 metadata: One(&META),
        2 spec: One(&DEPLOYMENT_SPEC),
        3 status: One(&DEPLOYMENT_STATUS),
    }
    DEPLOYMENT_SPEC "DeploymentSpec" {
        1 replicas: Number,
        3 template: One(&POD_TEMPLATE),
    }
    DEPLOYMENT_STATUS "DeploymentStatus" {
        2 replicas: Number,
        4 availableReplicas: Number,
        6 conditions: Many(&DEPLOYMENT_CONDITION),
        7 readyReplicas: Number,
    }
    DEPLOYMENT_CONDITION "DeploymentCondition" {
        1 type: Text,
        2 status: Text,
        4 reason: Text,
        5 message: Text,
        7 lastTransitionTime: Time,
    }

    REPLICA_SET "ReplicaSet" {
        1 metadata: One(&META),
        2 spec: One(&REPLICA_SET_SPEC),
        3 status: One(&REPLICA_SET_STATUS),
    }
    REPLICA_SET_SPEC "ReplicaSetSpec" {
        1 replicas: Number,
        3 template: One(&POD_TEMPLATE),
    }
    REPLICA_SET_STATUS "ReplicaSetStatus" {
        1 replicas: Number,
        4 readyReplicas: Number,
        5 availableReplicas: Number,
        6 conditions: Many(&SET_CONDITION),
    }
    SET_CONDITION "ReplicaSetCondition" {
        1 type: Text,
        2 status: Text,
        3 lastTransitionTime: Time,
        4 reason: Text,
        5 message: Text,
    }

    DAEMON_SET "DaemonSet" {
        1 metadata: One(&META),
        2 spec: One(&DAEMON_SET_SPEC),
        3 status: One(&DAEMON_SET_STATUS),
    }
    DAEMON_SET_SPEC "DaemonSetSpec" {
        2 template: One(&POD_TEMPLATE),
    }
    DAEMON_SET_STATUS "DaemonSetStatus" {
        3 desiredNumberScheduled: Number,
        4 numberReady: Number,
        // A DaemonSet's and a StatefulSet's conditions are numbered as a ReplicaSet's.
        10 conditions: Many(&SET_CONDITION),
    }

    STATEFUL_SET "StatefulSet" {
        1 metadata: One(&META),
        2 spec: One(&STATEFUL_SET_SPEC),
        3 status: One(&STATEFUL_SET_STATUS),
    }
    STATEFUL_SET_SPEC "StatefulSetSpec" {
        1 replicas: Number,
        3 template: One(&POD_TEMPLATE),
    }
    STATEFUL_SET_STATUS "StatefulSetStatus" {
        2 replicas: Number,
        3 readyReplicas: Number,
        10 conditions: Many(&SET_CONDITION),
        11 availableReplicas: Number,
    }

    JOB "Job" {
        1 metadata: One(&META),
        2 spec: One(&JOB_SPEC),
        3 status: One(&JOB_STATUS),
    }
    JOB_SPEC "JobSpec" {
        3 activeDeadlineSeconds: Number,
        6 template: One(&POD_TEMPLATE),
    }
    JOB_STATUS "JobStatus" {
        // As a pod's.
        1 conditions: Many(&POD_CONDITION),
        2 startTime: Time,
        3 completionTime: Time,
        4 active: Number,
        5 succeeded: Number,
    }
}
