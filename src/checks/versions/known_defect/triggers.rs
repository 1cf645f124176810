//! Objects that trigger a defect: the expression of the row is true for them.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::Affected;
use super::fields::{ObjectFields, objects};
use super::pods::Past;
use crate::checks::prelude::*;
use crate::checks::reported::{containers, log_of, logged};
use crate::expression::{Expression, Known, NoValue, Scope};
use crate::knowledge::{AffectedComponent, DefectTrigger};
use crate::objects::{CustomResourceDefinition, is_undefined};

/// Variables of expressions.
pub(super) const VARIABLES: [&str; 5] = ["object", "annotations", "others", "ended", "reported"];
/// Maximum length of quoted text.
const QUOTED: usize = 200;
/// Maximum age of an event.
const LATELY: SignedDuration = SignedDuration::from_hours(1);

/// A row with its parsed expressions.
struct Parsed<'a> {
    affected: &'a Affected<'a>,
    trigger: &'a DefectTrigger,
    only_where: Option<Rc<Expression>>,
    expression: Rc<Expression>,
    quote: Option<Rc<Expression>>,
    /// The kind of `others`, if the row has `with`.
    with: Option<Kind>,
    /// A scope with `others`, read when the first object needs it. Its budget is its own.
    scope: OnceCell<Option<Scope<'static>>>,
}

/// Findings by row and owner, with the names of the pods.
type OfPods<'a> = BTreeMap<(&'a str, Owner), (Vec<String>, Finding)>;

/// Findings of all rows with a trigger.
pub(super) fn findings(ctx: &Context<'_>, affected: &[Affected<'_>]) -> Vec<Finding> {
    let root = Scope::new(Known::default());
    let parsed: Vec<Parsed<'_>> = affected.iter().filter_map(|affected| parse(ctx, affected)).collect();
    note_unread_logs(ctx, &parsed);
    let mut kinds: Vec<Kind> =
        parsed.iter().flat_map(|row| row.trigger.kinds.iter()).filter_map(|kind| kind.parse().ok()).collect();
    kinds.sort();
    kinds.dedup();
    let mut findings = Vec::new();
    for kind in kinds {
        let rows: Vec<&Parsed<'_>> = parsed.iter().filter(|row| row.is_for(kind)).collect();
        let Some(objects) = served(ctx, kind) else { continue };
        let mut of_pods = OfPods::new();
        for object in objects.iter().filter(|object| object.is_judged(ctx)) {
            let found = of_object(ctx, &rows, &root, object);
            let Some(pod) = object.pod() else {
                findings.extend(found.into_iter().map(|(_, finding)| finding));
                continue;
            };
            for (row, finding) in found {
                let group = of_pods.entry((row.affected.row.id.as_str(), ctx.owners().owner(pod)));
                group.or_insert_with(|| (Vec::new(), finding)).0.push(pod.metadata.name.clone());
            }
        }
        findings.extend(
            of_pods
                .into_iter()
                .map(|((_, owner), (pods, finding))| Finding { subjects: vec![owner.subject(pods)], ..finding }),
        );
    }
    findings
}

/// Notes that logs are missing if only they show a defect of a running component. One gap covers all rows.
fn note_unread_logs<'a>(ctx: &Context<'a>, parsed: &[Parsed<'_>]) {
    let rows: Vec<&Parsed<'_>> = parsed.iter().filter(|row| row.trigger.log_rows().next().is_some()).collect();
    let written_by = |row: &Parsed<'_>, container: &str| {
        let mut lines = ctx.knowledge.mesh_logs().rows().iter();
        lines.any(|line| {
            row.trigger.log_rows().any(|id| id == line.id) && line.containers.iter().any(|of| of == container)
        })
    };
    let running = |pod: &&Pod| !pod.is_finished() && pod.metadata.deletion_timestamp.is_none();
    let writers = |row: &Parsed<'_>| -> Vec<(&'a Pod, &'a str)> {
        let pods = ctx.optional_list::<Pod>().iter().filter(running);
        let affected = pods.filter(|pod| row.affected.is_of_pod(ctx, pod));
        affected
            .flat_map(|pod| containers(ctx, pod).map(move |container| (pod, container)))
            .filter(|(_, container)| written_by(row, container))
            .collect()
    };
    let writers: Vec<(&Parsed<'_>, Vec<(&Pod, &str)>)> =
        rows.into_iter().map(|row| (row, writers(row))).filter(|(_, of)| !of.is_empty()).collect();
    if writers.is_empty() {
        return;
    }
    let Some(logs) = ctx.or_note(ctx.logs()) else { return };
    // The logs of proxies are read only if a finding is about their pods.
    let mut of_control_plane =
        writers.iter().filter(|(row, _)| row.affected.row.decides == AffectedComponent::ControlPlane);
    let is_unread = |of: &[(&Pod, &str)]| !of.iter().any(|(pod, name)| log_of(logs, pod, name).is_some());
    if of_control_plane.any(|(_, of)| is_unread(of)) {
        ctx.gap(ctx.missing(Item::Logs, Why::NotOffered, "the logs of the control plane"));
    }
}

