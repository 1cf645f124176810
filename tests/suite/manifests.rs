//! `check --manifests` on small sets through the real binary: what is found and where, what is set aside, and how the run ends.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use crate::binary::{Ran, meshdoctor, ran, write};

const SERVER: &str = "apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata: {name: broken, namespace: shop}
spec: {podSelector: {}, port: 70000}
";

/// What makes pods, each with the annotation in its own metadata alone.
const MAKERS: &str = "apiVersion: apps/v1
kind: KIND
metadata: {name: web, namespace: shop, annotations: {linkerd.io/inject: enabled}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web:1}]}
";
const CRON_JOB: &str = "apiVersion: batch/v1
kind: CronJob
metadata: {name: web, namespace: shop, annotations: {linkerd.io/inject: enabled}}
spec: {schedule: '0 4 * * *', jobTemplate: {spec: {template: {spec: {containers: [{name: web, image: web:1}]}}}}}
";

fn check(folder: &Path, more: &[&str]) -> Ran {
    let given = ["check", "--no-config", "--manifests", folder.to_str().unwrap(), "-o", "json"];
    ran(meshdoctor(&[&given, more].concat()))
}

/// Each finding of warning or above, with the file and the line of its object.
fn found(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap().iter().filter(|one| one["severity"] != "info");
    let each = findings.map(|finding| {
        let written = &finding["written"][0];
        let file = written["file"].as_str().unwrap_or_default().rsplit('/').next().unwrap();
        format!("{} {file}:{}", finding["check"].as_str().unwrap(), written["line"])
    });
    each.collect()
}

#[test]
fn unreadable_server_is_found_with_its_line() {
    let own = tempfile::tempdir().unwrap();
    write(own.path(), "server.yaml", SERVER);
    let base = concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/healthy.yaml");
    for more in [&["--linkerd-version", "2.19"][..], &["--bundle", base], &[]] {
        let ran = check(own.path(), more);
        let report = ran.document();
        // The webhook refuses it, so the policy controller never reads it.
        assert_eq!(found(&report), ["apply-refused server.yaml:4"], "{more:?}: {}", ran.err);
        assert_eq!(ran.status, 1, "{more:?}");
    }
    write(own.path(), "server.yaml", SERVER.replace("70000", "8080"));
    let ran = check(own.path(), &["--linkerd-version", "2.19"]);
    let report = ran.document();
    assert_eq!((ran.status, found(&report)), (0, vec![]), "{}", ran.err);
    let passed = report["checks"].as_array().unwrap().iter().filter(|check| check["outcome"] == "pass");
    let passed: Vec<&str> = passed.map(|check| check["id"].as_str().unwrap()).collect();
    assert!(passed.contains(&"policy-unreadable") && passed.contains(&"policy-ignored"), "{passed:?}");
}

#[test]
fn values_of_the_wrong_type_fail_the_run_whatever_is_accepted() {
    let own = tempfile::tempdir().unwrap();
    let route = "---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec:
  parentRefs: [{group: core, kind: Service, name: web, port: 80}]
  rules:
  - timeouts:
      request: 5
";
    let service = "---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  ports:
  - {port: eighty}
";
    write(own.path(), "a.yaml", format!("{route}{service}"));
    let base = concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/healthy.yaml");
    let accepting = ["--on-not-checked", "pass"];
    for more in [&["--linkerd-version", "2.19"][..], &["--bundle", base]] {
        let ran = check(own.path(), &[more, &accepting].concat());
        let wanted = ["apply-refused a.yaml:9", "apply-refused a.yaml:16"];
        assert_eq!((ran.status, found(&ran.document())), (1, wanted.map(str::to_owned).to_vec()), "{}", ran.err);
    }
    let file = own.path().join("a.yaml");
    let with = ["check", "--no-config", "-o", "json", "--bundle", base, "--complete", "all", "--linkerd-cli", "none"];
    let with = ran(meshdoctor(&[&with[..], &["--with", file.to_str().unwrap()], &accepting].concat()));
    let refused = found(&with.document()).into_iter().filter(|one| one.starts_with("apply-refused "));
    assert_eq!((with.status, refused.count()), (1, 2), "{}", with.err);
    // Another project's types may be wider than those that are read.
    let rollout = "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: web, namespace: shop}\nspec: {replicas: two}\n";
    write(own.path(), "a.yaml", rollout);
    let ran = check(own.path(), &["--linkerd-version", "2.19"]);
    assert_eq!((ran.status, found(&ran.document())), (4, vec![]), "{}", ran.err);
}

