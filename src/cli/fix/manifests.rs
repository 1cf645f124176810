//! Repairs of manifests: edits of their files. An edit is offered only if the checks run again without its finding and
//! without a new one; every other finding is listed with the reason.

mod documents;
mod templates;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::Path;

use serde_json::Value;

use super::overlay::{Overlay, Questions};
use crate::archive::folder_of;
use crate::chart::values_input::ValuesInput;
use crate::checks::{self, Check, Settings};
use crate::cli::args::{self, Fix, FixFormat};
use crate::cli::stop::Stop;
use crate::cli::{change, chart, check, files, output, request};
use crate::exit;
use crate::finding::{Finding, Step, Subject};
use crate::item::Item;
use crate::knowledge::Knowledge;
use crate::kubectl::{Action, Edit, Target, actions};
use crate::objects::mistyped::Mistyped;
use crate::policy::{self, Policy};
use crate::render::ci::sarif;
use crate::render::fix::{
    EditedFile, FileRepair, ObjectEdit, RepairedFinding, file_json, file_summary, file_text, replacements,
};
use crate::repair::{Overlay as _, State};
use crate::report::Report;
use crate::source::change::{Set, Versions};
use crate::source::dump::Places;
use crate::source::evidence::Captured;
use crate::value_edit::has_merge_key;
use documents::{document, number_of_document};
use values::ChartValues;

/// The category of checks of chart values.
const CHART_VALUES: &str = "chart-values";

pub(super) fn run(args: &Fix) -> anyhow::Result<u8> {
    let is_stdin = |path: &std::path::PathBuf| path.as_os_str() == "-";
    if args.write && args.manifests.iter().chain(&args.values).any(is_stdin) {
        let cause = "--write edits files, but a path of - is standard input";
        return Err(Stop::usage(cause, "give the files or their folder").into());
    }
    let check = args.as_check();
    let policy = request::policy(&check)?;
    let mut checks = request::select(&policy, Knowledge::embedded())?;
    if policy.only.is_empty() {
        checks.retain(|check| check.card().front.judges_manifests());
    }
    let input = Input { args: &check, policy: &policy, checks: &checks, items: policy::run_items(&checks) };
    let format = args.output.unwrap_or(FixFormat::Diff);
    let (mut repair, sarif) = input.judge(&mut |judged, overlay| {
        let repair = Repairer::new(judged, overlay).repair();
        let sarif = (format == FixFormat::Sarif).then(|| sarif::with_fixes(&judged.report, &repair.findings));
        (repair, sarif)
    })?;
    if args.write {
        let changed = repair.files.iter().filter(|(_, edited)| edited.old != edited.new);
        files::replace_all(changed.map(|(file, edited)| (Path::new(file), edited.new.as_str())))?;
        repair.is_written = true;
        // The files are read again: the result is that of the folder, not of the edits.
        repair.left = input.judge(&mut |judged, _| judged.planned())?;
    }
    output::print(&match (sarif, format) {
        (Some(sarif), _) => sarif,
        (None, FixFormat::Json) => file_json(&repair),
        (None, _) => output::for_people(file_text(&repair)),
    })?;
    if !args.verbosity.quiet {
        for line in file_summary(&repair) {
            output::print_line(&line);
        }
    }
    let open = if args.write { repair.left.len() } else { repair.findings.len() };
    Ok(match open {
        0 if repair.status == exit::FINDINGS => exit::FINE,
        0 => repair.status,
        _ => exit::FINDINGS,
    })
}

/// The manifests and the questions of a run.
struct Input<'a> {
    args: &'a args::Check,
    policy: &'a Policy,
    checks: &'a [&'static Check],
    items: BTreeSet<Item>,
}

/// Manifests with their findings.
struct JudgedManifests {
    report: Report,
    /// Its findings with the kinds that objects are judged as: a Rollout of Argo as a Deployment.
    filed: Vec<Finding>,
    set: Set,
    places: Option<Places>,
    values: Vec<ValuesInput>,
    charts: ChartValues,
}

