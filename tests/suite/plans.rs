//! The plan of a rehearsed upgrade: the order of its steps, and the commands of the tool that manages each
//! part. The recordings are outside the repository; without them the tests are skipped with a message.

use meshdoctor::card::Mode;
use meshdoctor::checks::{Settings, Upgrade};
use meshdoctor::knowledge::Knowledge;
use meshdoctor::render;
use serde_json::{Value, json};

use crate::recordings::{folder, memory, report_on};
use crate::rehearsal::rehearsed;
use crate::restarts::changed_of;

#[test]
fn the_plan_goes_one_minor_at_a_time_and_brings_the_data_plane_along() {
    let Some(report) = rehearsed("healthy-2.18", "2.20") else { return };
    let plan = render::plan::markdown(&report);
    let places: Vec<usize> = [
        "CLI and CRDs of edge-25.10.7",
        "Control plane to edge-25.10.7",
        "Data plane to edge-25.10.7",
        "CLI and CRDs of edge-26.6.3",
        "Control plane to edge-26.6.3",
        "Data plane to edge-26.6.3",
        "Rollback",
    ]
    .iter()
    .map(|title| plan.find(title).unwrap_or_else(|| panic!("no {title:?} in\n{plan}")))
    .collect();
    assert!(places.is_sorted(), "{plan}");
    // The proxies of `api` and `web` are part of the pod template.
    let again = "kubectl -n shop get deployment/api deployment/web -o yaml | linkerd inject --manual - | kubectl \
                 apply -f -";
    assert!(plan.contains(again), "{plan}");
    // A change is handled in the step to the release that introduces it.
    let step = |value: &str| {
        let rehearsal = report.rehearsal.as_ref().unwrap();
        let about = |finding: &&meshdoctor::finding::Finding| {
            finding.message.trim_start_matches("The default of ").starts_with(value)
        };
        let step = rehearsal.plan.as_ref().unwrap().step_of(report.findings.iter().find(about).unwrap());
        rehearsal.plan.as_ref().unwrap().phases[step.unwrap() - 1].title.clone()
    };
    assert_eq!(step("proxyInit.iptablesMode"), "Control plane to edge-25.10.7");
    assert_eq!(step("proxy.nativeSidecar"), "Control plane to edge-26.6.3");
    // A change that no object shows is listed before the control plane's step to the release that introduces
    // it, and only there.
    let at = |text: &str| plan.match_indices(text).map(|(at, _)| at).collect::<Vec<_>>();
    let gone = at("With edge-26.6.3 linkerd-init runs from the proxy's image");
    assert!(gone.len() == 1 && places[4] < gone[0] && gone[0] < places[5], "{plan}");
    assert_eq!(at("the image proxy-init is gone").len(), 1, "{plan}");
    assert!(!plan.contains("1.1.1.1:20001"), "{plan}");
    assert!(at("check --only certificates --fail-on warning")[0] < places[0], "{plan}");
    // Findings that are only info count as not done.
    assert!(plan.contains("--only data-plane-skew,proxy-not-ready,pod-missing-proxy --fail-on info"), "{plan}");
    assert!(plan.contains("control-plane-not-ready,control-plane-pods-refused --fail-on warning"), "{plan}");
    assert!(plan.contains("linkerd prune > leftovers.yaml"), "{plan}");

    // With linkerd-cni no linkerd-init exists, and its own step is guarded like the others.
    let Some(report) = rehearsed("healthy-2.18-cni", "2.20") else { return };
    let plan = render::plan::markdown(&report);
    assert!(!plan.contains("the image proxy-init is gone"), "{plan}");
    let installed: Vec<&str> = plan.lines().filter(|line| line.contains("linkerd install-cni --set")).collect();
    assert_eq!(installed.len(), 4, "{plan}");
    assert!(installed.iter().all(|line| line.contains("linkerd version --client --short | grep -Fx edge-2")), "{plan}");

    // Its definitions of Gateway API are Linkerd's, and come with the CRDs.
    let Some(report) = rehearsed("healthy-2.15", "2.18") else { return };
    assert!(!render::plan::markdown(&report).contains("Gateway API for"));
    let Some(back) = rehearsed("healthy-2.20", "2.18") else { return };
    assert!(back.rehearsal.as_ref().unwrap().plan.is_none());
    assert!(render::plan::markdown(&back).contains("No plan: "));
}

