//! Custom functions: versions, quantities, networks, selectors, and facts of the mesh model about an object.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;

use cel::extractors::This;
use cel::{Context, DeclarationError, ExecutionError};

use super::NODES;
use super::value::{from_cel, to_cel};
use crate::objects::{LabelSelector, Texts};

/// Custom functions for messages and documentation: name, arguments, description.
pub const FUNCTIONS: [(&str, &str, &str); 12] = [
    (
        "atLeast",
        "version, version",
        "whether the first version is the same as the second one or newer: atLeast(cluster.kubernetes, \
         '1.29'), atLeast(cluster.linkerdMinor, '2.18'); an edge release cannot be compared with a minor",
    ),
    ("quantity", "text", "a Kubernetes quantity as a number: quantity('100m') is 0.1"),
    (
        "duration",
        "text",
        "a duration in Go's format, in seconds: duration('1h30m') is 5400, so \
         duration(object.spec.interval) < duration('5m')",
    ),
    (
        "isGreaterThan",
        "quantity, quantity",
        "as in Kubernetes: quantity('1Gi').isGreaterThan(quantity('1000M')); the same as >",
    ),
    ("isLessThan", "quantity, quantity", "as in Kubernetes; the same as <"),
    ("compareTo", "quantity, quantity", "as in Kubernetes: -1, 0 or 1"),
    ("inCIDR", "address, network", "whether an address is in a network: inCIDR(object.status.podIP, '10.0.0.0/8')"),
    ("selects", "selector, labels", "whether a label selector (matchLabels, matchExpressions) matches labels"),
    (
        "validSelector",
        "selector",
        "whether Kubernetes accepts a label selector: it rejects invalid keys, values and operators",
    ),
    ("injected", "object", "whether Linkerd's injector adds a proxy to the pod, or to the pods of the workload"),
    ("defaultPolicy", "object", "the inbound policy of a pod's ports without a Server, such as all-unauthenticated"),
    (
        "policy",
        "pod, port",
        "the inbound policy of a port of a running pod, by port number or container port name: server or \
         default, protocol, routes (their number), and authorizations, each with name, who (anybody, meshed \
         or identities), identities and networks",
    ),
];

/// Reason if the evidence does not show whether a pod is injected.
pub(super) const NOT_KNOWN: &str = "its namespace, the injector's webhook or linkerd-config is unknown";
/// Reason if the evidence does not show the default policy of a pod.
pub(super) const NO_POLICY: &str = "the object, its namespace and linkerd-config do not show it";

/// Facts of the mesh model about objects, by namespace and name.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Whether pods are injected; `None` if unknown.
    pub injected: BTreeMap<(String, String), Option<bool>>,
    /// The default inbound policy of pods.
    pub policies: BTreeMap<(String, String), String>,
    /// The ports of each running pod.
    pub ports: BTreeMap<(String, String), KnownPorts>,
}

/// Ports of a pod that a container declares or a Server selects.
#[derive(Debug, Clone, Default)]
pub struct KnownPorts {
    /// The inbound policy of each.
    pub policies: BTreeMap<u16, serde_json::Value>,
    /// Named ports.
    pub names: BTreeMap<String, BTreeSet<u16>>,
}

impl KnownPorts {
    /// Policy of a port, by number or name.
    ///
    /// # Errors
    /// The port does not exist or is ambiguous; in words.
    fn get(&self, port: &cel::Value) -> Result<&serde_json::Value, String> {
        let number = match port {
            cel::Value::Int(number) => u16::try_from(*number).ok(),
            cel::Value::UInt(number) => u16::try_from(*number).ok(),
            cel::Value::String(name) => {
                let mut all = self.names.get(name.as_str()).into_iter().flatten();
                match (all.next(), all.next()) {
                    (Some(_), Some(_)) => {
                        return Err(format!("{} is the name of several ports of the pod; use a number", shown(name)));
                    }
                    (one, _) => one.copied(),
                }
            }
            other => {
                let given = other.type_of().to_string();
                return Err(format!(
                    "a port must be a number or a name: policy(object, 8080) or policy(object, 'http'), not \
                     {given}"
                ));
            }
        };
        let asked = match port {
            cel::Value::String(name) => shown(name),
            cel::Value::Int(number) => number.to_string(),
            _ => "that".to_owned(),
        };
        let found = number.and_then(|number| self.policies.get(&number));
        found.ok_or_else(|| {
            format!(
                "no container of the pod declares port {asked}, and no Server selects it; limit the \
                     rule to pods with that port (where)"
            )
        })
    }
}