impl JudgedManifests {
    /// The findings that need a repair, in its order.
    fn planned(&self) -> Vec<String> {
        let planned = self.report.repair.findings.keys().map(|&at| &self.report.findings[at]);
        planned.map(|finding| finding.check.to_owned()).collect()
    }
}

impl Input<'_> {
    /// Reads and checks the manifests.
    fn judge<T>(&self, act: &mut dyn FnMut(&JudgedManifests, &Overlay<'_, Versions>) -> T) -> anyhow::Result<T> {
        let knowledge = Knowledge::embedded();
        let change::Loaded { mut given, set, versions, release } = change::loaded(self.args)?;
        let mut settings: Settings = check::settings(self.args, self.policy)?;
        settings.linkerd_version = release.clone();
        settings.manifests = change::flags(self.args);
        settings.values.extend(chart::chart_values(self.args, knowledge)?);
        let flags = settings.values.iter().flat_map(|given| chart::flags(self.args, given, None));
        settings.manifests.extend(flags.collect::<Vec<_>>());
        let places = given.as_mut().and_then(Captured::places);
        let installed = given.as_mut().map(Captured::charts).unwrap_or_default();
        let (values, unknown) = chart::of_manifests(installed.clone(), (false, release.as_ref()), knowledge);
        let charts = ChartValues {
            given: settings.values.clone(),
            installed,
            texts: given.as_mut().map(Captured::texts).unwrap_or_default(),
            release: release.clone(),
        };
        settings.values.extend(values);
        let mut items = self.items.clone();
        items.remove(&Item::CliVersion);
        let questions =
            Questions { checks: self.checks, policy: self.policy, settings: &settings, knowledge, items: &items };
        let overlay = Overlay { base: &versions, release, today: None, args: self.args, questions };
        let mut collected = overlay.collected(&set);
        collected.uncollected.set_aside.extend(unknown);
        let mut report = overlay.report(&collected);
        chart::place(&mut report.findings, &settings.values);
        chart::place_keys(&mut report.findings, set.value_keys());
        let filed = report.findings.clone();
        if let Some(places) = &places {
            change::place(&mut report.findings, places);
        }
        let values = settings.values.clone();
        Ok(act(&JudgedManifests { report, filed, set, places, values, charts }, &overlay))
    }
}

/// Edits the files of manifests, finding by finding.
struct Repairer<'a> {
    judged: &'a JudgedManifests,
    overlay: &'a Overlay<'a, Versions>,
    set: Set,
    values: Vec<ValuesInput>,
    state: State,
    /// The text of each edited file.
    texts: BTreeMap<String, String>,
    /// The lines of each file that a suggestion replaces.
    suggested: Vec<(String, RangeInclusive<usize>)>,
    repair: FileRepair,
}

