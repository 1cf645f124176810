//! Tests across knowledge files: the embedded files compared with measurements, and with all keys of real
//! installations.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::*;
use crate::version::{Contains, LinkerdVersion};

fn v(text: &str) -> LinkerdVersion {
    text.parse().expect("a version")
}

/// Edges whose injectors were run, 2.15 to 2.20.
const MEASURED: [&str; 6] =
    ["edge-24.2.4", "edge-24.8.2", "edge-24.11.8", "edge-25.4.4", "edge-25.10.7", "edge-26.5.5"];

/// Keys that were run through the injector of each release: `y` changed the pod, `n` did not, `c` did not but would
/// under a condition that the run did not meet. The debug-image keys were run with the debug sidecar;
/// with close-wait-timeout, linkerd-init of the changed pod fails until edge-25.1.1 rejects the pod;
/// proxy-additional-env and viz.linkerd.io/disable-tap, which that run could not show, are from the source.
const RUNS: [(&str, &str); 63] = [
    ("config.linkerd.io/proxy-image", "yyyyyy"),
    ("config.linkerd.io/proxy-version", "yyyyyy"),
    ("config.linkerd.io/image-pull-policy", "yyyyyy"),
    ("config.linkerd.io/init-image", "yyyyyn"),
    ("config.linkerd.io/init-image-version", "yyyyyn"),
    ("config.linkerd.io/enable-debug-sidecar", "yyyyyy"),
    ("config.linkerd.io/debug-image", "nnnyyy"),
    ("config.linkerd.io/debug-image-version", "nnnyyy"),
    ("config.linkerd.io/debug-image-pull-policy", "nnnyyy"),
    ("config.linkerd.io/control-port", "yyyyyy"),
    ("config.linkerd.io/inbound-port", "yyyyyy"),
    ("config.linkerd.io/admin-port", "yyyyyy"),
    ("config.linkerd.io/outbound-port", "yyyyyy"),
    ("config.linkerd.io/skip-inbound-ports", "yyyyyy"),
    ("config.linkerd.io/skip-outbound-ports", "yyyyyy"),
    ("config.linkerd.io/skip-subnets", "yyyyyy"),
    ("config.linkerd.io/opaque-ports", "yyyyyy"),
    ("config.linkerd.io/pod-inbound-ports", "ynnnnn"),
    ("config.linkerd.io/proxy-cpu-request", "yyyyyy"),
    ("config.linkerd.io/proxy-cpu-limit", "yyyyyy"),
    ("config.linkerd.io/proxy-memory-request", "yyyyyy"),
    ("config.linkerd.io/proxy-memory-limit", "yyyyyy"),
    ("config.linkerd.io/proxy-ephemeral-storage-request", "yyyyyy"),
    ("config.linkerd.io/proxy-ephemeral-storage-limit", "yyyyyy"),
    ("config.linkerd.io/proxy-cpu-ratio-limit", "nnnyyy"),
    ("config.linkerd.io/proxy-uid", "yyyyyy"),
    ("config.linkerd.io/proxy-gid", "nyyyyy"),
    ("config.linkerd.io/proxy-admin-shutdown", "nyyyyy"),
    ("config.linkerd.io/proxy-log-level", "yyyyyy"),
    ("config.linkerd.io/proxy-log-http-headers", "nyyyyy"),
    ("config.linkerd.io/proxy-log-format", "yyyyyy"),
    ("config.linkerd.io/access-log", "yyyyyy"),
    ("config.linkerd.io/enable-external-profiles", "yyyyyy"),
    ("config.linkerd.io/proxy-require-identity-inbound-ports", "yyyyyy"),
    ("config.linkerd.io/proxy-metrics-hostname-labels", "nnnyyy"),
    ("config.linkerd.io/proxy-outbound-connect-timeout", "yyyyyy"),
    ("config.linkerd.io/proxy-inbound-connect-timeout", "yyyyyy"),
    ("config.linkerd.io/proxy-outbound-discovery-cache-unused-timeout", "yyyyyy"),
    ("config.linkerd.io/proxy-inbound-discovery-cache-unused-timeout", "yyyyyy"),
    ("config.linkerd.io/shutdown-grace-period", "yyyyyy"),
    ("config.linkerd.io/proxy-disable-outbound-protocol-detect-timeout", "yyyyyy"),
    ("config.linkerd.io/proxy-disable-inbound-protocol-detect-timeout", "yyyyyy"),
    ("config.linkerd.io/enable-gateway", "yyyyyy"),
    ("config.linkerd.io/close-wait-timeout", "cccccc"),
    ("config.alpha.linkerd.io/proxy-wait-before-exit-seconds", "yyyyyc"),
    ("config.alpha.linkerd.io/proxy-enable-native-sidecar", "yyyyyy"),
    ("config.beta.linkerd.io/proxy-enable-native-sidecar", "nnnnyy"),
    ("config.linkerd.io/proxy-enable-native-sidecar", "nnnnny"),
    ("config.linkerd.io/proxy-await", "yyyyyy"),
    ("config.linkerd.io/default-inbound-policy", "yyyyyy"),
    ("config.linkerd.io/proxy-additional-env", "nnnnny"),
    ("resource.opentelemetry.io/team", "nnnncc"),
    ("config.linkerd.io/trace-collector", "ccccnn"),
    ("config.linkerd.io/trace-collector-protocol", "nnccnn"),
    ("config.linkerd.io/trace-collector-name", "nnccnn"),
    ("config.alpha.linkerd.io/trace-collector-service-account", "ccccnn"),
    ("viz.linkerd.io/disable-tap", "yyyyyy"),
    ("config.linkerd.io/disable-identity", "nnnnnn"),
    ("config.linkerd.io/disable-tap", "nnnnnn"),
    ("config.linkerd.io/debug", "nnnnnn"),
    ("config.linkerd.io/disable-external-profiles", "nnnnnn"),
    ("config.linkerd.io/metrics-port", "nnnnnn"),
    ("config.linkerd.io/proxy-destination-get-networks", "nnnnnn"),
];

