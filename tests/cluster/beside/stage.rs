//! A cluster with what one CLI installs, the real command and ours on it, and the hand that changes its state.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use meshdoctor::render::linkerd::LinkerdDocument;
use serde_json::{Value, json};

use crate::doctor::{Doctor, text};
use crate::harness::binaries::kubernetes_version;
use crate::harness::kubeconfig::ADMIN;
use crate::harness::linkerd_cli::LinkerdCli;
use crate::harness::objects::ObjectSet;
use crate::harness::{Cluster, Options, print_line};
use crate::parity_rows::{Pair, RowAnswer, Rows, unexplained};

/// Two workloads that request a proxy, and a Service.
const WORKLOADS: &str = r#"
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: 8080}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: registry.example/web, ports: [{containerPort: 8080}]}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop}
spec:
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec:
      containers: [{name: api, image: registry.example/api}]
"#;

/// A cluster with the manifests of one CLI, and a user with that CLI.
pub(super) struct Beside {
    pub(super) cluster: Cluster,
    pub(super) doctor: Doctor,
    pub(super) cli: LinkerdCli,
    pub(super) installed: ObjectSet,
}

impl Beside {
    pub(super) fn new(cli: &LinkerdCli) -> Option<Beside> {
        let mut beside = Beside::empty(cli)?;
        let workloads = beside.cluster.folder().join("workloads.yaml");
        std::fs::write(&workloads, WORKLOADS).unwrap();
        let kubeconfig = beside.doctor.file("kubeconfig");
        beside.installed = beside.cluster.install_with(cli, &kubeconfig, &workloads);
        Some(beside)
    }

    /// The same before anything is installed.
    pub(super) fn empty(cli: &LinkerdCli) -> Option<Beside> {
        let cluster = Cluster::start(Options::played())?;
        cluster.add_nodes(3, &kubernetes_version());
        let doctor = Doctor::new(&cluster, ADMIN);
        Some(Beside { cluster, doctor, cli: cli.clone(), installed: ObjectSet::default() })
    }

    /// A folder for PATH in which the binary is the extension of `linkerd`.
    pub(super) fn extension(&self) -> PathBuf {
        let folder = self.doctor.file("bin");
        std::fs::create_dir_all(&folder).unwrap();
        let link = folder.join("linkerd-meshdoctor");
        if !link.exists() {
            symlink(env!("CARGO_BIN_EXE_meshdoctor"), &link).unwrap();
        }
        folder
    }

    /// The output of the real command, with the extension or without.
    pub(super) fn linkerd(&self, extension: bool, words: &[&str]) -> (i32, String, String) {
        let path = if extension { self.extension() } else { self.doctor.file("nothing") };
        let kubeconfig = self.doctor.file("kubeconfig");
        // Without `--expected-version` it queries a server on the internet for the newest version.
        let always = ["--kubeconfig", text(&kubeconfig), "--expected-version", &self.cli.version, "--wait", "1s"];
        let output = self.cli.run(&path, &self.doctor.file(""), &[words, &always].concat());
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (output.status.code().unwrap(), out, err)
    }

    /// The rows of the real command.
    pub(super) fn linkerd_rows(&self, words: &[&str]) -> Rows {
        let (_, out, err) = self.linkerd(false, &[&["check", "-o", "json"], words].concat());
        let documents = documents(&out);
        assert!(!documents.is_empty(), "{} {words:?}: {out}\n{err}", self.cli.version);
        documents.into_iter().flat_map(rows).collect()
    }

