//! The annotations that switch native sidecars on and off (the keys): which of them the installed injector
//! reads, which one takes precedence, and the faults of the others. A key has at most one fault; each check
//! of the family reports one kind.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::prelude::*;
use crate::checks::written::{
    AnnotatedObjects, AnnotationReader, MAKE_PODS, go_bool, is_native_sidecar_key, nothing_reads, values,
};
use crate::knowledge::{KeyScope, KeysRead, Knowledge, NativeSidecar};
use crate::model::annotated::{Annotated, Site};
use crate::version::Contains;

/// The certainty that the installed injector does not read a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sure {
    /// The injector's source is public, or its pods prove it.
    Yes,
    /// A vendor's build: only its base release is known.
    Likely,
    /// Unknown.
    No,
}

/// The fault of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault<'a> {
    /// No release reads it.
    Misspelled,
    /// Only other releases read it.
    NotRead(Sure),
    /// It is read in another place only.
    Misplaced(Misplaced),
    /// Its value is not a boolean.
    Invalid,
    /// Another key takes precedence and has a different value.
    Overridden {
        /// That key.
        by: &'a str,
        value: &'a str,
        /// Whether it is on the namespace.
        inherited: bool,
    },
}

/// The wrong place of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Misplaced {
    /// On a workload, outside its template.
    Workload,
    /// On a namespace, from which the installed release does not copy it.
    Namespace,
    /// Among the labels.
    Label,
}

/// A key with a fault.
#[derive(Debug, Clone)]
pub(super) struct SidecarFault<'a> {
    pub(super) object: Annotated<'a>,
    /// The key as written.
    pub(super) key: &'a str,
    pub(super) value: &'a str,
    /// The scope of its place.
    pub(super) scope: KeyScope,
    /// The evidence that shows it.
    pub(super) evidence: Evidence,
    pub(super) fault: Fault<'a>,
    /// Whether the proxies of these pods are native sidecars despite the fault; `None` if unknown.
    pub(super) native: Option<bool>,
}

/// The key that takes effect for the pods of a template or namespace.
#[derive(Debug, Clone, Copy)]
struct Deciding<'a> {
    key: &'a str,
    value: &'a str,
    /// Whether it is on the namespace rather than on the place itself.
    inherited: bool,
}

/// One place with its objects and the key that decides there.
struct View<'v, 'a> {
    object: &'v Annotated<'a>,
    site: &'v Site<'a>,
    written: &'v AnnotatedObjects<'a>,
    deciding: Option<Deciding<'a>>,
    native: Option<bool>,
}

impl<'a> View<'_, 'a> {
    /// The fault of a known key among the labels. `None` if it is also an annotation, or already has its
    /// intended effect.
    fn as_label(&self, key: &str, value: &str) -> Option<Fault<'a>> {
        let holds = go_bool(value).is_some_and(|wish| Some(wish) == self.native);
        let annotated = self.object.sites.iter().any(|site| site.meta.annotation(key).is_some());
        (!annotated && !holds).then_some(Fault::Misplaced(Misplaced::Label))
    }
}

/// The keys that the installed injector reads, and the default without them.
pub(super) struct Switch<'a> {
    everything: &'a Knowledge,
    knowledge: &'a NativeSidecar,
    /// The release of the injector.
    pub(super) reader: AnnotationReader,
    reads: KeysRead<'a>,
    /// Whether proxies are native sidecars if no key decides; `None` if unknown.
    pub(super) default: Option<bool>,
}

impl<'a> Switch<'a> {
    /// Determines the keys and the default from the control plane.
    pub(super) fn from_context(ctx: &Context<'a>) -> Switch<'a> {
        let knowledge = ctx.knowledge.native_sidecar();
        let reader = AnnotationReader::new(ctx);
        let reads = match reader.version() {
            Some(version) => knowledge.keys_read_by(version, ctx.knowledge),
            None => KeysRead::Unknown,
        };
        let by_values = values(ctx).and_then(|values| values.bool(knowledge.chart_value()));
        let by_release = reader.version().and_then(|version| {
            match knowledge.default_native(version, ctx.knowledge) {
                Contains::Yes => Some(true),
                Contains::No => Some(false),
                // A vendor's build of a minor before the default changed.
                Contains::Unknown => version.release().map(|_| false),
            }
        });
        Switch { everything: ctx.knowledge, knowledge, reader, reads, default: by_values.or(by_release) }
    }

    fn is_known(&self, key: &str) -> bool {
        self.knowledge.all_keys().iter().any(|known| known == key)
    }

    /// The first key that the installed injector reads on `scope`. `None` if it does not support native sidecars.
    pub(super) fn right_key(&self, scope: KeyScope) -> Option<&'a str> {
        let counts = |key: &&String| scope != KeyScope::Namespace || self.is_copied(key);
        match self.reads {
            KeysRead::Exactly(keys) | KeysRead::AtLeast(keys) => keys.iter().find(counts).map(String::as_str),
            // The oldest: every release that has native sidecars reads it.
            KeysRead::Unknown => self.knowledge.all_keys().last().map(String::as_str),
        }
    }

