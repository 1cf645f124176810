//! `collect --node-pods` on a real API server: real admission and real rights, pods that kwok runs, and logs that travel from
//! a kubelet through the server. Interrupted and killed at any moment, it leaves nothing, or the next run removes it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use meshdoctor::fetched::Fetched;
use meshdoctor::source::nodes::{NodeEvidence, NodesInput};
use serde_json::{Value, json};

use crate::doctor::{Doctor, text};
use crate::harness::{Api, Cluster, Options};
use crate::stories::documented_rules;

const USER: &str = "collector";
const OURS: &str = "app.kubernetes.io%2Fmanaged-by=meshdoctor";
const NODES: [&str; 4] = ["w1", "w2", "w3", "w4"];

#[test]
fn nodes_are_read_by_pods_and_nothing_of_them_stays() {
    let options = Options::played().reachable_kubelets().user(USER);
    let Some(mut cluster) = Cluster::start(options) else { return };
    populate(&mut cluster);
    let doctor = Doctor::new(&cluster, USER);
    let _containers = Containers::run(&cluster, Duration::from_millis(300));

    the_documented_rights_suffice(&mut cluster, &doctor);
    a_strict_namespace_refuses_before_anything_is_created(&cluster, &doctor);
    interrupted_at_any_moment_it_leaves_nothing(&cluster, &doctor);
    what_a_killed_run_leaves_the_next_removes(&mut cluster, &doctor);
}

fn the_documented_rights_suffice(cluster: &mut Cluster, doctor: &Doctor) {
    let (status, stderr) = ended(collect(doctor, &[]).output().unwrap());
    assert_eq!(status, 3, "{stderr}");
    assert!(stderr.contains("nodes could not be listed"), "{stderr}");

    cluster.grant(USER, &documented_rules());
    let (status, stderr) = ended(collect(doctor, &[]).output().unwrap());
    assert_eq!(status, 3, "{stderr}");
    assert!(stderr.contains("delete on pods in namespace kube-system is denied"), "{stderr}");

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rbac-node-pods.yaml");
    let role: Value = serde_yaml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    cluster.api.apply(&role);
    cluster.api.apply(&json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
        "metadata": { "name": "collector", "namespace": "kube-system" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role["metadata"]["name"] },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USER }],
    }));
    // The server applies new rights with a short delay.
    let begun = Instant::now();
    let (mut status, mut stderr) = ended(collect(doctor, &[]).output().unwrap());
    while status == 3 && stderr.contains("is denied") && begun.elapsed() < Duration::from_secs(20) {
        (status, stderr) = ended(collect(doctor, &[]).output().unwrap());
    }
    assert_eq!(status, 0, "{stderr}");
    assert!(stderr.contains("nodes: 4 of 4 read"), "{stderr}");
    assert!(stderr.contains("leaves out  win"), "{stderr}");
    assert_eq!(left(&cluster.api), Vec::<String>::new());
    let bundle = NodeEvidence::open(&[NodesInput::Several(doctor.file("nodes.tar.gz"))]).unwrap();
    assert_eq!(bundle.nodes().collect::<Vec<_>>(), NODES);
    let mut files = Vec::new();
    assert_eq!(bundle.answer(&mut |node| files.push(node.files)), Fetched::Complete);
    assert!(files.iter().all(|files| files.contains_key("cni/net.d/05-cilium.conflist")), "{files:?}");
}

