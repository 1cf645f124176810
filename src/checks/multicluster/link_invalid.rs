//! `link-invalid`: a Link lacks fields that its controller needs, or has values that cannot be parsed.

use std::borrow::Cow;
use std::net::IpAddr;

use jiff::SignedDuration;

use super::links::{chart_makes_controllers, field, link_again, links, subject};
use crate::checks::policy::applied;
use crate::checks::prelude::*;
use crate::checks::reported::confirming;
use crate::finding::Applies;
use crate::knowledge::go_duration;
use crate::model::managed_by::ManagedBy;
use crate::objects::service::MIRRORS_CLUSTER;
use crate::objects::{LabelSelector, Link};
use crate::version::Contains;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let links = links(ctx)?;
    let findings = links.iter().filter_map(|link| {
        let faults = faults(link);
        let worst = faults.iter().map(|fault| fault.effect(ctx)).max()?;
        let severity = if worst == Effect::NoLimit { Severity::Warning } else { Severity::Error };
        let finding = ctx
            .finding(subject(link), message(&faults, worst))
            .severity(severity)
            .evidences(faults.iter().map(|fault| fault.evidence(link)))
            .evidences(logged(ctx, link, &faults))
            .remedy(remedy(ctx, link, &faults));
        Some(match ctx.applies(Kind::Link, &link.metadata) {
            // If the API server rejects the object, nothing else about it comes true.
            true => finding.tie(applied(Kind::Link, &link.metadata)),
            false => finding,
        })
    });
    Ok(findings.collect())
}

/// The line of the Link's controller about a setting of the probe.
fn logged(ctx: &Context<'_>, link: &Link, faults: &[LinkFault<'_>]) -> Option<Evidence> {
    let is_of_probe = |fault: &LinkFault<'_>| {
        fault.wrong == ValueFault::Unparsable && matches!(fault.path, PERIOD | TIMEOUT | THRESHOLD)
    };
    let pods = ctx.optional_list::<Pod>().iter().filter(|pod| {
        pod.metadata.namespace == link.metadata.namespace
            && pod.metadata.label(MIRRORS_CLUSTER) == Some(link.spec.target_cluster_name.as_str())
    });
    faults.iter().any(is_of_probe).then(|| confirming(ctx, "mirror-probe-unparsable", pods)).flatten()
}

/// The paths of the probe's settings.
const PERIOD: &str = "spec.probeSpec.period";
const TIMEOUT: &str = "spec.probeSpec.timeout";
const THRESHOLD: &str = "spec.probeSpec.failureThreshold";
const PATH: &str = "spec.probeSpec.path";
/// The path of the gateway's address.
const ADDRESS: &str = "spec.gatewayAddress";

/// Longest value that a message quotes.
const QUOTED: usize = 30;

/// The effect of a fault, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Effect {
    /// Probes wait without limit.
    NoLimit,
    /// No probe reaches the gateway.
    NoProbe,
    /// Mirror services have no endpoints.
    NoEndpoint,
    /// Nothing is mirrored by one selector.
    NoMatch,
    /// Nothing is mirrored.
    NoMirror,
    /// The controller ends with a panic, again after each restart.
    Crash,
}

/// The fault of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueFault {
    Missing,
    Unparsable,
    /// A duration that is too short.
    NotPositive,
    /// A path that does not begin with a slash.
    Relative,
    /// A selector that Kubernetes' library rejects; the value is the reason.
    Selector,
}

/// A field of a Link that its controller cannot use.
struct LinkFault<'a> {
    path: &'static str,
    value: Cow<'a, str>,
    wrong: ValueFault,
}

