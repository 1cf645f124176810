//! Beside the real `linkerd check`, on one live server: as its extension, and row by row against it. Both are asked about
//! the same state, healthy and broken in several ways; where the verdicts differ, `checks/parity.yaml` must say why.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use meshdoctor::render::linkerd::Document;
use meshdoctor::rows::RowResult;
use serde_json::{Value, json};

use crate::doctor::{Doctor, text};
use crate::harness::binaries::kubernetes_version;
use crate::harness::kubeconfig::ADMIN;
use crate::harness::linkerd_cli::{LinkerdCli, linkerd_clis};
use crate::harness::objects::ObjectSet;
use crate::harness::{Cluster, Options, say};
use crate::parity_rows::{Name, Pair, Rows, Said, unexplained};

/// Two workloads that ask for a proxy, and a Service.
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

/// A cluster with what one CLI installs, and somebody who has that CLI.
struct Beside {
    cluster: Cluster,
    doctor: Doctor,
    cli: LinkerdCli,
    installed: ObjectSet,
}

impl Beside {
    fn new(cli: &LinkerdCli) -> Option<Beside> {
        let mut beside = Beside::empty(cli)?;
        let workloads = beside.cluster.folder().join("workloads.yaml");
        std::fs::write(&workloads, WORKLOADS).unwrap();
        let kubeconfig = beside.doctor.file("kubeconfig");
        beside.installed = beside.cluster.install_with(cli, &kubeconfig, &workloads);
        Some(beside)
    }

    /// The same before anything is installed.
    fn empty(cli: &LinkerdCli) -> Option<Beside> {
        let cluster = Cluster::start(Options::played())?;
        cluster.add_nodes(3, &kubernetes_version());
        let doctor = Doctor::of(&cluster, ADMIN);
        Some(Beside { cluster, doctor, cli: cli.clone(), installed: ObjectSet::default() })
    }

    /// A folder for PATH in which the binary is the extension of `linkerd`.
    fn extension(&self) -> PathBuf {
        let folder = self.doctor.file("bin");
        std::fs::create_dir_all(&folder).unwrap();
        let link = folder.join("linkerd-meshdoctor");
        if !link.exists() {
            symlink(env!("CARGO_BIN_EXE_meshdoctor"), &link).unwrap();
        }
        folder
    }

    /// What the real command prints, with the extension or without.
    fn linkerd(&self, extension: bool, words: &[&str]) -> (i32, String, String) {
        let path = if extension { self.extension() } else { self.doctor.file("nothing") };
        let kubeconfig = self.doctor.file("kubeconfig");
        // It asks a server on the internet for the newest version, unless it is told.
        let always =
            ["--kubeconfig", text(&kubeconfig), "--expected-version", &self.cli.version, "--wait", "1s"];
        let output = self.cli.run(&path, &self.doctor.file(""), &[words, &always].concat());
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (output.status.code().unwrap(), out, err)
    }

    /// The rows of the real command.
    fn theirs(&self, words: &[&str]) -> Rows {
        let (_, out, err) = self.linkerd(false, &[&["check", "-o", "json"], words].concat());
        let documents = documents(&out);
        assert!(!documents.is_empty(), "{} {words:?}: {out}\n{err}", self.cli.version);
        documents.into_iter().flat_map(rows).collect()
    }

    /// Our rows.
    fn ours(&self, words: &[&str]) -> Rows {
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
        let [document] = <[Document; 1]>::try_from(documents(&out)).unwrap_or_else(|all| {
            panic!("{} documents: {out}\n{}", all.len(), String::from_utf8_lossy(&output.stderr))
        });
        rows(document)
    }

    /// What differs between both and is not on the list, with and without `--proxy`.
    fn differences(&self, state: &str) -> Vec<String> {
        self.differences_of(state, &[&[], &["--proxy"]])
    }

    /// The same for these ways to run both.
    fn differences_of(&self, state: &str, ways: &[&[&str]]) -> Vec<String> {
        let mut all = Vec::new();
        for &words in ways {
            let (theirs, ours) = (self.theirs(words), self.ours(words));
            let pair = Pair { state, theirs: &theirs, ours: &ours, unrecorded: &[] };
            let wrong = unexplained(&pair, &mut BTreeSet::new());
            all.extend(wrong.into_iter().map(|text| format!("{} {words:?} {text}", self.cli.version)));
            say(&format!(
                "{} {state} {words:?}: {} rows beside {}",
                self.cli.version,
                ours.len(),
                theirs.len()
            ));
        }
        all
    }

