//! Connection failures: each problem on the way to the API server is reported once, with its next step.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use meshdoctor::source::live::{Connect, ConnectError, Live};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::json;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use super::server::{Reply, Server, version};
use super::{CANARY, Kubeconfig, printed_error};

async fn failure(kubeconfig: &Kubeconfig, change: impl FnOnce(&mut Connect)) -> ConnectError {
    let mut connect = kubeconfig.connect();
    change(&mut connect);
    Live::connect(connect).await.err().unwrap()
}

/// Cause and next step for an answer to `/version` that is not a version.
async fn answered(reply: impl Fn() -> Reply + Send + Sync + 'static) -> (String, String) {
    let server = Server::raw(None, move |_| reply()).await;
    let kubeconfig = Kubeconfig::new(&server.url(), &json!({ "token": CANARY }));
    let error = failure(&kubeconfig, |connect| connect.request_timeout = Duration::from_secs(1)).await;
    assert!(!error.is_usage());
    let (cause, next) = printed_error(&error);
    (cause.replace(&server.url(), "SERVER"), next)
}

#[tokio::test]
async fn what_is_no_api_server_is_told_apart() {
    let redirect = || {
        Reply::text(302, "text/html", "<a href>")
            .header("location", &format!("https://sso.example.org/?token={CANARY}"))
    };
    let (cause, next) = answered(redirect).await;
    assert_eq!(cause, "SERVER redirects to https://sso.example.org (HTTP 302)");
    assert!(next.starts_with("log in to the proxy"), "{next}");
    let (cause, _) = answered(|| Reply::text(200, "text/html", "\n<html>log in</html>")).await;
    assert_eq!(
        cause,
        "SERVER does not respond like a Kubernetes API server: /version is an HTML page, possibly the login page of a proxy"
    );
    let (cause, _) = answered(|| Reply::json(&json!({ "hello": CANARY }))).await;
    assert_eq!(
        cause,
        "SERVER does not respond like a Kubernetes API server: /version is not the response of an API server"
    );
    let (cause, _) = answered(|| Reply::text(404, "text/plain", CANARY)).await;
    assert_eq!(cause, "SERVER does not respond like a Kubernetes API server: HTTP 404 Not Found");
    let (cause, _) = answered(|| Reply::text(503, "text/plain", CANARY)).await;
    assert_eq!(cause, "SERVER does not work: HTTP 503 Service Unavailable");
    let (cause, next) = answered(|| Reply::status(401, "Unauthorized", "Unauthorized")).await;
    assert_eq!(cause, "SERVER rejects the credentials of user \"u\" (HTTP 401: Unauthorized)");
    assert!(next.contains("expired"), "{next}");
    let (cause, next) = answered(Reply::silence).await;
    assert_eq!(cause, "SERVER did not respond within 1 s");
    assert!(next.contains("--request-timeout"), "{next}");
}

#[tokio::test]
async fn nobody_listening_is_refused_at_once() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    drop(listener);
    let begun = std::time::Instant::now();
    let error = failure(&Kubeconfig::new(&url, &json!({ "token": CANARY })), |_| {}).await;
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(printed_error(&error).0, format!("{url} refused the connection"));
}

#[tokio::test]
async fn the_time_for_the_whole_run_counts_from_the_first_request() {
    let server = Server::raw(None, |_| Reply::silence()).await;
    let kubeconfig = Kubeconfig::new(&server.url(), &json!({ "token": CANARY }));
    let begun = std::time::Instant::now();
    let error = failure(&kubeconfig, |connect| connect.deadline = Some(begun + Duration::from_secs(1))).await;
    assert!(begun.elapsed() < Duration::from_secs(15));
    assert!(matches!(error, ConnectError::TimedOut { .. }), "{error:?}");
}