#[test]
fn invalid_values_are_refused_and_named_if_harmless() {
    let own = tempfile::tempdir().unwrap();
    let server = SERVER.replace("70000", "8080, accessPolicy: deny all");
    let egress = "apiVersion: policy.linkerd.io/v1alpha1
kind: EgressNetwork
metadata: {name: all, namespace: shop}
spec: {trafficPolicy: allow all}
";
    let route = "apiVersion: policy.linkerd.io/v1beta3
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec:
  parentRefs: [{kind: Server, group: policy.linkerd.io, name: web}]
  rules: [{matches: [{method: 'GET '}]}]
";
    let secret = server.replace("deny all", "Zq7kX2vB9mQ2 deny");
    for (text, value) in [
        (server.as_str(), "deny all"),
        (egress, "allow all"),
        (route, "GET "),
        (secret.as_str(), "a value of 17 characters (not shown)"),
    ] {
        write(own.path(), "a.yaml", text);
        let ran = check(own.path(), &["--linkerd-version", "2.20"]);
        let report = ran.document();
        let refused = found(&report).iter().any(|one| one.starts_with("apply-refused "));
        assert!(ran.status == 1 && refused, "{text}\n{report:#}");
        assert!(!report.to_string().contains("REDACTED"), "{report:#}");
        assert!(report.to_string().contains(value), "{value}: {report:#}");
        assert!(!report.to_string().contains("Zq7k"), "{report:#}");
    }
}

/// Pods that are simulated for workloads are not objects of the files.
#[test]
fn only_objects_of_the_files_are_counted() {
    let own = tempfile::tempdir().unwrap();
    let web = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 3, selector: \
               {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}, annotations: {linkerd.io/inject: enabled}}, \
               spec: {containers: [{name: app, image: app}]}}}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: web, \
               namespace: shop}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n";
    write(own.path(), "web.yaml", web);
    let ran = check(own.path(), &["--linkerd-version", "2.20"]);
    assert_eq!(ran.document()["coverage"]["objects"], 2, "{}", ran.err);
}

#[test]
fn rejected_server_on_top_of_a_cluster_fails_the_run() {
    let own = tempfile::tempdir().unwrap();
    write(own.path(), "server.yaml", SERVER);
    let base = concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/healthy.yaml");
    let with = own.path().to_str().unwrap();
    let ran = ran(meshdoctor(&["check", "--no-config", "--with", with, "--bundle", base, "-o", "json"]));
    let report = ran.document();
    assert!(found(&report).contains(&"apply-refused server.yaml:4".to_owned()), "{:?}", found(&report));
    assert_eq!(ran.status, 1, "{}", ran.err);
}