impl LinkFault<'_> {
    /// `spec.probeSpec.period "3" has no unit`. The evidence has long values.
    fn describe(&self) -> String {
        let LinkFault { path, value, wrong } = self;
        let is_duration = matches!(*path, PERIOD | TIMEOUT);
        match wrong {
            ValueFault::Missing => format!("{path} is missing"),
            ValueFault::NotPositive => format!("{path} {value:?} is not a positive duration"),
            ValueFault::Relative => format!("{path} {value:?} does not begin with a slash"),
            ValueFault::Selector => format!("{path} is not a valid selector"),
            ValueFault::Unparsable if is_duration && value.parse::<u32>().is_ok() => {
                format!("{path} {value:?} has no unit, such as {value}s")
            }
            ValueFault::Unparsable if value.chars().count() <= QUOTED => {
                format!("{path} {value:?} cannot be parsed")
            }
            ValueFault::Unparsable => format!("{path} cannot be parsed"),
        }
    }

    fn evidence(&self, link: &Link) -> Evidence {
        let value = match (self.wrong, self.path) {
            (ValueFault::Missing, _) => "missing".to_owned(),
            (ValueFault::Unparsable, PERIOD | TIMEOUT) => {
                format!("{} (not a duration with a unit, such as 3s)", self.value)
            }
            (ValueFault::Unparsable, THRESHOLD) => format!("{} (not a whole number from 0)", self.value),
            (ValueFault::Unparsable | ValueFault::NotPositive | ValueFault::Relative | ValueFault::Selector, _) => {
                self.value.clone().into_owned()
            }
        };
        field(link, self.path, value)
    }

    /// Since 2.18, settings of the probe do not stop the controller.
    fn effect(&self, ctx: &Context<'_>) -> Effect {
        match (self.wrong, self.path) {
            (ValueFault::NotPositive, PERIOD) => Effect::Crash,
            (ValueFault::NotPositive, _) => Effect::NoLimit,
            (ValueFault::Relative, _) => Effect::NoProbe,
            (ValueFault::Selector, _) => Effect::NoMatch,
            (_, ADDRESS) => Effect::NoEndpoint,
            (_, path) => {
                let of_probe = path.starts_with("spec.probeSpec.");
                match of_probe && chart_makes_controllers(ctx) == Contains::Yes {
                    true => Effect::NoProbe,
                    false => Effect::NoMirror,
                }
            }
        }
    }
}

fn message(faults: &[LinkFault<'_>], worst: Effect) -> String {
    let effect = match worst {
        Effect::NoLimit => {
            "probes of the gateway have no time limit, so a gateway that does not answer is not considered down"
        }
        Effect::NoProbe => "the service mirror controller never probes the gateway, and considers it down",
        Effect::NoEndpoint => "the mirror services have no endpoints, so calls to the other cluster fail",
        Effect::NoMatch => "the service mirror controller mirrors no Service that this selector is for",
        Effect::NoMirror => "the service mirror controller mirrors no Service through this Link",
        Effect::Crash => "the service mirror controller crashes when it starts to probe the gateway",
    };
    let fault = match faults {
        [one] => one.describe(),
        [one, other] => format!("{} and {}", one.describe(), other.describe()),
        faults => format!("{} fields of the Link are missing or invalid", faults.len()),
    };
    format!("{fault}: {effect}")
}

/// Corrects one duration of the probe; for other faults, the Link is created again.
fn remedy(ctx: &Context<'_>, link: &Link, faults: &[LinkFault<'_>]) -> Remedy {
    let (path, name, value, otherwise) = match faults {
        [LinkFault { path: PERIOD, value, .. }] => (PERIOD, "period", value, "3s"),
        [LinkFault { path: TIMEOUT, value, .. }] => (TIMEOUT, "timeout", value, "30s"),
        [LinkFault { path: PATH, wrong: ValueFault::Relative, value }] => {
            let act = format!("Set {PATH} to /{value}");
            return patched(ctx, link, "path", &format!("/{value}"), &act);
        }
        _ => return link_again(ctx, Remedy::new(), link),
    };
    let wanted = match value.parse::<u32>() {
        Ok(seconds @ 1..) => format!("{seconds}s"),
        Ok(0) | Err(_) => otherwise.to_owned(),
    };
    let act = format!("Set {path} to a positive duration with a unit, such as {wanted}");
    patched(ctx, link, name, &wanted, &act)
}

/// Sets one field of the probe.
fn patched(ctx: &Context<'_>, link: &Link, name: &str, wanted: &str, act: &str) -> Remedy {
    if let Some(git) = ManagedBy::from_metadata(&link.metadata).in_git() {
        return Remedy::new().note(format!("{act}; {git}"));
    }
    let patch = serde_json::json!({"spec": {"probeSpec": {name: wanted}}});
    let patch = kubectl()
        .namespace(&link.metadata.namespace)
        .words("patch links.multicluster.linkerd.io")
        .operand(&link.metadata.name)
        .words("--type=merge -p")
        .arg(patch.to_string());
    let mut remedy = link_again(ctx, Remedy::new().command(act, patch), link);
    if let Some(last) = remedy.steps.last_mut() {
        last.text = last.text.replacen("Create", "Alternatively, create", 1);
        last.applies = Applies::Instead;
    }
    remedy
}