impl<'a> Repairer<'a> {
    fn new(judged: &'a JudgedManifests, overlay: &'a Overlay<'a, Versions>) -> Repairer<'a> {
        let state = overlay.judge(&judged.set);
        let repair = FileRepair { status: judged.report.verdict.status, ..FileRepair::default() };
        Repairer {
            judged,
            overlay,
            set: judged.set.clone(),
            values: judged.values.clone(),
            state,
            texts: BTreeMap::new(),
            suggested: Vec::new(),
            repair,
        }
    }

    fn repair(mut self) -> FileRepair {
        for (&at, planned) in &self.judged.report.repair.findings {
            let finding = &self.judged.report.findings[at];
            let mut edits = Vec::new();
            let mut left_out = Vec::new();
            let filed = &self.judged.filed[at];
            let outcome = self.finding(filed, &mut edits, &mut left_out);
            // Suggestions are accepted one by one, so they must not touch the same lines.
            if outcome.is_ok() && !self.suggest(&edits) {
                edits.clear();
            }
            self.repair.findings.push(RepairedFinding {
                at,
                number: planned.number,
                check: finding.check,
                severity: finding.severity,
                message: finding.message.clone(),
                subjects: finding.subjects.iter().map(ToString::to_string).collect(),
                places: finding.written.iter().map(|one| format!("{}:{}", one.file, one.line)).collect(),
                edits: if outcome.is_ok() { edits } else { Vec::new() },
                left_out,
                outcome,
            });
        }
        for (file, new) in self.texts {
            if let Some(edited) = self.repair.files.get_mut(&file) {
                edited.new = new;
            }
        }
        self.repair
    }

    /// Whether the edits of a finding touch no line of earlier suggestions; then they are one too.
    fn suggest(&mut self, edits: &[ObjectEdit]) -> bool {
        let lines = || {
            let each = edits.iter().flat_map(|edit| edit.replacements.iter().map(move |one| (edit, one)));
            each.map(|(edit, one)| (edit.file.clone(), one.first..=one.last))
        };
        let overlaps = |(file, lines): (String, RangeInclusive<usize>)| {
            let touches = |other: &RangeInclusive<usize>| lines.start() <= other.end() && other.start() <= lines.end();
            self.suggested.iter().any(|(known, other)| *known == file && touches(other))
        };
        let is_free = !lines().any(overlaps);
        if is_free {
            self.suggested.extend(lines());
        }
        is_free
    }

    /// Edits the files for a finding, and lists its edits; otherwise why nothing is edited. `left_out`: the objects
    /// that cannot be edited although others can.
    fn finding(
        &mut self,
        finding: &Finding,
        alone: &mut Vec<ObjectEdit>,
        left_out: &mut Vec<String>,
    ) -> Result<Vec<String>, String> {
        let prints: Vec<_> = finding.subjects.iter().map(|one| finding.subject_fingerprint(one)).collect();
        if prints.iter().all(|print| !self.state.problems.contains_key(print)) {
            // The edit of an earlier finding removes this one too.
            return Ok(Vec::new());
        }
        let mut texts = self.texts.clone();
        let mut edited = Vec::new();
        if let Some(values) = self.values_of(finding, &mut texts, alone, &mut edited)? {
            let mut set = self.set.clone();
            set.put_value_keys(self.judged.charts.keys(&texts));
            return self.accept(finding, (set, values, texts), edited);
        }
        let mut edits = edits(finding)?;
        let mut parts = object_by_object(&edits);
        let subject = |object: &String| finding.subjects.iter().find(|one| one.to_string() == *object);
        let is_of_subjects = !parts.is_empty() && parts.iter().all(|(object, _)| subject(object).is_some());
        if is_of_subjects {
            // The edit of an earlier finding is right for the others.
            let is_open = |object: &String| {
                subject(object).is_some_and(|one| self.state.problems.contains_key(&finding.subject_fingerprint(one)))
            };
            parts.retain(|(object, _)| is_open(object));
            edits = parts.iter().flat_map(|(_, own)| own.clone()).collect();
        }
        let why = match self.of_objects(finding, &edits, alone) {
            Ok(edited) => return Ok(edited),
            Err(why) => why,
        };
        if parts.len() < 2 || !is_of_subjects {
            return Err(why);
        }
        // What is right for one object may add a finding about another one.
        for (object, own) in parts {
            let mut own_alone = Vec::new();
            let part = Finding { subjects: subject(&object).cloned().into_iter().collect(), ..finding.clone() };
            match self.of_objects(&part, &own, &mut own_alone) {
                Ok(more) => {
                    edited.extend(more);
                    alone.extend(own_alone);
                }
                Err(why) => left_out.push(format!("{object}: {why}")),
            }
        }
        if edited.is_empty() {
            left_out.clear();
            return Err(why);
        }
        Ok(edited)
    }

    /// Edits objects for a finding.
    fn of_objects(
        &mut self,
        finding: &Finding,
        edits: &[Action],
        alone: &mut Vec<ObjectEdit>,
    ) -> Result<Vec<String>, String> {
        let mut set = self.set.clone();
        let mut texts = self.texts.clone();
        let mut edited = Vec::new();
        let mut own_edits = Vec::new();
        let mut moved = MovedAnnotations::default();
        for action in edits {
            if self.is_corrected(action) {
                continue;
            }
            if let Action::Edit { target, .. } = action {
                let mut apart = self.judged.set.apart();
                let is_apart = apart.find(|(kind, namespace, name)| {
                    *kind == target.kind && *namespace == target.namespace && target.names.contains(name)
                });
                if let Some((kind, namespace, name)) = is_apart {
                    let object = Subject::object(kind.info().kind, &namespace, &name);
                    let next = "run the command on one folder at a time";
                    return Err(format!("{object} has different content in several folders; {next}"));
                }
            }
            set = self.overlay.apply(&set, action)?;
            let Action::Edit { target, .. } = action else { continue };
            for name in &target.names {
                let place = self.object(target, name, action, &mut texts)?;
                moved.add(&place);
                for pointer in &place.retyped {
                    set.correct(target.kind, (&target.namespace, name), pointer);
                }
                let own = self.object_edit(target, name, action);
                // The first line of the edit, in the file as it is; that of the object if another edit comes first.
                let line = own.as_ref().and_then(|edit| edit.replacements.iter().find_map(|one| one.changed));
                edited.push(format!("{}:{}", place.file, line.unwrap_or(place.line)));
                own_edits.extend(own);
            }
        }
        if let Some((key, value)) = moved.lost().filter(|_| corrects_annotations(finding)) {
            let manual = finding.remedy.steps.iter().find(|step| step.command.is_none());
            let step = manual.map_or(String::new(), |step| format!(": {}", step.text));
            return Err(format!("the edit would only remove {key}: {value}, and its intent is your decision{step}"));
        }
        let edited = self.accept(finding, (set, self.values.clone(), texts), edited)?;
        alone.extend(own_edits);
        Ok(edited)
    }

    /// Whether an action only sets values whose type an earlier edit corrected, perhaps to other values.
    fn is_corrected(&self, action: &Action) -> bool {
        let Action::Edit { target, edit: Edit::Json(operations) } = action else { return false };
        let [name] = target.names.as_slice() else { return false };
        let is_in = |set: &Set, path: &Value| {
            let mut own = set.mistyped().iter().filter(|wrong| wrong.is_of(target.kind, &target.namespace, name));
            own.any(|wrong| *path == wrong.pointer())
        };
        operations.iter().all(|one| is_in(&self.judged.set, &one["path"]) && !is_in(&self.set, &one["path"]))
    }

    /// Keeps edits if they remove the finding and add none.
    fn accept(
        &mut self,
        finding: &Finding,
        (set, values, texts): (Set, Vec<ValuesInput>, BTreeMap<String, String>),
        mut edited: Vec<String>,
    ) -> Result<Vec<String>, String> {
        let state = self.overlay.judge_with(&set, &values);
        let mut prints = finding.subjects.iter().map(|one| finding.subject_fingerprint(one));
        if let Some(left) = prints.find_map(|print| state.problems.get(&print)) {
            return Err(format!("the edit does not remove the finding for {}", left.subject));
        }
        if let Some((_, new)) = state.beyond(&self.state).into_iter().next() {
            return Err(format!("the edit would add {} ({})", new.check, new.subject));
        }
        (self.set, self.values, self.state, self.texts) = (set, values, state, texts);
        edited.sort();
        edited.dedup();
        Ok(edited)
    }

    /// The edit of an object in its file as it is; `None` if it needs the edit of another finding.
    fn object_edit(&mut self, target: &Target, name: &str, action: &Action) -> Option<ObjectEdit> {
        let mut texts = BTreeMap::new();
        self.object(target, name, action, &mut texts).ok()?;
        let (file, new) = texts.into_iter().next()?;
        let replacements = replacements(&self.repair.files.get(&file)?.old, &new);
        let object = Subject::object(target.kind.info().kind, &target.namespace, name).to_string();
        Some(ObjectEdit { object, file, replacements })
    }

    /// Edits the document of an object.
    fn object(
        &mut self,
        target: &Target,
        name: &str,
        action: &Action,
        texts: &mut BTreeMap<String, String>,
    ) -> Result<EditedObject, String> {
        let kind = target.kind.info().kind;
        let object = Subject::object(kind, &target.namespace, name);
        let places = self.judged.places.as_ref();
        let place = places.and_then(|places| places.find(kind, &target.namespace, name, None));
        let place = place.ok_or_else(|| format!("{object} is not in a file of --manifests"))?;
        if let Some((file, line)) = places.and_then(|places| places.earlier(kind, &target.namespace, name)) {
            let folders = match folder_of(file) == folder_of(&place.file) {
                true => "",
                false => ", or run the command on one folder at a time",
            };
            return Err(format!("{}:{}: {object} is also in {file}:{line}; keep one{folders}", place.file, place.line));
        }
        if let Some(source) = place.source {
            return Err(format!("{}: the file is rendered from {source}; edit it there", place.file));
        }
        let text = self.text(&place.file, texts)?;
        let Action::Edit { edit, .. } = action else { return Err("it is not an edit".to_owned()) };
        let at = |why: String| format!("{}:{}: {why}", place.file, place.line);
        let line = usize::try_from(place.line).unwrap_or(usize::MAX);
        let number = self.repair.files.get(&place.file).map_or(0, |read| number_of_document(&read.old, line));
        let of_kind = places.and_then(|places| places.written_kind(kind, &target.namespace, name));
        let found = document(&text, of_kind.unwrap_or(kind), (&target.namespace, name), number)
            .ok_or_else(|| at(format!("{object} is not in a document that can be read")))?;
        let value = found.object();
        if of_kind.is_some() && value.pointer("/spec/template/spec").is_none() {
            return Err(at("its pod template is not in spec.template".to_owned()));
        }
        if has_merge_key(value) {
            return Err(at("it uses merge keys (<<)".to_owned()));
        }
        let after = edit.apply(value).map_err(at)?;
        let own = |wrong: &&Mistyped| wrong.is_of(target.kind, &target.namespace, name) && wrong.meant.is_some();
        let wrong = self.judged.set.mistyped().iter().filter(own).map(Mistyped::pointer);
        let retyped = wrong.filter(|pointer| after.pointer(pointer).is_none_or(Value::is_string)).collect();
        let (before, now) = (annotations(value), annotations(&after));
        let whole = found.with(after);
        let document = crate::yaml_edit::changed(&text[found.range.clone()], &found.value, &whole).map_err(at)?;
        let mut edited = text;
        edited.replace_range(found.range, &document);
        texts.insert(place.file.clone(), edited);
        Ok(EditedObject { file: place.file.clone(), line, retyped, before, now })
    }

    /// The text of a file with the edits so far.
    fn text(&mut self, file: &str, texts: &BTreeMap<String, String>) -> Result<String, String> {
        if file == "stdin" {
            return Err("it was read from standard input; write it to a file first".to_owned());
        }
        if let Some(text) = texts.get(file) {
            return Ok(text.clone());
        }
        if let Some(read) = self.repair.files.get(file) {
            return Ok(read.old.clone());
        }
        let text = std::fs::read_to_string(Path::new(file))
            .map_err(|error| format!("{file}: the file cannot be read for an edit: {error}"))?;
        let original = EditedFile { old: text.clone(), new: text.clone() };
        self.repair.files.insert(file.to_owned(), original);
        Ok(text)
    }
}

/// An object with an edit in its file.
struct EditedObject {
    file: String,
    /// Its line, from 1.
    line: usize,
    /// The JSON pointers of values that got the right type.
    retyped: Vec<String>,
    /// Its annotations and labels before the edit.
    before: BTreeSet<(String, String)>,
    /// Those after it.
    now: BTreeSet<(String, String)>,
}

/// The annotations and labels that the edits for a finding remove from objects and write to objects.
#[derive(Default)]
struct MovedAnnotations {
    removed: BTreeSet<(String, String)>,
    written: BTreeSet<String>,
}

impl MovedAnnotations {
    fn add(&mut self, place: &EditedObject) {
        let is_left = |key: &String| place.now.iter().any(|(left, _)| left == key);
        self.removed.extend(place.before.iter().filter(|(key, _)| !is_left(key)).cloned());
        self.written.extend(place.now.iter().map(|(_, value)| value.clone()));
    }