const APPLICATION: &str = "apiVersion: v1
kind: Namespace
metadata: {name: shop, annotations: {linkerd.io/inject: enabled}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      securityContext: {runAsUser: 2102}
      containers: [{name: web, image: web:1}]
";

#[test]
fn templates_of_applications_are_judged_without_the_injector() {
    let own = tempfile::tempdir().unwrap();
    write(own.path(), "web.yaml", APPLICATION);
    let ran = check(own.path(), &["--linkerd-version", "2.19"]);
    assert_eq!((ran.status, found(&ran.document())), (1, vec!["app-runs-as-proxy web.yaml:13".to_owned()]));
    write(own.path(), "web.yaml", APPLICATION.replace("2102", "1000"));
    let ran = check(own.path(), &["--linkerd-version", "2.19"]);
    assert_eq!((ran.status, found(&ran.document())), (0, vec![]));
}

#[test]
fn broken_file_does_not_affect_the_others() {
    let own = tempfile::tempdir().unwrap();
    write(own.path(), "web.yaml", APPLICATION.replace("2102", "1000"));
    write(own.path(), "broken.yaml", "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n   namespace: b\n");
    let ran = check(own.path(), &["--linkerd-version", "2.19"]);
    let report = ran.document();
    assert_eq!((ran.status, found(&report)), (4, vec![]), "{}", ran.err);
    let set_aside = report["coverage"]["setAside"].as_array().unwrap();
    assert!(set_aside.iter().any(|one| one.as_str().unwrap().contains("broken.yaml:5")), "{set_aside:?}");
    let checks = report["checks"].as_array().unwrap();
    assert!(checks.iter().filter(|check| check["outcome"] == "pass").count() > 10, "{checks:?}");
    write(own.path(), "web.yaml", APPLICATION);
    let ran = check(own.path(), &["--linkerd-version", "2.19"]);
    assert_eq!((ran.status, found(&ran.document())), (1, vec!["app-runs-as-proxy web.yaml:13".to_owned()]));
}

#[test]
fn set_without_anything_to_check_is_never_fine() {
    let own = tempfile::tempdir().unwrap();
    write(own.path(), "a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n");
    let ran = ran(meshdoctor(&["check", "--no-config", "--manifests", own.path().to_str().unwrap()]));
    assert_eq!(ran.status, 4, "{}", ran.err);
    assert!(ran.out.contains("NOTHING CHECKED") && !ran.out.contains("NO ERRORS"), "{}", ran.out);
}

#[test]
fn set_of_objects_that_no_check_judges_alone_is_never_fine() {
    let own = tempfile::tempdir().unwrap();
    for text in [
        "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: a, namespace: shop}\nspec: {podSelector: {}}\n",
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: a, namespace: shop}\nspec: {hard: {pods: \"3\"}}\n",
    ] {
        write(own.path(), "a.yaml", text);
        let ran = ran(meshdoctor(&["check", "--no-config", "--manifests", own.path().to_str().unwrap()]));
        assert_eq!(ran.status, 4, "{text} {}", ran.out);
        assert!(ran.out.contains("NOTHING CHECKED") && !ran.out.contains("NO ERRORS"), "{}", ran.out);
    }
}

#[test]
fn steps_for_manifests_name_files_instead_of_commands() {
    let own = tempfile::tempdir().unwrap();
    write(own.path(), "web.yaml", APPLICATION.replace("inject: enabled", "inject: enable").replace("2102", "1"));
    let ran = ran(meshdoctor(&["check", "--no-config", "--manifests", own.path().to_str().unwrap()]));
    assert_eq!(ran.status, 1, "{}", ran.err);
    assert!(ran.out.contains("web.yaml:3: Set linkerd.io/inject"), "{}", ran.out);
    assert!(!ran.out.contains("kubectl"), "{}", ran.out);
}

const POLICY: &str = "apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata: {name: api, namespace: shop}
spec: {podSelector: {matchLabels: {app: api}}, port: 8080}
---
apiVersion: policy.linkerd.io/v1alpha1
kind: AuthorizationPolicy
metadata: {name: api, namespace: shop}
spec:
  targetRef: {group: policy.linkerd.io, kind: Server, name: TARGET}
  requiredAuthenticationRefs: [{kind: ServiceAccount, name: web}]
";

#[test]
fn missing_target_among_others_of_the_namespace_is_found() {
    let own = tempfile::tempdir().unwrap();
    let found_for = |text: &str| {
        write(own.path(), "policy.yaml", text);
        found(&check(own.path(), &["--linkerd-version", "2.19"]).document())
    };
    assert_eq!(found_for(&POLICY.replace("TARGET", "apii")), ["policy-target-missing policy.yaml:10"]);
    assert_eq!(found_for(&POLICY.replace("TARGET", "api")), Vec::<String>::new());
    // Without any Server of the namespace, the target may exist elsewhere.
    let alone = POLICY.split_once("---\n").unwrap().1.replace("TARGET", "api");
    assert_eq!(found_for(&alone), Vec::<String>::new());
}

#[test]
fn annotations_in_values_of_other_charts_are_checked_without_objects() {
    let own = tempfile::tempdir().unwrap();
    let text = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: redis, namespace: argocd}
spec:
  source:
    repoURL: https://charts.example.com
    chart: redis
    helm:
      values: |
        podAnnotations: {linkerd.io/injected: enabled}
";
    write(own.path(), "redis.yaml", text);
    let ran = check(own.path(), &[]);
    assert_eq!(found(&ran.document()), ["annotation-unknown redis.yaml:10"]);
    assert_eq!(ran.status, 0);
    // The effect of the right key is not checked.
    write(own.path(), "redis.yaml", text.replace("injected", "inject"));
    let ran = check(own.path(), &[]);
    assert_eq!(found(&ran.document()), Vec::<String>::new());
    let set_aside = ran.document()["coverage"]["setAside"].to_string();
    assert!(set_aside.contains("Application argocd/redis") && set_aside.contains("redis.yaml:10"), "{set_aside}");
    assert_eq!(ran.status, 0);
}

#[test]
fn annotation_on_a_workload_is_found_without_its_namespace() {
    for kind in ["Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob"] {
        let own = tempfile::tempdir().unwrap();
        let object = match kind {
            "Job" => MAKERS.replace("apps/v1", "batch/v1").replace("KIND", kind),
            "CronJob" => CRON_JOB.to_owned(),
            _ => MAKERS.replace("KIND", kind),
        };
        write(own.path(), "web.yaml", &object);
        let ran = check(own.path(), &["--linkerd-version", "2.19"]);
        assert_eq!(found(&ran.document()), ["annotation-on-workload web.yaml:3"], "{kind}: {}", ran.err);
        // The namespace has it: then the copy on the workload changes nothing.
        let namespace =
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, annotations: {linkerd.io/inject: enabled}}\n";
        write(own.path(), "namespace.yaml", namespace);
        let ran = check(own.path(), &["--linkerd-version", "2.19"]);
        let ends = if kind.ends_with("Job") { vec!["job-proxy-not-ended web.yaml:1"] } else { Vec::new() };
        assert_eq!(found(&ran.document()), ends, "{kind}: {}", ran.err);
    }
}