#[tokio::test]
async fn a_version_that_is_denied_does_not_stop_the_rest() {
    let server = Server::raw(None, |asked| match asked.path.as_str() {
        "/version" => Reply::status(403, "Forbidden", "no version for you"),
        _ => Reply::json(&super::page(0, 3, "")),
    })
    .await;
    let live = super::live(&server).await;
    let request = meshdoctor::request::Request::new(meshdoctor::item::Item::ServerVersion);
    let (fetched, _) = super::fetch(&live, request).await;
    let reason = meshdoctor::fetched::Why::Denied { message: "no version for you".to_owned() };
    assert_eq!(fetched, meshdoctor::fetched::Fetched::Missing { reason });
    assert_eq!(super::pods(&live).await.1.names.len(), 3);
}

/// A certificate authority.
fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn base64(text: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// A server with a certificate of `authority`, edited by `change`; it requires client certificates of
/// `clients`, if given.
async fn tls_server(
    authority: &CertifiedIssuer<'static, KeyPair>,
    clients: Option<&CertifiedIssuer<'static, KeyPair>>,
    change: impl FnOnce(&mut CertificateParams),
) -> Server {
    let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    change(&mut params);
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, authority).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder();
    let config = match clients {
        None => config.with_no_client_auth(),
        Some(clients) => {
            let mut roots = RootCertStore::empty();
            roots.add(clients.der().clone()).unwrap();
            config.with_client_cert_verifier(WebPkiClientVerifier::builder(Arc::new(roots)).build().unwrap())
        }
    };
    let config = config.with_single_cert(vec![certificate.der().clone()], key).unwrap();
    Server::raw(Some(TlsAcceptor::from(Arc::new(config))), |_| version()).await
}

fn trusting(server: &Server, authority: &CertifiedIssuer<'static, KeyPair>) -> serde_json::Value {
    json!({ "server": server.url(), "certificate-authority-data": base64(&authority.pem()) })
}

#[tokio::test]
async fn certificates_are_checked_and_the_fault_is_named() {
    let own = authority("kubernetes");
    let user = json!({ "token": CANARY });
    let server = tls_server(&own, None, |_| {}).await;
    let kubeconfig = Kubeconfig::with_cluster(&trusting(&server, &own), &user);
    Live::connect(kubeconfig.connect()).await.unwrap();

    let untrusted = format!("the certificate of {} is not trusted: ", server.url());
    // Recreated clusters have an authority of the same name with another key.
    for other in [authority("kubernetes"), authority("other")] {
        let kubeconfig = Kubeconfig::with_cluster(&trusting(&server, &other), &user);
        let (cause, next) = printed_error(&failure(&kubeconfig, |_| {}).await);
        let wanted = "it is signed by an authority that is not in the kubeconfig";
        assert_eq!(cause, format!("{untrusted}{wanted}"));
        assert!(next.contains("certificate-authority-data"), "{next}");
    }

    let insecure = json!({ "server": server.url(), "insecure-skip-tls-verify": true });
    Live::connect(Kubeconfig::with_cluster(&insecure, &user).connect()).await.unwrap();

    let mut named = trusting(&server, &own);
    named["tls-server-name"] = "elsewhere.example.org".into();
    let (cause, _) = printed_error(&failure(&Kubeconfig::with_cluster(&named, &user), |_| {}).await);
    assert_eq!(cause, format!("{untrusted}it is for another host name than the server in the kubeconfig"));

    let old = tls_server(&own, None, |params| {
        params.not_before = rcgen::date_time_ymd(2020, 1, 1);
        params.not_after = rcgen::date_time_ymd(2021, 1, 1);
    })
    .await;
    let (cause, _) = printed_error(&failure(&Kubeconfig::with_cluster(&trusting(&old, &own), &user), |_| {}).await);
    assert!(cause.ends_with("is not trusted: it has expired"), "{cause}");
}

