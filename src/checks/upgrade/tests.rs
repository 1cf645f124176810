use super::Options;
use super::charts::by_helm;
use super::cli::{RenderedTo, by_cli, guarded};
use crate::command::linkerd;
use crate::knowledge::Knowledge;
use crate::model::managed_by::Release;
use crate::version::LinkerdVersion;

fn edge() -> LinkerdVersion {
    "edge-25.4.4".parse().expect("a version")
}

#[test]
fn cli_upgrade_is_guarded_by_its_release() {
    let upgrade = linkerd().control_plane("mesh").words("upgrade");
    let line =
        by_cli(upgrade, &Options::none().set("clusterNetworks", "10.0.0.0/8,fd00::/8"), None, RenderedTo::Cluster);
    let said = guarded(Some(&edge()), line).to_string();
    assert_eq!(
        said,
        "linkerd version --client --short | grep -Fx edge-25.4.4 && \
         linkerd -L mesh upgrade \
         --set 'clusterNetworks=10.0.0.0/8\\,fd00::/8' | kubectl apply -f -"
    );
}

#[test]
fn helm_upgrades_the_release_that_is_there_at_its_own_version() {
    let release = Release { name: "mesh", namespace: "ops" };
    let said = by_helm(Knowledge::embedded(), release, Some(&edge()), &Options::none().ha()).to_string();
    assert!(said.contains("helm repo add linkerd-edge https://helm.linkerd.io/edge --force-update"), "{said}");
    assert!(said.contains("helm list -n ops --filter '^mesh$'"), "{said}");
    assert!(
        said.contains("helm upgrade mesh linkerd-edge/linkerd-control-plane -n ops --version \"$CHART\""),
        "{said}"
    );
    let of = |version: &str| {
        let version = version.parse().expect("a version");
        by_helm(Knowledge::embedded(), release, Some(&version), &Options::none().set("proxy.cores", "2"))
    };
    let enterprise = of("enterprise-2.17.0").to_string();
    assert!(
        enterprise.contains("helm repo add linkerd-buoyant https://helm.buoyant.cloud --force-update")
            && enterprise.contains("helm upgrade mesh linkerd-buoyant/linkerd-enterprise-control-plane -n ops")
            && enterprise.contains("--set linkerd-control-plane.proxy.cores=2"),
        "{enterprise}"
    );
    // The chart of an unknown vendor.
    assert_eq!(of("2.17.0").placeholders(), ["CONTROL_PLANE_CHART"]);
}
