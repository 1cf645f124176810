//! The plan of an upgrade, followed to its end: every printed command of every phase is run. No check may report an error
//! in between, and the mesh must then run the target.

use meshdoctor::card::Part;
use meshdoctor::checks::Upgrade;
use meshdoctor::item::Kind;
use meshdoctor::knowledge::Knowledge;
use meshdoctor::scene::Scene;
use meshdoctor::source::change::Set;

use super::follow::{based_on, errors, later};
use super::world::{World, objects};
use super::{Machine, authorities, complete};
use crate::remedies::{CaseOverlay, selected};
use crate::skip::{Need, skipped};

/// The images of Linkerd in the templates and pods.
fn images(scene: &Scene) -> Vec<String> {
    let image = regex::Regex::new(r#"cr\.l5d\.io/linkerd/(?:controller|proxy):[^"]+"#).unwrap();
    let known = objects(&scene.memory);
    let running = known.iter().filter(|((kind, _), _)| matches!(kind, Kind::Deployment | Kind::Pod));
    let text: String = running.map(|(_, object)| object.to_string()).collect();
    image.find_iter(&text).map(|found| found.as_str().to_owned()).collect()
}

#[test]
fn plan_is_followed_to_its_end() {
    let Some(machine) = Machine::new() else {
        skipped(Need::Kubectl, "the printed commands of an upgrade plan are not run");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut scene = based_on("healthy");
    let mut keys = authorities::authorities(&mut scene, true);
    complete::workloads(&mut scene);
    let upgrade = Upgrade::new("2.19", None, None, Knowledge::embedded().releases()).unwrap();
    let target = upgrade.to.to_string();
    let mut rehearsed = scene.clone();
    rehearsed.settings.upgrade = Some(upgrade);
    let checks = selected(&rehearsed);
    let report = CaseOverlay::new(&rehearsed, &checks).report(&Set::default(), &checks);
    let plan = report.rehearsal.and_then(|rehearsal| rehearsal.plan).unwrap();
    let mut ran = 0;
    for phase in plan.phases.iter().filter(|phase| phase.part != Part::WayBack) {
        assert_eq!(errors(&scene), Vec::<String>::new(), "before {}", phase.title);
        let mut world = World::new(&scene, folder.path());
        world.keys = keys.clone();
        ran += phase.remedy.steps.iter().filter(|step| step.command.is_some()).count();
        let world = machine.follow(world, &phase.remedy.steps);
        let world = world.unwrap_or_else(|why| panic!("{}: {why}", phase.title));
        scene = later(&scene, &world, 1);
        if let Some(cli) = &world.installed_cli {
            scene.memory.cli_version = Some(cli.clone());
        }
        keys = world.keys.clone();
    }
    assert!(ran > 4, "{ran}");
    assert_eq!(errors(&scene), Vec::<String>::new());
    for image in images(&scene) {
        assert!(image.ends_with(&target), "{image}, not {target}");
    }
    assert!(!images(&scene).is_empty());
}