    /// The keys that the installed injector is known to read, the deciding ones first, each with whether it is copied
    /// from a namespace to its pods.
    pub(super) fn read_keys(&self) -> impl Iterator<Item = (&'a str, bool)> {
        self.reads.known().iter().map(|key| (key.as_str(), self.is_copied(key)))
    }

    /// Whether the injector copies the key from a namespace to its pods; `true` if unknown.
    fn is_copied(&self, key: &str) -> bool {
        let Some(version) = self.reader.version() else { return true };
        let row = self.everything.annotations().get(key);
        row.is_some_and(|row| match row.counts_on_namespace(version, self.everything.minors()) {
            Contains::Yes | Contains::Unknown => true,
            Contains::No => false,
        })
    }

    /// The annotation that decides for a template (key, value, whether it is on the namespace), and whether
    /// the proxies are native sidecars.
    pub(super) fn native(
        &self,
        object: &Annotated<'a>,
        site: &Site<'a>,
        written: &AnnotatedObjects<'a>,
    ) -> (Option<(&'a str, &'a str, bool)>, Option<bool>) {
        let deciding = self.deciding(object, site, written);
        let native = deciding.map_or(self.default, |d| go_bool(d.value).or(self.default));
        (deciding.map(|d| (d.key, d.value, d.inherited)), native)
    }