#[test]
fn key_ranges_match_observed_releases() {
    let knowledge = Knowledge::embedded();
    for (name, expected) in RUNS {
        let key = knowledge.annotations().get(name).expect(name);
        let found: String = MEASURED
            .iter()
            .map(|version| match key.status_in(&v(version), knowledge) {
                KeyStatus::Effective => 'y',
                KeyStatus::Conditional { .. } => 'c',
                KeyStatus::NotYet { .. } | KeyStatus::Gone { .. } | KeyStatus::Ineffective { .. } => 'n',
                KeyStatus::Unknown { .. } => '?',
            })
            .collect();
        assert_eq!(found, expected, "{name} in {MEASURED:?}");
    }
}

#[test]
fn status_has_first_edge_and_replacement() {
    let knowledge = Knowledge::embedded();
    let status =
        |name: &str, version: &str| knowledge.annotations().get(name).expect(name).status_in(&v(version), knowledge);
    let edge = |text: &str| Some(text.parse().expect("an edge"));
    let debug = "config.linkerd.io/debug-image";
    let gap = KeyStatus::Ineffective { since: edge("edge-20.10.2"), again: edge("edge-25.3.3") };
    assert_eq!(status(debug, "edge-25.3.2"), gap);
    assert_eq!(status(debug, "stable-2.14.10"), gap);
    assert_eq!(status(debug, "edge-25.3.3"), KeyStatus::Effective);
    assert_eq!(status(debug, "2.17.0"), KeyStatus::Unknown { presumed: Some(Box::new(gap)) });
    assert_eq!(status(debug, "enterprise-2.18.0"), KeyStatus::Effective);
    assert_eq!(status(debug, "dev-x"), KeyStatus::Unknown { presumed: None });
    let ga = "config.linkerd.io/proxy-enable-native-sidecar";
    let not_yet = KeyStatus::NotYet { since: edge("edge-26.5.2") };
    assert_eq!(status(ga, "edge-26.5.1"), not_yet);
    assert_eq!(status(ga, "enterprise-2.19.1"), KeyStatus::Unknown { presumed: Some(Box::new(not_yet)) });
    assert_eq!(
        status("config.linkerd.io/init-image", "edge-25.11.3"),
        KeyStatus::Gone { since: edge("edge-25.11.3"), successor: Some("config.linkerd.io/proxy-image".to_owned()) }
    );
    assert!(status("config.linkerd.io/init-image", "enterprise-2.17.0").is_likely_effective());
    assert_eq!(status("config.linkerd.io/pod-inbound-ports", "stable-2.14.10"), KeyStatus::Effective);
    assert_eq!(
        status("config.linkerd.io/proxy-gid", "stable-2.14.10"),
        KeyStatus::NotYet { since: edge("edge-24.5.4") }
    );
}

