//! A stand-in for the linkerd CLI. It renders the control plane, its CRDs and its extensions as the base clusters of cards
//! hold them, for the values that the cluster stores and the options of the command.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use meshdoctor::certificates::{Certificate, Trust, from_bundle, trust};
use meshdoctor::item::Kind;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::certificates::{read, server, split};
use super::programs::Call;
use super::values;
use super::world::{World, kind_of};
use crate::case;

/// The release of the base clusters.
const RELEASE: &str = "edge-25.4.4";

/// Namespaces of the bases with the workloads of users.
const USERS: [&str; 3] = ["shop", "tools", "kube-system"];

/// The output of a command.
pub fn run(world: &mut World, call: &Call) -> Result<String, String> {
    let valued = [
        "--context",
        "--set",
        "--set-string",
        "--set-file",
        "-f",
        "--values",
        "--namespace",
        "-n",
        "-L",
        "--linkerd-namespace",
        "--cni-namespace",
        "--cluster-name",
        "--identity-trust-anchors-file",
        "--identity-issuer-certificate-file",
        "--identity-issuer-key-file",
    ];
    let flags = values::FLAGS.map(|(flag, _)| flag);
    let plain = call.plain(&[valued.as_slice(), &flags].concat());
    let objects = match plain.as_slice() {
        ["version", ..] => return Ok(format!("{}\n", world.cli)),
        ["check", ..] | ["diagnostics", ..] | [_, "check", ..] | [_, "gateways", ..] => {
            return Ok(String::new());
        }
        ["upgrade" | "install"] if call.has("--crds") => crds(world),
        ["upgrade"] => control_plane(world, call, true)?,
        ["install"] => control_plane(world, call, false)?,
        ["install-cni"] => super::cni::chart(world, call)?,
        ["stand-in", release] => {
            world.cli = (*release).to_owned();
            world.installed_cli = Some(world.cli.clone());
            return Ok(String::new());
        }
        ["viz", "allow-scrapes"] => allowed_scrapes(call.value(&["--namespace", "-n"]).unwrap_or("default")),
        ["multicluster", "link-gen"] => linked(world),
        ["multicluster", "unlink"] => unlinked(world, call.value(&["--cluster-name"]).unwrap_or_default()),
        ["viz", "install"] => extension("viz", world),
        ["jaeger", "install"] => extension("jaeger", world),
        ["multicluster", "install"] => multicluster(world, call),
        ["prune"] => return prune(world),
        ["uninstall"] => installed(world),
        other => return Err(format!("linkerd {other:?} is not played")),
    };
    Ok(stream(&objects))
}

/// Documents of YAML.
pub fn stream(objects: &[Value]) -> String {
    objects.iter().map(|object| format!("---\n{}", serde_yaml::to_string(object).unwrap())).collect()
}

/// The manifests of a base cluster: without objects that controllers make or users own.
pub fn manifests(base: &str, release: &str) -> Vec<Value> {
    let text = case::base(base).unwrap();
    let text = if release.is_empty() { text } else { text.replace(RELEASE, release) };
    let documents = serde_yaml::Deserializer::from_str(&text);
    let objects = documents.map(|one| <Value as serde::Deserialize>::deserialize(one).unwrap());
    let is_rendered = |object: &Value| {
        let is_user = |name: &Value| USERS.iter().any(|user| name == user);
        let Some(kind) = kind_of(object) else { return false };
        let is_of_user = match kind {
            Kind::Namespace => is_user(&object["metadata"]["name"]),
            _ => is_user(&object["metadata"]["namespace"]),
        };
        !is_of_user && !kind.is_of_running_cluster() && kind != Kind::Pod
    };
    objects.filter(is_rendered).map(as_manifest).collect()
}

fn as_manifest(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("uid");
        metadata.remove("creationTimestamp");
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.retain(|name, _| !name.starts_with("meshdoctor.io/"));
        }
    }
    object
}

/// The namespace of the control plane.
fn control_plane_namespace(world: &World) -> String {
    let of = |object: &Value| {
        let component = &object["metadata"]["labels"]["linkerd.io/control-plane-component"];
        (component == "destination" || component == "identity")
            .then(|| object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned())
    };
    world.of_kind(Kind::Deployment).find_map(of).unwrap_or_else(|| "linkerd".to_owned())
}

