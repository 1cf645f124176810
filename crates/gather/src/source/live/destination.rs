//! Endpoints and profiles as each replica of destination returns them to proxies: gRPC through one port-forward per
//! replica, twice, in bounded time. Each stream ends after its first answer.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::StreamExt;
use http::Uri;
use hyper::body::Incoming;
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use linkerd2_proxy_api::destination::destination_client::DestinationClient;
use linkerd2_proxy_api::destination::tls_identity::Strategy;
use linkerd2_proxy_api::destination::update::Update as Change;
use linkerd2_proxy_api::destination::{GetDestination, WeightedAddr};
use linkerd2_proxy_api::net::TcpAddress;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;
use tonic::codegen::Service;

use super::Live;
use super::forward::{self, PATIENCE};
use super::quote::quote_answer;
use super::traffic::Meter;
use crate::fetched::Why;
use crate::item::destination::{Address, DESTINATION_PORT, DestinationSample, ServicePortTarget};
use crate::item::diagnostic::{
    Answer, Endpoint, EndpointsSample, FailedRead, ProfileAnswer, ReplicaProfile, ServiceEndpoints,
};
use crate::names::is_subdomain;
use crate::objects::{Meta, Uid};

/// Number of replicas that are requested in parallel.
const REPLICAS_AT_ONCE: usize = 3;
/// Number of Service ports that are requested from a replica in parallel.
const PORTS_AT_ONCE: usize = 20;
/// Time limit for one read of all replicas.
const BUDGET: Duration = Duration::from_secs(20);
/// Time limit for the first answer about a Service port. Recent releases send nothing if there are no endpoints.
const FIRST: Duration = Duration::from_secs(3);
/// Time to wait for further answers after the first.
const MORE: Duration = Duration::from_millis(200);
/// Maximum size of an answer, in bytes.
const MESSAGE: usize = 4 << 20;
/// Maximum number of endpoints of a Service port.
const ENDPOINTS: usize = 20_000;
/// Maximum number of answers about one Service port.
const MESSAGES: usize = 100;
/// Maximum number of Services whose EndpointSlices are read again.
const RECHECKED: usize = 20;
/// Maximum size of a list of EndpointSlices, in bytes.
const BODY: usize = 16 << 20;
/// Maximum number of Service ports that are named as left out.
const MOST_LEFT_OUT: usize = 1000;
/// Maximum number of errors of single Service ports that are kept.
const MOST_FAILED: usize = 100;
/// Container of destination.
const DESTINATION: &str = "destination";

/// The answers of a replica, by position of the Service port; an error per port.
type Answers = Vec<Option<Result<PortAnswer, String>>>;

/// The answers about a Service port.
#[derive(Debug, Clone, Default, PartialEq)]
struct PortAnswer {
    endpoints: BTreeSet<Endpoint>,
    /// `None` if the replica sent none.
    profile: Option<ProfileAnswer>,
}

