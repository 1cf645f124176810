//! Upgrades that are rehearsed on recorded clusters: what each brings to an install that is well, what the target was taken for,
//! and the plan. The recordings lie outside the repository; where there are none, that is said.

use std::collections::BTreeSet;
use std::io::Write as _;

use meshdoctor::card::Mode;
use meshdoctor::checks::{Settings, Upgrade};
use meshdoctor::finding::{Severity, When};
use meshdoctor::knowledge::Knowledge;
use meshdoctor::render;
use meshdoctor::report::Report;

use crate::cli::meshdoctor;
use crate::recordings::{folder, memory, report_on};

/// A recording, the target, and what begins with the upgrade: severity, check, and what tells it from others of that check.
const BRINGS: &[(&str, &str, &[&str])] = &[
    ("healthy-2.15", "2.16", &["warning crd-missing before"]),
    (
        "healthy-2.15",
        "2.17",
        &["error upgrade-path skips", "warning crd-missing before", "warning data-plane-skew behind 2"],
    ),
    (
        "healthy-2.15",
        "2.18",
        &["error upgrade-path skips", "warning crd-missing before", "warning data-plane-skew behind 3"],
    ),
    (
        "healthy-2.15",
        "2.19",
        &[
            "error upgrade-path skips",
            "warning crd-missing before",
            "warning upgrade-changes-default proxyInit.iptablesMode",
            "info upgrade-refuses-undeclared-port",
            "warning data-plane-skew behind 4",
        ],
    ),
    (
        "healthy-2.15",
        "2.20",
        &[
            "error upgrade-path skips",
            "warning crd-missing before",
            "warning gateway-api-unsupported",
            "warning upgrade-changes-default proxy.nativeSidecar",
            "warning upgrade-changes-default proxyInit.iptablesMode",
            "info upgrade-refuses-undeclared-port",
            "warning data-plane-skew behind 5",
        ],
    ),
    ("healthy-2.17", "2.18", &[]),
    (
        "healthy-2.17",
        "2.19",
        &[
            "error upgrade-path skips",
            "warning upgrade-changes-default proxyInit.iptablesMode",
            "info upgrade-refuses-undeclared-port",
            "warning data-plane-skew behind 2",
        ],
    ),
    (
        "healthy-2.17",
        "2.20",
        &[
            "error upgrade-path skips",
            "warning gateway-api-unsupported",
            "warning upgrade-changes-default proxy.nativeSidecar",
            "warning upgrade-changes-default proxyInit.iptablesMode",
            "warning upgrade-needs-storage-migration",
            "info upgrade-refuses-undeclared-port",
            "warning data-plane-skew behind 3",
        ],
    ),
    (
        "healthy-2.18",
        "2.19",
        &["warning upgrade-changes-default proxyInit.iptablesMode", "info upgrade-refuses-undeclared-port"],
    ),
    (
        "healthy-2.18",
        "2.20",
        &[
            "error upgrade-path skips",
            "warning upgrade-changes-default proxy.nativeSidecar",
            "warning upgrade-changes-default proxyInit.iptablesMode",
            "info upgrade-refuses-undeclared-port",
            "warning data-plane-skew behind 2",
        ],
    ),
    ("healthy-2.18-cni", "2.19", &["info upgrade-refuses-undeclared-port"]),
    (
        "healthy-2.18-cni",
        "2.20",
        &[
            "error upgrade-path skips",
            "warning upgrade-changes-default proxy.nativeSidecar",
            "info upgrade-refuses-undeclared-port",
            "warning data-plane-skew behind 2",
        ],
    ),
    (
        "healthy-2.18-ha",
        "2.19",
        &["warning upgrade-changes-default proxyInit.iptablesMode", "info upgrade-refuses-undeclared-port"],
    ),
    (
        "healthy-2.18-ha",
        "2.20",
        &[
            "error upgrade-path skips",
            "warning upgrade-changes-default proxy.nativeSidecar",
            "warning upgrade-changes-default proxyInit.iptablesMode",
            "info upgrade-refuses-undeclared-port",
            "warning data-plane-skew behind 2",
        ],
    ),
    (
        "healthy-2.18-multicluster",
        "2.19",
        &["warning upgrade-changes-default proxyInit.iptablesMode", "info upgrade-refuses-undeclared-port"],
    ),
    (
        "healthy-2.18-multicluster",
        "2.20",
        &[
            "error upgrade-path skips",
            "warning upgrade-changes-default proxy.nativeSidecar",
            "warning upgrade-changes-default proxyInit.iptablesMode",
            "info upgrade-refuses-undeclared-port",
            "warning data-plane-skew behind 2",
        ],
    ),
    (
        "healthy-2.18-native-sidecar",
        "2.19",
        &["warning upgrade-changes-default proxyInit.iptablesMode", "info upgrade-refuses-undeclared-port"],
    ),
    (
        "healthy-2.18-native-sidecar",
        "2.20",
        &[
            "error upgrade-path skips",
            "warning upgrade-changes-default proxyInit.iptablesMode",
            "info upgrade-refuses-undeclared-port",
            "warning data-plane-skew behind 2",
        ],
    ),
    (
        "healthy-2.18-viz",
        "2.19",
        &["warning upgrade-changes-default proxyInit.iptablesMode", "info upgrade-refuses-undeclared-port"],
    ),
    (
        "healthy-2.18-viz",
        "2.20",
        &[
            "error upgrade-path skips",
            "warning upgrade-changes-default proxy.nativeSidecar",
            "warning upgrade-changes-default proxyInit.iptablesMode",
            "info upgrade-refuses-undeclared-port",
            "warning data-plane-skew behind 2",
        ],
    ),
    ("healthy-2.19", "2.20", &["warning upgrade-changes-default proxy.nativeSidecar"]),
    ("healthy-2.20", "edge-26.8.3", &[]),
];

