//! Subjects as text: the heading of a finding names the first few and counts the rest; a folded symptom gets
//! a count.

use std::collections::{BTreeMap, BTreeSet};

use super::look::Look;
use super::text::{clean, count, some_of, thousands};
use crate::finding::Subject;

/// Maximum number of subjects of a kind in a heading.
const NAMED: usize = 5;

/// `3 nodes: a, b, c`, `Deployment shop/web (3 pods)`: for the heading of a finding.
pub fn heading(subjects: &[Subject], look: Look) -> String {
    naming(subjects, NAMED, look)
}

/// The same, with the names of `most` subjects of a kind.
pub fn naming(subjects: &[Subject], most: usize, look: Look) -> String {
    let mut kinds: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut nodes: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut things: BTreeSet<String> = BTreeSet::new();
    for subject in subjects {
        match subject {
            Subject::Object { kind, namespace, name, pods } => {
                let named = format!("{}{}", object_name(namespace, name), pods_of(kind, pods, look));
                kinds.entry(kind).or_default().push(named);
            }
            Subject::Node { node, file, path: _, line } => {
                let files = nodes.entry(node).or_default();
                if let Some(file) = file {
                    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
                    files.insert(format!("{}{line}", clean(file)));
                }
            }
            Subject::Thing { thing } => _ = things.insert(clean(thing).into_owned()),
        }
    }
    let mut parts: Vec<String> = kinds.iter().map(|(kind, names)| objects(kind, names, look.most(most))).collect();
    if !nodes.is_empty() {
        parts.push(nodes_in_words(&nodes, look.most(most)));
    }
    parts.extend(things);
    parts.join("; ")
}

/// Subjects of one kind in one namespace.
pub struct SubjectGroup {
    /// `50 Deployments in shop`; empty if there is only one.
    pub heading: String,
    /// Their names; with kind and namespace if there is only one.
    pub names: Vec<String>,
}

/// The subjects by kind and namespace, in order. Files are named with their node.
pub fn groups(subjects: &[Subject]) -> Vec<SubjectGroup> {
    let mut groups: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for subject in subjects {
        match subject {
            Subject::Object { kind, namespace, name, pods } => {
                let named = format!("{}{}", clean(name), pods_of(kind, pods, Look::plain(Look::NARROWEST)));
                groups.entry((kind, namespace)).or_default().push(named);
            }
            Subject::Node { node, file, line, path: _ } => {
                let line = line.map(|line| format!(":{line}")).unwrap_or_default();
                let file = file.as_ref().map(|file| format!("  {}{line}", clean(file))).unwrap_or_default();
                groups.entry(("node", "")).or_default().push(format!("{}{file}", clean(node)));
            }
            Subject::Thing { thing } => groups.entry(("", "")).or_default().push(clean(thing).into_owned()),
        }
    }
    let group = |((kind, namespace), names): ((&str, &str), Vec<String>)| {
        let place = if namespace.is_empty() { String::new() } else { format!(" in {}", clean(namespace)) };
        match (kind, names.as_slice()) {
            ("", _) => SubjectGroup { heading: String::new(), names },
            (kind, [name]) => {
                let place = if namespace.is_empty() { "" } else { "/" };
                let name = format!("{} {}{place}{name}", clean(kind), clean(namespace));
                SubjectGroup { heading: String::new(), names: vec![name] }
            }
            (kind, names_of) => {
                let heading = format!("{} {}{place}", thousands(names_of.len()), plural(&clean(kind)));
                SubjectGroup { heading, names }
            }
        }
    };
    groups.into_iter().map(group).collect()
}

fn object_name(namespace: &str, name: &str) -> String {
    if namespace.is_empty() { clean(name).into_owned() } else { format!("{}/{}", clean(namespace), clean(name)) }
}

fn pods_of(kind: &str, pods: &[String], look: Look) -> String {
    match pods {
        [] => String::new(),
        _ if kind == "Pod" => String::new(),
        [pod] => format!(" (pod {})", clean(pod)),
        pods if look.verbose => {
            let names: Vec<_> = pods.iter().map(|pod| clean(pod)).collect();
            format!(" ({}: {})", count(pods.len(), "pod", "pods"), names.join(", "))
        }
        pods => format!(" ({})", count(pods.len(), "pod", "pods")),
    }
}

fn objects(kind: &str, names: &[String], most: usize) -> String {
    let kind = clean(kind);
    match names {
        [name] => format!("{kind} {name}"),
        names => {
            let listed = some_of(names, most);
            format!("{} {}: {listed}", thousands(names.len()), plural(&kind))
        }
    }
}

fn nodes_in_words(nodes: &BTreeMap<&str, BTreeSet<String>>, most: usize) -> String {
    let names: Vec<_> = nodes.keys().map(|name| clean(name)).collect();
    let who = match names.as_slice() {
        [name] => format!("node {name}"),
        names => {
            format!("{}: {}", count(names.len(), "node", "nodes"), some_of(names, most))
        }
    };
    // Files are named here only if they are the same on every node; otherwise the evidence names them.
    let mut sets = nodes.values();
    let first = sets.next();
    match first {
        Some(files) if !files.is_empty() && sets.all(|other| other == files) => {
            let files: Vec<&String> = files.iter().collect();
            format!("{who}  {}", some_of(&files, most))
        }
        _ => who,
    }
}

