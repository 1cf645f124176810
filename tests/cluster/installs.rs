//! Every release of Linkerd starts on a real API server, in every form its CLI renders, and has no findings,
//! live or from the bundle.

use serde_json::Value;

use crate::doctor::Doctor;
use crate::harness::binaries::kubernetes_version;
use crate::harness::kubeconfig::ADMIN;
use crate::harness::linkerd::manifests;
use crate::harness::{Cluster, Options};

#[test]
fn release_2_15_comes_up_in_every_shape() {
    every_shape("2.15");
}

#[test]
fn release_2_16_comes_up_in_every_shape() {
    every_shape("2.16");
}

#[test]
fn release_2_17_comes_up_in_every_shape() {
    every_shape("2.17");
}

#[test]
fn release_2_18_comes_up_in_every_shape() {
    every_shape("2.18");
}

#[test]
fn release_2_19_comes_up_in_every_shape() {
    every_shape("2.19");
}

#[test]
fn release_2_20_comes_up_in_every_shape() {
    every_shape("2.20");
}

/// The releases whose own CRDs include the routes of the Gateway API; later ones expect them to exist.
const DEFINES_ROUTES: [&str; 4] = ["2.15", "2.16", "2.17", "2.18"];

/// Releases whose documented Kubernetes range ends before the version of these tests, which gives an info.
const BEFORE_1_34: [&str; 4] = ["2.15", "2.16", "2.17", "2.18"];

/// Two clusters for each release: one that grows from the default install like a real one, and one in which
/// the CNI plugin replaces the init container from the start.
fn every_shape(release: &str) {
    if manifests().is_none() {
        return;
    }
    let grows: [(&[&str], usize); 5] = [
        (&["crds", "control-plane", "workloads"], 3),
        (&["control-plane-native-sidecar"], 3),
        (&["viz"], 3),
        (&["multicluster"], 3),
        // The last one, since its webhooks refuse further pods: nothing answers them.
        (&["control-plane-ha"], 9),
    ];
    let with_plugin: [(&[&str], usize); 1] = [(&["crds", "cni", "control-plane-cni", "workloads"], 3)];
    for shapes in [&grows[..], &with_plugin[..]] {
        let Some(mut cluster) = Cluster::start(Options::played()) else { return };
        cluster.add_nodes(3, &kubernetes_version());
        if !DEFINES_ROUTES.contains(&release) {
            cluster.install_gateway_api();
        }
        let mut has_viz = false;
        for (parts, control_plane) in shapes {
            has_viz |= parts.contains(&"viz");
            cluster.install(release, parts);
            assert_meshed(&cluster, release, parts, *control_plane);
            let doctor = Doctor::new(&cluster, ADMIN);
            let said = doctor.check_twice(&["--linkerd-cli", "none"], &["--fail-on", "warning"]);
            // tap's Service has no endpoint, so the API server cannot reach it; everything else is healthy.
            let tap = "viz-tap-api-unavailable";
            let mut aside = if said.outcomes()[tap] == "NotApplicable" { vec![] } else { vec![tap] };
            // The scrape jobs of this release's viz expect the port names of earlier control planes.
            if release == "2.19" && has_viz {
                let scrape = "viz-scrape-mismatch";
                assert_eq!(said.outcomes()[scrape], "Findings", "{release} with {parts:?}");
                aside.push(scrape);
            }
            said.assert_nothing_but(&aside, &format!("{release} with {parts:?}"));
            let newer = said.outcomes()["kubernetes-unsupported"] == "Findings";
            assert_eq!(newer, BEFORE_1_34.contains(&release), "{release} on {}", kubernetes_version());
        }
    }
}

/// The harness waits for pods; this asserts that they are the expected ones, all with a proxy.
fn assert_meshed(cluster: &Cluster, release: &str, parts: &[&str], control_plane: usize) {
    let pods = |namespace: &str| cluster.api.list(&format!("/api/v1/namespaces/{namespace}/pods"));
    let meshed = |pod: &&Value| pod.to_string().contains("\"name\":\"linkerd-proxy\"");
    for extension in ["viz", "multicluster"].into_iter().filter(|part| parts.contains(part)) {
        let pods = pods(&format!("linkerd-{extension}"));
        assert!(!pods.is_empty() && pods.iter().all(|pod| meshed(&pod)), "{release} with {parts:?}");
    }
    let (linkerd, shop) = (pods("linkerd"), pods("shop"));
    let counts = (linkerd.iter().filter(meshed).count(), shop.iter().filter(meshed).count());
    assert_eq!(counts, (control_plane, shop.len()), "{release} with {parts:?}");
    assert!(!shop.is_empty(), "{release} with {parts:?}: no workload runs");
    let daemons = pods("linkerd-cni").len();
    assert_eq!(daemons, if parts.contains(&"cni") { 3 } else { 0 }, "{release} with {parts:?}");
}