#[test]
fn the_plan_brings_linkerd_cni_to_what_was_named_and_never_back() {
    let Some(folder) = folder() else { return };
    let plan = |recording: &str, to: &str, cni: Option<&str>| -> String {
        let upgrade = Upgrade::new(to, None, None, Knowledge::embedded().releases()).unwrap();
        let to_cni = cni.map(meshdoctor::version::CniVersion::from_tag);
        let settings = Settings { mode: Mode::Upgrade, upgrade: Some(upgrade), to_cni, ..Settings::default() };
        render::plan::markdown(&report_on(&memory(&folder.join(recording)), &settings))
    };
    let newer = plan("healthy-2.18-cni", "2.20", Some("v1.7.0"));
    assert!(newer.contains("linkerd-cni to v1.6.4\n"), "{newer}");
    assert!(newer.contains("linkerd-cni to v1.7.0\n"), "{newer}");
    assert!(newer.contains("The changes of v1.7.0 are not known to this version"), "{newer}");
    let named = plan("healthy-2.18-cni", "2.20", Some("v1.6.3"));
    assert!(named.contains("linkerd-cni to v1.6.3\n") && !named.contains("linkerd-cni to v1.6.4\n"), "{named}");
    // Its v1.6.2 is the version of 2.18.
    assert!(!plan("healthy-2.18-cni", "edge-25.5.1", None).contains("linkerd-cni to"));
}

/// The charts of 2.18 install a Gateway API version that 2.19 supports and 2.20 does not.
#[test]
fn the_plan_has_routes_stored_again_before_the_api_server_would_refuse_the_gateway_api() {
    let Some(report) = rehearsed("healthy-2.17", "2.20") else { return };
    // The finding before the first step has the same remedy.
    let plan = render::plan::markdown(&report);
    let (_, plan) = plan.split_once("## 1. ").unwrap();
    let at = |text: &str| plan.find(text).unwrap_or_else(|| panic!("no {text:?} in\n{plan}"));
    assert!(at("Data plane to edge-25.10.7") < at("Gateway API for edge-26.6.3"));
    assert!(at("Gateway API for edge-26.6.3") < at("Rewrite every GRPCRoute as v1"));
    assert!(at("Rewrite every GRPCRoute as v1") < at("Install Gateway API 1.2.1"));
    assert!(!plan.contains("Gateway API for edge-25.10.7"), "{plan}");
    let report = rehearsed("healthy-2.17", "2.19").unwrap();
    assert!(!render::plan::markdown(&report).contains("stored again"));
}

/// The plan for a recording whose Deployments and CRDs have these labels and annotations, each in namespaces
/// with the given prefix.
fn plan_managed(recording: &str, to: &str, marks: &[(&str, Value)]) -> Option<String> {
    plan_from(recording, (None, to), marks)
}

/// The same, from another release.
fn plan_of_release(recording: &str, (from, to): (&str, &str), marks: &[(&str, Value)]) -> Option<String> {
    plan_from(recording, (Some(from), to), marks)
}

