//! `check --wait` on a real server: ends as soon as the awaited state is reached, or at once if waiting
//! cannot help.

use std::process::Output;
use std::time::{Duration, Instant};

use meshdoctor::demo::{self, DemoState};
use serde_json::{Value, json};

use crate::doctor::text;
use crate::harness::api::Api;
use crate::staged::Staged;

const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/linkerd/deployments/linkerd-destination";
const PODS: &str = "/api/v1/namespaces/linkerd/pods";
/// The moment that the run has for it.
const LIMIT: &str = "90s";

fn well() -> Option<Staged> {
    Staged::new(demo::find("injector-fails-open").unwrap(), DemoState::After)
}

/// Sets whether the pods of destination are ready.
fn set_ready(api: &Api, ready: bool) {
    let its = |pod: &Value| pod["metadata"]["labels"]["linkerd.io/control-plane-component"] == "destination";
    for pod in api.list(PODS).iter().filter(|pod| its(pod)) {
        let mut status = pod["status"].clone();
        for list in ["containerStatuses", "initContainerStatuses"] {
            for container in status[list].as_array_mut().into_iter().flatten() {
                container["ready"] = json!(ready);
            }
        }
        for condition in status["conditions"].as_array_mut().into_iter().flatten() {
            if condition["type"] == "Ready" {
                condition["status"] = json!(if ready { "True" } else { "False" });
            }
        }
        let path = format!("{PODS}/{}", pod["metadata"]["name"].as_str().unwrap());
        api.set_status(&path, &status);
    }
    let mut status = api.get(DEPLOYMENT)["status"].clone();
    let replicas = status["replicas"].clone();
    for field in ["readyReplicas", "availableReplicas"] {
        status[field] = if ready { replicas.clone() } else { json!(0) };
    }
    api.set_status(DEPLOYMENT, &status);
}

fn wait(staged: &Staged, more: &[&str]) -> Output {
    let kubeconfig = staged.doctor.file("kubeconfig");
    let first = ["check", "--kubeconfig", text(&kubeconfig), "--wait", LIMIT, "-o", "short"];
    staged.doctor.words(&[&first[..], &staged.words(), more].concat())
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn waits_until_pods_are_ready() {
    let Some(staged) = well() else { return };
    set_ready(&staged.cluster.api, false);
    let unready = staged.check(&staged.doctor, &[]);
    assert_eq!(unready.status, 1, "{:?}", unready.found());
    let bundle = staged.doctor.file("saved.tar.gz");
    let output = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_secs(7));
            set_ready(&staged.cluster.api, true);
        });
        wait(&staged, &["--save", text(&bundle)])
    });
    let said = printed(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("for findings that may resolve themselves: control-plane-not-ready"), "{said}");
    // The saved bundle is the last evaluated state.
    let again = staged.doctor.run(&["check", "--bundle", text(&bundle), "-o", "json"]);
    assert_eq!(again.status, 0, "{:?}", again.found());
}

#[test]
fn ends_at_once_where_waiting_does_not_help() {
    let Some(staged) = well() else { return };
    set_ready(&staged.cluster.api, false);
    staged
        .cluster
        .api
        .call("DELETE", "/api/v1/namespaces/linkerd/configmaps/linkerd-identity-trust-roots", "ConfigMap", Vec::new())
        .unwrap();
    let began = Instant::now();
    let output = wait(&staged, &[]);
    let said = printed(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("stopped waiting: trust-roots-missing does not resolve itself"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(60), "{said}");
}

#[test]
fn ends_with_the_time() {
    let Some(staged) = well() else { return };
    set_ready(&staged.cluster.api, false);
    let output = wait(&staged, &["--wait", "12s"]);
    assert_eq!(output.status.code(), Some(2), "a flag that is given twice: {}", printed(&output));
    let kubeconfig = staged.doctor.file("kubeconfig");
    let first = ["check", "--kubeconfig", text(&kubeconfig), "--wait", "8s", "-o", "short"];
    let output = staged.doctor.words(&[&first[..], &staged.words()].concat());
    let said = printed(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("until the time limit (--wait 8s)"), "{said}");
}
