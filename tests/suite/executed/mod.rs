//! Remedies that are run: the printed commands of firing cases, with /bin/sh and the real kubectl, on an API server in this
//! process. Other programs are stand-ins. Afterwards all checks judge the cluster again.

mod authorities;
mod certificates;
mod cni;
mod complete;
mod controllers;
#[cfg(test)]
pub mod follow;
#[cfg(test)]
mod from_git;
mod gateway_api;
mod gitops;
mod helm;
mod kubelet;
mod linkerd;
mod nodes;
mod programs;
mod rerun;
#[cfg(test)]
mod rotation;
mod runtime;
mod server;
mod strategic;
#[cfg(test)]
mod upgrade;
mod values;
mod world;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use meshdoctor::checks::Check;
use meshdoctor::command::RunsOn;
use meshdoctor::finding::{Applies, Step};
use meshdoctor::item::Kind;
use meshdoctor::node_files::NodeFiles;
use meshdoctor::render::fix::guarded;
use meshdoctor::repair::{Overlay as _, State};
use meshdoctor::report::RepairPlan;
use meshdoctor::scene::Scene;
use meshdoctor::source::change::Set;

use crate::remedies::{CaseOverlay, of_check};
use world::World;

/// The result of running the steps of a remedy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ran {
    /// The finding is gone, nothing new came, and no step failed.
    Cured,
    /// No step has a command that changes something.
    NoCommand,
    /// A step failed: its number, from 1, and the message.
    Failed(usize, String),
    /// All steps ran, and the finding is still there.
    Remains,
    /// The check can no longer judge the cluster.
    NotJudged,
    /// Findings of these checks are new.
    Adds(String),
}

/// The name of the operator at the API server.
const USER: &str = "jane@example.com";

/// Values that an operator sets for the variables of printed commands.
const VARIABLES: [(&str, &str); 16] = [
    ("USER_NAME", USER),
    ("NODE_NETWORK", "10.0.0.0/8"),
    ("NAMESPACE", "shop"),
    ("NODE_NAME", "ip-10-0-1-12"),
    ("PORT", "8080"),
    ("SCC", "privileged"),
    ("CPU_LIMIT", "1"),
    ("CPU_REQUEST", "100m"),
    ("MEMORY_REQUEST", "20Mi"),
    ("NETWORKS", "10.96.0.0/12"),
    ("OTHER_CLUSTER", "other"),
    ("RELEASE", "linkerd-cni"),
    ("RELEASE_NAMESPACE", "linkerd-cni"),
    ("CHART_VERSION", "2025.3.1"),
    ("IMAGE", "registry.example.com/meshdoctor:latest"),
    ("MEMORY_LIMIT", "500Mi"),
];

/// The machine of the operator: programs, a kubeconfig and the server.
pub struct Machine {
    programs: tempfile::TempDir,
    home: tempfile::TempDir,
    world: server::Shared,
}

/// A program on the PATH of this machine.
fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// The kubectl of this machine. That of the Google Cloud CLI asks each server for its release and then starts the kubectl
/// of that release, which is taken here at once.
fn kubectl() -> Option<PathBuf> {
    let found = on_path("kubectl")?.canonicalize().ok()?;
    let released = found.with_file_name(format!("kubectl.{}", server::RELEASE));
    Some(if released.is_file() { released } else { found })
}