#[test]
fn namespace_values_apply_if_copied() {
    let knowledge = Knowledge::embedded();
    let counts = |name: &str, version: &str| {
        let key = knowledge.annotations().get(name).expect(name);
        key.counts_on_namespace(&v(version), knowledge.minors())
    };
    assert_eq!(counts("linkerd.io/inject", "edge-24.2.4"), Contains::Yes);
    assert_eq!(counts("config.linkerd.io/debug-image", "edge-25.4.4"), Contains::No);
    assert_eq!(counts("config.linkerd.io/proxy-cpu-ratio-limit", "edge-26.8.3"), Contains::No);
    assert_eq!(counts("config.linkerd.io/proxy-cpu-limit", "enterprise-2.17.0"), Contains::Yes);
    assert_eq!(counts("config.linkerd.io/proxy-cpu-limit", "stable-2.14.10"), Contains::Yes);
    assert_eq!(counts("viz.linkerd.io/disable-tap", "edge-25.4.4"), Contains::Yes);
    let beta = "config.beta.linkerd.io/proxy-enable-native-sidecar";
    assert_eq!(counts(beta, "edge-25.10.7"), Contains::Yes);
    assert_eq!(counts(beta, "edge-26.5.2"), Contains::No);
}

#[test]
fn each_injector_reads_its_native_sidecar_keys_in_order() {
    let knowledge = Knowledge::embedded();
    let native = knowledge.native_sidecar();
    let prefixes = |version: &str| {
        let read = native.keys_read_by(&v(version), knowledge);
        let prefixes: Vec<&str> =
            read.known().iter().filter_map(|key| key.strip_suffix(".linkerd.io/proxy-enable-native-sidecar")).collect();
        (prefixes.join(" "), matches!(read, KeysRead::Exactly(_)), native.default_native(&v(version), knowledge))
    };
    for (version, keys, exact, default) in [
        ("stable-2.14.10", "", true, Contains::No),
        ("edge-23.11.3", "", true, Contains::No),
        ("edge-23.11.4", "config.alpha", true, Contains::No),
        ("edge-25.10.1", "config.alpha", true, Contains::No),
        ("edge-25.10.2", "config.beta config.alpha", true, Contains::No),
        ("edge-26.5.1", "config.beta config.alpha", true, Contains::No),
        ("edge-26.5.2", "config config.beta config.alpha", true, Contains::Yes),
        ("enterprise-2.17.0", "config.alpha", false, Contains::Unknown),
        ("2.19.1", "config.beta config.alpha", false, Contains::Unknown),
        ("enterprise-2.20.2", "config config.beta config.alpha", true, Contains::Yes),
    ] {
        assert_eq!(prefixes(version), (keys.to_owned(), exact, default), "{version}");
    }
    assert_eq!(native.keys_read_by(&v("dev-x"), knowledge), KeysRead::Unknown);
    for reads in native.all_keys() {
        assert!(knowledge.annotations().get(reads).is_some(), "{reads}");
    }
    for key in [
        "config.linkerd.io/proxy-native-sidecar",
        "config.alpha.linkerd.io/proxy-enable-native-sidcar",
        "linkerd.io/native-sidecar",
        "config.linkerd.io/proxy-enable-native-side-car",
        "config.linkerd.io/enable-nativesidecar",
        "config.beta.linkerd.io/proxy-enable-native-sidecars",
    ] {
        assert!(native.is_native_sidecar_family(key), "{key}");
    }
    for key in ["config.linkerd.io/enable-debug-sidecar", "sidecar.istio.io/native", "linkerd.io/inject"] {
        assert!(!native.is_native_sidecar_family(key), "{key}");
    }
}

