//! `meshdoctor reach` where a call does not take the usual path: connections that bypass a proxy, proxies of another
//! control plane or trust domain, blocked DNS, and network policies of other kinds.

use crate::binary::write;
use crate::policy_command::{SHOP, run_on_dump};

/// A meshed client and a meshed server whose pods are complete, and the Service between them.
const ENDS: &str = r#"
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {kubernetes.io/metadata.name: shop}}
---
apiVersion: v1
kind: Namespace
metadata: {name: kube-system, labels: {kubernetes.io/metadata.name: kube-system}}
---
apiVersion: v1
kind: Pod
metadata: {name: coredns-1, namespace: kube-system, labels: {k8s-app: kube-dns}}
spec: {containers: [{name: coredns, image: coredns}]}
status: {phase: Running, podIP: 10.0.0.53, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Service
metadata: {name: duo, namespace: shop}
spec: {clusterIP: 10.96.0.8, selector: {app: duo}, ports: [{name: http, port: 80, targetPort: http}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: duo-1, namespace: shop, labels: {kubernetes.io/service-name: duo}}
endpoints: [{addresses: [10.0.0.9], conditions: {ready: true}}]
"#;

const INIT: &str = "{name: linkerd-init, image: \"cr.l5d.io/linkerd/proxy-init:v2.4.2\", args: [--incoming-proxy-port, \
                    \"4143\", --outgoing-proxy-port, \"4140\"]}";

/// A complete meshed pod.
struct End {
    name: &'static str,
    address: &'static str,
    init: &'static str,
    inbound: u16,
    outbound: u16,
    control_plane: &'static str,
    domain: &'static str,
}

const FRONT: End = End {
    name: "front",
    address: "10.0.0.7",
    init: INIT,
    inbound: 4143,
    outbound: 4140,
    control_plane: "linkerd",
    domain: "cluster.local",
};
const DUO: End = End { name: "duo", address: "10.0.0.9", ..FRONT };

impl End {
    fn pod(&self) -> String {
        let End { name, address, init, inbound, outbound, control_plane, domain } = self;
        format!(
            r#"
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}-1, namespace: shop, labels: {{app: {name}, linkerd.io/control-plane-ns: {control_plane}}}}}
spec:
  serviceAccountName: {name}
  volumes: [{{name: linkerd-identity-end-entity}}]
  initContainers: [{init}]
  containers:
  - name: linkerd-proxy
    image: "cr.l5d.io/linkerd/proxy:edge-26.5.5"
    env:
    - {{name: LINKERD2_PROXY_INBOUND_LISTEN_ADDR, value: "0.0.0.0:{inbound}"}}
    - {{name: LINKERD2_PROXY_OUTBOUND_LISTEN_ADDRS, value: "127.0.0.1:{outbound},[::1]:{outbound}"}}
    - {{name: LINKERD2_PROXY_DESTINATION_SVC_ADDR, value: "linkerd-dst-headless.{control_plane}.svc.cluster.local.:8086"}}
    - name: LINKERD2_PROXY_IDENTITY_LOCAL_NAME
      value: $(_pod_sa).$(_pod_ns).serviceaccount.identity.{control_plane}.{domain}
  - {{name: app, image: app, ports: [{{name: http, containerPort: 8080}}]}}
status:
  phase: Running
  podIP: {address}
  conditions: [{{type: Ready, status: "True"}}]
  containerStatuses: [{{name: linkerd-proxy, ready: true}}]
"#
        )
    }
}

