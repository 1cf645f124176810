//! Links between clusters of one run, evaluated from both ends: gateways, access, and mirrored and exported
//! services.

use serde_json::{Value, json};

use crate::binary::{meshdoctor, ran};
use crate::fleets::{lay, lay_edited, run, run_with};
use crate::recordings::{folder, json};

fn link(to: &str, domain: &str) -> Value {
    json!({
        "apiVersion": "multicluster.linkerd.io/v1alpha3", "kind": "Link",
        "metadata": {"name": to, "namespace": "linkerd-multicluster"},
        "spec": {
            "targetClusterName": to, "targetClusterDomain": domain, "targetClusterLinkerdNamespace": "linkerd",
            "clusterCredentialsSecret": "cluster-credentials", "gatewayAddress": "192.0.2.1", "gatewayPort": "4143",
            "gatewayIdentity": "linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local",
            "probeSpec": {"path": "/ready", "port": "4191", "period": "3s"},
        },
    })
}

fn service(namespace: &str, name: &str, labels: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"ports": [{"port": 80}]},
    })
}

/// Changes the object of a kind and name.
fn edit_object(all: &mut [Value], kind: &str, name: &str, edit: &dyn Fn(&mut Value)) {
    let is = |one: &&mut Value| one["kind"] == kind && one["metadata"]["name"] == name;
    edit(all.iter_mut().find(is).unwrap());
}

fn gateway(all: &mut [Value], edit: &dyn Fn(&mut Value)) {
    edit_object(all, "Service", "linkerd-gateway", edit);
}

/// Changes the EndpointSlices of the gateway.
fn slices(all: &mut [Value], edit: &dyn Fn(&mut Value)) {
    let of_gateway = |one: &&mut Value| {
        one["kind"] == "EndpointSlice" && one["metadata"]["labels"]["kubernetes.io/service-name"] == "linkerd-gateway"
    };
    all.iter_mut().filter(of_gateway).for_each(edit);
}

fn unready(slice: &mut Value) {
    for endpoint in slice["endpoints"].as_array_mut().unwrap() {
        endpoint["conditions"] = json!({"ready": false, "serving": false, "terminating": false});
    }
}

fn with_address(ip: &str) -> Value {
    json!({"loadBalancer": {"ingress": [{"ip": ip}]}})
}

fn mismatches(fleet: &Value) -> Vec<String> {
    let all = fleet["links"]["mismatches"].as_array().unwrap();
    all.iter()
        .map(|one| {
            format!(
                "{} {}->{}",
                one["check"].as_str().unwrap(),
                one["from"].as_str().unwrap(),
                one["to"].as_str().unwrap()
            )
        })
        .collect()
}

#[test]
fn a_headless_service_is_expected_once_it_has_endpoints() {
    let exported = json!({"mirror.linkerd.io/exported": "true"});
    for (endpoints, wanted) in [
        (json!([]), vec![]),
        (
            json!([{"addresses": ["192.0.2.9"], "hostname": "db-0"}]),
            vec!["exported-service-not-mirrored west->east".to_owned()],
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let links = [
            link("east", "cluster.local"),
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}),
        ];
        if !lay(folder.path(), "west", "healthy-2.18-multicluster", &links) {
            return;
        }
        lay_edited(folder.path(), "east", "healthy-2.18-multicluster", |all| {
            let mut db = service("shop", "db", &exported);
            db["spec"]["clusterIP"] = json!("None");
            all.push(db);
            all.push(json!({
                "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
                "metadata": {"name": "db-x", "namespace": "shop", "labels": {"kubernetes.io/service-name": "db"}},
                "endpoints": endpoints,
            }));
            gateway(all, &|one| one["status"] = with_address("192.0.2.1"));
        });
        let path = folder.path().display().to_string();
        let words = ["check", "--bundles", &path, "--complete", "all", "-o", "json", "--fail-on", "never"];
        let fleet = ran(meshdoctor(&words)).document();
        assert_eq!(mismatches(&fleet), wanted, "{endpoints}");
    }
}

