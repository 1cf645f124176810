//! `meshdoctor sync`: on metrics of real proxies, on a small mesh through the real binary, and without evidence.

use std::path::Path;

use meshdoctor::collect::{Options, collect_now};
use meshdoctor::inspect::sync::{Agreement, Certificate, ProxySync, Since, Sync, items};
use meshdoctor::knowledge::Knowledge;
use meshdoctor::model::control_clients::ClientState;
use serde_json::Value;

use crate::binary::{Ran, meshdoctor, ran, ran_to, whole_metrics, write};
use crate::lab_metrics::{lab, recorded};

/// A scenario, the workload or component, and its state.
const EXPECTED: &[(&str, &str, ProxySync)] = &[
    ("plain-meshed-call", "shop/web", ProxySync::InSync),
    ("plain-meshed-call", "shop/api", ProxySync::InSync),
    ("plain-meshed-call", "linkerd/linkerd-destination", ProxySync::InSync),
    ("4143-drop", "shop/web", ProxySync::OutOfSync),
    ("4143-drop", "shop/api", ProxySync::InSync),
    ("identity-down-expired", "shop/web", ProxySync::OutOfSync),
    // The proxy of the destination replica accepts connections; only requests fail.
    ("destination-down", "shop/web", ProxySync::Unknown),
    ("destination-down", "linkerd/linkerd-destination", ProxySync::OutOfSync),
    ("anchors-disjoint", "shop/web", ProxySync::OutOfSync),
];

#[test]
fn real_proxies_have_the_expected_state() {
    let Some(lab) = lab() else { return };
    for (scenario, prefix, expected) in EXPECTED {
        let memory = recorded(&lab.join(scenario));
        let collected = collect_now(&memory, &items(), &Options::default(), None);
        let sync = Sync::read(&collected.cluster, Knowledge::embedded(), &[]);
        let rows = sync.rows.iter().filter(|row| {
            let pod = &row.pod.metadata;
            format!("{}/{}", pod.namespace, pod.name).starts_with(prefix)
        });
        let states: Vec<ProxySync> = rows.map(|row| row.state(&sync)).collect();
        assert!(!states.is_empty() && states.iter().all(|one| one == expected), "{scenario} {prefix}: {states:?}");
        // The injector's metrics were not recorded: never in sync.
        let injector = sync.rows.iter().find(|row| row.component == Some("proxy-injector")).unwrap();
        assert_eq!(injector.state(&sync), ProxySync::NotRead, "{scenario}");
        assert!(sync.is_incomplete());
    }
}

#[test]
fn real_proxies_show_certificate_clients_and_endpoints() {
    let Some(lab) = lab() else { return };
    let memory = recorded(&lab.join("plain-meshed-call"));
    let collected = collect_now(&memory, &items(), &Options::default(), None);
    let sync = Sync::read(&collected.cluster, Knowledge::embedded(), &["shop".to_owned()]);
    let web = sync.rows.iter().find(|row| row.pod.metadata.name.starts_with("web-")).unwrap();
    let proxy = web.proxy.as_ref().unwrap();
    let states = proxy.clients.map(|client| client.state);
    assert_eq!(states, [ClientState::Connected, ClientState::Connected, ClientState::Idle]);
    // One replica of destination serves both clients; the proxy states since when.
    for at in [0, 1] {
        assert_eq!((proxy.clients[at].connected, proxy.replicas[at].len()), (1, 1), "{proxy:?}");
        assert!(proxy.clients[at].since.is_some_and(|since| since > 0), "{proxy:?}");
    }
    let policies = proxy.policies.as_ref().unwrap();
    assert!(!policies.is_empty(), "{proxy:?}");
    assert!(policies.iter().all(|policy| policy.agreement == Agreement::Agrees), "{policies:?}");
    assert!(matches!(web.since(), Some(Since::AtLeast(seconds)) if seconds > 0));
    assert!(matches!(proxy.certificate, Certificate::Valid(seconds) if seconds > 80_000), "{proxy:?}");
    assert!(proxy.services.iter().all(|service| service.agreement == Agreement::Agrees), "{proxy:?}");
    assert_eq!((proxy.services.len(), proxy.services[0].held), (2, 2), "{proxy:?}");
    assert_eq!(web.version.as_deref(), Some("edge-26.8.3"));
}