impl Machine {
    /// `None` if there is no kubectl.
    pub fn new() -> Option<Machine> {
        let kubectl = kubectl()?;
        let (programs, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let world: server::Shared = Arc::new(Mutex::new(None));
        let port = server::start(Arc::clone(&world));
        programs::write(programs.path(), &kubectl, &programs::sender(&kubectl, on_path("curl").as_deref(), port));
        let kubeconfig = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: case\nclusters:\n\
             - {{name: case, cluster: {{server: \"http://127.0.0.1:{port}\"}}}}\n\
             contexts:\n- {{name: case, context: {{cluster: case, user: admin}}}}\n\
             - {{name: other, context: {{cluster: case, user: admin}}}}\n\
             users:\n- {{name: admin, user: {{}}}}\n"
        );
        std::fs::write(home.path().join("kubeconfig"), kubeconfig).unwrap();
        Some(Machine { programs, home, world })
    }

    /// Runs the lines of a step.
    fn step(&self, folder: &Path, lines: &[String]) -> Result<(), String> {
        let path = format!("{}:/usr/bin:/bin", self.programs.path().display());
        let mut shell = Command::new("/bin/sh");
        shell.args(["-euc", &lines.join("\n")]).current_dir(folder).env_clear();
        shell.env("PATH", path).env("HOME", self.home.path());
        shell.env("KUBECONFIG", self.home.path().join("kubeconfig")).envs(VARIABLES);
        // kubectl ends before it would have to collect garbage.
        shell.env("GOGC", "off");
        // Nothing leaves the machine.
        shell.env("HTTPS_PROXY", "http://127.0.0.1:9").env("NO_PROXY", "127.0.0.1");
        let output = shell.stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if std::env::var_os("REMEDY").is_some() {
            println!("$ {}\n{}{said}", lines.join("\n"), String::from_utf8_lossy(&output.stdout));
        }
        match output.status.success() {
            true => Ok(()),
            false => Err(cause(&said)),
        }
    }

    /// Runs steps on the cluster of a case, and judges it again.
    fn run(&self, check: &'static Check, (scene, keys): (&Scene, &authorities::Keys), steps: &[(usize, &Step)]) -> Ran {
        let folder = tempfile::tempdir().unwrap();
        let mut world = World::new(scene, folder.path());
        world.keys = keys.clone();
        if let Some(root) = world.keys.roots.remove(authorities::ROOT) {
            std::fs::write(folder.path().join(authorities::ROOT), root.pem()).unwrap();
            world.keys.roots.insert(root.pem().trim().to_owned(), root);
        }
        *self.world.lock().unwrap() = Some(world);
        for (number, step) in steps {
            by_hand(self.world.lock().unwrap().as_mut().unwrap(), check, scene, step);
            if let Err(why) = in_files(self.world.lock().unwrap().as_mut().unwrap(), step) {
                return Ran::Failed(*number, why);
            }
            let Some(command) = &step.command else { continue };
            if let (Some(release), Some(world)) = (command.required_cli(), self.world.lock().unwrap().as_mut()) {
                world.cli = release.to_owned();
            }
            if command.runs_on() == RunsOn::Node {
                if let Err(why) = on_nodes(self.world.lock().unwrap().as_mut().unwrap(), &command.to_string()) {
                    return Ran::Failed(*number, why);
                }
                continue;
            }
            if let Err(why) = self.step(folder.path(), &guarded(command, "exit 1")) {
                return Ran::Failed(*number, why);
            }
            programs::settle(self.world.lock().unwrap().as_mut().unwrap());
        }
        let world = self.world.lock().unwrap().take().unwrap();
        judged(check, scene, &world)
    }

    /// Runs the commands of steps that always apply on a cluster. Returns the cluster, or the message of a failure.
    fn follow<'s>(&self, world: World, steps: impl IntoIterator<Item = &'s Step>) -> Result<World, String> {
        let folder = world.folder.clone();
        *self.world.lock().unwrap() = Some(world);
        for step in steps.into_iter().filter(|step| !step.is_conditional()) {
            let Some(command) = &step.command else { continue };
            if let Some(release) = command.required_cli() {
                self.world.lock().unwrap().as_mut().unwrap().cli = release.to_owned();
            }
            self.step(&folder, &guarded(command, "exit 1"))?;
            programs::settle(self.world.lock().unwrap().as_mut().unwrap());
        }
        Ok(self.world.lock().unwrap().take().unwrap())
    }

    /// Runs the remedy of a case: its steps, and if they do not cure it, also those that are conditional; then in the
    /// repair plan of all findings of the case.
    pub fn remedy(&self, check: &'static Check, scene: &Scene) -> Ran {
        let (scene, keys) = completed(check, scene);
        let report = of_check(&CaseOverlay::new(&scene, &[]), &Set::default(), check);
        let mut results = Vec::new();
        let plan = RepairPlan::from_findings(&report.findings);
        let mut steps: Vec<(usize, &Step)> = (1..).zip(plan.steps.iter().map(|step| &step.step)).collect();
        if steps.is_empty() {
            // A repair plan leaves out the findings of an upgrade.
            let own = report.findings.iter().flat_map(|finding| &finding.remedy.steps);
            steps = (1..).zip(own).collect();
        }
        let routes = routes(&steps);
        for route in &routes {
            match self.run(check, (&scene, &keys), route) {
                Ran::Cured => return Ran::Cured,
                other => results.push(other),
            }
        }
        if !routes.is_empty() {
            let all = CaseOverlay::new(&scene, &[]).report(&Set::default(), &crate::remedies::selected(&scene));
            let plan = RepairPlan::from_findings(&all.findings);
            let steps: Vec<(usize, &Step)> = (1..).zip(plan.steps.iter().map(|step| &step.step)).collect();
            if plan.findings.len() > 1
                && let Some(route) = self::routes(&steps).first()
                && self.run(check, (&scene, &keys), route) == Ran::Cured
            {
                return Ran::Cured;
            }
        }
        results.into_iter().next().unwrap_or(Ran::NoCommand)
    }
}

/// The cluster of a case with the parts that it leaves out, as long as the finding stays.
fn completed(check: &'static Check, scene: &Scene) -> (Scene, authorities::Keys) {
    let mut scene = scene.clone();
    let findings = |scene: &Scene| of_check(&CaseOverlay::new(scene, &[]), &Set::default(), check).findings.len();
    let wanted = findings(&scene);
    let mut more = scene.clone();
    let report = of_check(&CaseOverlay::new(&scene, &[]), &Set::default(), check);
    let steps = report.findings.iter().flat_map(|finding| &finding.remedy.steps);
    let commands: Vec<String> = steps.filter_map(|step| Some(step.command.as_ref()?.to_string())).collect();
    complete::network(&mut more, &commands.join("\n"));
    complete::workloads(&mut more);
    complete::revisions(&mut more);
    if findings(&more) == wanted {
        scene = more;
    }
    if check.card().front.category == "certificates" {
        for issuers in [true, false] {
            let mut signed = scene.clone();
            let keys = authorities::authorities(&mut signed, issuers);
            if findings(&signed) == wanted {
                return (signed, keys);
            }
        }
    }
    (scene, authorities::Keys::default())
}

/// Creates the pods again that a step leaves to the reader, from their manifests.
fn by_hand(world: &mut World, check: &'static Check, scene: &Scene, step: &Step) {
    let mut named: Vec<(String, String)> = Vec::new();
    if step.text.contains("again from its manifest") || step.text.contains("again from their manifest") {
        let report = of_check(&CaseOverlay::new(scene, &[]), &Set::default(), check);
        for subject in report.findings.iter().flat_map(|finding| &finding.subjects) {
            if let Some(name) = subject.to_string().strip_prefix("Pod ")
                && let Some((namespace, name)) = name.split_once('/')
            {
                named.push((namespace.to_owned(), name.to_owned()));
            }
        }
    }
    if step.text.contains("again by hand") || step.text.contains("by hand, since no controller") {
        let listed = regex::Regex::new(r"([a-z0-9-]+): Pods? ([a-z0-9.-]+(?:, [a-z0-9.-]+)*)").unwrap();
        for found in listed.captures_iter(&step.text) {
            named.extend(found[2].split(", ").map(|name| (found[1].to_owned(), name.trim_end_matches('.').to_owned())));
        }
    }
    for (namespace, name) in named {
        let Some(pod) = world.get(Kind::Pod, &namespace, &name).cloned() else { continue };
        let copied = world.get(Kind::Namespace, "", &namespace).cloned().unwrap_or_default();
        world.by_hand.push(complete::manifest(&pod, &copied));
    }
}

/// Sets the chart values that a step leaves to the files of the installation.
fn in_files(world: &mut World, step: &Step) -> Result<(), String> {
    if step.settings.is_some() {
        gitops::commit(world, step);
        gitops::rendered(world)?;
        programs::settle(world);
    }
    Ok(())
}

/// Runs a script in the root shell of each node.
fn on_nodes(world: &mut World, script: &str) -> Result<(), String> {
    let known = world.of_kind(Kind::Node).filter_map(|node| node["metadata"]["name"].as_str());
    let names: BTreeSet<String> = known.map(str::to_owned).chain(world.nodes.keys().cloned()).collect();
    names.iter().try_for_each(|node| nodes::run(world, node, script).map(|_| ()))
}

/// The first error that a program printed.
fn cause(said: &str) -> String {
    let is_error =
        |line: &&str| !line.starts_with("Warning:") && !line.contains("no objects passed") && !line.trim().is_empty();
    said.lines().find(is_error).unwrap_or("no message").to_owned()
}

/// The ways through the steps of a remedy: those that always apply, all of them, and each alternative.
fn routes<'s>(steps: &[(usize, &'s Step)]) -> Vec<Vec<(usize, &'s Step)>> {
    let with = |keep: &dyn Fn(usize, &Step) -> bool| -> Vec<(usize, &'s Step)> {
        steps.iter().filter(|(number, step)| keep(*number, step)).copied().collect()
    };
    let always = |step: &Step| step.applies == Applies::Always;
    let mut routes = vec![
        with(&|_, step| always(step)),
        with(&|_, step| matches!(step.applies, Applies::Always | Applies::Later)),
        with(&|_, step| step.applies != Applies::Instead),
    ];
    for (number, step) in steps {
        match step.applies {
            Applies::Instead => {
                routes.push(with(&|at, step| at == *number || at + 1 != *number && step.applies != Applies::Instead));
            }
            Applies::Conditionally => routes.push(with(&|at, step| at == *number || always(step))),
            _ => {}
        }
    }
    let changes = |route: &Vec<(usize, &Step)>| {
        route.iter().any(|(_, step)| {
            let text = step.command.as_ref().map(ToString::to_string).unwrap_or_default();
            let by_hand = ["again from its manifest", "again from their manifest", "again by hand", "by hand, since"];
            step.settings.is_some()
                || rerun::is_with_other_arguments(&text)
                || by_hand.iter().any(|words| step.text.contains(words))
                || !meshdoctor::kubectl::actions(&text)
                    .is_ok_and(|all| all.iter().all(|action| *action == meshdoctor::kubectl::Action::Observe))
        })
    };
    let mut seen = BTreeSet::new();
    routes.retain(|route| changes(route) && seen.insert(route.iter().map(|(number, _)| *number).collect::<Vec<_>>()));
    routes
}

