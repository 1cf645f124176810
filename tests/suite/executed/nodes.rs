//! The nodes of a case as folders, for scripts that run in the shell of a node.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::world::World;

/// Folder of CNI configurations in a snapshot.
pub const CONFIGS: &str = "cni/net.d/";
/// Facts about kubeconfigs in a snapshot.
pub const KUBECONFIGS: &str = "cni/kubeconfig.facts.json";
/// Programs of the CNI folders in a snapshot.
const PROGRAMS: &str = "cni/bin.json";
const MODULES: &str = "host/modules.txt";
const SETTINGS: &str = "host/sysctl.json";

/// A file of a snapshot as JSON.
pub fn json(files: &BTreeMap<String, Vec<u8>>, path: &str) -> Value {
    files.get(path).and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default()
}

/// The CNI folder of the node's runtime.
pub fn conf_dir(files: &BTreeMap<String, Vec<u8>>) -> String {
    json(files, "cni/dirs.json")["confDir"].as_str().unwrap_or("/etc/cni/net.d").to_owned()
}

/// Runs a script as root's shell of a node does.
pub fn run(world: &mut World, node: &str, script: &str) -> Result<String, String> {
    // Of a node without a snapshot no file is known, so nothing can be edited there.
    let files = world.nodes.get(node).cloned().unwrap_or_default();
    let host = Host::write(&files, &world.folder.join(format!("host-{node}")));
    let output = host.run(script)?;
    if world.nodes.contains_key(node) {
        let after = host.read(files);
        world.nodes.insert(node.to_owned(), after);
    }
    if host.root.join("clock").exists() {
        world.synchronized(node);
    }
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{}{}", output.status, String::from_utf8_lossy(&output.stderr))),
    }
}

/// The folder of a node.
struct Host {
    root: PathBuf,
    confs: String,
}

/// Programs of a node that change no file of its CNI folders.
const STUBS: [(&str, &str); 7] = [
    // An editor that is closed without a change.
    ("vi", ":"),
    ("modprobe", "for word; do case \"$word\" in -*) ;; *) echo \"$word\" >> \"$HOST/modules\" ;; esac; done"),
    ("sysctl", "echo \"$2\" >> \"$HOST/settings\""),
    ("systemctl", ":"),
    ("journalctl", "echo linkerd-cni"),
    ("crictl", ":"),
    ("chronyc", "case \"$1\" in makestep) touch \"$HOST/clock\" ;; esac"),
];

impl Host {
    fn write(files: &BTreeMap<String, Vec<u8>>, root: &Path) -> Host {
        use std::os::unix::fs::PermissionsExt as _;
        _ = std::fs::remove_dir_all(root);
        let host = Host { root: root.to_owned(), confs: conf_dir(files) };
        let put = |path: &str, bytes: &[u8]| {
            let path = root.join(path.trim_start_matches('/'));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        };
        for (path, bytes) in files {
            if let Some(name) = path.strip_prefix(CONFIGS) {
                put(&format!("{}/{name}", host.confs), bytes);
            }
        }
        for fact in json(files, KUBECONFIGS).as_array().into_iter().flatten() {
            put(fact["path"].as_str().unwrap_or("lost"), b"kubeconfig\n");
        }
        for entry in json(files, PROGRAMS)["entries"].as_array().into_iter().flatten() {
            put(&program(entry), b"program\n");
        }
        let most = json(files, "cni/dirs.json")["maxConfNum"].clone();
        put("/etc/containerd/config.toml", format!("[cni]\nmax_conf_num = {most}\n").as_bytes());
        for folder in [host.confs.as_str(), "/opt/cni/bin"] {
            std::fs::create_dir_all(root.join(folder.trim_start_matches('/'))).unwrap();
        }
        for (name, body) in STUBS {
            let path = format!("stubs/{name}");
            put(&path, format!("#!/bin/sh\n{body}\n").as_bytes());
            std::fs::set_permissions(root.join(path), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        host
    }

    fn run(&self, script: &str) -> Result<std::process::Output, String> {
        let root = self.root.display().to_string();
        let paths = regex::Regex::new(r#"(^|[\s="'(>])/(etc|opt|var|home|run|usr|lib)/"#).unwrap();
        let script = paths.replace_all(script, format!("$1{root}/$2/"));
        let path = format!("{root}/stubs:{}", std::env::var("PATH").unwrap_or_default());
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &script]).current_dir(&self.root).env_clear().env("PATH", path).env("HOST", &root);
        shell.stdin(std::process::Stdio::null()).output().map_err(|error| error.to_string())
    }

    /// The snapshot after the script.
    fn read(&self, mut files: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
        files.retain(|path, _| !path.starts_with(CONFIGS));
        let folder = self.root.join(self.confs.trim_start_matches('/'));
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let bytes = std::fs::read(entry.path()).unwrap_or_default();
            let is_kubeconfig = bytes == b"kubeconfig\n";
            if !is_kubeconfig {
                files.insert(format!("{CONFIGS}{name}"), bytes);
            }
        }
        let exists = |path: &str| self.root.join(path.trim_start_matches('/')).exists();
        let mut facts = json(&files, KUBECONFIGS);
        if let Some(facts) = facts.as_array_mut() {
            facts.retain(|fact| exists(fact["path"].as_str().unwrap_or_default()));
            files.insert(KUBECONFIGS.to_owned(), json!(facts).to_string().into_bytes());
        }
        let mut programs = json(&files, PROGRAMS);
        if let Some(entries) = programs["entries"].as_array_mut() {
            entries.retain(|entry| exists(&program(entry)));
            files.insert(PROGRAMS.to_owned(), programs.to_string().into_bytes());
        }
        self.kernel(&mut files);
        let config = std::fs::read_to_string(self.root.join("etc/containerd/config.toml")).unwrap_or_default();
        let most = config.lines().find_map(|line| line.strip_prefix("max_conf_num = ")?.parse::<u64>().ok());
        let mut dirs = json(&files, "cni/dirs.json");
        if let (Some(most), true) = (most, dirs.is_object()) {
            dirs["maxConfNum"] = json!(most);
            files.insert("cni/dirs.json".to_owned(), dirs.to_string().into_bytes());
        }
        files
    }