fn plan_from(recording: &str, (from, to): (Option<&str>, &str), marks: &[(&str, Value)]) -> Option<String> {
    let mut memory = memory(&folder()?.join(recording));
    for (kind, held) in &mut memory.objects {
        let kind = kind.info().kind;
        if !["Deployment", "DaemonSet", "CustomResourceDefinition"].contains(&kind) {
            continue;
        }
        for object in held {
            let mut value: Value = serde_json::from_slice(&object.json).unwrap();
            let of = if kind == "CustomResourceDefinition" { "crds" } else { object.namespace.as_str() };
            for (_, mark) in marks.iter().filter(|(begin, _)| of == *begin) {
                for (field, entries) in mark.as_object().unwrap() {
                    for (key, entry) in entries.as_object().unwrap() {
                        value["metadata"][field][key] = entry.clone();
                    }
                }
            }
            object.json = value.to_string().into_bytes();
        }
    }
    let from = from.map(|from| from.parse().unwrap());
    let upgrade = Upgrade::new(to, from, None, Knowledge::embedded().releases()).unwrap();
    let settings = Settings { mode: Mode::Upgrade, upgrade: Some(upgrade), ..Settings::default() };
    Some(render::plan::markdown(&report_on(&memory, &settings)))
}

#[test]
fn the_plan_has_the_commands_of_what_manages_control_plane_crds_and_extensions() {
    // Argo CD renders the chart, so its objects name Helm as their creator.
    let argo = |name: &str| {
        json!({"annotations": {"argocd.argoproj.io/tracking-id": format!("{name}:apps/Deployment:x/y"),
            "linkerd.io/created-by": "linkerd/helm edge-25.4.4"}})
    };
    let marks = [("linkerd", argo("mesh")), ("crds", argo("mesh-crds")), ("linkerd-viz", argo("viz"))];
    let Some(plan) = plan_managed("healthy-2.18-viz", "2.19", &marks) else { return };
    for (application, chart) in [("mesh", "control-plane"), ("mesh-crds", "crds"), ("viz", "viz")] {
        let of = format!("chart linkerd-{chart} 2025.10.7 of Argo CD (Application {application})");
        assert!(plan.contains(&of), "no {of:?} in\n{plan}");
        for command in ["app diff NAME --refresh", "app sync NAME", "app wait NAME --sync --health --timeout 900"] {
            let command = format!("argocd {}\n", command.replace("NAME", application));
            assert!(plan.contains(&command), "no {command:?} in\n{plan}");
        }
    }
    assert!(!plan.contains("linkerd upgrade") && !plan.contains("linkerd viz install"), "{plan}");

    let flux = |name: &str| {
        json!({"labels": {"helm.toolkit.fluxcd.io/name": name, "helm.toolkit.fluxcd.io/namespace": "flux-system"},
            "annotations": {"meta.helm.sh/release-name": name, "meta.helm.sh/release-namespace": "linkerd",
                "linkerd.io/created-by": "linkerd/helm edge-25.4.4"}})
    };
    let marks = [("linkerd", flux("mesh")), ("crds", flux("mesh-crds")), ("linkerd-viz", flux("viz"))];
    let plan = plan_managed("healthy-2.18-viz", "2.19", &marks).unwrap();
    for name in ["mesh", "mesh-crds", "viz"] {
        let reconcile = format!("flux reconcile helmrelease {name} -n flux-system --with-source\n");
        let wait = format!(
            "kubectl wait helmreleases.helm.toolkit.fluxcd.io {name} -n flux-system --for=condition=Ready --timeout=15m\n"
        );
        assert!(plan.contains(&reconcile) && plan.contains(&wait), "no {reconcile:?} and {wait:?} in\n{plan}");
    }

    let marks = [
        ("linkerd", helm("mesh", "linkerd")),
        ("crds", helm("mesh-crds", "linkerd")),
        ("linkerd-viz", helm("dashboards", "linkerd-viz")),
    ];
    let plan = plan_managed("healthy-2.18-viz", "2.19", &marks).unwrap();
    for command in [
        "helm upgrade mesh-crds linkerd-edge/linkerd-crds -n linkerd --version 2025.10.7 --reuse-values\n",
        "helm upgrade mesh linkerd-edge/linkerd-control-plane -n linkerd --version 2025.10.7 --reset-then-reuse-values \
         --set proxyInit.iptablesMode=legacy\n",
        "helm upgrade dashboards linkerd-edge/linkerd-viz -n linkerd-viz --version 2025.10.7 --reset-then-reuse-values\n",
    ] {
        assert!(plan.contains(command), "no {command:?} in\n{plan}");
    }
    assert!(!plan.contains("CHART_VERSION") && !plan.contains("linkerd viz install"), "{plan}");
    assert!(plan.contains("meshdoctor check --only viz --skip viz-scrape-mismatch --fail-on warning\n"), "{plan}");
}

