//! `admission.yaml`: what the schemas of CRDs and Linkerd's validating webhooks reject, by release.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use regex::Regex;
use serde::Deserialize;

use super::Knowledge;
use super::file::KnowledgeFile;
use super::range::ReleaseRange;
use crate::version::{Contains, EdgeTag, Introduced, LinkerdVersion};

/// Rules of webhooks, and schemas.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AdmissionRules {
    source: String,
    date: jiff::civil::Date,
    schemas_from: EdgeTag,
    called: BTreeMap<String, ReleaseRange>,
    rules: BTreeMap<AdmissionRule, ReleaseRange>,
    parts: BTreeMap<String, WrittenSchema>,
    object_fields: Vec<String>,
    metadata_fields: Vec<String>,
    schemas: Vec<WrittenSpec>,
    #[serde(skip)]
    specs: HashMap<(String, String), SpecSchema>,
}

/// The schema of the spec of one version of a kind.
#[derive(Debug, Clone)]
pub struct SpecSchema {
    /// The schema.
    pub spec: Arc<Schema>,
    /// The first edge that serves the version; `None`: all known releases.
    pub since: Option<EdgeTag>,
}

/// A rule of a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "admission.yaml describes each rule")]
pub enum AdmissionRule {
    ServerOverlap,
    ServerUnreadable,
    ServerAccessPolicy,
    Client,
    Network,
    NetworksEmpty,
    TargetNamespace,
    TargetKind,
    TargetHttpRoute,
    TargetGrpcRoute,
    Authentications,
    Identity,
    IdentityReference,
    EgressPort,
    RouteMatch,
    RouteFilter,
    RedirectPath,
    RouteTimeouts,
    RetryAnnotation,
    TimeoutAnnotation,
    AccrualAnnotation,
    BackendPort,
    MethodEmpty,
    MethodPattern,
    SingleRule,
    FilterType,
    CorsKnown,
    TlsRouteUnread,
    RateLimitTarget,
    RateLimitNumber,
    RateLimitClient,
    Profile,
}

/// The schema of a field, as in `openAPIV3Schema`.
#[derive(Debug, Default)]
pub struct Schema {
    pub of_type: Option<SchemaType>,
    /// The known fields of an object.
    pub fields: BTreeMap<String, Arc<Schema>>,
    /// Required fields.
    pub required: Vec<String>,
    /// Fields of which exactly one is required.
    pub one_of: Vec<String>,
    /// The items of a list.
    pub items: Option<Arc<Schema>>,
    /// Permitted texts.
    pub texts: Vec<String>,
    /// Permitted numbers.
    pub numbers: Vec<i64>,
    /// The pattern of a text.
    pub pattern: Option<Regex>,
    /// Whether a text is a duration, as the API server reads one (`format: duration`).
    pub is_duration: bool,
    /// The least and the greatest number.
    pub range: (Option<i64>, Option<i64>),
    /// The least and the greatest length of a text.
    pub length: (Option<usize>, Option<usize>),
    /// The least and the greatest number of items.
    pub count: (Option<usize>, Option<usize>),
    /// Values of the field `type`, each with the field that is set exactly if the type has this value.
    pub union: BTreeMap<String, String>,
    /// Values of `type` that only one item of a list may have.
    pub unique: Vec<String>,
    /// Rules that relate several fields.
    pub rules: Vec<SchemaRule>,
}

/// A rule of a schema that relates several fields (`x-kubernetes-validations`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "admission.yaml describes each rule")]
pub enum SchemaRule {
    ServicePort,
    RedirectOrBackends,
    RedirectOrRewrite,
    PrefixNeedsPrefixMatch,
    AbsolutePath,
    BackendTimeout,
    MethodOrService,
}

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the types of JSON")]
pub enum SchemaType {
    String,
    Integer,
    Number,
    Boolean,
    Object,
    Array,
    IntegerOrString,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSpec {
    resource: String,
    versions: Vec<String>,
    #[serde(default)]
    since: BTreeMap<String, EdgeTag>,
    spec: WrittenSchema,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct WrittenSchema {
    r#use: Option<String>,
    r#type: Option<SchemaType>,
    fields: BTreeMap<String, WrittenSchema>,
    required: Vec<String>,
    one_of: Vec<String>,
    items: Option<Box<WrittenSchema>>,
    r#enum: Vec<String>,
    numbers: Vec<i64>,
    pattern: Option<String>,
    duration: bool,
    minimum: Option<i64>,
    maximum: Option<i64>,
    min_length: Option<usize>,
    max_length: Option<usize>,
    min_items: Option<usize>,
    max_items: Option<usize>,
    union: BTreeMap<String, String>,
    unique: Vec<String>,
    rules: Vec<SchemaRule>,
    /// The versions that have the field; empty: all.
    only: Vec<String>,
}

/// The parts that schemas use, for one version of a kind.
struct Parts<'a> {
    parts: &'a BTreeMap<String, WrittenSchema>,
    version: &'a str,
}

impl WrittenSchema {
    /// The schema with its parts in place. `depth` bounds parts that use themselves.
    fn read(&self, of: &Parts<'_>, depth: usize) -> Result<Arc<Schema>, String> {
        if let Some(name) = &self.r#use {
            let part = of.parts.get(name).ok_or_else(|| format!("use: no part has the name {name}"))?;
            if depth == 0 {
                return Err(format!("use: part {name} uses itself"));
            }
            return part.read(of, depth - 1);
        }
        let is_in_version =
            |field: &WrittenSchema| field.only.is_empty() || field.only.iter().any(|version| version == of.version);
        let fields = self.fields.iter().filter(|(_, field)| is_in_version(field)).map(|(name, field)| {
            let read = field.read(of, depth).map_err(|why| format!("{name}: {why}"))?;
            Ok((name.clone(), read))
        });
        let pattern = self.pattern.as_deref().map(Regex::new).transpose();
        Ok(Arc::new(Schema {
            of_type: self.r#type,
            fields: fields.collect::<Result<_, String>>()?,
            required: self.required.clone(),
            one_of: self.one_of.clone(),
            items: self.items.as_ref().map(|items| items.read(of, depth)).transpose()?,
            texts: self.r#enum.clone(),
            numbers: self.numbers.clone(),
            pattern: pattern.map_err(|error| format!("pattern: {error}"))?,
            is_duration: self.duration,
            range: (self.minimum, self.maximum),
            length: (self.min_length, self.max_length),
            count: (self.min_items, self.max_items),
            union: self.union.clone(),
            unique: self.unique.clone(),
            rules: self.rules.clone(),
        }))
    }
}

