//! All releases in order on one server, and one upgrade across all of them. A rehearsal's prediction is
//! compared with the findings after the newer release's own manifests are applied in the order of an upgrade:
//! CRDs, control plane, data plane. No finding is missed, and none is predicted wrongly.

use std::collections::BTreeSet;
use std::path::Path;

use meshdoctor::finding::{Severity, When};
use meshdoctor::render::document::Finding;
use serde_json::{Value, json};

use crate::doctor::{Doctor, Ran};
use crate::harness::api::text;
use crate::harness::binaries::kubernetes_version;
use crate::harness::kubeconfig::ADMIN;
use crate::harness::linkerd::{injected, manifests, trust};
use crate::harness::objects::{ObjectSet, rank};
use crate::harness::{Cluster, Options};

/// Common arguments: no release is installed with the CLI of this machine.
const BASE: [&str; 5] = ["--linkerd-cli", "none", "--on-not-checked=pass", "--fail-on", "never"];
/// Checks that only a rehearsal runs.
const REHEARSAL: &str = "upgrades";
/// The check whose findings the plan fixes before the control plane is upgraded.
const DONE_BEFORE: &str = "crd-missing";
/// The definitions of a server.
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GATEWAY_API: &str = ".gateway.networking.k8s.io";
/// The last release whose charts include the Gateway API; later CLIs still install it.
const LAST_WITH_GATEWAY_API: &str = "2.18";
const CREATED_BY: &str = "linkerd.io/created-by";
/// Values with a relevant default, named as in the chart and the injector.
const DEFAULTS: [&str; 2] = ["proxy.nativeSidecar", "proxyInit.iptablesMode"];

/// The tool of an upgrade.
#[derive(Clone, Copy, PartialEq)]
enum By {
    Cli,
    Helm,
}

impl By {
    /// Marks an object as the tool does.
    fn owns(self, object: &mut Value) {
        if self == By::Cli {
            return;
        }
        let release = if object["kind"] == "CustomResourceDefinition" { "linkerd-crds" } else { "linkerd" };
        let meta = &mut object["metadata"];
        if let Some(by) = meta["annotations"][CREATED_BY].as_str() {
            meta["annotations"][CREATED_BY] = json!(by.replace("linkerd/cli", "linkerd/helm"));
        }
        meta["annotations"]["meta.helm.sh/release-name"] = json!(release);
        meta["annotations"]["meta.helm.sh/release-namespace"] = json!("linkerd");
        meta["labels"]["app.kubernetes.io/managed-by"] = json!("Helm");
    }

    /// The definitions that the tool applies. The CLI reinstalls the Gateway API if it installed it before.
    fn brings(self, release: &Release, there: &[Value]) -> Vec<Value> {
        let own = |one: &&Value| {
            name(one).ends_with(GATEWAY_API)
                && text(&one["metadata"]["annotations"], CREATED_BY).starts_with("linkerd/cli")
        };
        let mut brought = release.crds.clone();
        let has = brought.iter().any(|one| name(one).ends_with(GATEWAY_API));
        if self == By::Cli && !has && there.iter().any(|one| own(&one)) {
            let folder = manifests().expect("looked for before");
            let last = Release::read(&folder, LAST_WITH_GATEWAY_API);
            brought.extend(last.crds.into_iter().filter(|one| name(one).ends_with(GATEWAY_API)));
        }
        brought.iter_mut().for_each(|object| self.owns(object));
        brought
    }