fn rehearsed(recording: &str, to: &str) -> Option<Report> {
    let folder = folder()?;
    let upgrade = Upgrade::new(to, None, None, Knowledge::embedded().releases()).unwrap();
    let settings = Settings { mode: Mode::Upgrade, upgrade: Some(upgrade), ..Settings::default() };
    Some(report_on(&memory(&folder.join(recording)), &settings))
}

fn begins(report: &Report) -> Vec<String> {
    let later = report.findings.iter().filter(|finding| finding.when == When::AfterUpgrade);
    later
        .map(|finding| {
            let of: Vec<&str> = finding
                .parameters
                .iter()
                .map(String::as_str)
                .filter(|it| *it != "after the upgrade")
                .collect();
            format!("{} {} {}", finding.severity, finding.check, of.join(" ")).trim_end().to_owned()
        })
        .collect()
}

#[test]
fn an_upgrade_of_an_install_that_is_well_brings_what_is_known_of_it() {
    let mut wrong = Vec::new();
    for (recording, to, expected) in BRINGS {
        let Some(report) = rehearsed(recording, to) else { return };
        let found = begins(&report);
        if found != *expected {
            wrong.push(format!("(\"{recording}\", \"{to}\", &{found:?}),"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is there today is said alike, with the upgrade or without.
#[test]
fn a_rehearsal_takes_nothing_away_of_what_is_wrong_today() {
    let Some(folder) = folder() else { return };
    for recording in ["issuer-expired", "healthy-2.18-viz", "pods-not-injected", "control-plane-mixed"] {
        let today = report_on(&memory(&folder.join(recording)), &Settings::default());
        let Some(report) = rehearsed(recording, "2.20") else { return };
        let said = |report: &Report| -> BTreeSet<(String, String, Severity)> {
            let now = report.findings.iter().filter(|finding| finding.when != When::AfterUpgrade);
            now.map(|finding| (finding.fingerprint().0, finding.message.clone(), finding.severity)).collect()
        };
        assert_eq!(said(&today), said(&report), "{recording}");
        assert_eq!(today.rows, report.rows, "{recording}: linkerd check asks of today");
    }
}

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
        "The way back",
    ]
    .iter()
    .map(|title| plan.find(title).unwrap_or_else(|| panic!("no {title:?} in\n{plan}")))
    .collect();
    assert!(places.is_sorted(), "{plan}");
    assert!(plan.contains("kubectl -n shop rollout restart deployment/api deployment/web"), "{plan}");
    // What each release brings is dealt with on the way to it.
    let step = |value: &str| {
        let rehearsal = report.rehearsal.as_ref().unwrap();
        let about = |finding: &&meshdoctor::finding::Finding| finding.message.starts_with(value);
        let step = rehearsal.plan.as_ref().unwrap().step_of(report.findings.iter().find(about).unwrap());
        rehearsal.plan.as_ref().unwrap().phases[step.unwrap() - 1].title.clone()
    };
    assert_eq!(step("proxyInit.iptablesMode"), "Control plane to edge-25.10.7");
    assert_eq!(step("proxy.nativeSidecar"), "Control plane to edge-26.6.3");
    // What no object shows is said before the control plane goes there, and only with the release that brings it.
    let at = |text: &str| plan.match_indices(text).map(|(at, _)| at).collect::<Vec<_>>();
    let gone = at("From edge-26.6.3 on linkerd-init runs from the proxy's image");
    assert!(gone.len() == 1 && places[4] < gone[0] && gone[0] < places[5], "{plan}");
    assert_eq!(at("the image proxy-init is gone").len(), 1, "{plan}");
    assert!(!plan.contains("1.1.1.1:20001"), "{plan}");
    assert!(at("check --only certificates --fail-on warning")[0] < places[0], "{plan}");
    // What an only informing finding stands for counts as not done.
    assert!(
        plan.contains("--only data-plane-skew,proxy-not-ready,pod-missing-proxy --fail-on info"),
        "{plan}"
    );
    assert!(plan.contains("control-plane-not-ready --fail-on warning"), "{plan}");
    assert!(plan.contains("linkerd prune | kubectl delete -f -"), "{plan}");

    // With linkerd-cni there is no linkerd-init, and its own step is guarded as the others are.
    let Some(report) = rehearsed("healthy-2.18-cni", "2.20") else { return };
    let plan = render::plan::markdown(&report);
    assert!(!plan.contains("the image proxy-init is gone"), "{plan}");
    let installed: Vec<&str> =
        plan.lines().filter(|line| line.contains("linkerd install-cni --set")).collect();
    assert_eq!(installed.len(), 4, "{plan}");
    assert!(
        installed.iter().all(|line| line.contains("if [ \"$(linkerd version --client --short)\" = edge-2")),
        "{plan}"
    );

    // Its definitions of Gateway API are Linkerd's, and come with the CRDs.
    let Some(report) = rehearsed("healthy-2.15", "2.18") else { return };
    assert!(!render::plan::markdown(&report).contains("Gateway API for"));
    let Some(back) = rehearsed("healthy-2.20", "2.18") else { return };
    assert!(back.rehearsal.as_ref().unwrap().plan.is_none());
    assert!(render::plan::markdown(&back).contains("There is no plan"));
}

#[test]
fn the_plan_brings_linkerd_cni_to_what_was_named_and_never_back() {
    let Some(folder) = folder() else { return };
    let plan = |recording: &str, to: &str, cni: Option<&str>| -> String {
        let upgrade = Upgrade::new(to, None, None, Knowledge::embedded().releases()).unwrap();
        let to_cni = cni.map(meshdoctor::version::CniVersion::from_tag);
        let settings =
            Settings { mode: Mode::Upgrade, upgrade: Some(upgrade), to_cni, ..Settings::default() };
        render::plan::markdown(&report_on(&memory(&folder.join(recording)), &settings))
    };
    let newer = plan("healthy-2.18-cni", "2.20", Some("v1.7.0"));
    assert!(newer.contains("linkerd-cni to v1.6.4\n"), "{newer}");
    assert!(newer.contains("linkerd-cni to v1.7.0\n"), "{newer}");
    assert!(newer.contains("What v1.7.0 brings is not known here"), "{newer}");
    let named = plan("healthy-2.18-cni", "2.20", Some("v1.6.3"));
    assert!(
        named.contains("linkerd-cni to v1.6.3\n") && !named.contains("linkerd-cni to v1.6.4\n"),
        "{named}"
    );
    // Its v1.6.2 is what 2.18 brings.
    assert!(!plan("healthy-2.18-cni", "edge-25.5.1", None).contains("linkerd-cni to"));
}

/// The charts of 2.18 bring a Gateway API that 2.19 takes and 2.20 does not.
#[test]
fn the_plan_has_routes_stored_again_before_the_api_server_would_refuse_the_gateway_api() {
    let Some(report) = rehearsed("healthy-2.17", "2.20") else { return };
    // Before the first step stands what it finds, with the same remedy.
    let plan = render::plan::markdown(&report);
    let (_, plan) = plan.split_once("## 1. ").unwrap();
    let at = |text: &str| plan.find(text).unwrap_or_else(|| panic!("no {text:?} in\n{plan}"));
    assert!(at("Data plane to edge-25.10.7") < at("Gateway API for edge-26.6.3"));
    assert!(at("Gateway API for edge-26.6.3") < at("Have every GRPCRoute stored again"));
    assert!(at("Have every GRPCRoute stored again") < at("Install Gateway API 1.2.1"));
    assert!(!plan.contains("Gateway API for edge-25.10.7"), "{plan}");
    let report = rehearsed("healthy-2.17", "2.19").unwrap();
    assert!(!render::plan::markdown(&report).contains("stored again"));
}

#[test]
fn a_target_that_is_none_is_refused_with_what_would_be_one() {
    for (words, said) in [
        (&["--to", "2.99"][..], "what 2.99 brings is not known"),
        (&["--to", "edge-99.1.1"], "what edge-99.1.1 brings is not known"),
        (&["--to", "latest"], "\"latest\" is no release of Linkerd"),
        (&["--to", "2.2"], "what 2.2 brings is not known"),
        (&["--to-kubernetes", "1.35"], "--to"),
        (&["--to", "2.20", "--to-kubernetes", "new"], "no version of Kubernetes"),
        (&["--to", "2.20", "--pre"], "cannot be used with"),
        (&["-o", "plan"], "-o plan is the plan of an upgrade"),
    ] {
        let mut empty = tempfile::NamedTempFile::with_suffix(".json").unwrap();
        empty.write_all(br#"{"apiVersion": "v1", "kind": "List", "items": []}"#).unwrap();
        let words = [&["check", "--bundle", empty.path().to_str().unwrap()], words].concat();
        let output = meshdoctor(&words).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {error}");
        assert!(error.contains(said), "{words:?}: {error}");
    }
}

/// The plan for a recording whose Deployments and CRDs are managed by what these labels and annotations say, each set in the
/// namespaces whose name has its beginning.
fn plan_managed(recording: &str, to: &str, marks: &[(&str, serde_json::Value)]) -> Option<String> {
    let mut memory = memory(&folder()?.join(recording));
    for (kind, held) in &mut memory.objects {
        let kind = kind.info().kind;
        if kind != "Deployment" && kind != "CustomResourceDefinition" {
            continue;
        }
        for object in held {
            let mut value: serde_json::Value = serde_json::from_slice(&object.json).unwrap();
            let of = if kind == "Deployment" { object.namespace.as_str() } else { "crds" };
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
    let upgrade = Upgrade::new(to, None, None, Knowledge::embedded().releases()).unwrap();
    let settings = Settings { mode: Mode::Upgrade, upgrade: Some(upgrade), ..Settings::default() };
    Some(render::plan::markdown(&report_on(&memory, &settings)))
}

#[test]
fn the_plan_has_the_commands_of_what_manages_control_plane_crds_and_extensions() {
    use serde_json::json;
    let argo = |name: &str| json!({"annotations": {"argocd.argoproj.io/tracking-id": format!("{name}:apps/Deployment:x/y")}});
    let marks = [("linkerd", argo("mesh")), ("crds", argo("mesh-crds")), ("linkerd-viz", argo("viz"))];
    let Some(plan) = plan_managed("healthy-2.18-viz", "2.19", &marks) else { return };
    for (application, chart) in [("mesh", "control-plane"), ("mesh-crds", "crds"), ("viz", "viz")] {
        let of = format!("chart linkerd-{chart} 2025.10.7 of Argo CD (Application {application})");
        assert!(plan.contains(&of), "no {of:?} in\n{plan}");
        for command in
            ["app diff NAME --refresh", "app sync NAME", "app wait NAME --sync --health --timeout 900"]
        {
            let command = format!("argocd {}\n", command.replace("NAME", application));
            assert!(plan.contains(&command), "no {command:?} in\n{plan}");
        }
    }
    assert!(!plan.contains("linkerd upgrade") && !plan.contains("linkerd viz install"), "{plan}");

    let flux = |name: &str| json!({"labels": {"helm.toolkit.fluxcd.io/name": name, "helm.toolkit.fluxcd.io/namespace": "flux-system"}});
    let marks = [("linkerd", flux("mesh")), ("crds", flux("mesh-crds")), ("linkerd-viz", flux("viz"))];
    let plan = plan_managed("healthy-2.18-viz", "2.19", &marks).unwrap();
    for name in ["mesh", "mesh-crds", "viz"] {
        let reconcile = format!("flux reconcile helmrelease {name} -n flux-system --with-source\n");
        let wait = format!(
            "kubectl wait helmreleases.helm.toolkit.fluxcd.io {name} -n flux-system --for=condition=Ready --timeout=15m\n"
        );
        assert!(
            plan.contains(&reconcile) && plan.contains(&wait),
            "no {reconcile:?} and {wait:?} in\n{plan}"
        );
    }

    let helm = |name: &str, namespace: &str| json!({"annotations": {"meta.helm.sh/release-name": name, "meta.helm.sh/release-namespace": namespace}});
    let marks = [
        ("linkerd", helm("mesh", "linkerd")),
        ("crds", helm("mesh-crds", "linkerd")),
        ("linkerd-viz", helm("dashboards", "linkerd-viz")),
    ];
    let plan = plan_managed("healthy-2.18-viz", "2.19", &marks).unwrap();
    for command in [
        "helm upgrade mesh-crds linkerd-edge/linkerd-crds -n linkerd --version 2025.10.7 --reuse-values\n",
        "helm upgrade mesh linkerd-edge/linkerd-control-plane -n linkerd --version 2025.10.7 --reset-then-reuse-values\n",
        "helm upgrade dashboards linkerd-edge/linkerd-viz -n linkerd-viz --version 2025.10.7 --reset-then-reuse-values\n",
    ] {
        assert!(plan.contains(command), "no {command:?} in\n{plan}");
    }
    assert!(!plan.contains("CHART_VERSION") && !plan.contains("linkerd viz install"), "{plan}");
    assert!(plan.contains("meshdoctor check --only viz --fail-on warning\n"), "{plan}");
}

/// Who goes back goes to the release before, not to the one that all began with; and no command is run by a CLI of another release.
#[test]
fn the_way_back_is_to_the_release_before() {
    let Some(report) = rehearsed("healthy-2.17", "2.20") else { return };
    let plan = render::plan::markdown(&report);
    let back = "the release before the one that you are at (edge-24.11.8, edge-25.4.4, edge-25.10.7)";
    assert!(plan.contains(back), "{plan}");
    for line in plan.lines().filter(|line| line.contains("linkerd prune")) {
        assert!(
            line.trim_start().starts_with("if [ \"$(linkerd version --client --short)\" = edge-"),
            "{line}"
        );
    }
    assert!(plan.contains("export PATH=\"$HOME/.linkerd2/bin:$PATH\""), "{plan}");
    let one = render::plan::markdown(&rehearsed("healthy-2.18", "2.19").unwrap());
    assert!(one.contains("control plane of edge-25.4.4 again"), "{one}");
}
