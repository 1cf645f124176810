//! Remedies of installations that Argo CD or Flux manages: the values are changed in Git, and a sync applies them.

use meshdoctor::card::CaseKind;
use meshdoctor::checks;
use meshdoctor::scene::Scene;
use meshdoctor::source::change::Set;

use super::gitops::Tool;
use super::{Machine, Ran};
use crate::case;
use crate::remedies::{CaseOverlay, of_check};
use crate::skip::{Need, skipped};

/// Checks whose remedy changes values of a chart.
const CHECKS: [&str; 7] = [
    "api-server-port-redirected",
    "control-plane-below-ha",
    "control-plane-ha-partial",
    "heartbeat-failing",
    "cluster-networks-incomplete",
    "proxy-init-not-root",
    "cni-config-drift",
];

#[test]
fn remedies_in_git_cure_their_cases() {
    let Some(machine) = Machine::new() else {
        skipped(Need::Kubectl, "remedies in Git are not run");
        return;
    };
    let mut open = Vec::new();
    for id in CHECKS {
        let check = checks::find(id).unwrap();
        for tool in [Tool::ArgoCd, Tool::Flux] {
            let mut results = Vec::new();
            for case in check.cases().iter().filter(|case| case.kind == CaseKind::Fires) {
                let scene = tool.installs(&Scene::parse(&case.blocks, &case::base).unwrap());
                let report = of_check(&CaseOverlay::new(&scene, &[]), &Set::default(), check);
                let mut steps = report.findings.iter().flat_map(|finding| &finding.remedy.steps);
                if steps.any(|step| step.settings.is_some()) {
                    results.push((case.title.clone(), machine.remedy(check, &scene)));
                }
            }
            let is_cured = results.iter().any(|(_, ran)| *ran == Ran::Cured);
            if !is_cured {
                open.push(format!("{id} with {tool:?}: {results:?}"));
            }
        }
    }
    assert!(open.is_empty(), "{}", open.join("\n"));
}

#[test]
fn a_change_in_git_without_a_sync_cures_nothing() {
    let Some(machine) = Machine::new() else { return };
    let check = checks::find("heartbeat-failing").unwrap();
    let case = check.cases().iter().find(|case| case.kind == CaseKind::Fires).unwrap();
    let scene = Tool::ArgoCd.installs(&Scene::parse(&case.blocks, &case::base).unwrap());
    let report = of_check(&CaseOverlay::new(&scene, &[]), &Set::default(), check);
    let steps: Vec<_> = report.findings[0].remedy.steps.iter().filter(|step| step.settings.is_some()).collect();
    assert!(!steps.is_empty());
    let steps: Vec<_> = (1..).zip(steps).collect();
    let ran = machine.run(check, (&scene, &super::authorities::Keys::default()), &steps);
    assert_eq!(ran, Ran::Remains);
}
