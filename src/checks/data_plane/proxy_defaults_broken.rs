//! `proxy-defaults-broken`: chart values with which new proxies do not start, or are killed.

use crate::checks::control_plane::installation::values;
use crate::checks::prelude::*;
use crate::checks::upgrade::{self, Options};
use crate::model::injection::{LISTENERS, LowMemory, low_memory};

const UID: &str = "proxy.uid";
const MEMORY: &str = "proxy.resources.memory.limit";

/// The defaults of the chart; of the memory limit, that of values-ha.yaml.
const DEFAULT_UID: &str = "2102";
const DEFAULT_MEMORY: &str = "250Mi";

/// A value that does not work.
struct BrokenDefault {
    path: String,
    value: String,
    /// What happens, after the path and the value.
    effect: String,
    severity: Severity,
    default: String,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let values = values(ctx)?;
    let mut broken = Vec::new();
    if values.scalar(UID).as_deref() == Some("0") {
        broken.push(BrokenDefault {
            path: UID.to_owned(),
            value: "0".to_owned(),
            effect: "keeps new pods from starting: a proxy must not run as root".to_owned(),
            severity: Severity::Error,
            default: DEFAULT_UID.to_owned(),
        });
    }
    let memory = values.scalar(MEMORY).unwrap_or_default();
    if let Some(low) = low_memory(&memory) {
        let (effect, severity) = match low {
            LowMemory::NeverStarts => ("keeps new pods from starting", Severity::Error),
            LowMemory::Killed => ("gets new proxies killed as soon as they need more", Severity::Warning),
        };
        broken.push(BrokenDefault {
            path: MEMORY.to_owned(),
            value: memory,
            effect: format!("{effect}: a proxy needs at least 20Mi"),
            severity,
            default: DEFAULT_MEMORY.to_owned(),
        });
    }
    let port = |(_, name, default): (&str, &'static str, u16)| {
        let set = values.scalar(&format!("proxy.ports.{name}")).and_then(|text| text.parse::<u16>().ok());
        (name, set.unwrap_or(default), default)
    };
    let ports = LISTENERS.map(port);
    for (at, &(name, number, default)) in ports.iter().enumerate() {
        // Of two equal ports, at least one is not the default.
        let same = ports.iter().enumerate().find(|(other, (_, twin, _))| *other != at && *twin == number);
        let Some((_, (twin, ..))) = same.filter(|_| number != default) else { continue };
        broken.push(BrokenDefault {
            path: format!("proxy.ports.{name}"),
            value: number.to_string(),
            effect: format!("keeps new proxies from starting: their {twin} port is the same"),
            severity: Severity::Error,
            default: default.to_string(),
        });
    }
    Ok(broken.iter().map(|broken| finding(ctx, broken)).collect())
}

fn finding(ctx: &Context<'_>, broken: &BrokenDefault) -> Finding {
    let BrokenDefault { path, value, effect, severity, default } = broken;
    let home = ctx.namespaces().control_plane.as_str();
    let act = format!("Set {path} to {default}");
    let options = Options::none().set(path, default.clone());
    let remedy = upgrade::with_values(ctx, Remedy::new(), &act, options);
    let remedy = upgrade::injector_awaited(ctx, remedy)
        .note("Restart the workloads whose pods have been created with the value");
    ctx.finding(
        Subject::object(Kind::ConfigMap, home, "linkerd-config"),
        format!("The chart value {path} {value} {effect}"),
    )
    .severity(*severity)
    .parameter(path.clone())
    .evidence(Evidence::field(format!("ConfigMap {home}/linkerd-config"), format!("data.values: {path}"), value))
    .remedy(remedy)
}