    /// Whether the tool keeps a definition that it no longer installs.
    fn keeps(self, definition: &Value) -> bool {
        self == By::Cli || definition["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
    }
}

fn name(object: &Value) -> &str {
    text(&object["metadata"], "name")
}

/// The versions that definitions serve.
fn versions(definitions: &[Value]) -> BTreeSet<(String, String)> {
    let served = |one: &Value| {
        let versions = one["spec"]["versions"].as_array().into_iter().flatten();
        let served = versions.filter(|version| version["served"] == true);
        served.map(|version| (name(one).to_owned(), text(version, "name").to_owned())).collect::<Vec<_>>()
    };
    definitions.iter().flat_map(served).collect()
}

/// A release as its CLI prints it.
struct Release {
    name: &'static str,
    version: String,
    crds: Vec<Value>,
    control_plane: Vec<Value>,
    workloads: Vec<Value>,
    values: serde_yaml::Value,
}

impl Release {
    fn read(folder: &Path, name: &'static str) -> Release {
        let read = |part: &str| ObjectSet::read(&folder.join(name).join(format!("{part}.yaml"))).objects;
        let control_plane = injected(name, read("control-plane"));
        let config = control_plane.iter().find(|object| is_object(object, "ConfigMap", "linkerd-config")).unwrap();
        let values: serde_yaml::Value = serde_yaml::from_str(text(&config["data"], "values")).unwrap();
        Release {
            name,
            version: values["linkerdVersion"].as_str().unwrap().to_owned(),
            crds: read("crds"),
            workloads: injected(name, read("workloads")),
            control_plane,
            values,
        }
    }

    fn anchors(&self) -> &str {
        self.values["identityTrustAnchorsPEM"].as_str().unwrap()
    }

    /// Its objects for a mesh that keeps its identity, as in an upgrade.
    fn keeping_identity_of(&self, first: &Release) -> (Vec<Value>, Vec<Value>) {
        let kept = |object: &Value| {
            is_object(object, "Secret", "linkerd-identity-issuer")
                || is_object(object, "ConfigMap", "linkerd-identity-trust-roots")
        };
        let mut control_plane: Vec<Value> = self.control_plane.iter().filter(|object| !kept(object)).cloned().collect();
        let mut workloads = self.workloads.clone();
        control_plane.iter_mut().chain(&mut workloads).for_each(|object| trust(object, first.anchors()));
        let mut values = self.values.clone();
        values["identityTrustAnchorsPEM"] = first.values["identityTrustAnchorsPEM"].clone();
        values["identity"]["issuer"]["tls"] = first.values["identity"]["issuer"]["tls"].clone();
        for config in control_plane.iter_mut().filter(|object| is_object(object, "ConfigMap", "linkerd-config")) {
            config["data"]["values"] = json!(serde_yaml::to_string(&values).unwrap());
        }
        (control_plane, workloads)
    }