    /// A removed one whose value no edited object has under another key.
    fn lost(&self) -> Option<&(String, String)> {
        self.removed.iter().find(|(_, value)| !self.written.contains(value))
    }
}

/// The keys and values of an object's annotations and labels, with those of its templates.
fn annotations(object: &Value) -> BTreeSet<(String, String)> {
    let mut all = BTreeSet::new();
    let mut waiting = vec![object];
    while let Some(value) = waiting.pop() {
        let Some(fields) = value.as_object() else { continue };
        let listed = ["annotations", "labels"].into_iter().filter_map(|name| fields.get(name)?.as_object());
        for (key, value) in listed.flatten() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            all.insert((key.clone(), text.trim().to_owned()));
        }
        waiting.extend(fields.values().filter(|value| value.is_object()));
    }
    all
}

/// Whether a finding is about the key, the place or the value of annotations: one that has no effect shows an intent,
/// which is not removed without writing it elsewhere.
fn corrects_annotations(finding: &Finding) -> bool {
    let category = checks::find(finding.check).map(|check| check.card().front.category.as_str());
    category.is_some_and(|category| ["annotations", "native-sidecar"].contains(&category))
}

/// The edits of each object, with the object.
fn object_by_object(edits: &[Action]) -> Vec<(String, Vec<Action>)> {
    let mut parts: Vec<(String, Vec<Action>)> = Vec::new();
    for action in edits {
        let Action::Edit { target, edit } = action else { return Vec::new() };
        for name in &target.names {
            let object = Subject::object(target.kind.info().kind, &target.namespace, name).to_string();
            let target = Target { names: vec![name.clone()], ..target.clone() };
            let own = Action::Edit { target, edit: edit.clone() };
            match parts.iter_mut().find(|(known, _)| *known == object) {
                Some((_, actions)) => actions.push(own),
                None => parts.push((object, vec![own])),
            }
        }
    }
    parts
}

