//! An API server in this process: discovery, objects, patches and the answers of the stand-in programs. The real kubectl
//! talks to it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use meshdoctor::item::Kind;
use meshdoctor::kubectl::Edit;
use serde_json::{Value, json};

use super::world::{World, key, with_applied};
use super::{programs, strategic};

/// The cluster of the current case.
pub type Shared = Arc<Mutex<Option<World>>>;

/// The release of Kubernetes that the server states, without patch number.
pub const RELEASE: &str = "1.31";

/// Starts the server; it ends with the process.
pub fn start(world: Shared) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let world = Arc::clone(&world);
            std::thread::spawn(move || serve(stream, &world));
        }
    });
    port
}

struct Request {
    method: String,
    path: String,
    query: String,
    content: String,
    body: Vec<u8>,
}

fn read(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    stream.read_line(&mut line).ok().filter(|&read| read > 0)?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (path, query) = (decoded(path), query.to_owned());
    let (mut length, mut content, mut chunked) = (0, String::new(), false);
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "content-type" => content = value.to_owned(),
            "transfer-encoding" => chunked = value == "chunked",
            _ => {}
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    while chunked {
        let mut size = String::new();
        stream.read_line(&mut size).ok()?;
        let size = usize::from_str_radix(size.trim(), 16).ok()?;
        let mut chunk = vec![0; size + 2];
        stream.read_exact(&mut chunk).ok()?;
        body.extend_from_slice(&chunk[..size]);
        chunked = size > 0;
    }
    Some(Request { method, path, query, content, body })
}

/// Text of a URL.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| byte == b'%') {
            Some(value) => {
                bytes.push(value);
                rest = &after[2..];
            }
            None => {
                bytes.push(if byte == b'+' { b' ' } else { byte });
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn serve(stream: TcpStream, world: &Shared) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let request = read(&mut stream)?;
        let (status, body) = match world.lock().unwrap().as_mut() {
            Some(world) => answer(world, &request),
            None => (503, failure(503, "no case is run")),
        };
        let (kind, body) = match body {
            // A watch that ends at once.
            Value::Null => ("application/json", String::new()),
            Value::String(text) => ("text/plain", text),
            other => ("application/json", other.to_string()),
        };
        let head =
            format!("HTTP/1.1 {status} Answer\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.get_mut().write_all(format!("{head}{body}").as_bytes()).ok()?;
    }
}

fn failure(code: u16, message: &str) -> Value {
    let reason = match code {
        404 => "NotFound",
        409 => "AlreadyExists",
        422 => "Invalid",
        _ => "BadRequest",
    };
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
        "reason": reason, "code": code})
}

fn answer(world: &mut World, request: &Request) -> (u16, Value) {
    let words: Vec<&str> = request.path.split('/').skip(1).collect();
    match words.as_slice() {
        ["version"] => (200, json!({"major": "1", "minor": "31", "gitVersion": format!("v{RELEASE}.5")})),
        ["api"] => (200, json!({"kind": "APIVersions", "apiVersion": "v1", "versions": ["v1"]})),
        ["apis"] => (200, groups()),
        ["api", version] => resources("", version),
        ["apis", group, version] => resources(group, version),
        ["stand-in", program] => match programs::run(world, program, &request.body) {
            Ok(text) => (200, Value::String(text)),
            Err(why) => (422, failure(422, &why)),
        },
        ["api", version, rest @ ..] => object(world, request, ("", version), rest),
        ["apis", group, version, rest @ ..] => object(world, request, (group, version), rest),
        _ => (404, failure(404, "no such path")),
    }
}

/// The kinds that are served, each in all versions that cards use.
fn served() -> impl Iterator<Item = (Kind, &'static str)> {
    Kind::all().flat_map(|kind| {
        let info = kind.info();
        std::iter::once(info.version).chain(info.older.iter().copied()).map(move |version| (kind, version))
    })
}

