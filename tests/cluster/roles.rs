//! Least privilege: the purpose of each right in the documented role. If one is removed, exactly the checks
//! whose cards name that evidence are affected; those that need it report this, and none of them passes.

use std::collections::BTreeSet;

use meshdoctor::card::Mode;
use meshdoctor::checks;
use meshdoctor::demo::{self, DemoState};
use meshdoctor::docgen;
use meshdoctor::item::{Item, Kind, Scope};
use meshdoctor::policy;
use meshdoctor::render::document::{Finding, Outcome};
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::doctor::{Doctor, Ran};
use crate::harness::api::Api;
use crate::staged::{READER, Staged};
use crate::stories::documented_rules;

#[test]
fn a_missing_right_touches_what_it_is_for() {
    // Between them, most checks find something or look and find nothing.
    for name in ["cni-unauthorized", "injector-fails-open"] {
        let Some(mut staged) = Staged::new(demo::find(name).unwrap(), DemoState::Before) else { return };
        let reader = Doctor::new(&staged.cluster, READER);
        let rules = documented_rules();
        staged.cluster.grant(READER, &rules);
        let whole = staged.check(&reader, &["--fail-on", "never"]);
        assert_eq!(whole.status, 0, "{name}: {:#?}", whole.document.coverage.gaps);
        for (items, rest) in without_each(&rules) {
            staged.cluster.grant(READER, &rest);
            let less = staged.check(&reader, &["--fail-on", "never"]);
            let undefined =
                items.iter().any(|item| matches!(item, Item::List(kind) if !serves(&staged.cluster.api, *kind)));
            assert_touched(&format!("{name} without {items:?}"), &items, undefined, &whole, &less);
        }
        // Findings at the gate come before what could not be looked at.
        staged.cluster.grant(READER, &rules_without(&rules, "discovery.k8s.io", "endpointslices", None));
        let less = staged.check(&reader, &[]);
        assert_eq!((less.status, less.document.coverage.gaps.is_empty()), (1, false), "{name}");
    }
}

#[test]
fn the_role_of_some_checks_suffices_for_them() {
    let Some(mut staged) = Staged::new(demo::find("injector-fails-open").unwrap(), DemoState::Before) else {
        return;
    };
    let reader = Doctor::new(&staged.cluster, READER);
    for chosen in ["annotations", "certificates", "injection", "policy", "versions"] {
        let checks: Vec<_> = checks::all().filter(|check| check.card().front.category == chosen).collect();
        let role = docgen::role_of(&checks, false, None, None);
        let role: Value = serde_yaml::from_str(&role).unwrap();
        staged.cluster.grant(READER, &role["rules"]);
        let ran = staged.check(&reader, &["--only", chosen, "--fail-on", "never"]);
        let denied: Vec<_> = ran.document.coverage.gaps.iter().filter(|gap| gap.why == "denied").collect();
        assert!(denied.is_empty(), "{chosen}: {denied:#?}");
        // And it is a part of the whole role.
        let whole = documented_rules().to_string();
        for rule in role["rules"].as_array().unwrap() {
            for resource in rule["resources"].as_array().into_iter().flatten() {
                assert!(whole.contains(&resource.to_string()), "{chosen}: {resource}");
            }
        }
    }
}

