//! Remedies that recreate pods: on recorded clusters, each one matches how the proxy was added and whether
//! the workload rolls at all. The recordings are outside the repository; without them, the tests are skipped.

use meshdoctor::card::Mode;
use meshdoctor::checks::{Settings, Upgrade};
use meshdoctor::item::Kind;
use meshdoctor::knowledge::Knowledge;
use meshdoctor::render;
use meshdoctor::report::Report;
use meshdoctor::source::memory::Memory;
use serde_json::{Value, json};

use crate::recordings::{folder, memory, report_on};

/// Checks whose restart provides a new certificate, new rules or the settings of tap, also to proxies in the template.
const NEW_PODS: [&str; 3] = ["cni-object-missing", "issuer-expired", "viz-tap-not-enabled"];

/// Every line that the remedies of a check print.
fn lines(report: &Report, check: &str) -> Vec<String> {
    let own = report.findings.iter().filter(|finding| finding.check == check);
    let commands = own.flat_map(|finding| finding.remedy.steps.iter().filter_map(|step| step.command.as_ref()));
    commands.flat_map(|command| command.rendered()).collect()
}

/// Workloads with the proxy in their template: namespace and `deployment/NAME`.
fn with_proxy_in_template(memory: &Memory) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (kind, held) in &memory.objects {
        let kind = kind.info().kind.to_lowercase();
        for object in held {
            let value: Value = serde_json::from_slice(&object.json).unwrap();
            let containers = value["spec"]["template"]["spec"]["containers"].as_array().into_iter().flatten();
            if containers.into_iter().any(|one| one["name"] == "linkerd-proxy") {
                let name = value["metadata"]["name"].as_str().unwrap();
                found.push((object.namespace.clone(), format!("{kind}/{name}")));
            }
        }
    }
    found
}

#[test]
fn no_restart_is_printed_for_a_proxy_in_the_pod_template() {
    let Some(folder) = folder() else { return };
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.join("cluster.json").is_file() {
            continue;
        }
        let memory = memory(&path);
        let manual = with_proxy_in_template(&memory);
        let report = report_on(&memory, &Settings::default());
        for finding in report.findings.iter().filter(|finding| !NEW_PODS.contains(&finding.check)) {
            let commands = finding.remedy.steps.iter().filter_map(|step| step.command.as_ref());
            for line in commands.flat_map(|command| command.rendered()) {
                seen += usize::from(line.contains("linkerd inject --manual"));
                let restarts = |(namespace, target): &&(String, String)| {
                    line.contains(&format!("-n {namespace} rollout restart"))
                        && line.split(' ').any(|word| word == target)
                        && namespace != "linkerd"
                };
                if let Some((namespace, target)) = manual.iter().find(restarts) {
                    wrong.push(format!("{}: {}: {namespace} {target}: {line}", path.display(), finding.check));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 10, "only {seen} workloads are injected again");
}

#[test]
fn an_old_proxy_in_the_template_is_injected_again() {
    let Some(folder) = folder() else { return };
    let report = report_on(&memory(&folder.join("data-plane-three-minors-behind")), &Settings::default());
    let again = "linkerd version --client --short | grep -Fx edge-25.4.4 && \
                 kubectl -n legacy get deployment/billing -o yaml | linkerd inject --manual - | kubectl apply -f -";
    assert_eq!(lines(&report, "data-plane-skew"), [again]);
}

#[test]
fn an_upgrade_that_its_guard_would_refuse_is_forced() {
    let Some(folder) = folder() else { return };
    for (recording, check) in [("issuer-expired", "issuer-expired"), ("issuer-rsa", "issuer-unsupported")] {
        let report = report_on(&memory(&folder.join(recording)), &Settings::default());
        let upgrade: Vec<String> =
            lines(&report, check).into_iter().filter(|line| line.contains("linkerd upgrade")).collect();
        assert!(!upgrade.is_empty() && upgrade.iter().all(|line| line.contains(" --force ")), "{upgrade:?}");
    }
    let report = report_on(&memory(&folder.join("issuer-secret-missing")), &Settings::default());
    let steps = lines(&report, "issuer-secret-invalid");
    assert!(steps[0].contains("linkerd upgrade | kubectl apply -f -"), "{steps:?}");
}

/// Changes a Deployment of a recording.
fn changed(memory: &mut Memory, name: &str, change: &dyn Fn(&mut Value)) {
    changed_of(memory, ("Deployment", name), change);
}

/// Changes an object of a recording, by kind and name.
pub fn changed_of(memory: &mut Memory, (of, name): (&str, &str), change: &dyn Fn(&mut Value)) {
    for (kind, held) in &mut memory.objects {
        for object in held.iter_mut().filter(|_| kind.info().kind == of) {
            let mut value: Value = serde_json::from_slice(&object.json).unwrap();
            if value["metadata"]["name"] == name {
                change(&mut value);
                object.json = value.to_string().into_bytes();
            }
        }
    }
}

fn plan_of(memory: &Memory, to: &str) -> String {
    let upgrade = Upgrade::new(to, None, None, Knowledge::embedded().releases()).unwrap();
    let settings = Settings { mode: Mode::Upgrade, upgrade: Some(upgrade), ..Settings::default() };
    render::plan::markdown(&report_on(memory, &settings))
}

#[test]
fn the_plan_resumes_paused_deployments_and_deletes_pods_that_stay() {
    let Some(folder) = folder() else { return };
    let mut memory = memory(&folder.join("healthy-2.18"));
    changed(&mut memory, "api", &|api| api["spec"]["paused"] = json!(true));
    memory
        .add(&json!({
            "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "namespace": "shop"},
            "spec": {"replicas": 1, "updateStrategy": {"type": "OnDelete"},
                     "template": {"spec": {"containers": [{"name": "db", "image": "db:1"}]}}},
        }))
        .unwrap();
    memory
        .add(&json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "db-0", "namespace": "shop", "labels": {"linkerd.io/control-plane-ns": "linkerd"},
                         "annotations": {"linkerd.io/created-by": "linkerd/proxy-injector edge-25.4.4"},
                         "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "u",
                                              "controller": true}]},
            "spec": {"containers": [{"name": "linkerd-proxy", "image": "cr.l5d.io/linkerd/proxy:edge-25.4.4"}]},
            "status": {"phase": "Running"},
        }))
        .unwrap();
    let plan = plan_of(&memory, "2.19");
    assert!(plan.contains("kubectl -n shop rollout resume deployment/api\n"), "{plan}");
    assert!(plan.contains("kubectl -n shop delete pod db-0\n"), "{plan}");
    assert!(!plan.contains("rollout restart statefulset/db"), "{plan}");
    assert!(plan.contains("resume paused Deployments"), "{plan}");
    assert!(
        plan.contains(
            "one namespace at a time, with linkerd CLI edge-25.10.7: the proxy is in the pod template, so a \
             restart keeps the old one"
        ),
        "{plan}"
    );
}