/// The scene with the nodes and the runtime state after the commands: new pods serve the certificates in the Secrets.
fn after(scene: &Scene, world: &World) -> Scene {
    let mut scene = scene.clone();
    let is_new = |namespace: &str, name: &str| {
        let pod =
            world.begin_pods().find(|pod| pod["metadata"]["name"] == name && pod["metadata"]["namespace"] == namespace);
        pod.is_some_and(|pod| world.is_new(pod))
    };
    for (server, pods) in &mut scene.memory.served {
        let secret = world.get(Kind::Secret, "linkerd", &format!("linkerd-{}-k8s-tls", server.name()));
        let data = secret.and_then(|secret| secret["data"]["tls.crt"].as_str());
        let pem = data.and_then(|data| STANDARD.decode(data).ok()).and_then(|pem| String::from_utf8(pem).ok());
        for (pod, served) in pods.iter_mut().filter(|(pod, _)| is_new("linkerd", pod)) {
            _ = pod;
            if let Some(pem) = &pem {
                *served = Ok(pem.clone());
            }
        }
    }
    controllers::slices(world, &mut scene);
    if let Some(pods) = scene.memory.objects.get_mut(&Kind::Pod) {
        pods.retain(|pod| !world.ended.contains(&(pod.namespace.clone(), pod.name.clone())));
    }
    scene.memory.diagnostics = runtime::diagnostics(world, &scene);
    // A new pod has another name, which earlier events do not mention. A pod that does not run may fail again.
    if let Some(events) = scene.memory.objects.get_mut(&Kind::Event) {
        events.retain(|event| {
            let event: serde_json::Value = serde_json::from_slice(&event.json).unwrap();
            let involved = &event["involvedObject"];
            let text = |field: &str| involved[field].as_str().unwrap_or_default();
            let runs = world
                .begin_pods()
                .any(|pod| pod["metadata"]["name"] == text("name") && pod["status"]["phase"] == "Running");
            involved["kind"] != "Pod" || !runs || !is_new(text("namespace"), text("name"))
        });
    }
    if let Some(cli) = &world.installed_cli {
        scene.memory.cli_version = Some(cli.clone());
    }
    kubelet::apply(&mut scene, world);
    kubelet::authorized(&mut scene, world);
    kubelet::privileged(&mut scene, world);
    kubelet::admitted(&mut scene, world);
    kubelet::reached(&mut scene, world);
    runtime::logs(&mut scene, world);
    let nodes = world.nodes.iter().map(|(node, files)| NodeFiles { node: node.clone(), files: files.clone() });
    scene.memory.nodes = nodes.collect();
    rerun::apply(&mut scene, world);
    let binding = world
        .of_kind(Kind::ClusterRoleBinding)
        .find(|binding| binding["roleRef"]["name"] == "cluster-admin" && binding["subjects"][0]["name"] == USER);
    if binding.is_some() && scene.memory.denied.is_some() {
        scene.memory.denied = Some(BTreeSet::new());
    }
    scene
}

