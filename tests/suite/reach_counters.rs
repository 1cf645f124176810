//! `meshdoctor reach` with counters of the proxies: denials and errors that contradict or confirm a step, on a small mesh and
//! on metrics of real proxies.

use std::fmt::Write as _;
use std::path::Path;

use meshdoctor::collect::{Collected, Options, collect_now};
use meshdoctor::inspect::evidence::{OutboundEvidence, PolicyEvidence, reach_items};
use meshdoctor::inspect::reach::{Mesh, Outcome, Walk};
use meshdoctor::knowledge::Knowledge;

use crate::binary::write;
use crate::lab_metrics::{lab, recorded};
use crate::policy_command::{SHOP, run_on_dump};
use crate::real_calls::{Calls, calls};

const OPEN: &str = r#"
---
apiVersion: v1
kind: Pod
metadata: {name: front-1, namespace: shop, labels: {app: front, linkerd.io/control-plane-ns: linkerd}}
spec:
  serviceAccountName: front
  containers: [{name: linkerd-proxy, image: p}, {name: app, image: app}]
---
apiVersion: v1
kind: Pod
metadata: {name: open-1, namespace: shop, labels: {app: open, linkerd.io/control-plane-ns: linkerd}}
spec: {containers: [{name: linkerd-proxy, image: p}, {name: app, image: app, ports: [{name: app, containerPort: 8090}]}]}
status: {phase: Running, podIP: 10.0.0.9, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Service
metadata: {name: open, namespace: shop}
spec: {clusterIP: 10.96.0.8, selector: {app: open}, ports: [{name: app, port: 80, targetPort: app}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: open-1, namespace: shop, labels: {kubernetes.io/service-name: open}}
endpoints: [{addresses: [10.0.0.9], conditions: {ready: true}}]
"#;

/// A Server that authorizes no client.
const CLOSED: &str = r#"
---
apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata: {name: closed, namespace: shop}
spec: {podSelector: {matchLabels: {app: open}}, port: 8090}
"#;

/// Metrics of both pods at a moment.
fn metrics(at: i64, (denied, client): (u64, &str), failed: u64) -> String {
    let head = |pod: &str| {
        format!(
            "#\n# POD {pod} (1 of 1)\n# CONTAINER linkerd-proxy\n#\nprocess_start_time_seconds 1768294900\n\
             process_clock_time_seconds {at}\n"
        )
    };
    format!(
        "{}inbound_http_authz_deny_total{{target_port=\"8090\",srv_kind=\"default\",srv_name=\"all\",client_id=\"{client}\"}} \
         {denied}\n{}outbound_tcp_errors_total{{error=\"i/o\",target_ip=\"10.96.0.8\",target_port=\"80\"}} {failed}\n",
        head("open-1"),
        head("front-1")
    )
}

const FRONT: &str = "front.shop.serviceaccount.identity.linkerd.cluster.local";

fn reached(first: &str, second: &str) -> (i32, String) {
    reached_in("", first, second)
}

fn reached_in(cluster: &str, first: &str, second: &str) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let dump = write(folder.path(), "shop.yaml", format!("{SHOP}{OPEN}{cluster}"));
    let [first, second] = [("a", first), ("b", second)].map(|(name, text)| write(folder.path(), name, text));
    let mut words = vec!["shop/front-1", "shop/open:80"];
    words.extend(["--diagnostics", &first, "--diagnostics", &second]);
    let ran = run_on_dump("reach", &words, &dump);
    (ran.status, ran.out.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn growing_denials_contradict_a_policy_that_authorizes() {
    let quiet = reached(&metrics(100, (4, FRONT), 0), &metrics(130, (4, FRONT), 0));
    let denied = reached(&metrics(100, (4, FRONT), 0), &metrics(130, (41, FRONT), 0));
    assert_ne!(quiet.0, 1, "denials before the first read prove nothing: {}", quiet.1);
    assert_eq!(denied.0, 1, "{}", denied.1);
    assert!(denied.1.contains("but proxies denied 37 calls of this client within 30 seconds"), "{}", denied.1);
    assert!(denied.1.contains("linkerd diagnostics policy -n shop po/open-1 8090"), "{}", denied.1);
    // Another client may be denied for good reasons.
    let other = reached(&metrics(100, (4, "other"), 0), &metrics(130, (41, "other"), 0));
    assert_eq!(other, quiet);
    // One moment has no growth.
    let once = metrics(130, (41, FRONT), 9);
    assert_eq!(reached(&once, &once).0, quiet.0);
}

#[test]
fn growing_denials_confirm_a_policy_that_denies() {
    let (status, text) = reached_in(CLOSED, &metrics(100, (4, FRONT), 0), &metrics(130, (41, FRONT), 0));
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("it stops at policy"), "{text}");
    assert!(text.contains(&format!("37 denials of {FRONT} on port 8090 within 30 seconds")), "{text}");
}

#[test]
fn connection_errors_contradict_reachable_endpoints() {
    let (status, text) = reached(&metrics(100, (0, FRONT), 1), &metrics(130, (0, FRONT), 4));
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("counted failures of these calls within 30 seconds: connection errors (i/o)"), "{text}");
    assert!(text.contains("connection errors (i/o): 3, for Service shop/open:80"), "{text}");
}

fn mesh(collected: &Collected) -> Mesh<'_> {
    let (cluster, knowledge) = (&collected.cluster, Knowledge::embedded());
    let policy = PolicyEvidence::read(cluster, knowledge).map_err(|(why, _)| why).unwrap();
    let outbound = OutboundEvidence::read(cluster, knowledge).map_err(|(why, _)| why).unwrap();
    Mesh::new(policy, outbound, cluster, knowledge, meshdoctor::command::Connection::default(), None)
}