    fn deciding(
        &self,
        object: &Annotated<'a>,
        site: &Site<'a>,
        written: &AnnotatedObjects<'a>,
    ) -> Option<Deciding<'a>> {
        self.reads.known().iter().find_map(|key| {
            let copied = self.is_copied(key);
            let own = site.meta.annotation(key).filter(|_| copied || site.scope != KeyScope::Namespace);
            let home = || written.of_namespace(object, key).filter(|_| copied);
            let value = own.or_else(home)?;
            Some(Deciding { key, value, inherited: own.is_none() })
        })
    }

    /// The keys that pods of the installed build prove to be read or not read, if its version does not show it.
    fn proof(&self, ctx: &Context<'a>) -> Proof<'a> {
        let mut proof = Proof::new();
        let (KeysRead::AtLeast(_) | KeysRead::Unknown, Some(version)) = (self.reads, self.reader.version()) else {
            return proof;
        };
        let injector = format!("linkerd/proxy-injector {version}");
        for pod in ctx.partial_list::<Pod>().unwrap_or_default() {
            if pod.metadata.annotation("linkerd.io/created-by") != Some(&injector) || pod.spec.proxy().is_none() {
                continue;
            }
            let mut keys = self.knowledge.all_keys().iter().filter(|k| pod.metadata.annotation(k).is_some());
            // With a second key, it would be unknown which of them decided.
            let (Some(key), None) = (keys.next(), keys.next()) else { continue };
            let wish = pod.metadata.annotation(key).and_then(go_bool);
            if let (Some(wish), Some(default)) = (wish, self.default)
                && wish != default
            {
                proof.insert(key, pod.spec.has_native_proxy() == wish);
            }
        }
        proof
    }

    /// The fault of a known key among the annotations.
    fn fault(&self, view: &View<'_, 'a>, key: &str, value: &str, proof: &Proof<'_>) -> Option<Fault<'a>> {
        let wish = go_bool(value);
        // Another key or the default has the intended effect.
        let holds = wish.is_some() && wish == view.native;
        let by_home = view.written.of_namespace(view.object, key) == Some(value);
        if view.site.scope == KeyScope::Workload {
            let repeated = view.object.template().is_some_and(|t| t.meta.annotation(key).is_some());
            return (!holds && !repeated && !by_home).then_some(Fault::Misplaced(Misplaced::Workload));
        }
        // The injector copied it from the namespace, for which it is reported.
        if view.object.kind == Kind::Pod && by_home {
            return None;
        }
        if !self.reads.known().iter().any(|read| read == key) {
            let sure = match (self.reads, proof.get(key)) {
                _ if holds => return None,
                (KeysRead::AtLeast(_) | KeysRead::Unknown, Some(true)) => return None,
                (KeysRead::Exactly(_), _) | (_, Some(false)) => Sure::Yes,
                (KeysRead::AtLeast(_), None) => Sure::Likely,
                (KeysRead::Unknown, None) => Sure::No,
            };
            return Some(Fault::NotRead(sure));
        }
        if view.site.scope == KeyScope::Namespace && !self.is_copied(key) {
            return (!holds).then_some(Fault::Misplaced(Misplaced::Namespace));
        }
        let Some(wish) = wish else { return Some(Fault::Invalid) };
        let Deciding { key: by, value, inherited } = view.deciding.filter(|d| d.key != key)?;
        // With an invalid value the default applies, which may equal this key's value.
        let differs = go_bool(value).or(self.default) != Some(wish);
        differs.then_some(Fault::Overridden { by, value, inherited })
    }
}

/// The whole family in one cluster.
pub(in crate::checks) struct Survey<'a> {
    /// The injector's keys and default.
    pub(super) switch: Switch<'a>,
    /// The keys with faults, in the order of the objects.
    pub(super) found: Vec<SidecarFault<'a>>,
    /// Objects that request native sidecars with a key that is read, with the evidence.
    pub(super) asked: Vec<(Annotated<'a>, Evidence)>,
}

impl<'a> Survey<'a> {
    /// The survey of the cluster, computed once per run.
    ///
    /// # Errors
    /// No Linkerd is installed that could read the keys.
    pub(super) fn from_context(ctx: &Context<'a>) -> Result<&'a Survey<'a>, Unjudged> {
        match AnnotationReader::new(ctx) {
            AnnotationReader::Absent => Err(nothing_reads()),
            AnnotationReader::Version(..) | AnnotationReader::Unknown(_) => Ok(Survey::whoever_reads(ctx)),
        }
    }

    /// The survey, even if no Linkerd is installed.
    pub(super) fn whoever_reads(ctx: &Context<'a>) -> &'a Survey<'a> {
        ctx.get_or_build(&ctx.joins.native_sidecar, Survey::by)
    }

    fn by(ctx: &Context<'a>) -> Survey<'a> {
        let switch = Switch::from_context(ctx);
        let written = AnnotatedObjects::from_kinds(ctx, &MAKE_PODS);
        let proof = switch.proof(ctx);
        let mut survey = Survey { switch, found: Vec::new(), asked: Vec::new() };
        for object in &written.objects {
            survey.scan(object, &written, &proof);
        }
        survey
    }

    fn scan(&mut self, object: &Annotated<'a>, written: &AnnotatedObjects<'a>, proof: &Proof<'_>) {
        if object.is_control_plane() {
            return;
        }
        let template = object.template();
        let mut seen = BTreeSet::new();
        for site in &object.sites {
            // Only the template decides, also for keys that are outside of it.
            let switch = &self.switch;
            let deciding = switch.deciding(object, &template.unwrap_or(*site), written);
            let native = deciding.map_or(switch.default, |d| go_bool(d.value).or(switch.default));
            let view = View { object, site, written, deciding, native };
            let annotations = site.meta.annotations.iter().map(|entry| ("annotations", entry));
            let labels = site.meta.labels.iter().map(|entry| ("labels", entry));
            for (field, (key, value)) in annotations.chain(labels) {
                if seen.contains(key.as_str()) || !is_native_sidecar_key(key, switch.everything) {
                    continue;
                }
                let fault = match switch.is_known(key) {
                    false => Some(Fault::Misspelled),
                    true if field == "labels" => view.as_label(key, value),
                    true => switch.fault(&view, key, value, proof),
                };
                if let Some(fault) = fault {
                    seen.insert(key.as_str());
                    let evidence = object.evidence(site, field, key, value);
                    let (object, scope) = (object.clone(), site.scope);
                    self.found.push(SidecarFault { object, key, value, scope, evidence, fault, native });
                }
            }
            if site.scope != KeyScope::Workload
                && let Some(Deciding { key, value, inherited: false }) = deciding
                && go_bool(value) == Some(true)
            {
                let evidence = object.evidence(site, "annotations", key, value);
                self.asked.push((object.clone(), evidence));
            }
        }
    }
}

type Proof<'a> = BTreeMap<&'a str, bool>;