/// Manifests that the CLI rendered into Git have no chart: the CLI of the target renders them again.
#[test]
fn manifests_in_git_that_the_cli_rendered_are_rendered_again() {
    let argo = |name: &str| {
        json!({"annotations": {"argocd.argoproj.io/tracking-id": format!("{name}:apps/Deployment:x/y"),
            "linkerd.io/created-by": "linkerd/cli edge-25.4.4"}})
    };
    let marks = [("linkerd", argo("mesh")), ("crds", argo("mesh-crds")), ("linkerd-viz", argo("viz"))];
    let Some(plan) = plan_managed("healthy-2.18-viz", "2.19", &marks) else { return };
    let in_order = |plan: &str, texts: &[&str]| {
        let at = |text: &&str| plan.find(*text).unwrap_or_else(|| panic!("no {text:?} in\n{plan}"));
        assert!(texts.iter().map(at).is_sorted(), "{texts:?}\n{plan}");
    };
    let guard = "linkerd version --client --short | grep -Fx edge-25.10.7 && ";
    in_order(
        &plan,
        &[
            &format!("{guard}linkerd upgrade --crds > linkerd-crds.yaml\n"),
            "replace the manifests that Argo CD (Application mesh-crds) applies with those of linkerd-crds.yaml",
            "argocd app diff mesh-crds --refresh\n",
            "argocd app sync mesh-crds\n",
            &format!("{guard}linkerd upgrade --set proxyInit.iptablesMode=legacy > linkerd.yaml\n"),
            "replace the manifests that Argo CD (Application mesh) applies with those of linkerd.yaml",
            "argocd app sync mesh\n",
            &format!("{guard}linkerd viz install > linkerd-viz.yaml\n"),
            "argocd app sync viz\n",
        ],
    );
    let is_applied = |line: &str| line.contains("kubectl apply") && !line.contains("linkerd inject");
    assert!(!plan.contains("2025.10.7") && !plan.lines().any(is_applied), "{plan}");
    assert!(plan.contains("pass --set proxyInit.iptablesMode=legacy to linkerd upgrade"), "{plan}");

    let flux = json!({"labels": {"kustomize.toolkit.fluxcd.io/name": "mesh", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}});
    let plan = plan_managed("healthy-2.18", "2.19", &[("linkerd", flux)]).unwrap();
    in_order(
        &plan,
        &[
            "linkerd upgrade --crds > linkerd-crds.yaml\n",
            "with those of linkerd-crds.yaml",
            "flux reconcile kustomization mesh -n flux-system --with-source\n",
            "> linkerd.yaml\n",
            "replace the manifests that Flux (Kustomization flux-system/mesh) applies with those of linkerd.yaml",
        ],
    );
    assert!(!plan.contains("2025.10.7") && !plan.contains("HelmRelease"), "{plan}");

    let cni = [("linkerd", argo("mesh")), ("linkerd-cni", argo("cni"))];
    let plan = plan_managed("healthy-2.18-cni", "2.19", &cni).unwrap();
    let (_, step) = plan.split_once("linkerd-cni to v1.6.4\n").unwrap();
    in_order(step, &["linkerd install-cni", "> linkerd-cni.yaml\n", "argocd app sync cni\n"]);

    // The CRDs of Gateway API that the CLI rendered stay: it renders them again, unless they are too old.
    let marks = [("linkerd", argo("mesh")), ("crds", argo("mesh-crds"))];
    let plan = plan_managed("healthy-2.17", "2.19", &marks).unwrap();
    assert!(!plan.contains("The target's chart linkerd-crds no longer contains this CRD"), "{plan}");
    let plan = plan_managed("healthy-2.17", "2.20", &marks).unwrap();
    in_order(
        &plan,
        &[
            "argocd.argoproj.io/sync-options=Prune=false\n",
            "remove the Gateway API CRDs from the manifests that Argo CD (Application mesh-crds) applies",
        ],
    );
    assert!(!plan.contains("installGatewayAPI"), "{plan}");
}