fn reached(front: &End, duo: &End, more: &str) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    // No Server of the base selects these pods.
    let base = SHOP.replace("podSelector: {}", "podSelector: {matchLabels: {app: none}}");
    let dump = write(folder.path(), "shop.yaml", format!("{base}{ENDS}{}{}{more}", front.pod(), duo.pod()));
    let output = run_on_dump("reach", &["shop/front-1", "shop/duo:80", "--traffic", "http1"], &dump);
    (output.status, output.out.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[track_caller]
fn expects((status, text): (i32, String), wanted: i32, part: &str) {
    assert_eq!(status, wanted, "{text}");
    assert!(text.contains(part), "{text}");
}

#[test]
fn pod_without_linkerd_init_is_not_judged() {
    let bare = End { init: "", ..DUO };
    expects(reached(&FRONT, &bare, ""), 4, "unknown server pod duo-1 has no linkerd-init");
    let bare = End { init: "", ..FRONT };
    expects(reached(&bare, &DUO, ""), 4, "unknown client pod front-1 has no linkerd-init");
    let validated = End { init: "{name: linkerd-network-validator, image: proxy}", ..DUO };
    let (_, text) = reached(&FRONT, &validated, "");
    assert!(!text.contains("linkerd-init"), "{text}");
}

#[test]
fn redirection_to_an_unserved_port_stops_the_call() {
    let other = End { inbound: 5143, ..DUO };
    expects(reached(&FRONT, &other, ""), 1, "stops here server connections to pod duo-1 are redirected");
    let other = End { outbound: 5140, ..FRONT };
    expects(reached(&other, &DUO, ""), 1, "stops here client the calls of pod front-1 are redirected");
}

#[test]
fn proxies_of_a_removed_control_plane_hang() {
    let old = End { control_plane: "old-linkerd", ..FRONT };
    expects(reached(&old, &DUO, ""), 1, "connects to namespace old-linkerd, which has no control plane");
    let second = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: d-1, namespace: old-linkerd, labels: \
                  {linkerd.io/control-plane-component: destination}}\nspec: {containers: [{name: destination, image: c}]}\n";
    let (_, text) = reached(&old, &DUO, second);
    assert!(!text.contains("which has no control plane"), "{text}");
}

/// A pod like another one, with one more variable in its proxy.
fn with_variable(end: &End, name: &str, value: &str) -> String {
    end.pod().replace("    env:\n", &format!("    env:\n    - {{name: {name}, value: \"{value}\"}}\n"))
}

