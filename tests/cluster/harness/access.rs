//! Permissions of a cluster's users: one ClusterRole for each, replaced as a whole, or roles from manifests.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Api, Cluster};

/// One thing that a rule allows: verb, group, resource and, if the rule names objects, the name of one.
type Right = (String, String, String, Option<String>);

impl Cluster {
    /// Grants the user exactly these rules (of a ClusterRole). Returns when the server applies them.
    pub fn grant(&mut self, user: &str, rules: &Value) {
        let name = format!("cluster-tests:{user}");
        let role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": { "name": name },
            "rules": rules,
        });
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": { "name": name },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name },
            "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user }],
        });
        self.api.apply(&binding);
        self.put_role(user, &role);
    }

    /// Writes a role or cluster role that is bound to this user, or will be. Returns when the server applies
    /// it.
    pub fn put_role(&mut self, user: &str, role: &Value) {
        let namespace = role["metadata"]["namespace"].as_str();
        let path = self.api.path(role);
        let before = self.api.find(&path).map(|role| rights(&role["rules"])).unwrap_or_default();
        let after = rights(&role["rules"]);
        self.api.apply(role);
        self.wait(Duration::from_secs(20), |api| {
            let differs = |right: &&Right| allowed(api, (user, namespace), right) != after.contains(*right);
            match before.union(&after).find(differs) {
                Some(right) => Err(format!("the server does not go by {right:?} yet")),
                None => Ok(()),
            }
        });
    }
}

fn rights(rules: &Value) -> BTreeSet<Right> {
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let mut rights = BTreeSet::new();
    for rule in rules.as_array().into_iter().flatten() {
        let names = match texts(&rule["resourceNames"]) {
            names if names.is_empty() => vec![None],
            names => names.into_iter().map(Some).collect(),
        };
        for verb in texts(&rule["verbs"]) {
            for group in texts(&rule["apiGroups"]) {
                for resource in texts(&rule["resources"]) {
                    for name in &names {
                        rights.insert((verb.clone(), group.clone(), resource.clone(), name.clone()));
                    }
                }
            }
        }
    }
    rights
}

fn allowed(api: &Api, (user, namespace): (&str, Option<&str>), (verb, group, resource, name): &Right) -> bool {
    let attributes =
        json!({ "namespace": namespace, "verb": verb, "group": group, "resource": resource, "name": name });
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": { "user": user, "resourceAttributes": attributes },
    });
    api.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", &review)["status"]["allowed"] == true
}