/// No scenario with a current control plane has a proxy that holds more endpoints than exist.
#[test]
fn endpoints_of_real_proxies_never_differ() {
    let Some(lab) = lab() else { return };
    for entry in std::fs::read_dir(&lab).unwrap() {
        let scenario = entry.unwrap().path();
        if !scenario.join("truth.json").is_file() {
            continue;
        }
        let memory = recorded(&scenario);
        let collected = collect_now(&memory, &items(), &Options::default(), None);
        let sync = Sync::read(&collected.cluster, Knowledge::embedded(), &[]);
        for proxy in sync.rows.iter().filter_map(|row| row.proxy.as_ref().ok()) {
            let differs = proxy.services.iter().find(|service| service.agreement == Agreement::Differs);
            assert_eq!(differs, None, "{}", scenario.display());
            // Without a policy controller, proxies keep the policy of the time before.
            let is_served = !scenario.file_name().unwrap().to_string_lossy().starts_with("policy-down");
            let mut policies = proxy.policies.iter().flatten().filter(|_| is_served);
            let differs = policies.find(|policy| policy.agreement == Agreement::Differs);
            assert_eq!(differs, None, "{}", scenario.display());
        }
    }
}

const AT: &str = "2026-01-15T12:00:00Z";
const READ_AT: i64 = 1_768_478_400;

/// A control-plane replica, a client, a Service with this many ready endpoints.
fn mesh(ready: usize) -> String {
    let endpoints: Vec<String> =
        (0..ready).map(|at| format!(r#"{{"addresses":["10.1.0.{at}"],"conditions":{{"ready":true}}}}"#)).collect();
    let pod = |namespace: &str, name: &str, component: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"namespace":"{namespace}","name":"{name}","labels":{{
            "linkerd.io/control-plane-ns":"linkerd"{component}}}}},"spec":{{"containers":[{{"name":"linkerd-proxy",
            "image":"cr.l5d.io/linkerd/proxy:edge-26.8.3"}}]}},"status":{{"phase":"Running","podIP":"10.1.0.9",
            "conditions":[{{"type":"Ready","status":"True"}}]}}}}"#
        )
    };
    let component = r#","linkerd.io/control-plane-component":"destination""#;
    format!(
        r#"{{"apiVersion":"v1","kind":"List","items":[{},{},
        {{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"shop"}}}},
        {{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"namespace":"linkerd","name":"linkerd-destination"}},
        "spec":{{"template":{{"spec":{{"containers":[{{"name":"policy"}}]}}}}}}}},
        {{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"linkerd"}}}},
        {{"apiVersion":"v1","kind":"Service","metadata":{{"namespace":"shop","name":"api"}},"spec":{{"selector":{{"app":"api"}},
        "ports":[{{"port":80}}]}}}},
        {{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","addressType":"IPv4","metadata":{{"namespace":"shop",
        "name":"api-1","labels":{{"kubernetes.io/service-name":"api"}}}},"endpoints":[{}]}}]}}"#,
        pod("shop", "web-1", ""),
        pod("linkerd", "linkerd-destination-1", component),
        endpoints.join(",")
    )
}

/// Metrics of the client and of the replica, `held` endpoints in its load balancer.
fn metrics(at: i64, expires: i64, held: u64) -> String {
    metrics_with(at, expires, held, "srv_kind=\"default\",srv_name=\"all-unauthenticated\"")
}

/// As [`metrics`], with the labels of the policy that both proxies apply to port 4191.
fn metrics_with(at: i64, expires: i64, held: u64, policy: &str) -> String {
    let probes = at - 1_768_470_000;
    let one = |pod: &str| {
        let client = |name: &str| {
            format!(
                "control_{name}_balancer_endpoints{{endpoint_state=\"ready\",addr=\"x\"}} 1\n\
                 control_{name}_balancer_queue_gate_open_time_seconds{{addr=\"x\"}} 1768470000\n"
            )
        };
        format!(
            "#\n# POD {pod} (1 of 1)\n# CONTAINER linkerd-proxy\n#\nprocess_start_time_seconds 1768470000\n\
             process_clock_time_seconds {at}\ncontrol_identity_cert_expiration_timestamp_seconds {expires}\n\
             control_identity_cert_refresh_timestamp_seconds 1768470000\n\
             inbound_http_authz_allow_total{{target_port=\"4191\",{policy},authz_kind=\"default\",\
             authz_name=\"probe\"}} {probes}\n{}{}{}",
            client("destination"),
            client("policy"),
            client("identity")
        )
    };
    let service = |role: &str| {
        format!("{role}_kind=\"Service\",{role}_namespace=\"shop\",{role}_name=\"api\",{role}_port=\"80\"")
    };
    whole_metrics(&format!(
        "{}outbound_http_balancer_endpoints{{endpoint_state=\"ready\",{},{}}} {held}\n{}",
        one("web-1"),
        service("parent"),
        service("backend"),
        one("linkerd-destination-1")
    ))
}

