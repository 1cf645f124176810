//! `link-invalid`: a Link lacks fields that its controller needs, or has values that cannot be parsed.

use super::links::{chart_makes_controllers, field, link_again, links, subject};
use crate::checks::{Context, Judgement};
use crate::command::kubectl;
use crate::finding::{Evidence, Remedy, StepKind};
use crate::model::managed_by::ManagedBy;
use crate::objects::Link;
use crate::version::Contains;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let links = links(ctx)?;
    let findings = links.iter().filter_map(|link| {
        let faults = faults(link);
        (!faults.is_empty()).then(|| {
            ctx.finding(subject(link), message(ctx, &faults))
                .evidences(faults.iter().map(|fault| fault.evidence(link)))
                .remedy(remedy(ctx, link, &faults))
        })
    });
    Ok(findings.collect::<Vec<_>>().into())
}

/// The path of the probe's period.
const PERIOD: &str = "spec.probeSpec.period";

/// Longest value that a message quotes.
const QUOTED: usize = 30;

/// A field of a Link that its controller cannot use.
struct Fault<'a> {
    path: &'static str,
    value: &'a str,
}

impl Fault<'_> {
    /// `spec.probeSpec.period "3" has no unit`. The evidence has long values.
    fn in_words(&self) -> String {
        let Fault { path, value } = self;
        match *value {
            "" => format!("{path} is missing"),
            value if *path == PERIOD && value.parse::<u32>().is_ok() => {
                format!("{path} {value:?} has no unit, such as {value}s")
            }
            value if value.chars().count() <= QUOTED => format!("{path} {value:?} cannot be parsed"),
            _ => format!("{path} cannot be parsed"),
        }
    }

    fn evidence(&self, link: &Link) -> Evidence {
        let value = match (self.value, self.path) {
            ("", _) => "missing".to_owned(),
            (value, PERIOD) => format!("{value} (not a duration with a unit, such as 3s)"),
            (value, _) => value.to_owned(),
        };
        field(link, self.path, value)
    }
}

/// Since 2.18, settings of the probe do not stop the controller.
fn message(ctx: &Context<'_>, faults: &[Fault<'_>]) -> String {
    let of_probe = faults.iter().all(|fault| fault.path.starts_with("spec.probeSpec."));
    let effect = match of_probe && chart_makes_controllers(ctx) == Contains::Yes {
        true => "the service mirror controller never reaches the gateway with a probe",
        false => "the service mirror controller mirrors no Service through this Link",
    };
    let fault = match faults {
        [one] => one.in_words(),
        [one, other] => format!("{} and {}", one.in_words(), other.in_words()),
        faults => format!("{} fields of the Link are missing or cannot be parsed", faults.len()),
    };
    format!("{fault}: {effect}")
}

/// Corrects the period of the probe alone; for other faults, the Link is created again.
fn remedy(ctx: &Context<'_>, link: &Link, faults: &[Fault<'_>]) -> Remedy {
    let [Fault { path: PERIOD, value }] = faults else { return link_again(ctx, Remedy::new(), link) };
    let period = match value.parse::<u32>() {
        Ok(seconds) => format!("{seconds}s"),
        Err(_) => "3s".to_owned(),
    };
    let act = format!("Set {PERIOD} to a duration with a unit, such as {period}");
    if let Some(git) = ManagedBy::of(&link.metadata).in_git() {
        return Remedy::new().step(StepKind::Note, format!("{act}; {git}"));
    }
    let patch = serde_json::json!({"spec": {"probeSpec": {"period": period}}});
    let patch = kubectl()
        .namespace(&link.metadata.namespace)
        .words("patch links.multicluster.linkerd.io")
        .operand(&link.metadata.name)
        .words("--type=merge -p")
        .arg(patch.to_string());
    Remedy::new().run(StepKind::Command, act, patch).step(
        StepKind::Note,
        "Alternatively, create the link again with the linkerd CLI of the installed release",
    )
}

/// The faults of a Link, field by field.
fn faults(link: &Link) -> Vec<Fault<'_>> {
    let spec = &link.spec;
    let mut fields: Vec<(&'static str, &str, bool)> = Vec::new();
    for (path, value) in [
        ("spec.targetClusterName", &spec.target_cluster_name),
        ("spec.targetClusterDomain", &spec.target_cluster_domain),
        ("spec.targetClusterLinkerdNamespace", &spec.target_cluster_linkerd_namespace),
        ("spec.clusterCredentialsSecret", &spec.cluster_credentials_secret),
    ] {
        fields.push((path, value, !value.is_empty()));
    }
    if link.has_gateway() {
        let probe = &spec.probe_spec;
        fields.push(("spec.gatewayPort", &spec.gateway_port, is_port(&spec.gateway_port)));
        fields.push(("spec.gatewayIdentity", &spec.gateway_identity, !spec.gateway_identity.is_empty()));
        fields.push(("spec.probeSpec.port", &probe.port, is_port(&probe.port)));
        fields.push((PERIOD, &probe.period, is_duration(&probe.period)));
    }
    let unfit = fields.into_iter().filter(|(_, _, fits)| !fits);
    unfit.map(|(path, value, _)| Fault { path, value }).collect()
}

fn is_port(text: &str) -> bool {
    text.parse::<u16>().is_ok_and(|port| port > 0)
}

/// Whether a text is a duration in Go's format: numbers, each with a unit.
fn is_duration(text: &str) -> bool {
    let mut rest = text;
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let number = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let units = ["ns", "us", "µs", "ms", "s", "m", "h"];
        // The longest first: `ms` is no `m`.
        let unit = units.iter().filter(|unit| number.starts_with(**unit)).max_by_key(|unit| unit.len());
        match unit {
            Some(unit) if number.len() < rest.len() => rest = &number[unit.len()..],
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_gos() {
        for (text, fits) in [
            ("3s", true),
            ("1m30s", true),
            ("1.5h", true),
            ("250ms", true),
            ("3", false),
            ("s", false),
            ("", false),
            ("3 s", false),
        ] {
            assert_eq!(is_duration(text), fits, "{text:?}");
        }
        assert!(is_port("4191") && !is_port("0") && !is_port("70000") && !is_port("mc-probe"));
    }
}