/// Adds the Deployment that mirrors for the link east.
fn add_controller(memory: &mut Memory, name: &str, component: &str) {
    let labels = json!({"component": component, "mirror.linkerd.io/cluster-name": "east"});
    let image = "cr.l5d.io/linkerd/controller:edge-25.4.4";
    memory
        .add(&json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": name, "namespace": "linkerd-multicluster", "labels": labels},
            "spec": {"replicas": 1, "template": {"metadata": {"labels": labels},
                     "spec": {"containers": [{"name": component, "image": image}]}}},
        }))
        .unwrap();
}

#[test]
fn the_plan_follows_link_controllers_to_the_chart() {
    let Some(folder) = folder() else { return };
    let mut memory = memory(&folder.join("healthy-2.18-multicluster"));
    add_controller(&mut memory, "linkerd-service-mirror-east", "service-mirror");
    memory
        .add(&json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "linkerd-service-mirror-east-5d9f-x", "namespace": "linkerd-multicluster",
                         "labels": {"linkerd.io/control-plane-ns": "linkerd", "pod-template-hash": "5d9f"},
                         "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet",
                                              "name": "linkerd-service-mirror-east-5d9f", "uid": "u", "controller": true}]},
            "spec": {"containers": [{"name": "linkerd-proxy", "image": "cr.l5d.io/linkerd/proxy:edge-25.4.4"}]},
            "status": {"phase": "Running"},
        }))
        .unwrap();
    let plan = plan_of(&memory, "2.19");
    assert!(plan.contains("linkerd multicluster install --set 'controllers[0].link.ref.name=east'"), "{plan}");
    assert!(plan.contains("kubectl -n linkerd-multicluster rollout restart deployment/controller-east\n"), "{plan}");
    assert!(!plan.contains("rollout restart deployment/linkerd-service-mirror-east"), "{plan}");
    // Mirroring continues: the successor runs before the link is created again and the old controller is removed.
    let at = |text: &str| plan.find(text).unwrap_or_else(|| panic!("{text} is missing in {plan}"));
    let order = [
        "linkerd multicluster install --set",
        "rollout status deployment/controller-east",
        "multicluster link-gen --cluster-name east | kubectl apply -f -",
        "linkerd multicluster unlink --only-controller --cluster-name east | kubectl delete --ignore-not-found -f -",
        "meshdoctor check --only multicluster --fail-on warning",
    ];
    assert!(order.map(at).is_sorted(), "{plan}");
    assert!(!plan.contains("Resolve **service-mirror-legacy**"), "{plan}");
}

#[test]
fn the_plan_upgrades_controllers_of_the_chart() {
    let Some(folder) = folder() else { return };
    let mut memory = memory(&folder.join("healthy-2.18-multicluster"));
    add_controller(&mut memory, "controller-east", "controller");
    let plan = plan_of(&memory, "2.19");
    assert!(plan.contains("linkerd multicluster install --set 'controllers[0].link.ref.name=east'"), "{plan}");
    assert!(plan.contains("multicluster link-gen --cluster-name"), "{plan}");
    assert!(!plan.contains("unlink --only-controller"), "{plan}");
}

