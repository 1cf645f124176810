//! `cni-config-drift`: linkerd-cni and the control plane have different settings for the proxy.

use super::chart::ChartValue;
use super::config_map;
use super::effect::{EntryInFile, Runs, entries};
use super::nodes::Nodes;
use super::places::{entry_subject, in_file};
use super::pods::meshed_replaced;
use super::remedy::{changed, restarted};
use super::settings::{SETTINGS, Setting};
use super::template;
use crate::checks::prelude::*;
use crate::checks::upgrade::{self, Options};
use crate::model::node::{LinkerdEntry, NodeSnapshot};

/// Number of nodes quoted in addition to the template.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let linkerd = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config")?;
    let Some(linkerd) = linkerd else {
        return Err(Unjudged::not_applicable("no control plane is installed"));
    };
    let item = Item::named(Kind::ConfigMap, Scope::ControlPlane, "linkerd-config");
    let Some(values) = linkerd.chart_values() else {
        let message = "values cannot be read".to_owned();
        return Err(ctx.missing(item, Why::Malformed { message }, "its values").into());
    };
    if values.bool("cniEnabled") == Some(false) {
        return Err(Unjudged::not_applicable(
            "the control plane injects linkerd-init and does not rely on linkerd-cni",
        ));
    }
    let Some(config) = config_map::needed_config(ctx)? else {
        return Err(Unjudged::not_applicable("the ConfigMap linkerd-cni-config does not exist"));
    };
    let drift = Drift { ctx, linkerd, config, template: template::entry(config) };
    if drift.template.is_none() {
        ctx.gap(config_map::unreadable(ctx, "cni_network_config is not a linkerd-cni entry", "its template"));
    }
    let nodes = Nodes::perhaps_with_files(ctx);
    let places = running(ctx, &nodes);
    let (mut findings, mut unknown) = (Vec::new(), Vec::new());
    for setting in &SETTINGS {
        match (setting.expected)(&values) {
            Some(expected) => findings.extend(drift.findings(setting, expected, &places)),
            None => unknown.push(setting.value),
        }
    }
    if !unknown.is_empty() {
        let part = format!("{}: not among its values", unknown.join(", "));
        ctx.gap(ctx.missing(item, Why::NotCaptured, part));
    }
    Ok(findings.into())
}

/// The loaded entries, each with its node.
fn running<'a>(ctx: &Context<'a>, nodes: &Nodes<'a>) -> Vec<(&'a NodeSnapshot, EntryInFile<'a>)> {
    let all = nodes
        .snapshots()
        .flat_map(|snapshot| entries(ctx, nodes, snapshot).into_iter().map(move |found| (snapshot, found)));
    all.filter(|(_, found)| found.runs == Runs::Yes).collect()
}

/// A value and its expected value.
fn comparison(setting: &Setting, seen: i64, expected: i64) -> String {
    let shown = |value: i64| match setting.annotation {
        Some(_) => value.to_string(),
        None => (value != 0).to_string(),
    };
    format!("{}, expected {}", shown(seen), shown(expected))
}

struct Drift<'c, 'a> {
    ctx: &'c Context<'a>,
    linkerd: &'a ConfigMap,
    config: &'a ConfigMap,
    /// The entry that the next installer writes.
    template: Option<LinkerdEntry>,
}

