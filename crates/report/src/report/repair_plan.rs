//! The repair plan of a report: the steps of all findings that need a repair, in order, without duplicates.
//! [`crate::cause`] determines the order of the findings; this module merges their steps.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::command::{Command, JoinIndex};
use crate::finding::{
    Applies, Finding, Fingerprint, Forced, NodeRound, Restarts, Severity, Standing, Step, keep_lists,
    keep_values, lift_forced,
};

/// The steps that repair all errors and warnings of the report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepairPlan {
    /// The findings to repair, by their index in the report.
    pub findings: BTreeMap<usize, PlannedFinding>,
    /// The steps, in order.
    pub steps: Vec<PlanStep>,
    /// Commands that show whether the repair worked, each once.
    pub verify: Vec<Command>,
}

/// A finding that the plan repairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedFinding {
    /// Its number, from 1.
    pub number: usize,
    /// The findings to repair before it, nearest only: number and check.
    pub after: Vec<(usize, &'static str)>,
}

/// One step of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanStep {
    /// The step. A merged step has the commands of all its findings.
    pub step: Step,
    /// The numbers of the findings that it repairs.
    pub repairs: BTreeSet<usize>,
    /// Whether custom checks recommend it. It is never merged with a step of other checks, since its author may be
    /// another person.
    pub is_custom: bool,
}

impl RepairPlan {
    /// The index of the step that installs the linkerd CLI of a release, if one does. A step that needs another one
    /// only restores it.
    pub fn installing_cli(&self, release: &str) -> Option<usize> {
        let installed = |step: &PlanStep| {
            let command = step.step.command.as_ref()?;
            if command.required_cli().is_some() { None } else { command.installed_cli() }
        };
        self.steps.iter().position(|step| installed(step).as_deref() == Some(release))
    }

    /// The releases of the linkerd CLI that steps need and no step installs.
    pub fn missing_clis(&self) -> BTreeSet<&str> {
        let needed = self.steps.iter().filter_map(|step| step.step.command.as_ref()?.required_cli());
        needed.filter(|release| self.installing_cli(release).is_none()).collect()
    }

    /// The rounds of steps on nodes, in order.
    pub fn node_rounds(&self) -> Vec<NodeRound<'_>> {
        NodeRound::all(self.steps.iter().map(|step| &step.step))
    }

    /// The plan for findings that are sorted in the order of their repair.
    pub fn from_findings(findings: &[Finding]) -> RepairPlan {
        let planned = number(findings);
        let mut graph = Graph::default();
        let mut last_steps: BTreeMap<usize, usize> = BTreeMap::new();
        let mut earlier: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let urgency = urgency(findings, &planned);
        for (&at, finding) in &planned {
            let nearest = || finding.after.iter().map(|(number, _)| number);
            let further = nearest().filter_map(|number| earlier.get(number)).flatten();
            let all: BTreeSet<usize> = nearest().chain(further).copied().collect();
            let mut before: BTreeSet<usize> =
                nearest().filter_map(|number| last_steps.get(number).copied()).collect();
            let mut is_first = true;
            let is_custom = crate::checks::find(findings[at].check).is_some_and(|check| check.is_brought());
            for step in &findings[at].remedy.steps {
                let repairs = BTreeSet::from([finding.number]);
                let node = PlanStep { step: step.clone(), repairs, is_custom };
                let severity = urgency[&finding.number];
                if step.applies == Applies::First {
                    // The steps of earlier findings come between.
                    before.insert(graph.add(node, severity, &BTreeSet::new()));
                    continue;
                }
                // A restart at the end of an earlier repair is also the first step of this one.
                let restarted = if is_first { graph.restarted(&node, &all) } else { None };
                // Values of an earlier repair are set together with those of this one.
                let first =
                    if is_first { restarted.or_else(|| graph.set_with(&node, severity)) } else { None };
                is_first = restarted.is_some();
                let node = first.unwrap_or_else(|| graph.add(node, severity, &before));
                last_steps.insert(finding.number, node);
                before = BTreeSet::from([node]);
            }
            earlier.insert(finding.number, all);
        }
        let mut verify: Vec<Command> = Vec::new();
        for command in planned.keys().filter_map(|&at| findings[at].remedy.verify.as_ref()) {
            if !verify.contains(command) {
                verify.push(command.clone());
            }
        }
        let mut steps = graph.into_sorted();
        lift_forced(steps.iter_mut().map(|step| &mut step.step));
        keep_lists(steps.iter_mut().map(|step| &mut step.step));
        keep_values(steps.iter_mut().map(|step| &mut step.step));
        RepairPlan { findings: planned, steps, verify }
    }
}

