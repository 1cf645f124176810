//! A played API server on loopback: it lists and gives the objects of a small mesh, and forwards ports of pods to played
//! programs. It remembers the requested paths.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use meshdoctor::item::Kind;
use meshdoctor::source::memory::{Memory, StoredObject};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::program::{Says, play};
use crate::case;

/// A private key of an unknown algorithm, as an entry of a Secret: whether it belongs to a certificate is not known.
const UNKNOWN_KEY: &str = "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1BMENBUUF3QlFZREtnTUVCQUVBCi0tLS0tRU5EIFBS\
     SVZBVEUgS0VZLS0tLS0K";

/// The objects of a mesh with viz and a link. Whether the keys in its Secrets belong to their certificates is not known.
pub fn mesh() -> Memory {
    let mut memory = Memory::default();
    for base in ["healthy", "viz", "multicluster"] {
        let text = case::base(base).unwrap();
        for document in serde_yaml::Deserializer::from_str(&text) {
            let mut object: Value = serde::Deserialize::deserialize(document).unwrap();
            for (certificate, key) in [("tls.crt", "tls.key"), ("crt.pem", "key.pem")] {
                if object["kind"] == "Secret" && object["data"].get(certificate).is_some() {
                    object["data"][key] = UNKNOWN_KEY.into();
                }
            }
            memory.add(&object).unwrap();
        }
    }
    memory
}

/// Changes one object of a mesh.
pub fn change(memory: &mut Memory, kind: Kind, name: &str, how: impl FnOnce(&mut Value)) {
    let held = memory.objects.get_mut(&kind).unwrap().iter_mut().find(|held| held.name == name).unwrap();
    let mut object: Value = serde_json::from_slice(&held.json).unwrap();
    how(&mut object);
    held.json = object.to_string().into_bytes();
}

/// The data of the server.
#[derive(Default)]
pub struct Cluster {
    /// Its objects.
    pub memory: Memory,
    /// The answers of programs in pods, by the beginning of the pod's name and the port. Others are refused.
    pub programs: BTreeMap<(String, u16), Says>,
    /// The bearer token; without it the answer is 401.
    pub token: Option<&'static str>,
    /// The logs of containers, by pod and container, `previous/` before the run before. `None`: reading them is denied.
    pub logs: Option<BTreeMap<String, String>>,
    /// What an access review denies: `create secrets`. Everything else is allowed.
    pub denied: Vec<&'static str>,
}

/// A running server; it ends with its runtime.
#[derive(Clone)]
pub struct Server {
    pub url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub async fn start(cluster: Cluster) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (cluster, log) = (Arc::new(cluster), Arc::clone(&asked));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&cluster), Arc::clone(&log)));
            }
        });
        Server { url, asked }
    }

    /// A server that accepts connections and never answers.
    pub async fn silent() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let mut held = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                held.push(stream);
            }
        });
        Server { url, asked: Arc::default() }
    }

    /// The requested paths, in order.
    pub fn requested_paths(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(stream: TcpStream, cluster: Arc<Cluster>, log: Arc<Mutex<Vec<String>>>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.ok()?);
        }
        let head = String::from_utf8(head).ok()?;
        let target = head.split(' ').nth(1)?.to_owned();
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        log.lock().unwrap().push(path.to_owned());
        if let Some(pod) = path.strip_suffix("/portforward") {
            let pod = pod.rsplit('/').next()?;
            let port = query.split('&').find_map(|pair| pair.strip_prefix("ports="))?.parse().ok()?;
            let of = |((start, of), _): &(&(String, u16), &Says)| pod.starts_with(start.as_str()) && *of == port;
            let refused = Says::Refuses(404, "no such program is played");
            let says = cluster.programs.iter().find(of).map_or(&refused, |(_, says)| says);
            return play(stream.into_inner(), &head, port, says).await;
        }
        let length = head.lines().find_map(|line| {
            let (name, length) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| length.trim().parse::<usize>().ok())?
        });
        let mut body = vec![0; length.unwrap_or_default()];
        stream.read_exact(&mut body).await.ok()?;
        if path.ends_with("/selfsubjectaccessreviews") {
            let review = reviewed(&cluster.denied, &body)?;
            stream.write_all(http(201, &review.to_string()).as_bytes()).await.ok()?;
            continue;
        }
        if let Some(pod) = path.strip_suffix("/log") {
            let said = log_of(cluster.logs.as_ref(), pod.rsplit('/').next()?, query);
            stream.write_all(said.as_bytes()).await.ok()?;
            continue;
        }
        let signed = cluster.token.is_none_or(|token| head.contains(&format!("Bearer {token}")));
        let (status, body) =
            if signed { answer(&cluster.memory, path, query) } else { (401, failure(401, "Unauthorized")) };
        stream.write_all(http(status, &body.to_string()).as_bytes()).await.ok()?;
    }
}