fn a_strict_namespace_refuses_before_anything_is_created(cluster: &Cluster, doctor: &Doctor) {
    for (name, labels) in
        [("strict", json!({ "pod-security.kubernetes.io/enforce": "baseline" })), ("absent", Value::Null)]
    {
        if labels.is_object() {
            let metadata = json!({ "name": name, "labels": labels });
            cluster.api.apply(&json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": metadata }));
        }
        let (status, stderr) = ended(collect(doctor, &["--node-namespace", name]).output().unwrap());
        let said = match name {
            "strict" => "namespace strict enforces the PodSecurity level baseline",
            _ => "the namespace \"absent\" does not exist",
        };
        assert!(stderr.contains(said), "{name}: {stderr}");
        assert_eq!(status, if name == "strict" { 3 } else { 2 }, "{stderr}");
    }
    assert_eq!(left(&cluster.api), Vec::<String>::new());
}

fn interrupted_at_any_moment_it_leaves_nothing(cluster: &Cluster, doctor: &Doctor) {
    for round in 0..10_u64 {
        let child = collect(doctor, &[]).spawn().unwrap();
        let after = 80 + round * 260 + u64::from(child.id() % 200);
        thread::sleep(Duration::from_millis(after));
        signal(&child, ["INT", "TERM", "HUP"][usize::try_from(round % 3).unwrap()]);
        let (status, stderr) = ended(child.wait_with_output().unwrap());
        assert!([-1, 0, 130].contains(&status), "after {after} ms: {status} {stderr}");
        assert_eq!(left(&cluster.api), Vec::<String>::new(), "after {after} ms: {stderr}");
    }
}

fn what_a_killed_run_leaves_the_next_removes(cluster: &mut Cluster, doctor: &Doctor) {
    let child = collect(doctor, &[]).spawn().unwrap();
    cluster.wait(Duration::from_secs(60), |api| match left(api).len() {
        0 => Err("no pods are created".to_owned()),
        _ => Ok(()),
    });
    signal(&child, "KILL");
    drop(child.wait_with_output().unwrap());
    let orphans = left(&cluster.api);
    assert!(!orphans.is_empty(), "the killed run left nothing to remove");
    let (status, stderr) = ended(collect(doctor, &[]).output().unwrap());
    assert_eq!(status, 0, "{stderr}");
    assert!(stderr.contains(&orphans[0]), "{orphans:?}: {stderr}");
    assert_eq!(left(&cluster.api), Vec::<String>::new(), "{orphans:?}: {stderr}");
}

/// `meshdoctor collect --node-pods` as the user, without questions.
fn collect(doctor: &Doctor, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshdoctor"));
    let (kubeconfig, bundle) = (doctor.file("kubeconfig"), doctor.file("nodes.tar.gz"));
    command
        .args(["collect", "--node-pods", "--yes", "--node-image", "registry.example/meshdoctor:1"])
        .args(["--kubeconfig", text(&kubeconfig), "-o", text(&bundle), "--force", "--linkerd-cli", "none"])
        .args(["--only", "control-plane-missing"])
        .args(words)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn ended(output: Output) -> (i32, String) {
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stderr).unwrap())
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    // It may have ended on its own.
    let _ = sent;
}

