//! The injector's changes to a pod: containers, volumes, labels and annotations, by release, chart values
//! of the control plane, and annotations of pod and namespace. The result is JSON, like pods from a
//! cluster, and limited to fields that some check reads.
//!
//! Whether a pod is injected at all is decided in [`super::injection`].

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::installed::CONTROL_PLANE_NS;
use crate::chart::values::Values;
use crate::knowledge::{Knowledge, OnInvalid};
use crate::objects::Namespace;
use crate::objects::container::{
    DESTINATION_ADDRESS, DESTINATION_NAME, IDENTITY_ADDRESS, IDENTITY_NAME, INIT_CONTAINER, LOCAL_NAME, POLICY_ADDRESS,
    POLICY_NAME, PROFILE_NETWORKS, PROXY_CONTAINER, TRUST_ANCHORS, VALIDATOR_CONTAINER,
};
use crate::version::{Contains, LinkerdVersion};

/// Parses a boolean as Go does; anything else counts as absent.
pub fn go_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

/// The injector of one control plane.
#[derive(Debug, Clone)]
pub struct Injecting<'a> {
    /// Its chart values.
    pub values: &'a Values,
    pub release: LinkerdVersion,
    /// The namespace that it runs in.
    pub control_plane: String,
    /// The trust anchors that it gives to proxies; `None` if unknown.
    pub anchors: Option<String>,
    /// The knowledge base.
    pub knowledge: &'a Knowledge,
}

/// The creator of a pod, for the labels that name it: `deployment`, `web`.
#[derive(Debug, Clone, Copy)]
pub struct MadeBy<'a> {
    /// The kind, in lower case.
    pub kind: &'a str,
    pub name: &'a str,
}

impl Injecting<'_> {
    /// Applies the injector's changes to a pod, which needs metadata and a spec, and has no proxy yet.
    pub fn add(&self, pod: &mut Value, namespace: &Namespace, made_by: MadeBy<'_>) {
        self.inherit(pod, namespace);
        let annotations = texts(&pod["metadata"]["annotations"]);
        let said = InjectorAnnotations { injecting: self, annotations: &annotations };
        let proxy = said.proxy();
        let native = said.is_native();
        let spec = object(&mut pod["spec"]);
        let before = std::mem::take(list(spec, "initContainers"));
        let mut init = Vec::new();
        init.extend(said.first_container());
        match native {
            true => init.push(proxy),
            false => list(spec, "containers").insert(0, proxy),
        }
        init.extend(before);
        *list(spec, "initContainers") = init;
        let volumes = list(spec, "volumes");
        volumes.push(json!({"name": "linkerd-identity-end-entity", "emptyDir": {"medium": "Memory"}}));
        volumes.push(json!({
            "name": "linkerd-identity-token",
            "projected": {"sources": [
                {"serviceAccountToken": {"audience": "identity.l5d.io", "path": "linkerd-identity-token"}},
            ]},
        }));
        self.mark(pod, namespace, made_by);
    }

    /// Copies annotations from the namespace to the pod.
    fn inherit(&self, pod: &mut Value, namespace: &Namespace) {
        let own = object(object(&mut pod["metadata"]).entry("annotations").or_insert(Value::Null));
        for (key, value) in namespace.metadata.annotations.iter() {
            let row = self.knowledge.annotations().get(key);
            let copied = row.is_some_and(|row| {
                row.inherited.is_some()
                    && row.counts_on_namespace(&self.release, self.knowledge.minors()) != Contains::No
            });
            if copied && key != super::injection::INJECT && !own.contains_key(key.as_str()) {
                own.insert(key.into(), json!(value));
            }
        }
    }

    /// Adds the labels and annotations that mark an injected pod.
    fn mark(&self, pod: &mut Value, namespace: &Namespace, made_by: MadeBy<'_>) {
        let metadata = object(&mut pod["metadata"]);
        let version = self.release.as_str();
        let annotations = object(metadata.entry("annotations").or_insert(Value::Null));
        annotations.insert("linkerd.io/created-by".to_owned(), json!(format!("linkerd/proxy-injector {version}")));
        annotations.entry("linkerd.io/proxy-version").or_insert(json!(version));
        let labels = object(metadata.entry("labels").or_insert(Value::Null));
        labels.insert(CONTROL_PLANE_NS.to_owned(), json!(self.control_plane));
        // The injector knows no label for pods without an owner.
        if made_by.kind != "pod" {
            labels.insert(format!("linkerd.io/proxy-{}", made_by.kind), json!(made_by.name));
        }
        labels.insert("linkerd.io/workload-ns".to_owned(), json!(namespace.metadata.name));
    }
}