#[test]
fn proxy_with_settings_of_another_control_plane_stops_the_call() {
    let folder = tempfile::tempdir().unwrap();
    let config = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: linkerd-config, namespace: linkerd}\ndata: {values: \
                  'clusterDomain: cluster.local'}\n";
    let run = |front: &str, duo: &str| {
        let base = SHOP.replace("podSelector: {}", "podSelector: {matchLabels: {app: none}}");
        let dump = write(folder.path(), "shop.yaml", format!("{base}{ENDS}{front}{duo}{config}"));
        let output = run_on_dump("reach", &["shop/front-1", "shop/duo:80", "--traffic", "http1"], &dump);
        (output.status, output.out.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let (front, duo) = (FRONT.pod(), DUO.pod());
    expects(run(&front, &duo), 4, "no failure found; not certain: identity ok");
    let name = "LINKERD2_PROXY_POLICY_SVC_NAME";
    let own = "linkerd-destination.linkerd.serviceaccount.identity.linkerd.cluster.local";
    expects(run(&with_variable(&FRONT, name, own), &duo), 4, "no failure found; not certain: identity ok");
    let other = own.replace("linkerd.cluster", "mesh.cluster");
    let stops = "stops here control plane pod front-1: The proxy expects the policy controller";
    expects(run(&with_variable(&FRONT, name, &other), &duo), 1, stops);
    expects(run(&front, &with_variable(&DUO, name, &other)), 4, "unknown control plane pod duo-1");
    let address = ("LINKERD2_PROXY_IDENTITY_SVC_ADDR", "linkerd-identity-headless.mesh.svc.cluster.local.:8080");
    let stops = "stops here control plane pod front-1: The proxy looks up identity";
    expects(run(&with_variable(&FRONT, address.0, address.1), &duo), 1, stops);
}

#[test]
fn inbound_port_of_a_proxy_accepts_no_call() {
    let folder = tempfile::tempdir().unwrap();
    let base = SHOP.replace("podSelector: {}", "podSelector: {matchLabels: {app: none}}");
    let dump = write(folder.path(), "shop.yaml", format!("{base}{ENDS}{}{}", FRONT.pod(), DUO.pod()));
    let output = run_on_dump("reach", &["shop/front-1", "10.0.0.9:4143"], &dump);
    let text = output.out.split_whitespace().collect::<Vec<_>>().join(" ");
    expects((output.status, text), 1, "stops here server port 4143 is the inbound port of the proxy");
}

#[test]
fn mirror_without_the_name_of_the_remote_service_fails() {
    let folder = tempfile::tempdir().unwrap();
    let mirror = |more: &str| {
        format!(
            "---\napiVersion: v1\nkind: Service\nmetadata: {{name: duo-west, namespace: shop, labels: \
             {{mirror.linkerd.io/mirrored-service: \"true\", mirror.linkerd.io/cluster-name: west, \
             multicluster.linkerd.io/remote-discovery: west{more}}}}}\nspec: {{clusterIP: 10.96.0.9, ports: [{{port: 80}}]}}\n"
        )
    };
    let run = |mirror: &str| {
        let dump = write(folder.path(), "shop.yaml", format!("{SHOP}{ENDS}{}{mirror}", FRONT.pod()));
        let output = run_on_dump("reach", &["shop/front-1", "shop/duo-west:80"], &dump);
        (output.status, output.out.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    expects(run(&mirror("")), 1, "without the label multicluster.linkerd.io/remote-service");
    expects(run(&mirror(", multicluster.linkerd.io/remote-service: duo")), 4, "unknown other cluster");
}

#[test]
fn identity_of_the_client_comes_from_its_proxy() {
    let authorized = r#"
---
apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata: {name: duo, namespace: shop, creationTimestamp: "2025-01-01T00:00:00Z"}
spec: {podSelector: {matchLabels: {app: duo}}, port: http, proxyProtocol: HTTP/1}
---
apiVersion: policy.linkerd.io/v1alpha1
kind: AuthorizationPolicy
metadata: {name: duo, namespace: shop}
spec:
  targetRef: {group: policy.linkerd.io, kind: Server, name: duo}
  requiredAuthenticationRefs: [{kind: ServiceAccount, name: front}]
"#;
    let (_, text) = reached(&FRONT, &DUO, authorized);
    assert!(text.contains("Server duo authorizes front.shop."), "{text}");
    let other = End { domain: "other.example", ..FRONT };
    let denied = "does not authorize front.shop.serviceaccount.identity.linkerd.other.example";
    expects(reached(&other, &DUO, authorized), 1, denied);
}

#[test]
fn blocked_dns_is_not_judged() {
    let policy = r#"
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: mesh-only, namespace: shop}
spec:
  podSelector: {matchLabels: {app: front}}
  policyTypes: [Egress]
  egress:
  - to: [{namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [shop, linkerd]}]}}]
"#;
    expects(reached(&FRONT, &DUO, policy), 4, "block pod front-1 from the cluster's DNS (UDP port 53)");
    let with_dns = policy.replace("[shop, linkerd]", "[shop, linkerd, kube-system]");
    let (_, text) = reached(&FRONT, &DUO, &with_dns);
    assert!(!text.contains("DNS"), "{text}");
}

#[test]
fn blocked_dns_needs_no_known_dns_pod() {
    let policy = r#"
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: ports-only, namespace: shop}
spec:
  podSelector: {matchLabels: {app: front}}
  policyTypes: [Egress]
  egress:
  - ports: [{port: 4143}, {port: 8080}, {port: 8086}, {port: 8090}, {port: 80}]
"#;
    // A label that no DNS pod has.
    let unknown = r#"