#[test]
fn link_to_a_binary_is_skipped_and_named() {
    let own = tempfile::tempdir().unwrap();
    write(own.path(), "server.yaml", SERVER.replace("70000", "8080"));
    symlink(env!("CARGO_BIN_EXE_meshdoctor"), own.path().join("tool")).unwrap();
    let ran = check(own.path(), &["--linkerd-version", "2.19"]);
    let report = ran.document();
    assert_eq!(ran.status, 0, "{}", ran.err);
    let aside = report["coverage"]["setAside"].to_string();
    assert!(aside.contains("/tool: skipped"), "{aside}");
    // A dangling link with a name for objects is missing evidence.
    symlink("/nonexistent/web.yaml", own.path().join("web.yaml")).unwrap();
    let ran = check(own.path(), &["--linkerd-version", "2.19"]);
    assert_eq!(ran.status, 4, "{}", ran.err);
    let table = crate::binary::ran(meshdoctor(&["check", "--no-config", "--manifests", own.path().to_str().unwrap()]));
    assert!(table.out.contains("web.yaml"), "{}", table.out);
}

#[test]
fn set_of_templates_is_never_fine() {
    let own = tempfile::tempdir().unwrap();
    write(own.path(), "Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n");
    std::fs::create_dir(own.path().join("templates")).unwrap();
    let template = MAKERS.replace("KIND", "Deployment").replace("web,", "'{{ .Values.name }}',");
    write(&own.path().join("templates"), "web.yaml", template);
    write(own.path(), "config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop}\n");
    let ran = check(own.path(), &[]);
    assert_eq!(ran.status, 4, "{}\n{}", ran.out, ran.err);
    let table = crate::binary::ran(meshdoctor(&["check", "--no-config", "--manifests", own.path().to_str().unwrap()]));
    assert!(table.out.contains("helm template DIR") && !table.out.contains("NO ERRORS"), "{}", table.out);
}