    /// Loaded modules and changed settings of the kernel.
    fn kernel(&self, files: &mut BTreeMap<String, Vec<u8>>) {
        let text = |name: &str| std::fs::read_to_string(self.root.join(name)).unwrap_or_default();
        if files.contains_key(MODULES) {
            files.get_mut(MODULES).unwrap().extend_from_slice(text("modules").as_bytes());
        }
        let mut settings = json(files, SETTINGS);
        for (name, value) in text("settings").lines().filter_map(|line| line.split_once('=')) {
            settings[name] = json!(value);
        }
        if settings.is_object() {
            files.insert(SETTINGS.to_owned(), settings.to_string().into_bytes());
        }
    }
}

fn program(entry: &Value) -> String {
    let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
    format!("{}/{}", text("dir"), text("name"))
}

/// A DaemonSet of a base network, the file that its pods write, and its plugin.
const NETWORKS: [(&str, &str, &str); 4] = [
    ("aws-node", "10-aws.conflist", "aws-cni"),
    ("cilium", "05-cilium.conflist", "cilium-cni"),
    ("calico-node", "10-calico.conflist", "calico"),
    ("kube-flannel-ds", "10-flannel.conflist", "flannel"),
];

/// The DaemonSets of base networks.
pub fn networks() -> impl Iterator<Item = &'static str> {
    NETWORKS.iter().map(|(set, ..)| *set)
}

/// Pods of the base network that started write its configuration on their nodes; linkerd-cni then adds its entry.
pub fn settle(world: &mut World) {
    let gone = world.gone_pods();
    for (set, file, plugin) in NETWORKS {
        let is_restarted = world.restarted.iter().any(|(_, (_, name))| name == set);
        let names: Vec<String> = world.nodes.keys().cloned().collect();
        for node in names {
            let is_started = is_restarted
                || gone.iter().any(|pod| {
                    let name = pod["metadata"]["name"].as_str().unwrap_or_default();
                    pod["spec"]["nodeName"] == node.as_str() && name.starts_with(set)
                });
            let path = format!("{CONFIGS}{file}");
            let files = world.nodes.get_mut(&node).unwrap();
            let is_intact = files.get(&path).is_some_and(|bytes| serde_json::from_slice::<Value>(bytes).is_ok());
            if is_started && !is_intact {
                let plugins = json!([{"name": plugin, "type": plugin}, {"type": "portmap", "snat": true}]);
                let list = json!({"cniVersion": "0.4.0", "name": plugin, "plugins": plugins});
                files.insert(path.clone(), list.to_string().into_bytes());
            }
            if is_started && set == "aws-node" {
                enforcing_mode(world, &node, &path);
            }
            if is_started {
                super::cni::add_entry(world, &node);
            }
        }
    }
}

/// The Amazon VPC CNI writes the enforcing mode of its environment into its configuration.
fn enforcing_mode(world: &mut World, node: &str, path: &str) {
    use meshdoctor::item::Kind;
    let set = world.get(Kind::DaemonSet, "kube-system", "aws-node");
    let containers = set.and_then(|set| set.pointer("/spec/template/spec/containers")?.as_array());
    let variables = containers.into_iter().flatten().flat_map(|one| one["env"].as_array().into_iter().flatten());
    let mut modes = variables.filter(|one| one["name"] == "POD_SECURITY_GROUP_ENFORCING_MODE");
    let Some(mode) = modes.next().map(|one| one["value"].clone()) else { return };
    let files = world.nodes.get_mut(node).unwrap();
    let mut config = json(files, path);
    for plugin in config["plugins"].as_array_mut().into_iter().flatten().filter(|one| one["type"] == "aws-cni") {
        plugin["podSGEnforcingMode"] = mode.clone();
    }
    if config.is_object() {
        files.insert(path.to_owned(), config.to_string().into_bytes());
    }
}