---
apiVersion: v1
kind: Pod
metadata: {name: coredns-1, namespace: kube-system, labels: {k8s-app: other}}
spec: {containers: [{name: coredns, image: coredns}]}
"#;
    let part = "block pod front-1 from the cluster's DNS (UDP port 53)";
    expects(reached(&FRONT, &DUO, policy), 4, part);
    expects(reached(&FRONT, &DUO, &format!("{policy}{unknown}")), 4, part);
    let open = policy.replace("{port: 80}", "{port: 80}, {port: 53, protocol: UDP}");
    let (_, text) = reached(&FRONT, &DUO, &format!("{open}{unknown}"));
    assert!(!text.contains("DNS"), "{text}");
}

#[test]
fn destination_without_permissions_stops_the_call_partly() {
    let base = std::fs::read_to_string("checks/bases/healthy.yaml").unwrap();
    let (_, text) = reached(&FRONT, &DUO, &format!("---\n{base}"));
    assert!(!text.contains("may not watch"), "{text}");
    let role = "metadata: {name: linkerd-linkerd-destination";
    assert!(base.contains(role), "the role of destination");
    let renamed = base.replace(role, "metadata: {name: another");
    expects(reached(&FRONT, &DUO, &format!("---\n{renamed}")), 1, "destination may not watch");
}

#[test]
fn admin_network_policies_are_evaluated() {
    let policy = "---\napiVersion: policy.networking.k8s.io/v1alpha1\nkind: AdminNetworkPolicy\nmetadata: {name: np}\n\
                  spec: {priority: 1, subject: {namespaces: {}}, ingress: [{action: Deny, from: [{namespaces: {}}]}]}\n";
    let part = "AdminNetworkPolicy np applies to traffic to pod duo-1, and denies the call";
    expects(reached(&FRONT, &DUO, policy), 1, part);
    let passed = policy.replace("action: Deny", "action: Pass");
    let (_, text) = reached(&FRONT, &DUO, &passed);
    assert!(!text.contains("denies the call"), "{text}");
    let baseline = policy.replace("AdminNetworkPolicy", "BaselineAdminNetworkPolicy").replace("priority: 1, ", "");
    expects(reached(&FRONT, &DUO, &baseline), 1, "BaselineAdminNetworkPolicy np applies");
}

#[test]
fn policies_of_calicos_api_server_are_evaluated() {
    let policy = "---\napiVersion: projectcalico.org/v3\nkind: GlobalNetworkPolicy\nmetadata: {name: np}\nspec: \
                  {selector: app == 'duo', types: [Ingress], ingress: [{action: Deny}]}\n";
    expects(reached(&FRONT, &DUO, policy), 1, "Calico's GlobalNetworkPolicy np applies to traffic to pod duo-1");
}

/// A Server without an authorization for the pods of `duo`.
const CLOSED: &str = "---\napiVersion: policy.linkerd.io/v1beta3\nkind: Server\nmetadata: {name: duo, namespace: shop}\n\
                      spec: {podSelector: {matchLabels: {app: duo}}, port: http}\n";

/// A conflist of a node, with the address ranges that linkerd-cni skips.
fn conflist(subnets: &str) -> String {
    format!(
        r#"{{"cniVersion": "0.4.0", "name": "net", "plugins": [{{"type": "bridge"}}, {{"type": "linkerd-cni",
  "linkerd": {{"incoming-proxy-port": 4143, "outgoing-proxy-port": 4140, "subnets-to-ignore": [{subnets}]}}}}]}}"#
    )
}

