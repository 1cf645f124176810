//! Credential plugins: run once, in time, and never quoted.

use std::path::Path;
use std::time::{Duration, Instant};

use meshdoctor::source::live::{ConnectError, Live};
use serde_json::{Value, json};

use super::server::{Reply, Server};
use super::{CANARY, Kubeconfig, printed_error};

/// A user whose credentials come from a shell script. The script finds its folder in `$FOLDER`.
fn user(folder: &Path, script: &str, change: impl FnOnce(&mut Value)) -> Value {
    let file = folder.join("plugin.sh");
    std::fs::write(&file, script).unwrap();
    let mut exec = json!({
        "apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": [file, "--secret", CANARY],
        "env": [{ "name": "FOLDER", "value": folder }], "interactiveMode": "Never",
    });
    change(&mut exec);
    json!({ "exec": exec })
}

fn credential(status: &Value) -> String {
    json!({ "kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": status }).to_string()
}

fn prints(text: &str) -> String {
    format!(
        "echo run >> \"$FOLDER/runs\"\nprintf '%s' \"$KUBERNETES_EXEC_INFO\" > \"$FOLDER/info\"\ncat <<'END'\n{text}\nEND\n"
    )
}

async fn connect(script: &str, change: impl FnOnce(&mut Value)) -> Result<(Live, Server), ConnectError> {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_| Reply::json(&super::page(0, 1, ""))).await;
    let kubeconfig = Kubeconfig::new(&server.url(), &user(folder.path(), script, change));
    Live::connect(kubeconfig.connect()).await.map(|live| (live, server))
}

#[tokio::test]
async fn a_plugin_runs_once_and_its_token_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_| Reply::json(&super::page(0, 1, ""))).await;
    let answer = credential(&json!({ "token": CANARY, "expirationTimestamp": "2999-01-01T00:00:00Z" }));
    let user = user(folder.path(), &prints(&answer), |exec| exec["provideClusterInfo"] = true.into());
    let kubeconfig = Kubeconfig::new(&server.url(), &user);
    let live = Live::connect(kubeconfig.connect()).await.unwrap();
    super::pods(&live).await;
    assert_eq!(std::fs::read_to_string(folder.path().join("runs")).unwrap(), "run\n");
    let asked = server.everything_asked();
    assert_eq!(asked.len(), 2);
    assert!(asked.iter().all(|asked| asked.header("authorization") == format!("Bearer {CANARY}")));
    let info: Value = serde_json::from_str(&std::fs::read_to_string(folder.path().join("info")).unwrap()).unwrap();
    assert_eq!(
        info,
        json!({
            "kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",
            "spec": { "interactive": false, "cluster": { "server": server.url() } },
        })
    );
}

#[tokio::test]
async fn yaml_is_an_answer_too() {
    let answer =
        format!("kind: ExecCredential\napiVersion: client.authentication.k8s.io/v1\nstatus:\n  token: {CANARY}\n");
    assert!(connect(&prints(&answer), |_| {}).await.is_ok());
}

#[tokio::test]
async fn a_plugin_that_fails_is_quoted_without_its_secrets() {
    let script = format!(
        "echo 'first line' >&2\necho 'Token {CANARY} has expired,' >&2\necho 'run aws sso login' >&2\nexit 255"
    );
    let error = connect(&script, |_| {}).await.err().unwrap();
    let (cause, next) = printed_error(&error);
    let wanted = "the credential plugin \"sh\" failed (exit status: 255): first line Token k8s-aws-v1.[hidden] has expired, run aws sso login";
    assert_eq!(cause, wanted);
    assert!(next.starts_with("log in again"), "{next}");
    assert!(!error.is_usage());
}

#[tokio::test]
async fn a_plugin_that_hangs_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let user = user(folder.path(), "sleep 60", |_| {});
    let kubeconfig = Kubeconfig::new("http://127.0.0.1:9", &user);
    let mut options = kubeconfig.connect();
    options.exec_timeout = Some(Duration::from_secs(1));
    let begun = Instant::now();
    let error = Live::connect(options).await.err().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(printed_error(&error).0, "the credential plugin \"sh\" did not finish within 1 s");
}