#[test]
fn suggestions_are_keys_that_the_release_reads() {
    let knowledge = Knowledge::embedded();
    let near = |written: &str, version: &str| {
        let version = v(version);
        let reads =
            |key: &Key| key.set_by == WrittenBy::User && key.status_in(&version, knowledge).is_likely_effective();
        knowledge.annotations().nearest(written, reads).map(|key| key.key.as_str())
    };
    let native = "config.linkerd.io/proxy-native-sidecar";
    for (written, version, expected) in [
        (native, "edge-24.11.8", Some("config.alpha.linkerd.io/proxy-enable-native-sidecar")),
        (native, "enterprise-2.17.0", Some("config.alpha.linkerd.io/proxy-enable-native-sidecar")),
        (native, "edge-25.10.7", Some("config.beta.linkerd.io/proxy-enable-native-sidecar")),
        (native, "edge-26.6.3", Some("config.linkerd.io/proxy-enable-native-sidecar")),
        (
            "config.alpha.linkerd.io/proxy-enable-native-sidcar",
            "edge-25.4.4",
            Some("config.alpha.linkerd.io/proxy-enable-native-sidecar"),
        ),
        (
            "config.linkerd.io/proxy-enable-native-sidecar",
            "edge-24.11.8",
            Some("config.alpha.linkerd.io/proxy-enable-native-sidecar"),
        ),
        (
            "config.beta.linkerd.io/proxy-enable-native-sidecar",
            "enterprise-2.16.1",
            Some("config.alpha.linkerd.io/proxy-enable-native-sidecar"),
        ),
        ("linkerd.io/injct", "edge-25.4.4", Some("linkerd.io/inject")),
        ("linkerd.io/injection", "edge-25.4.4", Some("linkerd.io/inject")),
        ("config.linkerd.io/inject", "edge-25.4.4", Some("linkerd.io/inject")),
        ("linkerd.io/Inject", "edge-25.4.4", Some("linkerd.io/inject")),
        ("config.linkerd.io/skip-outbond-ports", "edge-25.4.4", Some("config.linkerd.io/skip-outbound-ports")),
        ("config.linkerd.io/opaque-port", "edge-25.4.4", Some("config.linkerd.io/opaque-ports")),
        ("linkerd.io/skip-inbound-ports", "edge-25.4.4", Some("config.linkerd.io/skip-inbound-ports")),
        ("config.linkerd.io/proxy-cpu-limits", "edge-25.4.4", Some("config.linkerd.io/proxy-cpu-limit")),
        ("config.linkerd.io/cpu-limit", "edge-25.4.4", Some("config.linkerd.io/proxy-cpu-limit")),
        (
            "config.linkerd.io/proxy-wait-before-exit-seconds",
            "edge-25.4.4",
            Some("config.alpha.linkerd.io/proxy-wait-before-exit-seconds"),
        ),
        (
            "balancer.alpha.linkerd.io/failure-accrual-success-rate-thresold",
            "edge-26.6.3",
            Some("balancer.alpha.linkerd.io/failure-accrual-success-rate-threshold"),
        ),
        ("balancer.alpha.linkerd.io/failure-accrual-success-rate-thresold", "edge-25.4.4", None),
        ("config.linkerd.io/protocol-detect-timeout", "edge-25.4.4", None),
        ("config.linkerd.io/something-else", "edge-25.4.4", None),
        ("linkerd.io/", "edge-25.4.4", None),
    ] {
        assert_eq!(near(written, version), expected, "{written} in {version}");
    }
    let advice = knowledge.annotations().suggest("config.linkerd.io/protocol-detect-timeout", |_| true);
    assert!(advice.is_some_and(|advice| advice.key.is_none() && advice.advice.is_some()));
}