pub fn crds(world: &World) -> Vec<Value> {
    let all = manifests("healthy", &world.cli).into_iter();
    all.filter(|object| kind_of(object) == Some(Kind::CustomResourceDefinition)).collect()
}

/// The values that the cluster stores.
pub fn stored(world: &World) -> Option<Value> {
    let config = world.get(Kind::ConfigMap, &control_plane_namespace(world), "linkerd-config")?;
    serde_yaml::from_str(config["data"]["values"].as_str()?).ok()
}

/// `linkerd install` and `linkerd upgrade`.
pub fn control_plane(world: &mut World, call: &Call, is_upgrade: bool) -> Result<Vec<Value>, String> {
    let home = control_plane_namespace(world);
    let overrides = world.get(Kind::Secret, &home, "linkerd-config-overrides");
    if is_upgrade && overrides.is_none() {
        return Err("failed to load current values: secrets \"linkerd-config-overrides\" not found".to_owned());
    }
    if !is_upgrade && !call.has("--ignore-cluster") && stored(world).is_some() {
        return Err("Unable to install the Linkerd control plane. Linkerd has already been installed.".to_owned());
    }
    let rendered = manifests("healthy", &world.cli);
    let config = |object: &&mut Value| object["metadata"]["name"] == "linkerd-config";
    let mut rendered: Vec<Value> =
        rendered.into_iter().filter(|object| kind_of(object) != Some(Kind::CustomResourceDefinition)).collect();
    let defaults = rendered.iter_mut().find(config).map(|object| object["data"]["values"].clone());
    let defaults: Value = serde_yaml::from_str(defaults.as_ref().and_then(Value::as_str).unwrap_or_default()).unwrap();
    let mut values = stored(world).unwrap_or(defaults);
    let folder = world.folder.clone();
    values::given(&mut values, call, &folder)?;
    values["linkerdVersion"] = json!(world.cli);
    values["cliVersion"] = json!(format!("linkerd/cli {}", world.cli));
    if call.has("--ha") {
        values["highAvailability"] = json!(true);
        values["controllerReplicas"] = json!(3);
        values["enablePodAntiAffinity"] = json!(true);
        values["webhookFailurePolicy"] = json!("Fail");
    }
    if values["disableHeartBeat"] == true {
        rendered.retain(|object| object["kind"] != "CronJob");
    }
    credentials(world, call, &home, &mut values, &mut rendered)?;
    if !is_upgrade {
        values::stored(&mut rendered, &values);
    }
    for object in &mut rendered {
        valued(object, &values);
    }
    webhooks(&mut rendered, "linkerd", &world.day());
    if home != "linkerd" {
        moved(&mut rendered, &home);
    }
    Ok(rendered)
}