impl Live {
    /// Requests the endpoints of these Service ports from each replica twice. If answers differ from EndpointSlices or
    /// from each other, it reads the EndpointSlices again.
    pub async fn endpoints(&self, sample: &DestinationSample, interval: Duration) -> Vec<Answer> {
        if sample.ports.is_empty() || sample.replicas.is_empty() {
            return Vec::new();
        }
        let began = Instant::now();
        let first = self.of_replicas(sample, &sample.replicas).await;
        let read: Vec<String> =
            first.iter().filter(|(_, answers)| answers.is_ok()).map(|(replica, _)| (*replica).to_owned()).collect();
        let mut second = BTreeMap::new();
        let period = if read.is_empty() {
            Duration::ZERO
        } else {
            tokio::time::sleep_until(self.at_latest(began + interval)).await;
            let elapsed = began.elapsed();
            second = self.of_replicas(sample, &read).await;
            elapsed
        };
        let mut summary = EndpointsSample {
            read: sample.ports.len(),
            left: sample.left.len(),
            left_out: sample.left.iter().take(MOST_LEFT_OUT).cloned().collect(),
            ..EndpointsSample::default()
        };
        let (mut all, mut profiles) = (Vec::new(), Vec::new());
        for (replica, answers) in &first {
            let again = second.get(replica);
            for failed in [Some(answers), again].into_iter().flatten() {
                let of = format!("{}/{replica}", sample.namespace);
                summary.failed.extend(failures(sample, of, failed));
            }
            let Ok(answers) = answers else { continue };
            for (index, target) in sample.ports.iter().enumerate() {
                let Some(Some(Ok(answer))) = answers.get(index) else { continue };
                let later = match again.map(|again| again.as_ref().map(|again| again.get(index))) {
                    Some(Ok(Some(Some(Ok(later))))) => Some(later),
                    _ => None,
                };
                let period = later.is_some().then_some(period.as_secs());
                if let Some(profile) = answer.profile {
                    profiles.push(ReplicaProfile {
                        namespace: target.namespace.clone(),
                        service: target.service.clone(),
                        replica: (*replica).to_owned(),
                        port: target.port,
                        profile,
                        again: later.and_then(|later| later.profile),
                        period,
                    });
                }
                all.push(ServiceEndpoints {
                    namespace: target.namespace.clone(),
                    service: target.service.clone(),
                    replica: (*replica).to_owned(),
                    port: target.port,
                    endpoints: answer.endpoints.iter().cloned().collect(),
                    again: later.map(|later| later.endpoints.iter().cloned().collect()),
                    period,
                });
            }
        }
        summary.failed.sort();
        summary.failed.dedup();
        summary.failed.truncate(MOST_FAILED);
        summary.unconfirmed = self.unconfirmed(sample, &all).await;
        let profiles = profiles.into_iter().map(Answer::Profile);
        all.into_iter().map(Answer::Endpoints).chain(profiles).chain([Answer::EndpointsSample(summary)]).collect()
    }

