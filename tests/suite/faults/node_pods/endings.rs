//! Every way in which a run can end, and answers that are lost on the way: no pod is left.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::super::server::Reply;
use super::QUICK;
use super::fake::{Fake, PODS, create, run, signal, wait};

/// Longer than any test.
const FOR_EVER: Duration = Duration::from_secs(3600);

#[tokio::test(flavor = "multi_thread")]
async fn a_creation_whose_answer_is_lost_is_found_again() {
    // The pod was created, but the connection breaks: the retried request finds it.
    let fake = Fake::start(QUICK, |asked, state| {
        let first = asked.method == "POST" && asked.query("dryRun").is_none() && asked.time <= 3;
        first.then(|| create(asked, state).reset_after(0))
    })
    .await;
    let (status, _, stderr) = run(fake.agreed(&[])).await;
    assert_eq!((status, fake.created(), fake.pods()), (0, 3, Vec::new()), "{stderr}");
    assert_eq!(fake.collected(), ["w1", "w2", "w3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_appears_after_its_creation_was_given_up_is_deleted() {
    let fake = Fake::start(QUICK, |asked, state| {
        if asked.method != "POST" || asked.query("dryRun").is_some() {
            return None;
        }
        // The server is slow, the connection breaks, and the request takes effect seconds later.
        let (asked, state) = (asked.clone(), Arc::clone(state));
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_secs(4));
            create(&asked, &state);
        });
        Some(Reply::json(&serde_json::json!({})).reset_after(0))
    })
    .await;
    let (status, _, stderr) = run(fake.agreed(&["--node", "w1"])).await;
    assert_eq!((status, fake.pods()), (4, Vec::new()), "{stderr}");
    assert!(fake.created() >= 1, "the pod never appeared");
    assert!(stderr.contains("node w1: its pod could not be created"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_that_fails_is_tried_again() {
    let failures = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&failures);
    let fake = Fake::start(QUICK, move |asked, _| {
        let fails = asked.method == "DELETE" && asked.query("dryRun").is_none();
        // Three requests of each deletion, and more.
        (fails && counted.fetch_add(1, Ordering::Relaxed) < 12)
            .then(|| Reply::status(500, "InternalError", "etcdserver: request timed out"))
    })
    .await;
    let (status, _, stderr) = run(fake.agreed(&[])).await;
    assert_eq!((status, fake.created(), fake.pods()), (0, 3, Vec::new()), "{stderr}");
    assert!(failures.load(Ordering::Relaxed) > 12);
}

/// Waits until the server has this many pods.
async fn until_pods(fake: &Fake, count: usize) {
    let begun = Instant::now();
    while fake.created() < count {
        assert!(begun.elapsed() < Duration::from_secs(30), "no pods are created");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_with_pods_at_work_it_leaves_none() {
    for name in ["INT", "TERM", "HUP"] {
        let fake = Fake::start(FOR_EVER, |_, _| None).await;
        let child = fake.agreed(&[]).spawn().unwrap();
        until_pods(&fake, 3).await;
        signal(&child, name);
        let (status, _, stderr) = wait(child).await;
        assert_eq!((status, fake.pods()), (130, Vec::new()), "{name}: {stderr}");
        assert!(stderr.contains("no pods are left in the cluster"), "{name}: {stderr}");
        assert!(!fake.bundle().exists(), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_at_any_moment_it_leaves_none() {
    // Slow answers, so that there is a moment in the middle of each.
    for round in 0..16_u64 {
        let fake = Fake::start(Duration::from_millis(400), |asked, state| {
            let pause = Duration::from_millis(60);
            (asked.method != "GET").then(|| super::answer(asked, state, Duration::from_millis(400)).after(pause))
        })
        .await;
        let child = fake.agreed(&[]).spawn().unwrap();
        // Spread over a whole run, which takes about two seconds.
        let after = 20 + round * 110 + u64::from(child.id() % 50);
        tokio::time::sleep(Duration::from_millis(after)).await;
        signal(&child, if round % 2 == 0 { "INT" } else { "TERM" });
        let (status, _, stderr) = wait(child).await;
        // A signal before the handler is installed kills the process at once; a signal after the end has no
        // effect.
        assert!([130, -1, 0].contains(&status), "after {after} ms: {status} {stderr}");
        assert_eq!(fake.pods(), Vec::<String>::new(), "after {after} ms: {stderr}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_time_is_up_no_pod_is_left_and_the_rest_is_collected() {
    let fake = Fake::start(FOR_EVER, |_, _| None).await;
    let (status, _, stderr) = run(fake.agreed(&["--timeout", "4s"])).await;
    assert_eq!((status, fake.created(), fake.pods()), (4, 3, Vec::new()), "{stderr}");
    assert!(stderr.contains("node w1: the time limit of the run (--timeout) was reached"), "{stderr}");
    assert!(fake.bundle().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_twice_it_leaves_at_once_and_says_how_to_delete_the_rest() {
    let fake = Fake::start(FOR_EVER, |asked, _| {
        (asked.method == "DELETE" && asked.query("dryRun").is_none()).then(Reply::silence)
    })
    .await;
    let child = fake.agreed(&[]).spawn().unwrap();
    until_pods(&fake, 3).await;
    signal(&child, "INT");
    tokio::time::sleep(Duration::from_millis(700)).await;
    signal(&child, "INT");
    let (status, _, stderr) = wait(child).await;
    assert_eq!((status, fake.pods().len()), (130, 3), "{stderr}");
    assert!(stderr.contains("kubectl -n kube-system delete pods -l meshdoctor.io/run="), "{stderr}");
    assert!(fake.server.requests().iter().any(|asked| asked.method == "DELETE" && asked.path.starts_with(PODS)));
}
