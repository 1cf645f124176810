//! Comparison with the real `linkerd check` on one live server: as its extension, and row by row. Both run on
//! the same state, healthy and broken in several ways; `checks/parity.yaml` must explain each different
//! verdict.

mod stage;

use meshdoctor::render::linkerd::LinkerdDocument;
use meshdoctor::rows::RowResult;
use serde_json::{Value, json};

use crate::harness::linkerd_cli::linkerd_clis;
use crate::parity_rows::{Name, RowAnswer};
use stage::{Beside, documents};

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
        let [_, own] = <[LinkerdDocument; 2]>::try_from(documents(&out)).unwrap_or_else(|_| panic!("{version}: {out}"));
        assert!(own.success && own.categories.iter().all(|c| c.name.starts_with("meshdoctor-")), "{version}: {out}");

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
        assert!(short.contains("/checks/annotations/annotation-unknown.md for hints"), "{version}: {short}");

        // And it is a command of the CLI.
        let output = cli.run(&beside.extension(), &beside.doctor.file(""), &["meshdoctor", "list", "-o", "name"]);
        let listed = String::from_utf8(output.stdout).unwrap();
        assert!(listed.lines().any(|line| line == "annotation-unknown"), "{version}: {listed}");
    }
}

/// A cluster ready for Linkerd, one with a started installation, and a user who may not install Linkerd.
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
        let healthy = beside.linkerd_rows(&["--proxy"]);
        let failed: Vec<_> = healthy.iter().filter(|(_, said)| said.result != RowResult::Success).collect();
        assert!(failed.is_empty(), "{}: what it installs itself is not healthy: {failed:?}", cli.version);
        wrong.extend(beside.differences("live: healthy"));
        // The list names states after recordings, if one exists.
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
            ("injector-webhook-missing", "MutatingWebhookConfiguration", "linkerd-proxy-injector-webhook-config"),
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
        let row = |(name, _): &&(Name, RowAnswer)| name.1 == "policy-validator webhook has valid cert";
        assert!(!beside.linkerd_rows(&[]).iter().any(|said| row(&said)), "{}", cli.version);
        let ours = beside.own_rows(&[]).iter().find(row).map(|(_, said)| said.result);
        assert_eq!(ours, Some(RowResult::Error), "{}", cli.version);
        beside.put_back(validator.0, validator.1);

        let injector = ("MutatingWebhookConfiguration", "linkerd-proxy-injector-webhook-config");
        let foreign = &beside.installed("ValidatingWebhookConfiguration", "linkerd-policy-validator-webhook-config")["webhooks"]
            [0]["clientConfig"]["caBundle"];
        let mut webhooks = beside.installed(injector.0, injector.1)["webhooks"].clone();
        webhooks[0]["clientConfig"]["caBundle"] = foreign.clone();
        beside.change(injector.0, injector.1, &json!({ "webhooks": webhooks }));
        wrong.extend(beside.differences("injector-cert-foreign-ca"));
        beside.put_back(injector.0, injector.1);

        let ports = |ports: Value| json!({"metadata": {"annotations": {"config.linkerd.io/opaque-ports": ports}}});
        beside.change("Service", "web", &ports(json!("8080")));
        wrong.extend(beside.differences("live: a port is opaque for the Service alone"));
        beside.change("Service", "web", &ports(Value::Null));

        beside.change("Deployment", "linkerd-destination", &json!({"spec": {"replicas": 0}}));
        beside.cluster.wait(std::time::Duration::from_secs(60), |api| {
            let pods = api.list("/api/v1/namespaces/linkerd/pods");
            let left = pods
                .iter()
                .filter(|pod| pod["metadata"]["labels"]["linkerd.io/control-plane-component"] == "destination");
            match left.count() {
                0 => Ok(()),
                left => Err(format!("{left} pods of destination")),
            }
        });
        wrong.extend(beside.differences("destination-scaled-to-zero"));
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}

/// Objects that exist, but not as the real command expects them: each state fails a row of its own, and most
/// of them do not stop the command.
#[test]
fn what_linkerd_check_reads_differently_is_told_as_it_tells_it() {
    let mut wrong = Vec::new();
    for cli in linkerd_clis() {
        let Some(beside) = Beside::new(&cli) else { return };
        let proxy: &[&[&str]] = &[&["--proxy"]];
        let both: &[&[&str]] = &[&[], &["--proxy"]];
        for (state, key, value, ways) in [
            ("live: a blank in clusterNetworks", "clusterNetworks", Some("'10.0.0.0/8, 192.168.0.0/16'"), proxy),
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
        let label = |value: Value| json!({"metadata": {"labels": {"config.linkerd.io/proxy-log-level": value}}});
        beside.cluster.api.merge(&path, &label(json!("debug")));
        wrong.extend(beside.differences_of("live: a running pod is labelled", proxy));
        beside.cluster.api.merge(&path, &label(Value::Null));

        let extension = json!({
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": { "name": "linkerd-smi", "labels": { "linkerd.io/extension": "smi" } },
        });
        beside.cluster.api.apply(&extension);
        let row = ("linkerd-smi".to_owned(), "Linkerd extension command linkerd-smi exists".to_owned());
        for rows in [beside.linkerd_rows(&[]), beside.own_rows(&[])] {
            let said = rows.iter().find(|(name, _)| *name == row).map(|(_, said)| said.result);
            assert_eq!(said, Some(RowResult::Warning), "{}", cli.version);
        }
        wrong.extend(beside.differences_of("live: an extension without a command", both));
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}
