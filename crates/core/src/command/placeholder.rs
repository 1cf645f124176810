//! The values that only the reader of a command knows, and their meanings.

/// The names of the variables, and the value that each must have.
const MEANINGS: &[(&str, &str)] = &[
    ("ADDRESS", "the address that the next step describes"),
    ("CALLER_NETWORK", "the network of the callers' addresses, such as 10.1.0.0/16"),
    ("CA_NAMESPACE", "its namespace"),
    ("CA_SECRET", "the name of the Secret"),
    ("CHART_VERSION", "the installed version of the chart"),
    ("CLUSTER", "the name of this cluster"),
    ("CLUSTER_NAME", "the name of the cluster in its Link"),
    ("CPU_LIMIT", "an amount such as 500m"),
    ("CPU_REQUEST", "an amount such as 100m"),
    ("CRDS_NAMESPACE", "the namespace of that release"),
    ("CRDS_RELEASE", "the Helm release of the CRDs"),
    ("HA_VALUES", "the path of the chart's values-ha.yaml"),
    ("IMAGE", "a meshdoctor image that the nodes can pull"),
    ("LICENSE", "the license key"),
    ("LOCATION", "its region or zone"),
    ("MEMORY_LIMIT", "an amount such as 512Mi"),
    ("MEMORY_REQUEST", "an amount such as 128Mi"),
    ("NAMESPACE", "the name of the namespace"),
    ("NODE_NAME", "the name of the node"),
    ("NODE_NETWORK", "the network of the nodes' addresses, such as 10.0.0.0/16"),
    ("OTHER_CLUSTER", "the other cluster's kubectl context"),
    ("PORT", "the port of the Service"),
    ("PULL_SECRET", "the name of the pull secret"),
    ("RELEASE", "the name of the Helm release"),
    ("RELEASE_NAMESPACE", "its namespace"),
    ("REVISION", "the number of the revision"),
    ("SCC", "the name of the constraints"),
    ("USER_NAME", "your name as the API server knows it"),
];

/// The text of a step with a command that expects these variables: `Query it (set PORT to the port of the Service)`.
pub fn introducing<'n>(text: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let words = introduced(names);
    match text.strip_suffix(')') {
        _ if words.is_empty() => text.to_owned(),
        Some(start) => format!("{start}; {words})"),
        None => format!("{text} ({words})"),
    }
}

fn introduced<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let meaning = |name: &'n str| {
        MEANINGS.iter().find(|(known, _)| *known == name).map(|(_, meaning)| format!("{name} to {meaning}"))
    };
    let all: Vec<String> = names.into_iter().filter_map(meaning).collect();
    match all.as_slice() {
        [] => String::new(),
        [one] => format!("set {one}"),
        [first @ .., last] => format!("set {}, and {last}", first.join(", ")),
    }
}

/// Whether a text contains a name as a word of its own: `PORT`, but not `PORTS`.
pub fn is_named(name: &str, text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::{MEANINGS, introducing, is_named};

    #[test]
    fn meanings_are_sorted() {
        assert!(MEANINGS.is_sorted());
    }

    #[test]
    fn variables_are_introduced() {
        assert_eq!(introducing("Read it", []), "Read it");
        assert_eq!(introducing("Read it", ["PORT"]), "Read it (set PORT to the port of the Service)");
        assert_eq!(introducing("Read it", ["X"]), "Read it", "its text names it");
        let both = introducing("Read it (now)", ["LOCATION", "NODE_NAME"]);
        let expected = "Read it (now; set LOCATION to its region or zone, and NODE_NAME to the name of the node)";
        assert_eq!(both, expected);
    }

    #[test]
    fn a_name_is_a_whole_word() {
        assert!(is_named("PORT", "set PORT to 80"));
        assert!(!is_named("PORT", "set PORTS"));
    }
}