/// The effects of the commands on the objects of a case.
fn effects(overlay: &CaseOverlay<'_>, world: &World) -> Result<Set, String> {
    let mut set = Set::default();
    for pod in &world.by_hand {
        set.put(Kind::Pod, pod.clone());
    }
    for object in world.scaled_up() {
        set.put(object.0, object.1);
    }
    world.actions().iter().try_fold(set, |set, action| overlay.apply(&set, action))
}

/// Judges the cluster after the commands.
fn judged(check: &'static Check, scene: &Scene, world: &World) -> Ran {
    let after = after(scene, world);
    let checks = crate::remedies::selected(scene);
    let (begin, overlay) = (CaseOverlay::new(scene, &checks), CaseOverlay::new(&after, &checks));
    let set = match effects(&overlay, world) {
        Ok(set) => set,
        Err(why) => return Ran::Failed(0, why),
    };
    let own = of_check(&begin, &Set::default(), check);
    let fresh = of_check(&overlay, &set, check);
    let (before, now) = (State::from_report(&own), State::from_report(&fresh));
    if before.problems.keys().any(|print| now.problems.contains_key(print)) {
        shown("remains", fresh.findings.iter());
        return Ran::Remains;
    }
    let gaps = |report: &meshdoctor::report::Report| report.checks.iter().any(|one| !one.gaps.is_empty());
    if gaps(&fresh) && !gaps(&own) {
        return Ran::NotJudged;
    }
    let (today, then) = (begin.judge(&Set::default()), overlay.judge(&set));
    let new: BTreeSet<&str> = then.beyond(&today).iter().map(|(_, problem)| problem.check).collect();
    if !new.is_empty() {
        let all = overlay.report(&set, &checks);
        shown("adds", all.findings.iter().filter(|finding| new.contains(finding.check)));
    }
    match new.is_empty() {
        true => Ran::Cured,
        false => Ran::Adds(new.into_iter().collect::<Vec<_>>().join(", ")),
    }
}