/// The trust anchors and the issuer: from the options, or else those in the cluster.
fn credentials(
    world: &World,
    call: &Call,
    home: &str,
    values: &mut Value,
    rendered: &mut [Value],
) -> Result<(), String> {
    let roots = world.get(Kind::ConfigMap, home, "linkerd-identity-trust-roots");
    let roots = roots.and_then(|map| map["data"]["ca-bundle.crt"].as_str()).map(str::to_owned);
    let file = |option: &str| call.value(&[option]).map(|file| read(&world.folder, file)).transpose();
    let given = values.pointer("/identityTrustAnchorsPEM").and_then(Value::as_str).map(str::to_owned);
    let anchors = file("--identity-trust-anchors-file")?;
    let anchors = anchors.or(given).or(roots).ok_or("no trust anchors are stored")?;
    if split(&anchors).is_empty() {
        return Err("the trust anchors contain no certificate".to_owned());
    }
    // `linkerd install` gets them as chart values; linkerd-config contains no key.
    let text = |path: &str| values.pointer(path).and_then(Value::as_str).map(str::to_owned);
    // The stored certificate is also in linkerd-config, its key only in the Secret of stored values.
    let issuer = world.get(Kind::Secret, home, "linkerd-identity-issuer");
    let is_other = |pem: &&String| current_issuer(issuer).is_some_and(|current| current.trim() != pem.trim());
    let stored = text("/identity/issuer/tls/crtPEM");
    let key = text("/identity/issuer/tls/keyPEM");
    let key = key.or_else(|| stored.as_ref().filter(is_other).map(|_| "stored".to_owned()));
    let certificate = file("--identity-issuer-certificate-file")?.or(stored.filter(|_| key.is_some()));
    let key = file("--identity-issuer-key-file")?.or(key);
    if let Some(certificate) = &certificate {
        values["identity"]["issuer"]["tls"]["crtPEM"] = json!(certificate);
    }
    let is_new = values.get("identityTrustAnchorsPEM").and_then(Value::as_str).map(str::trim) != Some(anchors.trim());
    values["identityTrustAnchorsPEM"] = json!(anchors);
    for object in rendered.iter_mut().filter(|object| is_new && object["kind"] == "Deployment") {
        let annotations = &mut object["spec"]["template"]["metadata"]["annotations"];
        annotations["linkerd.io/trust-root-sha256"] = json!(hash(&anchors));
    }
    let is_by_another_tool = values.pointer("/identity/externalCA") == Some(&json!(true));
    for object in rendered.iter_mut() {
        match object["metadata"]["name"].as_str().unwrap_or_default() {
            "linkerd-identity-trust-roots" if is_by_another_tool => {
                // The chart does not render it.
                let current = world.get(Kind::ConfigMap, home, "linkerd-identity-trust-roots");
                object["data"] = current.map_or(Value::Null, |current| current["data"].clone());
            }
            "linkerd-identity-trust-roots" => object["data"]["ca-bundle.crt"] = json!(anchors),
            "linkerd-identity-issuer" => match (&certificate, &key) {
                (Some(certificate), Some(key)) => {
                    object["data"] = json!({
                        "crt.pem": STANDARD.encode(certificate), "key.pem": STANDARD.encode(key)});
                }
                // The stored values hold the issuer of the installation, with its key.
                _ => stored_issuer(world, issuer, object),
            },
            _ => {}
        }
    }
    // What the CLI verifies before it renders anything.
    let issuer = rendered.iter().find(|object| object["metadata"]["name"] == "linkerd-identity-issuer");
    let pem = issuer.and_then(|issuer| {
        let data = &issuer["data"];
        let text = data.get("crt.pem").or_else(|| data.get("tls.crt"))?.as_str()?;
        String::from_utf8(STANDARD.decode(text).ok()?).ok()
    });
    let issuer = from_bundle(&pem.unwrap_or_default()).map_err(|why| format!("the issuer is invalid: {why}"))?;
    let first = issuer.first().ok_or("the issuer is missing")?;
    let bundle = from_bundle(&anchors).map_err(|why| format!("invalid trust anchors: {why}"))?;
    let now: jiff::Timestamp = world.at.parse().unwrap();
    let is_valid = |one: &Certificate| one.not_before() <= now && now <= one.not_after();
    if !is_valid(first) || !first.is_authority() {
        return Err("the issuer certificate is not a valid authority".to_owned());
    }
    let usable: Vec<Certificate> = bundle.iter().filter(|one| is_valid(one)).cloned().collect();
    if trust(&issuer, &usable) != Trust::Yes {
        return Err("invalid credentials: x509: certificate signed by unknown authority".to_owned());
    }
    let is_refused = |pod: &&Value| {
        let own = proxy_anchors(pod).and_then(|text| from_bundle(&text).ok()).unwrap_or_default();
        !own.is_empty() && trust(&issuer, &own) != Trust::Yes
    };
    let is_external = values.pointer("/identity/issuer/scheme") == Some(&json!("kubernetes.io/tls"));
    if !call.has("--force") && !is_external && world.of_kind(Kind::Pod).any(|pod| is_refused(&pod)) {
        return Err("You are attempting to use an issuer certificate which does not validate against the trust \
                    anchors of some pods; restart them, or use --force"
            .to_owned());
    }
    Ok(())
}

/// The issuer of the installation: the one in the cluster, as far as its Secret has it.
fn stored_issuer(world: &World, secret: Option<&Value>, object: &mut Value) {
    let current = secret.filter(|secret| secret["data"].get("crt.pem").is_some());
    let Some(current) = current else {
        object["metadata"]["annotations"]["meshdoctor.io/key-matches"] = json!("true");
        return;
    };
    object["data"] = current["data"].clone();
    let pem = current_issuer(Some(current)).unwrap_or_default();
    if let Some(key) = world.keys.issuers.get(pem.trim()) {
        object["data"]["key.pem"] = json!(STANDARD.encode(key));
    }
}

