//! `meshdoctor injection`: predicts how the injector treats pods and workloads.

use std::collections::BTreeSet;

use super::args::{Injection, InjectionFormat};
use super::change;
use super::evidence::EvidenceSource;
use super::output;
use super::stop::Stop;
use crate::checks::InjectionFaults;
use crate::command::own;
use crate::exit;
use crate::inspect::injection::{injections, lost, near};
use crate::item::{Item, Kind};
use crate::knowledge::Knowledge;
use crate::missing::Missing;
use crate::policy;
use crate::render::injection as render;
use crate::request::Request;
use crate::source::change::{Change, Fate, MAKERS, Set, Templates, Versions};
use crate::source::dump::Places;
use crate::source::evidence::Captured;

pub(super) fn run(args: &Injection) -> anyhow::Result<u8> {
    let knowledge = Knowledge::embedded();
    let (templates, faults) = templates(args, knowledge)?;
    let targets = args.targets();
    if let Some(target) = lost(&templates, &targets) {
        let next = format!("{} without a name shows all pods and workloads", own("injection"));
        let near = near(&templates, target);
        let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        let cause = match target.workload {
            Some(_) => format!("there is no pod or workload {target}{near}"),
            None => format!("the namespace {target} does not exist or has no pods or workloads{near}"),
        };
        return Err(Stop::usage(cause, next).into());
    }
    let answers = injections(&templates, &targets, knowledge, faults.as_ref());
    let text = match args.output {
        InjectionFormat::Table => render::table(&templates, &answers, output::look()),
        InjectionFormat::Json => {
            format!("{}\n", serde_json::to_string_pretty(&render::json(&templates, &answers))?)
        }
    };
    output::print(&text)?;
    let gaps: Vec<Missing> =
        templates.gaps.iter().map(|(kind, why)| Missing::whole(Request::new(Item::List(*kind)), why.clone())).collect();
    let gaps = super::policy::gaps(&gaps, &super::rerun::connection(&args.connection));
    if answers.iter().any(|answer| answer.fault.is_some()) {
        return Ok(exit::FINDINGS);
    }
    let untold = answers.iter().any(|answer| matches!(answer.of.fate, Fate::Unknown(_)));
    let unread = answers.is_empty() && !templates.set_aside.is_empty();
    Ok(if untold || unread { exit::NOT_CHECKED } else { gaps })
}

/// The workloads, and the errors of the cluster that keep their pods from being injected, if a cluster is read.
fn templates(args: &Injection, knowledge: &Knowledge) -> anyhow::Result<(Templates, Option<InjectionFaults>)> {
    let mut given = match args.manifests.is_empty() {
        true => None,
        false => Some(change::read_change(&args.manifests, &args.evidence, args.into.clone(), &args.verbosity)?),
    };
    let set = match &given {
        None => Set::default(),
        Some(given) => futures::executor::block_on(Set::read(given, args.into.as_deref())),
    };
    let places = given.as_mut().and_then(Captured::places);
    let release = args.linkerd_version.clone();
    let at = args.evidence.at;
    if given.is_some() && args.evidence.bundle.is_empty() && !args.evidence.live {
        let versions = Versions(None);
        let at = at.unwrap_or_else(jiff::Timestamp::now);
        let change = Change::new(&versions, &set, knowledge, at).injecting(release);
        let templates = futures::executor::block_on(change.templates(true));
        return Ok((named_as_written(templates, places.as_ref()), None));
    }
    let mut items: BTreeSet<Item> = MAKERS.into_iter().map(Item::List).collect();
    items.extend(policy::items(&InjectionFaults::checks()));
    change::items(&mut items);
    items.insert(Item::List(Kind::CronJob));
    let way = EvidenceSource::new(&args.evidence, &args.connection);
    let kept = change::gather_and_save(&way, &args.verbosity, &items, None)?;
    let at = kept.read.collected.cluster.at;
    let change = Change::new(&kept.again, &set, knowledge, at).injecting(release);
    let templates = futures::executor::block_on(change.templates(given.is_some()));
    let faults = InjectionFaults::read(&kept.read.collected.cluster, knowledge);
    Ok((named_as_written(templates, places.as_ref()), Some(faults)))
}

/// The same, with the kinds of the manifests instead of those that objects of other kinds are read as.
fn named_as_written(mut templates: Templates, places: Option<&Places>) -> Templates {
    for template in &mut templates.all {
        let kind = template.kind.info().kind;
        let written = places.and_then(|places| places.written_kind(kind, &template.namespace, &template.name));
        if let Some(written) = written {
            template.written_kind = Some(written.to_owned());
        }
    }
    templates
}