fn groups() -> Value {
    let mut groups: Vec<Value> = Vec::new();
    for (kind, version) in served().filter(|(kind, _)| !kind.info().group.is_empty()) {
        let group = kind.info().group;
        let offered = json!({"groupVersion": format!("{group}/{version}"), "version": version});
        match groups.iter_mut().find(|known| known["name"] == group) {
            None => groups.push(json!({"name": group, "versions": [offered], "preferredVersion": offered})),
            Some(known) => {
                let versions = known["versions"].as_array_mut().unwrap();
                if !versions.contains(&offered) {
                    versions.push(offered);
                }
            }
        }
    }
    for group in ["authorization.k8s.io", "authentication.k8s.io"] {
        let offered = json!({"groupVersion": format!("{group}/v1"), "version": "v1"});
        groups.push(json!({"name": group, "versions": [offered], "preferredVersion": offered}));
    }
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

fn resources(group: &str, version: &str) -> (u16, Value) {
    let verbs = json!(["create", "delete", "get", "list", "patch", "update", "watch"]);
    let mut all = Vec::new();
    for (kind, of) in served().filter(|(kind, of)| kind.info().group == group && *of == version) {
        let info = kind.info();
        let names: Vec<&str> = info.aliases.iter().copied().filter(|alias| !alias.contains('.')).collect();
        all.push(json!({"name": info.plural, "singularName": info.kind.to_lowercase(), "kind": info.kind,
            "namespaced": info.namespaced, "verbs": verbs, "shortNames": names, "categories": categories(kind)}));
        if matches!(kind, Kind::Deployment | Kind::StatefulSet | Kind::ReplicaSet) && of == "v1" {
            all.push(json!({"name": format!("{}/scale", info.plural), "singularName": "", "kind": "Scale",
                "group": "autoscaling", "version": "v1", "namespaced": true, "verbs": ["get", "patch", "update"]}));
        }
    }
    if group == "authorization.k8s.io" {
        all.push(json!({"name": "selfsubjectaccessreviews", "singularName": "", "kind": "SelfSubjectAccessReview",
            "namespaced": false, "verbs": ["create"]}));
    }
    let name = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    (200, json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": name, "resources": all}))
}

/// The categories of a kind: `kubectl get all` lists those of workloads and Services.
fn categories(kind: Kind) -> Value {
    let workloads = [
        Kind::Pod,
        Kind::Service,
        Kind::Deployment,
        Kind::ReplicaSet,
        Kind::StatefulSet,
        Kind::DaemonSet,
        Kind::Job,
        Kind::CronJob,
    ];
    if workloads.contains(&kind) { json!(["all"]) } else { json!([]) }
}

fn object(world: &mut World, request: &Request, (group, version): (&str, &str), rest: &[&str]) -> (u16, Value) {
    let (namespace, plural, name, below) = match rest {
        ["namespaces", namespace, plural, name, below] => (*namespace, *plural, Some(*name), Some(*below)),
        ["namespaces", namespace, plural, name] => (*namespace, *plural, Some(*name), None),
        ["namespaces", name, below @ ("status" | "finalize")] => ("", "namespaces", Some(*name), Some(*below)),
        ["namespaces", namespace, plural] => (*namespace, *plural, None, None),
        [plural, name, below @ "status"] => ("", *plural, Some(*name), Some(*below)),
        [plural, name] => ("", *plural, Some(*name), None),
        [plural] => ("", *plural, None, None),
        _ => return (404, failure(404, "no such path")),
    };
    if plural == "selfsubjectaccessreviews" {
        let mut review: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        review["status"] = json!({"allowed": true});
        return (201, review);
    }
    let kind = Kind::all().find(|kind| kind.info().group == group && kind.info().plural == plural);
    let Some(kind) = kind else {
        return (404, failure(404, "the server could not find the requested resource"));
    };
    let served = |mut object: Value| {
        let info = kind.info();
        object["kind"] = json!(info.kind);
        object["apiVersion"] = json!(if group.is_empty() { version.into() } else { format!("{group}/{version}") });
        object
    };
    let missing = |name: &str| {
        let message = format!("{} \"{name}\" not found", kind.resource());
        (404, failure(404, &message))
    };
    let is_dry = request.query.contains("dryRun=All");
    match (request.method.as_str(), name) {
        ("GET", None) if request.query.contains("watch=") => (200, Value::Null),
        ("GET", None) => {
            let selected = world.of_kind(kind).filter(|object| selects(&request.query, namespace, object));
            let items: Vec<Value> = selected.cloned().map(&served).collect();
            let list = format!("{}List", kind.info().kind);
            let of = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
            (200, json!({"kind": list, "apiVersion": of, "metadata": {"resourceVersion": "1"}, "items": items}))
        }
        ("GET", Some(_)) if below == Some("log") => (200, Value::String(String::new())),
        ("GET", Some(name)) => match world.get(kind, namespace, name) {
            Some(object) if below == Some("scale") => (200, scale(object)),
            Some(object) => (200, served(with_applied(kind, object.clone()))),
            None => missing(name),
        },
        ("POST", None) => {
            let mut object: Value = serde_json::from_slice(&request.body).unwrap_or_default();
            if kind.info().namespaced {
                object["metadata"]["namespace"] = json!(namespace);
                if world.get(Kind::Namespace, "", namespace).is_none()
                    && world.of_kind(Kind::Namespace).next().is_some()
                {
                    return (404, failure(404, &format!("namespaces \"{namespace}\" not found")));
                }
            }
            let (_, name) = key(kind, &object);
            if world.get(kind, namespace, &name).is_some() {
                return (409, failure(409, &format!("{} \"{name}\" already exists", kind.resource())));
            }
            if !is_dry {
                world.put(kind, served(object.clone()));
            }
            (201, served(object))
        }
        ("PUT" | "PATCH", Some(name)) => {
            let Some(before) = world.get(kind, namespace, name).cloned() else { return missing(name) };
            let after = match (request.method.as_str(), below) {
                ("PUT", Some("scale")) => scaled(&before, &request.body),
                ("PUT", _) => serde_json::from_slice(&request.body).map_err(|error| error.to_string()),
                (_, Some("scale")) => Edit::Merge(body(request)).apply(&before),
                _ => patched(request, &before),
            };
            match after {
                Ok(after) => {
                    if !is_dry {
                        world.put(kind, if below == Some("scale") { after.clone() } else { served(after.clone()) });
                    }
                    (200, if below == Some("scale") { scale(&after) } else { served(after) })
                }
                Err(why) => (422, failure(422, &why)),
            }
        }
        ("DELETE", Some(name)) => {
            let of = (kind, (namespace.to_owned(), name.to_owned()));
            match world.objects.contains_key(&of) {
                false => missing(name),
                true => {
                    if !is_dry {
                        world.objects.remove(&of);
                        world.collect_jobs(&of);
                    }
                    (200, json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}))
                }
            }
        }
        _ => (405, failure(405, "the method is not played")),
    }
}