impl AdmissionRules {
    /// Whether a release has a rule. An unknown release counts as the newest one.
    pub fn holds(&self, rule: AdmissionRule, version: Option<&LinkerdVersion>, of: &Knowledge) -> bool {
        self.rules.get(&rule).is_some_and(|range| covers(range, version, of))
    }

    /// The first edge that no longer has a rule.
    pub fn ended(&self, rule: AdmissionRule) -> Option<EdgeTag> {
        self.rules.get(&rule)?.until
    }

    /// Whether a webhook of a release is called for a resource: `servers.policy.linkerd.io`.
    pub fn calls(&self, resource: &str, version: Option<&LinkerdVersion>, of: &Knowledge) -> bool {
        self.called.get(resource).is_some_and(|range| covers(range, version, of))
    }

    /// The first release whose schemas are known, if a release is older.
    pub fn schemas_unknown_before(&self, version: Option<&LinkerdVersion>, of: &Knowledge) -> Option<EdgeTag> {
        let first = Introduced::at_edge(self.schemas_from);
        let is_older = version.is_some_and(|version| version.contains(&first, of.minors()) == Contains::No);
        is_older.then_some(self.schemas_from)
    }

    /// The schema of a version (`v1beta3`) of a resource.
    pub fn schema(&self, resource: &str, version: &str) -> Option<&SpecSchema> {
        self.specs.get(&(resource.to_owned(), version.to_owned()))
    }

    /// The versions of a resource that known releases serve, newest first.
    pub fn versions(&self, resource: &str) -> Vec<&str> {
        let schemas = self.schemas.iter().filter(|one| one.resource == resource);
        schemas.flat_map(|one| &one.versions).map(String::as_str).collect()
    }

    /// The fields of every object, outside of its spec.
    pub fn object_fields(&self) -> &[String] {
        &self.object_fields
    }

    /// The fields of the metadata of every object.
    pub fn metadata_fields(&self) -> &[String] {
        &self.metadata_fields
    }

    /// The resources with a schema or a webhook.
    pub fn resources(&self) -> impl Iterator<Item = &str> {
        self.specs.keys().map(|(resource, _)| resource).chain(self.called.keys()).map(String::as_str)
    }

    /// Source of the facts.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Date of the last review.
    pub fn date(&self) -> jiff::civil::Date {
        self.date
    }
}

impl SpecSchema {
    /// The first edge that serves this version, if a release does not serve it yet.
    pub fn not_before(&self, version: Option<&LinkerdVersion>, of: &Knowledge) -> Option<EdgeTag> {
        let since = self.since?;
        let is_served =
            version.is_none_or(|version| version.contains(&Introduced::at_edge(since), of.minors()) != Contains::No);
        (!is_served).then_some(since)
    }
}

/// Whether a release is in the range; an unknown one is if the range has no end.
fn covers(range: &ReleaseRange, version: Option<&LinkerdVersion>, of: &Knowledge) -> bool {
    version.map_or(range.until.is_none(), |version| match range.covers(version, of.minors()) {
        Contains::Yes => true,
        Contains::No => false,
        Contains::Unknown => range.until.is_none(),
    })
}

impl KnowledgeFile for AdmissionRules {
    const NAME: &'static str = "admission.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/admission.yaml");

    fn finish(&mut self) -> Result<(), String> {
        for written in &self.schemas {
            let place = |why: String| format!("schemas: {}: {why}", written.resource);
            for version in &written.versions {
                let parts = Parts { parts: &self.parts, version };
                let spec = written.spec.read(&parts, self.parts.len()).map_err(place)?;
                let since = written.since.get(version).copied();
                let read = SpecSchema { spec, since };
                if self.specs.insert((written.resource.clone(), version.clone()), read).is_some() {
                    return Err(place(format!("{version} occurs twice")));
                }
            }
        }
        Ok(())
    }
}