type CelText = Arc<String>;

/// Results of adding functions.
type Added<const N: usize> = [Result<(), DeclarationError>; N];

fn failed(name: &str, why: String) -> ExecutionError {
    ExecutionError::function_error(name, why)
}

pub(super) fn functions(context: &mut Context<'_, 'static>, known: &Arc<Known>) {
    let assert_added = |added: &[Result<(), DeclarationError>]| {
        debug_assert!(added.iter().all(Result::is_ok), "a function has the name of one of CEL's own");
    };
    assert_added(&ordered(context));
    assert_added(&matching(context));
    assert_added(&of_cluster(context, known));
}

/// Functions that compare: versions, quantities, durations.
fn ordered(context: &mut Context<'_, 'static>) -> Added<6> {
    let at_least = move |one: CelText, other: CelText| -> Result<bool, ExecutionError> {
        let read =
            |text: &str| numbers(text).ok_or_else(|| failed("atLeast", format!("{} is not a version", shown(text))));
        if is_edge(&one) != is_edge(&other) {
            let why = format!(
                "{} and {} have different numbering; use cluster.linkerdMinor, which also works for edge \
                 releases",
                shown(&one),
                shown(&other)
            );
            return Err(failed("atLeast", why));
        }
        Ok(read(&one)? >= read(&other)?)
    };
    let amount = move |text: CelText| -> Result<f64, ExecutionError> {
        amount(&text).ok_or_else(|| failed("quantity", format!("{} is not a quantity", shown(&text))))
    };
    let duration = move |text: CelText| -> Result<f64, ExecutionError> {
        seconds(&text)
            .ok_or_else(|| failed("duration", format!("{} is not a duration, such as 90s or 1h30m", shown(&text))))
    };
    let ordering = |one: f64, other: f64| match one.partial_cmp(&other) {
        Some(std::cmp::Ordering::Less) => -1,
        Some(std::cmp::Ordering::Greater) => 1,
        Some(std::cmp::Ordering::Equal) | None => 0,
    };
    [
        context.add_function("atLeast", at_least),
        context.add_function("quantity", amount),
        context.add_function("duration", duration),
        context.add_function("isGreaterThan", |This(one): This<f64>, other: f64| one > other),
        context.add_function("isLessThan", |This(one): This<f64>, other: f64| one < other),
        context.add_function("compareTo", move |This(one): This<f64>, other: f64| -> i64 { ordering(one, other) }),
    ]
}

/// Functions of networks and selectors.
fn matching(context: &mut Context<'_, 'static>) -> Added<3> {
    let in_cidr = move |address: CelText, network: CelText| -> Result<bool, ExecutionError> {
        let wrong = |what: &str, text: &str| failed("inCIDR", format!("{} is not a valid {what}", shown(text)));
        let address: IpAddr = address.parse().map_err(|_| wrong("address", &address))?;
        let network: ipnet::IpNet = network.parse().map_err(|_| wrong("network", &network))?;
        Ok(network.contains(&address))
    };
    let selects = move |selector: cel::Value, labels: cel::Value| -> Result<bool, ExecutionError> {
        let json =
            |value: &cel::Value| from_cel(value, &mut { NODES }).map_err(|why| failed("selects", why.to_string()));
        let wrong = |error: serde_json::Error| failed("selects", error.to_string());
        let selector: LabelSelector = serde_json::from_value(json(&selector)?).map_err(wrong)?;
        let labels: Texts = serde_json::from_value(json(&labels)?).map_err(wrong)?;
        Ok(selector.matches(&labels))
    };
    let valid_selector = move |selector: cel::Value| -> Result<bool, ExecutionError> {
        let json = from_cel(&selector, &mut { NODES }).map_err(|why| failed("validSelector", why.to_string()))?;
        let selector: LabelSelector =
            serde_json::from_value(json).map_err(|error| failed("validSelector", error.to_string()))?;
        Ok(selector.invalid().is_none())
    };
    [
        context.add_function("inCIDR", in_cidr),
        context.add_function("selects", selects),
        context.add_function("validSelector", valid_selector),
    ]
}