/// The SHA-256 of a text, in hexadecimal.
pub fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The certificate in the issuer's Secret.
fn current_issuer(secret: Option<&Value>) -> Option<String> {
    let text = secret?["data"]["crt.pem"].as_str()?;
    String::from_utf8(STANDARD.decode(text).ok()?).ok()
}

/// The trust anchors in the environment of a pod's proxy.
fn proxy_anchors(pod: &Value) -> Option<String> {
    let lists = ["containers", "initContainers"];
    let containers = lists.iter().flat_map(|list| pod["spec"][*list].as_array().into_iter().flatten());
    let mut env = containers
        .filter(|one| one["name"] == "linkerd-proxy")
        .flat_map(|proxy| proxy["env"].as_array().into_iter().flatten());
    let anchors = env.find(|one| one["name"] == "LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS")?;
    anchors["value"].as_str().map(str::to_owned)
}

/// Writes the effects of values into an object of the control plane.
fn valued(object: &mut Value, values: &Value) {
    let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    if name == "linkerd-config" {
        let mut values = values.clone();
        if let Some(pair) = values.pointer_mut("/identity/issuer/tls").and_then(Value::as_object_mut) {
            pair.remove("keyPEM");
        }
        object["data"]["values"] = json!(serde_yaml::to_string(&values).unwrap());
    }
    for webhook in object["webhooks"].as_array_mut().into_iter().flatten() {
        webhook["failurePolicy"] = values.get("webhookFailurePolicy").cloned().unwrap_or(json!("Ignore"));
        if name.contains("injector")
            && let Some(selector) = values.pointer("/proxyInjector/namespaceSelector")
        {
            webhook["namespaceSelector"] = selector.clone();
        }
    }
    if object["kind"] != "Deployment" {
        return;
    }
    object["spec"]["replicas"] = values.get("controllerReplicas").cloned().unwrap_or(json!(1));
    let component = name.trim_start_matches("linkerd-").to_owned();
    if values["enablePodAntiAffinity"] == true {
        let term = |topology: &str| {
            json!({"labelSelector": {"matchExpressions": [{"key": "linkerd.io/control-plane-component",
                "operator": "In", "values": [component]}]}, "topologyKey": topology})
        };
        object["spec"]["template"]["spec"]["affinity"] = json!({"podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100,
                "podAffinityTerm": term("topology.kubernetes.io/zone")}],
            "requiredDuringSchedulingIgnoredDuringExecution": [term("kubernetes.io/hostname")]}});
    }
    if let Some(ports) = values::api_server_ports(values) {
        let init = json!({"name": "linkerd-init", "image": "cr.l5d.io/linkerd/proxy-init:v2.4.2",
            "args": ["--incoming-proxy-port", "4143", "--outbound-ports-to-ignore", ports]});
        object["spec"]["template"]["spec"]["initContainers"] = json!([init]);
    }
    if values["cniEnabled"] == true {
        let image = object["spec"]["template"]["spec"]["containers"][0]["image"].clone();
        object["spec"]["template"]["spec"]["initContainers"] =
            json!([{"name": "linkerd-network-validator", "image": image}]);
    }
    let limits = values.get(format!("{component}Resources")).or_else(|| values.pointer("/destinationResources"));
    for container in object["spec"]["template"]["spec"]["containers"].as_array_mut().into_iter().flatten() {
        if container["name"] == component.as_str()
            && let Some(limit) = limits.and_then(|limits| limits.pointer("/memory/limit"))
        {
            container["resources"] = json!({"limits": {"memory": limit}});
        }
        if container["name"] == "policy"
            && let Some(networks) = values.pointer("/policyController/probeNetworks").and_then(Value::as_array)
        {
            let networks: Vec<&str> = networks.iter().filter_map(Value::as_str).collect();
            container["args"] = json!([format!("--probe-networks={}", networks.join(","))]);
        }
    }
}