#[test]
fn run_counts_the_checks_that_can_judge_manifests() {
    let own = tempfile::tempdir().unwrap();
    write(own.path(), "server.yaml", SERVER);
    let report = check(own.path(), &[]).document();
    let ids = report["checks"].as_array().unwrap().iter().map(|check| check["id"].as_str().unwrap());
    let ids: Vec<&str> = ids.collect();
    let needs_nodes = |id: &&str| {
        let needs = &meshdoctor::checks::find(id).unwrap().card().front.needs;
        needs.contains(&meshdoctor::item::Item::NodeFiles)
    };
    assert!(ids.len() > 40 && !ids.iter().any(needs_nodes), "{ids:?}");
    // A named check runs, and reports its missing evidence.
    let named = check(own.path(), &["--only", "cni-conf-none"]);
    assert!(matches!(named.status, 3 | 4), "{}", named.err);
}

/// A template of another kind than the built-in ones, with a misspelled annotation.
const OTHER_KINDS: [(&str, &str); 4] = [
    ("argoproj.io/v1alpha1", "Rollout"),
    ("apps.kruise.io/v1alpha1", "CloneSet"),
    ("apps.openshift.io/v1", "DeploymentConfig"),
    ("serving.knative.dev/v1", "Service"),
];
const OF_OTHER_KIND: &str = "apiVersion: API
kind: KIND
metadata: {name: web, namespace: shop}
spec:
  template:
    metadata:
      annotations: {linkerd.io/inject: enabled, config.linkerd.io/skip-inbound-port: \"80\"}
    spec: {containers: [{image: web:1}]}
";

#[test]
fn templates_of_other_kinds_are_judged_as_such() {
    let own = tempfile::tempdir().unwrap();
    for (api, kind) in OTHER_KINDS {
        write(own.path(), "web.yaml", OF_OTHER_KIND.replace("API", api).replace("KIND", kind));
        let ran = check(own.path(), &["--linkerd-version", "2.20"]);
        let report = ran.document();
        assert_eq!(found(&report), ["annotation-unknown web.yaml:7"], "{kind}: {}", ran.err);
        assert_eq!(report["findings"][0]["subjects"][0]["kind"], kind);
        let given = ["injection", "--no-config", "--linkerd-version", "2.20", "--manifests"];
        let injection = crate::binary::ran(meshdoctor(&[&given[..], &[own.path().to_str().unwrap()]].concat()));
        assert!(injection.out.contains(&format!("{kind} shop/web")), "{}", injection.out);
    }
}

#[test]
fn annotation_on_a_workload_of_another_kind_is_named() {
    let own = tempfile::tempdir().unwrap();
    let on_workload = "{name: web, namespace: shop, annotations: {linkerd.io/inject: disabled}}";
    let text = OF_OTHER_KIND.replace("{name: web, namespace: shop}", on_workload);
    let template = "annotations: {linkerd.io/inject: enabled, config.linkerd.io/skip-inbound-port: \"80\"}";
    let text = text.replace(template, "labels: {app: web}");
    for (api, kind) in OTHER_KINDS {
        write(own.path(), "web.yaml", text.replace("API", api).replace("KIND", kind));
        let report = check(own.path(), &["--linkerd-version", "2.20"]).document();
        assert_eq!(found(&report), ["annotation-on-workload web.yaml:3"], "{kind}");
        assert_eq!(report["findings"][0]["subjects"][0]["kind"], kind);
    }
}

#[test]
fn objects_of_other_kinds_with_pods_are_named() {
    let own = tempfile::tempdir().unwrap();
    let text = "apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: batch, namespace: shop}
spec: {replicatedJobs: [{template: {spec: {template: {spec: {containers: [{name: a, image: a:1}]}}}}}]}
";
    write(own.path(), "set.yaml", text);
    let ran = check(own.path(), &["--linkerd-version", "2.20"]);
    let set_aside = ran.document()["coverage"]["setAside"].to_string();
    assert!(set_aside.contains("JobSet shop/batch"), "{set_aside}");
    let given = ["injection", "--no-config", "--manifests", own.path().to_str().unwrap()];
    let injection = crate::binary::ran(meshdoctor(&given));
    assert_eq!(injection.status, 4, "{}", injection.err);
    assert!(!injection.out.contains("no workload creates pods here"), "{}", injection.out);
}

#[test]
fn annotation_that_is_no_string_is_named_and_the_rest_is_judged() {
    let own = tempfile::tempdir().unwrap();
    let text = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations:
        config.linkerd.io/skip-inbound-port: \"80\"
        config.linkerd.io/shutdown-grace-period: 60
    spec: {containers: [{name: web, image: web:1}]}
";
    write(own.path(), "web.yaml", text);
    let ran = check(own.path(), &["--linkerd-version", "2.20"]);
    let report = ran.document();
    let wanted =
        ["apply-refused web.yaml:11", "annotation-unknown web.yaml:10", "annotation-value-invalid web.yaml:11"];
    assert_eq!(found(&report), wanted, "{}", ran.err);
    let set_aside = report["coverage"]["setAside"].to_string();
    let wanted = "web.yaml:11: Deployment shop/web: \
                  spec.template.metadata.annotations[config.linkerd.io/shutdown-grace-period] is a number: put its value";
    assert!(set_aside.contains(wanted), "{set_aside}");
    write(own.path(), "web.yaml", text.replace("skip-inbound-port:", "skip-inbound-ports:"));
    let ran = check(own.path(), &["--linkerd-version", "2.20"]);
    let wanted = ["apply-refused web.yaml:11", "annotation-value-invalid web.yaml:11"].map(str::to_owned);
    assert_eq!((ran.status, found(&ran.document())), (1, wanted.to_vec()));
}

#[test]
fn objects_that_can_never_work_are_found_without_a_cluster() {
    let own = tempfile::tempdir().unwrap();
    for (text, wanted) in [
        (SERVER.replace("70000", "80").replace("{}", "{matchLabels: {app: 'a b!'}}"), "server-selects-nothing"),
        (
            SERVER.replace("70000", "80").replace("{}", "{matchExpressions: [{key: app, operator: In}]}"),
            "server-selects-nothing",
        ),
        (SERVER.replace("70000", "80, acessPolicy: deny"), "apply-refused"),
        (SERVER.replace("70000", "80").replace("v1beta3", "v1beta9"), "apply-refused"),
        (
            "apiVersion: linkerd.io/v1alpha2\nkind: ServiceProfile\nmetadata: {name: web, namespace: shop}\nspec: {}\n"
                .to_owned(),
            "profile-unused",
        ),
    ] {
        write(own.path(), "one.yaml", &text);
        let ran = check(own.path(), &["--linkerd-version", "2.20"]);
        let found = found(&ran.document());
        assert!(found.len() == 1 && found[0].starts_with(wanted), "{text}{found:?}");
    }
}

/// kubectl refuses these names; the object must not be skipped among others.
#[test]
fn names_that_are_not_strings_are_not_passed_over() {
    let own = tempfile::tempdir().unwrap();
    let text = "apiVersion: v1
kind: Service
metadata: {name: NAME, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}]}
";
    write(own.path(), "a.yaml", text.replace("NAME", "web"));
    for name in ["on", "007", "1_0", "8080", "no"] {
        write(own.path(), "b.yaml", text.replace("NAME", name));
        let ran = check(own.path(), &["--linkerd-version", "2.20"]);
        assert!(ran.status == 4 && ran.out.contains("b.yaml"), "{name} {}", ran.text());
    }
}