fn body(request: &Request) -> Value {
    let text = String::from_utf8_lossy(&request.body);
    serde_json::from_str(&text).or_else(|_| serde_yaml::from_str(&text)).unwrap_or_default()
}

fn patched(request: &Request, before: &Value) -> Result<Value, String> {
    let patch = body(request);
    match request.content.as_str() {
        "application/json-patch+json" => Edit::Json(patch.as_array().cloned().unwrap_or_default()).apply(before),
        "application/strategic-merge-patch+json" => {
            let mut after = before.clone();
            strategic::apply(&mut after, &patch);
            Ok(after)
        }
        _ => Edit::Merge(patch).apply(before),
    }
}

fn scale(object: &Value) -> Value {
    json!({"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": object["metadata"],
        "spec": {"replicas": object["spec"]["replicas"].as_u64().unwrap_or(1)},
        "status": {"replicas": object["spec"]["replicas"].as_u64().unwrap_or(1)}})
}

fn scaled(before: &Value, body: &[u8]) -> Result<Value, String> {
    let scale: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    Edit::Merge(json!({"spec": {"replicas": scale["spec"]["replicas"].as_u64().unwrap_or(0)}})).apply(before)
}

/// Whether a list contains an object: its namespace, labels and fields.
fn selects(query: &str, namespace: &str, object: &Value) -> bool {
    let parameter = |name: &str| {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(known, _)| *known == name).map(|(_, value)| decoded(value)).next().unwrap_or_default()
    };
    let is_here = namespace.is_empty() || object["metadata"]["namespace"] == namespace;
    let labels = parameter("labelSelector");
    let fields = parameter("fieldSelector");
    let holds = |term: &str, value: &dyn Fn(&str) -> Option<String>| match term.split_once("!=") {
        Some((name, other)) => value(name).unwrap_or_default() != other,
        None => match term.split_once('=') {
            Some((name, wanted)) => value(name).unwrap_or_default() == wanted.trim_start_matches('='),
            None => value(term.trim_start_matches('!')).is_some() != term.starts_with('!'),
        },
    };
    let terms =
        |text: &str| -> Vec<String> { text.split(',').filter(|term| !term.is_empty()).map(str::to_owned).collect() };
    let label = |name: &str| object["metadata"]["labels"].get(name)?.as_str().map(str::to_owned);
    let field = |path: &str| object.pointer(&format!("/{}", path.replace('.', "/")))?.as_str().map(str::to_owned);
    is_here
        && terms(&labels).iter().all(|term| holds(term, &label))
        && terms(&fields).iter().all(|term| holds(term, &field))
}
