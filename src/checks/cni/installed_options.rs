//! The options that linkerd-cni was installed with, as far as its ConfigMap and its DaemonSet show them.
//! `linkerd install-cni` keeps none of them, so a rerun without them sets each to its default.

use super::chart_value::ChartValue;
use super::config_map;
use super::installers::REPAIR;
use super::settings;
use super::target::CniDaemonSet;
use super::template;
use super::usable::better_mode;
use crate::checks::Context;
use crate::knowledge::IptablesMode;
use crate::model::cni::INSTALLER;
use crate::model::node::LinkerdEntry;
use crate::version::ImageRef;

/// The value of the chart for the mode.
pub(super) const MODE: &str = "iptablesMode";
/// The chart's default image.
const IMAGE: &str = "cr.l5d.io/linkerd/cni-plugin";
/// The proxy's admin and control ports, which the chart writes in front of the inbound ports to ignore.
const OWN_PORTS: [(&str, &str); 2] = [("proxyAdminPort", "4191"), ("proxyControlPort", "4190")];

/// Every value that is not the chart's default; the mode and the image always, since their defaults changed
/// over time. What other findings of the same plan change has its new value: settings of the proxy that
/// differ from the control plane's, and a mode that does not work on some node. Reads `daemonsets.apps` and
/// `configmaps/cni/linkerd-cni-config`.
pub(super) fn carried(ctx: &Context<'_>, target: &CniDaemonSet<'_>) -> Vec<ChartValue> {
    let mut values = of_set(target);
    let Some(config) = config_map::config(ctx) else { return values };
    for (key, value, default) in [
        ("destCNINetDir", config.data.get("dest_cni_net_dir"), "/etc/cni/net.d"),
        ("destCNIBinDir", config.data.get("dest_cni_bin_dir"), "/opt/cni/bin"),
    ] {
        values.extend(value.filter(|value| *value != default).map(|value| ChartValue::new(key, value)));
    }
    let drifted = settings::corrections(ctx);
    let entry = template::entry(config);
    let own = entry.iter().flat_map(of_entry);
    values.extend(own.filter(|own| drifted.iter().all(|other| other.key != own.key)));
    values.extend(drifted);
    if let Some(mode) = values.iter_mut().find(|value| value.key == MODE)
        && let Some(better) = working_mode(ctx, target, &mode.value)
    {
        mode.value = better.to_string();
    }
    values
}

/// The mode of the ConfigMap, and the one that [`carried`] passes instead. Reads the same evidence.
pub(super) fn replaced_mode(ctx: &Context<'_>, target: &CniDaemonSet<'_>) -> Option<(String, IptablesMode)> {
    let entry = template::entry(config_map::config(ctx)?)?;
    let mode = entry.iptables_mode.value()?;
    Some((mode.clone(), working_mode(ctx, target, mode)?))
}

/// A mode of the installed version that works on all nodes, if the current one does not.
fn working_mode(ctx: &Context<'_>, target: &CniDaemonSet<'_>, current: &str) -> Option<IptablesMode> {
    let known = ctx.knowledge.cni_plugin();
    let accepted = &known.for_version(target.version.as_ref()?)?.modes;
    better_mode(ctx, current.parse().ok()?, accepted)
}

fn of_set(target: &CniDaemonSet<'_>) -> Vec<ChartValue> {
    let mut values = Vec::new();
    if let Some(image) = target.image().and_then(|image| image.parse::<ImageRef>().ok()) {
        let path = image.path();
        values.extend((path != IMAGE).then(|| ChartValue::new("image.name", path)));
        values.extend(image.tag.map(|tag| ChartValue::text("image.version", tag)));
    }
    let Some(set) = target.set else { return values };
    let spec = &set.spec.template.spec;
    values.extend(
        (!spec.priority_class_name.is_empty()).then(|| ChartValue::new("priorityClassName", &spec.priority_class_name)),
    );
    let installer = spec.container(INSTALLER).and_then(|container| container.security_context.as_deref());
    values.extend(
        installer
            .is_some_and(|context| context.privileged == Some(true))
            .then(|| ChartValue::new("privileged", "true")),
    );
    values.extend(spec.container(REPAIR).map(|_| ChartValue::new("repairController.enabled", "true")));
    values
}

fn of_entry(entry: &LinkerdEntry) -> Vec<ChartValue> {
    let number = |key, value: Option<&i64>, default: i64| {
        value.filter(|value| **value != default).map(|value| ChartValue::new(key, value.to_string()))
    };
    let mut values: Vec<ChartValue> = [
        number("inboundProxyPort", entry.incoming_proxy_port.value(), 4143),
        number("outboundProxyPort", entry.outgoing_proxy_port.value(), 4140),
        number("proxyUID", entry.proxy_uid.value(), 2102),
        number("proxyGID", entry.proxy_gid.value(), -1),
        (entry.use_wait_flag.value() == Some(&true)).then(|| ChartValue::new("useWaitFlag", "true")),
        (entry.ipv6.value() == Some(&true)).then(|| ChartValue::new("disableIPv6", "false")),
        entry.iptables_mode.value().map(|mode| ChartValue::new(MODE, mode)),
        entry.log_level.value().filter(|level| *level != "info").map(|level| ChartValue::new("logLevel", level)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let list = |key, ports: Vec<String>| (!ports.is_empty()).then(|| ChartValue::text(key, ports.join(",")));
    let texts = |ports: Option<&Vec<i64>>| ports.into_iter().flatten().map(ToString::to_string).collect();
    values.extend(list("portsToRedirect", texts(entry.ports_to_redirect.value())));
    let mut inbound = entry.inbound_ports_to_ignore.value().cloned().unwrap_or_default();
    if inbound.len() >= OWN_PORTS.len() {
        let others = inbound.split_off(OWN_PORTS.len());
        let changed = OWN_PORTS.iter().zip(inbound).filter(|((_, usual), port)| port != usual);
        values.extend(changed.map(|((key, _), port)| ChartValue::new(key, port)));
        values.extend(list("ignoreInboundPorts", others));
    }
    let outbound = entry.outbound_ports_to_ignore.value().cloned().unwrap_or_default();
    values.extend(list("ignoreOutboundPorts", outbound));
    values
}
