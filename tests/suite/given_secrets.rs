//! Secrets in files that a user gives: manifests, files of nodes, and metrics of proxies. None is in a report, a bundle or
//! a snapshot of a node.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use meshdoctor::knowledge::Knowledge;
use meshdoctor::redact;
use serde_json::{Value, json};

use crate::binary::meshdoctor;
use crate::hidden::{CLUSTER, FORMS, plant_text};

/// Secrets of several forms; `#` is a number of their own.
const SHAPES: [&str; 8] = [
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4#In0.c2lnbmF0dXJlLWZvb2JhcmJh#",
    "Wq#Hunter$z",
    "ghp_16C7e42F292c6912E7710c838347Ae17#",
    "deadbeef#cafebabe0123456789abcdef01",
    "postgres://app:Sq#Hidden$x!@db.example.com:5432/x",
    "c3VwZXItc2VjcmV0LTAwMDUtdmFsdWU#",
    "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49#AQQgZm9vYmFy\n-----END PRIVATE KEY-----",
    "https://hooks.example.com/services/T#ABCD/B#XYZ/aB3dE5gH7jK9",
];

/// Secrets by the part that must not remain, with their place.
#[derive(Default)]
struct Planted(BTreeMap<String, String>);

impl Planted {
    /// The next secret, in one line.
    fn line(&mut self, place: &str) -> String {
        self.text(place).replace('\n', " ")
    }

    fn text(&mut self, place: &str) -> String {
        let number = format!("{:04}", self.0.len());
        let shape = SHAPES[self.0.len() % SHAPES.len()];
        let at = shape.find('#').unwrap();
        // The characters around the number.
        let from = shape[..at].rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
        let behind = &shape[at + 1..];
        let to = behind.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(behind.len());
        let needle = format!("{}{number}{}", &shape[from..at], &behind[..to]);
        self.0.insert(needle, place.to_owned());
        shape.replace('#', &number)
    }

    fn assert_hidden(&self, outputs: &[(String, String)]) {
        let mut leaks = Vec::new();
        for (needle, place) in &self.0 {
            let found = outputs.iter().find(|(_, text)| text.contains(needle.as_str()));
            leaks.extend(found.map(|(name, _)| format!("{needle} of {place} in {name}")));
        }
        assert!(leaks.is_empty(), "{} of {}:\n{}", leaks.len(), self.0.len(), leaks.join("\n"));
    }
}

/// The output of a command, under its words.
fn output(words: &[&str]) -> (String, String) {
    let output = meshdoctor(words).output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(!text.is_empty(), "{words:?}");
    (words.join(" "), text)
}

/// The files below a folder, by their path.
fn files(folder: &Path) -> Vec<(String, String)> {
    let all = walkdir::WalkDir::new(folder).into_iter().filter_map(Result::ok);
    all.filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let text = String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned();
            (entry.path().display().to_string(), text)
        })
        .collect()
}

#[test]
fn no_output_for_manifests_holds_a_password_of_any_field() {
    let folder = tempfile::tempdir().unwrap();
    let tree: Value = serde_yaml::from_str(CLUSTER).unwrap();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": tree}).to_string();
    let (text, passwords) = plant_text(list);
    let list: Value = serde_json::from_str(&text).unwrap();
    let mut planted = Planted(passwords);
    let mut yaml = String::new();
    for object in list["items"].as_array().unwrap() {
        let comment = planted.line("a comment");
        _ = write!(yaml, "---\n# password: {comment}\n{}", serde_yaml::to_string(object).unwrap());
    }
    let file = folder.path().join("manifests.yaml").display().to_string();
    fs::write(&file, yaml).unwrap();
    let mut outputs = Vec::new();
    for form in FORMS {
        outputs.push(output(&["check", "--no-config", "-v=2", "--fail-on", "never", "-o", form, "--manifests", &file]));
    }
    for words in [
        &["injection", "-o", "json", "--manifests", &file][..],
        &["injection", "--manifests", &file],
        &["policy", "-o", "json", "--manifests", &file],
    ] {
        outputs.push(output(words));
    }
    let with = folder.path().join("with/").display().to_string();
    let demo = folder.path().join("demo.json").display().to_string();
    fs::write(&demo, json!({"apiVersion": "v1", "kind": "List", "items": []}).to_string()).unwrap();
    outputs.push(output(&["check", "--no-config", "-v=2", "--bundle", &demo, "--with", &file, "--save", &with]));
    outputs.extend(files(Path::new(&with)));
    planted.assert_hidden(&outputs);
}