/// The faults of a Link, field by field.
fn faults(link: &Link) -> Vec<LinkFault<'_>> {
    let spec = &link.spec;
    let probe = &spec.probe_spec;
    let mut faults = Vec::new();
    for (path, value) in [
        ("spec.targetClusterName", &spec.target_cluster_name),
        ("spec.targetClusterDomain", &spec.target_cluster_domain),
        ("spec.targetClusterLinkerdNamespace", &spec.target_cluster_linkerd_namespace),
        ("spec.clusterCredentialsSecret", &spec.cluster_credentials_secret),
    ] {
        faults.extend(fault(path, value, |_| None));
    }
    for (path, selector) in [
        ("spec.selector", &spec.selector),
        ("spec.remoteDiscoverySelector", &spec.remote_discovery_selector),
        ("spec.federatedServiceSelector", &spec.federated_service_selector),
    ] {
        let reason = selector.as_ref().and_then(LabelSelector::invalid);
        faults.extend(reason.map(|reason| LinkFault { path, value: Cow::Owned(reason), wrong: ValueFault::Selector }));
    }
    // Without a gateway, the CLI writes neither an identity nor a port.
    let states_gateway = !spec.gateway_identity.is_empty() && !spec.gateway_port.is_empty();
    if !spec.gateway_address.is_empty() || states_gateway {
        let address = |text: &str| text.split(',').all(is_unresolvable).then_some(ValueFault::Unparsable);
        faults.extend(fault(ADDRESS, &spec.gateway_address, address));
    }
    if !link.has_gateway() {
        return faults;
    }
    faults.extend(fault(PATH, &probe.path, |text| (!text.starts_with('/')).then_some(ValueFault::Relative)));
    let port = |text: &str| (!is_port(text)).then_some(ValueFault::Unparsable);
    faults.extend(fault("spec.gatewayPort", &spec.gateway_port, port));
    faults.extend(fault("spec.gatewayIdentity", &spec.gateway_identity, |_| None));
    faults.extend(fault("spec.probeSpec.port", &probe.port, port));
    faults.extend(fault(PERIOD, &probe.period, |text| duration(text, SHORTEST)));
    // The CRD has defaults for these.
    let given = |text: &str| !text.is_empty();
    if given(&probe.timeout) {
        faults.extend(fault(TIMEOUT, &probe.timeout, |text| duration(text, SignedDuration::from_nanos(1))));
    }
    if given(&probe.failure_threshold) {
        let number = |text: &str| (!is_count(text)).then_some(ValueFault::Unparsable);
        faults.extend(fault(THRESHOLD, &probe.failure_threshold, number));
    }
    faults
}

fn fault<'a>(path: &'static str, value: &'a str, wrong: impl Fn(&str) -> Option<ValueFault>) -> Option<LinkFault<'a>> {
    let wrong = if value.is_empty() { Some(ValueFault::Missing) } else { wrong(value) };
    wrong.map(|wrong| LinkFault { path, value: Cow::Borrowed(value), wrong })
}

/// Whether a text is neither an address nor a name, so that Go's `net.LookupIP` fails: it has a port, a scheme or
/// blanks.
fn is_unresolvable(text: &str) -> bool {
    let is_name = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_'));
    text.is_empty() || (text.parse::<IpAddr>().is_err() && !is_name(text))
}

fn is_port(text: &str) -> bool {
    text.parse::<u16>().is_ok_and(|port| port > 0)
}

/// Whether a text is a number as Go's `strconv.ParseUint` reads it.
fn is_count(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u32>().is_ok()
}

/// Shortest period: the controller panics if a tenth of it, the range of its jitter, is none.
const SHORTEST: SignedDuration = SignedDuration::from_nanos(10);

/// The fault of a duration, which must not be shorter than `least`.
fn duration(text: &str, least: SignedDuration) -> Option<ValueFault> {
    match go_duration(text) {
        None => Some(ValueFault::Unparsable),
        Some(duration) => (duration < least).then_some(ValueFault::NotPositive),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_go_reads_them() {
        for (text, wrong) in [
            ("3s", None),
            ("1m30s", None),
            ("1.5h", None),
            ("+250ms", None),
            ("10ns", None),
            ("9ns", Some(ValueFault::NotPositive)),
            ("0s", Some(ValueFault::NotPositive)),
            ("0", Some(ValueFault::NotPositive)),
            ("-3s", Some(ValueFault::NotPositive)),
            ("3", Some(ValueFault::Unparsable)),
            ("s", Some(ValueFault::Unparsable)),
            ("3 s", Some(ValueFault::Unparsable)),
            ("--3s", Some(ValueFault::Unparsable)),
        ] {
            assert_eq!(duration(text, SHORTEST), wrong, "{text:?}");
        }
        assert!(is_port("4191") && !is_port("0") && !is_port("70000") && !is_port("mc-probe"));
        for (text, bad) in [
            ("203.0.113.7", false),
            ("2001:db8::7", false),
            ("gateway.example.com", false),
            ("203.0.113.7:4143", true),
            (" 203.0.113.7", true),
            ("https://gateway.example.com", true),
            ("", true),
        ] {
            assert_eq!(is_unresolvable(text), bad, "{text:?}");
        }
        assert!(is_count("0") && is_count("3") && !is_count("+3") && !is_count("-1") && !is_count("1.5"));
    }
}