/// The answers of `reach` for a client without a proxy and for a meshed one, and that of `policy`, for a server with a
/// closed port. `nodes`: the files of nodes, by name.
fn bypassing(duo: &str, nodes: &[(&str, String)]) -> [(i32, String); 3] {
    let folder = tempfile::tempdir().unwrap();
    let base = SHOP.replace("podSelector: {}", "podSelector: {matchLabels: {app: none}}");
    let dump = write(folder.path(), "shop.yaml", format!("{base}{ENDS}{}{duo}{CLOSED}", FRONT.pod()));
    let mut more = Vec::new();
    for (node, file) in nodes {
        let place = folder.path().join(node);
        std::fs::create_dir(&place).unwrap();
        write(&place, "10-net.conflist", file);
        more.extend(["--nodes".to_owned(), format!("{node}={}", place.display())]);
    }
    let ran = |command: &str, words: &[&str]| {
        let words: Vec<&str> = words.iter().copied().chain(more.iter().map(String::as_str)).collect();
        let output = run_on_dump(command, &words, &dump);
        (output.status, output.out.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    [
        ran("reach", &["kube-system/coredns-1", "shop/duo:80", "--traffic", "http1"]),
        ran("reach", &["shop/front-1", "shop/duo:80", "--traffic", "http1"]),
        ran("policy", &["shop/duo-1:8080", "-v"]),
    ]
}

/// Connections from skipped subnets bypass the proxy of the server, so no policy applies to them.
#[test]
fn skipped_subnets_bypass_policy() {
    let [bare, ..] = bypassing(&DUO.pod(), &[]);
    expects(bare, 1, "stops here policy");
    let skips = DUO.pod().replace(
        "metadata: {name: duo-1,",
        "metadata: {name: duo-1, annotations: {config.linkerd.io/skip-subnets: 10.0.0.0/8},",
    );
    let [bare, meshed, policy] = bypassing(&skips, &[]);
    expects(bare, 0, "connections from 10.0.0.0/8 bypass the proxy of pod duo-1: no policy applies");
    expects(meshed, 4, "if the client's proxy uses mTLS, the application receives it");
    assert!(policy.1.contains("10.0.0.0/8"), "{}", policy.1);
    let [bare, ..] = bypassing(&skips.replace("10.0.0.0/8}", "192.168.0.0/16}"), &[]);
    expects(bare, 1, "stops here policy");
}

/// The configuration of linkerd-cni on the pod's node counts if the pod has no annotation.
#[test]
fn skipped_subnets_of_linkerd_cni_bypass_policy() {
    let on = |node: &str| {
        let pod = End { init: "{name: linkerd-network-validator, image: proxy}", ..DUO }.pod();
        pod.replace("serviceAccountName: duo", &format!("serviceAccountName: duo\n  nodeName: {node}"))
    };
    let skips = conflist("\"10.0.0.0/8\"");
    let [bare, _, policy] = bypassing(&on("a"), &[("a", skips.clone()), ("b", conflist(""))]);
    expects(bare, 0, "connections from 10.0.0.0/8 bypass the proxy of pod duo-1: no policy applies");
    assert!(policy.1.contains("10.0.0.0/8"), "{}", policy.1);
    let [bare, ..] = bypassing(&on("b"), &[("a", skips.clone()), ("b", conflist(""))]);
    expects(bare, 1, "stops here policy");
    // The files of node c are unknown, and other nodes differ.
    let [bare, ..] = bypassing(&on("c"), &[("a", skips.clone()), ("b", conflist(""))]);
    expects(bare, 4, "whether this one does is not known");
    let [bare, ..] = bypassing(&on("c"), &[("a", skips)]);
    expects(bare, 0, "no policy applies");
    let [bare, ..] = bypassing(&on("a"), &[]);
    expects(bare, 1, "stops here policy");
}

/// Without its Deployment, the values of the chart describe the policy controller, in the namespace that the other
/// components show.
#[test]
fn missing_destination_is_described_by_the_chart() {
    let base = SHOP.replace("podSelector: {}", "podSelector: {matchLabels: {app: none}}");
    let (_, rest) = base.split_once("---\napiVersion: v1\nkind: Pod\nmetadata: {name: web-1,").unwrap();
    let identity = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: linkerd-identity, namespace: linkerd, labels: \
                    {linkerd.io/control-plane-component: identity}}\nspec: {template: {spec: {containers: [{name: identity, \
                    image: \"cr.l5d.io/linkerd/controller:edge-26.5.5\"}]}}}\n";
    let config = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: linkerd-config, namespace: linkerd}\ndata: {values: \
                  \"clusterNetworks: 10.0.0.0/8\\nproxy: {defaultInboundPolicy: deny}\\n\"}\n";
    let (front, duo) = (End { control_plane: "mesh", ..FRONT }, End { control_plane: "mesh", ..DUO });
    let pods =
        format!("---\napiVersion: v1\nkind: Pod\nmetadata: {{name: web-1,{rest}{ENDS}{}{}", front.pod(), duo.pod());
    let of = |config: &str, command: &str, words: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let objects = format!("{identity}{config}{pods}").replace("namespace: linkerd", "namespace: mesh");
        let objects = objects.replace("control-plane-ns: linkerd", "control-plane-ns: mesh");
        let dump = write(folder.path(), "shop.yaml", objects);
        let output = run_on_dump(command, words, &dump);
        (output.status, (output.out + &output.err).split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let policy = of(config, "policy", &["shop/duo-1:8080"]);
    expects(policy.clone(), 4, "the policy controller has not been ready");
    assert!(policy.1.contains("deny"), "{}", policy.1);
    let words = ["shop/front-1", "shop/duo:80", "--traffic", "http1"];
    expects(of(config, "reach", &words), 1, "linkerd-destination has no pod: calls hang");
    expects(of("", "policy", &["shop/duo-1:8080"]), 3, "no Deployment linkerd-destination");
}

/// Entries of EndpointSlices that destination does not use, or whose address no pod has.
#[test]
fn endpoint_slices_that_lead_to_no_pod_are_found() {
    let entry = "endpoints: [{addresses: [10.0.0.9], conditions: {ready: true}}]";
    let with = |slice: &str| {
        let folder = tempfile::tempdir().unwrap();
        let base = SHOP.replace("podSelector: {}", "podSelector: {matchLabels: {app: none}}");
        assert!(ENDS.contains(entry));
        let ends = ENDS.replace(entry, slice);
        let dump = write(folder.path(), "shop.yaml", format!("{base}{ends}{}{}", FRONT.pod(), DUO.pod()));
        let output = run_on_dump("reach", &["shop/front-1", "shop/duo:80", "--traffic", "http1"], &dump);
        (output.status, output.out.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let named = |ports: &str, target: &str, address: &str| {
        format!(
            "addressType: IPv4\n{ports}\nendpoints: [{{addresses: [{address}], conditions: {{ready: true}}, targetRef: \
             {{kind: Pod, namespace: shop, name: {target}}}}}]"
        )
    };
    let (status, text) = with(&named("ports: [{name: http, port: 8080}]", "duo-1", "10.0.0.9"));
    assert!(status == 4 && text.contains("the only endpoint is ready"), "{text}");
    let unused = "no ready endpoint of Service shop/duo is used, because";
    for slice in [
        named("ports: []", "duo-1", "10.0.0.9"),
        named("ports: [{name: web, port: 8080}]", "duo-1", "10.0.0.9"),
        named("ports: [{name: http, port: 8080}]", "gone-1", "10.0.0.9"),
        "addressType: FQDN\nports: [{name: http, port: 8080}]\nendpoints: [{addresses: [a.b.c]}]".to_owned(),
    ] {
        expects(with(&slice), 1, unused);
    }
    let strayed = named("ports: [{name: http, port: 8080}]", "duo-1", "10.0.0.99");
    expects(with(&strayed), 1, "no pod has an address of Service shop/duo (10.0.0.99): calls hang");
    let extra = format!(
        "{entry}\n---\n{}",
        "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: duo-2, \
        namespace: shop, labels: {kubernetes.io/service-name: duo}}\naddressType: IPv4\nendpoints: [{addresses: [10.0.9.9]}]"
    );
    expects(with(&extra), 1, "1 of 2 endpoints has an address that no pod has: calls to it hang");
    // The second address of a pod is not known.
    let other = named("ports: [{name: http, port: 8080}]", "duo-1", "fd00::9").replace("IPv4", "IPv6");
    expects(with(&other), 4, "the only endpoint is ready");
}
