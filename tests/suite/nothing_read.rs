//! Commands on a cluster of which nothing can be read: expired credentials, a login page, denied lists.

use crate::binary::{Ran, meshdoctor, ran, write};
use crate::faults::server::{Reply, Server};

/// A text on one line.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An API server that answers `/version` and otherwise as given.
async fn server(answer: impl Fn() -> Reply + Send + Sync + 'static) -> Server {
    let version = serde_json::json!({ "major": "1", "minor": "34", "gitVersion": "v1.34.4" });
    Server::raw(None, move |asked| match asked.path.as_str() {
        "/version" => Reply::json(&version),
        _ => answer(),
    })
    .await
}

fn unauthorized() -> Reply {
    Reply::status(401, "Unauthorized", "Unauthorized")
}

fn login_page() -> Reply {
    Reply::text(200, "text/html", "<html>log in</html>")
}

fn forbidden() -> Reply {
    Reply::status(403, "Forbidden", "pods is forbidden: User \"jane\" cannot list resource \"pods\"")
}

/// Runs a command on a server, in a folder of its own.
async fn run(server: &Server, folder: &std::path::Path, command: &[&str]) -> Ran {
    let config = serde_json::json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "prod-west",
        "clusters": [{ "name": "c", "cluster": { "server": server.url() } }],
        "users": [{ "name": "c", "user": { "token": "opaque" } }],
        "contexts": [{ "name": "prod-west", "context": { "cluster": "c", "user": "c" } }],
    });
    let kubeconfig = write(folder, "kubeconfig", config.to_string());
    let words = [command, &["--kubeconfig", &kubeconfig, "--linkerd-cli", "none"]].concat();
    let mut command = meshdoctor(&words);
    command.current_dir(folder);
    tokio::task::spawn_blocking(move || ran(&mut command)).await.unwrap()
}

/// Every command that reads a cluster.
const COMMANDS: [&[&str]; 8] = [
    &["check"],
    &["fix"],
    &["collect", "-o", "bundle.tar.gz"],
    &["ticket", "-o", "ticket.tar.gz"],
    &["rotate"],
    &["policy"],
    &["reach", "shop/web", "shop/api:80"],
    &["sync", "--proxies=1s"],
];

#[tokio::test(flavor = "multi_thread")]
async fn rejected_credentials_end_every_command_with_one_error() {
    let server = server(unauthorized).await;
    let folder = tempfile::tempdir().unwrap();
    for command in COMMANDS {
        let ran = run(&server, folder.path(), command).await;
        assert_eq!(ran.status, 3, "{command:?}: {}{}", ran.out, ran.err);
        let cause = "error: the API server rejects the credentials of context prod-west (HTTP 401)\n";
        assert!(ran.err.contains(cause), "{command:?}: {}", ran.err);
        assert!(ran.err.contains("log in again, then test them: kubectl --kubeconfig "), "{}", ran.err);
        assert!(ran.err.ends_with(" auth whoami\n"), "{}", ran.err);
        assert_eq!(ran.out, "", "{command:?}");
    }
    let accepted = run(&server, folder.path(), &["check", "--on-not-checked", "pass"]).await;
    assert_eq!(accepted.status, 3, "{}", accepted.out);
    let kept: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(kept, ["kubeconfig"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_page_ends_every_command_with_one_error() {
    let redirect = || Reply::text(302, "text/html", "").header("location", "https://sso.example.org/login?token=x");
    for (server, cause) in [
        (server(login_page).await, "the response is an HTML page, possibly the login page of a proxy"),
        (server(redirect).await, "HTTP 302: redirected to https://sso.example.org; a proxy requires a login"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        for command in COMMANDS {
            let ran = run(&server, folder.path(), command).await;
            assert_eq!(ran.status, 3, "{command:?}: {}{}", ran.out, ran.err);
            let cause = format!(
                "error: {} does not respond like a Kubernetes API server: {cause}\n  log in to the proxy or VPN, or \
                 correct the address of the server in the kubeconfig\n",
                server.url()
            );
            assert!(ran.err.contains(&cause), "{command:?}: {}", ran.err);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn denied_lists_are_one_error_and_no_empty_result() {
    let server = server(forbidden).await;
    let folder = tempfile::tempdir().unwrap();
    for command in &COMMANDS[1..] {
        let ran = run(&server, folder.path(), command).await;
        assert_eq!(ran.status, 3, "{command:?}: {}{}", ran.out, ran.err);
        let cause = "error: the API server denied every list: these credentials may not read prod-west\n  write the \
                     role: meshdoctor rbac --user jane > role.yaml; then an administrator applies it: kubectl apply \
                     -f role.yaml\n";
        assert!(ran.err.contains(cause), "{command:?}: {}", ran.err);
    }
    // A check reports each gap. A run that read nothing never succeeds.
    for more in [&[][..], &["--on-not-checked", "pass"]] {
        let ran = run(&server, folder.path(), &[&["check"], more].concat()).await;
        assert_eq!(ran.status, 4, "{}", ran.out);
        let said = words(&ran.out);
        assert!(said.contains("NOTHING CHECKED the API server denied access to every object"), "{}", ran.out);
        assert!(!said.contains("no errors or warnings"), "{}", ran.out);
        assert!(!said.contains("accepts missing evidence"), "{}", ran.out);
        // The denied credentials cannot grant the role.
        assert!(said.contains("meshdoctor rbac --user jane > role.yaml"), "{}", ran.out);
        assert!(ran.out.contains("kubectl apply -f role.yaml"), "{}", ran.out);
    }
}

/// Denials of some kinds are one line.
#[tokio::test(flavor = "multi_thread")]
async fn partly_denied_kinds_are_named_once() {
    let list = || Reply::json(&serde_json::json!({ "kind": "List", "items": [] }));
    let version = serde_json::json!({ "major": "1", "minor": "34", "gitVersion": "v1.34.4" });
    let server = Server::raw(None, move |asked| match asked.path.as_str() {
        "/version" => Reply::json(&version),
        path if path.starts_with("/apis/policy.linkerd.io") => forbidden(),
        _ => list(),
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let ran = run(&server, folder.path(), &["collect", "-o", "bundle.tar.gz"]).await;
    assert_eq!(ran.status, 4, "{}", ran.err);
    assert_eq!(ran.err.matches("denied").count(), 1, "{}", ran.err);
    assert!(ran.err.contains("servers.policy.linkerd.io"), "{}", ran.err);
}
