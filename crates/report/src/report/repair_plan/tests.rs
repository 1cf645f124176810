//! Plans of findings with steps that can be merged.

use super::*;
use crate::command::{Line, helm_set, kubectl, linkerd, program};
use crate::finding::Restarts;
use crate::finding::{ChartSetting, ChartSettings, Evidence, ListChange, Remedy, StepKind, Subject};

fn finding(check: &'static str, steps: &[(&'static str, &'static str)]) -> Finding {
    let subject = Subject::node(check);
    let evidence = Evidence::other(check, "x");
    let mut finding = Finding::new(check, Severity::Error, subject, format!("{check} happened")).evidence(evidence);
    finding.remedy =
        steps.iter().fold(Remedy::new(), |remedy, (text, command)| remedy.command(*text, kubectl().words(command)));
    finding
}

fn texts(findings: &[Finding]) -> Vec<String> {
    let plan = RepairPlan::from_findings(findings);
    let line = |step: &PlanStep| {
        let command = step.step.command.as_ref().map(ToString::to_string).unwrap_or_default();
        let repairs: Vec<String> = step.repairs.iter().map(ToString::to_string).collect();
        format!("{} [{}] {}", step.step.text, repairs.join(","), command.replace('\n', "; "))
    };
    plan.steps.iter().map(line).collect()
}

#[test]
fn identical_steps_are_merged() {
    let found =
        [finding("a", &[("Upgrade", "apply x"), ("Restart a", "rollout a")]), finding("b", &[("Upgrade", "apply x")])];
    assert_eq!(texts(&found), ["Upgrade [1,2] kubectl apply x", "Restart a [1] kubectl rollout a"]);
}

#[test]
fn equal_words_join_their_commands() {
    let found =
        [finding("a", &[("Restart", "rollout a")]), finding("b", &[("Fix", "apply y"), ("Restart", "rollout b")])];
    assert_eq!(texts(&found), ["Fix [2] kubectl apply y", "Restart [1,2] kubectl rollout a; kubectl rollout b"]);
}

#[test]
fn values_of_a_chart_are_set_by_one_command() {
    let of = |check: &'static str, path: &str| {
        let value = ChartSetting::Value { path: path.to_owned(), value: "x".to_owned(), is_text: false };
        let settings = ChartSettings::new("linkerd2-cni", vec![value]);
        let into = |words: &'static str| {
            let install = linkerd().words("install-cni").option("--set", helm_set(path, "x"));
            install.pipe(kubectl().words(words))
        };
        let mut finding = finding(check, &[]);
        finding.remedy = Remedy::new()
            .run(StepKind::Note, "Preview", into("diff -f -"))
            .chart(settings.clone())
            .run(StepKind::ChartValue, format!("Set {path}"), into("apply -f -"))
            .chart(settings)
            .command("Wait", kubectl().words("rollout status"));
        finding
    };
    let (first, second, mut third) = (of("a", "bin"), of("b", "net"), of("c", "privileged"));
    third.after = vec![first.fingerprint()];
    let call = "linkerd install-cni --set bin=x --set net=x --set privileged=x | kubectl";
    assert_eq!(
        texts(&[first, second, third]),
        [
            format!("Preview [1,2,3] {call} diff -f -"),
            format!("Set bin. Set net. Set privileged [1,2,3] {call} apply -f -"),
            "Wait [1,2,3] kubectl rollout status".to_owned(),
        ]
    );
}

#[test]
fn the_cli_is_installed_before_it_is_needed() {
    let guarded = |name: &'static str| Line::only_with_cli("edge-25.4.4", linkerd().words(name));
    let mut first = finding("a", &[("Look", "get a")]);
    first.remedy = first.remedy.clone().command("Upgrade", guarded("upgrade"));
    let mut second = finding("b", &[]);
    let install = Line::set("LINKERD2_VERSION", "edge-25.4.4").line(program("sh"));
    second.remedy = Remedy::new().command("Install", install);
    let texts = texts(&[first, second]);
    let starts: Vec<&str> = texts.iter().map(|text| text.split(" (").next().unwrap_or_default()).collect();
    assert_eq!(starts, ["Look [1] kubectl get a", "Install [1,2] LINKERD2_VERSION=edge-25.4.4 sh", "Upgrade",]);
}

#[test]
fn steps_of_custom_checks_stay_apart() {
    let install = || Command::from(Line::set("LINKERD2_VERSION", "edge-25.4.4").line(program("sh")));
    let upgrade = || Command::from(Line::only_with_cli("edge-25.4.4", linkerd().words("upgrade")));
    let step = |command, number, is_custom| PlanStep {
        step: Step::new(StepKind::Command, "Upgrade", Some(command)),
        repairs: BTreeSet::from([number]),
        is_custom,
    };
    let mut graph = Graph::default();
    let none = BTreeSet::new();
    for node in [step(upgrade(), 1, false), step(upgrade(), 2, true), step(install(), 3, true)] {
        graph.add(node, Severity::Error, &none);
    }
    let steps: Vec<(bool, BTreeSet<usize>)> =
        graph.into_sorted().into_iter().map(|step| (step.is_custom, step.repairs)).collect();
    let one = |number| BTreeSet::from([number]);
    assert_eq!(steps[0], (false, one(1)), "no installation of a custom check comes first");
    assert!(steps[1..].iter().all(|(is_custom, _)| *is_custom));
}

