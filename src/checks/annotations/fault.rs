//! Faults of Linkerd's annotations and labels (keys), wherever they are written: at most one for each key and
//! object, so that the checks of this category never report a key twice. Keys for native sidecars have their
//! own checks, and so has the use of the debug image.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use super::calls::{TIMEOUTS, applies_timeouts, breaker_fault};
use crate::annotations::may_be_linkerds;
use crate::chart::values::Values;
use crate::checks::prelude::*;
use crate::checks::restart::is_injected_by_hand;
use crate::checks::written::{AnnotatedObjects, AnnotationReader, is_native_sidecar_key, nothing_reads, values};
use crate::knowledge::{self, Key, KeyScope, KeyStatus, Knowledge, OnInvalid, Suggestion, WrittenBy};
use crate::model::annotated::{Annotated, Site};
use crate::model::injection::{LowMemory, above_limit, low_memory, port_twice};
use crate::objects::{CronJob, Job, ServiceProfile};
use crate::redact::is_marked;
use crate::version::{Channel, Contains};

/// The kinds that are examined.
pub(super) const KINDS: [Kind; 11] = [
    Kind::Namespace,
    Kind::Service,
    Kind::Deployment,
    Kind::StatefulSet,
    Kind::DaemonSet,
    Kind::Job,
    Kind::CronJob,
    Kind::Pod,
    Kind::HTTPRoute,
    Kind::LinkerdHTTPRoute,
    Kind::GRPCRoute,
];

/// Whether a fault is one of this category. Values of routes decide whether the policy controller accepts them, which
/// `route-not-accepted` and `apply-refused` report.
fn is_reported(kind: Kind, fault: &Fault<'_>) -> bool {
    let is_route = matches!(kind, Kind::HTTPRoute | Kind::LinkerdHTTPRoute | Kind::GRPCRoute);
    !is_route || matches!(fault, Fault::Unknown(_) | Fault::Misplaced(_) | Fault::AsLabel(_))
}

/// The annotation with the memory limit of the proxy.
const MEMORY_LIMIT: &str = "config.linkerd.io/proxy-memory-limit";

/// Registries of the released images.
const PUBLIC: [&str; 2] = ["cr.l5d.io/linkerd/", "ghcr.io/linkerd/"];
/// The annotation with the tag of the proxy's image, and that with the name of the image.
const VERSION: &str = "config.linkerd.io/proxy-version";
const IMAGE: &str = "config.linkerd.io/proxy-image";

/// Limit of unknown keys per object that are compared with known keys and reported. Bounds the work on hostile objects.
const MOST_UNKNOWN: usize = 50;