    fn value(&self, path: &str) -> Option<String> {
        let value = path.split('.').try_fold(&self.values, |value, key| value.get(key))?;
        serde_yaml::to_string(value).ok().map(|text| text.trim().to_owned())
    }
}

fn is_object(object: &Value, kind: &str, name: &str) -> bool {
    object["kind"] == kind && object["metadata"]["name"] == name
}

/// Findings as lines, without infos.
fn lines(ran: &Ran, of: impl Fn(&Finding) -> bool) -> BTreeSet<String> {
    let findings = ran.document.findings.iter().filter(|finding| finding.severity > Severity::Info);
    findings
        .filter(|finding| of(finding))
        .flat_map(|finding| {
            finding.subjects.iter().map(|about| {
                let subject = about.subject().0.to_string();
                let subject = subject.split(" (").next().unwrap_or_default();
                format!("{} {} {subject}", finding.severity, finding.check)
            })
        })
        .collect()
}

/// Names of the objects in a check's predicted findings.
fn subjects(ran: &Ran, check: &str) -> BTreeSet<String> {
    let of = ran.document.findings.iter().filter(|finding| finding.check == check && finding.when.begins());
    of.flat_map(|finding| &finding.subjects)
        .map(|about| about.subject().0.to_string().rsplit(' ').next().unwrap_or_default().to_owned())
        .collect()
}

/// Appends the differences between the prediction and the result.
fn compare(wrong: &mut Vec<String>, what: &str, foreseen: &BTreeSet<String>, came: &BTreeSet<String>) {
    let each = foreseen.difference(came).map(|line| format!("{what}: foreseen, did not come: {line}"));
    wrong.extend(each.chain(came.difference(foreseen).map(|line| format!("{what}: came, not foreseen: {line}"))));
}

/// Upgrades a server from `from` to `to` and reports wrong predictions.
fn hop(
    (cluster, doctor): (&mut Cluster, &Doctor),
    by: By,
    (first, from, to): (&Release, &Release, &Release),
) -> Vec<String> {
    let mut wrong = Vec::new();
    let way = format!("{} to {}", from.name, to.name);
    let what = |of: &str| format!("{way}, {of}");
    let words = [&["--to", to.version.as_str()][..], &BASE].concat();
    let foreseen = doctor.check(&words);

    // CRDs: those of the new release that are missing or lack a version; those that no release manages any
    // more, and those that Helm deletes; and those that the server refuses.
    let there = cluster.api.list(DEFINITIONS);
    let crds = by.brings(to, &there);
    let served = versions(&there);
    let lacks = |one: &&Value| !versions(std::slice::from_ref(*one)).is_subset(&served);
    let own = crds.iter().filter(|one| !name(one).ends_with(GATEWAY_API));
    let missing: BTreeSet<String> = own.filter(lacks).map(|one| name(one).to_owned()).collect();
    compare(&mut wrong, &what("missing CRDs"), &subjects(&foreseen, DONE_BEFORE), &missing);
    let brought: BTreeSet<&str> = crds.iter().map(name).collect();
    let linkerds = |one: &&Value| !text(&one["metadata"]["annotations"], CREATED_BY).is_empty();
    let left = there.iter().filter(linkerds).filter(|one| !brought.contains(name(one)));
    let (kept, gone): (Vec<&Value>, Vec<&Value>) = left.partition(|one| by.keeps(one));
    let of = |some: &[&Value]| some.iter().map(|one| name(one).to_owned()).collect::<BTreeSet<_>>();
    // CRDs that an earlier upgrade left are unmanaged already.
    let begins = by.brings(from, &there).iter().any(|one| name(one).ends_with(GATEWAY_API));
    let orphans = if begins { of(&kept) } else { BTreeSet::new() };
    let deleted = subjects(&foreseen, "upgrade-deletes-gateway-api");
    compare(&mut wrong, &what("deleted CRDs"), &deleted, &of(&gone));
    let said: BTreeSet<String> =
        subjects(&foreseen, "upgrade-orphans-gateway-api").difference(&deleted).cloned().collect();
    compare(&mut wrong, &what("orphaned CRDs"), &said, &orphans);
    let refused = crds.iter().filter(|one| cluster.api.try_apply(one).is_err());
    let refused: BTreeSet<String> = refused.map(|one| name(one).to_owned()).collect();
    // The Gateway API has an upgrade of its own.
    compare(&mut wrong, &what("refused CRDs"), &BTreeSet::new(), &refused);
    for one in gone {
        cluster.api.delete(&format!("{DEFINITIONS}/{}", name(one)));
    }

    // Values whose default is another one, as the manifests have them.
    let changed: BTreeSet<String> = DEFAULTS
        .into_iter()
        .filter(|path| from.value(path).unwrap_or_default() != to.value(path).unwrap_or_default())
        .map(str::to_owned)
        .collect();
    let said: BTreeSet<String> = foreseen
        .document
        .findings
        .iter()
        .filter(|finding| finding.check == "upgrade-changes-default" && finding.severity > Severity::Info)
        .filter_map(|finding| finding.message.strip_prefix("The default of ")?.split(' ').next())
        .map(str::to_owned)
        .collect();
    compare(&mut wrong, &what("changed defaults"), &said, &changed);

    // The control plane: the findings match the prediction.
    let (mut control_plane, workloads) = to.keeping_identity_of(first);
    control_plane.iter_mut().for_each(|object| by.owns(object));
    cluster.apply_in_order(&control_plane);
    let then = lines(&foreseen, |finding| {
        !finding.when.ends()
            && finding.category.as_deref() != Some(REHEARSAL)
            && (finding.check != DONE_BEFORE || finding.when != When::AfterUpgrade)
            // A deleted CRD is reported as such, and explains other findings about the Gateway API.
            && (deleted.is_empty() || !finding.check.starts_with("gateway-api"))
    });
    // Five upgrades within a minute cause this finding in the test.
    let settled = |finding: &Finding| finding.check != "control-plane-churning";
    let came = lines(&doctor.check(&BASE), settled);
    compare(&mut wrong, &what("with the new control plane"), &then, &came);

    // The data plane: the same findings remain, except for data-plane-skew.
    cluster.apply_in_order(&workloads);
    let stays = lines(&doctor.check(&BASE), settled);
    let left: BTreeSet<String> = then.into_iter().filter(|line| !line.contains("data-plane-skew")).collect();
    compare(&mut wrong, &what("with the new data plane"), &left, &stays);
    wrong
}

fn walk(by: By, way: &[&'static str]) {
    let Some(folder) = manifests() else { return };
    let Some(mut cluster) = Cluster::start(Options::played()) else { return };
    cluster.add_nodes(1, &kubernetes_version());
    let releases: Vec<Release> = way.iter().map(|name| Release::read(&folder, name)).collect();
    let mut first = [releases[0].crds.clone(), releases[0].control_plane.clone()].concat();
    first.iter_mut().for_each(|object| by.owns(object));
    first.extend(releases[0].workloads.clone());
    first.sort_by_key(rank);
    cluster.apply_in_order(&first);
    let doctor = Doctor::new(&cluster, ADMIN);
    let mut wrong = Vec::new();
    for pair in releases.windows(2) {
        wrong.extend(hop((&mut cluster, &doctor), by, (&releases[0], &pair[0], &pair[1])));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_next_release_brings_what_was_foreseen_of_it() {
    walk(By::Cli, &["2.15", "2.16", "2.17", "2.18", "2.19", "2.20"]);
}

#[test]
fn a_jump_over_all_releases_brings_what_was_foreseen_of_it() {
    walk(By::Helm, &["2.15", "2.20"]);
}

/// The release whose chart has Helm keep the Gateway API on the way to one whose chart lacks it.
#[test]
fn what_helm_keeps_of_the_gateway_api_was_foreseen() {
    walk(By::Helm, &["2.17", "2.18", "2.19"]);
}

/// Routes stored in a version that the Gateway API of the target lacks: the server refuses its definition, until they are stored
/// again.
#[test]
fn what_the_server_refuses_of_the_gateway_api_was_foreseen() {
    let Some(folder) = manifests() else { return };
    let Some(cluster) = Cluster::start(Options::still()) else { return };
    let Some(gateway_api) = cluster.gateway_api() else { return };
    let from = Release::read(&folder, "2.17");
    for object in from.crds.iter().chain(&from.control_plane) {
        cluster.api.apply(object);
    }
    let doctor = Doctor::new(&cluster, ADMIN);
    let check = "upgrade-needs-storage-migration";
    let words = [&["--to", "2.20", "--only", check][..], &BASE].concat();
    let foreseen = subjects(&doctor.check(&words), check);
    let refused = |cluster: &Cluster| -> BTreeSet<String> {
        let each = gateway_api.iter().filter(|definition| cluster.api.try_apply(definition).is_err());
        each.map(|definition| name(definition).to_owned()).collect()
    };
    assert_eq!(foreseen, refused(&cluster));
    assert!(!foreseen.is_empty(), "GRPCRoutes of 2.17 are stored as v1alpha2");

    // The definitions of 2.18 store v1; the earlier version is removed from the status once every object is
    // stored again.
    let next = Release::read(&folder, "2.18");
    next.crds.iter().for_each(|definition| cluster.api.apply(definition));
    for name in &foreseen {
        let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
        cluster.api.set_status(&path, &json!({ "storedVersions": ["v1"] }));
    }
    assert_eq!(subjects(&doctor.check(&words), check), BTreeSet::new());
    assert_eq!(refused(&cluster), BTreeSet::new());
}