/// The commands to copy pass what a box asks for, and a reference names a section that exists.
#[test]
fn commands_pass_the_options_that_boxes_ask_for() {
    let by_cli = rehearsed("healthy-2.18", "2.20").map(|report| render::plan::markdown(&report));
    let by_helm = plan_managed("healthy-2.18", "2.20", &by_helm());
    let (Some(by_cli), Some(by_helm)) = (by_cli, by_helm) else { return };
    for (plan, upgrade) in [(by_cli, "linkerd upgrade --set "), (by_helm, "helm upgrade mesh ")] {
        let asks = |line: &&str| line.contains("To keep the current behavior, pass --set ");
        let asked: Vec<&str> = plan.lines().filter(asks).collect();
        assert!(asked.len() >= 4, "{plan}");
        for line in asked {
            let (_, setting) = line.split_once("pass ").unwrap();
            let setting = setting.split(" to ").next().unwrap();
            let passes = |line: &str| line.contains(upgrade) && line.contains(setting);
            assert!(plan.lines().any(passes), "no {upgrade:?} with {setting:?} in\n{plan}");
        }
        for (_, title) in plan.lines().filter_map(|line| line.split_once("with the steps under \"")) {
            let title = title.trim_end_matches('"');
            assert!(plan.contains(&format!("\n## {title}\n")), "{title}: {plan}");
        }
        assert!(plan.contains("with the steps under") && !plan.contains("as described above"), "{plan}");
    }
}

/// A rollback goes to the previous release, not to the first one, and no command needs a CLI of another
/// release.
#[test]
fn the_way_back_is_to_the_release_before() {
    let Some(report) = rehearsed("healthy-2.17", "2.20") else { return };
    let plan = render::plan::markdown(&report);
    let (_, back) = plan.split_once("Rollback").unwrap();
    for (at, before) in
        [("edge-25.4.4", "edge-24.11.8"), ("edge-25.10.7", "edge-25.4.4"), ("edge-26.6.3", "edge-25.10.7")]
    {
        assert!(back.contains(&format!("From {at} to {before}, with its own CLI")), "{back}");
        let guarded = format!("grep -Fx {before} && linkerd upgrade | kubectl apply -f -");
        assert!(back.contains(&format!("LINKERD2_VERSION={before} sh")) && back.contains(&guarded), "{back}");
    }
    assert!(!back.contains("--crds"), "{back}");
    for line in plan.lines().filter(|line| line.contains("linkerd prune")) {
        assert!(line.trim_start().starts_with("linkerd version --client --short | grep -Fx edge-"), "{line}");
    }
    assert!(plan.contains("export PATH=\"$HOME/.linkerd2/bin:$PATH\""), "{plan}");
}

fn helm(name: &str, namespace: &str) -> Value {
    json!({"annotations": {"meta.helm.sh/release-name": name, "meta.helm.sh/release-namespace": namespace,
        "linkerd.io/created-by": "linkerd/helm edge-24.11.8"}})
}

#[test]
fn release_with_several_charts_gets_no_chart_of_linkerd() {
    let own = || helm("mesh", "linkerd");
    let marks = [("linkerd", own()), ("crds", own()), ("linkerd-viz", own())];
    let Some(plan) = plan_managed("healthy-2.18-viz", "2.19", &marks) else { return };
    assert!(!plan.contains("helm upgrade mesh linkerd-edge"), "{plan}");
    for chart in ["linkerd-crds", "linkerd-control-plane", "linkerd-viz"] {
        assert!(plan.contains(&format!("Set {chart} to version 2025.10.7 under dependencies")), "{plan}");
    }
    assert!(plan.contains("helm dependency update \"${MESH_CHART:?}\""), "{plan}");
    assert!(plan.contains("and older CRDs may lack a version"), "{plan}");
}