#[test]
fn a_merge_never_breaks_the_order() {
    let first = finding("a", &[("Upgrade", "apply x"), ("Restart", "rollout a")]);
    let mut second = finding("b", &[("Upgrade", "apply x")]);
    second.after = vec![first.fingerprint()];
    let steps = texts(&[first, second]);
    assert_eq!(steps, ["Upgrade [1] kubectl apply x", "Restart [1] kubectl rollout a", "Upgrade [2] kubectl apply x"]);
}

fn restarting(mut finding: Finding, step: usize, restarts: Restarts) -> Finding {
    finding.remedy.steps[step].restarts = restarts;
    finding
}

#[test]
fn restart_of_an_earlier_repair_is_not_repeated() {
    let all = "-n shop rollout restart deployment/api deployment/web";
    let first = finding("a", &[("Upgrade", "apply x"), ("Restart all", all)]);
    let first = restarting(first, 1, Restarts::Workloads);
    let second = finding("b", &[("Restart api", "-n shop rollout restart deployment/api"), ("Look", "get b")]);
    let mut second = restarting(second, 0, Restarts::Workloads);
    second.after = vec![first.fingerprint()];
    assert_eq!(
        texts(&[first, second]),
        [
            "Upgrade [1] kubectl apply x",
            "Restart all [1,2] kubectl -n shop rollout restart deployment/api deployment/web",
            "Look [2] kubectl get b"
        ]
    );
}

#[test]
fn merged_restarts_name_several_workloads() {
    let found: Vec<Finding> = ["a", "b", "c"]
        .map(|name| finding(name, &[("Restart the workload: so that", name)]))
        .map(|finding| restarting(finding, 0, Restarts::Workloads))
        .into();
    assert_eq!(texts(&found), ["Restart the workloads: so that [1,2,3] kubectl a; kubectl b; kubectl c"]);
}

#[test]
fn restarts_wait_for_the_upgrade_that_includes_them() {
    let first = finding("a", &[("Restart control plane", "rollout restart x"), ("Restart", "rollout restart y")]);
    let first = restarting(restarting(first, 0, Restarts::ControlPlane), 1, Restarts::Workloads);
    let second = finding("b", &[("Read", "get b"), ("Apply", "apply b"), ("Restart", "rollout restart y")]);
    let second = restarting(restarting(second, 1, Restarts::ControlPlaneByUpgrade), 2, Restarts::Workloads);
    assert_eq!(
        texts(&[first, second]),
        ["Read [2] kubectl get b", "Apply [1,2] kubectl apply b", "Restart [1,2] kubectl rollout restart y"]
    );
}

#[test]
fn infos_symptoms_and_accepted_findings_are_not_planned() {
    let mut info = finding("a", &[("Look", "get a")]);
    info.severity = Severity::Info;
    let mut symptom = finding("b", &[("Fix", "apply b")]);
    symptom.caused_by = vec![info.fingerprint()];
    let mut known = finding("c", &[("Fix", "apply c")]);
    known.standing = Standing::InBaseline;
    assert!(texts(&[info, symptom, known]).is_empty());
}

#[test]
fn changes_of_one_list_are_one_step() {
    const KEY: &str = "config.linkerd.io/opaque-ports";
    let of = |check, (service, text): (&'static str, &'static str), before: &str, after: &str| {
        let mut finding = finding(check, &[]);
        let set = kubectl().words("annotate").operand(service).operand(format!("{KEY}={after}"));
        let change = ListChange::new(format!("Service shop/{service}"), KEY, before, Some(after));
        finding.remedy = Remedy::new().run(StepKind::Annotation, text, set).list(change);
        finding
    };
    let found = [
        of("a", ("db", "Mark the port"), "6379", "6379,26379"),
        of("b", ("cache", "Mark the port"), "6379", "6379,26379"),
        of("c", ("db", "Add port 5432"), "6379", "5432,6379"),
        of("d", ("mail", "Add port 25"), "587", "25,587"),
        of("e", ("mail", "Add port 465"), "587", "465,587"),
    ];
    assert_eq!(
        texts(&found),
        [
            format!(
                "Mark the port [1,2,3] kubectl annotate db {KEY}=5432,6379,26379; kubectl annotate cache \
                 {KEY}=6379,26379"
            ),
            format!(
                "Change {KEY} of Service shop/mail for all of these findings at once [4,5] kubectl annotate \
                 mail {KEY}=25,465,587"
            ),
        ]
    );
}