/// The end of a container's log.
fn log_of(logs: Option<&BTreeMap<String, String>>, pod: &str, query: &str) -> String {
    let pairs: BTreeMap<&str, &str> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
    for bound in ["tailLines", "limitBytes"] {
        assert!(pairs[bound].parse::<usize>().unwrap() <= 1 << 20, "{query}");
    }
    assert_eq!(pairs["timestamps"], "true");
    let before = if pairs.contains_key("previous") { "previous/" } else { "" };
    let Some(logs) = logs else {
        return http(403, &failure(403, "pods \"x\" is forbidden: cannot get resource \"pods/log\"").to_string());
    };
    match logs.get(&format!("{before}{pod}/{}", pairs["container"])) {
        Some(text) => http(200, text).replacen("application/json", "text/plain", 1),
        None => http(200, "").replacen("application/json", "text/plain", 1),
    }
}

/// The answer to an access review.
fn reviewed(denied: &[&str], question: &[u8]) -> Option<Value> {
    let mut review: Value = serde_json::from_slice(question).ok()?;
    let asked = &review["spec"]["resourceAttributes"];
    let words = format!("{} {}", asked["verb"].as_str()?, asked["resource"].as_str()?);
    review["status"] = json!({ "allowed": !denied.contains(&words.as_str()) });
    Some(review)
}

/// An answer in HTTP.
pub fn http(status: u16, body: &str) -> String {
    format!("HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// The answer of an API server to a rejected request.
pub fn failure(status: u16, message: &str) -> Value {
    json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
        "reason": "Because", "code": status })
}

fn answer(memory: &Memory, path: &str, query: &str) -> (u16, Value) {
    if path == "/version" {
        return (200, json!({ "major": "1", "minor": "31", "gitVersion": "v1.31.5" }));
    }
    let words: Vec<&str> = path.split('/').skip(1).collect();
    let (group, rest) = match words.as_slice() {
        ["api", _, rest @ ..] => ("", rest),
        ["apis", group, _, rest @ ..] => (*group, rest),
        _ => return (404, failure(404, "no such path")),
    };
    let (namespace, plural, name) = match rest {
        ["namespaces", namespace, plural] => (Some(*namespace), *plural, None),
        ["namespaces", namespace, plural, name] => (Some(*namespace), *plural, Some(*name)),
        [plural] => (None, *plural, None),
        [plural, name] => (None, *plural, Some(*name)),
        _ => return (404, failure(404, "no such path")),
    };
    let kind = Kind::ALL.iter().find(|kind| kind.info().plural == plural && kind.info().group == group);
    let held = kind.and_then(|kind| memory.objects.get(kind)).map_or(&[][..], Vec::as_slice);
    let here = |held: &&StoredObject| namespace.is_none_or(|namespace| held.namespace == namespace);
    let read = |held: &StoredObject| -> Value { serde_json::from_slice(&held.json).unwrap() };
    match name {
        Some(name) => match held.iter().filter(here).find(|held| held.name == name) {
            Some(held) => (200, read(held)),
            None => {
                let mut status = failure(404, "it is not there");
                status["details"] = json!({ "name": name });
                (404, status)
            }
        },
        None => {
            let selector = query.split('&').find_map(|pair| pair.strip_prefix("labelSelector="));
            let selector = selector.map(|text| text.replace("%2F", "/").replace("%3D", "="));
            let selected = |object: &Value| {
                selector
                    .as_deref()
                    .and_then(|text| text.split_once('='))
                    .is_none_or(|(label, value)| object["metadata"]["labels"][label] == value)
            };
            let items: Vec<Value> = held.iter().filter(here).map(read).filter(selected).collect();
            (200, json!({ "kind": "List", "apiVersion": "v1", "metadata": {}, "items": items }))
        }
    }
}