#[test]
fn older_releases_reject_late_values() {
    let knowledge = Knowledge::embedded();
    let check = |name: &str, value: &str, version: &str| {
        let key = knowledge.annotations().get(name).expect(name);
        key.check_value(value, Some(&v(version)), knowledge.minors()).is_ok()
    };
    assert!(check("config.linkerd.io/default-inbound-policy", "audit", "edge-24.8.2"));
    assert!(!check("config.linkerd.io/default-inbound-policy", "audit", "edge-24.2.4"));
    assert!(check("config.linkerd.io/default-inbound-policy", "deny", "edge-24.2.4"));
    assert!(check("linkerd.io/inject", "ingress", "stable-2.14.10"));
    assert!(!check("linkerd.io/inject", "true", "edge-25.4.4"));
}

#[test]
fn prefixes_and_double_keys_are_found() {
    let annotations = Knowledge::embedded().annotations();
    assert!(annotations.get("resource.opentelemetry.io/team").is_some_and(Key::is_prefix));
    assert!(annotations.get("resource.opentelemetry.io/").is_none());
    let twofold = "multicluster.linkerd.io/remote-discovery";
    assert!(annotations.get_as(twofold, KeyKind::Label).is_some());
    assert!(annotations.get_as(twofold, KeyKind::Annotation).is_some());
    assert!(annotations.get_as("linkerd.io/inject", KeyKind::Label).is_none());
    assert!(annotations.is_linkerds("config.alpha.linkerd.io/x") && !annotations.is_linkerds("mylinkerd.io/x"));
    assert!(annotations.not_a_key("linkerd.io/tls").is_some());
    assert_eq!(
        annotations.keys().len(),
        annotations.keys().iter().map(|k| (&k.key, k.kind)).collect::<BTreeSet<_>>().len()
    );
}

/// A folder of real data: named by the variable, else next to the checkout.
fn shared(variable: &str, name: &str) -> Option<Vec<PathBuf>> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(name);
    let dir = std::env::var_os(variable).map_or_else(beside, PathBuf::from);
    let Ok(entries) = std::fs::read_dir(&dir) else {
        println!("skipped: nothing at {} (set {variable})", dir.display());
        return None;
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    Some(paths)
}

/// Every key in Linkerd's domains in rendered manifests must be known, of its kind, read in its place (or excused for
/// Linkerd's charts), have a valid value, and be effective in the release.
#[test]
fn rendered_install_has_only_known_keys() {
    let Some(releases) = shared("MESHDOCTOR_MANIFESTS", "manifests") else { return };
    let mut seen = 0;
    for (at, version) in MEASURED.iter().enumerate() {
        let minor = format!("2.{}", 15 + at);
        let Some(dir) = releases.iter().find(|dir| dir.ends_with(&minor)) else { continue };
        for file in std::fs::read_dir(dir).expect("readable") {
            let path = file.expect("readable").path();
            let text = std::fs::read_to_string(&path).expect("readable");
            for document in serde_yaml::Deserializer::from_str(&text) {
                let object = <serde_json::Value as serde::Deserialize>::deserialize(document).expect("YAML");
                seen += examine(&object, &v(version), &path.display().to_string());
            }
        }
    }
    assert!(seen > 1000, "only {seen} keys");
}

/// The same for healthy clusters: injected pods, mirrored and copied labels.
#[test]
fn healthy_cluster_has_only_known_keys() {
    let Some(recordings) = shared("MESHDOCTOR_RECORDINGS", "recordings") else { return };
    let mut seen = 0;
    for dir in recordings {
        let name = dir.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let Some(rest) = name.strip_prefix("healthy-2.") else { continue };
        let minor: usize = rest.split('-').next().and_then(|minor| minor.parse().ok()).expect(&name);
        let text = std::fs::read_to_string(dir.join("cluster.json")).expect(&name);
        let cluster: serde_json::Value = serde_json::from_str(&text).expect(&name);
        for object in cluster["items"].as_array().expect("a List") {
            seen += examine(object, &v(MEASURED[minor - 15]), &name);
        }
    }
    assert!(seen > 1000, "only {seen} keys");
}