#[test]
fn roles_in_namespaces_suffice_and_none_of_their_rights_is_spare() {
    let Some(mut staged) = Staged::new(demo::find("cni-unauthorized").unwrap(), DemoState::Before) else {
        return;
    };
    let reader = Doctor::new(&staged.cluster, READER);
    let printed = reader.words(&["rbac", "--namespaced", "--user", READER]);
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    let printed = String::from_utf8(printed.stdout).unwrap();
    let documents = serde_yaml::Deserializer::from_str(&printed);
    let (roles, bindings): (Vec<Value>, Vec<Value>) = documents
        .map(|document| Value::deserialize(document).unwrap())
        .partition(|object| ["Role", "ClusterRole"].contains(&object["kind"].as_str().unwrap()));
    bindings.iter().for_each(|binding| staged.cluster.api.apply(binding));
    roles.iter().for_each(|role| staged.cluster.put_role(READER, role));
    let whole = staged.check(&reader, &["--fail-on", "never"]);
    assert_eq!(whole.status, 0, "{:#?}", whole.document.coverage.gaps);
    assert!(whole.document.coverage.gaps.iter().all(|gap| gap.why != "denied"));
    let all = staged.check(&staged.doctor, &["--fail-on", "never"]);
    assert_eq!(whole.found(), all.found(), "an administrator gets the same result");

    let items = policy::run_items(&checks::all().collect::<Vec<_>>());
    let mut taken = 0;
    for role in roles.iter().filter(|role| role["kind"] == "Role") {
        let namespace = role["metadata"]["namespace"].as_str().unwrap();
        for (group, resource, name) in names_in(&role["rules"]) {
            let meant = |item: &Item| {
                let Item::Named { kind, scope, name: named } = item else { return false };
                let here = match scope {
                    Scope::ControlPlane => namespace == "linkerd",
                    Scope::Cni => namespace == "linkerd-cni",
                    Scope::Fixed(fixed) => namespace == fixed,
                    Scope::Extension(_) | Scope::Links | Scope::IngressControllers | Scope::Cluster => false,
                };
                here && *named == name && (kind.info().group, kind.info().plural) == (&*group, &*resource)
            };
            let for_it: BTreeSet<Item> = items.iter().filter(|item| meant(item)).cloned().collect();
            assert!(!for_it.is_empty(), "{resource} {name} in {namespace} is for nothing");
            let mut less_of = role.clone();
            less_of["rules"] = rules_without(&role["rules"], &group, &resource, Some(&name));
            staged.cluster.put_role(READER, &less_of);
            let less = staged.check(&reader, &["--fail-on", "never"]);
            let place = format!("without {resource} {name} in {namespace}");
            assert_touched(&place, &for_it, false, &whole, &less);
            let is_needed = checks::all().any(|check| {
                !check.card().front.needs.is_disjoint(&for_it)
                    && whole.outcomes().get(check.id).is_some_and(|outcome| outcome != "NotApplicable")
            });
            assert!(!is_needed || less.status == 4, "{place}: what was denied is not fine");
            staged.cluster.put_role(READER, role);
            taken += 1;
        }
    }
    assert!(taken > 5, "{taken}");
}

/// The objects that rules name, with group and resource.
fn names_in(rules: &Value) -> Vec<(String, String, String)> {
    let mut names = Vec::new();
    for rule in rules.as_array().unwrap() {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        for resource in rule["resources"].as_array().unwrap() {
            for name in rule["resourceNames"].as_array().unwrap() {
                names.push((text(&rule["apiGroups"][0]), text(resource), text(name)));
            }
        }
    }
    names
}

/// Whether the API server serves a kind in one of the requested versions.
fn serves(api: &Api, kind: Kind) -> bool {
    let info = kind.info();
    let mut versions = std::iter::once(&info.version).chain(info.older);
    info.group.is_empty()
        || versions
            .any(|version| api.find(&format!("/apis/{}/{version}/{}?limit=1", info.group, info.plural)).is_some())
}

/// Every right of the role: the items that it is for, and the rules that are left without it.
fn without_each(rules: &Value) -> Vec<(BTreeSet<Item>, Value)> {
    let items = policy::run_items(&checks::all().collect::<Vec<_>>());
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let mut each = Vec::new();
    for rule in rules.as_array().unwrap() {
        for resource in texts(&rule["resources"]) {
            let group = rule["apiGroups"][0].as_str().unwrap();
            let of_it = |kind: Kind| kind.info().plural == resource && kind.info().group == group;
            let list = |item: &Item| matches!(item, Item::List(kind) if of_it(*kind));
            let object = |item: &Item, wanted: &str| matches!(item, Item::Named { kind, name, .. } if of_it(*kind) && name == wanted);
            let names = texts(&rule["resourceNames"]);
            if names.is_empty() {
                let for_it: BTreeSet<Item> = items.iter().filter(|item| list(item)).cloned().collect();
                each.push((for_it, rules_without(rules, group, &resource, None)));
            }
            for name in names {
                let for_it: BTreeSet<Item> = items.iter().filter(|item| object(item, &name)).cloned().collect();
                each.push((for_it, rules_without(rules, group, &resource, Some(&name))));
            }
        }
    }
    assert!(each.len() > 10 && each.iter().all(|(items, _)| !items.is_empty()), "{each:?}");
    each
}