#[tokio::test]
async fn a_plugin_that_is_not_installed_comes_with_the_kubeconfigs_advice() {
    let hint = "install it from\nhttps://example.org/plugin";
    let error = connect("", |exec| {
        exec["command"] = "kubectl-no-such-plugin".into();
        exec["installHint"] = hint.into();
    })
    .await
    .err()
    .unwrap();
    let (cause, next) = printed_error(&error);
    assert_eq!(cause, "the credential plugin \"kubectl-no-such-plugin\" that the kubeconfig names is not installed");
    assert_eq!(next, "install it: install it from https://example.org/plugin");
}

#[tokio::test]
async fn a_plugin_that_babbles_is_not_quoted() {
    let old = credential(&json!({ "token": CANARY })).replace("k8s.io/v1\"", "k8s.io/v1beta1\"");
    let no_status = r#"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"}"#;
    for (printed, wanted) in [
        (format!("token={CANARY}"), "something other than an ExecCredential"),
        (String::new(), "something other than an ExecCredential"),
        (format!("{{\"kind\": \"{CANARY}\"}}"), "something other than an ExecCredential"),
        (
            old,
            "an ExecCredential of client.authentication.k8s.io/v1beta1, not of client.authentication.k8s.io/v1 as in the kubeconfig",
        ),
        (no_status.to_owned(), "an ExecCredential without a status"),
        (credential(&json!({})), "neither a token nor a client certificate"),
        (credential(&json!({ "clientKeyData": CANARY })), "a client key without its certificate"),
    ] {
        let error = connect(&prints(&printed), |_| {}).await.err().unwrap();
        assert_eq!(printed_error(&error).0, format!("the credential plugin \"sh\" returned {wanted}"));
    }
}

#[tokio::test]
async fn credentials_of_yesterday_are_not_even_tried() {
    let answer = credential(&json!({ "token": CANARY, "expirationTimestamp": "2020-01-01T00:00:00Z" }));
    let error = connect(&prints(&answer), |_| {}).await.err().unwrap();
    assert_eq!(
        printed_error(&error).0,
        "the credential plugin \"sh\" returned credentials that expired at 2020-01-01T00:00:00Z"
    );
}

#[tokio::test]
async fn a_plugin_that_insists_on_a_terminal_is_not_started_without_one() {
    let error =
        connect("touch \"$FOLDER/started\"", |exec| exec["interactiveMode"] = "Always".into()).await.err().unwrap();
    assert_eq!(printed_error(&error).0, "the credential plugin \"sh\" needs a terminal, but there is none");
    let answer = credential(&json!({ "token": CANARY }));
    assert!(connect(&prints(&answer), |exec| exec["interactiveMode"] = "IfAvailable".into()).await.is_ok());
}

#[tokio::test]
async fn a_static_token_comes_before_the_plugin() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_| Reply::json(&super::page(0, 1, ""))).await;
    let mut user = user(folder.path(), "exit 1", |_| {});
    user["token"] = "static".into();
    Live::connect(Kubeconfig::new(&server.url(), &user).connect()).await.unwrap();
    assert_eq!(server.everything_asked()[0].header("authorization"), "Bearer static");
}

#[tokio::test]
async fn a_plugin_whose_credentials_are_refused_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::raw(None, |_| Reply::status(401, "Unauthorized", "Unauthorized")).await;
    let user = user(folder.path(), &prints(&credential(&json!({ "token": CANARY }))), |_| {});
    let error = Live::connect(Kubeconfig::new(&server.url(), &user).connect()).await.err().unwrap();
    let (cause, next) = printed_error(&error);
    assert_eq!(cause, format!("{} rejects the credentials of user \"u\" (HTTP 401: Unauthorized)", server.url()));
    assert_eq!(next, "log in again (sh returned credentials that this cluster rejects)");
}