/// Writes new certificates of webhook servers and API services, with their bundles.
fn webhooks(rendered: &mut [Value], home: &str, day: &str) {
    let secrets = ["proxy-injector", "sp-validator", "policy-validator", "tap", "tap-injector"];
    for component in secrets {
        let service = if home == "linkerd" { format!("linkerd-{component}") } else { component.to_owned() };
        let secret = format!("{service}-k8s-tls");
        let (certificate, key) = server(&format!("{service}.{home}.svc"), day);
        let Some(object) = rendered.iter_mut().find(|object| object["metadata"]["name"] == secret.as_str()) else {
            continue;
        };
        object["data"] = json!({"tls.crt": STANDARD.encode(&certificate), "tls.key": STANDARD.encode(&key)});
        let deployment = if component == "proxy-injector" { "linkerd-proxy-injector" } else { "linkerd-destination" };
        for object in rendered.iter_mut() {
            if object["kind"] == "Deployment" && object["metadata"]["name"] == deployment && home == "linkerd" {
                object["spec"]["template"]["metadata"]["annotations"]["checksum/config"] = json!(hash(&certificate));
            }
            for webhook in object["webhooks"].as_array_mut().into_iter().flatten() {
                if webhook["clientConfig"]["service"]["name"] == service.as_str() {
                    webhook["clientConfig"]["caBundle"] = json!(STANDARD.encode(&certificate));
                }
            }
            if object["kind"] == "APIService" && object["spec"]["service"]["name"] == service.as_str() {
                object["spec"]["caBundle"] = json!(STANDARD.encode(&certificate));
            }
        }
    }
}

/// Objects in another namespace.
fn moved(rendered: &mut [Value], home: &str) {
    for object in rendered {
        if object["metadata"]["namespace"] == "linkerd" {
            object["metadata"]["namespace"] = json!(home);
        }
        if object["kind"] == "Namespace" && object["metadata"]["name"] == "linkerd" {
            object["metadata"]["name"] = json!(home);
        }
        for subject in object["subjects"].as_array_mut().into_iter().flatten() {
            if subject["namespace"] == "linkerd" {
                subject["namespace"] = json!(home);
            }
        }
        for webhook in object["webhooks"].as_array_mut().into_iter().flatten() {
            webhook["clientConfig"]["service"]["namespace"] = json!(home);
        }
    }
}

/// An extension as its base cluster holds it.
pub fn extension(base: &str, world: &World) -> Vec<Value> {
    let mut rendered = manifests(base, &world.cli);
    webhooks(&mut rendered, &format!("linkerd-{base}"), &world.day());
    rendered
}

/// `linkerd multicluster install`: controllers for the links of `--set controllers[N].link.ref.name`.
fn multicluster(world: &World, call: &Call) -> Vec<Value> {
    let rendered = manifests("multicluster", &world.cli);
    let has_controller = !call.values(&["--set"]).is_empty();
    let is_installed = |object: &Value| {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let is_link =
            object["kind"] == "Link" || name.starts_with("cluster-credentials") || name.contains("probe-gateway");
        let is_controller = name.contains("controller-") || name.ends_with("-east");
        !is_link && (has_controller || !is_controller)
    };
    rendered.into_iter().filter(is_installed).collect()
}

/// `linkerd multicluster link-gen`, run on the other cluster.
fn linked(world: &World) -> Vec<Value> {
    let rendered = manifests("multicluster", &world.cli).into_iter();
    let is_link = |object: &Value| {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        object["kind"] == "Link" || name.starts_with("cluster-credentials")
    };
    // The Secret of the earlier link states the trust domain of the other cluster.
    let key = "multicluster.linkerd.io/trust-domain";
    let earlier = world.of_kind(Kind::Secret).find_map(|secret| secret["metadata"]["annotations"].get(key)?.as_str());
    let domain = earlier.unwrap_or("cluster.local").to_owned();
    let mut objects: Vec<Value> = rendered.filter(is_link).collect();
    for object in &mut objects {
        if object["kind"] == "Link" {
            let own = object["spec"]["gatewayIdentity"].as_str().unwrap_or_default();
            object["spec"]["gatewayIdentity"] = json!(own.replace("cluster.local", &domain));
        } else {
            object["metadata"]["annotations"] =
                json!({key: domain, "multicluster.linkerd.io/cluster-domain": "cluster.local"});
        }
    }
    // Destination of this cluster reads the credentials in its own namespace.
    let copies: Vec<Value> = objects
        .iter()
        .filter(|object| object["kind"] == "Secret")
        .map(|secret| {
            let mut copy = secret.clone();
            copy["metadata"]["namespace"] = json!(control_plane_namespace(world));
            copy
        })
        .collect();
    objects.extend(copies);
    objects
}

