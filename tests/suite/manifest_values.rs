//! Values in manifests that a controller, a schema or a release of Linkerd cannot read: each is found, alone and next to what
//! it belongs to, and nothing else of the set is lost.

use serde_json::Value;

use crate::binary::{Ran, meshdoctor, ran, write};

const NAMESPACE: &str =
    "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, annotations: {linkerd.io/inject: enabled}}\n";

fn pod(annotation: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: p, namespace: shop, annotations: {{linkerd.io/inject: enabled, {annotation}}}}}\n\
         spec: {{containers: [{{name: a, image: 'x:1'}}]}}\n"
    )
}

fn deployment(annotation: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: p, namespace: shop}}\nspec:\n  selector: {{matchLabels: {{a: b}}}}\n  \
         template:\n    metadata: {{labels: {{a: b}}, annotations: {{linkerd.io/inject: enabled, {annotation}}}}}\n    spec: {{containers: \
         [{{name: a, image: 'x:1'}}]}}\n"
    )
}

fn profile(spec: &str) -> String {
    format!(
        "apiVersion: linkerd.io/v1alpha2\nkind: ServiceProfile\nmetadata: {{name: web.shop.svc.cluster.local, namespace: shop}}\n\
         spec: {{{spec}}}\n"
    )
}

fn route(fields: &str) -> String {
    profile(&format!("routes: [{{name: a, {fields}}}]"))
}

fn link(port: &str, probe: &str) -> String {
    format!(
        "apiVersion: multicluster.linkerd.io/v1alpha3\nkind: Link\nmetadata: {{name: east, namespace: linkerd-multicluster}}\nspec:\n  \
         targetClusterName: east\n  targetClusterDomain: cluster.local\n  targetClusterLinkerdNamespace: linkerd\n  \
         clusterCredentialsSecret: cluster-credentials-east\n  gatewayAddress: 203.0.113.7\n  gatewayPort: {port}\n  gatewayIdentity: \
         gw.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local\n  probeSpec: {{path: /ready, port: '4191', {probe}}}\n"
    )
}

const PROBE: &str = "period: 3s, timeout: 30s, failureThreshold: '3'";

fn application(helm: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: redis, namespace: argocd}}\nspec: {{source: {{repoURL: \
         'https://example.com/charts', chart: redis, targetRevision: '1', helm: {{{helm}}}}}}}\n"
    )
}

fn check(manifests: &str, more: &[&str]) -> Ran {
    let own = tempfile::tempdir().unwrap();
    write(own.path(), "set/set.yaml", manifests);
    let words = ["check", "--no-config", "--manifests", "set", "--linkerd-version", "2.20", "-o", "json"];
    ran(meshdoctor(&[&words[..], more].concat()).current_dir(own.path()))
}

/// `CHECK SEVERITY` of each finding of warning or above.
fn findings(report: &Value) -> Vec<String> {
    let word = |finding: &Value, field: &str| finding[field].as_str().unwrap().to_owned();
    let all = report["findings"].as_array().unwrap().iter().filter(|one| one["severity"] != "info");
    all.map(|one| format!("{} {}", word(one, "check"), word(one, "severity"))).collect()
}