#[test]
fn plans_upgrade_only_a_release_with_that_chart() {
    let Some(plan) = plan_managed("healthy-2.18", "2.20", &by_helm()) else { return };
    assert!(plan.contains("helm upgrade mesh "), "{plan}");
    let unguarded: Vec<&str> = plan.lines().filter(|line| crate::upgrade_commands::is_unguarded(line)).collect();
    assert!(unguarded.is_empty(), "{unguarded:#?}");
}

#[test]
fn chart_of_2_11_moves_to_two_releases() {
    let marks = |chart: &str| {
        json!({"labels": {"helm.sh/chart": chart}, "annotations": {"meta.helm.sh/release-name": "linkerd2",
            "meta.helm.sh/release-namespace": "default", "linkerd.io/created-by": "linkerd/helm stable-2.11.5"}})
    };
    let marks = [("linkerd", marks("linkerd2-2.11.5")), ("crds", marks("linkerd2-2.11.5"))];
    let Some(plan) = plan_of_release("healthy-2.18", ("stable-2.11.5", "2.13"), &marks) else { return };
    assert!(!plan.contains("helm upgrade linkerd2"), "{plan}");
    let at = |text: &str| plan.find(text).unwrap_or_else(|| panic!("no {text:?} in\n{plan}"));
    let adopted = "meta.helm.sh/release-name=linkerd-crds meta.helm.sh/release-namespace=linkerd";
    assert!(at("-f linkerd2-manifest.yaml meta.helm.sh/release-name=linkerd-control-plane") < at(adopted));
    assert!(at(adopted) < at("helm install linkerd-crds linkerd/linkerd-crds -n linkerd --version"));
    let installed = at("helm install linkerd-control-plane linkerd/linkerd-control-plane -n linkerd --version");
    assert!(installed < at("delete secret --field-selector type=helm.sh/release.v1 -l name=linkerd2,owner=helm"));
    assert!(installed < at("helm upgrade linkerd-control-plane linkerd/linkerd-control-plane -n linkerd"));
    assert!(!plan.contains("linkerd prune"), "{plan}");
}