fn sync(folder: &Path, ready: usize, proxy: (i64, u64), more: &[&str]) -> Ran {
    sync_of(folder, mesh(ready), proxy, more)
}

fn sync_of(folder: &Path, mesh: String, (expires, held): (i64, u64), more: &[&str]) -> Ran {
    let mesh = write(folder, "mesh.json", mesh);
    let first = write(folder, "first.txt", metrics(READ_AT - 30, expires, held));
    let second = write(folder, "second.txt", metrics(READ_AT, expires, held));
    let files = ["sync", "--bundle", &mesh, "--complete", "all", "--at", AT];
    let given = ["--diagnostics", &first, "--diagnostics", &second];
    ran(meshdoctor(&[&files[..], &given, more].concat()))
}

fn document(folder: &Path, ready: usize, proxy: (i64, u64)) -> (i32, Value) {
    let ran = sync(folder, ready, proxy, &["-o", "json"]);
    let document = ran.document();
    assert_valid(&document);
    (ran.status, document)
}

fn assert_valid(document: &Value) {
    let text = std::fs::read_to_string("docs/schema/sync.v1.json").unwrap();
    let schema = jsonschema::options().build(&serde_json::from_str(&text).unwrap()).unwrap();
    let errors: Vec<String> =
        schema.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path)).collect();
    assert!(errors.is_empty(), "{errors:?}\n{document:#}");
}

const VALID: i64 = READ_AT + 50_000;

#[test]
fn policy_of_other_objects_is_out_of_sync() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = write(folder.path(), "mesh.json", mesh(3));
    let server = "srv_kind=\"server\",srv_name=\"deleted\"";
    let read = |name: &str, at: i64| write(folder.path(), name, metrics_with(at, VALID, 3, server));
    let (first, second) = (read("first.txt", READ_AT - 30), read("second.txt", READ_AT));
    let words = ["sync", "--bundle", &mesh, "--complete", "all", "--at", AT, "--diagnostics", &first];
    let words = [&words[..], &["--diagnostics", &second]].concat();
    let document = ran_to(1, meshdoctor(&[&words[..], &["-o", "json"]].concat())).document();
    assert_valid(&document);
    let web = &document["pods"][1];
    assert_eq!(web["state"], "out-of-sync");
    let port = &web["policies"]["ports"][0];
    assert_eq!((&port["applied"], &port["agreement"]), (&"Server deleted".into(), &"differs".into()));
    let table = ran_to(1, meshdoctor(&words).env("COLUMNS", "240"));
    assert!(table.out.contains("connected to 1 of 1") && table.out.contains("1 differs"), "{}", table.out);
    assert!(table.out.contains("applies Server deleted to port 4191"), "{}", table.out);
}

/// Without a second read, or without a request to compare, a proxy is not in sync.
#[test]
fn proxies_that_could_not_be_compared_are_not_in_sync() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = write(folder.path(), "mesh.json", mesh(3));
    let second = write(folder.path(), "second.txt", metrics(READ_AT, VALID, 3));
    let words = ["sync", "--bundle", &mesh, "--complete", "all", "--at", AT, "--diagnostics", &second];
    let once = ran_to(4, meshdoctor(&[&words[..], &["-o", "json"]].concat())).document();
    assert_valid(&once);
    assert_eq!((&once["pods"][1]["state"], &once["pods"][1]["since"]), (&"not-known".into(), &Value::Null));
    let silent = |at: i64| {
        let text = metrics(at, VALID, 3);
        text.lines().filter(|line| !line.contains("authz_allow")).map(|line| format!("{line}\n")).collect::<String>()
    };
    let first = write(folder.path(), "first.txt", silent(READ_AT - 30));
    _ = write(folder.path(), "second.txt", silent(READ_AT));
    let both = [&words[..], &["--diagnostics", &first]].concat();
    let table = ran_to(4, meshdoctor(&both).env("COLUMNS", "240"));
    assert!(!table.out.contains("in sync"), "{}", table.out);
}

