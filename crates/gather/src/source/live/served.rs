//! Reads the certificates that Linkerd's webhooks serve: a port-forward to each of their pods and one TLS handshake.
//! Nothing is verified or sent; checks evaluate the result. Runs only with `--probe`, since it needs more than read
//! permissions.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite};

use super::api_client::ApiClient;
use super::fetch_error::why;
use super::forward::{self, PATIENCE};
use super::quote::quote;
use super::traffic::Meter;
use crate::fetched::{Fetched, Why};
use crate::item::Server;
use crate::source::ObjectSink;

/// Number of pods to query per server; more would show nothing new.
const PODS: usize = 10;
/// Number of parallel queries.
const AT_ONCE: usize = 5;
/// Maximum size of a pod list.
const BODY: usize = 16 * 1024 * 1024;

#[derive(Deserialize)]
struct PodsOfServer {
    items: Vec<One>,
}

#[derive(Deserialize)]
struct One {
    metadata: Metadata,
    #[serde(default)]
    status: Status,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Status {
    phase: String,
}

/// Queries each running pod of the server.
pub(super) async fn served(
    api: &ApiClient,
    server: Server,
    namespace: &str,
    meter: &Meter,
    sink: &mut dyn ObjectSink,
) -> Fetched {
    let missing = |reason| Fetched::Missing { reason };
    let path = format!(
        "/api/v1/namespaces/{namespace}/pods?labelSelector=linkerd.io%2Fcontrol-plane-component%3D{}",
        server.component()
    );
    let answer = match api.get(&path, meter, true).await {
        Ok(answer) => answer,
        Err(trouble) => return missing(why(&trouble)),
    };
    let malformed = || Why::Malformed { message: format!("the pods of {server}: the response is not a list") };
    let Ok(Ok(pods)) = answer.whole(meter, BODY).map(|body| serde_json::from_slice::<PodsOfServer>(&body)) else {
        return missing(malformed());
    };
    let name = format!("linkerd-{server}.{namespace}.svc");
    let running = pods.items.into_iter().filter(|pod| pod.status.phase == "Running").take(PODS);
    let asked: Vec<(String, Result<String, Why>)> = futures::stream::iter(running)
        .map(|pod| ask(api, (namespace, pod.metadata.name), server.port(), &name))
        .buffered(AT_ONCE)
        .collect()
        .await;
    // A 403 on one pod applies to all pods.
    let denied = asked.iter().find_map(|(_, said)| said.as_ref().err().filter(|why| is_denial(why)));
    if let Some(reason) = denied {
        return missing(reason.clone());
    }
    let answers: Vec<(String, Result<String, String>)> =
        asked.into_iter().map(|(pod, said)| (pod, said.map_err(|why| why.to_string()))).collect();
    sink.object(server.answer(namespace, &answers).to_string().as_bytes());
    Fetched::Complete
}

fn is_denial(why: &Why) -> bool {
    matches!(why, Why::Denied { .. })
}

/// The certificates that a pod serves, in PEM, and its name.
async fn ask(
    api: &ApiClient,
    (namespace, pod): (&str, String),
    port: u16,
    name: &str,
) -> (String, Result<String, Why>) {
    let patience = api.patience(PATIENCE);
    let asking = async {
        let mut forward = forward::open(api.client(), (namespace, &pod), port).await?;
        let failed = |message| Why::Failed { message };
        let stream = forward.take_stream(port).ok_or_else(|| failed("no stream for the port".to_owned()))?;
        let shown = shown(stream, name).await;
        forward.abort();
        shown.map(|chain| pem(&chain)).map_err(failed)
    };
    let said = tokio::time::timeout(patience, asking).await;
    (pod, said.unwrap_or_else(|_| Err(forward::too_late(patience))))
}

pub(super) fn pem(chain: &[CertificateDer<'static>]) -> String {
    chain
        .iter()
        .map(|der| {
            let body = STANDARD.encode(der);
            let lines: Vec<String> =
                body.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line).into_owned()).collect();
            format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
        })
        .collect()
}

/// The certificates of a TLS handshake, the server's own first.
pub(super) async fn shown<S>(stream: S, name: &str) -> Result<Vec<CertificateDer<'static>>, String>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Recorder {
            schemes: provider.signature_verification_algorithms.supported_schemes(),
        }))
        .with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).map_err(|error| error.to_string())?;
    let connection = tokio_rustls::TlsConnector::from(Arc::new(config)).connect(name, stream).await;
    let connection = connection.map_err(|error| quote(&format!("TLS: {error}"), 200))?;
    let (_, session) = connection.get_ref();
    let chain = session.peer_certificates().unwrap_or_default();
    if chain.is_empty() {
        return Err("TLS: the server sent no certificate".to_owned());
    }
    Ok(chain.iter().map(|certificate| certificate.clone().into_owned()).collect())
}

/// Accepts every certificate: it is examined later, and nothing is sent over the connection.
#[derive(Debug)]
struct Recorder {
    schemes: Vec<SignatureScheme>,
}

impl ServerCertVerifier for Recorder {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair};
    use rustls::ServerConfig;
    use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

    /// A self-signed certificate for another name that expired years ago.
    fn expired() -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(vec!["another.example".to_owned()]).expect("a name");
        params.not_before = rcgen::date_time_ymd(2001, 1, 1);
        params.not_after = rcgen::date_time_ymd(2002, 1, 1);
        let certificate = params.self_signed(&key).expect("a certificate").der().clone();
        (certificate, PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der())))
    }

    #[tokio::test]
    async fn any_served_certificate_is_recorded() {
        let (certificate, key) = expired();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key)
            .expect("a server");
        let (here, there) = tokio::io::duplex(64 * 1024);
        let server = tokio::spawn(async move {
            let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
            // The client disconnects immediately, so the server may fail to write.
            _ = acceptor.accept(there).await;
        });
        let chain = shown(here, "linkerd-proxy-injector.linkerd.svc").await.expect("a chain");
        assert_eq!(chain, vec![certificate]);
        assert!(pem(&chain).starts_with("-----BEGIN CERTIFICATE-----\n"));
        server.await.expect("no panic");
    }

    #[tokio::test]
    async fn server_without_tls_is_an_error() {
        let (here, there) = tokio::io::duplex(1024);
        drop(there);
        let said = shown(here, "linkerd-proxy-injector.linkerd.svc").await;
        assert!(said.is_err_and(|error| error.starts_with("TLS: ")));
    }
}