fn by_helm() -> [(&'static str, Value); 2] {
    [("linkerd", helm("mesh", "linkerd")), ("crds", helm("mesh-crds", "linkerd"))]
}

#[test]
fn helm_goes_back_by_revision_and_git_by_a_revert() {
    let Some(plan) = plan_managed("healthy-2.18", "2.19", &by_helm()) else { return };
    let (_, back) = plan.split_once("Rollback").unwrap();
    assert!(back.contains("helm history mesh -n linkerd\n"), "{back}");
    assert!(back.contains("helm rollback mesh \"${REVISION:?}\" -n linkerd --wait\n"), "{back}");
    assert!(!back.contains("mesh-crds"), "{back}");
    let flux =
        json!({"labels": {"helm.toolkit.fluxcd.io/name": "mesh", "helm.toolkit.fluxcd.io/namespace": "flux-system"}});
    let plan = plan_managed("healthy-2.18", "2.19", &[("linkerd", flux)]).unwrap();
    let (_, back) = plan.split_once("Rollback").unwrap();
    assert!(back.contains("In Git, revert") && !back.contains("helm rollback"), "{back}");
    // The Kustomization applies the HelmRelease from Git.
    let at = |text: &str| back.find(text).unwrap_or_else(|| panic!("no {text:?} in\n{back}"));
    assert!(at("flux reconcile kustomization \"$(kubectl get") < at("flux reconcile helmrelease mesh"));
}

/// The chart of the CRDs has no Gateway API version for 2.20, so ownership of its CRDs is transferred, and
/// nothing is deleted on the way.
#[test]
fn what_the_chart_holds_of_the_gateway_api_is_kept_and_then_taken_over() {
    let Some(plan) = plan_managed("healthy-2.17", "2.20", &by_helm()) else { return };
    let (_, plan) = plan.split_once("## 1. ").unwrap();
    let at = |text: &str| plan.find(text).unwrap_or_else(|| panic!("no {text:?} in\n{plan}"));
    let left_out = "helm upgrade mesh-crds linkerd-edge/linkerd-crds -n linkerd --version \"$CHART\" --reuse-values --set \
                    installGatewayAPI=false --set enableHttpRoutes=false";
    let order = [
        at("--reuse-values keeps the Gateway API CRDs"),
        at("Gateway API for edge-26.6.3"),
        at("helm.sh/resource-policy=keep\n"),
        at(left_out),
        at("meta.helm.sh/release-name- meta.helm.sh/release-namespace- linkerd.io/created-by-"),
        at("kubectl apply --server-side --force-conflicts -f https://github.com/kubernetes-sigs/gateway-api"),
        at("--only gateway-api-missing,gateway-api-unsupported --fail-on warning"),
    ];
    assert!(order.is_sorted(), "{order:?}\n{plan}");
    assert_eq!(plan.matches("--reuse-values keeps the Gateway API").count(), 1, "{plan}");
    assert!(!plan.contains("Do not replace the CRDs by hand"), "{plan}");
    // The CLI upgrades its own CRDs, so no transfer is needed.
    let Some(report) = rehearsed("healthy-2.17", "2.20") else { return };
    let plan = render::plan::markdown(&report);
    assert!(!plan.contains("installGatewayAPI=false") && !plan.contains("--reuse-values keeps"), "{plan}");
}

/// Charts of a vendor have other names, and values at another place.
#[test]
fn a_vendor_s_chart_gets_the_values_where_it_reads_them() {
    let Some(plan) = plan_managed("healthy-2.18", "enterprise-2.19.6", &by_helm()) else { return };
    for said in [
        "https://enterprise.buoyant.io/install | env LINKERD2_VERSION=enterprise-2.19.6 sh\n",
        "Have the license key ready",
        "helm upgrade mesh-crds linkerd-buoyant/linkerd-enterprise-crds -n linkerd --version 2.19.6 --reuse-values\n",
        "helm get values mesh -n linkerd -o json | jq '{\"linkerd-control-plane\": (. // {})}' > values.json\n",
        "helm upgrade mesh linkerd-buoyant/linkerd-enterprise-control-plane -n linkerd --version 2.19.6 --reset-values -f values.json \
         --set linkerd-control-plane.proxyInit.iptablesMode=legacy --set license=\"${LICENSE:?}\"\n",
        // Unknown properties are not stated as facts.
        "Perhaps with enterprise-2.19.6 linkerd-init runs from the proxy's image",
        "With enterprise-2.19.6 the policy controller runs from the image of the controllers",
    ] {
        assert!(plan.contains(said), "no {said:?} in\n{plan}");
    }
    // The chart's numbering is unknown for a channel that is not known to have the chart.
    let viz = [by_helm().to_vec(), vec![("linkerd-viz", helm("dashboards", "linkerd-viz"))]].concat();
    let Some(plan) = plan_managed("healthy-2.18-viz", "enterprise-2.19.6", &viz) else { return };
    let unknown = "helm upgrade dashboards \"${VIZ_CHART:?}\" -n linkerd-viz --version \"${CHART_VERSION:?}\"";
    assert!(plan.contains(unknown), "{plan}");
    let Some(plan) = plan_managed("healthy-2.18", "2.19", &by_helm()) else { return };
    assert!(!plan.contains("helm get values") && !plan.contains("license"), "{plan}");
}

#[test]
fn linkerd_cni_that_git_holds_is_changed_there_with_its_chart() {
    let argo = |name: &str| {
        json!({"annotations": {"argocd.argoproj.io/tracking-id": format!("{name}:apps/DaemonSet:x/y"),
            "linkerd.io/created-by": "linkerd/helm edge-25.4.4"}})
    };
    let marks = [("linkerd", argo("mesh")), ("linkerd-cni", argo("cni"))];
    let Some(plan) = plan_managed("healthy-2.18-cni", "2.19", &marks) else { return };
    let (_, step) = plan.split_once("linkerd-cni to v1.6.4\n").unwrap();
    for said in [
        "(image.version=v1.6.4): in Git, chart linkerd2-cni 2025.10.7 of Argo CD (Application cni)",
        "argocd app sync cni\n",
        "get daemonset/linkerd-cni -o 'jsonpath={.spec.template.spec.containers[*].image}' | grep -F v1.6.4\n",
    ] {
        assert!(step.contains(said), "no {said:?} in\n{step}");
    }
    assert!(!plan.contains("linkerd install-cni"), "{plan}");
}

/// Steps of the plan are not repeated as tasks for the reader.
#[test]
fn releases_that_are_skipped_are_steps_and_no_task() {
    let Some(report) = rehearsed("healthy-2.18", "2.20") else { return };
    let plan = render::plan::markdown(&report);
    assert!(plan.contains("The steps below go one minor at a time"), "{plan}");
    assert!(!plan.contains("as in the plan (-o plan)"), "{plan}");
}

/// The plan of a recording whose linkerd-config has more values, and nodes another container runtime.
fn plan_with(recording: &str, to: &str, values: &str, runtime: Option<&str>) -> Option<String> {
    let folder = folder()?;
    let mut memory = memory(&folder.join(recording));
    let config = |map: &mut Value| {
        let text = map["data"]["values"].as_str().unwrap_or_default();
        let mut tree: serde_yaml::Mapping = serde_yaml::from_str(text).unwrap();
        let more: serde_yaml::Mapping = serde_yaml::from_str(values).unwrap();
        tree.extend(more);
        map["data"]["values"] = json!(serde_yaml::to_string(&tree).unwrap());
    };
    changed_of(&mut memory, ("ConfigMap", "linkerd-config"), &config);
    if let Some(runtime) = runtime {
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "old"},
                          "status": {"nodeInfo": {"containerRuntimeVersion": runtime}}});
        memory.add(&node).unwrap();
    }
    let upgrade = Upgrade::new(to, None, None, Knowledge::embedded().releases()).unwrap();
    let settings = Settings { mode: Mode::Upgrade, upgrade: Some(upgrade), ..Settings::default() };
    Some(render::plan::markdown(&report_on(&memory, &settings)))
}