/// The objects of a kind; `None` if they are not available, which is a gap if the cluster may have some.
fn served<'a>(ctx: &Context<'a>, kind: Kind) -> Option<Vec<ObjectFields<'a>>> {
    let is_absent = |missing: &Missing| {
        missing.why == Why::NotServed
            || ctx.complete_list::<CustomResourceDefinition>().is_ok_and(|all| is_undefined(all, kind))
    };
    match objects(ctx, kind) {
        Ok(objects) => Some(objects),
        // A kind that the cluster does not define or serve has no objects.
        Err(missing) if is_absent(&missing) => None,
        Err(missing) => {
            ctx.gap(missing);
            None
        }
    }
}

fn of_object<'c, 'r, 'a>(
    ctx: &Context<'c>,
    rows: &[&'r Parsed<'a>],
    root: &Scope<'_>,
    object: &ObjectFields<'c>,
) -> Vec<(&'r Parsed<'a>, Finding)> {
    let past = object.pod().map(|pod| Past::new(ctx, pod)).unwrap_or_default();
    let may_hold = |row: &&'r Parsed<'a>| (!past.is_empty() || !row.reads_past()) && row.may_match(ctx, object);
    let candidates: Vec<&'r Parsed<'a>> = rows.iter().copied().filter(may_hold).collect();
    if candidates.is_empty() {
        return Vec::new();
    }
    let is_read = |field: &str| candidates.iter().any(|row| row.reads_field(field));
    let (fields, annotations) = (object.json(is_read), object.annotations());
    let (ended, reported) = (json!(past.ended), Value::Object(past.reported.clone()));
    let bind = |scope: &mut Scope<'_>| -> Result<(), NoValue> {
        scope.bind("object", &fields)?;
        scope.bind("annotations", &annotations)?;
        scope.bind("ended", &ended)?;
        scope.bind("reported", &reported)
    };
    let mut shared = root.within();
    let bound = bind(&mut shared);
    let found = candidates.into_iter().filter_map(|row| {
        let holds = bound.clone().and_then(|()| {
            if let Some(only_where) = &row.only_where
                && !only_where.holds(&shared)?
            {
                return Ok(None);
            }
            let own = match row.with {
                None => None,
                Some(kind) => {
                    let Some(others) = row.others(ctx, kind) else { return Ok(None) };
                    let mut own = others.within();
                    bind(&mut own)?;
                    Some(own)
                }
            };
            let scope = own.as_ref().unwrap_or(&shared);
            Ok(row.expression.holds(scope)?.then(|| (row, row.finding(ctx, scope, object, &past))))
        });
        holds.unwrap_or_else(|why| {
            row.gap(ctx, &object.own_subject().to_string(), object.item(), &why);
            None
        })
    });
    found.collect()
}

thread_local! {
    /// Expressions by their text: a process may judge many clusters, and parsing takes longer than evaluating.
    static PARSED: RefCell<HashMap<String, Rc<Expression>>> = RefCell::new(HashMap::new());
}

fn expression(text: &str) -> Result<Rc<Expression>, String> {
    if let Some(known) = PARSED.with_borrow(|parsed| parsed.get(text).cloned()) {
        return Ok(known);
    }
    let new = Rc::new(Expression::parse(text, &VARIABLES)?);
    PARSED.with_borrow_mut(|parsed| parsed.insert(text.to_owned(), Rc::clone(&new)));
    Ok(new)
}

