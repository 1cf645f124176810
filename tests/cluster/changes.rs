//! The predicted effects of a change on a live cluster match the effects after it is applied: none is missed,
//! and none is predicted wrongly.

use std::collections::BTreeSet;
use std::path::Path;

use meshdoctor::finding::When;

use crate::doctor::{Doctor, Ran};
use crate::harness::binaries::kubernetes_version;
use crate::harness::kubeconfig::ADMIN;
use crate::harness::linkerd::{injected, manifests};
use crate::harness::objects::ObjectSet;
use crate::harness::{Cluster, Options};

const RELEASE: &str = "2.18";

/// A misspelled key, and a Server that authorizes no client.
const TROUBLE: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata: {name: report, namespace: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: report}}
  template:
    metadata:
      labels: {app: report}
      annotations: {linkerd.io/inject: enabled, config.linkerd.io/proxy-native-sidecar: "true"}
    spec: {containers: [{name: app, image: "registry.example.com/report:1", ports: [{name: http, containerPort: 8080}]}]}
---
apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata: {name: report-http, namespace: shop}
spec: {podSelector: {matchLabels: {app: report}}, port: http}
"#;

/// The findings selected by `of`, as lines.
fn lines(ran: &Ran, of: impl Fn(When) -> bool) -> BTreeSet<String> {
    let findings = ran.document.findings.iter().filter(|finding| of(finding.when));
    let line = |finding: &meshdoctor::render::document::Finding| {
        let subjects: Vec<String> = finding
            .subjects
            .iter()
            .map(|about| about.subject().0.to_string().split(" (").next().unwrap().to_owned())
            .collect();
        format!("{} {} {}", finding.severity, finding.check, subjects.join(", "))
    };
    findings.map(line).collect()
}

fn foreseen_as_it_comes(cluster: &mut Cluster, doctor: &Doctor, paths: &[&Path], aside: &[&str]) -> BTreeSet<String> {
    let base = ["--linkerd-cli", "none", "--on-not-checked=pass", "--fail-on", "never"];
    let given = paths.iter().flat_map(|path| ["--with", path.to_str().unwrap()]);
    let words: Vec<&str> = base.into_iter().chain(given).collect();
    let foreseen = doctor.check(&words);
    let brought = lines(&foreseen, When::begins);
    let then = lines(&foreseen, |when| !when.ends());
    for path in paths {
        // Nothing answers webhooks here.
        cluster.apply_in_order(&injected(RELEASE, ObjectSet::read(path).objects));
    }
    cluster.wait_until_ready();
    let came = lines(&doctor.check(&base), |_| true);
    let apart = |lines: BTreeSet<String>| -> BTreeSet<String> {
        lines.into_iter().filter(|line| !aside.iter().any(|check| line.contains(check))).collect()
    };
    assert_eq!(apart(then), apart(came), "{paths:?}");
    brought
}

#[test]
fn what_a_change_is_said_to_bring_is_what_it_brings() {
    let Some(folder) = manifests() else { return };
    let Some(mut cluster) = Cluster::start(Options::played()) else { return };
    cluster.add_nodes(3, &kubernetes_version());
    cluster.install(RELEASE, &["crds", "control-plane", "workloads"]);
    let doctor = Doctor::new(&cluster, ADMIN);
    let own = doctor.file("trouble.yaml");
    std::fs::write(&own, TROUBLE).unwrap();
    let brought = foreseen_as_it_comes(&mut cluster, &doctor, &[&own], &[]);
    let checks: Vec<&str> = brought.iter().map(|line| line.split(' ').nth(1).unwrap()).collect();
    assert_eq!(checks, ["server-without-authorization", "native-sidecar-key-misspelled"], "{brought:?}");
    // An extension as its release prints it. Nothing runs behind tap's Service here, which no manifest shows.
    let viz = folder.join(RELEASE).join("viz.yaml");
    let brought = foreseen_as_it_comes(&mut cluster, &doctor, &[&viz], &["viz-tap-api-unavailable"]);
    assert!(brought.iter().all(|line| line.starts_with("info ")), "{brought:?}");
    // The next release, as its CLI prints it.
    let next = folder.join("2.19");
    let (crds, control_plane) = (next.join("crds.yaml"), next.join("control-plane.yaml"));
    let brought = foreseen_as_it_comes(&mut cluster, &doctor, &[&crds, &control_plane], &["viz-tap-api-unavailable"]);
    assert!(brought.iter().any(|line| line.starts_with("info data-plane-skew")), "{brought:?}");
    // The scrape jobs of viz expect the port names of the earlier control plane.
    let loud: Vec<&String> = brought.iter().filter(|line| !line.starts_with("info ")).collect();
    assert_eq!(loud, ["warning viz-scrape-mismatch ConfigMap linkerd-viz/prometheus-config"], "{brought:?}");
}