/// The fault of a key.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fault<'a> {
    /// No release reads it.
    Unknown(Option<Suggestion<'a>>),
    /// A label that is read as an annotation.
    AsLabel(&'a Key),
    /// An annotation that is read as a label.
    AsAnnotation(&'a Key),
    /// On a workload itself; it is read from its template.
    OnWorkload(&'a Key),
    /// On a namespace; the injector does not copy it to pods.
    NotInherited(&'a Key),
    /// On an object on which Linkerd does not read it.
    Misplaced(&'a Key),
    /// The installed release does not act on it.
    NotInRelease(&'a Key, KeyStatus),
    /// Its value does not parse, or conflicts with another one. Holds the accepted values and the
    /// consequence.
    Value(&'a Key, String, OnInvalid),
}

impl Fault<'_> {
    /// Whether the result depends on the release, so that the installed one is evidence.
    pub(super) fn depends_on_release(&self) -> bool {
        match self {
            Fault::Unknown(suggestion) => suggestion.is_some(),
            Fault::NotInherited(_) | Fault::NotInRelease(..) => true,
            Fault::Value(row, ..) => row.has_late_values(),
            Fault::AsLabel(_) | Fault::AsAnnotation(_) | Fault::OnWorkload(_) | Fault::Misplaced(_) => false,
        }
    }
}

/// A key with a fault.
#[derive(Debug, Clone)]
pub(super) struct Found<'a> {
    pub(super) object: Annotated<'a>,
    /// The scope of its place.
    pub(super) scope: KeyScope,
    /// Annotation or label, as written.
    pub(super) written_as: knowledge::KeyKind,
    /// The key as written.
    pub(super) key: &'a str,
    pub(super) value: &'a str,
    /// The evidence that shows it.
    pub(super) evidence: Evidence,
    pub(super) fault: Fault<'a>,
    /// Whether the contents of the installed build are uncertain.
    pub(super) likely: bool,
    /// Whether its pods request a proxy.
    pub(super) injected: bool,
    /// Whether its template already contains the proxy: the injector does not read the annotations then.
    pub(super) in_template: bool,
}

/// Every fault in one cluster.
pub(in crate::checks) struct Survey<'a> {
    /// The release that reads the keys.
    pub(super) reader: AnnotationReader,
    /// The values it was installed with.
    pub(super) values: Option<Values>,
    /// Whether the effect of a key depends on unknown values.
    pub(super) depends_on_values: bool,
    /// The keys with faults, in the order of the objects.
    pub(super) found: Vec<Found<'a>>,
    /// Objects with more unknown keys than were compared, and the number of further ones.
    pub(super) left_out: Vec<(Annotated<'a>, usize)>,
}

impl<'a> Survey<'a> {
    /// The survey of the cluster, computed once per run.
    ///
    /// # Errors
    /// No Linkerd is installed that could read the keys.
    pub(super) fn from_context(ctx: &Context<'a>) -> Result<&'a Survey<'a>, Unjudged> {
        ctx.get_or_build(&ctx.joins.annotations, Survey::by).as_ref().ok_or_else(nothing_reads)
    }

    fn by(ctx: &Context<'a>) -> Option<Survey<'a>> {
        let reader = AnnotationReader::new(ctx);
        if matches!(reader, AnnotationReader::Absent) {
            return None;
        }
        let values = values(ctx);
        let written = AnnotatedObjects::from_kinds(ctx, &KINDS);
        let scanner = Scanner {
            knowledge: ctx.knowledge,
            version: reader.version(),
            values: values.as_ref(),
            written: &written,
            profiled: profiled(ctx),
            with_proxy: with_proxy(ctx),
            depends: Cell::new(false),
            near: RefCell::default(),
            meant: RefCell::default(),
            left_out: RefCell::default(),
        };
        let found = written.objects.iter().flat_map(|object| scanner.scan(object)).collect();
        let depends_on_values = scanner.depends.get();
        let left_out = scanner.left_out.take();
        Some(Survey { reader, values, depends_on_values, found, left_out })
    }
}

struct Scanner<'l, 'a> {
    knowledge: &'a Knowledge,
    version: Option<&'l LinkerdVersion>,
    values: Option<&'l Values>,
    written: &'l AnnotatedObjects<'a>,
    /// Services with a ServiceProfile that replaces their annotations, as far as known.
    profiled: BTreeSet<(&'a str, &'a str)>,
    /// Templates and pods that contain the proxy, so that the injector does not read their annotations.
    with_proxy: BTreeSet<(Kind, &'a str, &'a str)>,
    /// Set if a result depends on missing values.
    depends: Cell<bool>,
    /// Results of the comparison with Linkerd's domains: many objects have few domains.
    near: RefCell<BTreeMap<&'a str, bool>>,
    /// Unknown keys by place, with the suggested key.
    meant: RefCell<BTreeMap<(&'a str, KeyScope), Option<Suggestion<'a>>>>,
    left_out: RefCell<Vec<(Annotated<'a>, usize)>>,
}

/// A key and its place.
struct KeyCursor<'l, 'a> {
    object: &'l Annotated<'a>,
    site: &'l Site<'a>,
    key: &'a str,
    value: &'a str,
}

impl<'a> Scanner<'_, 'a> {
    fn scan(&self, object: &Annotated<'a>) -> Vec<Found<'a>> {
        let mut found = Vec::new();
        // The chart renders these; the injector never sees their pods.
        if object.is_control_plane() {
            return found;
        }
        let mut seen = BTreeSet::new();
        let (mut unknown, mut more) = (0, 0);
        for site in &object.sites {
            let annotations = site.meta.annotations.iter().map(|entry| (knowledge::KeyKind::Annotation, entry));
            let labels = site.meta.labels.iter().map(|entry| (knowledge::KeyKind::Label, entry));
            for (written_as, (key, value)) in annotations.chain(labels) {
                if !may_be_linkerds(key) || seen.contains(key.as_str()) {
                    continue;
                }
                if unknown >= MOST_UNKNOWN && self.may_be_unknown(key) {
                    more += 1;
                    continue;
                }
                let at = KeyCursor { object, site, key, value };
                let Some(fault) = self.fault(&at, written_as).filter(|fault| is_reported(object.kind, fault)) else {
                    continue;
                };
                seen.insert(key.as_str());
                unknown += usize::from(matches!(fault, Fault::Unknown(_)));
                let field = match written_as {
                    knowledge::KeyKind::Annotation => "annotations",
                    knowledge::KeyKind::Label => "labels",
                };
                found.push(Found {
                    object: object.clone(),
                    scope: site.scope,
                    written_as,
                    key,
                    value,
                    evidence: object.evidence(site, field, key, value),
                    likely: self.doubts(&fault),
                    fault,
                    injected: self.is_injected(object),
                    in_template: self.has_proxy(object),
                });
            }
        }
        if more > 0 {
            self.left_out.borrow_mut().push((object.clone(), more));
        }
        found
    }

    /// Whether a key must be compared with the known ones to determine its fault.
    fn may_be_unknown(&self, key: &'a str) -> bool {
        let annotations = self.knowledge.annotations();
        annotations.get(key).is_none() && (annotations.is_linkerds(key) || self.is_near_domain(key))
    }

    fn fault(&self, at: &KeyCursor<'_, 'a>, written_as: knowledge::KeyKind) -> Option<Fault<'a>> {
        let annotations = self.knowledge.annotations();
        let known = annotations.get_as(at.key, written_as);
        if known.is_some_and(|row| row.set_by == WrittenBy::Linkerd) {
            return None;
        }
        // A Service creates no pods: there, the native-sidecar switch is as misplaced as any key.
        if at.object.kind != Kind::Service && is_native_sidecar_key(at.key, self.knowledge) {
            return None;
        }
        if !annotations.is_linkerds(at.key) && !self.is_near_domain(at.key) {
            return None;
        }
        if let Some(row) = known {
            return self.of_known(at, row);
        }
        match (annotations.get(at.key), written_as) {
            (Some(row), _) if row.set_by == WrittenBy::Linkerd => None,
            (Some(row), knowledge::KeyKind::Label) => {
                let meta = at.object.template().map(|template| template.meta);
                let annotated = meta.is_some_and(|meta| meta.annotation(at.key).is_some())
                    || at.site.meta.annotation(at.key).is_some();
                (!annotated).then_some(Fault::AsLabel(row))
            }
            (Some(row), knowledge::KeyKind::Annotation) => {
                at.site.meta.label(at.key).is_none().then_some(Fault::AsAnnotation(row))
            }
            (None, _) => self.of_unknown(at),
        }
    }

    /// A key that no release knows. If its domain only resembles Linkerd's, the key must also resemble a known key.
    fn of_unknown(&self, at: &KeyCursor<'_, 'a>) -> Option<Fault<'a>> {
        let annotations = self.knowledge.annotations();
        let scope = if at.site.scope == KeyScope::Workload { KeyScope::PodTemplate } else { at.site.scope };
        let readable = |row: &Key| {
            row.set_by == WrittenBy::User
                && self.version.is_none_or(|version| {
                    row.status_in(version, self.knowledge).is_likely_effective()
                        && (scope != KeyScope::Namespace || self.is_copied(row, version))
                })
        };
        let suggestion = *self.meant.borrow_mut().entry((at.key, scope)).or_insert_with(|| {
            annotations
                .suggest(at.key, |row| readable(row) && row.is_read_on(scope))
                .or_else(|| annotations.suggest(at.key, readable))
        });
        if suggestion.is_none() && !annotations.is_linkerds(at.key) {
            return None;
        }
        Some(Fault::Unknown(suggestion))
    }

    /// A key that some release reads, written as what it is.
    fn of_known(&self, at: &KeyCursor<'_, 'a>, row: &'a Key) -> Option<Fault<'a>> {
        let theirs = at.object.is_linkerds();
        let by_namespace = self.may_be_by_namespace(at, row);
        if !row.is_read_on(at.site.scope) {
            if theirs && row.charts_also_on.contains(&at.site.scope) {
                return None;
            }
            return match at.site.scope {
                KeyScope::Workload if row.is_read_on(KeyScope::PodTemplate) => {
                    let template = at.object.template();
                    let repeated = template.is_some_and(|template| template.meta.annotation(at.key).is_some());
                    (!repeated && !by_namespace).then_some(Fault::OnWorkload(row))
                }
                KeyScope::Namespace if row.is_read_on(KeyScope::PodTemplate) => Some(Fault::NotInherited(row)),
                _ => Some(Fault::Misplaced(row)),
            };
        }
        // The injector copied it from the namespace, for which it is reported, or Linkerd's own charts set it.
        if theirs || (by_namespace && matches!(at.object.kind, Kind::Pod | Kind::Service)) {
            return None;
        }
        let checked = row.check_value(at.value, self.version, self.knowledge.minors());
        if let Some(version) = self.version {
            let status = row.status_in(version, self.knowledge);
            // A value that the injector ignores is not one for which it refuses the pod.
            let likely = status.likely();
            let refuses = matches!(likely, Some(KeyStatus::Conditional { refused, init_fails, .. })
                if !refused.is_empty() || !init_fails.is_empty());
            if !(refuses && checked.is_err()) && self.is_without_effect(at, row, &status) {
                return Some(Fault::NotInRelease(row, status));
            }
            if at.site.scope == KeyScope::Namespace && !self.is_copied(row, version) {
                return Some(Fault::NotInherited(row));
            }
        }
        match checked {
            Err(_) if row.value.is_free() && is_marked(at.value) => None,
            Err(accepted) => {
                let consequence = row.consequence(at.value);
                let is_applied = !consequence.is_applied() || self.applies(at.object) && applies_timeouts(at.site.meta);
                is_applied.then_some(Fault::Value(row, accepted, consequence))
            }
            Ok(()) => self.of_proxy(at, row).or_else(|| {
                let (why, consequence) = breaker_fault(at.key, at.value, at.site.meta)?;
                Some(Fault::Value(row, why, consequence))
            }),
        }
    }

    /// Whether the timeouts of a Service apply: with a ServiceProfile, which another check reports, they do
    /// not.
    fn applies(&self, object: &Annotated<'_>) -> bool {
        let (namespace, name) = object.meta.key();
        !self.profiled.contains(&(namespace, name))
    }

    /// A setting of the proxy that is valid alone and does not fit the others or the proxy's needs.
    fn of_proxy(&self, at: &KeyCursor<'_, 'a>, row: &'a Key) -> Option<Fault<'a>> {
        let own = |key: &str| at.site.meta.annotation(key);
        let annotated = |key: &str| own(key).or_else(|| self.written.of_namespace(at.object, key));
        if let Some(why) = port_twice(at.key, at.value, annotated, self.values) {
            return Some(Fault::Value(row, why, OnInvalid::PodFails));
        }
        if at.key == VERSION
            && annotated(IMAGE).is_none()
            && self.has_public_images()
            && at.value.parse().is_ok_and(|version| self.knowledge.releases().is_never_released(&version))
        {
            let why = "expected a release that exists, or none for that of the control plane";
            return Some(Fault::Value(row, why.to_owned(), OnInvalid::PodFails));
        }
        let low = if at.key == MEMORY_LIMIT { low_memory(at.value) } else { None };
        let why = || "expected at least 20Mi, which a proxy needs".to_owned();
        match low {
            Some(LowMemory::NeverStarts) => Some(Fault::Value(row, why(), OnInvalid::PodFails)),
            Some(LowMemory::Killed) => Some(Fault::Value(row, why(), OnInvalid::ProxyKilled)),
            None => self.above_limit(at, row),
        }
    }

    /// Whether proxies have the image of Linkerd's own registries, as far as the chart's values are known.
    fn has_public_images(&self) -> bool {
        let name = self.values.and_then(|values| values.text("proxy.image.name"));
        let is_public = |name: &str| PUBLIC.iter().any(|registry| name.starts_with(registry));
        name.is_none_or(is_public)
    }

    /// A request or limit of the proxy that does not fit its counterpart.
    fn above_limit(&self, at: &KeyCursor<'_, 'a>, row: &'a Key) -> Option<Fault<'a>> {
        let own = |key: &str| at.site.meta.annotation(key);
        // Of two annotations on one object, the request is reported.
        let is_reported_there =
            at.key.strip_suffix("-limit").is_some_and(|stem| own(&format!("{stem}-request")).is_some());
        if is_reported_there {
            return None;
        }
        let annotated = |key: &str| own(key).or_else(|| self.written.of_namespace(at.object, key));
        let why = above_limit(at.key, at.value, annotated, self.values)?;
        Some(Fault::Value(row, why, OnInvalid::PodRefused))
    }

    /// Whether the namespace has the same value, or is unknown and may have it.
    fn may_be_by_namespace(&self, at: &KeyCursor<'_, 'a>, row: &Key) -> bool {
        if at.object.kind == Kind::Namespace {
            return false;
        }
        match self.written.namespaces.get(at.object.namespace_name()) {
            Some(namespace) => namespace.annotation(at.key) == Some(at.value),
            // No controller has copied anything into manifests: each key is as its author wrote it.
            None => !self.written.is_of_manifests && row.is_read_on(KeyScope::Namespace),
        }
    }

    fn is_copied(&self, row: &Key, version: &LinkerdVersion) -> bool {
        match row.counts_on_namespace(version, self.knowledge.minors()) {
            Contains::Yes | Contains::Unknown => true,
            Contains::No => false,
        }
    }

    fn is_without_effect(&self, at: &KeyCursor<'_, 'a>, row: &Key, status: &KeyStatus) -> bool {
        match status.likely() {
            None | Some(KeyStatus::Effective | KeyStatus::Unknown { .. }) => false,
            Some(KeyStatus::NotYet { .. } | KeyStatus::Gone { .. }) => true,
            // Another check reports an ignored debug image, from the containers.
            Some(KeyStatus::Ineffective { .. }) => row.needs.is_none(),
            Some(KeyStatus::Conditional { values: needed, .. }) => {
                let Some(values) = self.values else {
                    self.depends.set(self.depends.get() || !needed.is_empty());
                    return false;
                };
                // The pods may differ from the chart.
                let says = |key: &str| {
                    let own = at.object.template().is_some_and(|t| t.meta.annotation(key).is_some());
                    own || self.written.of_namespace(at.object, key).is_some()
                };
                let switched = self.knowledge.native_sidecar().all_keys().iter().any(|key| says(key));
                !switched && needed.iter().any(|(path, wanted)| values.bool(path).unwrap_or(false) != *wanted)
            }
        }
    }

    /// Whether a key's domain is one of Linkerd's, except for a typo or the top-level domain.
    fn is_near_domain(&self, key: &'a str) -> bool {
        let Some((domain, _)) = key.split_once('/') else { return false };
        *self.near.borrow_mut().entry(domain).or_insert_with(|| self.resembles_domain(domain))
    }

    fn resembles_domain(&self, domain: &str) -> bool {
        let stem = |domain: &str| domain.rsplit_once('.').map_or(domain, |(stem, _)| stem).to_owned();
        let domain = domain.to_ascii_lowercase();
        let keys = self.knowledge.annotations().keys();
        let known: BTreeSet<&str> =
            keys.iter().filter_map(|row| Some(row.key.split_once('/')?.0)).filter(|d| d.contains("linkerd")).collect();
        known.iter().any(|known| {
            knowledge::edit_distance(known, &domain, 2).is_some()
                || stem(known) == stem(&domain)
                || stem(known) == domain
        })
    }

    /// Whether the installed build may read more keys than are known.
    fn doubts(&self, fault: &Fault<'_>) -> bool {
        let Some(version) = self.version else { return false };
        match fault {
            Fault::NotInRelease(_, status) => matches!(status, KeyStatus::Unknown { .. }),
            // A key that resembles none may be the vendor's, or newer than the table.
            Fault::Unknown(None) => {
                !matches!(version.channel(), Channel::Edge | Channel::Stable)
                    || self.knowledge.releases().is_beyond(version)
            }
            Fault::NotInherited(_) => !matches!(version.channel(), Channel::Edge | Channel::Stable),
            Fault::Unknown(Some(_))
            | Fault::AsLabel(_)
            | Fault::AsAnnotation(_)
            | Fault::OnWorkload(_)
            | Fault::Misplaced(_)
            | Fault::Value(..) => false,
        }
    }

    fn has_proxy(&self, object: &Annotated<'_>) -> bool {
        let (namespace, name) = object.meta.key();
        self.with_proxy.contains(&(object.kind, namespace, name))
    }

    /// Whether pods of the object request a proxy.
    fn is_injected(&self, object: &Annotated<'_>) -> bool {
        let inject = crate::model::injection::INJECT;
        let own = match object.kind {
            Kind::Namespace => object.meta.annotation(inject),
            _ => object.template().and_then(|template| template.meta.annotation(inject)),
        };
        let asked = own.or_else(|| self.written.of_namespace(object, inject));
        matches!(asked, Some("enabled" | "ingress"))
    }
}

/// Services with a ServiceProfile that has routes or overrides.
fn profiled<'a>(ctx: &Context<'a>) -> BTreeSet<(&'a str, &'a str)> {
    let has_timeouts =
        |service: &Service| service.metadata.annotations.iter().any(|(key, _)| key.starts_with(TIMEOUTS));
    // Only timeouts depend on profiles.
    let profiles = match ctx.optional_list::<Service>().iter().any(has_timeouts) {
        true => ctx.or_note(ctx.partial_list::<ServiceProfile>()).unwrap_or_default(),
        false => ctx.optional_list::<ServiceProfile>(),
    };
    let used = profiles.iter().filter(|one| !one.spec.routes.is_empty() || !one.spec.dst_overrides.is_empty());
    used.filter_map(|one| one.service()).map(|(namespace, name, _)| (namespace, name)).collect()
}

/// Templates and pods with the proxy.
fn with_proxy<'a>(ctx: &Context<'a>) -> BTreeSet<(Kind, &'a str, &'a str)> {
    let workloads =
        ctx.optional_workloads().into_iter().map(|(kind, one)| (kind, &one.metadata, &one.spec.template.spec));
    let jobs = ctx.optional_list::<Job>().iter().map(|one| (Kind::Job, &one.metadata, &one.spec.template.spec));
    let cron_jobs = ctx.optional_list::<CronJob>().iter();
    let cron_jobs = cron_jobs.map(|one| (Kind::CronJob, &one.metadata, &one.spec.job_template.spec.template.spec));
    let templates = workloads.chain(jobs).chain(cron_jobs).filter(|(.., spec)| spec.proxy().is_some());
    let pods = ctx.optional_list::<Pod>().iter().filter(|pod| is_injected_by_hand(pod));
    templates
        .map(|(kind, meta, _)| (kind, meta.key()))
        .chain(pods.map(|pod| (Kind::Pod, pod.metadata.key())))
        .map(|(kind, (namespace, name))| (kind, namespace, name))
        .collect()
}