#[test]
fn the_gate_before_the_extensions_leaves_out_their_link_definition() {
    let Some(folder) = folder() else { return };
    let mut memory = memory(&folder.join("healthy-2.17"));
    memory
        .add(&json!({
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": "linkerd-multicluster", "labels": {"linkerd.io/extension": "multicluster"}},
        }))
        .unwrap();
    let plan = plan_of(&memory, "2.18");
    assert!(plan.contains("meshdoctor check --skip multicluster\n"), "{plan}");
    assert!(plan.contains("linkerd check fails on it"), "{plan}");
    let same = plan_of(&crate::recordings::memory(&folder.join("healthy-2.18-multicluster")), "2.19");
    assert!(!same.contains("--skip multicluster"), "{same}");
}

/// Without its stored values, `linkerd upgrade` exits with an error: `linkerd install` renders the same control plane.
#[test]
fn no_upgrade_is_printed_without_stored_values() {
    let Some(folder) = folder() else { return };
    for recording in ["clusterrole-missing", "injector-webhook-missing", "issuer-expired", "networks-without-pods"] {
        let mut memory = memory(&folder.join(recording));
        let report = report_on(&memory, &Settings::default());
        let upgrades = |report: &Report| -> Vec<String> {
            let steps = report.repair.steps.iter().filter_map(|step| step.step.command.as_ref());
            let lines = steps.flat_map(|command| command.rendered());
            lines.filter(|line| line.contains("linkerd upgrade") && !line.contains("--crds")).collect()
        };
        assert!(!upgrades(&report).is_empty(), "{recording}");
        memory.objects.entry(Kind::Secret).or_default().retain(|held| held.name != "linkerd-config-overrides");
        let report = report_on(&memory, &Settings::default());
        assert_eq!(upgrades(&report), Vec::<String>::new(), "{recording}");
        let steps = report.repair.steps.iter().filter_map(|step| step.step.command.as_ref());
        let text: Vec<String> = steps.flat_map(|command| command.rendered()).collect();
        let install = "linkerd install --ignore-cluster --values stored-values.yaml";
        assert!(text.iter().any(|line| line.contains(install)), "{recording} {text:#?}");
        assert!(!text.iter().any(|line| line.contains("--force")), "{recording} {text:#?}");
    }
}

/// An option that proxies with other trust anchors require is not needed once a step of the plan has restarted them.
#[test]
fn no_upgrade_is_forced_after_the_restart_of_stale_proxies() {
    let Some(folder) = folder() else { return };
    let mut memory = memory(&folder.join("data-plane-stale-anchor"));
    memory.objects.remove(&Kind::ValidatingWebhookConfiguration);
    let report = report_on(&memory, &Settings::default());
    let forced = lines(&report, "validator-webhook-missing");
    assert!(forced.iter().any(|line| line.contains("--force")), "{forced:?}");
    let steps: Vec<String> = report.repair.steps.iter().map(|step| format!("{:?}", step.step.command)).collect();
    assert!(steps.iter().any(|step| step.contains("restart") || step.contains("inject")), "{steps:#?}");
    let planned = report.repair.steps.iter().filter_map(|step| step.step.command.as_ref());
    let planned: Vec<String> = planned.flat_map(|command| command.rendered()).collect();
    assert!(!planned.iter().any(|line| line.contains("--force")), "{planned:#?}");
    assert!(!report.repair.steps.iter().any(|step| step.step.text.contains("--force")), "{planned:#?}");
}

/// A quota that requires limits refuses the new pods of a restart, unless a LimitRange gives their containers defaults.
#[test]
fn a_restart_names_the_quota_that_refuses_its_pods() {
    let Some(folder) = folder() else { return };
    let text = |more: &[Value]| {
        let mut memory = memory(&folder.join("data-plane-stale-anchor"));
        for namespace in ["shop", "legacy", "blog", "default"] {
            for object in more {
                let mut object = object.clone();
                object["metadata"]["namespace"] = json!(namespace);
                memory.add(&object).unwrap();
            }
        }
        let report = report_on(&memory, &Settings::default());
        report.repair.steps.iter().map(|step| step.step.text.clone() + "\n").collect::<String>()
    };
    let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "limits"},
        "spec": {"hard": {"limits.cpu": "100"}}, "status": {"hard": {"limits.cpu": "100"}, "used": {"limits.cpu": "0"}}});
    let range = json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "defaults"},
        "spec": {"limits": [{"type": "Container", "default": {"cpu": "100m"}}]}});
    let refused = "The API server refuses new pods, whose containers do not state an amount that a quota requires";
    assert!(text(std::slice::from_ref(&quota)).contains(refused));
    assert!(!text(&[quota, range]).contains("API server refuses"));
    assert!(!text(&[]).contains("API server refuses"));
}