fn examine(object: &serde_json::Value, version: &LinkerdVersion, place: &str) -> usize {
    let kind = object["kind"].as_str().unwrap_or_default();
    let own = match kind {
        "Namespace" => KeyScope::Namespace,
        "Pod" => KeyScope::PodTemplate,
        "Service" => KeyScope::Service,
        "Deployment" | "DaemonSet" | "StatefulSet" | "Job" | "CronJob" => KeyScope::Workload,
        "Secret" => KeyScope::Secret,
        // Controllers copy both the workload's annotations and the template's labels here.
        "ReplicaSet" | "ControllerRevision" => return 0,
        _ => KeyScope::Any,
    };
    let spec = &object["spec"];
    metadata(&object["metadata"], own, version, &format!("{place} {kind}"))
        + metadata(&spec["template"]["metadata"], KeyScope::PodTemplate, version, place)
        + metadata(&spec["jobTemplate"]["spec"]["template"]["metadata"], KeyScope::PodTemplate, version, place)
}

fn metadata(metadata: &serde_json::Value, scope: KeyScope, version: &LinkerdVersion, place: &str) -> usize {
    let knowledge = Knowledge::embedded();
    let mut seen = 0;
    for (field, kind) in [("annotations", KeyKind::Annotation), ("labels", KeyKind::Label)] {
        for (name, value) in metadata[field].as_object().into_iter().flatten() {
            if !knowledge.annotations().is_linkerds(name) {
                continue;
            }
            seen += 1;
            let place = format!("{place} {} {field} {name}", metadata["name"]);
            let key = knowledge.annotations().get_as(name, kind).unwrap_or_else(|| panic!("unknown: {place}"));
            assert!(key.is_read_on(scope) || key.charts_also_on.contains(&scope), "{scope}: {place}");
            let status = key.status_in(version, knowledge);
            assert!(
                status == KeyStatus::Effective || (status.is_likely_effective() && value == "0"),
                "{status:?}: {place}"
            );
            let value = value.as_str().expect("a string");
            assert_eq!(key.check_value(value, Some(version), knowledge.minors()), Ok(()), "{place}");
        }
    }
    seen
}

#[test]
fn every_embedded_file_can_be_replaced() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../checks/knowledge");
    let copy = Knowledge::load(std::path::Path::new(dir)).expect("a copy of every file is taken");
    assert_eq!(copy.date(), Knowledge::embedded().date());
}

/// The measured behavior of a release for invalid values, from the column `ignored 2.15; refused 2.16-2.20`.
fn measured(column: &str, minor: usize) -> &str {
    let within = |range: &str| {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| text.strip_prefix("2.").and_then(|text| text.parse::<usize>().ok());
        number(from).zip(number(to)).is_some_and(|(from, to)| (from..=to).contains(&minor))
    };
    let mut parts = column.split("; ").map(|part| match part.rsplit_once(' ') {
        Some((outcome, range)) if range.starts_with("2.") => (outcome, Some(range)),
        _ => (part, None),
    });
    parts.find(|(_, range)| range.is_none_or(within)).map_or("", |(outcome, _)| outcome)
}