/// `17 pods`, `3 nodes`, `Deployment shop/web`: for a symptom that is folded under its cause.
pub fn brief<'a>(subjects: impl Iterator<Item = &'a Subject>) -> String {
    let mut objects: BTreeSet<(&str, &str, &str)> = BTreeSet::new();
    let mut pods: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut nodes: BTreeSet<&str> = BTreeSet::new();
    let mut things: BTreeSet<&str> = BTreeSet::new();
    for subject in subjects {
        match subject {
            Subject::Object { kind, namespace, name, pods: named } => {
                objects.insert((kind, namespace, name));
                pods.extend(named.iter().map(|pod| (namespace.as_str(), pod.as_str())));
                if kind == "Pod" {
                    pods.insert((namespace, name));
                }
            }
            Subject::Node { node, .. } => _ = nodes.insert(node),
            Subject::Thing { thing } => _ = things.insert(thing),
        }
    }
    let mut parts = Vec::new();
    let owners: Vec<_> = objects.iter().filter(|(kind, ..)| *kind != "Pod").collect();
    match (pods.len(), owners.as_slice()) {
        (0, []) => {}
        (0, [(kind, namespace, name)]) => {
            parts.push(format!("{} {}", clean(kind), object_name(namespace, name)));
        }
        (n, []) => parts.push(count(n, "pod", "pods")),
        (n, [(kind, namespace, name)]) => {
            let owner = format!("{} {}", clean(kind), object_name(namespace, name));
            parts.push(format!("{} of {owner}", count(n, "pod", "pods")));
        }
        (0, owners) => {
            let kinds: BTreeSet<&str> = owners.iter().map(|(kind, ..)| *kind).collect();
            let one_kind = kinds.first().filter(|_| kinds.len() == 1);
            let many = one_kind.map_or_else(|| "objects".to_owned(), |kind| plural(&clean(kind)));
            parts.push(format!("{} {many}", thousands(owners.len())));
        }
        (n, owners) => {
            let workloads = count(owners.len(), "workload", "workloads");
            parts.push(format!("{} of {workloads}", count(n, "pod", "pods")));
        }
    }
    match nodes.len() {
        0 => {}
        1 => parts.extend(nodes.iter().map(|node| format!("node {}", clean(node)))),
        n => parts.push(count(n, "node", "nodes")),
    }
    parts.extend(things.into_iter().map(|thing| clean(thing).into_owned()));
    parts.join(", ")
}

/// The plural of a kind.
pub fn plural(kind: &str) -> String {
    if kind.ends_with("points") {
        kind.to_owned()
    } else if kind.ends_with('s') {
        format!("{kind}es")
    } else if let Some(stem) = kind.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u'])) {
        format!("{stem}ies")
    } else {
        format!("{kind}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(name: &str, pods: &[&str]) -> Subject {
        Subject::Object {
            kind: "Deployment".to_owned(),
            namespace: "shop".to_owned(),
            name: name.to_owned(),
            pods: pods.iter().map(|pod| (*pod).to_owned()).collect(),
        }
    }

    #[test]
    fn headings_name_the_first_and_count_the_rest() {
        let look = Look::plain(80);
        assert_eq!(heading(&[workload("web", &["web-1"])], look), "Deployment shop/web (pod web-1)");
        let many: Vec<Subject> = (0..9).map(|n| workload(&format!("w{n}"), &["a", "b"])).collect();
        assert_eq!(
            heading(&many, look),
            "9 Deployments: shop/w0 (2 pods), shop/w1 (2 pods), shop/w2 (2 pods), shop/w3 (2 pods), \
             shop/w4 (2 pods) and 4 more"
        );
        let files = [Subject::file("n1", "/etc/x", "", 3), Subject::file("n2", "/etc/x", "", 3)];
        assert_eq!(heading(&files, look), "2 nodes: n1, n2  /etc/x:3");
        let mixed = [Subject::node("n1"), Subject::thing("linkerd CLI")];
        assert_eq!(heading(&mixed, look), "node n1; linkerd CLI");
    }

    #[test]
    fn subjects_are_grouped_by_kind_and_namespace() {
        let look_at = |subjects: &[Subject]| -> Vec<String> {
            let groups = groups(subjects).into_iter();
            groups.map(|group| format!("{}: {}", group.heading, group.names.join(", "))).collect()
        };
        let subjects = [
            workload("web", &[]),
            workload("api", &["a", "b"]),
            Subject::object("Namespace", "", "shop"),
            Subject::node("n1"),
            Subject::node("n2"),
            Subject::thing("API server"),
        ];
        assert_eq!(
            look_at(&subjects),
            [": API server", "2 Deployments in shop: web, api (2 pods)", ": Namespace shop", "2 nodes: n1, n2"]
        );
        assert_eq!(look_at(&[workload("web", &["web-1"])]), [": Deployment shop/web (pod web-1)"]);
    }

    #[test]
    fn folded_symptoms_are_counted() {
        assert_eq!(brief([workload("web", &["a", "b"])].iter()), "2 pods of Deployment shop/web");
        assert_eq!(brief([workload("web", &["a"]), workload("api", &["b"])].iter()), "2 pods of 2 workloads");
        assert_eq!(brief([workload("web", &[]), workload("api", &[])].iter()), "2 Deployments");
        assert_eq!(brief([Subject::object("Pod", "shop", "a")].iter()), "1 pod");
        assert_eq!(brief([Subject::node("a"), Subject::node("b")].iter()), "2 nodes");
    }
}