/// Prints findings of the cluster after the commands, for `REMEDY`.
fn shown<'f>(word: &str, findings: impl Iterator<Item = &'f meshdoctor::finding::Finding>) {
    if std::env::var_os("REMEDY").is_some() {
        findings
            .for_each(|finding| println!("{word}: {:?} {} {:?}", finding.subjects, finding.message, finding.evidence));
    }
}

#[cfg(test)]
mod tests {
    use meshdoctor::card::CaseKind;
    use meshdoctor::checks;
    use meshdoctor::command::{Command, program};
    use meshdoctor::finding::StepKind;

    use super::*;
    use crate::case;

    /// The result of other steps for the first case of a check.
    fn ran(steps: &[Step]) -> Option<Ran> {
        let machine = Machine::new()?;
        let check = checks::find("webhook-key-mismatch").unwrap();
        let case = check.cases().iter().find(|case| case.kind == CaseKind::Fires).unwrap();
        let scene = Scene::parse(&case.blocks, &case::base).unwrap();
        let steps: Vec<(usize, &Step)> = (1..).zip(steps).collect();
        Some(machine.run(check, (&scene, &authorities::Keys::default()), &steps))
    }

    fn step(command: Command) -> Step {
        Step::new(StepKind::Command, "Run it", Some(command))
    }

    #[test]
    fn command_without_effect_proves_nothing() {
        let Some(ran) = ran(&[step(Command::from(program("true")))]) else { return };
        assert_eq!(ran, Ran::Remains);
    }

    #[test]
    fn failing_command_proves_nothing() {
        let Some(ran) = ran(&[step(Command::from(program("false")))]) else { return };
        assert_eq!(ran, Ran::Failed(1, "no message".to_owned()));
    }

    #[test]
    fn harm_of_a_command_is_found() {
        let delete = meshdoctor::command::kubectl().words("-n linkerd delete deployment linkerd-identity");
        let restart = meshdoctor::command::kubectl().words("-n linkerd delete secret linkerd-sp-validator-k8s-tls");
        let steps = [step(Command::from(delete)), step(Command::from(restart))];
        let Some(ran) = ran(&steps) else { return };
        assert!(matches!(&ran, Ran::Adds(checks) if checks.contains("control-plane-missing")), "{ran:?}");
    }
}