fn aside(report: &Value) -> String {
    let all = report["coverage"]["setAside"].as_array().into_iter().flatten();
    all.map(|text| text.as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

/// The severity of the checks and the statuses of a set alone, with its Namespace, and as a change of a cluster.
fn everywhere(manifests: &str) -> Vec<(i32, Vec<String>)> {
    let with_namespace = format!("{manifests}{NAMESPACE}");
    let alone = [manifests, &with_namespace].map(|set| check(set, &[]));
    let own = tempfile::tempdir().unwrap();
    write(own.path(), "set.yaml", manifests);
    let base = concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/healthy.yaml");
    let set = own.path().join("set.yaml");
    let words = ["check", "--no-config", "--with", set.to_str().unwrap(), "--bundle", base, "--complete", "all"];
    let more = ["--at", "2026-01-15T12:00:00Z", "--on-not-checked", "pass", "-o", "json"];
    let changed = ran(meshdoctor(&[&words[..], &more].concat()));
    let each = alone.into_iter().chain([changed]).map(|ran| {
        let report = ran.document();
        let lost = report["coverage"]["gaps"].to_string();
        assert!(!lost.contains("could not be read"), "{manifests}: {lost}");
        let found = findings(&report).into_iter();
        (ran.status, found.filter(|one| one.starts_with("annotation-value-invalid")).collect())
    });
    each.collect()
}

#[test]
fn invalid_port_annotation_is_an_error_with_and_without_namespace() {
    let expected = vec!["annotation-value-invalid error".to_owned()];
    for port in ["admin-port", "inbound-port"] {
        for value in ["65536", "-1", "0", "2147483647"] {
            let annotation = format!("config.linkerd.io/{port}: '{value}'");
            for set in [pod(&annotation), deployment(&annotation)] {
                for (status, found) in everywhere(&set) {
                    assert_eq!((status, &found), (1, &expected), "{set}");
                }
            }
        }
    }
}

#[test]
fn other_invalid_numbers_lose_no_evidence() {
    for annotation in [
        "config.linkerd.io/outbound-port: '65536'",
        "config.linkerd.io/control-port: '-1'",
        "config.linkerd.io/control-port: '65536'",
        "config.linkerd.io/proxy-uid: '-1'",
        "config.linkerd.io/proxy-gid: '99999999999'",
        "config.linkerd.io/proxy-cpu-limit: '-1'",
        "config.linkerd.io/proxy-memory-request: '-5Mi'",
        "config.linkerd.io/shutdown-grace-period: soon",
        "config.alpha.linkerd.io/proxy-wait-before-exit-seconds: '-1'",
        "config.linkerd.io/skip-inbound-ports: '70000'",
        "config.linkerd.io/opaque-ports: '1-70000'",
    ] {
        for set in [pod(annotation), deployment(annotation)] {
            for (_, found) in everywhere(&set) {
                assert_eq!(found.len(), 1, "{set}: {found:?}");
            }
        }
    }
}

#[test]
fn wrong_values_of_custom_resources_are_found() {
    let condition = "condition: {method: GET}";
    let response =
        |condition: &str| route(&format!("condition: {{method: GET}}, responseClasses: [{{condition: {condition}}}]"));
    let budget = |fields: &str| profile(&format!("retryBudget: {{{fields}}}"));
    let link_invalid = "link-invalid error";
    let refused = "apply-refused error";
    let wrong = [
        (link("abc", PROBE), link_invalid),
        (link("'70000'", PROBE), link_invalid),
        (link("4143", PROBE), refused),
        (link("'4143'", "period: '3'"), link_invalid),
        (link("'4143'", "period: 3 s"), link_invalid),
        (link("'4143'", "period: 0s"), link_invalid),
        (link("'4143'", "period: -3s"), link_invalid),
        (link("'4143'", "period: 3s, timeout: -1s"), "link-invalid warning"),
        (link("'4143'", "period: 3s, timeout: '30'"), refused),
        (link("'4143'", "period: 3s, failureThreshold: '-1'"), link_invalid),
        (link("'4143'", "period: 3s, failureThreshold: 3"), refused),
        (link("'4143'", "period: 3s, failureTreshold: '3'"), refused),
        (route(&format!("{condition}, timeout: 5 s")), refused),
        (route(&format!("{condition}, timeout: '5'")), refused),
        (route(&format!("{condition}, timeout: 5")), refused),
        (route(&format!("{condition}, timeout: abc")), refused),
        (route(&format!("{condition}, timeout: 9999999h")), refused),
        (route("condition: {all: [{}]}"), refused),
        (route("condition: {any: [{method: 5}]}"), refused),
        (response("{status: {min: 99}}"), refused),
        (response("{status: {min: 500, max: 400}}"), refused),
        (response("{all: [{status: {max: '500'}}]}"), refused),
        (response("{}"), refused),
        (budget("retryRatio: 0.2, minRetriesPerSecond: 1, ttl: 10 s"), refused),
        (budget("retryRatio: -0.2, minRetriesPerSecond: 1, ttl: 10s"), refused),
        (budget("retryRatio: 0.2, minRetriesPerSecond: -1, ttl: 10s"), refused),
        (budget("retryRatio: 0.2, ttl: 10s"), refused),
        (profile("dstOverrides: [{authority: x, weight: a}]"), refused),
        (profile("dstOverrides: [{authority: 5, weight: 1}]"), refused),
        (profile("dstOverrides: [{authority: x, wieght: 1}]"), refused),
    ];
    for (set, expected) in wrong {
        let ran = check(&set, &[]);
        let found = findings(&ran.document());
        assert!(found.contains(&expected.to_owned()), "{set}\n{found:?} {}", ran.err);
        let status = i32::from(expected.ends_with("error"));
        assert_eq!(ran.status, status, "{set}\n{}", ran.err);
    }
}

#[test]
fn right_values_of_custom_resources_are_silent() {
    for set in [
        link("'4143'", PROBE),
        link("'4143'", "period: 1m1.5s"),
        link("'4143'", "period: 3s, timeout: 250ms, failureThreshold: '0'"),
        link("'4143'", PROBE).replace("  gatewayAddress: 203.0.113.7\n", "").replace("  gatewayPort: '4143'\n", ""),
        route("condition: {all: [{method: GET}, {not: {pathRegex: /x}}]}, timeout: +1m.5s"),
        route("condition: {pathRegex: /a}, responseClasses: [{condition: {any: [{status: {min: 100, max: 599}}]}}]"),
        profile("retryBudget: {retryRatio: 0, minRetriesPerSecond: 0, ttl: 1.5h}"),
        profile(
            "dstOverrides: [{authority: x, weight: 1}, {authority: 'y:80', weight: 500m}, {authority: z, weight: '0.5'}]",
        ),
        pod("config.linkerd.io/admin-port: '65535'"),
        deployment("config.linkerd.io/inbound-port: '1'"),
    ] {
        let ran = check(&set, &[]);
        let report = ran.document();
        assert_eq!((ran.status, findings(&report), aside(&report)), (0, vec![], String::new()), "{set}\n{}", ran.err);
    }
}

#[test]
fn keys_of_linkerd_in_values_of_other_charts_are_checked() {
    let wrong = "knows linkerd.io/injected, so it has no effect. Did you mean linkerd.io/inject?";
    let of_k3s = |kind: &str, spec: &str| {
        format!(
            "apiVersion: helm.cattle.io/v1\nkind: {kind}\nmetadata: {{name: redis, namespace: kube-system}}\nspec: {{chart: redis, {spec}}}\n"
        )
    };
    let set_of = |source: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: m, namespace: argocd}}\nspec:\n  generators: [{{git: \
             {{repoURL: x, directories: [{{path: c}}]}}}}]\n  template: {{spec: {{source: {{{source}}}}}}}\n"
        )
    };
    for (set, expected) in [
        (application("values: \"podAnnotations:\\n  linkerd.io/injected: enabled\\n\""), wrong),
        (application("valuesObject: {podAnnotations: {linkerd.io/injected: enabled}}"), wrong),
        (application("parameters: [{name: 'podAnnotations.linkerd\\.io/injected', value: enabled}]"), wrong),
        (
            application("valuesObject: {podAnnotations: {config.linkerd.io/admin-port: '70000'}}"),
            "config.linkerd.io/admin-port: \"70000\" is not valid",
        ),
        (application("valuesObject: {podAnnotations: {linkerd.io/inject: enabled}}"), "values of other charts"),
        (of_k3s("HelmChart", "valuesContent: \"podAnnotations:\\n  linkerd.io/injected: enabled\\n\""), wrong),
        (of_k3s("HelmChartConfig", "valuesContent: \"podAnnotations:\\n  linkerd.io/injected: enabled\\n\""), wrong),
        (of_k3s("HelmChart", "set: {'podAnnotations.linkerd\\.io/injected': enabled}"), wrong),
        (
            set_of("repoURL: 'https://example.com', chart: redis, helm: {valuesObject: {a: {linkerd.io/injected: x}}}"),
            wrong,
        ),
        (
            set_of(
                "repoURL: 'https://helm.linkerd.io/stable', path: 'charts/{{.path.basename}}', helm: {valuesObject: {proxy: {x: y}}}",
            ),
            "charts/{{.path.basename}} in ApplicationSet argocd/m",
        ),
        ("replicaCount: 1\npodAnnotations: {linkerd.io/injected: enabled}\n".to_owned(), wrong),
        (
            "helmCharts:\n- name: redis\n  valuesInline: {podAnnotations: {linkerd.io/injected: enabled}}\n".to_owned(),
            wrong,
        ),
    ] {
        let own = tempfile::tempdir().unwrap();
        write(own.path(), "set/first.yaml", &set);
        write(own.path(), "set/second.yaml", deployment("config.linkerd.io/admin-port: '4191'"));
        let words = ["check", "--no-config", "--manifests", "set", "--linkerd-version", "2.20", "-o", "json"];
        let ran = ran(meshdoctor(&words).current_dir(own.path()));
        let report = ran.document();
        let named: Vec<String> = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|finding| finding["severity"] == "warning" && finding["confidence"] == "likely")
            .map(|finding| format!("{} {}", finding["message"], finding["written"][0]["file"]).replace('\\', ""))
            .collect();
        let aside = aside(&report);
        match named.first() {
            Some(found) => {
                assert!(found.contains(expected) && found.contains("first.yaml"), "{set}\n{found}");
                assert_eq!((named.len(), ran.status), (1, 0), "{set}\n{named:?}");
            }
            None => assert!(aside.contains(expected) && ran.err.contains(expected), "{set}\n{aside}"),
        }
        assert!(aside.contains("first.yaml:"), "{aside}");
    }
}

#[test]
fn values_that_templates_or_windows_set_are_silent() {
    for value in ["'{{ .mesh }}'", "${MESH}", "windows", "enabled", "''", "null"] {
        let set = application(&format!("valuesObject: {{podAnnotations: {{linkerd.io/inject: {value}}}}}"));
        assert_eq!(findings(&check(&set, &[]).document()), Vec::<String>::new(), "{value}");
    }
}

#[test]
fn values_without_keys_of_linkerd_are_not_named() {
    for set in [
        application("values: 'image: cr.l5d.io/linkerd/proxy'"),
        application("valuesObject: {image: {repository: cr.l5d.io/linkerd/proxy}, url: 'https://linkerd.io/2/'}"),
        application("parameters: [{name: image, value: 'linkerd.io/x'}]"),
        "replicaCount: 1\nnote: see linkerd.io/inject\n".to_owned(),
    ] {
        let both = format!("{set}---\n{}", deployment("config.linkerd.io/admin-port: '4191'"));
        let ran = check(&both, &[]);
        assert_eq!(aside(&ran.document()), "", "{set}");
    }
}
