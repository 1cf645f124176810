//! `check --logs`: the ends of the logs of the control plane, and of proxies that findings are about, live and from the bundle; nothing
//! of them is kept that no signature knows.

use std::collections::BTreeMap;

use meshdoctor::item::Kind;
use meshdoctor::render::document::Outcome;
use serde_json::json;

use super::cluster::{Cluster, Server, change, mesh};
use super::{AT, kubeconfig, run, twice};
use crate::binary::meshdoctor;
use crate::canary;

const CONTROL_PLANE: &str = "control-plane-reports-errors";
const PROXIES: &str = "proxy-reports-errors";
/// A request that must not be printed.
const REQUEST: &str = "GET /cards/4111111111111111?name=jane";

/// A mesh in which identity refuses to sign, and a proxy waits for it.
fn troubled() -> Cluster {
    let mut memory = mesh();
    change(&mut memory, Kind::Pod, "web-5d9f8c7b66-4xq7p", |pod| {
        for status in pod["status"]["containerStatuses"].as_array_mut().unwrap() {
            if status["name"] == "linkerd-proxy" {
                status["ready"] = false.into();
                status["restartCount"] = 3.into();
            }
        }
        pod["status"]["conditions"] =
            json!([{ "type": "Ready", "status": "False", "lastTransitionTime": "2026-01-15T11:00:00Z" }]);
    });
    let noise = format!("2026-01-15T11:59:00.000000001Z outbound: {REQUEST}\n");
    let refused = format!(
        "2026-01-15T11:59:00.5Z time=\"2026-01-15T11:59:00Z\" level=error msg=\"could not process CSR because of CA cert validation failure: x509: certificate has expired - bearer {}\"\n",
        canary::token()
    );
    let waiting =
        "2026-01-15T11:59:30.1Z [ 9.0s] ERROR identity: certify: Failed to obtain identity error=status: Unknown\n";
    let before = "2026-01-15T11:40:30.1Z [ 9.0s] ERROR linkerd_app::env: Could not read LINKERD2_PROXY_IDENTITY_TOKEN_FILE: no such file\n";
    let logs = BTreeMap::from([
        ("linkerd-identity-6d8f7b5c94-v7k4m/identity".to_owned(), format!("{noise}{refused}{noise}")),
        ("web-5d9f8c7b66-4xq7p/linkerd-proxy".to_owned(), format!("{noise}{waiting}")),
        ("previous/web-5d9f8c7b66-4xq7p/linkerd-proxy".to_owned(), format!("{before}{noise}")),
    ]);
    Cluster { memory, logs: Some(logs), ..Cluster::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn logs_are_read_where_they_are_asked_for_and_only_known_lines_are_kept() {
    let server = Server::start(troubled()).await;
    let ran = twice(&server, &[REQUEST.to_owned()], &["--logs", "--request-timeout", "3s"]).await;
    assert_eq!(ran.outcomes(&[CONTROL_PLANE])[0].1, Outcome::Findings, "{:#?}", ran.document.coverage);
    assert_eq!(ran.outcomes(&[PROXIES])[0].1, Outcome::Findings);
    let said: Vec<String> = ran
        .document
        .findings
        .iter()
        .filter(|finding| finding.check == PROXIES || finding.check == CONTROL_PLANE)
        .map(|finding| format!("{finding:?}"))
        .collect();
    let all = said.join("\n");
    for part in
        ["could not process CSR", "Failed to obtain identity", "Could not read LINKERD2_PROXY_IDENTITY_TOKEN_FILE"]
    {
        assert!(all.contains(part), "{part}: {all}");
    }
    let asked = server.requested_paths();
    let logs: Vec<&String> = asked.iter().filter(|path| path.ends_with("/log")).collect();
    // The control plane, the controllers of links, tap, and the proxy that is not ready.
    let wanted = [
        "/linkerd/pods/",
        "/linkerd-multicluster/pods/controller-east-",
        "/linkerd-viz/pods/tap-",
        "web-5d9f8c7b66-4xq7p",
    ];
    assert!(logs.iter().all(|path| wanted.iter().any(|part| path.contains(part))), "{logs:#?}");
    assert!(wanted.iter().all(|part| logs.iter().any(|path| path.contains(part))), "{logs:#?}");
    assert!(!logs.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn logs_that_may_not_be_read_are_a_gap_and_never_a_pass() {
    let server = Server::start(Cluster { logs: None, ..troubled() }).await;
    let ran = twice(&server, &[], &["--logs", "--request-timeout", "3s"]).await;
    assert_eq!(
        ran.outcomes(&[CONTROL_PLANE, PROXIES]).iter().map(|(_, o)| *o).collect::<Vec<_>>(),
        [Outcome::NotChecked; 2]
    );
    assert!(
        ran.reasons(CONTROL_PLANE).iter().any(|why| why.contains("forbidden")),
        "{:#?}",
        ran.reasons(CONTROL_PLANE)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_flag_no_log_is_read() {
    let server = Server::start(troubled()).await;
    let ran = twice(&server, &[], &[]).await;
    assert_eq!(ran.outcomes(&[CONTROL_PLANE])[0].1, Outcome::NotChecked);
    assert!(!server.requested_paths().iter().any(|path| path.ends_with("/log")));
}

/// What a ticket of a live cluster holds is judged again as the cluster was, logs included.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ticket_of_a_live_cluster_is_judged_as_the_cluster() {
    let server = Server::start(troubled()).await;
    let folder = tempfile::tempdir().unwrap();
    let config = kubeconfig(folder.path(), &server).display().to_string();
    let path = folder.path().join("ticket.tar.gz").display().to_string();
    let cluster = ["--kubeconfig", &config, "--linkerd-cli", "edge-25.4.4", "--at", AT, "--logs"];
    let mut command = meshdoctor(&[&["ticket", "-o", &path], &cluster[..]].concat());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    canary::clean("what ticket says", &[output.stdout, output.stderr.clone()].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let (live, _) = run(&[&["check", "-o", "json"], &cluster[..]].concat()).await;
    let (again, _) = run(&["check", "--bundle", &path, "-o", "json"]).await;
    assert_eq!(live["findings"], again["findings"]);
    assert!(again["findings"].to_string().contains(CONTROL_PLANE));
}