#[test]
fn healthy_mesh_is_in_sync() {
    let folder = tempfile::tempdir().unwrap();
    let (status, document) = document(folder.path(), 3, (VALID, 3));
    assert_eq!((status, &document["verdict"]), (0, &"in-sync".into()), "{document:#}");
    assert_eq!(document["pods"][0]["component"], "destination");
    let web = &document["pods"][1];
    assert_eq!((&web["state"], &web["version"]), (&"in-sync".into(), &"edge-26.8.3".into()));
    assert_eq!(web["certificate"]["secondsLeft"], 50_000);
    assert_eq!(web["endpoints"]["services"][0]["agreement"], "agrees");
    let port = &web["policies"]["ports"][0];
    assert_eq!((&port["port"], &port["agreement"]), (&4191.into(), &"agrees".into()), "{document:#}");
    assert_eq!(web["replicas"]["destination"]["names"], serde_json::json!(["linkerd-destination-1"]));
    assert_eq!(web["replicas"]["destination"]["sinceSeconds"], READ_AT - 1_768_470_000);
    assert_eq!(web["replicas"]["identity"]["names"], Value::Null);
    assert_eq!(web["since"], serde_json::json!({"seconds": 30, "atLeast": true}));
    let yaml = sync(folder.path(), 3, (VALID, 3), &["-o", "yaml"]);
    assert_eq!(serde_yaml::from_str::<Value>(&yaml.out).unwrap(), document);
}

#[test]
fn endpoints_beyond_all_explanations_differ() {
    let folder = tempfile::tempdir().unwrap();
    // Two load balancers, for HTTP/1 and HTTP/2, explain the others.
    for (ready, held, agreement, status) in [
        (3, 3, "agrees", 0),
        (3, 2, "not-known", 4),
        (3, 6, "not-known", 4),
        (3, 4, "differs", 1),
        (3, 7, "differs", 1),
        (2, 5, "differs", 1),
        (0, 1, "differs", 1),
    ] {
        let (exit, document) = document(folder.path(), ready, (VALID, held));
        let service = &document["pods"][1]["endpoints"]["services"][0];
        assert_eq!((&service["agreement"], exit), (&agreement.into(), status), "{ready} {held}: {document:#}");
    }
}

#[test]
fn zones_explain_a_part_of_the_endpoints_in_each_load_balancer() {
    let folder = tempfile::tempdir().unwrap();
    let hints = r#""hints":{"forZones":[{"name":"zone-a"}]},"conditions""#;
    let zoned = mesh(3).replace(r#""conditions""#, hints);
    let ran = sync_of(folder.path(), zoned, (VALID, 4), &["-o", "json"]);
    let agreement = &ran.document()["pods"][1]["endpoints"]["services"][0]["agreement"];
    assert_eq!((ran.status, agreement), (4, &"not-known".into()));
}

#[test]
fn expired_certificate_is_out_of_sync() {
    let folder = tempfile::tempdir().unwrap();
    let (status, document) = document(folder.path(), 3, (READ_AT - 240, 3));
    let web = &document["pods"][1];
    assert_eq!((status, &web["state"], &web["certificate"]["state"]), (1, &"out-of-sync".into(), &"expired".into()));
    assert_eq!(web["problems"], serde_json::json!(["proxy-certificate-expired"]));
    for columns in ["80", "200"] {
        let mesh = folder.path().join("mesh.json").display().to_string();
        let metrics = folder.path().join("second.txt").display().to_string();
        let mut command =
            meshdoctor(&["sync", "--bundle", &mesh, "--complete", "all", "--at", AT, "--diagnostics", &metrics]);
        let ran = ran_to(1, command.env("COLUMNS", columns));
        let state =
            |line: &&str| line.contains(" out of sync") || line.contains(" in sync") || line.contains(" not read");
        let first = ran.out.lines().skip(1).find(state);
        assert!(first.is_some_and(|line| line.contains("out of sync")), "{}", ran.out);
        assert!(ran.out.contains("expired 4 min ago"), "{}", ran.out);
        assert!(ran.out.contains("--only proxy-certificate-expired"), "{}", ran.out);
        let widest = ran.out.lines().filter(|line| !line.starts_with("  meshdoctor")).map(str::len).max();
        assert!(widest <= columns.parse().ok(), "{}", ran.out);
    }
}

/// The version that a proxy reports is shown, and a tag that contradicts it is named.
#[test]
fn version_of_the_proxy_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let built = |version: &str| {
        let build = format!("proxy_build_info{{date=\"x\",git_sha=\"\",version=\"{version}\"}} 1\n");
        metrics(READ_AT, READ_AT + 9000, 3).replacen(
            "# TYPE process_clock",
            &format!("# TYPE proxy_build_info gauge\n{build}# TYPE process_clock"),
            1,
        )
    };
    let text = |image: &str, version: &str, more: &[&str]| {
        let mesh = mesh(3).replace("proxy:edge-26.8.3", &format!("proxy:{image}"));
        let mesh = write(folder.path(), "mesh.json", mesh);
        let metrics = write(folder.path(), "metrics.txt", built(version));
        let words = ["sync", "--bundle", &mesh, "--complete", "all", "--at", AT, "--diagnostics", &metrics];
        ran(meshdoctor(&[&words[..], more].concat()).env("COLUMNS", "200")).out
    };
    let plain = text("edge-26.8.3", "2.366.0", &[]);
    assert!(plain.contains("edge-26.8.3 (proxy 2.366.0)") && !plain.contains("another version"), "{plain}");
    let other = text("v2.360.0", "2.366.0", &[]);
    assert!(other.contains("is of another version than its proxy reports: 2.366.0 (shop/web-1)"), "{other}");
    let same = text("v2.366.0", "2.366.0", &[]);
    assert!(!same.contains("another version"), "{same}");
    let json: Value = serde_json::from_str(&text("edge-26.8.3", "2.366.0", &["-o", "json"])).unwrap();
    assert_valid(&json);
    assert_eq!(json["pods"][1]["proxyVersion"], "2.366.0");
    let hostile = text("edge-26.8.3", "2.3\u{1b}[31m", &[]);
    assert!(!hostile.contains('\u{1b}') && !hostile.contains("(proxy"), "{hostile}");
}

