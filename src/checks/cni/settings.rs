//! The settings of the proxy that linkerd-cni and the control plane both have.

use super::chart_value::ChartValue;
use super::{config_map, template};
use crate::chart::values::Values;
use crate::checks::Context;
use crate::model::node::{LinkerdEntry, Position};

/// A setting that both charts have.
pub(super) struct Setting {
    /// Path in the entry.
    pub(super) field: &'static str,
    /// Path in the control plane's values.
    pub(super) value: &'static str,
    /// The value of linkerd-cni's chart.
    pub(super) cni_value: &'static str,
    /// The annotation with which a pod may override it.
    pub(super) annotation: Option<&'static str>,
    pub(super) grave: bool,
    pub(super) message: &'static str,
    pub(super) seen: fn(&LinkerdEntry) -> (Option<i64>, Option<Position>),
    pub(super) expected: fn(&Values) -> Option<i64>,
}

/// A boolean as a number, so that all settings compare alike.
fn flag(value: bool) -> i64 {
    i64::from(value)
}

pub(super) const SETTINGS: [Setting; 4] = [
    Setting {
        field: "linkerd.outgoing-proxy-port",
        value: "proxy.ports.outbound",
        cni_value: "outboundProxyPort",
        annotation: Some("config.linkerd.io/outbound-port"),
        grave: true,
        message: "linkerd-cni redirects the outbound traffic of new meshed pods to a port on which their \
                  proxy does not listen: they fail in the network validator, or all their connections fail",
        seen: |entry| (entry.outgoing_proxy_port.value().copied(), entry.outgoing_proxy_port.place()),
        expected: |values| values.number("proxy.ports.outbound"),
    },
    Setting {
        field: "linkerd.incoming-proxy-port",
        value: "proxy.ports.inbound",
        cni_value: "inboundProxyPort",
        annotation: Some("config.linkerd.io/inbound-port"),
        grave: true,
        message: "linkerd-cni redirects the inbound traffic of new meshed pods to a port on which their \
                  proxy does not listen: clients cannot connect to them",
        seen: |entry| (entry.incoming_proxy_port.value().copied(), entry.incoming_proxy_port.place()),
        expected: |values| values.number("proxy.ports.inbound"),
    },
    Setting {
        field: "linkerd.proxy-uid",
        value: "proxy.uid",
        cni_value: "proxyUID",
        annotation: Some("config.linkerd.io/proxy-uid"),
        grave: true,
        message: "linkerd-cni exempts another user than that of the proxies: a proxy's own traffic is \
                  redirected back to it, so all connections of new meshed pods fail",
        seen: |entry| (entry.proxy_uid.value().copied(), entry.proxy_uid.place()),
        expected: |values| values.number("proxy.uid"),
    },
    Setting {
        field: "linkerd.ipv6",
        value: "disableIPv6",
        cni_value: "disableIPv6",
        annotation: None,
        grave: false,
        message: "linkerd-cni and the control plane have different IPv6 settings",
        seen: |entry| (Some(flag(entry.ipv6.value().copied().unwrap_or(false))), entry.ipv6.place()),
        // Values without the field are from releases without IPv6.
        expected: |values| Some(flag(!values.bool("disableIPv6").unwrap_or(true))),
    },
];

/// The values with which linkerd-cni would have the proxy's settings of the control plane: those that its template has
/// otherwise. Empty if either is unknown.
pub(super) fn corrections(ctx: &Context<'_>) -> Vec<ChartValue> {
    let values = ctx.values_for_steps().filter(|values| values.bool("cniEnabled") != Some(false));
    let template = config_map::config(ctx).and_then(template::entry);
    let (Some(values), Some(template)) = (values, template) else { return Vec::new() };
    let differing = SETTINGS.iter().filter_map(|setting| {
        let expected = (setting.expected)(&values)?;
        (setting.seen)(&template).0.filter(|seen| *seen != expected)?;
        Some(ChartValue::new(setting.cni_value, setting.written(expected)))
    });
    differing.collect()
}

impl Setting {
    /// A value as both charts write it.
    pub(super) fn written(&self, number: i64) -> String {
        match self.annotation {
            Some(_) => number.to_string(),
            None => (number == 0).to_string(),
        }
    }
}