#[test]
fn plain_scalars_are_read_as_kubectl_reads_them() {
    let own = tempfile::tempdir().unwrap();
    let text = "apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
  labels: {canary: VALUE}
spec: {selector: {app: web}, ports: [{port: PORT}]}
";
    for value in ["yes", "y", "No", "OFF", "on", "0o17", "017", "1_000", "true", "7"] {
        write(own.path(), "web.yaml", text.replace("VALUE", value).replace("PORT", "80"));
        let ran = check(own.path(), &["--linkerd-version", "2.20"]);
        assert_eq!((ran.status, found(&ran.document())), (1, vec!["apply-refused web.yaml:6".to_owned()]), "{value}");
        assert!(ran.err.contains("metadata.labels[canary] is a "), "{value} {}", ran.err);
        for quoted in [format!("'{value}'"), format!("\"{value}\""), format!("!!str {value}")] {
            write(own.path(), "web.yaml", text.replace("VALUE", &quoted).replace("PORT", "80"));
            let ran = check(own.path(), &["--linkerd-version", "2.20"]);
            assert_eq!((ran.status, found(&ran.document())), (0, vec![]), "{quoted} {}", ran.err);
        }
    }
    // Ports in other notations of numbers.
    for (port, status) in [("0o120", 0), ("0120", 0), ("8_0", 0), ("0x50", 0), ("8O", 1), ("off", 1)] {
        write(own.path(), "web.yaml", text.replace("VALUE", "a").replace("PORT", port));
        let ran = check(own.path(), &["--linkerd-version", "2.20"]);
        assert_eq!(ran.status, status, "{port} {}", ran.text());
    }
    // kubectl cannot convert it.
    write(own.path(), "web.yaml", text.replace("VALUE", "a").replace("PORT", ".inf"));
    let ran = check(own.path(), &["--linkerd-version", "2.20"]);
    assert!(ran.status == 3 && ran.err.contains(".inf and .nan are not numbers of JSON"), "{}", ran.text());
    // JSON has its own rules.
    let json = r#"{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "shop",
        "labels": {"canary": "yes"}}, "spec": {"ports": [{"port": 80}]}}"#;
    std::fs::remove_file(own.path().join("web.yaml")).unwrap();
    write(own.path(), "web.json", json);
    let ran = check(own.path(), &["--linkerd-version", "2.20"]);
    assert_eq!((ran.status, found(&ran.document())), (0, vec![]), "{}", ran.err);
}