/// The rules without one resource, or without one of its objects.
fn rules_without(rules: &Value, group: &str, resource: &str, name: Option<&str>) -> Value {
    let mut rules = rules.clone();
    let without = |list: &mut Value, word: &str| {
        let list = list.as_array_mut().unwrap();
        list.retain(|held: &Value| held != word);
        list.is_empty()
    };
    rules.as_array_mut().unwrap().retain_mut(|rule| {
        let named = rule["resourceNames"].is_array();
        let meant = rule["apiGroups"][0] == group
            && rule["resources"].as_array().is_some_and(|list| list.contains(&json!(resource)));
        let empty = match name {
            _ if !meant || named != name.is_some() => false,
            None => without(&mut rule["resources"], resource),
            Some(name) => without(&mut rule["resourceNames"], name),
        };
        !empty
    });
    rules
}

/// Compares the result without these items (`less`) with the full result (`whole`). For an `undefined` kind,
/// the absence of objects is known without a request.
fn assert_touched(place: &str, items: &BTreeSet<Item>, undefined: bool, whole: &Ran, less: &Ran) {
    let outcome = |ran: &Ran, id: &str| ran.document.checks.iter().find(|check| check.id == id).unwrap().outcome;
    let denied: BTreeSet<&str> = less
        .document
        .coverage
        .gaps
        .iter()
        .filter(|gap| gap.asked_for)
        .inspect(|gap| {
            assert_eq!(gap.why, "denied", "{place}: {gap:?}");
            assert!(items.iter().any(|item| item.to_string() == gap.item), "{place}: {gap:?}");
            assert!(gap.close.contains("meshdoctor rbac"), "{place}: {gap:?}");
        })
        .flat_map(|gap| gap.checks.iter().map(String::as_str))
        .collect();
    // The list of definitions contains each of them too.
    let is_definition = |item: &Item| matches!(item, Item::Named { kind: Kind::CustomResourceDefinition, .. });
    let undefined = undefined || items.iter().all(is_definition);
    let names = |evidence: &BTreeSet<Item>| !evidence.is_disjoint(items);
    let judged = || checks::all().filter(|check| check.card().front.modes.contains(&Mode::Installed));
    let touched: BTreeSet<&str> = judged()
        .filter(|check| names(&check.card().front.needs) || names(&check.card().front.uses))
        .map(|check| check.id)
        .collect();
    for check in judged() {
        let (was, is) = (outcome(whole, check.id), outcome(less, check.id));
        let place = format!("{place}: {} was {was:?} and is {is:?}", check.id);
        let front = &check.card().front;
        if names(&front.needs) {
            // A check that does not apply can be detected without the evidence for its result; and a check
            // that did not run with all evidence, for lack of optional evidence, does not run without this
            // one either.
            let open = undefined || matches!(is, Outcome::NotApplicable | Outcome::NotChecked);
            let judged = !(open && was == is);
            let not_judged = matches!(is, Outcome::NotChecked | Outcome::Findings) && denied.contains(check.id);
            assert!(not_judged || !judged, "{place}");
        } else if names(&front.uses) {
            assert!(was != Outcome::Findings || matches!(is, Outcome::Findings | Outcome::NotChecked), "{place}");
            assert!(is != Outcome::Crashed, "{place}");
        } else {
            assert_eq!(was, is, "{place}");
            assert!(!denied.contains(check.id), "{place}");
            let explains_touched = front.explains.iter().any(|id| touched.contains(id.as_str()));
            let said = |ran: &Ran| findings(ran, check.id, &touched, explains_touched);
            assert_eq!(said(whole), said(less), "{place}");
        }
    }
    assert_eq!(less.status, if denied.is_empty() { 0 } else { 4 }, "{place}");
}

/// The findings of a check that is not affected. Only links to findings of affected checks may differ, and
/// the severity that such a link raises.
fn findings(ran: &Ran, id: &str, touched: &BTreeSet<&str>, explains_touched: bool) -> Vec<String> {
    let all = &ran.document.findings;
    let stays = |fingerprint: &String| {
        all.iter().any(|finding| finding.fingerprint == *fingerprint && !touched.contains(finding.check.as_str()))
    };
    let mut said: Vec<String> = all
        .iter()
        .filter(|finding| finding.check == id)
        .map(|finding| {
            let severity = (!explains_touched).then_some(finding.severity);
            let causes: Vec<_> = finding.caused_by.iter().filter(|cause| stays(cause)).collect();
            let Finding { fingerprint, message, subjects, evidence, remedy, confidence, .. } = finding;
            format!(
                "{severity:?} {confidence:?} {fingerprint} {message} {subjects:?} {evidence:?} {remedy:?} {causes:?}"
            )
        })
        .collect();
    said.sort();
    said
}