    /// Our rows.
    pub(super) fn own_rows(&self, words: &[&str]) -> Rows {
        let output = Command::new(env!("CARGO_BIN_EXE_meshdoctor"))
            .args(["check", "-o", "linkerd", "--kubeconfig", text(&self.doctor.file("kubeconfig"))])
            .args(["--expected-version", &self.cli.version, "--linkerd-cli", text(&self.cli.program)])
            .args(words)
            .env_clear()
            .env("HOME", self.doctor.file(""))
            .env("PATH", self.doctor.file("nothing"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        let [document] = <[LinkerdDocument; 1]>::try_from(documents(&out)).unwrap_or_else(|all| {
            panic!("{} documents: {out}\n{}", all.len(), String::from_utf8_lossy(&output.stderr))
        });
        rows(document)
    }

    /// The differences between both that are not on the list, with and without `--proxy`.
    pub(super) fn differences(&self, state: &str) -> Vec<String> {
        self.differences_of(state, &[&[], &["--proxy"]])
    }

    /// The same for these ways to run both.
    pub(super) fn differences_of(&self, state: &str, ways: &[&[&str]]) -> Vec<String> {
        let mut all = Vec::new();
        for &words in ways {
            let (theirs, ours) = (self.linkerd_rows(words), self.own_rows(words));
            let pair = Pair { state, theirs: &theirs, ours: &ours, unrecorded: &[] };
            let wrong = unexplained(&pair, &mut BTreeSet::new());
            all.extend(wrong.into_iter().map(|text| format!("{} {words:?} {text}", self.cli.version)));
            print_line(&format!("{} {state} {words:?}: {} rows beside {}", self.cli.version, ours.len(), theirs.len()));
        }
        all
    }

    pub(super) fn installed(&self, kind: &str, name: &str) -> &Value {
        let found = |object: &&Value| object["kind"] == kind && object["metadata"]["name"] == name;
        self.installed.objects.iter().find(found).unwrap_or_else(|| panic!("no {kind} {name} is installed"))
    }

    pub(super) fn take_away(&self, kind: &str, name: &str) {
        let path = self.cluster.api.path(self.installed(kind, name));
        let answer = self.cluster.api.call("DELETE", &path, "application/json", Vec::new()).unwrap();
        assert_eq!(answer.status, 200, "{path}: {:?}", answer.body);
    }

    pub(super) fn change(&self, kind: &str, name: &str, fields: &Value) {
        self.cluster.api.merge(&self.cluster.api.path(self.installed(kind, name)), fields);
    }

    pub(super) fn put_back(&self, kind: &str, name: &str) {
        self.cluster.api.apply(self.installed(kind, name));
    }

    /// Gives `linkerd-config` another value under this key, or none.
    pub(super) fn set_value(&self, key: &str, value: Option<&str>) {
        let text = self.installed("ConfigMap", "linkerd-config")["data"]["values"].as_str().unwrap();
        let mut values: serde_yaml::Mapping = serde_yaml::from_str(text).unwrap();
        match value {
            Some(value) => values.insert(key.into(), serde_yaml::from_str(value).unwrap()),
            None => values.remove(key),
        };
        let values = serde_yaml::to_string(&values).unwrap();
        self.change("ConfigMap", "linkerd-config", &json!({ "data": { "values": values } }));
    }

    /// A pod that no scheduler looks at, with a status as a kubelet or the scheduler leaves it.
    pub(super) fn leave_pod(&self, namespace: &str, name: &str, labels: &Value, status: &Value) {
        self.cluster.api.create(&json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": { "name": name, "namespace": namespace, "labels": labels },
            "spec": {
                "schedulerName": "nobody",
                "containers": [{ "name": "app", "image": "registry.example/app" }],
            },
            "status": status,
        }));
    }

    pub(super) fn take_pod(&self, namespace: &str, name: &str) {
        let path = format!("/api/v1/namespaces/{namespace}/pods/{name}?gracePeriodSeconds=0");
        let answer = self.cluster.api.call("DELETE", &path, "application/json", Vec::new()).unwrap();
        assert_eq!(answer.status, 200, "{path}: {:?}", answer.body);
    }
}

pub(super) fn documents(text: &str) -> Vec<LinkerdDocument> {
    let documents = serde_json::Deserializer::from_str(text).into_iter::<LinkerdDocument>();
    documents.map(|document| document.unwrap_or_else(|error| panic!("{error}:\n{text}"))).collect()
}

pub(super) fn rows(document: LinkerdDocument) -> Rows {
    let of_category = |category: meshdoctor::render::linkerd::DocumentCategory| {
        let name = category.name;
        let said = move |row: meshdoctor::render::linkerd::DocumentRow| {
            ((name.clone(), row.description), RowAnswer { result: row.result, error: row.error })
        };
        category.checks.into_iter().map(said)
    };
    document.categories.into_iter().flat_map(of_category).collect()
}