/// The edits of a remedy. Steps that only matter to a running cluster are left out.
fn edits(finding: &Finding) -> Result<Vec<Action>, String> {
    let steps: &[Step] = &finding.remedy.steps;
    let mut edits = Vec::new();
    let is_of_chart = checks::find(finding.check).is_some_and(|check| check.card().front.category == CHART_VALUES);
    let mut other =
        steps.first().filter(|_| is_of_chart).map(|step| format!("the value is your decision: {}", step.text));
    for step in steps {
        let Some(command) = &step.command else {
            other = other.or_else(|| Some(format!("it is manual: {}", step.text)));
            continue;
        };
        if step.is_conditional() {
            other = other.or_else(|| Some(format!("it is conditional: {}", step.text)));
            continue;
        }
        match actions(&command.to_string()) {
            Err(why) => other = other.or_else(|| Some(format!("{why}: {}", step.text))),
            Ok(actions) => {
                for action in actions {
                    match &action {
                        Action::Edit { target, .. } if !target.names.is_empty() => edits.push(action),
                        Action::Observe | Action::Restart(_) => {}
                        Action::Delete { target, .. } if target.kind == crate::item::Kind::Pod => {}
                        Action::Edit { .. } | Action::Delete { .. } | Action::Create(..) => {
                            return Err(format!("its step is not an edit of an object: {}", step.text));
                        }
                    }
                }
            }
        }
    }
    match (edits.is_empty(), other) {
        (false, _) => Ok(edits),
        (true, Some(why)) => Err(why),
        (true, None) => Err("its steps change no manifest".to_owned()),
    }
}