    /// One read of each replica. A replica that does not answer delays no other one.
    async fn of_replicas<'a>(
        &self,
        sample: &'a DestinationSample,
        replicas: &'a [String],
    ) -> BTreeMap<&'a str, Result<Answers, Why>> {
        let until = self.at_latest(Instant::now() + BUDGET);
        let reads = replicas.iter().map(|replica| async move {
            let read = tokio::time::timeout(BUDGET, self.of_replica(sample, replica)).await;
            (replica.as_str(), read.unwrap_or_else(|_| Err(forward::too_late(BUDGET))))
        });
        let mut results = BTreeMap::new();
        let mut reading = pin!(futures::stream::iter(reads).buffer_unordered(REPLICAS_AT_ONCE));
        while let Ok(Some((replica, read))) = tokio::time::timeout_at(until, reading.next()).await {
            results.insert(replica, read);
        }
        for replica in replicas {
            results.entry(replica.as_str()).or_insert_with(|| Err(forward::too_late(BUDGET)));
        }
        results
    }

    async fn of_replica(&self, sample: &DestinationSample, replica: &str) -> Result<Answers, Why> {
        let pod = (sample.namespace.as_str(), replica);
        let patience = self.api.patience(PATIENCE);
        let opening = forward::open(self.api.client(), pod, DESTINATION_PORT);
        let opened = tokio::time::timeout(patience, opening).await;
        let mut forwarder = opened.unwrap_or_else(|_| Err(forward::too_late(patience)))?;
        let error = forwarder.take_error(DESTINATION_PORT);
        let failed = |message: &str| Why::Failed { message: quote_answer(message, 200) };
        let Some(stream) = forwarder.take_stream(DESTINATION_PORT) else {
            return Err(failed("no stream for the port"));
        };
        let answers = answers(stream, sample, self.api.patience(FIRST)).await;
        let said = match error {
            // The kubelet's message is relevant only if nothing was received.
            Some(error) if answers.is_err() => tokio::time::timeout(Duration::from_secs(1), error).await.ok().flatten(),
            _ => None,
        };
        forwarder.abort();
        answers.map_err(|wrong| failed(said.as_deref().unwrap_or(&wrong)))
    }

    /// Services whose answers differ from EndpointSlices or from each other, without those whose EndpointSlices are
    /// still the same.
    async fn unconfirmed(&self, sample: &DestinationSample, all: &[ServiceEndpoints]) -> Vec<String> {
        let mut doubtful: BTreeMap<String, &ServicePortTarget> = BTreeMap::new();
        for target in &sample.ports {
            let of = |one: &&ServiceEndpoints| {
                (&one.namespace, &one.service, one.port) == (&target.namespace, &target.service, target.port)
            };
            let mut reads: Vec<BTreeSet<Address>> = Vec::new();
            for one in all.iter().filter(of) {
                reads.extend(
                    [Some(&one.endpoints), one.again.as_ref()]
                        .into_iter()
                        .flatten()
                        .map(|read| read.iter().map(|endpoint| (endpoint.ip.clone(), endpoint.port)).collect()),
                );
            }
            let differs = match &target.published {
                Some(published) => reads.iter().any(|read| read != published),
                None => reads.windows(2).any(|pair| pair[0] != pair[1]),
            };
            if differs {
                doubtful.insert(target.service_name(), target);
            }
        }
        let mut unconfirmed = Vec::new();
        for (index, (name, target)) in doubtful.into_iter().enumerate() {
            if index >= RECHECKED || !self.has_same_slices(target).await {
                unconfirmed.push(name);
            }
        }
        unconfirmed
    }

    /// Whether the EndpointSlices of a Service have not changed.
    async fn has_same_slices(&self, target: &ServicePortTarget) -> bool {
        #[derive(Deserialize)]
        struct Slices {
            items: Vec<Slice>,
        }
        #[derive(Deserialize)]
        struct Slice {
            metadata: Meta,
        }
        let path = format!(
            "/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D{}",
            target.namespace, target.service
        );
        let meter = Meter::default();
        let Ok(answer) = self.api.get(&path, &meter, true).await else { return false };
        let Ok(body) = answer.whole(&meter, BODY) else { return false };
        let Ok(now) = serde_json::from_slice::<Slices>(&body) else { return false };
        let now: BTreeMap<String, (Uid, i64)> = now
            .items
            .into_iter()
            .map(|slice| (slice.metadata.name, (slice.metadata.uid, slice.metadata.generation)))
            .collect();
        now == target.slices && now.values().all(|(_, generation)| *generation > 0)
    }
}

/// The failures of a read.
fn failures(sample: &DestinationSample, pod: String, read: &Result<Answers, Why>) -> Vec<FailedRead> {
    let container = DESTINATION.to_owned();
    match read {
        Err(why) => vec![FailedRead { pod, container, error: why.to_string() }],
        Ok(answers) => {
            let each = sample.ports.iter().zip(answers).filter_map(|(target, answer)| {
                let error = match answer {
                    None => "no answer in time".to_owned(),
                    Some(Err(error)) => error.clone(),
                    Some(Ok(_)) => return None,
                };
                let error = format!("{}:{}: {error}", target.service_name(), target.port);
                Some(FailedRead { pod: pod.clone(), container: container.clone(), error })
            });
            each.collect()
        }
    }
}

