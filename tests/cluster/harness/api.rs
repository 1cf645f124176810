//! A small client for an API server (or etcd's JSON gateway): requests in, JSON out.
//!
//! It is independent of the product, so that a mistake in the product's client cannot hide in its tests.
//! `kube` is only used for the connection.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// The field manager under which the tests apply objects.
const MANAGER: &str = "cluster-tests";

/// One server, seen by one user.
#[derive(Clone)]
pub struct Api {
    runtime: Arc<Runtime>,
    client: kube::Client,
    /// Resources by `apiVersion`, as discovery gave them.
    served: Arc<Mutex<BTreeMap<String, Vec<Value>>>>,
}

/// The answer of the server to one request.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body; text that is not valid JSON becomes a JSON string.
    pub body: Value,
}

/// API path of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// `/api/v1` or `/apis/<group>/<version>`.
    pub root: String,
    /// The plural name, such as `deployments`.
    pub plural: String,
    pub namespaced: bool,
    /// Whether it has a `status` subresource, so that writes to the object do not change the status.
    pub has_status: bool,
}

impl Resource {
    /// The path of one object, or of the list when `name` is empty.
    pub fn path(&self, namespace: &str, name: &str) -> String {
        let mut path = self.root.clone();
        if self.namespaced && !namespace.is_empty() {
            path = format!("{path}/namespaces/{namespace}");
        }
        path = format!("{path}/{}", self.plural);
        if !name.is_empty() {
            // Names of RBAC objects may contain a colon, which is valid in a path.
            path = format!("{path}/{name}");
        }
        path
    }
}

impl Api {
    /// A client for `url`; `authority` is the PEM that verifies its certificate, if it uses TLS.
    pub fn new(url: &str, authority: Option<&[u8]>, token: Option<&str>) -> Api {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let client = {
            let _inside = runtime.enter();
            connect(url, authority, token)
        };
        Api { runtime: Arc::new(runtime), client, served: Arc::default() }
    }