#[test]
fn evidence_that_was_not_read_is_never_in_sync() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = write(folder.path(), "mesh.json", mesh(3));
    let words = ["sync", "--bundle", &mesh, "--complete", "all", "-o", "json"];
    let ran = ran_to(4, meshdoctor(&words));
    let document = ran.document();
    assert_valid(&document);
    assert_eq!(document["verdict"], "not-known");
    let replica = &document["pods"][0];
    assert_eq!(replica["state"], "not-read");
    assert_eq!(replica["certificate"]["state"], "not-read");
    assert_eq!(replica["controlPlane"]["identity"], "not-read");
    let table = ran_to(4, meshdoctor(&words[..5]));
    assert!(!table.out.contains("in sync") && !table.out.contains(" - "), "{}", table.out);
    // Metrics of a process that has ended are not those of the running one.
    let restarted = std::fs::read_to_string(&mesh).unwrap().replace(
        r#""podIP":"10.1.0.9""#,
        r#""podIP":"10.1.0.9","containerStatuses":[{"name":"linkerd-proxy","state":{"running":{"startedAt":"2026-01-15T12:01:00Z"}}}]"#,
    );
    let restarted = write(folder.path(), "restarted.json", restarted);
    let metrics = write(folder.path(), "metrics.txt", metrics(READ_AT, VALID, 3));
    let words =
        ["sync", "--bundle", &restarted, "--complete", "all", "--at", AT, "--diagnostics", &metrics, "-o", "json"];
    let document = ran_to(4, meshdoctor(&words)).document();
    assert_eq!(document["pods"][1]["notRead"], "the metrics are of a process that has ended", "{document:#}");
}

#[test]
fn single_read_is_marked() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = write(folder.path(), "mesh.json", mesh(3));
    let metrics = write(folder.path(), "metrics.txt", metrics(READ_AT, VALID, 3));
    let words = ["sync", "--bundle", &mesh, "--complete", "all", "--at", AT, "--diagnostics", &metrics];
    let ran = ran(meshdoctor(&words).env("COLUMNS", "200"));
    assert!(ran.out.contains("none known, read once"), "{}", ran.out);
    assert!(ran.out.contains("not evaluated completely"), "{}", ran.out);
}

#[test]
fn unknown_namespace_and_failures_are_documents() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = write(folder.path(), "mesh.json", mesh(3));
    for (output, bundle, status) in [("json", mesh.as_str(), 2), ("yaml", mesh.as_str(), 2), ("json", "none.yaml", 2)] {
        let words = ["sync", "-n", "shpo", "-o", output, "--bundle", bundle, "--complete", "all"];
        let ran = ran_to(status, meshdoctor(&words).current_dir(folder.path()));
        let document: Value = serde_yaml::from_str(&ran.out).unwrap();
        assert_valid(&document);
        assert_eq!(document["status"], status);
    }
}