impl Drift<'_, '_> {
    /// One finding if the template differs, which quotes nodes that already have it. Otherwise one finding
    /// for each node with another value.
    fn findings(&self, setting: &Setting, expected: i64, places: &[(&NodeSnapshot, EntryInFile<'_>)]) -> Vec<Finding> {
        let differing = places.iter().filter_map(|(snapshot, found)| {
            let (seen, place) = (setting.seen)(found.entry);
            let seen = seen.filter(|seen| *seen != expected)?;
            let path = Some(found.entry.path_of(setting.field));
            let place = place.or(Some(found.entry.place()));
            let said = comparison(setting, seen, expected);
            let quoted = in_file(snapshot, &found.file.path(), path, place, said);
            Some((entry_subject(snapshot, found.file, found.entry), quoted, seen))
        });
        let in_template = self.template.as_ref().and_then(|template| (setting.seen)(template).0);
        let Some(seen) = in_template.filter(|seen| *seen != expected) else {
            return differing
                .map(|(subject, quoted, seen)| {
                    let finding = self.finding(setting, subject, quoted, seen, expected);
                    finding.remedy(self.remedy(setting, expected, None))
                })
                .collect();
        };
        let meta = &self.config.metadata;
        let object = meta.described("ConfigMap");
        let path = format!("data.cni_network_config: {}", setting.field);
        let quoted = Evidence::field(object, path, comparison(setting, seen, expected));
        let subject = Subject::object("ConfigMap", &meta.namespace, &meta.name);
        let finding = self.finding(setting, subject, quoted, seen, expected);
        let finding = finding.evidences(differing.map(|(_, quoted, _)| quoted).take(QUOTED));
        vec![finding.remedy(self.remedy(setting, expected, Some(seen)))]
    }

    fn finding(&self, setting: &Setting, subject: Subject, seen: Evidence, is: i64, expected: i64) -> Finding {
        let meta = &self.linkerd.metadata;
        let theirs = setting.written(expected);
        // The mesh uses IPv6, but no rule covers IPv6 addresses.
        let v6_uncovered = setting.annotation.is_none() && expected != 0 && is == 0;
        let message = match setting.annotation {
            Some(_) => setting.message.to_owned(),
            None if v6_uncovered => format!(
                "{}: the mesh uses IPv6, but new meshed pods get no IPv6 rules, so their IPv6 traffic \
                 bypasses the proxy",
                setting.message
            ),
            None => format!(
                "{}: new meshed pods get IPv6 rules that the mesh does not use, and cannot start on a node \
                 without IPv6",
                setting.message
            ),
        };
        let overridden = setting.annotation.and_then(|key| overridden(self.ctx, key));
        let finding = self
            .ctx
            .finding(subject, message)
            .parameter(setting.field)
            .evidence(seen)
            .evidence(Evidence::field(meta.described("ConfigMap"), format!("data.values: {}", setting.value), theirs));
        let finding = if setting.grave || v6_uncovered { finding } else { finding.severity(Severity::Warning) };
        match overridden {
            Some(overridden) => finding.likely().evidence(overridden),
            None => finding,
        }
    }

    /// `in_template` is the value in linkerd-cni's template, if it differs.
    fn remedy(&self, setting: &Setting, expected: i64, in_template: Option<i64>) -> Remedy {
        let value = setting.written(expected);
        let remedy = Remedy::new();
        let remedy = if let Some(other) = in_template.map(|seen| setting.written(seen)) {
            let words = format!("Set {} of linkerd-cni to {value}, as in the control plane", setting.cni_value);
            let remedy = changed(self.ctx, remedy, words, None, &[ChartValue::new(setting.cni_value, value.as_str())]);
            let act = format!("Or, if the control plane's value is wrong, set its {} to {other}", setting.value);
            upgrade::with_values(self.ctx, remedy, &act, Options::none().set(setting.value, other))
        } else {
            restarted(self.ctx, remedy)
        };
        meshed_replaced(self.ctx, remedy, "Restart the meshed workloads whose pods started with the other rules", &[])
    }
}

/// A namespace or pod that overrides the setting: the other value may be intended for it.
fn overridden(ctx: &Context<'_>, key: &str) -> Option<Evidence> {
    let namespaces = ctx.optional_list::<Namespace>().iter().map(|ns| ("Namespace", &ns.metadata));
    let pods = ctx.optional_list::<Pod>().iter().map(|pod| ("Pod", &pod.metadata));
    let mut all = namespaces.chain(pods).filter_map(|(kind, meta)| {
        let value = meta.annotation(key)?;
        let slash = if meta.namespace.is_empty() { "" } else { "/" };
        let object = format!("{kind} {}{slash}{}", meta.namespace, meta.name);
        Some(Evidence::field(object, format!("metadata.annotations[\"{key}\"]"), value))
    });
    all.next()
}
