//! Steps that add a finding, with later steps that may or may not remove it.

use serde_json::json;

use super::*;
use crate::command::{Command, kubectl};
use crate::finding::{Remedy, Subject};
use crate::item::Kind;

/// A cluster of ConfigMaps: a label on `cause` removes the finding and adds one about `side`, and a label on `side`
/// removes that one.
struct Cluster {
    /// The tie of the added finding.
    tie: Tie,
}

fn has(set: &Set, name: &str) -> bool {
    set.keys().any(|(_, _, known)| known == name)
}

fn finding(name: &str) -> Finding {
    Finding::new("x", Severity::Error, Subject::object("ConfigMap", "a", name), "wrong")
}

impl Overlay for Cluster {
    fn apply(&self, set: &Set, action: &Action) -> Result<Set, String> {
        let mut set = set.clone();
        if let Action::Edit { target, .. } = action {
            for name in &target.names {
                set.put(Kind::ConfigMap, json!({"metadata": {"name": name, "namespace": "a"}}));
            }
        }
        Ok(set)
    }

    fn judge(&self, set: &Set) -> State {
        let mut findings = Vec::new();
        if !has(set, "cause") {
            findings.push(finding("cause"));
        } else if !has(set, "side") {
            findings.push(finding("side").tie(self.tie.clone()));
        }
        State::new(&findings, &[])
    }
}

fn label(name: &str) -> Command {
    kubectl().words("-n a label configmap").operand(name.to_owned()).words("x=y").into()
}

/// The proof of the first step, with these steps after it.
fn first(later: &[(&str, Option<Command>)], tie: Tie) -> Proof {
    let mut finding = finding("cause");
    finding.remedy = Remedy::new().command("Label cause", label("cause"));
    for (text, command) in later {
        let remedy = std::mem::take(&mut finding.remedy);
        finding.remedy = match command {
            Some(command) => remedy.command(*text, command.clone()),
            None => remedy.note(*text),
        };
    }
    let plan = RepairPlan::from_findings(&[finding]);
    let cluster = Cluster { tie };
    let begin = Set::default();
    JudgedPlan::new(&plan, &begin, &cluster.judge(&begin), &cluster).proofs.remove(0)
}

#[test]
fn what_a_step_adds_must_be_removable_later() {
    let other = || Tie::Fact("other".to_owned());
    let unknown = || Command::from(kubectl().words("apply -f x.yaml"));
    for (later, is_offered) in [
        (vec![], false),
        (vec![("Label side", Some(label("side")))], true),
        // Advice that cannot remove it.
        (vec![("To prevent this, upgrade the control plane", None)], false),
        (vec![("If clients still fail, look at their logs", None)], false),
        (vec![("If clients still fail, label other", Some(label("other")))], false),
        (vec![("If clients still fail, list pods", Some(kubectl().words("get pods").into()))], false),
        // Steps that can.
        (vec![("If side is wrong, label it", Some(label("side")))], true),
        (vec![("Correct side by hand", None)], true),
        (vec![("Apply the manifests again", Some(unknown()))], true),
    ] {
        let proof = first(&later, other());
        assert_eq!(proof.is_offered(), is_offered, "{later:?}: {proof:?}");
    }
}

#[test]
fn lines_of_logs_are_not_added_by_a_step() {
    let proof = first(&[], Tie::Fact("log endpoint-lost".to_owned()));
    assert!(matches!(&proof, Proof::Simulated { added, .. } if added.is_empty()), "{proof:?}");
}
