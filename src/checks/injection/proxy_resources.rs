//! The requests and limits that new proxies will have: from annotations of pods and namespaces, the chart
//! values, and the defaults of LimitRanges.

use std::collections::BTreeSet;

use crate::chart::values::Values;
use crate::checks::prelude::*;
use crate::model::injection::effective;
use crate::objects::{Container, LimitRange};

/// The settings of a quota's resource for proxies.
#[derive(Debug)]
pub(super) struct StatedBy {
    /// The quota's name of the resource.
    resource: &'static str,
    pub annotation: &'static str,
    /// The chart value.
    value: &'static str,
    /// The variable in a remedy's command that the reader replaces.
    pub variable: &'static str,
}

const fn row(
    resource: &'static str,
    annotation: &'static str,
    value: &'static str,
    variable: &'static str,
) -> StatedBy {
    StatedBy { resource, annotation, value, variable }
}

const CPU_REQUEST: &str = "config.linkerd.io/proxy-cpu-request";
const MEMORY_REQUEST: &str = "config.linkerd.io/proxy-memory-request";

static ALL: [StatedBy; 6] = [
    row("cpu", CPU_REQUEST, "proxy.resources.cpu.request", "CPU_REQUEST"),
    row("limits.cpu", "config.linkerd.io/proxy-cpu-limit", "proxy.resources.cpu.limit", "CPU_LIMIT"),
    row("limits.memory", "config.linkerd.io/proxy-memory-limit", "proxy.resources.memory.limit", "MEMORY_LIMIT"),
    row("memory", MEMORY_REQUEST, "proxy.resources.memory.request", "MEMORY_REQUEST"),
    row("requests.cpu", CPU_REQUEST, "proxy.resources.cpu.request", "CPU_REQUEST"),
    row("requests.memory", MEMORY_REQUEST, "proxy.resources.memory.request", "MEMORY_REQUEST"),
];

/// The settings of a quota's resource for proxies; `None` for resources that containers do not set.
pub(super) fn stated_by(resource: &str) -> Option<&'static StatedBy> {
    ALL.iter().find(|row| row.resource == resource)
}

impl StatedBy {
    fn is_limit(&self) -> bool {
        self.resource.starts_with("limits.")
    }

    fn name(&self) -> &'static str {
        if self.resource.ends_with("cpu") { "cpu" } else { "memory" }
    }

    /// The row of the limit: a container without a request requests its limit.
    fn limit(&self) -> &'static StatedBy {
        let limit = if self.name() == "cpu" { "limits.cpu" } else { "limits.memory" };
        stated_by(limit).unwrap_or(&ALL[1])
    }

    /// Whether a container sets the resource.
    pub(super) fn is_in(&self, container: &Container) -> bool {
        let Some(resources) = &container.resources else { return false };
        let of = |amounts: &crate::objects::container::Amounts| match self.name() {
            "cpu" => !amounts.cpu.is_empty(),
            _ => !amounts.memory.is_empty(),
        };
        of(&resources.limits) || (!self.is_limit() && of(&resources.requests))
    }

    /// Whether LimitRanges provide it for containers that do not set it.
    pub(super) fn is_given<'a>(&self, mut limits: impl Iterator<Item = &'a LimitRange>) -> bool {
        let name = self.name();
        limits.any(|range| {
            let mut of = range.spec.limits.iter().filter(|limit| limit.kind == "Container");
            // The API server derives defaults from the bounds.
            of.any(|limit| {
                let limits = limit.default.contains_key(name) || limit.max.contains_key(name);
                let requests = limit.default_request.contains_key(name) || limit.min.contains_key(name);
                limits || (!self.is_limit() && requests)
            })
        })
    }
}

/// The mesh's settings for its proxies.
pub(super) struct MeshSettings<'a> {
    values: Option<Values>,
    home: &'a str,
}

impl<'a> MeshSettings<'a> {
    /// Reads `linkerd-config`.
    ///
    /// # Errors
    /// If it is unknown whether `linkerd-config` exists.
    pub(super) fn from_context(ctx: &Context<'a>) -> Result<MeshSettings<'a>, Missing> {
        let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config")?;
        let home = ctx.namespaces().control_plane.as_str();
        Ok(MeshSettings { values: config.and_then(ConfigMap::chart_values), home })
    }

    /// Whether a pod's proxy sets a resource. True if the values are unknown.
    pub(super) fn states(&self, by: &StatedBy, pod: &Meta, namespace: Option<&Namespace>) -> bool {
        let Some(values) = &self.values else { return true };
        let stated = |by: &StatedBy| {
            effective(by.annotation, pod, namespace, true).is_some_and(|(_, value)| !value.is_empty())
                || values.scalar(by.value).is_some_and(|value| !value.is_empty())
        };
        stated(by) || (!by.is_limit() && stated(by.limit()))
    }

    /// Evidence that the values set none of these.
    pub(super) fn nothing(&self, resources: &BTreeSet<&str>) -> Evidence {
        let paths: BTreeSet<&str> = resources.iter().filter_map(|key| stated_by(key)).map(|by| by.value).collect();
        let paths: Vec<&str> = paths.into_iter().collect();
        Evidence::field(
            format!("ConfigMap {}/linkerd-config", self.home),
            "data.values",
            format!("{}: not set, nor by annotations of namespace and pods", paths.join(", ")),
        )
    }
}
