//! linkerd-cni: its chart with values, and the files that its pods write on nodes when they start.

use std::collections::BTreeMap;

use meshdoctor::item::Kind;
use serde_json::{Value, json};

use super::linkerd::manifests;
use super::nodes::{CONFIGS, KUBECONFIGS, conf_dir, json};
use super::programs::Call;
use super::values;
use super::world::World;

const HOME: &str = "linkerd-cni";
const CONFIG: &str = "linkerd-cni-config";

/// The namespace of linkerd-cni.
fn cni_namespace(world: &World) -> String {
    let of = |object: &Value| {
        let is_it =
            object["metadata"]["labels"]["k8s-app"] == "linkerd-cni" || object["metadata"]["name"] == "linkerd-cni";
        is_it.then(|| object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned())
    };
    world.of_kind(Kind::DaemonSet).find_map(of).unwrap_or_else(|| HOME.to_owned())
}

/// `linkerd install-cni`: the manifests for the options, from the defaults.
pub fn chart(world: &mut World, call: &Call) -> Result<Vec<Value>, String> {
    rendered(world, call, &json!({}))
}

/// `helm upgrade` of the chart, which keeps the values of the release.
pub fn upgrade(world: &mut World, call: &Call) -> Result<(), String> {
    let current = current(world);
    for object in rendered(world, call, &current)? {
        world.apply(&object);
    }
    Ok(())
}

/// The values of the installed release, as its objects show them.
fn current(world: &World) -> Value {
    let home = cni_namespace(world);
    let set = world.get(Kind::DaemonSet, &home, HOME);
    let containers = set.and_then(|set| set.pointer("/spec/template/spec/containers")?.as_array());
    let repair = containers.into_iter().flatten().find(|one| one["name"] == "repair-controller");
    let Some(config) = world.get(Kind::ConfigMap, &home, CONFIG) else { return json!({}) };
    let entry: Value =
        serde_json::from_str(config["data"]["cni_network_config"].as_str().unwrap_or("{}")).unwrap_or_default();
    let of = |name: &str| entry["linkerd"].get(name).cloned();
    let text = |name: &str| config["data"].get(name).cloned();
    let mut values = json!({});
    if let Some(repair) = repair {
        values["repairController"] = json!({"enabled": true});
        values["enableSecurityContext"] = json!(repair.get("command").is_some());
    }
    let known = [
        ("iptablesMode", of("iptables-mode")),
        ("proxyUID", of("proxy-uid")),
        ("inboundProxyPort", of("incoming-proxy-port")),
        ("outboundProxyPort", of("outgoing-proxy-port")),
        ("ignoreInboundPorts", of("inbound-ports-to-ignore")),
        ("ignoreOutboundPorts", of("outbound-ports-to-ignore")),
        ("portsToRedirect", of("ports-to-redirect")),
        ("logLevel", entry.get("log_level").cloned()),
        ("disableIPv6", of("ipv6").and_then(|ipv6| ipv6.as_bool()).map(|ipv6| json!(!ipv6))),
        ("destCNINetDir", text("dest_cni_net_dir")),
        ("destCNIBinDir", text("dest_cni_bin_dir")),
    ];
    for (name, value) in known {
        if let Some(value) = value {
            values[name] = value;
        }
    }
    values
}

fn rendered(world: &World, call: &Call, current: &Value) -> Result<Vec<Value>, String> {
    let mut values = current.clone();
    values::given(&mut values, call, &world.folder)?;
    let mut objects = manifests("cni", "");
    objects.retain(|object| object["metadata"]["name"] != "linkerd-config");
    let home = cni_namespace(world);
    let has_mode = values.get("iptablesMode").is_some();
    for object in &mut objects {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        match (object["kind"].as_str().unwrap_or_default(), name) {
            ("ClusterRole", _) if values["repairController"]["enabled"] == true => {
                let rules = object["rules"].as_array_mut().unwrap();
                rules.push(json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["delete"]}));
                let group = "events.k8s.io";
                rules.push(json!({"apiGroups": [group], "resources": ["events"], "verbs": ["create"]}));
            }
            ("ConfigMap", CONFIG) => config(&mut object["data"], &values, has_mode),
            ("DaemonSet", _) => {
                daemon_set(object, &values, world);
                // The pods mount the folders of the node.
                if call.values(&["--set"]).iter().any(|pair| pair.starts_with("destCNI")) {
                    let folder =
                        |name: &str, value: &str| json!({"name": name, "hostPath": {"path": values.get(value)}});
                    object["spec"]["template"]["spec"]["volumes"] =
                        json!([folder("cni-net-dir", "destCNINetDir"), folder("cni-bin-dir", "destCNIBinDir")]);
                }
            }
            _ => {}
        }
        if home != HOME {
            moved(object, &home);
        }
    }
    Ok(objects)
}

