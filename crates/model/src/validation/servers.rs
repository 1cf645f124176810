//! Servers that take the same port of the same pods, by the parts in which two of them have to agree.

use std::collections::HashMap;

use serde_json::Value;

/// The fields that select workloads.
const SELECTORS: [&str; 2] = ["podSelector", "externalWorkloadSelector"];

/// All Servers, so that each is compared only with those that can overlap with it.
#[derive(Debug, Default)]
pub struct ServerIndex<'a> {
    servers: &'a [Value],
    /// By namespace, port and field, as positions in `servers`.
    places: HashMap<(&'a str, &'a Value, &'static str), Selecting<'a>>,
}

/// The Servers for one port that use one field to select workloads.
#[derive(Debug, Default)]
struct Selecting<'a> {
    all: Vec<usize>,
    /// Those that select everything.
    everything: Vec<usize>,
    by_selector: HashMap<&'a Value, Vec<usize>>,
}

impl<'a> ServerIndex<'a> {
    /// Indexes complete Servers.
    pub fn new(servers: &'a [Value]) -> ServerIndex<'a> {
        let mut index = ServerIndex { servers, places: HashMap::new() };
        for (at, server) in servers.iter().enumerate() {
            for (field, selector) in selectors(server) {
                let place = (namespace(server), &server["spec"]["port"], field);
                let selecting = index.places.entry(place).or_default();
                selecting.all.push(at);
                if selects_everything(selector) {
                    selecting.everything.push(at);
                }
                selecting.by_selector.entry(selector).or_default().push(at);
            }
        }
        index
    }

    /// The first other Server of the namespace with the same port that selects the same, if either of them
    /// selects everything or both have the same selector. `counts` excludes others.
    pub(super) fn overlapping(&self, server: &Value, counts: impl Fn(&Value) -> bool) -> Option<&'a Value> {
        let name = &server["metadata"]["name"];
        let first_of = |list: &[usize]| {
            list.iter().copied().find(|&at| {
                let other = &self.servers[at];
                other["metadata"]["name"] != *name && counts(other)
            })
        };
        let of_field = |(field, selector): (&'static str, &Value)| {
            let selecting = self.places.get(&(namespace(server), &server["spec"]["port"], field))?;
            if selects_everything(selector) {
                return first_of(&selecting.all);
            }
            let same = selecting.by_selector.get(selector).and_then(|list| first_of(list));
            [same, first_of(&selecting.everything)].into_iter().flatten().min()
        };
        selectors(server).filter_map(of_field).min().map(|at| &self.servers[at])
    }
}

fn namespace(server: &Value) -> &str {
    server["metadata"]["namespace"].as_str().unwrap_or_default()
}

/// The selectors of a Server.
fn selectors(server: &Value) -> impl Iterator<Item = (&'static str, &Value)> {
    let spec = &server["spec"];
    SELECTORS.into_iter().map(|field| (field, &spec[field])).filter(|(_, selector)| !selector.is_null())
}

fn selects_everything(selector: &Value) -> bool {
    let is_empty = |part: &Value| match part {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        other => other.is_null(),
    };
    selector.as_object().is_some_and(|parts| parts.values().all(is_empty))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn first_server_that_overlaps_is_found() {
        let server = |namespace: &str, name: &str, port: Value, spec: Value| {
            let mut server = json!({"metadata": {"namespace": namespace, "name": name}, "spec": spec});
            server["spec"]["port"] = port;
            server
        };
        let pods = |labels: Value| json!({"podSelector": {"matchLabels": labels}});
        let servers = [
            server("shop", "web", json!(80), pods(json!({"app": "web", "tier": "a"}))),
            server("shop", "same", json!(80), json!({"podSelector": {"matchLabels": {"tier": "a", "app": "web"}}})),
            server("shop", "all", json!(80), pods(json!({}))),
            server("shop", "api", json!(80), pods(json!({"app": "api"}))),
            server("shop", "named", json!("http"), pods(json!({"app": "api"}))),
            server("other", "web", json!(80), pods(json!({"app": "web", "tier": "a"}))),
            server("shop", "outside", json!(80), json!({"externalWorkloadSelector": {"matchLabels": {}}})),
        ];
        let index = ServerIndex::new(&servers);
        let found = |at: usize| {
            let other = index.overlapping(&servers[at], |other| other["metadata"]["name"] != "hidden");
            other.and_then(|other| other["metadata"]["name"].as_str())
        };
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 6].map(found),
            [Some("same"), Some("web"), Some("web"), Some("all"), None, None, None]
        );
        let none = index.overlapping(&servers[3], |other| other["metadata"]["name"] != "all");
        assert_eq!(none, None);
    }
}