#[test]
fn valid_filters_of_routes_are_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let rule =
        |filters: &str| format!("  - matches: [{{path: {{type: PathPrefix, value: /}}}}]\n    filters: [{filters}]\n");
    let path = |kind: &str, field: &str| format!("path: {{type: {kind}, {field}: /api}}");
    let rules: String = [
        format!(
            "{{type: URLRewrite, urlRewrite: {{hostname: a.example, {}}}}}",
            path("ReplacePrefixMatch", "replacePrefixMatch")
        ),
        format!("{{type: URLRewrite, urlRewrite: {{{}}}}}", path("ReplaceFullPath", "replaceFullPath")),
        "{type: RequestMirror, requestMirror: {backendRef: {group: '', kind: Service, name: web, port: 80}}}"
            .to_owned(),
        "{type: ExtensionRef, extensionRef: {group: example.com, kind: Filter, name: f}}".to_owned(),
    ]
    .iter()
    .map(|filters| rule(filters))
    .collect();
    write(
        folder.path(),
        "route.yaml",
        format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: web, namespace: shop}}\nspec:\n  parentRefs: \
             [{{name: gateway}}]\n  rules:\n{rules}"
        ),
    );
    let ran = check(folder.path(), &[]);
    assert_eq!((found(&ran.document()), ran.status), (Vec::new(), 0), "{}", ran.err);
}

#[test]
fn pods_that_manifests_create_are_not_reported_as_unmeshed() {
    let folder = tempfile::tempdir().unwrap();
    let webhook = "apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: linkerd-proxy-injector-webhook-config, labels: {linkerd.io/control-plane-component: proxy-injector, linkerd.io/control-plane-ns: linkerd}}
webhooks:
- name: linkerd-proxy-injector.linkerd.io
  clientConfig: {service: {name: linkerd-proxy-injector, namespace: linkerd, path: /}}
  rules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods, services]}]
  admissionReviewVersions: [v1]
  sideEffects: None
";
    let namespace =
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, annotations: {linkerd.io/inject: enabled}}\n";
    let web = MAKERS.replace("KIND", "Deployment").replace(", annotations: {linkerd.io/inject: enabled}", "");
    write(folder.path(), "mesh.yaml", format!("{webhook}---\n{namespace}---\n{web}"));
    for more in [&[][..], &["--linkerd-version", "2.18"]] {
        let ran = check(folder.path(), more);
        assert_eq!((found(&ran.document()), ran.status), (Vec::new(), 0), "{}", ran.err);
    }
}