    fn installed(&self, kind: &str, name: &str) -> &Value {
        let found = |object: &&Value| object["kind"] == kind && object["metadata"]["name"] == name;
        self.installed.objects.iter().find(found).unwrap_or_else(|| panic!("no {kind} {name} is installed"))
    }

    fn take_away(&self, kind: &str, name: &str) {
        let path = self.cluster.api.path(self.installed(kind, name));
        let answer = self.cluster.api.call("DELETE", &path, "application/json", Vec::new()).unwrap();
        assert_eq!(answer.status, 200, "{path}: {:?}", answer.body);
    }

    fn change(&self, kind: &str, name: &str, fields: &Value) {
        self.cluster.api.merge(&self.cluster.api.path(self.installed(kind, name)), fields);
    }

    fn put_back(&self, kind: &str, name: &str) {
        self.cluster.api.apply(self.installed(kind, name));
    }

    /// Gives `linkerd-config` another value under this key, or none.
    fn set_value(&self, key: &str, value: Option<&str>) {
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
    fn leave_pod(&self, namespace: &str, name: &str, labels: &Value, status: &Value) {
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

    fn take_pod(&self, namespace: &str, name: &str) {
        let path = format!("/api/v1/namespaces/{namespace}/pods/{name}?gracePeriodSeconds=0");
        let answer = self.cluster.api.call("DELETE", &path, "application/json", Vec::new()).unwrap();
        assert_eq!(answer.status, 200, "{path}: {:?}", answer.body);
    }
}

fn documents(text: &str) -> Vec<Document> {
    let documents = serde_json::Deserializer::from_str(text).into_iter::<Document>();
    documents.map(|document| document.unwrap_or_else(|error| panic!("{error}:\n{text}"))).collect()
}

fn rows(document: Document) -> Rows {
    let of_category = |category: meshdoctor::render::linkerd::DocumentCategory| {
        let name = category.name;
        let said = move |row: meshdoctor::render::linkerd::DocumentRow| {
            ((name.clone(), row.description), Said { result: row.result, error: row.error })
        };
        category.checks.into_iter().map(said)
    };
    document.categories.into_iter().flat_map(of_category).collect()
}

#[test]
fn linkerd_check_runs_the_doctor_as_its_extension() {
    for cli in linkerd_clis() {
        let Some(beside) = Beside::new(&cli) else { return };
        let version = &cli.version;
        let (status, table, err) = beside.linkerd(true, &["check"]);
        assert_eq!(status, 0, "{version}: {table}\n{err}");
        assert!(table.contains("\nmeshdoctor-coverage\n-------------------\n√ "), "{version}: {table}");
        assert!(table.contains("Status check results are √"), "{version}: {table}");
        assert!(!table.contains('×') && !table.contains("Running: "), "{version}: {table}");

        let (_, out, _) = beside.linkerd(true, &["check", "--proxy", "-n", "shop", "-o", "json"]);
        let [_, own] =
            <[Document; 2]>::try_from(documents(&out)).unwrap_or_else(|_| panic!("{version}: {out}"));
        assert!(
            own.success && own.categories.iter().all(|c| c.name.starts_with("meshdoctor-")),
            "{version}: {out}"
        );

        // A root cause is a row that fails, in the CLI's own table.
        beside.take_away("MutatingWebhookConfiguration", "linkerd-proxy-injector-webhook-config");
        beside.change(
            "Deployment",
            "web",
            &json!({"spec": {"template": {"metadata": {"annotations": {
            "config.linkerd.io/proxy-memory-limits": "512Mi"}}}}}),
        );
        let (_, short, _) = beside.linkerd(true, &["check", "-o", "short"]);
        assert!(short.contains("\n‼ annotation-unknown: Deployment shop/web\n"), "{version}: {short}");
        assert!(short.contains("/docs/checks/annotation-unknown.md for hints"), "{version}: {short}");

        // And it is a command of the CLI.
        let output =
            cli.run(&beside.extension(), &beside.doctor.file(""), &["meshdoctor", "list", "-o", "name"]);
        let listed = String::from_utf8(output.stdout).unwrap();
        assert!(listed.lines().any(|line| line == "annotation-unknown"), "{version}: {listed}");
    }
}

/// A cluster that can take Linkerd, one that an installation has begun on, and somebody who may not install it.
#[test]
fn before_an_installation_both_say_the_same() {
    let mut wrong = Vec::new();
    for cli in linkerd_clis() {
        let Some(beside) = Beside::empty(&cli) else { return };
        wrong.extend(beside.differences_of("live: nothing installed", &[&["--pre"], &[], &["--crds"]]));
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "linkerd"}});
        beside.cluster.api.apply(&namespace);
        wrong.extend(beside.differences_of("live: the namespace is there", &[&["--pre"]]));
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn verdicts_on_a_live_server_are_those_of_linkerd_check() {
    let mut wrong = Vec::new();
    for cli in linkerd_clis() {
        let Some(mut beside) = Beside::new(&cli) else { return };
        let healthy = beside.theirs(&["--proxy"]);
        let failed: Vec<_> = healthy.iter().filter(|(_, said)| said.result != RowResult::Success).collect();
        assert!(failed.is_empty(), "{}: what it installs itself is not healthy: {failed:?}", cli.version);
        wrong.extend(beside.differences("live: healthy"));
        // The list names states as recordings are named, where there is one.
        for (state, kind, name) in [
            ("config-missing", "ConfigMap", "linkerd-config"),
            ("clusterrole-missing", "ClusterRole", "linkerd-linkerd-destination"),
            ("issuer-secret-missing", "Secret", "linkerd-identity-issuer"),
            ("live: no Secret of the injector", "Secret", "linkerd-proxy-injector-k8s-tls"),
            ("trust-roots-missing", "ConfigMap", "linkerd-identity-trust-roots"),
            ("live: no account of destination", "ServiceAccount", "linkerd-destination"),
            ("serviceaccount-missing", "ServiceAccount", "linkerd-heartbeat"),
            ("live: no role of identity", "ClusterRole", "linkerd-linkerd-identity"),
            ("live: no binding of destination", "ClusterRoleBinding", "linkerd-linkerd-destination"),
            ("live: no definition of servers", "CustomResourceDefinition", "servers.policy.linkerd.io"),
            (
                "injector-webhook-missing",
                "MutatingWebhookConfiguration",
                "linkerd-proxy-injector-webhook-config",
            ),
            ("live: no Secret of the sp-validator", "Secret", "linkerd-sp-validator-k8s-tls"),
            (
                "live: no webhook of the sp-validator",
                "ValidatingWebhookConfiguration",
                "linkerd-sp-validator-webhook-config",
            ),
        ] {
            beside.take_away(kind, name);
            wrong.extend(beside.differences(state));
            beside.put_back(kind, name);
        }

        // The real command takes this for a release that has no such webhook, and prints no row.
        let validator = ("Secret", "linkerd-policy-validator-k8s-tls");
        beside.take_away(validator.0, validator.1);
        let row = |(name, _): &&(Name, Said)| name.1 == "policy-validator webhook has valid cert";
        assert!(!beside.theirs(&[]).iter().any(|said| row(&said)), "{}", cli.version);
        let ours = beside.ours(&[]).iter().find(row).map(|(_, said)| said.result);
        assert_eq!(ours, Some(RowResult::Error), "{}", cli.version);
        beside.put_back(validator.0, validator.1);

        let injector = ("MutatingWebhookConfiguration", "linkerd-proxy-injector-webhook-config");
        let foreign = &beside
            .installed("ValidatingWebhookConfiguration", "linkerd-policy-validator-webhook-config")["webhooks"]
            [0]["clientConfig"]["caBundle"];
        let mut webhooks = beside.installed(injector.0, injector.1)["webhooks"].clone();
        webhooks[0]["clientConfig"]["caBundle"] = foreign.clone();
        beside.change(injector.0, injector.1, &json!({ "webhooks": webhooks }));
        wrong.extend(beside.differences("injector-cert-foreign-ca"));
        beside.put_back(injector.0, injector.1);

        let ports =
            |ports: Value| json!({"metadata": {"annotations": {"config.linkerd.io/opaque-ports": ports}}});
        beside.change("Service", "web", &ports(json!("8080")));
        wrong.extend(beside.differences("live: a port is opaque for the Service alone"));
        beside.change("Service", "web", &ports(Value::Null));

        beside.change("Deployment", "linkerd-destination", &json!({"spec": {"replicas": 0}}));
        beside.cluster.wait(std::time::Duration::from_secs(60), |api| {
            let pods = api.list("/api/v1/namespaces/linkerd/pods");
            let left = pods.iter().filter(|pod| {
                pod["metadata"]["labels"]["linkerd.io/control-plane-component"] == "destination"
            });
            match left.count() {
                0 => Ok(()),
                left => Err(format!("{left} pods of destination")),
            }
        });
        wrong.extend(beside.differences("destination-scaled-to-zero"));
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}

/// What is there, and not as the real command looks for it: each state fails a row of its own, and most of them do not stop it.
#[test]
fn what_linkerd_check_reads_differently_is_told_as_it_tells_it() {
    let mut wrong = Vec::new();
    for cli in linkerd_clis() {
        let Some(beside) = Beside::new(&cli) else { return };
        let proxy: &[&[&str]] = &[&["--proxy"]];
        let both: &[&[&str]] = &[&[], &["--proxy"]];
        for (state, key, value, ways) in [
            (
                "live: a blank in clusterNetworks",
                "clusterNetworks",
                Some("'10.0.0.0/8, 192.168.0.0/16'"),
                proxy,
            ),
            ("live: no clusterNetworks", "clusterNetworks", None, proxy),
            ("live: linkerd-config names another release", "linkerdVersion", Some("edge-23.11.1"), both),
            ("live: linkerd-config names no release", "linkerdVersion", None, both),
            ("live: highly available by its values alone", "highAvailability", Some("true"), proxy),
            ("live: linkerd-cni by its values alone", "cniEnabled", Some("true"), proxy),
            ("live: no heartbeat is wanted", "disableHeartBeat", Some("true"), proxy),
        ] {
            beside.set_value(key, value);
            wrong.extend(beside.differences_of(state, ways));
            beside.put_back("ConfigMap", "linkerd-config");
        }
        for (kind, name) in [
            ("ClusterRole", "linkerd-linkerd-identity"),
            ("ServiceAccount", "linkerd-destination"),
            ("MutatingWebhookConfiguration", "linkerd-proxy-injector-webhook-config"),
        ] {
            let mark = |mark: Value| json!({"metadata": {"labels": {"linkerd.io/control-plane-ns": mark}}});
            beside.change(kind, name, &mark(Value::Null));
            wrong.extend(beside.differences_of(&format!("live: {kind} {name} is not labelled"), proxy));
            beside.change(kind, name, &mark(json!("linkerd")));
        }

        let injected = json!({ "linkerd.io/control-plane-ns": "linkerd" });
        let evicted = json!({ "phase": "Failed", "reason": "Evicted" });
        let failed = json!({ "phase": "Failed", "containerStatuses": [{
            "name": "app", "image": "registry.example/app", "imageID": "", "ready": false, "restartCount": 0,
            "state": { "terminated": { "exitCode": 1, "reason": "Error" } },
        }] });
        let unschedulable = json!({ "phase": "Pending", "conditions": [{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available",
        }] });
        for (state, namespace, labels, status) in [
            ("live: an evicted pod of the control plane is left", "linkerd", &injected, &evicted),
            ("live: somebody's pod cannot be scheduled", "linkerd", &json!({}), &unschedulable),
            ("live: an evicted pod of a workload is left", "shop", &injected, &evicted),
            ("live: a pod of a Job has failed", "shop", &injected, &failed),
        ] {
            beside.leave_pod(namespace, "left", labels, status);
            wrong.extend(beside.differences_of(state, proxy));
            beside.take_pod(namespace, "left");
        }

        let pods = beside.cluster.api.list("/api/v1/namespaces/shop/pods");
        let path = format!("/api/v1/namespaces/shop/pods/{}", pods[0]["metadata"]["name"].as_str().unwrap());
        let label =
            |value: Value| json!({"metadata": {"labels": {"config.linkerd.io/proxy-log-level": value}}});
        beside.cluster.api.merge(&path, &label(json!("debug")));
        wrong.extend(beside.differences_of("live: a running pod is labelled", proxy));
        beside.cluster.api.merge(&path, &label(Value::Null));
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}