#[tokio::test]
async fn a_client_certificate_is_shown_and_its_lack_is_told() {
    let own = authority("kubernetes");
    let server = tls_server(&own, Some(&own), |_| {}).await;
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(Vec::new()).unwrap().signed_by(&key, &own).unwrap();
    let user = json!({
        "client-certificate-data": base64(&certificate.pem()), "client-key-data": base64(&key.serialize_pem()),
    });
    Live::connect(Kubeconfig::with_cluster(&trusting(&server, &own), &user).connect()).await.unwrap();
    let error = failure(&Kubeconfig::with_cluster(&trusting(&server, &own), &json!({})), |_| {}).await;
    let (cause, next) = printed_error(&error);
    assert!(matches!(error, ConnectError::Tls { .. }), "{cause}");
    assert!(next.contains("client certificate"), "{next}");
}

#[tokio::test]
async fn tls_where_there_is_none_is_told() {
    let server = Server::start(|_| version()).await;
    let url = format!("https://{}", server.address);
    let error = failure(&Kubeconfig::new(&url, &json!({ "token": CANARY })), |_| {}).await;
    assert_eq!(printed_error(&error).0, format!("TLS connection to {url} failed: the server does not use TLS"));
}

/// Two contexts for two servers, and one for a cluster that does not exist.
fn contexts(first: &str, second: &str) -> Kubeconfig {
    Kubeconfig::parse(&format!(
        "
apiVersion: v1
kind: Config
current-context: prod-eu
clusters:
- {{name: eu, cluster: {{server: '{first}'}}}}
- {{name: us, cluster: {{server: '{second}'}}}}
users:
- {{name: eu-admin, user: {{token: {CANARY}}}}}
- {{name: us-admin, user: {{tokenFile: token}}}}
contexts:
- {{name: prod-eu, context: {{cluster: eu, user: eu-admin}}}}
- {{name: prod-us, context: {{cluster: us, user: us-admin}}}}
- {{name: lost, context: {{cluster: ue, user: eu-admin}}}}
- {{name: nobody, context: {{cluster: eu, user: eu-admim}}}}
"
    ))
}

#[tokio::test]
async fn the_context_decides_server_and_user() {
    let eu = Server::start(|_| version()).await;
    let us = Server::start(|_| version()).await;
    let kubeconfig = contexts(&eu.url(), &us.url());
    std::fs::write(kubeconfig.path.with_file_name("token"), "from-a-file\n").unwrap();
    let live = Live::connect(kubeconfig.connect()).await.unwrap();
    assert_eq!((live.context(), live.server()), ("prod-eu", eu.url().as_str()));
    assert_eq!(us.everything_asked().len(), 0);
    let mut connect = kubeconfig.connect();
    connect.context = Some("prod-us".to_owned());
    connect.as_user = Some("eve".to_owned());
    connect.as_groups = vec!["dev".to_owned(), "ops".to_owned()];
    let live = Live::connect(connect).await.unwrap();
    assert_eq!((live.context(), live.server()), ("prod-us", us.url().as_str()));
    let asked = &us.everything_asked()[0];
    assert_eq!(asked.header("authorization"), "Bearer from-a-file");
    assert_eq!(asked.header("impersonate-user"), "eve");
    let groups: Vec<_> = asked.headers.get_all("impersonate-group").iter().collect();
    assert_eq!(groups, ["dev", "ops"]);
}

#[tokio::test]
async fn names_that_lead_nowhere_come_with_the_nearest_real_one() {
    let kubeconfig = contexts("http://127.0.0.1:9", "http://127.0.0.1:9");
    let with = async |name: &str| failure(&kubeconfig, |c| c.context = Some(name.to_owned())).await;
    let error = with("prod-ue").await;
    assert!(error.is_usage());
    let (cause, next) = printed_error(&error);
    assert_eq!(cause, "the context \"prod-ue\" does not exist; did you mean \"prod-eu\"?");
    assert_eq!(next, "give a context of the kubeconfig; it has lost, nobody, prod-eu, prod-us");
    let error = with("lost").await;
    assert!(!error.is_usage());
    let wanted = "context \"lost\" refers to the cluster \"ue\", which is missing from the kubeconfig";
    assert_eq!(printed_error(&error).0, wanted);
    let wanted = "context \"nobody\" refers to the user \"eu-admim\", which is missing from the kubeconfig; did you mean \"eu-admin\"?";
    assert_eq!(printed_error(&with("nobody").await).0, wanted);
    let error = failure(&kubeconfig, |connect| connect.as_groups = vec!["ops".to_owned()]).await;
    assert!(error.is_usage());
    assert_eq!(printed_error(&error).0, "--as-group needs a user to impersonate");
}