/// Functions that read the known facts about an object of the cluster.
fn of_cluster(context: &mut Context<'_, 'static>, known: &Arc<Known>) -> Added<3> {
    let place = move |object: &cel::Value| {
        let json = from_cel(object, &mut { NODES }).ok()?;
        let text = |name: &str| json["metadata"][name].as_str().map(str::to_owned);
        Some((text("namespace").unwrap_or_default(), text("name")?))
    };
    let of_mesh = Arc::clone(known);
    let injected = move |object: cel::Value| -> Result<bool, ExecutionError> {
        match place(&object).and_then(|place| of_mesh.injected.get(&place).copied()) {
            Some(Some(injected)) => Ok(injected),
            Some(None) => Err(failed("injected", NOT_KNOWN.to_owned())),
            None => Err(failed(
                "injected",
                "the object is neither a pod nor has a pod template at spec.template".to_owned(),
            )),
        }
    };
    let of_mesh = Arc::clone(known);
    let policy = move |object: cel::Value| -> Result<CelText, ExecutionError> {
        let found = place(&object).and_then(|place| of_mesh.policies.get(&place).cloned());
        found.map(Arc::new).ok_or_else(|| failed("defaultPolicy", NO_POLICY.to_owned()))
    };
    let of_mesh = Arc::clone(known);
    let of_port = move |object: cel::Value, port: cel::Value| -> Result<cel::Value, ExecutionError> {
        let ports = place(&object).and_then(|place| of_mesh.ports.get(&place));
        let ports = ports.ok_or_else(|| {
            failed("policy", "the policy of ports is known only for running pods (for: pods)".to_owned())
        })?;
        ports.get(&port).map(to_cel).map_err(|why| failed("policy", why))
    };
    [
        context.add_function("injected", injected),
        context.add_function("defaultPolicy", policy),
        context.add_function("policy", of_port),
    ]
}

/// A text in a message, in single quotes: text in double quotes is removed from messages.
fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let end = text.char_indices().nth(MOST).map_or(text.len(), |(at, _)| at);
    format!("'{}{}'", &text[..end], if end < text.len() { "…" } else { "" })
}

/// The numbers of a version: `v1.31.5-eks` is 1, 31, 5; `edge-26.5.5` is 26, 5, 5.
fn numbers(text: &str) -> Option<Vec<u64>> {
    let begin = text.find(|c: char| c.is_ascii_digit())?;
    let end = text[begin..].find(|c: char| !c.is_ascii_digit() && c != '.').map_or(text.len(), |at| begin + at);
    let numbers = text[begin..end].trim_end_matches('.').split('.').map(|n| n.parse().ok());
    let mut numbers = numbers.collect::<Option<Vec<u64>>>()?;
    // 1.29 equals 1.29.0.
    while numbers.last() == Some(&0) {
        numbers.pop();
    }
    Some(numbers)
}

/// A Go duration in seconds: `1h30m`, `500ms`, `-5s`, `0`.
fn seconds(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 8] = [
        ("ms", 1e-3),
        ("us", 1e-6),
        ("\u{b5}s", 1e-6),
        ("\u{3bc}s", 1e-6),
        ("ns", 1e-9),
        ("s", 1.0),
        ("m", 60.0),
        ("h", 3600.0),
    ];
    let text = text.trim();
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return Some(0.0);
    }
    let mut total = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..end].parse().ok()?;
        let after = &rest[end..];
        let (unit, factor) = UNITS.iter().find(|(unit, _)| after.starts_with(unit))?;
        total += number * factor;
        rest = &after[unit.len()..];
    }
    let is_some = text.ends_with(|c: char| c.is_ascii_alphabetic());
    is_some.then_some(if text.starts_with('-') { -total } else { total })
}

/// Whether a version is a Linkerd edge release, which starts with a year.
fn is_edge(text: &str) -> bool {
    text.trim_start().starts_with("edge-")
}

/// A Kubernetes quantity as a number.
fn amount(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 14] = [
        ("Ki", 1024.0),
        ("Mi", 1_048_576.0),
        ("Gi", 1_073_741_824.0),
        ("Ti", 1_099_511_627_776.0),
        ("Pi", 1_125_899_906_842_624.0),
        ("n", 1e-9),
        ("u", 1e-6),
        ("m", 1e-3),
        ("k", 1e3),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
        ("P", 1e15),
        ("E", 1e18),
    ];
    let text = text.trim();
    let unit = UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)));
    let (number, factor) = unit.unwrap_or((text, 1.0));
    // Exclude texts that only Rust accepts: inf, nan.
    let is_number = number.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) && !number.contains("n");
    is_number.then_some(())?;
    number.parse::<f64>().ok().map(|number| number * factor)
}