/// The pods of ours that the server still has.
fn left(api: &Api) -> Vec<String> {
    let pods = api.get(&format!("/api/v1/pods?labelSelector={OURS}"));
    let names = pods["items"].as_array().unwrap().iter();
    names.map(|pod| pod["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

/// Creates nodes that kwok makes ready, one with Windows, and the account for pods of the namespace.
fn populate(cluster: &mut Cluster) {
    for name in NODES.into_iter().chain(["win"]) {
        let system = if name == "win" { "windows" } else { "linux" };
        let room = json!({ "cpu": "8", "memory": "32Gi", "pods": "110" });
        let info = json!({
            "operatingSystem": system, "architecture": "amd64", "kernelVersion": "6.1.131-generic",
            "kubeletVersion": "v1.34.4", "kubeProxyVersion": "v1.34.4", "osImage": "Amazon Linux 2023",
            "containerRuntimeVersion": "containerd://1.7.27", "bootID": "", "machineID": "", "systemUUID": "",
        });
        cluster.api.create(&json!({
            "apiVersion": "v1", "kind": "Node",
            // A taint that only pods that tolerate everything accept.
            "metadata": { "name": name, "labels": { "kubernetes.io/os": system } },
            "spec": { "taints": [{ "key": "broken", "effect": "NoExecute" }], "unschedulable": true },
            "status": { "capacity": room, "allocatable": room, "nodeInfo": info },
        }));
    }
    cluster.wait(Duration::from_secs(60), |api| {
        let ready = |name: &str| {
            let node = api.get(&format!("/api/v1/nodes/{name}"));
            !node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"].is_null()
        };
        let account = api.find("/api/v1/namespaces/kube-system/serviceaccounts/default");
        match NODES.iter().find(|name| !ready(name)) {
            Some(name) => Err(format!("kwok does not play {name}")),
            None if account.is_none() => Err("no default account".to_owned()),
            None => Ok(()),
        }
    });
}

/// Plays what runs in the pods: each writes a snapshot to its log and ends.
struct Containers {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Containers {
    fn run(cluster: &Cluster, takes: Duration) -> Containers {
        let stop = Arc::new(AtomicBool::new(false));
        let (over, api, folder) = (Arc::clone(&stop), cluster.api.clone(), cluster.folder().to_owned());
        let thread = thread::spawn(move || {
            let mut begun = BTreeSet::new();
            while !over.load(Ordering::Relaxed) {
                let pods = api.get(&format!("/api/v1/pods?labelSelector={OURS}"));
                for pod in pods["items"].as_array().unwrap() {
                    let name = pod["metadata"]["name"].as_str().unwrap().to_owned();
                    if pod["status"]["phase"] == "Running" && begun.insert(name) {
                        let (api, pod, folder) = (api.clone(), pod.clone(), folder.clone());
                        thread::spawn(move || contain(&api, &pod, &folder, takes));
                    }
                }
                thread::sleep(Duration::from_millis(50));
            }
        });
        Containers { stop, thread: Some(thread) }
    }
}

impl Drop for Containers {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// One container: its log, and its end as a kubelet reports it. The pod may be deleted at any time.
fn contain(api: &Api, pod: &Value, folder: &Path, takes: Duration) {
    let name = pod["metadata"]["name"].as_str().unwrap();
    let log = write_log(folder, name, pod);
    let logs = json!({
        "apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Logs",
        "metadata": { "name": name, "namespace": "kube-system" },
        "spec": { "logs": [{ "containers": ["node-snapshot"], "logsFile": text(&log) }] },
    });
    api.create(&logs);
    thread::sleep(takes);
    let now = jiff::Timestamp::now().to_string();
    let state = json!({ "terminated": { "exitCode": 0, "reason": "Completed", "finishedAt": now, "startedAt": now } });
    let container = json!({
        "name": "node-snapshot", "image": "x", "imageID": "", "ready": false, "restartCount": 0, "state": state,
    });
    let status = json!({ "status": { "phase": "Succeeded", "containerStatuses": [container] } });
    let path = format!("/api/v1/namespaces/kube-system/pods/{name}/status");
    let body = serde_json::to_vec(&status).unwrap();
    let _ = api.call("PATCH", &path, "application/merge-patch+json", body);
}

/// Runs the command of the pod on files of a node, and writes its log in the format of a container runtime: a
/// time and a stream before each line.
fn write_log(folder: &Path, name: &str, pod: &Value) -> PathBuf {
    let host = folder.join(name);
    let conflist = r#"{"cniVersion":"0.3.1","name":"cilium","plugins":[{"type":"cilium-cni"}]}"#;
    for (file, text) in [("etc/cni/net.d/05-cilium.conflist", conflist), ("etc/os-release", "ID=amzn\n")] {
        fs::create_dir_all(host.join(file).parent().unwrap()).unwrap();
        fs::write(host.join(file), text).unwrap();
    }
    let command = pod["spec"]["containers"][0]["command"].as_array().unwrap().iter();
    let command: Vec<&str> = command.map(|word| word.as_str().unwrap()).collect();
    let words = command[1..].iter().map(|word| if *word == "/host" { text(&host) } else { *word });
    assert_eq!(command[0], "meshdoctor");
    let run = Command::new(env!("CARGO_BIN_EXE_meshdoctor")).args(words).env_clear().output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let mut log = String::new();
    for (stream, bytes) in [("stderr", run.stderr), ("stdout", run.stdout)] {
        for line in String::from_utf8(bytes).unwrap().lines() {
            log += &format!("2026-01-15T12:00:00.000000001Z {stream} F {line}\n");
        }
    }
    let path = folder.join(format!("{name}.log"));
    fs::write(&path, log).unwrap();
    path
}