/// Requests the endpoints of all Service ports over one connection.
async fn answers(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    sample: &DestinationSample,
    patience: Duration,
) -> Result<Answers, String> {
    let handshake = http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
    let handshake = tokio::time::timeout(patience, handshake).await;
    let (requests, connection) =
        handshake.map_err(|_| NOTHING.to_owned())?.map_err(|_| "the program on the port does not use gRPC")?;
    let origin = Uri::from_static("http://localhost:8086");
    let client = DestinationClient::with_origin(Channel(requests), origin).max_decoding_message_size(MESSAGE);
    let reads = sample.ports.iter().enumerate().map(|(index, target)| {
        let client = client.clone();
        let request = GetDestination {
            scheme: "http:".to_owned(),
            path: target.authority(&sample.domain),
            context_token: token(sample, target),
        };
        async move {
            let profile = profile(client.clone(), request.clone(), patience);
            let (endpoints, profile) = tokio::join!(endpoints(client, request, patience), profile);
            (index, endpoints, profile)
        }
    });
    let reading = pin!(async {
        let mut all: Answers = vec![None; sample.ports.len()];
        let mut silent = Vec::new();
        let mut has_answered = false;
        let mut reading = pin!(futures::stream::iter(reads).buffer_unordered(PORTS_AT_ONCE));
        while let Some((index, endpoints, profile)) = reading.next().await {
            has_answered |= profile.is_some() || matches!(endpoints, Ok(Some(_)));
            match endpoints {
                Ok(Some(endpoints)) => all[index] = Some(Ok(PortAnswer { endpoints, profile })),
                Ok(None) => silent.push((index, profile)),
                Err(error) => all[index] = Some(Err(error)),
            }
        }
        (all, silent, has_answered)
    });
    let connection = pin!(connection);
    let (mut all, silent, has_answered) = tokio::select! {
        read = reading => read,
        ended = connection => {
            return Err(match ended {
                Ok(()) => "the connection ended".to_owned(),
                Err(error) => unusable(&error),
            });
        }
    };
    // Without endpoints, recent releases send nothing. A replica that answers nothing at all may be broken.
    if !has_answered {
        let error = all.into_iter().flatten().find_map(Result::err);
        return Err(error.unwrap_or_else(|| NOTHING.to_owned()));
    }
    for (index, profile) in silent {
        all[index] = Some(Ok(PortAnswer { endpoints: BTreeSet::new(), profile }));
    }
    Ok(all)
}

/// The context of a request: the node of its client. Destination logs an error for a request without one.
fn token(sample: &DestinationSample, target: &ServicePortTarget) -> String {
    if target.has_hints || sample.node.is_empty() {
        return String::new();
    }
    serde_json::json!({ "nodeName": sample.node }).to_string()
}

const NOTHING: &str = "no answer about any Service";

fn unusable(error: &hyper::Error) -> String {
    format!("the program on the port does not use gRPC: {error}")
}

/// The endpoints of one Service port; `None` if nothing was sent.
async fn endpoints(
    mut client: DestinationClient<Channel>,
    request: GetDestination,
    patience: Duration,
) -> Result<Option<BTreeSet<Endpoint>>, String> {
    let refused = |status: tonic::Status| {
        // The connection's error, not a status that the program sent.
        if let Some(error) = std::error::Error::source(&status) {
            return format!("the connection broke, or the program on the port does not use gRPC: {error}");
        }
        let message = quote_answer(status.message(), 200);
        if message.is_empty() { status.code().description().to_owned() } else { message }
    };
    let first = Instant::now() + patience;
    let Ok(answer) = tokio::time::timeout_at(first, client.get(request)).await else { return Ok(None) };
    let mut stream = answer.map_err(refused)?.into_inner();
    let mut all: BTreeMap<Address, Endpoint> = BTreeMap::new();
    let mut until = first;
    for count in 0..MESSAGES {
        let message = match tokio::time::timeout_at(until, stream.message()).await {
            Err(_) if count == 0 => return Ok(None),
            Err(_) => break,
            Ok(message) => message.map_err(refused)?,
        };
        let Some(message) = message else { return Err("the answer ended".to_owned()) };
        until = Instant::now() + MORE;
        match message.update {
            Some(Change::Add(added)) => {
                for one in added.addrs {
                    let endpoint = endpoint(one).ok_or("an answer without a valid address")?;
                    all.insert((endpoint.ip.clone(), endpoint.port), endpoint);
                }
                if all.len() > ENDPOINTS {
                    return Err(format!("more than {ENDPOINTS} endpoints"));
                }
            }
            Some(Change::Remove(removed)) => {
                for one in removed.addrs {
                    all.remove(&address(one).ok_or("an answer without a valid address")?);
                }
            }
            Some(Change::NoEndpoints(_)) => all.clear(),
            None => return Err("an empty answer".to_owned()),
        }
    }
    Ok(Some(all.into_values().collect()))
}

