//! `link-invalid`: a Link lacks what its controller needs, or has values that cannot be parsed.

use super::links::{field, link_again, links, subject};
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Remedy};
use crate::objects::Link;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let links = links(ctx)?;
    let findings = links.iter().filter_map(|link| {
        let faults = faults(link);
        (!faults.is_empty()).then(|| {
            ctx.finding(
                subject(link),
                "the link is incomplete, or has values that cannot be parsed: nothing is mirrored through it, or its gateway is never \
                 probed",
            )
            .evidences(faults)
            .remedy(link_again(ctx, Remedy::new(), link))
        })
    });
    Ok(findings.collect::<Vec<_>>().into())
}

/// What is wrong with a link, field by field.
fn faults(link: &Link) -> Vec<Evidence> {
    let spec = &link.spec;
    let mut faults = Vec::new();
    let mut must = |path: &str, value: &str, fits: bool| {
        if !fits {
            faults.push(field(link, path, if value.is_empty() { "missing" } else { value }));
        }
    };
    for (path, value) in [
        ("spec.targetClusterName", &spec.target_cluster_name),
        ("spec.targetClusterDomain", &spec.target_cluster_domain),
        ("spec.targetClusterLinkerdNamespace", &spec.target_cluster_linkerd_namespace),
        ("spec.clusterCredentialsSecret", &spec.cluster_credentials_secret),
    ] {
        must(path, value, !value.is_empty());
    }
    if link.has_gateway() {
        let probe = &spec.probe_spec;
        must("spec.gatewayPort", &spec.gateway_port, is_port(&spec.gateway_port));
        must("spec.gatewayIdentity", &spec.gateway_identity, !spec.gateway_identity.is_empty());
        must("spec.probeSpec.port", &probe.port, is_port(&probe.port));
        must("spec.probeSpec.period", &probe.period, is_duration(&probe.period));
    }
    faults
}

fn is_port(text: &str) -> bool {
    text.parse::<u16>().is_ok_and(|port| port > 0)
}

/// Whether a text is a duration as Go writes it: numbers, each with a unit.
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