/// The controller of a link as `linkerd multicluster link` created it, with the Service of its gateway.
fn unlinked(world: &World, cluster: &str) -> Vec<Value> {
    let all = world.objects.iter().filter(|((kind, _), object)| {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let is_controller = name.starts_with("linkerd-service-mirror-") && name.ends_with(&format!("-{cluster}"));
        let is_gateway = *kind == Kind::Service && name == format!("probe-gateway-{cluster}");
        !kind.is_of_running_cluster() && *kind != Kind::Pod && (is_controller || is_gateway)
    });
    all.map(|(_, object)| object.clone()).collect()
}

/// `linkerd viz allow-scrapes`.
fn allowed_scrapes(namespace: &str) -> Vec<Value> {
    let metadata = |name: &str| json!({"name": name, "namespace": namespace});
    let group = "policy.linkerd.io";
    vec![
        json!({"apiVersion": "policy.linkerd.io/v1beta3", "kind": "Server", "metadata": metadata("proxy-admin"),
            "spec": {"podSelector": {"matchExpressions": [{"key": "linkerd.io/control-plane-ns", "operator": "Exists"}]},
                "port": "linkerd-admin", "proxyProtocol": "HTTP/1"}}),
        json!({"apiVersion": "policy.linkerd.io/v1beta3", "kind": "HTTPRoute", "metadata": metadata("proxy-metrics"),
            "spec": {"parentRefs": [{"name": "proxy-admin", "kind": "Server", "group": group}],
                "rules": [{"matches": [{"path": {"value": "/metrics"}}]}]}}),
        json!({"apiVersion": "policy.linkerd.io/v1beta3", "kind": "HTTPRoute", "metadata": metadata("proxy-probes"),
            "spec": {"parentRefs": [{"name": "proxy-admin", "kind": "Server", "group": group}],
                "rules": [{"matches": [{"path": {"value": "/live"}}, {"path": {"value": "/ready"}}]}]}}),
        json!({"apiVersion": "policy.linkerd.io/v1alpha1", "kind": "AuthorizationPolicy",
            "metadata": metadata("prometheus-scrape"),
            "spec": {"targetRef": {"group": group, "kind": "HTTPRoute", "name": "proxy-metrics"},
                "requiredAuthenticationRefs":
                    [{"kind": "ServiceAccount", "name": "prometheus", "namespace": "linkerd-viz"}]}}),
        json!({"apiVersion": "policy.linkerd.io/v1alpha1", "kind": "AuthorizationPolicy",
            "metadata": metadata("proxy-probes"),
            "spec": {"targetRef": {"group": group, "kind": "HTTPRoute", "name": "proxy-probes"},
                "requiredAuthenticationRefs": [{"kind": "NetworkAuthentication", "group": group, "name": "kubelet"}]}}),
        json!({"apiVersion": "policy.linkerd.io/v1alpha1", "kind": "NetworkAuthentication",
            "metadata": metadata("kubelet"), "spec": {"networks": [{"cidr": "0.0.0.0/0"}, {"cidr": "::/0"}]}}),
    ]
}

/// The objects of Linkerd that the current release does not render.
fn left(world: &World) -> Vec<Value> {
    let release = &world.cli;
    let rendered: Vec<Value> =
        ["healthy", "viz", "multicluster"].iter().flat_map(|base| manifests(base, release)).collect();
    let is_rendered = |object: &Value| {
        rendered.iter().any(|known| {
            known["kind"] == object["kind"]
                && known["metadata"]["name"] == object["metadata"]["name"]
                && known["metadata"].get("namespace") == object["metadata"].get("namespace")
        })
    };
    installed(world).into_iter().filter(|object| !is_rendered(object)).collect()
}

fn installed(world: &World) -> Vec<Value> {
    let is_ours = |object: &Value| object["metadata"]["labels"].get("linkerd.io/control-plane-ns").is_some();
    let makers = world
        .objects
        .iter()
        .filter(|((kind, _), object)| !kind.is_of_running_cluster() && *kind != Kind::Pod && is_ours(object));
    makers.map(|(_, object)| object.clone()).collect()
}

fn prune(world: &World) -> Result<String, String> {
    Ok(stream(&left(world)))
}