/// Each key and a nonsense value against the injectors of six releases, as they were measured.
#[test]
fn annotations_act_as_measured_on_real_injectors() {
    let Some(facts) = shared("MESHDOCTOR_FACTS", "facts") else { return };
    let Some(path) = facts.iter().find(|path| path.ends_with("annotations-measured.tsv")) else { return };
    let text = std::fs::read_to_string(path).expect("readable");
    let knowledge = Knowledge::embedded();
    let mut wrong = Vec::new();
    let mut held = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let Some(row) = knowledge.annotations().get(columns[0]) else {
            wrong.push(format!("{} is not known", columns[0]));
            continue;
        };
        for (at, version) in MEASURED.iter().enumerate() {
            let status = row.status_in(&v(version), knowledge);
            // Without an example the key was not tried, or does nothing alone.
            let tried = !columns[7].is_empty();
            let right = match columns[1 + at] {
                "yes" => status.is_likely_effective(),
                _ => !tried || !matches!(status, KeyStatus::Effective),
            };
            let nonsense = "banana split";
            let accepted = row.check_value(nonsense, Some(&v(version)), knowledge.minors()).is_ok();
            let consequence = row.consequence(nonsense);
            let ignored = matches!(consequence, OnInvalid::Ignored | OnInvalid::FailsWithCni);
            let right = right
                && match measured(columns[9], 15 + at) {
                    _ if !status.is_likely_effective() || !tried => true,
                    "ignored" => !accepted && ignored,
                    "refused" => !accepted && consequence == OnInvalid::PodRefused,
                    // The API server and the programs behind may refuse it; the injector does not.
                    "taken as it is" => accepted || !ignored,
                    other => panic!("{}: {other:?}", columns[0]),
                };
            held += 1;
            if !right {
                wrong.push(format!("{} in {version}: {status:?}, {consequence:?}", columns[0]));
            }
        }
    }
    assert!(wrong.is_empty() && held > 300, "{held} held\n{}", wrong.join("\n"));
}

/// Values against the real injector of 2.20 behind an API server.
#[test]
fn values_lead_where_the_real_injector_led() {
    use OnInvalid::{FailsWithCni, Ignored, PassedOn, PodFails, PodRefused};

    let knowledge = Knowledge::embedded();
    let outcome = |key: &str, value: &str| {
        let row = knowledge.annotations().get(&format!("config.linkerd.io/{key}")).expect("a known key");
        let checked = row.check_value(value, Some(&v(MEASURED[5])), knowledge.minors());
        checked.err().map(|_| row.consequence(value))
    };
    // The injector passes on ports of the second row; the proxy cannot read those out of range.
    for (value, passed_on) in [("0", PassedOn), ("65536", PodFails), ("-1", PodFails)] {
        for key in ["admin-port", "inbound-port"] {
            assert_eq!(outcome(key, value), Some(PodRefused), "{key} {value}");
        }
        for key in ["control-port", "outbound-port"] {
            assert_eq!(outcome(key, value), Some(passed_on), "{key} {value}");
        }
    }
    for resource in ["cpu", "memory", "ephemeral-storage"] {
        for key in [format!("proxy-{resource}-request"), format!("proxy-{resource}-limit")] {
            assert_eq!(outcome(&key, "-1"), Some(PodRefused), "{key}");
            assert_eq!(outcome(&key, "much"), Some(Ignored), "{key}");
            assert_eq!(outcome(&key, "100m"), None, "{key}");
        }
    }
    for (value, expected) in [("-1", Some(PodRefused)), ("root", Some(FailsWithCni)), ("2102", None)] {
        assert_eq!(outcome("proxy-uid", value), expected, "{value}");
    }
    // The template leaves a negative group out, so it is unset.
    for (value, expected) in [("-1", None), ("2147483648", Some(PodRefused)), ("root", Some(FailsWithCni))] {
        assert_eq!(outcome("proxy-gid", value), expected, "{value}");
    }
    assert_eq!(outcome("close-wait-timeout", "-5s"), Some(PodRefused));
    for value in ["0s", "30", "abc", "500ms", "-500ms"] {
        assert_eq!(outcome("close-wait-timeout", value), Some(Ignored), "{value}");
    }
    assert_eq!(outcome("close-wait-timeout", "37s"), None);
    assert_eq!(outcome("image-pull-policy", ""), None);
    assert_eq!(outcome("image-pull-policy", "always"), Some(PodRefused));
}
