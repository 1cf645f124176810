//! Kinds that no check reads are named: a complete dump of broken policies is not reported as fully checked,
//! and the names are kept in saved bundles.

use std::fs;
use std::path::Path;

use meshdoctor::checks::{self, Check, Settings};
use meshdoctor::collect::{Collected, Options, collect_now};
use meshdoctor::item::Kind;
use meshdoctor::knowledge::Knowledge;
use meshdoctor::policy::{self, Policy};
use meshdoctor::render::{self, Look};
use meshdoctor::report::{Question, Report, judge};
use meshdoctor::save::{ClosingEntries, Writer};
use meshdoctor::source::bundle::Bundle;
use meshdoctor::source::{Completeness, Source};
use serde_json::{Value, json};

use crate::dumps::{kubectl_list, open};

fn selected() -> Vec<&'static Check> {
    checks::all().filter(|check| check.card().front.modes.contains(&Settings::default().mode)).collect()
}

fn collected<S: Source>(source: &S) -> Collected {
    collect_now(source, &policy::run_items(&selected()), &Options::default(), None)
}

fn report(source: &impl Source, collected: &Collected) -> Report {
    let question = Question {
        checks: &selected(),
        policy: &Policy::default(),
        settings: &Settings::default(),
        knowledge: Knowledge::embedded(),
        origin: source.origin(),
        change: None,
    };
    judge(&question, collected)
}

fn object(api_version: &str, kind: &str, name: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"namespace": "shop", "name": name},
        "spec": {"podSelector": {"matchLabels": {"app": "nothing-has-this"}}, "targetRef": {"kind": "Nothing"}}})
}

fn definition(name: &str) -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name}, "spec": {}})
}

fn dump(folder: &Path, items: &[Value]) -> std::path::PathBuf {
    let path = folder.join("cluster.json");
    fs::write(&path, kubectl_list(items).to_string()).unwrap();
    path
}

/// `gateways.gateway.networking.k8s.io 2`; `-` if the count is unknown.
fn unread_kinds(report: &Report) -> Vec<String> {
    let kinds = report.coverage.unread.iter();
    kinds
        .map(|kind| match kind.objects {
            Some(objects) => format!("{} {objects}", kind.resource),
            None => format!("{} -", kind.resource),
        })
        .collect()
}

#[test]
fn broken_policies_in_a_complete_dump_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let items = [
        object("gateway.networking.k8s.io/v1", "Gateway", "web"),
        object("gateway.networking.k8s.io/v1beta1", "Gateway", "api"),
        object("gateway.networking.k8s.io/v1beta1", "ReferenceGrant", "web"),
        object("networking.k8s.io/v1", "NetworkPolicy", "read"),
        object("policy.linkerd.io/v1alpha1", "ConcurrencyLimitPolicy", "web"),
        // Another group's kind of the same name, and one that has nothing to do with a mesh.
        object("example.com/v1", "Gateway", "web"),
        object("autoscaling/v2", "HorizontalPodAutoscaler", "web"),
        definition("gatewayclasses.gateway.networking.k8s.io"),
    ];
    let path = dump(folder.path(), &items);
    // The same file twice adds no objects.
    let again = folder.path().join("again.json");
    fs::copy(&path, &again).unwrap();
    let expected = [
        "concurrencylimitpolicies.policy.linkerd.io 1",
        "gateways.gateway.networking.k8s.io 2",
        "referencegrants.gateway.networking.k8s.io 1",
    ];
    let evidence = open(&[&path, &again], Completeness::All).unwrap();
    let whole = collected(&evidence);
    let judged = report(&evidence, &whole);
    assert_eq!(unread_kinds(&judged), expected, "a complete dump shows that no GatewayClasses exist");
    let table = render::table::report(&judged, Look::plain(100));
    assert!(table.contains("read by no check: ") && table.contains("2 Gateways"), "{table}");
    let full = render::table::report(&judged, Look { coverage: true, ..Look::plain(100) });
    assert!(full.contains("gateways.gateway.networking.k8s.io (2 objects)"), "{full}");

    // Saved and read again, it is the same.
    let saved = folder.path().join("bundle.tar.gz");
    let writer = Writer::create(&saved).unwrap();
    let whole = collect_now(&evidence, &policy::run_items(&selected()), &Options::default(), Some(&writer));
    writer.finish(ClosingEntries::new(&whole, None, None)).unwrap();
    let bundle = Bundle::load(&saved).unwrap();
    assert_eq!(unread_kinds(&report(&bundle, &collected(&bundle))), expected);
}

#[test]
fn what_is_served_may_be_there_unless_a_dump_says_that_it_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let items = [definition("gateways.gateway.networking.k8s.io"), definition("widgets.example.com")];
    let path = dump(folder.path(), &items);
    let some = open(&[&path], Completeness::Unstated).unwrap();
    let expected = ["gateways.gateway.networking.k8s.io -"];
    assert_eq!(unread_kinds(&report(&some, &collected(&some))), expected);
    let all = open(&[&path], Completeness::All).unwrap();
    assert!(unread_kinds(&report(&all, &collected(&all))).is_empty());
}

#[test]
fn a_kind_that_is_listed_as_unread_is_one_that_no_check_needs() {
    let needed = policy::items(&checks::all().collect::<Vec<_>>());
    let needed: Vec<Kind> = needed.iter().filter_map(|item| item.kind()).collect();
    for unread in Knowledge::embedded().unread().kinds() {
        assert!(needed.iter().all(|kind| kind.resource() != unread.resource), "{}", unread.resource);
    }
}
