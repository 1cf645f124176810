//! `collect --node-pods` against an API server that misbehaves, and with interruptions at any time: in all
//! cases no pod is left, and missing evidence is named.

mod endings;
mod fake;
mod refusals;

use std::time::Duration;

use serde_json::{Value, json};

use super::server::Reply;
use fake::{Fake, PODS, answer, log_of, run, stranger};

const QUICK: Duration = Duration::from_millis(100);

#[tokio::test(flavor = "multi_thread")]
async fn nodes_are_read_and_no_pod_stays() {
    let fake = Fake::start(QUICK, |_, _| None).await;
    let (status, stdout, stderr) = run(fake.agreed(&[])).await;
    assert_eq!((status, stdout.trim()), (0, fake::word(&fake.bundle())), "{stderr}");
    assert_eq!((fake.created(), fake.pods()), (3, Vec::new()));
    assert_eq!(fake.collected(), ["w1", "w2", "w3"]);
    for said in [
        "creates     3 pods in namespace kube-system",
        "leaves out  win: it runs windows",
        "nodes: 3 of 3 read",
        "kept 1 objects and 3 node snapshots",
    ] {
        assert!(stderr.contains(said), "{said}: {stderr}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_named_nodes_are_read() {
    let fake = Fake::start(QUICK, |_, _| None).await;
    let (status, _, stderr) = run(fake.agreed(&["--node", "w2", "--quiet"])).await;
    assert_eq!((status, stderr.as_str()), (0, ""));
    assert_eq!((fake.created(), fake.collected()), (1, vec!["w2".to_owned()]));
    let (status, _, stderr) = run(fake.agreed(&["--node", "w4", "--force"])).await;
    assert_eq!(status, 2);
    assert!(stderr.contains("the node \"w4\" does not exist") && stderr.contains("w1, w2, w3, win"), "{stderr}");
    assert_eq!((fake.created(), fake.pods()), (1, Vec::new()));
}

/// The status of a pod whose container waits for this in vain.
fn waiting(reason: &str, message: &str) -> Value {
    let state = json!({ "waiting": { "reason": reason, "message": message } });
    json!({ "phase": "Pending", "startTime": "2026-01-15T12:00:00Z",
        "containerStatuses": [{ "name": "node-snapshot", "state": state }] })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_cannot_be_read_is_a_gap_and_the_others_go_on() {
    let fake = Fake::start(QUICK, |asked, state| {
        // w1 cannot pull, w2's log is cut, w3 is fine.
        let name = asked.path.strip_prefix(&format!("{PODS}/"))?;
        if asked.method != "GET" {
            return None;
        }
        if name.ends_with("-0") {
            let pod = state.lock().unwrap().pods.get(name).map(|(pod, _)| pod.clone());
            let mut pod = pod?;
            pod["status"] = waiting("ImagePullBackOff", "Back-off pulling image \"registry.example/meshdoctor:1\"");
            return Some(Reply::json(&pod));
        }
        let log = log_of("w2");
        name.ends_with("-1/log").then(|| Reply::text(200, "text/plain", &log[..log.len() - 60]))
    })
    .await;
    let (status, _, stderr) = run(fake.agreed(&[])).await;
    assert_eq!(status, 4, "{stderr}");
    assert_eq!((fake.pods(), fake.collected()), (Vec::new(), vec!["w3".to_owned()]));
    for said in [
        "not collected: node-files: node w1: ImagePullBackOff: Back-off pulling image",
        "not collected: node-files: node w2: the log ends in the middle of the snapshot",
        "nodes: 1 of 3 read, 2 could not be read",
    ] {
        assert!(stderr.contains(said), "{said}: {stderr}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn log_with_the_snapshot_of_another_node_fails_only_its_own() {
    let fake = Fake::start(QUICK, |asked, _| {
        let of_pod = asked.method == "GET" && asked.path.starts_with(PODS) && asked.path.ends_with("-1/log");
        of_pod.then(|| Reply::text(200, "text/plain", &log_of("w3")))
    })
    .await;
    let (status, _, stderr) = run(fake.agreed(&[])).await;
    assert_eq!(status, 4, "{stderr}");
    assert_eq!(fake.collected(), ["w1", "w3"]);
    assert!(stderr.contains("node w2: its log contains the snapshot of node \"w3\""), "{stderr}");
    assert!(stderr.contains("nodes: 2 of 3 read, 1 could not be read"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_run_left_is_removed_and_a_living_one_is_left_alone() {
    let fake =
        Fake::start(QUICK, |asked, state| (asked.path == "/api/v1/pods").then(|| answer(asked, state, QUICK))).await;
    let old = "2026-01-15T11:00:00Z";
    let fresh = jiff::Timestamp::now().to_string();
    let running = json!({ "phase": "Running", "startTime": old });
    let mut living = String::new();
    {
        let mut state = fake.state.lock().unwrap();
        let ended = json!({ "phase": "Failed", "reason": "Evicted" });
        for (run, created, status) in [("0ld", old, &running), ("3nded", old, &ended), ("f7e54", &fresh, &running)] {
            let (name, pod) = stranger(run, created, status);
            living = name.clone();
            state.pods.insert(name, (pod, std::time::Instant::now()));
        }
    }
    let (status, _, stderr) = run(fake.agreed(&[])).await;
    assert_eq!(status, 0, "{stderr}");
    assert_eq!(fake.pods(), std::slice::from_ref(&living));
    let removed = "removes     2 pods of an earlier run: kube-system/meshdoctor-0ld-0, kube-system/meshdoctor-3nded-0";
    assert!(stderr.contains(removed), "{stderr}");
    assert!(stderr.contains(&format!("kept, from another run: kube-system/{living}")), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_killed_just_now_is_cleaned_up_by_the_next() {
    let fake = Fake::start(QUICK, |_, _| None).await;
    let fresh = jiff::Timestamp::now().to_string();
    let ended = json!({ "terminated": { "exitCode": 0, "finishedAt": fresh } });
    let status = json!({ "phase": "Succeeded", "containerStatuses": [{ "name": "node-snapshot", "state": ended }] });
    let (name, pod) = stranger("k111ed", &fresh, &status);
    fake.state.lock().unwrap().pods.insert(name, (pod, std::time::Instant::now()));
    let (status, _, stderr) = run(fake.agreed(&[])).await;
    assert_eq!((status, fake.pods()), (0, Vec::new()), "{stderr}");
    assert!(stderr.contains("finds       1 pod of another run"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ages_are_told_by_the_servers_clock() {
    // The server's clock is an hour behind, so objects created now look old.
    let there = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(1);
    let fake = Fake::start(QUICK, move |asked, _| {
        let rehearsed = asked.method == "POST" && asked.query("dryRun").is_some();
        let made = json!({ "metadata": { "creationTimestamp": there.to_string() } });
        rehearsed.then(|| Reply::json(&made))
    })
    .await;
    let running = json!({ "phase": "Running", "startTime": there.to_string() });
    let (name, pod) = stranger("a1100e", &there.to_string(), &running);
    fake.state.lock().unwrap().pods.insert(name.clone(), (pod, std::time::Instant::now()));
    let (status, _, stderr) = run(fake.agreed(&[])).await;
    assert_eq!((status, fake.pods()), (0, vec![name]), "{stderr}");
}