/// Whether a finding needs a repair now: a cause of warning or above that is neither accepted nor known.
fn needs_repair(finding: &Finding) -> bool {
    finding.caused_by.is_empty()
        && finding.severity > Severity::Info
        && !finding.when.begins()
        && matches!(finding.standing, Standing::Passes | Standing::Fails)
}

fn number(findings: &[Finding]) -> BTreeMap<usize, PlannedFinding> {
    let mut numbers: BTreeMap<Fingerprint, (usize, &'static str)> = BTreeMap::new();
    let mut planned = BTreeMap::new();
    let roots = findings.iter().enumerate().filter(|(_, finding)| needs_repair(finding));
    for (number, (at, finding)) in (1..).zip(roots) {
        let mut after: Vec<_> = finding.after.iter().filter_map(|one| numbers.get(one).copied()).collect();
        after.sort_unstable();
        numbers.insert(finding.fingerprint(), (number, finding.check));
        planned.insert(at, PlannedFinding { number, after });
    }
    planned
}

/// The severity of each finding by number, or that of the worst finding that must be repaired after it.
fn urgency(findings: &[Finding], planned: &BTreeMap<usize, PlannedFinding>) -> BTreeMap<usize, Severity> {
    let mut urgency: BTreeMap<usize, Severity> =
        planned.iter().map(|(&at, finding)| (finding.number, findings[at].severity)).collect();
    for finding in planned.values().rev() {
        let own = urgency[&finding.number];
        for (earlier, _) in &finding.after {
            urgency.entry(*earlier).and_modify(|severity| *severity = own.max(*severity));
        }
    }
    urgency
}

/// Steps with their order.
#[derive(Default)]
struct Graph {
    steps: Vec<PlanStep>,
    /// For each step, the severity of the worst finding that needs it.
    severity: Vec<Severity>,
    /// For each step, the steps that must be done before it.
    before: Vec<BTreeSet<usize>>,
    /// The indexes of steps whose commands others were joined to.
    joined: HashMap<usize, JoinIndex>,
    /// The steps that change lists in annotations, by the index of the step that others were joined to.
    lists: HashMap<usize, Vec<Step>>,
}

impl Graph {
    /// Adds a step that comes after others, or merges it into an equal one if this breaks no order and the repair of
    /// a worse finding does not wait for it. Returns its index.
    fn add(&mut self, step: PlanStep, severity: Severity, before: &BTreeSet<usize>) -> usize {
        let in_order = |other: usize| {
            let delays =
                |one: usize| self.severity[one] < self.severity[other] && !self.comes_after(other, one);
            before.iter().all(|&one| one == other || !self.comes_after(one, other) && !delays(one))
        };
        let of_several = step.step.of_several();
        let others = || (0..self.steps.len()).filter(|other| self.steps[*other].is_custom == step.is_custom);
        let lists = others().filter_map(|other| Some((other, self.same_list(other, &step.step)?)));
        let is_of_chart = |other: &usize| self.steps[*other].step.with_chart_of(&step.step).is_some();
        let charts = others().filter(is_of_chart).map(|other| (other, Merge::Chart));
        let equal = others().filter_map(|other| {
            Some((other, Merge::find(&self.steps[other].step, &step.step, &of_several)?))
        });
        let mergeable = lists.chain(charts).chain(equal).find(|(other, _)| in_order(*other));
        let Some((at, merge)) = mergeable else {
            self.steps.push(step);
            self.before.push(before.clone());
            self.severity.push(severity);
            return self.steps.len() - 1;
        };
        self.steps[at].repairs.extend(&step.repairs);
        self.merge(at, merge, step.step);
        self.severity[at] = self.severity[at].max(severity);
        self.before[at].extend(before.iter().filter(|&&one| one != at));
        at
    }

    /// How a step that changes a list becomes one with a step that changes the same list.
    fn same_list(&self, at: usize, step: &Step) -> Option<Merge> {
        let one = &self.steps[at].step;
        if one.command != step.command && one.with_list_of(step).is_some() {
            return Some(Merge::Lists);
        }
        let part = self.lists.get(&at)?.iter().position(|part| part.with_list_of(step).is_some())?;
        Some(Merge::Part(part))
    }

    /// Joins the command of another step. Lists of several objects are then known by the steps that change them.
    fn join(&mut self, at: usize, other: &Step) {
        let one = &mut self.steps[at].step;
        let parts = [one.list.is_some().then(|| one.clone()), other.list.is_some().then(|| other.clone())];
        self.lists.entry(at).or_default().extend(parts.into_iter().flatten());
        one.list = None;
        one.text = one.of_several();
        if let (Some(command), Some(more)) = (&mut one.command, &other.command) {
            let index = self.joined.entry(at).or_insert_with(|| JoinIndex::new(command));
            command.join_indexed(index, more);
        }
        let forced = one.forced.as_deref().zip(other.forced.as_deref());
        one.forced = forced.and_then(|(one, other)| Forced::joined(one, other)).map(Box::new);
    }

    /// Changes a list in one of the commands of a step as another step does too.
    fn join_part(&mut self, at: usize, part: usize, other: &Step) {
        let Some(old) = self.lists.get_mut(&at).and_then(|parts| parts.get_mut(part)) else { return };
        let Some(both) = old.with_list_of(other) else { return };
        let command = &mut self.steps[at].step.command;
        if let (Some(command), Some(before), Some(after)) = (command, &old.command, &both.command) {
            command.replace_lines(before, after);
        }
        *old = both;
        self.joined.remove(&at);
    }

    fn merge(&mut self, at: usize, merge: Merge, other: Step) {
        let one = &mut self.steps[at].step;
        match merge {
            Merge::First => one.restarts = one.restarts.max(other.restarts),
            Merge::Second => {
                *one = other;
                self.joined.remove(&at);
            }
            Merge::Lists => {
                if let Some(both) = one.with_list_of(&other) {
                    *one = both;
                    self.joined.remove(&at);
                }
            }
            Merge::Chart => {
                if let Some(both) = one.with_chart_of(&other) {
                    *one = both;
                    self.joined.remove(&at);
                }
            }
            Merge::Part(part) => self.join_part(at, part, &other),
            Merge::Both => self.join(at, &other),
        }
    }

    /// The last step of earlier findings that restarts everything that `step` restarts, which then repairs
    /// its finding too.
    fn restarted(&mut self, step: &PlanStep, earlier: &BTreeSet<usize>) -> Option<usize> {
        let restarts = |other: &PlanStep| {
            other.is_custom == step.is_custom
                && !other.repairs.is_disjoint(earlier)
                && includes_restart(&other.step, &step.step)
        };
        let at = self.steps.iter().rposition(restarts)?;
        self.steps[at].repairs.extend(&step.repairs);
        Some(at)
    }

    /// The step of another finding that can set the values of `step` too. It is done first, whatever the order of the
    /// findings: without these values it may fail, and later it would be done again.
    fn set_with(&mut self, step: &PlanStep, severity: Severity) -> Option<usize> {
        let is_of_chart = |other: &PlanStep| {
            other.is_custom == step.is_custom && other.step.with_chart_of(&step.step).is_some()
        };
        let at = self.steps.iter().position(is_of_chart)?;
        self.steps[at].repairs.extend(&step.repairs);
        self.merge(at, Merge::Chart, step.step.clone());
        self.severity[at] = self.severity[at].max(severity);
        Some(at)
    }

    /// Whether `later` must wait for `earlier`, directly or through other steps.
    fn comes_after(&self, later: usize, earlier: usize) -> bool {
        let mut open = vec![later];
        let mut seen = BTreeSet::new();
        while let Some(at) = open.pop() {
            if at == earlier {
                return true;
            }
            if seen.insert(at) {
                open.extend(&self.before[at]);
            }
        }
        false
    }

    /// The release of the linkerd CLI that a step needs.
    fn required_cli(&self, at: usize) -> Option<&str> {
        self.steps[at].step.command.as_ref()?.required_cli()
    }

    /// A step that installs a release of the linkerd CLI comes before the first step that needs it, and repairs the
    /// findings of all that need it too. Returns the order in which steps are tried.
    fn install_cli_first(&mut self) -> Vec<usize> {
        let mut sequence: Vec<usize> = (0..self.steps.len()).collect();
        let installs = |at: usize| {
            self.required_cli(at).is_none().then(|| self.steps[at].step.command.as_ref()?.installed_cli())
        };
        let own = sequence.iter().copied().filter(|at| !self.steps[*at].is_custom);
        let installing: Vec<(usize, String)> = own.filter_map(|at| Some((at, installs(at)??))).collect();
        for (at, release) in installing {
            let needs = |other: usize| {
                self.required_cli(other) == Some(release.as_str()) && !self.comes_after(at, other)
            };
            let needing: Vec<usize> = sequence.iter().copied().filter(|other| needs(*other)).collect();
            let place_of = |step: usize| sequence.iter().position(|other| *other == step);
            let Some(place) = needing.first().and_then(|first| place_of(*first)) else { continue };
            if place_of(at) > Some(place) {
                sequence.retain(|other| *other != at);
                sequence.insert(place, at);
            }
            for other in needing {
                self.before[other].insert(at);
                let repaired = self.steps[other].repairs.clone();
                self.steps[at].repairs.extend(repaired);
            }
        }
        sequence
    }

    /// The steps in an order that satisfies all constraints; otherwise in the order of insertion.
    fn into_sorted(mut self) -> Vec<PlanStep> {
        let mut waiting = self.install_cli_first();
        // Decisions come first; no step is before them.
        waiting.sort_by_key(|&at| self.steps[at].step.applies != Applies::First);
        let mut order = Vec::with_capacity(waiting.len());
        let mut open: BTreeSet<usize> = waiting.iter().copied().collect();
        let is_free =
            |at: usize, open: &BTreeSet<usize>| self.before[at].iter().all(|one| !open.contains(one));
        while !waiting.is_empty() {
            let place = waiting.iter().position(|&at| is_free(at, &open)).unwrap_or_default();
            let next = waiting.remove(place);
            open.remove(&next);
            order.push(next);
        }
        let mut steps: Vec<Option<PlanStep>> = self.steps.into_iter().map(Some).collect();
        order.into_iter().filter_map(|at| steps[at].take()).collect()
    }
}

/// How two steps become one.
#[derive(Debug, Clone, Copy)]
enum Merge {
    /// The first includes the second.
    First,
    /// The second includes the first.
    Second,
    /// One command that changes a list as both do.
    Lists,
    /// The same for one of the commands that were joined to the first, by its index.
    Part(usize),
    /// One command that sets the values of both.
    Chart,
    /// The commands of both.
    Both,
}

impl Merge {
    /// Two steps can be merged that have the same command, the same text without a command, or the same text with
    /// commands whose lines can run together, and restarts of which one includes the other. `of_several`: the text of
    /// `other` for several workloads.
    fn find(one: &Step, other: &Step, of_several: &str) -> Option<Merge> {
        if includes_restart(one, other) {
            return Some(Merge::First);
        }
        if includes_restart(other, one) {
            return Some(Merge::Second);
        }
        match (&one.command, &other.command) {
            (None, None) => (one.text == other.text).then_some(Merge::First),
            (Some(a), Some(b)) if a == b => Some(Merge::First),
            (Some(a), Some(b)) => {
                let separable = |command: &Command| !command.is_whole() && command.node().is_none();
                let is_same = || one.text == other.text || one.text == of_several;
                (separable(a) && separable(b) && is_same()).then_some(Merge::Both)
            }
            _ => None,
        }
    }
}

/// Whether a step recreates all pods that another one only restarts.
fn includes_restart(one: &Step, other: &Step) -> bool {
    match (one.restarts, other.restarts) {
        (Restarts::ControlPlane | Restarts::ControlPlaneByUpgrade, Restarts::ControlPlane) => true,
        (Restarts::Workloads, Restarts::Workloads) => {
            let of = |step: &Step| step.command.as_ref().map(restarted).unwrap_or_default();
            of(one).is_superset(&of(other))
        }
        _ => false,
    }
}

/// The lines of a command, those that renew several workloads once for each of them.
fn restarted(command: &Command) -> BTreeSet<String> {
    command
        .rendered()
        .iter()
        .flat_map(|line| of_each_workload(line).unwrap_or_else(|| vec![line.clone()]))
        .collect()
}

/// A line that renews several workloads, once for each of them: `kubectl rollout restart A B`, or
/// `kubectl get A B -o yaml | linkerd inject ...`.
fn of_each_workload(line: &str) -> Option<Vec<String>> {
    const RESTART: &str = " rollout restart ";
    const INJECT: &str = " -o yaml | linkerd ";
    let (before, workloads, after) = match line.split_once(INJECT) {
        Some((before, after)) => {
            let (before, workloads) = before.split_once(" get ")?;
            (format!("{before} get "), workloads, format!("{INJECT}{after}"))
        }
        None => {
            let (before, workloads) = line.split_once(RESTART)?;
            (format!("{before}{RESTART}"), workloads, String::new())
        }
    };
    Some(workloads.split(' ').map(|workload| format!("{before}{workload}{after}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Line, helm_set, kubectl, linkerd, program};
    use crate::finding::{ChartSetting, ChartSettings, Evidence, ListChange, Remedy, StepKind, Subject};

    fn finding(check: &'static str, steps: &[(&'static str, &'static str)]) -> Finding {
        let subject = Subject::node(check);
        let evidence = Evidence::other(check, "x");
        let mut finding =
            Finding::new(check, Severity::Error, subject, format!("{check} happened")).evidence(evidence);
        finding.remedy = steps.iter().fold(Remedy::new(), |remedy, (text, command)| {
            remedy.run(StepKind::Command, *text, kubectl().words(command))
        });
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
        let found = [
            finding("a", &[("Upgrade", "apply x"), ("Restart a", "rollout a")]),
            finding("b", &[("Upgrade", "apply x")]),
        ];
        assert_eq!(texts(&found), ["Upgrade [1,2] kubectl apply x", "Restart a [1] kubectl rollout a"]);
    }

    #[test]
    fn equal_words_join_their_commands() {
        let found = [
            finding("a", &[("Restart", "rollout a")]),
            finding("b", &[("Fix", "apply y"), ("Restart", "rollout b")]),
        ];
        assert_eq!(
            texts(&found),
            ["Fix [2] kubectl apply y", "Restart [1,2] kubectl rollout a; kubectl rollout b"]
        );
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
                .run(StepKind::Command, "Wait", kubectl().words("rollout status"));
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
        first.remedy = first.remedy.clone().run(StepKind::Command, "Upgrade", guarded("upgrade"));
        let mut second = finding("b", &[]);
        let install = Line::set("LINKERD2_VERSION", "edge-25.4.4").line(program("sh"));
        second.remedy = Remedy::new().run(StepKind::Command, "Install", install);
        let texts = texts(&[first, second]);
        let starts: Vec<&str> =
            texts.iter().map(|text| text.split(" (").next().unwrap_or_default()).collect();
        assert_eq!(
            starts,
            ["Look [1] kubectl get a", "Install [1,2] LINKERD2_VERSION=edge-25.4.4 sh", "Upgrade",]
        );
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
        assert_eq!(
            steps,
            ["Upgrade [1] kubectl apply x", "Restart [1] kubectl rollout a", "Upgrade [2] kubectl apply x"]
        );
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
        let second =
            finding("b", &[("Restart api", "-n shop rollout restart deployment/api"), ("Look", "get b")]);
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
        let first =
            finding("a", &[("Restart control plane", "rollout restart x"), ("Restart", "rollout restart y")]);
        let first = restarting(restarting(first, 0, Restarts::ControlPlane), 1, Restarts::Workloads);
        let second =
            finding("b", &[("Read", "get b"), ("Apply", "apply b"), ("Restart", "rollout restart y")]);
        let second =
            restarting(restarting(second, 1, Restarts::ControlPlaneByUpgrade), 2, Restarts::Workloads);
        assert_eq!(
            texts(&[first, second]),
            [
                "Read [2] kubectl get b",
                "Apply [1,2] kubectl apply b",
                "Restart [1,2] kubectl rollout restart y"
            ]
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
}
