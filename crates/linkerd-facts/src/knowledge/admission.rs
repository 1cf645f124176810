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
    called: BTreeMap<String, ReleaseRange>,
    rules: BTreeMap<AdmissionRule, ReleaseRange>,
    parts: BTreeMap<String, WrittenSchema>,
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
    /// The type.
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
    /// The pattern of a text.
    pub pattern: Option<Regex>,
    /// The least and the greatest number.
    pub range: (Option<i64>, Option<i64>),
    /// The least and the greatest length of a text.
    pub length: (Option<usize>, Option<usize>),
    /// The least and the greatest number of items.
    pub count: (Option<usize>, Option<usize>),
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
    pattern: Option<String>,
    minimum: Option<i64>,
    maximum: Option<i64>,
    min_length: Option<usize>,
    max_length: Option<usize>,
    min_items: Option<usize>,
    max_items: Option<usize>,
}

impl WrittenSchema {
    /// The schema with its parts in place. `depth` bounds parts that use themselves.
    fn read(&self, parts: &BTreeMap<String, WrittenSchema>, depth: usize) -> Result<Arc<Schema>, String> {
        if let Some(name) = &self.r#use {
            let part = parts.get(name).ok_or_else(|| format!("use: no part has the name {name}"))?;
            if depth == 0 {
                return Err(format!("use: part {name} uses itself"));
            }
            return part.read(parts, depth - 1);
        }
        let fields = self.fields.iter().map(|(name, field)| {
            let read = field.read(parts, depth).map_err(|why| format!("{name}: {why}"))?;
            Ok((name.clone(), read))
        });
        let pattern = self.pattern.as_deref().map(Regex::new).transpose();
        Ok(Arc::new(Schema {
            of_type: self.r#type,
            fields: fields.collect::<Result<_, String>>()?,
            required: self.required.clone(),
            one_of: self.one_of.clone(),
            items: self.items.as_ref().map(|items| items.read(parts, depth)).transpose()?,
            texts: self.r#enum.clone(),
            pattern: pattern.map_err(|error| format!("pattern: {error}"))?,
            range: (self.minimum, self.maximum),
            length: (self.min_length, self.max_length),
            count: (self.min_items, self.max_items),
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

    /// The schema of a version (`v1beta3`) of a resource.
    pub fn schema(&self, resource: &str, version: &str) -> Option<&SpecSchema> {
        self.specs.get(&(resource.to_owned(), version.to_owned()))
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
        let is_served = version
            .is_none_or(|version| version.contains(&Introduced::at_edge(since), of.minors()) != Contains::No);
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
            let spec = written.spec.read(&self.parts, self.parts.len()).map_err(place)?;
            for version in &written.versions {
                let since = written.since.get(version).copied();
                let read = SpecSchema { spec: Arc::clone(&spec), since };
                if self.specs.insert((written.resource.clone(), version.clone()), read).is_some() {
                    return Err(place(format!("{version} occurs twice")));
                }
            }
        }
        Ok(())
    }
}