#[test]
fn errors_about_manifests_quote_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let mut planted = Planted::default();
    let mut outputs = Vec::new();
    let head = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n";
    for line in [
        "spec: {replicas: \"%\"}",
        "spec: {template: \"%\"}",
        "spec: %",
        "a: b: %",
        "\"%",
        "- %\n: x",
        "x: !!int %",
        "x: *%",
        "x: {%: 1",
        "x: [1, %",
        "\t%: 1",
        "x: \"\\q%\"",
        "%: 1\n%: 2",
    ] {
        for _ in 0..SHAPES.len() {
            let secret = planted.line(line);
            let file = folder.path().join("broken.yaml").display().to_string();
            fs::write(&file, format!("{head}{}\n", line.replace('%', &secret))).unwrap();
            outputs.push(output(&["check", "--no-config", "-v", "--manifests", &file]));
            outputs.push(output(&["check", "--no-config", "-o", "json", "--bundle", &file]));
        }
    }
    planted.assert_hidden(&outputs);
}

#[test]
#[cfg(target_os = "linux")]
fn no_snapshot_of_a_node_holds_a_secret_of_its_programs() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let mut all = Planted::default();
    write("etc/os-release", "ID=ubuntu\nVERSION_ID=\"24.04\"\n");
    write("etc/hostname", "n1\n");
    write("etc/containerd/config.toml", "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n");
    for at in 0..SHAPES.len() {
        let [password, folder, template] = ["password", "conf_dir", "conf_template"]
            .map(|field| Value::from(all.line(&format!("containerd {field}"))));
        write(
            &format!("etc/containerd/conf.d/{at}.toml"),
            &format!(
                "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry.configs.x.auth]\npassword = {password}\n\
                 [plugins.\"io.containerd.grpc.v1.cri\".cni]\nconf_dir = {folder}\nconf_template = {template}\n"
            ),
        );
        let process = 100 + at;
        write(&format!("proc/{process}/cgroup"), "0::/system.slice/containerd.service\n");
        let program = if at.is_multiple_of(2) { "/usr/bin/kubelet" } else { "/usr/bin/containerd" };
        let [token, word, config] = ["token", "word", "config"].map(|of| all.line(&format!("cmdline {of}")));
        write(&format!("proc/{process}/cmdline"), &format!("{program}\0--token={token}\0{word}\0--config\0{config}\0"));
        let [proxy, other] = ["proxy", "other"].map(|of| all.line(&format!("environ {of}")));
        write(
            &format!("proc/{process}/environ"),
            &format!("HTTPS_PROXY={proxy}\0DB_PASSWORD={other}\0NO_PROXY=10.0.0.0/8\0"),
        );
        let mut next = |field: &str| Value::from(all.text(field));
        let list = json!({"cniVersion": "1.0.0", "name": next("name"), "plugins": [
            {"type": next("type"), "kubeconfig": next("kubeconfig"), "mtu": next("mtu"), "etcd_key": next("etcd_key"),
             "policy": {"k8s_auth_token": next("token")}, "ipam": {"type": next("ipam"), "subnet": next("subnet")}},
            {"type": "linkerd-cni", "linkerd": {"iptables-mode": next("mode"), "proxy-uid": next("uid"),
             "subnets-to-ignore": [next("subnets")]}, "kubernetes": {"kubeconfig": next("kubeconfig of linkerd-cni")}}]});
        write(&format!("etc/cni/net.d/{at}-a.conflist"), &list.to_string());
        let access = json!({"apiVersion": "v1", "kind": "Config", "current-context": next("context"),
            "clusters": [{"name": next("cluster"), "cluster": {"server": next("server")}}],
            "users": [{"name": next("user"), "user": {"token": next("token"), "password": next("password"),
                "exec": {"command": next("command"), "args": [next("argument")]}}}]});
        write(&format!("etc/cni/net.d/{at}-kubeconfig"), &serde_yaml::to_string(&access).unwrap());
    }
    write("var/lib/kubelet/kubeadm-flags.env", &format!("KUBELET_KUBEADM_ARGS=\"--token={}\"\n", all.line("flags")));
    let settings =
        json!({"kind": "KubeletConfiguration", "staticPodURLHeader": {"Authorization": [all.line("header")]}});
    write("var/lib/kubelet/config.yaml", &settings.to_string());
    let to = folder.path().join("snapshot/").display().to_string();
    let root = root.display().to_string();
    let mut outputs = vec![output(&["node-snapshot", "--root", &root, "--node", "n1", "-o", &to])];
    outputs.extend(files(Path::new(&to)));
    assert!(outputs.len() > 12, "a snapshot of {} files", outputs.len());
    for form in ["table", "json", "html"] {
        outputs.push(output(&["check", "--no-config", "-v=2", "--bundle", &to, "-o", form]));
    }
    all.assert_hidden(&outputs);
}