fn moved(object: &mut Value, home: &str) {
    if object["metadata"]["namespace"] == HOME {
        object["metadata"]["namespace"] = json!(home);
    }
    if object["kind"] == "Namespace" {
        object["metadata"]["name"] = json!(home);
    }
    for subject in object["subjects"].as_array_mut().into_iter().flatten() {
        subject["namespace"] = json!(home);
    }
}

fn config(data: &mut Value, values: &Value, has_mode: bool) {
    let mut entry: Value = serde_json::from_str(data["cni_network_config"].as_str().unwrap()).unwrap();
    let ports = |value: &Value| match value {
        Value::String(text) => json!(text.split(',').collect::<Vec<_>>()),
        Value::Number(number) => json!([number.to_string()]),
        other => other.clone(),
    };
    let fields = [
        ("iptables-mode", "iptablesMode"),
        ("proxy-uid", "proxyUID"),
        ("incoming-proxy-port", "inboundProxyPort"),
        ("outgoing-proxy-port", "outboundProxyPort"),
    ];
    if !has_mode {
        entry["linkerd"]["iptables-mode"] = json!("legacy");
    }
    for (field, name) in fields {
        if let Some(value) = values.get(name) {
            entry["linkerd"][field] = value.clone();
        }
    }
    let lists = [
        ("inbound-ports-to-ignore", "ignoreInboundPorts"),
        ("outbound-ports-to-ignore", "ignoreOutboundPorts"),
        ("ports-to-redirect", "portsToRedirect"),
    ];
    for (field, name) in lists {
        if let Some(value) = values.get(name) {
            entry["linkerd"][field] = ports(value);
        }
    }
    if let Some(level) = values.get("logLevel") {
        entry["log_level"] = level.clone();
    }
    if let Some(off) = values.get("disableIPv6").and_then(Value::as_bool) {
        entry["linkerd"]["ipv6"] = json!(!off);
    }
    data["cni_network_config"] = json!(serde_json::to_string_pretty(&entry).unwrap());
    for (field, name) in [("dest_cni_net_dir", "destCNINetDir"), ("dest_cni_bin_dir", "destCNIBinDir")] {
        if let Some(value) = values.get(name) {
            data[field] = value.clone();
        }
    }
}