/// The row's expressions; `None` if they are not valid, which is a gap.
fn parse<'a>(ctx: &Context<'_>, affected: &'a Affected<'a>) -> Option<Parsed<'a>> {
    let trigger = affected.row.trigger.as_ref()?;
    let kind = trigger.kinds.first().and_then(|kind| kind.parse().ok()).unwrap_or(Kind::Service);
    let read = |text: &String| {
        expression(text).map_err(|why| {
            let message = format!("defects.yaml, row {}: {why}", affected.row.id);
            let close = "correct the expression in defects.yaml".to_owned();
            ctx.gap(ctx.missing(Item::List(kind), Why::NoValue { message, close }, "some of them"));
        })
    };
    let decisive = read(&trigger.expression).ok()?;
    let quote = trigger.quote.as_ref().map(read).transpose().ok()?;
    let only_where = trigger.only_where.as_ref().map(read).transpose().ok()?;
    let with = trigger.with.as_ref().and_then(|kind| kind.parse().ok());
    Some(Parsed { affected, trigger, only_where, expression: decisive, quote, with, scope: OnceCell::new() })
}

impl Parsed<'_> {
    fn is_for(&self, kind: Kind) -> bool {
        self.trigger.kinds.iter().any(|of| of.parse() == Ok(kind))
    }

    /// Whether the expression needs a container that ended, or a line of a log.
    fn reads_past(&self) -> bool {
        ["ended", "reported"].iter().any(|name| self.trigger.expression.contains(name))
    }

    /// Whether an expression of the row reads a field of the object.
    fn reads_field(&self, field: &str) -> bool {
        let further = self.only_where.iter().chain(&self.quote);
        std::iter::once(&self.expression).chain(further).any(|of| of.reads_field("object", field))
    }

    /// A scope with the objects that the row compares with; `None` if there are none, or if they are not
    /// available, which is a gap.
    fn others(&self, ctx: &Context<'_>, kind: Kind) -> Option<&Scope<'static>> {
        let read = || {
            let objects = served(ctx, kind).filter(|objects| !objects.is_empty())?;
            let others: Value = objects.iter().map(|object| object.json(|_| true)).collect();
            let mut scope = Scope::new(Known::default());
            match scope.bind("others", &others) {
                Ok(()) => Some(scope),
                Err(why) => {
                    self.gap(ctx, &kind.resource(), Item::List(kind), &why);
                    None
                }
            }
        };
        self.scope.get_or_init(read).as_ref()
    }

    /// Whether the object has one of the required annotations, is recent, and runs the release.
    fn may_match(&self, ctx: &Context<'_>, object: &ObjectFields<'_>) -> bool {
        let wanted = &self.trigger.annotations;
        let is_old =
            object.event().and_then(|event| event.last.get()).is_some_and(|at| ctx.now().duration_since(at) > LATELY);
        let is_affected = |pod: &Pod| self.affected.is_of_pod(ctx, pod);
        (wanted.is_empty() || wanted.iter().any(|key| object.has_annotation(key)))
            && !is_old
            && object.pod().is_none_or(is_affected)
    }

    fn finding(&self, ctx: &Context<'_>, scope: &Scope<'_>, object: &ObjectFields<'_>, past: &Past) -> Finding {
        let trigger = self.quoted(scope, object.own_subject());
        let past = past.evidence_for(&self.trigger.expression).cloned();
        let evidence: Vec<Evidence> = trigger.into_iter().chain(past).collect();
        let finding = self.affected.finding(ctx, object, evidence);
        let finding = self.trigger.log_rows().map(logged).fold(finding, Finding::tie);
        // A container can end in the same way for another reason.
        finding.likely_if(self.reads_past())
    }

    /// The field that triggers the defect.
    fn quoted(&self, scope: &Scope<'_>, object: Subject) -> Option<Evidence> {
        let quoted = match self.quote.as_ref()?.quoted(scope) {
            Ok(text) => text,
            Err(why) => format!("no value: {why}"),
        };
        let from = self.trigger.quote_from.as_deref().and_then(|from| quoted.find(from));
        let quoted = match from {
            Some(at) if at > 0 && quoted.chars().count() > QUOTED => format!("…{}", &quoted[at..]),
            Some(_) | None => quoted,
        };
        let quoted = match quoted.char_indices().nth(QUOTED) {
            Some((at, _)) => format!("{}…", &quoted[..at]),
            None => quoted,
        };
        Some(Evidence::field(object, self.trigger.path.as_str(), quoted))
    }

    fn gap(&self, ctx: &Context<'_>, about: &str, item: Item, why: &NoValue) {
        let message = format!("{about}, defect {}: {why}", self.affected.row.id);
        let close = why.hint().to_owned();
        ctx.gap(ctx.missing(item, Why::NoValue { message, close }, "some of them"));
    }
}