/// The profile of one Service port; `None` if nothing was sent.
async fn profile(
    mut client: DestinationClient<Channel>,
    request: GetDestination,
    patience: Duration,
) -> Option<ProfileAnswer> {
    let first = async {
        let mut stream = client.get_profile(request).await.ok()?.into_inner();
        stream.message().await.ok()?
    };
    let profile = tokio::time::timeout(patience, first).await.ok()??;
    Some(ProfileAnswer {
        opaque: profile.opaque_protocol,
        routes: profile.routes.len(),
        splits: profile.dst_overrides.len(),
    })
}

fn address(of: TcpAddress) -> Option<Address> {
    let ip = IpAddr::try_from(of.ip?).ok()?;
    Some((ip.to_string(), u16::try_from(of.port).ok()?))
}

fn endpoint(of: WeightedAddr) -> Option<Endpoint> {
    let (ip, port) = address(of.addr?)?;
    let pod = of.metric_labels.get("pod").filter(|name| is_subdomain(name)).cloned().unwrap_or_default();
    let identity = match of.tls_identity.and_then(|identity| identity.strategy) {
        Some(Strategy::DnsLikeIdentity(identity)) => identity.name,
        Some(Strategy::UriLikeIdentity(identity)) => identity.uri,
        None => String::new(),
    };
    // A name of another form is not kept.
    let identity = Some(identity).filter(|name| is_subdomain(name)).unwrap_or_default();
    Some(Endpoint { pod, ip, port, identity })
}

/// The connection to a replica.
#[derive(Clone)]
struct Channel(SendRequest<tonic::body::Body>);

impl Service<http::Request<tonic::body::Body>> for Channel {
    type Response = http::Response<Incoming>;
    type Error = hyper::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), hyper::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<tonic::body::Body>) -> Self::Future {
        Box::pin(self.0.send_request(request))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// The HTTP/2 frames that the destination controller of Linkerd (b24cd405, after edge-26.8.3) sent about a Service
    /// with two ready endpoints and one that is not ready.
    const RECORDED: &[u8] = include_bytes!("../../../testdata/destination-get.http2");

    async fn read(frames: &[u8]) -> Result<Answers, String> {
        let target = ServicePortTarget {
            namespace: "shop".to_owned(),
            service: "web".to_owned(),
            port: 80,
            ..ServicePortTarget::default()
        };
        let authority = target.authority("cluster.local");
        let sample = DestinationSample {
            domain: "cluster.local".to_owned(),
            ports: vec![target],
            ..DestinationSample::default()
        };
        let (ours, mut theirs) = tokio::io::duplex(64 * 1024);
        let play = async {
            let mut request = Vec::new();
            while !String::from_utf8_lossy(&request).contains(&authority) {
                request.push(theirs.read_u8().await.expect("a request"));
            }
            theirs.write_all(frames).await.expect("a reader");
            std::future::pending::<()>().await;
        };
        tokio::select! {
            answers = answers(ours, &sample, Duration::from_secs(2)) => answers,
            () = play => Err("it ended".to_owned()),
        }
    }

    #[tokio::test]
    async fn recorded_answer_is_read() {
        let answers = read(RECORDED).await.expect("an answer");
        let [Some(Ok(answer))] = answers.as_slice() else { panic!("{answers:?}") };
        let identity = "default.shop.serviceaccount.identity.linkerd.cluster.local";
        let expected = [("web-1", "10.42.1.1"), ("web-2", "10.42.1.2")].map(|(pod, ip)| Endpoint {
            pod: pod.to_owned(),
            ip: ip.to_owned(),
            port: 8080,
            identity: identity.to_owned(),
        });
        assert_eq!(answer.endpoints.iter().cloned().collect::<Vec<_>>(), expected);
    }

    #[tokio::test]
    async fn truncated_answer_is_an_error() {
        for length in [0, 9, 40, RECORDED.len() - 100] {
            assert_eq!(read(&RECORDED[..length]).await, Err(NOTHING.to_owned()), "{length}");
        }
        assert!(read(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.is_err());
    }
}