/// A pod's annotations as the injector reads them.
struct InjectorAnnotations<'a> {
    injecting: &'a Injecting<'a>,
    annotations: &'a BTreeMap<String, String>,
}

impl InjectorAnnotations<'_> {
    /// The value of an annotation, if the release reads it and a pod can have it: the API server rejects a
    /// pod with a value that [`OnInvalid::PodRefused`] describes, so no pod has it, and all else about the
    /// pod is as without it.
    fn annotation(&self, name: &str) -> Option<&str> {
        let key = format!("config.linkerd.io/{name}");
        self.key(&key)
    }

    fn key(&self, key: &str) -> Option<&str> {
        let Injecting { knowledge, release, .. } = self.injecting;
        let value = self.annotations.get(key)?;
        let row = knowledge.annotations().get(key)?;
        let read = row.status_in(release, knowledge).is_likely_effective();
        let without =
            matches!(row.consequence(value), OnInvalid::Ignored | OnInvalid::FailsWithCni | OnInvalid::PodRefused);
        let ignored = without && row.check_value(value, Some(release), knowledge.minors()).is_err();
        (read && !ignored).then_some(value)
    }

    /// The value of an annotation, else of a chart value.
    fn text(&self, annotation: &str, path: &str) -> Option<String> {
        let by_annotation = self.annotation(annotation).map(str::to_owned);
        by_annotation.or_else(|| self.injecting.values.written(path)).filter(|text| !text.is_empty())
    }

    fn number(&self, annotation: &str, path: &str, otherwise: i64) -> i64 {
        self.text(annotation, path).and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    }

    /// The proxy's own port of that name.
    fn port(&self, name: &str, otherwise: i64) -> i64 {
        self.number(&format!("{name}-port"), &format!("proxy.ports.{name}"), otherwise)
    }

    fn has_cni(&self) -> bool {
        self.injecting.values.bool("cniEnabled").unwrap_or_default()
    }

    /// Whether the proxy is a native sidecar.
    fn is_native(&self) -> bool {
        let native = self.injecting.knowledge.native_sidecar();
        let wish = native.all_keys().iter().find_map(|key| self.key(key));
        let by_value = || self.injecting.values.bool(native.chart_value());
        wish.and_then(go_bool).or_else(by_value).unwrap_or_default()
    }

    fn image(&self, name: (&str, &str), version: (&str, &str)) -> String {
        let values = self.injecting.values;
        let name = self.text(name.0, name.1).unwrap_or_default();
        let tag = self.text(version.0, version.1);
        let tag = tag.or_else(|| values.written("linkerdVersion")).unwrap_or_default();
        format!("{name}:{tag}")
    }

    fn proxy_image(&self) -> String {
        self.image(("proxy-image", "proxy.image.name"), ("proxy-version", "proxy.image.version"))
    }

    /// The variables of the proxy, for its inbound and outbound ports.
    fn env(&self, inbound: i64, outbound: i64) -> Vec<Value> {
        let Injecting { values, anchors, .. } = self.injecting;
        let domain = values.written("identityTrustDomain").or_else(|| values.written("clusterDomain"));
        let domain = domain.filter(|domain| !domain.is_empty()).unwrap_or_else(|| "cluster.local".to_owned());
        let control_plane = &self.injecting.control_plane;
        let of_cluster = values.written("clusterDomain").filter(|domain| !domain.is_empty());
        let of_cluster = of_cluster.unwrap_or_else(|| "cluster.local".to_owned());
        let identity = format!("serviceaccount.identity.{control_plane}.{domain}");
        let of_field = |name: &str, path: &str| json!({"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}});
        let mut env = vec![
            of_field("_pod_ns", "metadata.namespace"),
            of_field("_pod_sa", "spec.serviceAccountName"),
            variable("LINKERD2_PROXY_OUTBOUND_LISTEN_ADDR", format!("127.0.0.1:{outbound}")),
            variable(LOCAL_NAME, format!("$(_pod_sa).$(_pod_ns).{identity}")),
            variable(IDENTITY_NAME, format!("linkerd-identity.{control_plane}.{identity}")),
            variable(DESTINATION_ADDRESS, format!("linkerd-dst-headless.{control_plane}.svc.{of_cluster}.:8086")),
            variable(DESTINATION_NAME, format!("linkerd-destination.{control_plane}.{identity}")),
            variable(POLICY_ADDRESS, format!("linkerd-policy.{control_plane}.svc.{of_cluster}.:8090")),
            variable(POLICY_NAME, format!("linkerd-destination.{control_plane}.{identity}")),
            variable(IDENTITY_ADDRESS, format!("linkerd-identity-headless.{control_plane}.svc.{of_cluster}.:8080")),
        ];
        // Releases with IPv6 support also pass whether to use it.
        let ipv6 = values.bool("disableIPv6").map(|disabled| !disabled);
        let any = if ipv6 == Some(true) { "[::]" } else { "0.0.0.0" };
        env.push(variable("LINKERD2_PROXY_INBOUND_LISTEN_ADDR", format!("{any}:{inbound}")));
        let outbounds = ipv6.map(|ipv6| match ipv6 {
            true => format!("127.0.0.1:{outbound},[::1]:{outbound}"),
            false => format!("127.0.0.1:{outbound}"),
        });
        env.extend(outbounds.map(|all| variable("LINKERD2_PROXY_OUTBOUND_LISTEN_ADDRS", all)));
        if let Some(policy) = self.text("default-inbound-policy", "proxy.defaultInboundPolicy") {
            env.push(variable("LINKERD2_PROXY_INBOUND_DEFAULT_POLICY", policy));
        }
        if let Some(networks) = values.written("clusterNetworks") {
            env.push(variable(PROFILE_NETWORKS, networks));
        }
        if let Some(log) = self.text("proxy-log-level", "proxy.logLevel") {
            env.push(variable("LINKERD2_PROXY_LOG", log));
        }
        if let Some(anchors) = anchors {
            env.push(variable(TRUST_ANCHORS, anchors.clone()));
        }
        let shutdown = self.text("proxy-admin-shutdown", "proxy.enableShutdownEndpoint");
        env.extend(shutdown.map(|text| {
            let on = matches!(text.as_str(), "enabled" | "true");
            variable("LINKERD2_PROXY_SHUTDOWN_ENDPOINT_ENABLED", on.to_string())
        }));
        env
    }

    fn proxy(&self) -> Value {
        let admin = self.port("admin", 4191);
        let (inbound, outbound) = (self.port("inbound", 4143), self.port("outbound", 4140));
        let probe = |path: &str| json!({"httpGet": {"path": path, "port": admin}});
        let mut container = json!({
            "name": PROXY_CONTAINER,
            "image": self.proxy_image(),
            "env": self.env(inbound, outbound),
            "ports": [
                {"name": "linkerd-proxy", "containerPort": inbound, "protocol": "TCP"},
                {"name": "linkerd-admin", "containerPort": admin, "protocol": "TCP"},
            ],
            "livenessProbe": probe("/live"),
            "readinessProbe": probe("/ready"),
            "resources": self.resources("proxy", "proxy.resources"),
            "securityContext": {"runAsUser": self.number("proxy-uid", "proxy.uid", 2102)},
            "volumeMounts": [{"name": "linkerd-identity-end-entity"}, {"name": "linkerd-identity-token"}],
        });
        let group = self.number("proxy-gid", "proxy.gid", -1);
        if group >= 0 {
            container["securityContext"]["runAsGroup"] = json!(group);
        }
        let wait = self.number("proxy-wait-before-exit-seconds", "proxy.waitBeforeExitSeconds", 0);
        if self.is_native() {
            container["restartPolicy"] = json!("Always");
            container["startupProbe"] = probe("/ready");
            return container;
        }
        if self.text("proxy-await", "proxy.await").is_some_and(|text| matches!(text.as_str(), "enabled" | "true")) {
            container["lifecycle"]["postStart"] = json!({"exec": {}});
        }
        if wait > 0 {
            container["lifecycle"]["preStop"] = json!({"exec": {}});
        }
        container
    }

    fn resources(&self, annotation: &str, path: &str) -> Value {
        let mut all = Map::new();
        for (of, group) in [("request", "requests"), ("limit", "limits")] {
            let mut amounts = Map::new();
            for what in ["cpu", "memory"] {
                let said = self.text(&format!("{annotation}-{what}-{of}"), &format!("{path}.{what}.{of}"));
                if let Some(said) = said {
                    amounts.insert(what.to_owned(), json!(said));
                }
            }
            if !amounts.is_empty() {
                all.insert(group.to_owned(), Value::Object(amounts));
            }
        }
        Value::Object(all)
    }

    /// The container that redirects a pod's traffic, or checks that linkerd-cni did.
    fn first_container(&self) -> Option<Value> {
        let values = self.injecting.values;
        if self.has_cni() {
            return Some(json!({
                "name": VALIDATOR_CONTAINER,
                "image": self.proxy_image(),
                "command": ["/usr/lib/linkerd/linkerd2-network-validator"],
                "args": self.validator_arguments(),
                "resources": {},
                "securityContext": {"capabilities": {"drop": ["ALL"]}, "runAsUser": 65534, "runAsGroup": 65534},
            }));
        }
        let own_image = values.written("proxyInit.image.name").filter(|name| !name.is_empty());
        let image = match &own_image {
            Some(_) => {
                self.image(("init-image", "proxyInit.image.name"), ("init-image-version", "proxyInit.image.version"))
            }
            None => self.proxy_image(),
        };
        let (control, admin) = (self.port("control", 4190), self.port("admin", 4191));
        let with = |given: Option<String>| given.map(|given| format!(",{given}")).unwrap_or_default();
        let inbound = with(self.text("skip-inbound-ports", "proxyInit.ignoreInboundPorts"));
        let outbound = self.text("skip-outbound-ports", "proxyInit.ignoreOutboundPorts");
        let mut arguments: Vec<String> = Vec::new();
        let tools = match values.written("proxyInit.iptablesMode").as_deref() {
            Some("nft") => Some(("iptables-nft", "iptables-nft-save")),
            Some("plain") => Some(("iptables", "iptables-save")),
            _ => None,
        };
        if let Some((firewall, save)) = tools {
            let words = ["--firewall-bin-path", firewall, "--firewall-save-bin-path", save];
            arguments.extend(words.map(str::to_owned));
        }
        if values.bool("disableIPv6") == Some(true) {
            arguments.push("--ipv6=false".to_owned());
        }
        arguments.extend([
            "--incoming-proxy-port".to_owned(),
            self.port("inbound", 4143).to_string(),
            "--outgoing-proxy-port".to_owned(),
            self.port("outbound", 4140).to_string(),
            "--proxy-uid".to_owned(),
            self.number("proxy-uid", "proxy.uid", 2102).to_string(),
            "--inbound-ports-to-ignore".to_owned(),
            format!("{control},{admin}{inbound}"),
        ]);
        if let Some(outbound) = outbound {
            arguments.extend(["--outbound-ports-to-ignore".to_owned(), outbound]);
        }
        if let Some(subnets) = self.text("skip-subnets", "proxyInit.skipSubnets") {
            arguments.extend(["--subnets-to-ignore".to_owned(), subnets]);
        }
        let root = values.bool("proxyInit.runAsRoot").unwrap_or_default();
        let user = if root { 0 } else { values.number("proxyInit.runAsUser").unwrap_or(65534) };
        let mut container = json!({
            "name": INIT_CONTAINER,
            "image": image,
            "args": arguments,
            "resources": self.resources("no", "proxyInit.resources"),
            "securityContext": {
                "capabilities": {"add": ["NET_ADMIN", "NET_RAW"]},
                "privileged": values.bool("proxyInit.privileged").unwrap_or_default(),
                "runAsUser": user,
            },
            "volumeMounts": [{"name": "linkerd-proxy-init-xtables-lock"}],
        });
        if own_image.is_none() {
            container["command"] = json!(["/usr/lib/linkerd/linkerd2-proxy-init"]);
        }
        if let Some(group) = values.number("proxyInit.runAsGroup") {
            container["securityContext"]["runAsGroup"] = json!(group);
        }
        Some(container)
    }

    fn validator_arguments(&self) -> Vec<String> {
        let of = |name: &str, otherwise: &str| {
            let said = self.injecting.values.written(&format!("networkValidator.{name}"));
            said.filter(|said| !said.is_empty()).unwrap_or_else(|| otherwise.to_owned())
        };
        let arguments = [
            ("--log-format", of("logFormat", "plain")),
            ("--log-level", of("logLevel", "debug")),
            ("--connect-addr", of("connectAddr", "1.1.1.1:20001")),
            ("--listen-addr", of("listenAddr", "0.0.0.0:4140")),
            ("--timeout", of("timeout", "10s")),
        ];
        arguments.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]).collect()
    }
}

fn variable(name: &str, value: String) -> Value {
    json!({"name": name, "value": value})
}

/// The texts of a map by key, such as annotations.
pub fn texts(value: &Value) -> BTreeMap<String, String> {
    let all = value.as_object().into_iter().flatten();
    all.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

/// The map at a place, created if missing or of another type.
fn object(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("it was created as a map"),
    }
}

/// The list of that name, created if missing.
fn list<'a>(map: &'a mut Map<String, Value>, name: &str) -> &'a mut Vec<Value> {
    let place = map.entry(name).or_insert(Value::Null);
    if !place.is_array() {
        *place = Value::Array(Vec::new());
    }
    match place {
        Value::Array(list) => list,
        _ => unreachable!("it was created as a list"),
    }
}