/// The walks of a call without and with metrics.
fn walks(scenario: &Path, call: &Calls) -> (Walk, Walk) {
    let mut memory = recorded(scenario);
    let collect = |memory: &_| collect_now(memory, &reach_items(), &Options::default(), None);
    let with = mesh(&collect(&memory)).walk(&call.from, &call.to);
    memory.diagnostics = meshdoctor::source::diagnostics::Diagnostics::default();
    (mesh(&collect(&memory)).walk(&call.from, &call.to), with)
}

/// Scenarios whose objects allow a call that failed, and the target.
const CONTRADICTED: &[(&str, &str)] = &[
    ("4143-drop", "api.shop.svc.cluster.local:80"),
    ("4143-reject", "api.shop.svc.cluster.local:80"),
    ("failure-accrual", "apif.shop.svc.cluster.local:80"),
];

#[test]
fn counters_contradict_only_real_calls_that_failed() {
    let Some(lab) = lab() else { return };
    let (mut wrong, mut found) = (String::new(), 0);
    for entry in std::fs::read_dir(&lab).unwrap() {
        let scenario = entry.unwrap().path();
        let Ok(truth) = std::fs::read(scenario.join("truth.json")) else { continue };
        let name = scenario.file_name().unwrap().to_string_lossy().into_owned();
        let calls = calls(&serde_json::from_slice(&truth).unwrap());
        for call in &calls {
            let to = call.to.to_string();
            let same = calls.iter().filter(|one| one.from == call.from && one.to == call.to);
            let all_served = same.flat_map(|one| &one.served).all(|served| *served);
            let expects = CONTRADICTED.contains(&(name.as_str(), to.as_str()));
            if !all_served && !expects {
                continue;
            }
            let (without, with) = walks(&scenario, call);
            let counted = with.steps.iter().any(|step| step.counted);
            if counted != expects || all_served && without.outcome() != with.outcome() {
                _ = writeln!(wrong, "{name}: {to}: counted {counted}, {:?} {:?}", without.outcome(), with.outcome());
            }
            if expects {
                found += 1;
                assert_eq!(with.outcome(), Outcome::Partly, "{name} {to}");
            }
        }
    }
    assert!(wrong.is_empty() && found >= CONTRADICTED.len(), "{found}\n{wrong}");
}