#[test]
fn no_output_holds_a_secret_of_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let pod = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":"web-1","labels":
        {"linkerd.io/control-plane-ns":"linkerd"}},"spec":{"containers":[{"name":"linkerd-proxy"}]},
        "status":{"phase":"Running","podIP":"10.1.0.4"}}"#;
    let pods = folder.path().join("pods.json").display().to_string();
    fs::write(&pods, pod).unwrap();
    let mut planted = Planted::default();
    let mut text = "#\n# POD web-1 (1 of 1)\n#\nprocess_start_time_seconds 1768294800\n\
                    process_clock_time_seconds 1768478280\n"
        .to_owned();
    let labels = [
        "target_port",
        "srv_kind",
        "srv_name",
        "client_id",
        "endpoint_state",
        "parent_name",
        "backend_name",
        "backend_namespace",
        "authority",
        "namespace",
        "service",
        "error",
        "target_ip",
        "protocol",
        "anything",
    ];
    for name in [
        "inbound_http_authz_deny_total",
        "inbound_tcp_authz_deny_total",
        "outbound_http_balancer_endpoints",
        "outbound_tcp_balancer_endpoints",
        "inbound_http_errors_total",
        "outbound_http_errors_total",
        "endpoints_subscribers",
        "proxy_inject_admission_responses_total",
        "request_total",
    ] {
        _ = writeln!(text, "# HELP {name} {}", planted.line("help"));
        for _ in 0..SHAPES.len() {
            let pairs: Vec<String> = labels
                .iter()
                .map(|label| format!("{label}=\"{}\"", planted.line(&format!("{name} {label}"))))
                .collect();
            _ = writeln!(text, "{name}{{{}}} 5", pairs.join(","));
        }
    }
    let metrics = folder.path().join("metrics.txt").display().to_string();
    fs::write(&metrics, text).unwrap();
    let saved = folder.path().join("saved/").display().to_string();
    let given = ["check", "--no-config", "-v=2", "--bundle", &pods, "--complete", "all", "--diagnostics", &metrics];
    let mut outputs: Vec<_> = FORMS.iter().map(|form| output(&[&given[..], &["-o", form]].concat())).collect();
    outputs.push(output(&[&given[..], &["--save", &saved]].concat()));
    outputs.extend(files(Path::new(&saved)));
    assert!(outputs.iter().any(|(name, text)| name.contains("diagnostics") && text.contains("inbound")), "not read");
    planted.assert_hidden(&outputs);
}

/// What no hole of a known message may hold: secrets of every form, except for the one of its own type.
#[test]
fn holes_of_known_messages_hold_no_secret() {
    let known = Knowledge::embedded().free_text();
    let secrets = [
        "aB3xK9dE6gH9",
        "Summer7702$",
        "Tr0ub4dor&3x",
        "user:pw@host",
        "?auth=zanzi",
        "Zx9Q-W3er7",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "xoxb-123456789012-abcdefGHIJKLmnop",
    ];
    let mut passed = Vec::new();
    for template in known.messages() {
        for secret in secrets {
            for hidden in 0..template.holes.len() {
                let mut text = template.start.clone();
                for (at, (_, behind)) in template.holes.iter().enumerate() {
                    text += if at == hidden { secret } else { "web" };
                    text += behind;
                }
                let clean = redact::free_text(&text).into_owned();
                if clean.contains(secret) {
                    passed.push(format!("{text}\n    -> {clean}"));
                }
                assert_eq!(redact::free_text(&clean), clean, "redacted twice: {text}");
            }
        }
    }
    assert!(passed.is_empty(), "{}:\n{}", passed.len(), passed.join("\n"));
}