fn daemon_set(object: &mut Value, values: &Value, world: &World) {
    let home = cni_namespace(world);
    let live = world.get(Kind::DaemonSet, &home, HOME);
    let image = |version: &str| json!(format!("cr.l5d.io/linkerd/cni-plugin:{version}"));
    let running = live.and_then(|live| live.pointer("/spec/template/spec/containers/0/image")).cloned();
    let spec = &mut object["spec"]["template"]["spec"];
    let version = values.pointer("/image/version").and_then(Value::as_str);
    let chosen = version.map(image).or(running).unwrap_or_else(|| spec["containers"][0]["image"].clone());
    spec["containers"][0]["image"] = chosen.clone();
    if values["privileged"] == true {
        spec["containers"][0]["securityContext"] = json!({"privileged": true});
    }
    if values["repairController"]["enabled"] == true {
        let mut repair = json!({"name": "repair-controller", "image": chosen,
            "env": [{"name": "LINKERD_CNI_REPAIR_CONTROLLER_NODE_NAME",
                "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}]});
        // The chart omits these without the security context.
        if values["enableSecurityContext"] != false {
            repair["command"] = json!(["/usr/lib/linkerd/linkerd-cni-repair-controller"]);
            repair["args"] = json!(["--admin-addr=0.0.0.0:9990", "--log-format", "plain"]);
            repair["ports"] = json!([{"name": "repair-admin", "containerPort": 9990}]);
            repair["securityContext"] = json!({"runAsNonRoot": true, "readOnlyRootFilesystem": true});
        }
        let containers = spec["containers"].as_array_mut().unwrap();
        containers.retain(|one| one["name"] != "repair-controller");
        containers.push(repair);
    }
    for name in ["priorityClassName", "tolerations"] {
        if let Some(value) = values.get(name) {
            spec[name] = value.clone();
        }
    }
}

/// The pods of linkerd-cni that started write their files on their nodes.
pub fn settle(world: &mut World) {
    let home = cni_namespace(world);
    let daemon_set = (Kind::DaemonSet, (home.clone(), HOME.to_owned()));
    let is_restarted = world.restarted.contains(&daemon_set);
    world.restarted.retain(|restarted| *restarted != daemon_set);
    let gone = world.gone_pods();
    let names: Vec<String> = world.nodes.keys().cloned().collect();
    for node in names {
        let is_started = is_restarted
            || gone.iter().any(|pod| {
                pod["spec"]["nodeName"] == node.as_str()
                    && pod["metadata"]["name"].as_str().unwrap_or_default().starts_with(HOME)
            });
        if !is_started {
            continue;
        }
        add_entry(world, &node);
    }
}

/// The installer of a node writes its files.
pub fn add_entry(world: &mut World, node: &str) {
    let home = cni_namespace(world);
    let Some(config) = world.get(Kind::ConfigMap, &home, CONFIG).cloned() else { return };
    let files = world.nodes[node].clone();
    let installed = installed(world, (&home, node), files, &config["data"]);
    world.nodes.insert(node.to_owned(), installed);
}

/// The files of a node after the installer ran.
fn installed(
    world: &World,
    (home, node): (&str, &str),
    mut files: BTreeMap<String, Vec<u8>>,
    data: &Value,
) -> BTreeMap<String, Vec<u8>> {
    let folder = data["dest_cni_net_dir"].as_str().unwrap_or("/etc/cni/net.d").to_owned();
    if folder != conf_dir(&files) {
        return files;
    }
    let kubeconfig = format!("{folder}/ZZZ-linkerd-cni-kubeconfig");
    let template = data["cni_network_config"].as_str().unwrap_or("{}");
    let template = template.replace("__KUBECONFIG_FILEPATH__", &kubeconfig);
    let Ok(entry) = serde_json::from_str::<Value>(&template) else { return files };
    let is_config = |name: &str| {
        let extension = name.rsplit('.').next().unwrap_or_default();
        matches!(extension, "conf" | "conflist") && !name.contains("linkerd")
    };
    let names: Vec<String> =
        files.keys().filter(|path| path.starts_with(CONFIGS) && is_config(path)).cloned().collect();
    for path in names {
        let Ok(config) = serde_json::from_slice::<Value>(&files[&path]) else { continue };
        let (to, list) = with_entry(&path, config, &entry);
        files.remove(&path);
        files.insert(to, serde_json::to_string_pretty(&list).unwrap().into_bytes());
    }
    let pod = world.of_kind(Kind::Pod).chain(world.begin_pods()).find(|pod| {
        pod["spec"]["nodeName"] == node
            && pod["metadata"]["namespace"] == home
            && pod["metadata"]["name"].as_str().unwrap_or_default().starts_with(HOME)
    });
    let account = world.get(Kind::ServiceAccount, home, HOME).map(|account| account["metadata"]["uid"].clone());
    let facts = json!([{"path": kubeconfig, "mode": "0600", "size": 3076, "mtime": world.at, "parseError": null,
        "server": "https://10.100.0.1:443", "currentContext": "linkerd-cni-context",
        "contexts": ["linkerd-cni-context"], "users": ["linkerd-cni"], "insecure": false, "hasToken": true,
        "tokenClaims": {"sub": format!("system:serviceaccount:{home}:linkerd-cni"),
            "iat": world.seconds, "nbf": world.seconds, "exp": world.seconds + 31_536_000,
            "warnafter": world.seconds + 3607, "podName": pod.map(|pod| &pod["metadata"]["name"]),
            "podUid": pod.map(|pod| &pod["metadata"]["uid"]), "nodeName": node, "saUid": account}}]);
    files.insert(KUBECONFIGS.to_owned(), facts.to_string().into_bytes());
    let mut meta = json(&files, "meta.json");
    meta["collectedAt"] = json!(world.at);
    files.insert("meta.json".to_owned(), meta.to_string().into_bytes());
    let mut programs = json(&files, "cni/bin.json");
    let folder = &data["dest_cni_bin_dir"];
    if let Some(entries) = programs["entries"].as_array_mut()
        && !entries.iter().any(|one| one["name"] == HOME && one["dir"] == *folder)
    {
        entries.push(json!({"dir": folder, "name": HOME, "mode": "0755"}));
        files.insert("cni/bin.json".to_owned(), programs.to_string().into_bytes());
    }
    files
}

/// A network's configuration with the entry at its end; a single plugin becomes a list.
fn with_entry(path: &str, config: Value, entry: &Value) -> (String, Value) {
    let (path, mut list) = match config["plugins"].is_array() {
        true => (path.to_owned(), config),
        false => {
            let version = config["cniVersion"].clone();
            let list = json!({"cniVersion": version, "name": "k8s-pod-network", "plugins": [config]});
            (path.replace(".conf", ".conflist").replace(".conflistlist", ".conflist"), list)
        }
    };
    let plugins = list["plugins"].as_array_mut().unwrap();
    plugins.retain(|plugin| plugin["type"] != "linkerd-cni");
    plugins.push(entry.clone());
    (path, list)
}