    /// Sends a request and returns the answer; the error is a failed connection.
    pub fn call(&self, method: &str, path: &str, kind: &str, body: Vec<u8>) -> Result<Answer, String> {
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", kind)
            .header("accept", "application/json")
            .header("user-agent", "meshdoctor-cluster-tests")
            .body(kube::client::Body::from(body))
            .unwrap();
        self.runtime.block_on(async {
            let answer = self.client.send(request).await.map_err(|error| error.to_string())?;
            let status = answer.status().as_u16();
            let bytes = answer.into_body().collect().await.map_err(|error| error.to_string())?.to_bytes();
            let body = serde_json::from_slice(&bytes)
                .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()));
            Ok(Answer { status, body })
        })
    }

    /// The same, with a panic that names the request unless the status is a good one.
    fn must(&self, method: &str, path: &str, kind: &str, body: &Value) -> Value {
        let bytes = if body.is_null() { Vec::new() } else { serde_json::to_vec(body).unwrap() };
        match self.call(method, path, kind, bytes) {
            Ok(answer) if (200..300).contains(&answer.status) => answer.body,
            Ok(answer) => panic!("{method} {path}: {} {}", answer.status, message(&answer.body)),
            Err(error) => panic!("{method} {path}: {error}"),
        }
    }

    pub fn get(&self, path: &str) -> Value {
        self.must("GET", path, "application/json", &Value::Null)
    }

    /// The object at a path, or `None` if it does not exist.
    pub fn find(&self, path: &str) -> Option<Value> {
        let answer = self.call("GET", path, "application/json", Vec::new());
        let answer = answer.unwrap_or_else(|error| panic!("GET {path}: {error}"));
        match answer.status {
            200 => Some(answer.body),
            404 => None,
            status => panic!("GET {path}: {status} {}", message(&answer.body)),
        }
    }

    pub fn post(&self, path: &str, body: &Value) -> Value {
        self.must("POST", path, "application/json", body)
    }

    /// Changes some fields of an object (a JSON merge patch).
    pub fn merge(&self, path: &str, fields: &Value) -> Value {
        self.must("PATCH", path, "application/merge-patch+json", fields)
    }

    /// Every object of a list, all pages of it.
    pub fn list(&self, path: &str) -> Vec<Value> {
        let mut objects = Vec::new();
        let mut token = String::new();
        loop {
            let mut page = self.get(&format!("{path}?limit=500&continue={token}"));
            if let Value::Array(items) = page["items"].take() {
                objects.extend(items);
            }
            match page["metadata"]["continue"].as_str() {
                Some(next) if !next.is_empty() => token = next.to_owned(),
                _ => return objects,
            }
        }
    }

    /// The resource of an object like this one. Waits for definitions that were just applied.
    pub fn resource(&self, object: &Value) -> Resource {
        let (version, kind) = (text(object, "apiVersion"), text(object, "kind"));
        let root = match version.contains('/') {
            true => format!("/apis/{version}"),
            false => format!("/api/{version}"),
        };
        let late = Instant::now() + Duration::from_secs(20);
        loop {
            let mut served = self.served.lock().unwrap();
            let resources = served.entry(version.to_owned()).or_insert_with(|| self.discover(&root));
            let named = |wanted: &str| resources.iter().any(|resource| resource["name"] == wanted);
            let found =
                resources.iter().find(|resource| resource["kind"] == kind && !text(resource, "name").contains('/'));
            if let Some(resource) = found {
                let plural = text(resource, "name").to_owned();
                let has_status = named(&format!("{plural}/status"));
                return Resource { root, plural, namespaced: resource["namespaced"] == true, has_status };
            }
            served.remove(version);
            drop(served);
            assert!(Instant::now() < late, "the server does not serve {kind} of {version}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn discover(&self, root: &str) -> Vec<Value> {
        match self.find(root).map(|mut found| found["resources"].take()) {
            Some(Value::Array(resources)) => resources,
            _ => Vec::new(),
        }
    }

    /// The path of this object.
    pub fn path(&self, object: &Value) -> String {
        self.resource(object).path(text(&object["metadata"], "namespace"), text(&object["metadata"], "name"))
    }

    /// Server-side apply; a status in the object is written as its owner would, through the subresource.
    pub fn apply(&self, object: &Value) {
        if let Err(why) = self.try_apply(object) {
            panic!("{why}");
        }
    }

    /// The same; the error is the server's message.
    pub fn try_apply(&self, object: &Value) -> Result<(), String> {
        let resource = self.resource(object);
        let path = resource.path(text(&object["metadata"], "namespace"), text(&object["metadata"], "name"));
        let url = format!("{path}?fieldManager={MANAGER}&force=true");
        let bytes = serde_json::to_vec(object).unwrap();
        let answer = self.call("PATCH", &url, "application/apply-patch+yaml", bytes)?;
        if !(200..300).contains(&answer.status) {
            return Err(format!("PATCH {url}: {} {}", answer.status, message(&answer.body)));
        }
        if resource.has_status && object["status"].is_object() {
            self.set_status(&path, &object["status"]);
        }
        Ok(())
    }

    /// Deletes the object at this path.
    pub fn delete(&self, path: &str) {
        self.must("DELETE", path, "application/json", &Value::Null);
    }

    /// Creates the object as written, or applies it if the server already created one of that name. Unknown
    /// fields are refused, not dropped.
    pub fn create(&self, object: &Value) {
        let resource = self.resource(object);
        let namespace = text(&object["metadata"], "namespace");
        let list = resource.path(namespace, "");
        let strict = format!("{list}?fieldValidation=Strict");
        let answer = self.call("POST", &strict, "application/json", serde_json::to_vec(object).unwrap());
        let answer = answer.unwrap_or_else(|error| panic!("POST {list}: {error}"));
        match answer.status {
            201 if resource.has_status && object["status"].is_object() => {
                self.set_status(&resource.path(namespace, text(&object["metadata"], "name")), &object["status"]);
            }
            201 => {}
            409 if answer.body["reason"] == "AlreadyExists" => self.apply(object),
            status => panic!("POST {list}: {status} {}\n{object:#}", message(&answer.body)),
        }
    }

    /// Writes the status of the object at `path`, as a controller or a kubelet does.
    pub fn set_status(&self, path: &str, status: &Value) {
        self.merge(&format!("{path}/status?fieldValidation=Strict"), &json!({ "status": status }));
    }
}

/// A connection without retries and without processing of bodies. Call it inside a runtime.
pub fn connect(url: &str, authority: Option<&[u8]>, token: Option<&str>) -> kube::Client {
    let mut config = kube::Config::new(url.parse().unwrap());
    config.root_cert = authority.map(|pem| vec![der(pem)]);
    config.default_retry = false;
    config.disable_compression = true;
    config.auth_info.token = token.map(|token| token.to_owned().into());
    kube::Client::try_from(config).unwrap()
}

/// The text of a field, empty if it is missing.
pub fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// The server's own words about a failure.
fn message(body: &Value) -> String {
    body["message"].as_str().map_or_else(|| body.to_string(), str::to_owned)
}

fn der(pem: &[u8]) -> Vec<u8> {
    use base64::Engine as _;
    let text = String::from_utf8(pem.to_vec()).unwrap();
    let body: String = text.lines().filter(|line| !line.starts_with("-----")).collect();
    base64::engine::general_purpose::STANDARD.decode(body).unwrap()
}
