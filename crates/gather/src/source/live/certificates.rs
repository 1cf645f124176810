//! Certificates of running proxies: the chain of a TLS handshake with their metrics port, as `linkerd identity` makes
//! it, and the trust anchors in the environment of proxies that read a ConfigMap. Each is read once, in bounded time.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use futures::StreamExt;
use tokio::time::Instant;

use super::Live;
use super::forward::{self, PATIENCE};
use super::served::{pem, shown};
use crate::fetched::Why;
use crate::item::diagnostic::{Answer, ProxyCertificates};
use crate::item::proxy_metrics::CertificateTarget;
use crate::objects::certificates::from_restored_bundle;
use crate::objects::container::TRUST_ANCHORS;

/// Number of proxies that are read in parallel.
const AT_ONCE: usize = 8;
/// Time limit for all proxies.
const BUDGET: Duration = Duration::from_secs(20);
/// Maximum size of a chain or of trust anchors, in bytes.
const MOST: usize = 256 * 1024;

impl Live {
    /// Reads the certificates of these proxies.
    pub async fn certificates(&self, targets: &[CertificateTarget]) -> Vec<Answer> {
        let until = self.at_latest(Instant::now() + BUDGET);
        let reads = targets.iter().map(|target| self.certificates_of(target));
        let mut reading = pin!(futures::stream::iter(reads).buffer_unordered(AT_ONCE));
        let mut all = Vec::new();
        while let Ok(Some(read)) = tokio::time::timeout_at(until, reading.next()).await {
            all.push(read);
        }
        let late = |target: &&CertificateTarget| {
            let is_it = |one: &ProxyCertificates| {
                (&one.namespace, &one.pod) == (&target.process.namespace, &target.process.pod)
            };
            !all.iter().any(is_it)
        };
        let late: Vec<ProxyCertificates> = targets
            .iter()
            .filter(late)
            .map(|target| ProxyCertificates {
                namespace: target.process.namespace.clone(),
                pod: target.process.pod.clone(),
                error: forward::too_late(BUDGET).to_string(),
                ..ProxyCertificates::default()
            })
            .collect();
        all.into_iter().chain(late).map(Answer::ProxyCertificates).collect()
    }

    async fn certificates_of(&self, target: &CertificateTarget) -> ProxyCertificates {
        let process = &target.process;
        let mut one = ProxyCertificates {
            namespace: process.namespace.clone(),
            pod: process.pod.clone(),
            ..ProxyCertificates::default()
        };
        let anchors =
            async { if target.reads_config_map { self.anchors_of(target).await.map(Some) } else { Ok(None) } };
        let (chain, anchors) = tokio::join!(self.chain_of(target), anchors);
        let mut errors = Vec::new();
        match chain {
            Ok(chain) => one.chain = chain,
            Err(why) => errors.push(why.to_string()),
        }
        match anchors {
            Ok(anchors) => one.anchors = anchors.unwrap_or_default(),
            Err(why) => errors.push(why.to_string()),
        }
        errors.dedup();
        one.error = errors.join("; ");
        one
    }

    async fn chain_of(&self, target: &CertificateTarget) -> Result<String, Why> {
        let process = &target.process;
        let patience = self.api.patience(PATIENCE);
        let failed = |message| Why::Failed { message };
        let reading = async {
            let pod = (process.namespace.as_str(), process.pod.as_str());
            let mut forwarder = forward::open(self.api.client(), pod, process.port).await?;
            let stream =
                forwarder.take_stream(process.port).ok_or_else(|| failed("no stream for the port".to_owned()))?;
            let chain = shown(stream, &target.name).await;
            forwarder.abort();
            let chain = pem(&chain.map_err(failed)?);
            if chain.len() > MOST { Err(failed("the certificates are too large".to_owned())) } else { Ok(chain) }
        };
        tokio::time::timeout(patience, reading).await.unwrap_or_else(|_| Err(forward::too_late(patience)))
    }

    /// The trust anchors in the environment of a proxy. No other variable is requested.
    async fn anchors_of(&self, target: &CertificateTarget) -> Result<String, Why> {
        let process = &target.process;
        let pod = (process.namespace.as_str(), process.pod.as_str());
        let path = format!("/env.json?{TRUST_ANCHORS}");
        let (status, body) = forward::get(&self.api, pod, process.port, &path).await?;
        let failed = |message: &str| Why::Failed { message: message.to_owned() };
        if status != 200 || body.len() > MOST {
            return Err(failed("the response to /env.json is an error"));
        }
        let variables: BTreeMap<String, Option<String>> =
            serde_json::from_slice(&body).map_err(|_| failed("the response to /env.json is not valid"))?;
        let anchors = variables.into_iter().find_map(|(name, value)| value.filter(|_| name == TRUST_ANCHORS));
        let anchors = anchors.ok_or_else(|| failed("the proxy has no trust anchors in its environment"))?;
        // Nothing else than certificates is kept.
        from_restored_bundle(&anchors).map_err(|_| failed("the trust anchors of the proxy are not valid"))?;
        Ok(anchors)
    }
}