#[test]
fn target_that_differs_between_folders_is_not_missing() {
    let folder = tempfile::tempdir().unwrap();
    let server = |name: &str, port: u16| {
        format!(
            "apiVersion: policy.linkerd.io/v1beta3\nkind: Server\nmetadata: {{name: {name}, namespace: shop}}\nspec: {{podSelector: {{}}, port: \
             {port}}}\n"
        )
    };
    let policy = "apiVersion: policy.linkerd.io/v1alpha1
kind: AuthorizationPolicy
metadata: {name: web, namespace: shop}
spec:
  targetRef: {group: policy.linkerd.io, kind: Server, name: web}
  requiredAuthenticationRefs: [{kind: ServiceAccount, name: web}]
";
    write(folder.path(), "a/web.yaml", format!("{}---\n{policy}", server("web", 80)));
    write(folder.path(), "b/web.yaml", format!("{}---\n{}", server("web", 81), server("other", 82)));
    let ran = check(folder.path(), &[]);
    assert_eq!((found(&ran.document()), ran.status), (Vec::new(), 0), "{}", ran.err);
    write(folder.path(), "b/web.yaml", server("other", 82));
    write(folder.path(), "a/web.yaml", policy);
    assert!(found(&check(folder.path(), &[]).document())[0].contains("policy-target-missing"));
}

/// A misspelt kind in a group of Linkerd is never passed over; a kind of the Gateway API that is not known here is.
#[test]
fn unknown_kind_of_linkerd_is_named() {
    let own = tempfile::tempdir().unwrap();
    write(own.path(), "server.yaml", SERVER.replace("kind: Server", "kind: Servr").replace("70000", "80"));
    write(own.path(), "app.yaml", MAKERS.replace("KIND", "Deployment"));
    let ran = check(own.path(), &["--linkerd-version", "2.19"]);
    let aside = ran.document()["coverage"].to_string();
    assert!(aside.contains("kind Servr is unknown in policy.linkerd.io; did you mean Server?"), "{aside}");
    assert!(ran.err.contains("warning: not checked: 1 object of an unknown kind"), "{}", ran.err);
    let gateway = "apiVersion: gateway.networking.k8s.io/v1\nkind: ListenerSet\nmetadata: {name: a, namespace: shop}\n";
    write(own.path(), "server.yaml", gateway);
    let ran = check(own.path(), &["--linkerd-version", "2.19"]);
    assert!(!ran.document()["coverage"].to_string().contains("is unknown in"), "{}", ran.text());
}

/// Evidence quotes the value, the step has the correction, and the release names its source.
#[test]
fn refused_value_is_quoted_with_its_correction() {
    let own = tempfile::tempdir().unwrap();
    let server = SERVER.replace("70000", "80, proxyProtocol: HTTP/3");
    write(own.path(), "server.yaml", server);
    let report = check(own.path(), &["--linkerd-version", "2.18"]).document();
    let finding = &report["findings"][0];
    assert_eq!(finding["evidence"][0]["said"], "HTTP/3", "{finding}");
    assert!(finding["evidence"].to_string().contains("2.18 (edge-25.4.4), from --linkerd-version"), "{finding}");
    let steps = finding["remedy"]["steps"].to_string();
    assert!(steps.contains("Set spec.proxyProtocol to one of unknown, HTTP/1"), "{steps}");
}

#[test]
fn set_with_warnings_names_the_flag_that_fails_the_run() {
    let own = tempfile::tempdir().unwrap();
    write(own.path(), "app.yaml", MAKERS.replace("KIND", "Deployment"));
    let path = own.path().to_str().unwrap();
    let words = ["check", "--no-config", "--manifests", path, "--linkerd-version", "2.19"];
    let ran = ran(meshdoctor(&words));
    assert!(ran.status == 0 && ran.out.contains("--fail-on warning fails the run"), "{}", ran.text());
}
