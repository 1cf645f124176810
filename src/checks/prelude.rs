//! The names that most rules use: `use crate::checks::prelude::*;`. Only what every reader of a rule must know anyway;
//! what a rule shares with few others is imported by name.

pub(super) use crate::checks::{Context, Judgement, Unjudged, Verdict};
pub(super) use crate::command::{Arg, Command, kubectl};
pub(super) use crate::fetched::Why;
pub(super) use crate::finding::{Evidence, Finding, Remedy, Severity, StepKind, Subject, Tie};
pub(super) use crate::item::{Extension, Item, Kind, Scope};
pub(super) use crate::missing::Missing;
pub(super) use crate::model::owners::Owner;
pub(super) use crate::objects::{ConfigMap, Deployment, Meta, Namespace, Node, Pod, Service, Workload};
pub(super) use crate::version::LinkerdVersion;
