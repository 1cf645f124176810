//! `meshdoctor mcp`: the real binary, driven over its standard streams with JSON-RPC.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use meshdoctor::demo::DemoState;
use serde_json::{Value, json};

use crate::binary::{meshdoctor, ran, ran_to, write};
use crate::verify::Folder;

const AT: &str = "2026-01-15T12:00:00Z";
/// Limit for one answer, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// Upper bound for one message: text and structured content, or the schemas of all tools.
const MOST: usize = 110 << 10;

/// A session of a client.
struct Client {
    server: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    last: u64,
}

impl Client {
    /// Starts a server, without a session.
    fn started(args: &[&str]) -> Client {
        let mut server = meshdoctor(&[&["mcp", "--no-config"], args].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(server.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines() {
                if send.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        Client { input: server.stdin.take(), server, lines, last: 0 }
    }

    /// Starts a server and a session.
    fn new(args: &[&str]) -> Client {
        let mut client = Client::started(args);
        let hello = client.request("initialize", hello());
        assert_eq!(hello["result"]["serverInfo"]["name"], "meshdoctor", "{hello}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request, and returns its id.
    fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The next message; every line must be one.
    fn message(&self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).unwrap();
        assert!(line.len() < MOST, "{} bytes", line.len());
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0");
        message
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let message = self.message();
        assert_eq!(message["id"], id);
        message
    }

    /// The answer of a tool.
    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let message = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = &message["result"];
        assert_eq!(result["isError"], false, "{tool}: {message}");
        let answer = result["structuredContent"].clone();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), answer);
        answer
    }

    /// The error of a tool.
    #[track_caller]
    fn error(&mut self, tool: &str, arguments: Value) -> String {
        let message = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(message["result"]["isError"], true, "{tool}: {message}");
        let text = message["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(text.contains("\nnext step: "), "{tool}: {text}");
        text
    }

    /// Closes standard input, and waits for the end of the process.
    fn end(mut self) -> i32 {
        drop(self.input.take());
        let began = Instant::now();
        loop {
            if let Some(status) = self.server.try_wait().unwrap() {
                return status.code().unwrap();
            }
            assert!(began.elapsed() < PATIENCE, "the server does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        _ = self.server.kill();
        _ = self.server.wait();
    }
}

fn hello() -> Value {
    json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "suite", "version": "1"},
    })
}

/// A server on the bundle of a demo.
fn on_demo(folder: &Folder) -> Client {
    let bundle = folder.bundle("injector-fails-open", DemoState::Before, AT);
    Client::new(&["--bundle", bundle.to_str().unwrap()])
}

fn ids(answer: &Value) -> BTreeSet<String> {
    let findings = answer["document"]["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["check"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn tools_are_listed_with_valid_schemas() {
    let folder = Folder::new();
    let mut client = on_demo(&folder);
    let listed = client.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let page = include_str!("../../docs/mcp.md");
    for (tool, name) in tools.iter().zip(&names) {
        for schema in ["inputSchema", "outputSchema"] {
            jsonschema::validator_for(&tool[schema]).unwrap();
            assert_eq!(tool[schema]["type"], "object", "{name}");
            assert!(!tool[schema].to_string().contains("uint"), "{name}: {}", tool[schema]);
        }
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        let arguments = tool["inputSchema"]["properties"].as_object().unwrap();
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}` |"))).unwrap();
        for argument in arguments.keys() {
            assert!(row.contains(&format!("`{argument}`")), "docs/mcp.md, {name}: {argument}");
        }
        // No argument names evidence: a client cannot choose a file or a cluster.
        for flag in ["bundle", "context", "kubeconfig", "file", "path", "checks", "output", "save"] {
            assert!(!arguments.contains_key(flag), "{name}: {flag}");
        }
    }
    assert_eq!(
        names,
        [
            "check",
            "explain",
            "reach",
            "policy",
            "injection",
            "rehearse",
            "with",
            "fix",
            "rotate",
            "diff",
            "coverage",
            "list",
            "next_page"
        ]
    );
    assert_eq!(client.end(), 0);
}

#[test]
fn answers_are_those_of_the_commands_and_valid() {
    let folder = Folder::new();
    let mut client = on_demo(&folder);
    let listed = client.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let schema = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        jsonschema::validator_for(&tool["outputSchema"]).unwrap()
    };
    let bundle = folder.bundle("injector-fails-open", DemoState::Before, AT);
    let report = ran(meshdoctor(&["check", "--bundle", bundle.to_str().unwrap(), "-o", "json"])).document();

    let checked = client.call("check", json!({}));
    assert_eq!(checked["status"], report["verdict"]["status"]);
    assert_eq!(checked["document"]["findings"], report["findings"]);
    assert_eq!(checked["document"]["verdict"], report["verdict"]);
    assert_eq!(checked["document"]["repairPlan"], report["repairPlan"]);
    assert!(ids(&checked).contains("injector-fails-open"));
    let one = client.call("check", json!({"only": ["annotations"], "namespaces": ["shop"]}));
    assert_eq!(one["document"]["verdict"]["roots"]["error"], 0, "{one}");

    let page = client.call("explain", json!({"text": "injector-fails-open"}));
    assert_eq!(page["document"]["id"], "injector-fails-open");
    let code = client.call("explain", json!({"text": "exit code 95"}));
    assert_eq!(code["document"]["meanings"][0]["program"], "linkerd-network-validator");
    let traced = client.call("reach", json!({"from": "shop/web", "to": "shop/redis:6379"}));
    assert_eq!(traced["document"]["calls"].as_array().unwrap().len(), 1, "{traced}");
    let policy = client.call("policy", json!({"targets": ["linkerd"]}));
    assert_eq!(policy["document"]["workloads"][0]["namespace"], "linkerd");
    let injected = client.call("injection", json!({"targets": ["shop/web"]}));
    assert_eq!(injected["document"]["workloads"][0]["name"], "web", "{injected}");
    let gaps = client.call("coverage", json!({"report": checked["report"]}));
    assert_eq!(gaps["document"]["coverage"]["gaps"], report["coverage"]["gaps"]);
    let target = client.call("rehearse", json!({"to": "2.19", "only": ["upgrades"]}));
    assert!(target["document"]["rehearsal"]["plan"].is_array(), "{target}");
    let planned = client.call("rehearse", json!({"to": "2.19", "part": "plan"}));
    let mut phases = planned["document"]["rehearsal"]["plan"].as_array().unwrap().clone();
    let mut next = planned["page"]["nextCursor"].clone();
    while let Some(cursor) = next.as_str() {
        let page = client.call("next_page", json!({"cursor": cursor}));
        phases.extend(page["document"]["rehearsal"]["plan"].as_array().unwrap().iter().cloned());
        next = page["page"]["nextCursor"].clone();
    }
    let whole =
        ran(meshdoctor(&["check", "--no-config", "--to", "2.19", "-o", "json", "--bundle", bundle.to_str().unwrap()]));
    assert_eq!(Value::Array(phases), whole.document()["rehearsal"]["plan"]);
    let checks = client.call("list", json!({"only": ["certificates"]}));
    assert_eq!(checks["document"]["schema"], "meshdoctor.list/1");
    let defects = client.call("list", json!({"defects": true}));
    assert!(!defects["document"]["defects"].as_array().unwrap().is_empty());
    let plan = client.call("fix", json!({}));
    let printed = |words: &[&str]| ran(meshdoctor(&[words, &["--bundle", bundle.to_str().unwrap()]].concat()));
    let fix = printed(&["fix", "--no-config", "-o", "json"]).document();
    assert_eq!(plan["status"], 1, "{plan}");
    assert_eq!(plan["document"]["steps"], fix["steps"]);
    let script = client.call("fix", json!({"format": "script"}));
    let lines = script["document"]["lines"].as_array().unwrap().iter();
    let lines: Vec<&str> = lines.map(|line| line.as_str().unwrap()).collect();
    let text = printed(&["fix", "--no-config", "-o", "script"]).out;
    // The comments above name the bundle.
    assert_eq!(lines[0], "#!/bin/sh");
    let body = |lines: Vec<&str>| lines.into_iter().skip_while(|line| *line != "set -eu").collect::<String>();
    assert_eq!(body(lines), body(text.lines().collect()));
    let patches = client.call("fix", json!({"format": "patch", "only": ["injection"]}));
    assert_eq!(patches["document"]["format"], "patch");
    let rotation = client.call("rotate", json!({"of": "anchor", "confirm": ["external-workloads"]}));
    let rotated = printed(&["rotate", "--of", "anchor", "--confirm", "external-workloads", "-o", "json"]);
    assert_eq!(rotation["document"], rotated.document());
    let outbound = client.call("policy", json!({"to": ["shop/redis:6379"], "from": "shop"}));
    // The server keeps the last results only.
    let last = client.call("check", json!({}));
    let compared = client.call("diff", json!({"before": last["report"]}));
    for (tool, answer) in [
        ("check", checked),
        ("check", one),
        ("explain", page),
        ("explain", code),
        ("reach", traced),
        ("policy", policy),
        ("policy", outbound),
        ("injection", injected),
        ("coverage", gaps),
        ("rehearse", target),
        ("rehearse", planned),
        ("fix", plan),
        ("fix", script),
        ("fix", patches),
        ("rotate", rotation),
        ("list", checks),
        ("list", defects),
        ("diff", compared),
    ] {
        if let Err(error) = schema(tool).validate(&answer) {
            panic!("{tool}: {} {error}: {answer}", error.instance_path);
        }
        assert!(schema("next_page").is_valid(&answer), "{tool}: {answer}");
        // The document is described field by field.
        let mut wrong = answer.clone();
        wrong["document"]["schema"] = json!("meshdoctor.other/1");
        assert!(!schema(tool).is_valid(&wrong), "{tool}");
        let mut wrong = answer;
        wrong["document"]["unknown"] = json!(1);
        assert!(!schema(tool).is_valid(&wrong), "{tool}");
    }
    assert_eq!(client.end(), 0);
}

const CHANGE: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: new, annotations: {}}\nspec:\n  selector: {matchLabels: {app: new}}\n  template:\n    metadata:\n      labels: {app: new}\n      annotations: {linkerd.io/inject: enabled, config.linkerd.io/skip-outbund-ports: '25'}\n    spec: {containers: [{name: new, image: new}]}\n";

#[test]
fn manifests_are_text_and_compared_with_the_cluster() {
    let folder = Folder::new();
    let mut client = on_demo(&folder);
    let before = client.call("check", json!({}));
    let arguments = json!({"manifests": CHANGE, "namespace": "shop"});
    let changed = client.call("with", arguments.clone());
    assert!(ids(&changed).contains("annotation-unknown"), "{changed}");
    assert_eq!(changed["document"]["change"]["given"], "manifests.yaml");
    assert!(!changed.to_string().contains("/manifests.yaml"), "{changed}");
    let injected = client.call("injection", arguments);
    assert_eq!(injected["document"]["workloads"][0]["fate"], "injected", "{injected}");
    let difference = client.call("diff", json!({"before": before["report"], "after": changed["report"]}));
    let entries = difference["document"]["entries"].as_array().unwrap();
    assert!(entries.iter().any(|entry| entry["check"] == "annotation-unknown"), "{difference}");
    // Without names: the last report, and the mesh now.
    let again = client.call("diff", json!({"before": before["report"]}));
    assert_eq!(again["status"], 0, "{again}");
    let text = client.error("with", json!({"manifests": "a: [", "namespace": "shop"}));
    assert!(text.contains("manifests.yaml") && !text.contains("/manifests.yaml"), "{text}");
    assert_eq!(client.end(), 0);
}

#[test]
fn baseline_of_the_server_is_the_earlier_report() {
    let folder = Folder::new();
    let bundle = folder.bundle("injector-fails-open", DemoState::Before, AT);
    let report = folder.report(&bundle, &[]);
    let after = folder.bundle("injector-fails-open", DemoState::After, "2026-01-15T13:00:00Z");
    let arguments = ["--bundle", after.to_str().unwrap(), "--baseline", report.to_str().unwrap()];
    let mut client = Client::new(&arguments);
    let difference = client.call("diff", json!({}));
    let fixed = difference["document"]["entries"].as_array().unwrap().iter();
    assert!(fixed.into_iter().any(|entry| entry["state"] == "fixed"), "{difference}");
}

#[test]
fn long_answer_has_pages_of_the_same_result() {
    let folder = Folder::new();
    let mut client = on_demo(&folder);
    let mut answer = client.call("list", json!({}));
    let total = answer["page"]["total"].as_u64().unwrap();
    let (mut seen, mut pages) = (Vec::new(), 1);
    loop {
        seen.extend(answer["document"]["checks"].as_array().unwrap().clone());
        assert!(answer.get("shortened").is_none());
        let Some(cursor) = answer["page"]["nextCursor"].as_str() else { break };
        answer = client.call("next_page", json!({"cursor": cursor}));
        pages += 1;
    }
    assert!(pages > 1);
    assert_eq!(seen.len() as u64, total);
    let all = ran(meshdoctor(&["list", "-o", "json"])).document();
    assert_eq!(Value::from(seen), all["checks"]);
    for cursor in ["", "r1", "r1:999999", "r99:0", "r1:-1"] {
        client.error("next_page", json!({"cursor": cursor}));
    }
}

#[test]
fn wrong_calls_are_errors_with_the_next_step() {
    let folder = Folder::new();
    let mut client = on_demo(&folder);
    let unknown = client.request("tools/call", json!({"name": "chek", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602);
    assert!(unknown["error"]["message"].as_str().unwrap().contains("did you mean check?"), "{unknown}");
    for (tool, arguments, needle) in [
        ("check", json!({"only": 5}), "expected a sequence"),
        ("check", json!({"bundle": ["/etc/passwd"]}), "unknown field `bundle`"),
        ("check", json!({"only": ["issuer-expird"]}), "did you mean issuer-expired?"),
        ("check", json!({"only": ["--bundle=/etc/passwd"]}), "--bundle=/etc/passwd"),
        ("check", json!({"namespaces": ["nowhere"]}), "nowhere"),
        ("explain", json!({}), "missing field `text`"),
        ("explain", json!({"text": "-"}), "the text is missing"),
        ("explain", json!({"text": "--help"}), "--help"),
        ("reach", json!({}), "missing"),
        ("reach", json!({"from": "shop/web", "to": "shop/web", "traffic": "smoke"}), "smoke"),
        ("policy", json!({"targets": ["shop/none"]}), "shop/none"),
        ("injection", json!({"targets": ["-o"]}), "-o"),
        ("rehearse", json!({"to": "0.1"}), "0.1"),
        ("with", json!({"manifests": ""}), ""),
        ("fix", json!({"apply": true}), "unknown field `apply`"),
        ("fix", json!({"only": ["--apply"]}), "--apply"),
        ("fix", json!({"format": "diff"}), "unknown variant `diff`"),
        ("rotate", json!({"may": "remove"}), "unknown variant `remove`"),
        ("rotate", json!({"issuer_since": "yesterday"}), "yesterday"),
        ("diff", json!({"before": "r7"}), "there is no result \"r7\""),
        ("coverage", json!({"report": "baseline"}), "the server has no baseline"),
        ("coverage", json!({"report": "r8"}), "there is no result"),
    ] {
        let text = client.error(tool, arguments.clone());
        assert!(text.contains(needle), "{tool} {arguments}: {text}");
    }
    // Requests that are not calls, and lines that are not requests.
    let other = client.request("resources/list", json!({}));
    assert_eq!(other["error"]["code"], -32601, "{other}");
    client.send(&json!("nonsense"));
    assert_eq!(client.message()["error"]["code"], -32600);
    // A single text is a list of one.
    let text = client.call("list", json!({"only": "issuer-expired"}));
    assert_eq!(text["page"]["total"], 1);
    // A report outlives the other results after it.
    let report = client.call("check", json!({"only": ["issuer-expired"]}));
    for _ in 0..9 {
        client.call("explain", json!({"text": "issuer-expired"}));
    }
    let gaps = client.call("coverage", json!({"report": report["report"]}));
    assert!(gaps["document"]["coverage"].is_object(), "{gaps}");
    assert_eq!(client.end(), 0);
}

/// A server whose cluster accepts connections and never answers.
fn on_silent_cluster(folder: &Folder) -> (Client, TcpListener) {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = format!("http://{}", silent.local_addr().unwrap());
    let config = format!(
        "{{apiVersion: v1, kind: Config, current-context: c, clusters: [{{name: c, cluster: {{server: '{server}'}}}}], \
         users: [{{name: c, user: {{}}}}], contexts: [{{name: c, context: {{cluster: c, user: c}}}}]}}"
    );
    let path = folder.path("");
    let kubeconfig = write(&path, "kubeconfig", config);
    (Client::new(&["--kubeconfig", &kubeconfig, "--request-timeout", "0"]), silent)
}

#[test]
fn cancelled_call_ends_and_makes_room() {
    let folder = Folder::new();
    let (mut client, _silent) = on_silent_cluster(&folder);
    let ids: Vec<u64> = (0..4).map(|_| client.ask("tools/call", json!({"name": "check", "arguments": {}}))).collect();
    // Without an answer of the cluster there is none of the server.
    assert_eq!(client.lines.recv_timeout(Duration::from_secs(1)), Err(RecvTimeoutError::Timeout));
    for id in ids {
        let params = json!({"requestId": id, "reason": "no longer needed"});
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    }
    let id = client.ask("tools/call", json!({"name": "list", "arguments": {"only": ["issuer-expired"]}}));
    loop {
        let message = client.message();
        if message["id"] == id {
            assert_eq!(message["result"]["isError"], false, "{message}");
            break;
        }
        assert!(message.get("result").is_none(), "{message}");
    }
    assert_eq!(client.end(), 0);
}

#[test]
fn end_of_input_ends_the_server_at_once() {
    let folder = Folder::new();
    let (mut client, _silent) = on_silent_cluster(&folder);
    client.ask("tools/call", json!({"name": "check", "arguments": {}}));
    assert_eq!(client.lines.recv_timeout(Duration::from_secs(1)), Err(RecvTimeoutError::Timeout));
    let began = Instant::now();
    assert_eq!(client.end(), 0);
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    // A client that never starts a session.
    assert_eq!(Client::started(&[]).end(), 0);
}

#[test]
fn flags_that_cannot_work_are_refused_at_the_start() {
    for (args, needle) in [
        (&["--bundle", "-"][..], "standard input"),
        (&["--logs", "node=-"], "standard input"),
        (&["--bundle", "/nonexistent/x.tar.gz"], "no such file"),
        (&["--baseline", "/nonexistent/x.json"], "no such file"),
        (&["--context", "a", "--context", "b"], "one cluster"),
    ] {
        let ran = ran_to(2, meshdoctor(&[&["mcp", "--no-config"], args].concat()));
        assert!(ran.err.contains(needle) && ran.out.is_empty(), "{args:?}: {}", ran.text());
    }
}
