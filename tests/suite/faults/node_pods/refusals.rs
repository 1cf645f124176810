//! Refusals before anything is created: by the command itself, by missing permissions, by admission.

use serde_json::{Value, json};

use super::super::server::{ReceivedRequest, Reply};
use super::QUICK;
use super::fake::{Fake, PODS, run};

fn refused(asked: &ReceivedRequest, method: &str, end: &str, message: &str) -> Option<Reply> {
    let meant = asked.method == method && asked.path.starts_with(PODS) && asked.path.ends_with(end);
    meant.then(|| Reply::status(403, "Forbidden", message))
}

#[tokio::test(flavor = "multi_thread")]
async fn each_missing_right_is_named_and_nothing_is_created() {
    for (method, end, verb, resource) in [
        ("POST", "/pods", "create", "pods"),
        ("GET", "/pods", "list", "pods"),
        ("GET", "-0", "get", "pods"),
        ("GET", "/log", "get", "pods/log"),
        ("DELETE", "-0", "delete", "pods"),
    ] {
        let message = format!(
            "pods is forbidden: User \"eve\" cannot {verb} resource \"{resource}\" in API group \"\" in the namespace \"kube-system\""
        );
        let words = message.clone();
        let fake = Fake::start(QUICK, move |asked, _| refused(asked, method, end, &words)).await;
        let (status, _, stderr) = run(fake.agreed(&[])).await;
        assert_eq!((status, fake.writes().len()), (3, 0), "{verb} {resource}: {stderr}");
        assert!(
            stderr.contains(&format!("{verb} on {resource} in namespace kube-system is denied: {message}")),
            "{stderr}"
        );
        assert!(stderr.contains(&format!("grant {verb} on {resource} in namespace kube-system")), "{stderr}");
        assert!(!fake.bundle().exists(), "{verb} {resource}: a bundle was written");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_that_refuses_host_paths_is_known_by_its_labels_or_by_a_dry_run() {
    let labelled = Fake::start(QUICK, |asked, _| {
        let labels = json!({ "pod-security.kubernetes.io/enforce": "baseline" });
        let items = json!([{ "metadata": { "name": "kube-system", "labels": labels } }]);
        (asked.path == "/api/v1/namespaces").then(|| Reply::list(&json!({ "metadata": {}, "items": items })))
    })
    .await;
    let message = "pods \"x\" is forbidden: violates PodSecurity \"baseline:latest\": host namespaces (hostNetwork=true), hostPath volumes (volume \"host\")";
    let by_default = Fake::start(QUICK, move |asked, _| refused(asked, "POST", "/pods", message)).await;
    for (fake, posts) in [(labelled, 0), (by_default, 1)] {
        let (status, _, stderr) = run(fake.agreed(&[])).await;
        assert_eq!((status, fake.writes().len()), (3, 0), "{stderr}");
        assert!(stderr.contains("kube-system enforces the PodSecurity level baseline"), "{stderr}");
        assert!(stderr.contains("--node-namespace"), "{stderr}");
        assert_eq!(fake.server.requests().iter().filter(|asked| asked.method == "POST").count(), posts);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_admission_is_quoted() {
    let message = "admission webhook \"validate.policy.example\" denied the request: hostPath is not allowed";
    let fake = Fake::start(QUICK, move |asked, _| refused(asked, "POST", "/pods", message)).await;
    let (status, _, stderr) = run(fake.agreed(&[])).await;
    assert_eq!((status, fake.writes().len()), (3, 0), "{stderr}");
    assert!(stderr.contains(message), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_asked_of_the_cluster_without_an_image_or_somebody_to_agree() {
    let fake = Fake::start(QUICK, |_, _| None).await;
    let (status, _, stderr) = run(fake.command(&["--yes"])).await;
    assert_eq!(status, 2);
    assert!(stderr.contains("--node-image") && stderr.contains("by hand"), "{stderr}");
    let (status, _, stderr) = run(fake.command(&["--node-image", "x"])).await;
    assert_eq!(status, 2);
    assert!(stderr.contains("--yes") && stderr.contains("--dry-run"), "{stderr}");
    assert_eq!(fake.server.everything_asked().len(), 0);
    let mut without = fake.command(&["--node-image", "x", "--bundle", "y"]);
    without.arg("--yes");
    assert_eq!(run(without).await.0, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_prints_what_would_be_created() {
    let fake = Fake::start(QUICK, |_, _| None).await;
    let (status, stdout, stderr) = run(fake.command(&["--node-image", "registry.example/m:1", "--dry-run"])).await;
    assert_eq!((status, stderr.as_str(), fake.writes().len()), (0, "", 0));
    let pods: Vec<Value> = stdout.split("---\n").skip(1).map(|text| serde_yaml::from_str(text).unwrap()).collect();
    let nodes: Vec<_> = pods.iter().map(|pod| pod["spec"]["nodeName"].as_str().unwrap()).collect();
    assert_eq!(nodes, ["w1", "w2", "w3"]);
    assert!(
        pods.iter().all(|pod| pod["kind"] == "Pod" && pod["spec"]["containers"][0]["image"] == "registry.example/m:1")
    );
    assert!(!fake.bundle().exists());
}