#[test]
fn a_gateway_without_annotations_is_found_by_its_port() {
    for (edit, wanted) in [
        (json!({"annotations": {}}), vec![]),
        (json!({"annotations": {}, "port": 4999}), vec!["gateway-port-differs west->east".to_owned()]),
        (json!({"annotations": {}, "namespace": "edge"}), vec!["gateway-identity-differs west->east".to_owned()]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        if !lay(folder.path(), "west", "healthy-2.18-multicluster", &[link("east", "cluster.local")]) {
            return;
        }
        lay_edited(folder.path(), "east", "healthy-2.18-multicluster", |all| {
            gateway(all, &|one| {
                one["metadata"]["annotations"] = edit["annotations"].clone();
                one["spec"]["type"] = json!("LoadBalancer");
                one["status"] = with_address("192.0.2.1");
                if let Some(port) = edit["port"].as_u64() {
                    one["spec"]["ports"][0]["port"] = json!(port);
                }
                if let Some(namespace) = edit["namespace"].as_str() {
                    one["metadata"]["namespace"] = json!(namespace);
                }
            });
        });
        let path = folder.path().display().to_string();
        let words = ["check", "--bundles", &path, "--complete", "all", "-o", "json", "--fail-on", "never"];
        let fleet = ran(meshdoctor(&words)).document();
        assert_eq!(mismatches(&fleet), wanted, "{edit}");
    }
}

#[test]
fn a_link_is_held_against_its_other_end() {
    let own = tempfile::tempdir().unwrap();
    let exported = json!({"mirror.linkerd.io/exported": "true"});
    let mirror = json!({"mirror.linkerd.io/mirrored-service": "true", "mirror.linkerd.io/cluster-name": "east"});
    let broken = [link("east", "east.local"), link("mars", "mars.local"), service("shop", "gone-east", &mirror)];
    if !lay(own.path(), "west", "healthy-2.18-multicluster", &broken) {
        return;
    }
    lay(
        own.path(),
        "east",
        "healthy-2.18",
        &[service("shop", "cart", &exported), service("elsewhere", "x", &exported)],
    );
    let fleet = run(own.path(), &[], 1);
    let mut found = mismatches(&fleet);
    found.sort();
    let recorded = |name: &str| json(&folder().unwrap().join(name).join("cluster.json"));
    let anchors = |all: &Value| {
        let items = all["items"].as_array().unwrap().iter();
        items
            .clone()
            .find(|one| one["metadata"]["name"] == "linkerd-identity-trust-roots")
            .map(|one| one["data"].clone())
    };
    let same = anchors(&recorded("healthy-2.18-multicluster")) == anchors(&recorded("healthy-2.18"));
    let mut expected = vec![
        "cluster-domain-differs west->east",
        "exported-service-not-mirrored west->east",
        "exported-service-without-namespace west->east",
        "gateway-missing west->east",
        "mirror-of-nothing west->east",
        "remote-access-missing west->east",
    ];
    if !same {
        expected.insert(0, "anchors-not-shared west->east");
    }
    assert_eq!(found, expected);
    assert_eq!(fleet["links"]["notChecked"][0]["link"]["to"], "mars");

    // The same cluster at both ends, the same link, and a mirror of the exported service.
    let cured = tempfile::tempdir().unwrap();
    lay(
        cured.path(),
        "west",
        "healthy-2.18-multicluster",
        &[link("east", "cluster.local"), service("shop", "cart-east", &mirror)],
    );
    lay_edited(cured.path(), "east", "healthy-2.18-multicluster", |all| {
        all.push(service("shop", "cart", &exported));
        gateway(all, &|one| one["status"] = with_address("192.0.2.1"));
    });
    let path = cured.path().display().to_string();
    let fleet =
        ran(meshdoctor(&["check", "--bundles", &path, "--complete", "all", "-o", "json", "--fail-on", "never"]))
            .document();
    assert_eq!(mismatches(&fleet), Vec::<String>::new());
    assert_eq!(fleet["links"]["fit"][0]["to"], "east");
    assert_eq!(fleet["oneCluster"], json!([["east", "west"]]));

    // If one end cannot be read, the link is reported as not checked and never passes.
    let partly = tempfile::tempdir().unwrap();
    lay(partly.path(), "west", "healthy-2.18-multicluster", &[link("east", "cluster.local")]);
    lay(partly.path(), "east", "healthy-2.18-multicluster", &[]);
    let path = partly.path().display().to_string();
    let fleet = ran(meshdoctor(&["check", "--bundles", &path, "-o", "json", "--fail-on", "never"])).document();
    assert_eq!(fleet["links"]["fit"], json!([]));
    assert!(!fleet["links"]["notChecked"].as_array().unwrap().is_empty());
}

/// The target cluster must grant the link access and match the Link's settings. Mismatches fail the run like
/// findings.
#[test]
fn the_other_end_lets_the_link_in_and_is_where_it_says() {
    let exported = json!({"mirror.linkerd.io/exported": "true"});
    let mirror = json!({"mirror.linkerd.io/mirrored-service": "true", "mirror.linkerd.io/cluster-name": "east"});
    let is_access = |one: &Value| one["metadata"]["name"].as_str().unwrap().contains("remote-access");
    let is_role = |one: &Value| one["kind"].as_str().unwrap().starts_with("ClusterRole");
    type Edit<'e> = Box<dyn Fn(&mut Vec<Value>) + 'e>;
    let cases: [(&str, Edit, &[&str], i32); 10] = [
        ("as it is", Box::new(|_| {}), &[], 0),
        ("no account", Box::new(|all| all.retain(|one| !is_access(one))), &["remote-access-missing"], 0),
        ("no role", Box::new(|all| all.retain(|one| !(is_access(one) && is_role(one)))), &["remote-access-refused"], 1),
        (
            "another probe port",
            Box::new(|all| gateway(all, &|one| one["spec"]["ports"][1]["port"] = json!(4199))),
            &["gateway-probe-port-differs"],
            1,
        ),
        (
            "another address",
            Box::new(|all| gateway(all, &|one| one["status"] = with_address("192.0.2.9"))),
            &["gateway-address-differs"],
            0,
        ),
        (
            "no address yet",
            Box::new(|all| gateway(all, &|one| one["status"] = json!({"loadBalancer": {}}))),
            &["gateway-without-address"],
            0,
        ),
        (
            "no address, and none wanted",
            Box::new(|all| {
                gateway(all, &|one| {
                    one["status"] = json!({"loadBalancer": {}});
                    one["spec"]["type"] = json!("NodePort");
                })
            }),
            &[],
            0,
        ),
        (
            "no replicas",
            Box::new(|all| {
                edit_object(all, "Deployment", "linkerd-gateway", &|one| one["spec"]["replicas"] = json!(0))
            }),
            &["gateway-not-ready"],
            1,
        ),
        ("no endpoint is ready", Box::new(|all| slices(all, &|one| unready(one))), &["gateway-not-ready"], 1),
        ("no endpoint", Box::new(|all| slices(all, &|one| one["endpoints"] = Value::Null)), &["gateway-not-ready"], 1),
    ];
    for (name, edit, expected, exit) in cases {
        let own = tempfile::tempdir().unwrap();
        let west = [link("east", "cluster.local"), service("shop", "cart-east", &mirror)];
        if !lay(own.path(), "west", "healthy-2.18-multicluster", &west) {
            return;
        }
        lay_edited(own.path(), "east", "healthy-2.18-multicluster", |all| {
            all.push(service("shop", "cart", &exported));
            gateway(all, &|one| one["status"] = with_address("192.0.2.1"));
            edit(all);
        });
        // Only the link: findings of each single cluster are left out.
        let alone = ["--only", "control-plane-outdated", "--on-not-checked", "pass"];
        let fleet = run(own.path(), &alone, exit);
        let expected: Vec<String> = expected.iter().map(|check| format!("{check} west->east")).collect();
        assert_eq!(mismatches(&fleet), expected, "{name}");
        assert_eq!(fleet["links"]["fit"].as_array().unwrap().is_empty(), !expected.is_empty(), "{name}");
        let never = run(own.path(), &[&alone[..], &["--fail-on", "never"]].concat(), 0);
        assert_eq!(mismatches(&never), expected, "{name}");
        let warning = if expected.is_empty() { 0 } else { 1 };
        run(own.path(), &[&alone[..], &["--fail-on", "warning"]].concat(), warning);
    }
}

/// Edits a pair of clusters with a consistent link. Returns the mismatches and the reasons for links that
/// were not checked.
fn pair(
    west: &dyn Fn(&mut Vec<Value>),
    east: &dyn Fn(&mut Vec<Value>),
    (complete, more, exit): (&str, &[&str], i32),
) -> Option<(Vec<Value>, Vec<String>)> {
    let own = tempfile::tempdir().unwrap();
    let recording = "healthy-2.18-multicluster";
    let is_there = lay_edited(own.path(), "west", recording, |all| {
        all.push(link("east", "cluster.local"));
        west(all);
    });
    if !is_there {
        return None;
    }
    lay_edited(own.path(), "east", recording, |all| {
        gateway(all, &|one| one["status"] = with_address("192.0.2.1"));
        east(all);
    });
    let alone = ["--only", "control-plane-outdated"];
    let fleet = run_with(complete, own.path(), &[&alone[..], more].concat(), exit);
    let links = &fleet["links"];
    let unseen = links["notChecked"].as_array().unwrap().iter();
    assert_eq!(
        links["fit"].as_array().unwrap().is_empty(),
        links["mismatches"] != json!([]) || links["notChecked"] != json!([])
    );
    Some((
        links["mismatches"].as_array().unwrap().clone(),
        unseen.map(|one| one["why"].as_str().unwrap().to_owned()).collect(),
    ))
}

/// The reason for a dead gateway is reported for both ends, with the command that repairs it. Other objects
/// have no effect.
#[test]
fn a_dead_gateway_is_named_at_both_ends() {
    let nothing = |_: &mut Vec<Value>| {};
    let scaled = |all: &mut Vec<Value>| {
        edit_object(all, "Deployment", "linkerd-gateway", &|one| one["spec"]["replicas"] = json!(0));
    };
    let Some((found, unseen)) = pair(&nothing, &scaled, ("all", &[], 1)) else { return };
    assert_eq!(unseen, Vec::<String>::new());
    let text = found[0].to_string();
    assert!(found[0]["message"].as_str().unwrap().contains("the gateway of east"), "{text}");
    assert!(found[0]["message"].as_str().unwrap().contains("from west"), "{text}");
    assert!(text.contains("spec.gatewayAddress: 192.0.2.1") && text.contains("spec.replicas: 0"), "{text}");
    assert!(text.contains("kubectl --context east -n linkerd-multicluster scale deployment/linkerd-gateway"), "{text}");
    // A second Deployment behind the Service, with replicas.
    let two = |all: &mut Vec<Value>| {
        let is = |one: &&Value| one["kind"] == "Deployment" && one["metadata"]["name"] == "linkerd-gateway";
        let mut other = all.iter().find(is).unwrap().clone();
        other["metadata"]["name"] = json!("linkerd-gateway-blue");
        other["spec"]["replicas"] = json!(0);
        all.push(other);
    };
    assert_eq!(pair(&nothing, &two, ("all", &[], 0)).unwrap(), (Vec::new(), Vec::new()));
    // A ready pod of another workload is behind it.
    let other_pod = |all: &mut Vec<Value>| {
        scaled(all);
        let is = |one: &&Value| one["kind"] == "Pod" && one["metadata"]["labels"]["app"] == "linkerd-gateway";
        let mut pod = all.iter().find(is).unwrap().clone();
        pod["metadata"]["name"] = json!("by-hand");
        pod["metadata"]["ownerReferences"] = json!([]);
        all.push(pod);
    };
    let with_pods = &["--only", "pod-missing-proxy"];
    assert_eq!(pair(&nothing, &other_pod, ("all", with_pods, 0)).unwrap(), (Vec::new(), Vec::new()));
    // Not ready: the command shows why.
    let (found, _) = pair(&nothing, &|all| slices(all, &unready), ("all", &[], 1)).unwrap();
    let text = found[0].to_string();
    assert!(text.contains("0 of 1 endpoints ready") && text.contains("describe pods -l app=linkerd-gateway"), "{text}");
}

/// Without endpoints, the pods of a gateway are evaluated. Without both, the link is not checked, and the
/// exit status reports it.
#[test]
fn a_gateway_whose_endpoints_could_not_be_read_is_not_checked() {
    let nothing = |_: &mut Vec<Value>| {};
    let kinds = "deployments,services,links,namespaces,customresourcedefinitions,serviceaccounts,clusterroles,\
                 clusterrolebindings,configmaps";
    let Some((found, unseen)) = pair(&nothing, &nothing, (kinds, &[], 4)) else { return };
    assert_eq!(found, Vec::<Value>::new());
    assert!(unseen[0].contains("the EndpointSlices of east"), "{unseen:?}");
    pair(&nothing, &nothing, (kinds, &["--on-not-checked", "pass"], 0)).unwrap();
    // A gateway that is scaled to zero is dead, whatever could be read.
    let scaled = |all: &mut Vec<Value>| {
        edit_object(all, "Deployment", "linkerd-gateway", &|one| one["spec"]["replicas"] = json!(0));
    };
    let (found, unseen) = pair(&nothing, &scaled, (kinds, &[], 1)).unwrap();
    assert_eq!((found.len(), unseen.len()), (1, 0), "{found:?}");
    // Its pods show it if endpoints could not be read.
    let with_pods = format!("{kinds},pods");
    let asks = &["--only", "multicluster-proxy-outdated", "--on-not-checked", "pass"];
    assert_eq!(pair(&nothing, &nothing, (&with_pods, asks, 0)).unwrap(), (Vec::new(), Vec::new()));
    let down = |all: &mut Vec<Value>| {
        let is = |one: &&mut Value| one["kind"] == "Pod" && one["metadata"]["labels"]["app"] == "linkerd-gateway";
        let pod = all.iter_mut().find(is).unwrap();
        pod["status"]["containerStatuses"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .for_each(|one| one["ready"] = json!(false));
    };
    let (found, _) = pair(&nothing, &down, (&with_pods, asks, 1)).unwrap();
    assert!(found[0].to_string().contains("0 of 1 pods ready"), "{found:?}");
}

/// Mirrors of services that are missing or no longer exported, alone and as members of a federated service.
#[test]
fn what_is_mirrored_is_there_and_exported() {
    let mirror = |name: &str, more: &Value| {
        let mut labels =
            json!({"mirror.linkerd.io/mirrored-service": "true", "mirror.linkerd.io/cluster-name": "east"});
        labels.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        service("shop", name, &labels)
    };
    let federated = |name: &str, members: &str| {
        let mut one = service("shop", name, &json!({"mirror.linkerd.io/mirrored-service": "true"}));
        one["metadata"]["annotations"] = json!({"multicluster.linkerd.io/remote-discovery": members});
        one
    };
    let exported = json!({"mirror.linkerd.io/exported": "true"});
    let member = json!({"mirror.linkerd.io/federated": "member"});
    let none = json!({});
    type Case = (&'static str, Vec<Value>, Vec<Value>, &'static [&'static str]);
    let cases: &[Case] = &[
        ("exported", vec![mirror("cart-east", &none)], vec![service("shop", "cart", &exported)], &[]),
        (
            "found over there",
            vec![mirror("cart-east", &json!({"multicluster.linkerd.io/remote-discovery": "east"}))],
            vec![service("shop", "cart", &json!({"mirror.linkerd.io/exported": "remote-discovery"}))],
            &[],
        ),
        ("gone", vec![mirror("cart-east", &none)], vec![], &["mirror-of-nothing"]),
        (
            "withdrawn",
            vec![mirror("cart-east", &none)],
            vec![service("shop", "cart", &none)],
            &["mirror-no-longer-exported"],
        ),
        (
            "pods of a headless service",
            vec![
                mirror("db-east", &none),
                mirror("db-0-east", &json!({"mirror.linkerd.io/headless-mirror-svc-name": "db-east"})),
            ],
            vec![service("shop", "db", &exported)],
            &[],
        ),
        (
            "a member",
            vec![federated("cart-federated", "cart@east,cart@north")],
            vec![service("shop", "cart", &member)],
            &[],
        ),
        (
            "a member that is gone",
            vec![federated("cart-federated", "cart@east")],
            vec![],
            &["federated-member-of-nothing"],
        ),
        (
            "a member that was withdrawn",
            vec![federated("cart-federated", "cart@east")],
            vec![service("shop", "cart", &none)],
            &["federated-member-not-exported"],
        ),
        (
            "a member that did not join",
            vec![federated("cart-federated", "cart@north")],
            vec![service("shop", "cart", &member)],
            &["exported-service-not-federated"],
        ),
    ];
    for (name, west, east, expected) in cases {
        let joins = |all: &mut Vec<Value>| {
            all.extend(west.iter().cloned());
            edit_object(all, "Link", "east", &|link| {
                link["spec"]["federatedServiceSelector"] =
                    json!({"matchLabels": {"mirror.linkerd.io/federated": "member"}});
            });
        };
        let more = ("all", &[][..], 0);
        let Some((found, unseen)) = pair(&joins, &|all| all.extend(east.iter().cloned()), more) else {
            return;
        };
        let checks: Vec<&str> = found.iter().map(|one| one["check"].as_str().unwrap()).collect();
        assert_eq!(checks, *expected, "{name}: {found:?}");
        assert_eq!(unseen, Vec::<String>::new(), "{name}");
        if !expected.is_empty() {
            assert!(found[0]["evidence"].to_string().contains("shop/cart"), "{name}: {found:?}");
        }
    }
}

/// A link to a requested cluster that failed differs from a link to a cluster outside the run.
#[test]
fn a_link_to_a_cluster_that_could_not_be_judged_says_so() {
    let own = tempfile::tempdir().unwrap();
    let links = [link("east", "cluster.local"), link("mars", "cluster.local")];
    if !lay(own.path(), "west", "healthy-2.18-multicluster", &links) {
        return;
    }
    let alone = ["--only", "control-plane-outdated"];
    // The run does not include the other clusters, so nothing requested is missing.
    run(own.path(), &alone, 0);
    std::fs::write(own.path().join("east.json"), "{").unwrap();
    let fleet = run(own.path(), &alone, 4);
    let why = |at: usize| fleet["links"]["notChecked"][at]["why"].as_str().unwrap().to_owned();
    assert_eq!(why(0), "east could not be checked");
    assert!(why(1).contains("the name mars"), "{}", why(1));
}