#[tokio::test]
async fn a_kubeconfig_that_makes_no_sense_is_not_quoted() {
    let broken = Kubeconfig::parse(&format!("users:\n- name: u\n  user:\n    token: \"{CANARY}\n  x: [\n"));
    let (cause, _) = printed_error(&failure(&broken, |_| {}).await);
    assert!(cause.contains("not a valid kubeconfig, at line "), "{cause}");
    let wrong_type = Kubeconfig::parse(&format!("users: {CANARY}\n"));
    let (cause, _) = printed_error(&failure(&wrong_type, |_| {}).await);
    assert!(cause.contains("not a valid kubeconfig"), "{cause}");
    let (cause, _) = printed_error(&failure(&Kubeconfig::parse("{}"), |_| {}).await);
    assert_eq!(cause, "the kubeconfig has no current context");
    let error = failure(&Kubeconfig::parse("{}"), |c| c.kubeconfig = Some("/nonexistent/config".into())).await;
    assert_eq!(printed_error(&error).0, "the kubeconfig /nonexistent/config does not exist");
    let cluster = |cluster| Kubeconfig::with_cluster(&cluster, &json!({ "token": CANARY }));
    for (cluster, wanted) in [
        (cluster(json!({})), "the cluster has no server"),
        (cluster(json!({ "server": "10.0.0.1:6443" })), "the cluster's server is not https://HOST:PORT"),
        (
            cluster(json!({ "server": "https://127.0.0.1:9", "certificate-authority-data": CANARY })),
            "its certificate-authority-data is not base64",
        ),
        (
            cluster(json!({ "server": "https://127.0.0.1:9", "certificate-authority-data": base64("x") })),
            "its certificate authority contains no certificate",
        ),
        (
            cluster(json!({ "server": "https://127.0.0.1:9", "proxy-url": format!("ftp://u:{CANARY}@x") })),
            "the proxy must be http, https or socks5",
        ),
    ] {
        let (cause, _) = printed_error(&failure(&cluster, |_| {}).await);
        assert_eq!(cause, format!("the kubeconfig cannot be used: {wanted}"));
    }
    let user = json!({ "client-certificate-data": base64("x"), "client-key-data": base64(CANARY) });
    printed_error(&failure(&Kubeconfig::new("https://127.0.0.1:9", &user), |_| {}).await);
    let user = json!({ "auth-provider": { "name": "gcp", "config": { "access-token": CANARY } } });
    let (cause, next) = printed_error(&failure(&Kubeconfig::new("https://127.0.0.1:9", &user), |_| {}).await);
    assert!(cause.contains("auth-provider \"gcp\""), "{cause}");
    assert!(next.contains("gke-gcloud-auth-plugin"), "{next}");
}

#[tokio::test]
async fn a_proxy_that_refuses_is_named_without_its_password() {
    let proxy = Server::raw(None, |_| Reply::text(407, "text/plain", "log in")).await;
    let cluster = json!({
        "server": "https://api.example.invalid:6443",
        "proxy-url": format!("http://user:{CANARY}@{}", proxy.address),
    });
    let error = failure(&Kubeconfig::with_cluster(&cluster, &json!({ "token": CANARY })), |_| {}).await;
    let (cause, _) = printed_error(&error);
    let wanted = format!(
        "the proxy http://{} does not connect to https://api.example.invalid:6443: the proxy refused: tunnel error: proxy authorization required",
        proxy.address
    );
    assert_eq!(cause, wanted);
}