#[test]
fn every_cli_upgrade_sets_values_that_the_cli_does_not_store() {
    let values = "{commonLabels: {team: mesh}, enablePprof: true}";
    let Some(plan) = plan_with("healthy-2.18", "2.20", values, Some("docker://20.10.7")) else { return };
    let upgrades: Vec<&str> =
        plan.lines().filter(|line| line.contains("linkerd upgrade") && line.contains("| kubectl apply")).collect();
    let upgrades: Vec<&&str> = upgrades.iter().filter(|line| !line.contains("--crds")).collect();
    assert!(upgrades.len() >= 4, "{plan}");
    for set in ["--set commonLabels.team=mesh", "--set enablePprof=true", "--set proxyInit.runAsRoot=true"] {
        assert!(upgrades.iter().all(|line| line.contains(set)), "{set} {plan}");
    }
}

#[test]
fn the_way_back_to_2_18_stores_a_number() {
    let values = "{controller: {podDisruptionBudget: {maxUnavailable: 2}}}";
    let Some(plan) = plan_with("healthy-2.18", "2.19", values, None) else { return };
    assert!(plan.contains("Store controller.podDisruptionBudget.maxUnavailable as the number 2"), "{plan}");
    assert!(plan.contains("kubectl -n linkerd get secret linkerd-config-overrides -o json"), "{plan}");
    let Some(plan) = plan_with("healthy-2.18", "2.19", "{}", None) else { return };
    assert!(!plan.contains("get secret linkerd-config-overrides"), "{plan}");
}
