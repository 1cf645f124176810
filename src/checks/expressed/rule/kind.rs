//! The kind that a rule is evaluated for, either built-in or described by the card.

use crate::card::ExpressedRule;
use crate::item::Kind;
use crate::nearest::closest;
use crate::objects::{Description, Foreign};

/// The kind that a rule is evaluated for: a built-in one, or one that the card describes.
///
/// # Errors
/// The kind does not exist, or its description is invalid; as text.
pub(super) fn kind(said: &ExpressedRule) -> Result<Kind, String> {
    let ours = || Kind::ALL.iter().copied().find(|kind| said.of.parse() == Ok(*kind));
    let Some(name) = &said.kind else {
        if said.cluster_scoped || !said.reads.is_empty() {
            return Err("rule: cluster-scoped and reads describe a kind that meshdoctor does not know, and \
             need kind"
                .to_owned());
        }
        return ours().ok_or_else(|| {
            let known: Vec<String> = Kind::ALL.iter().map(|kind| kind.resource()).collect();
            let near = closest(&said.of, known.iter().map(String::as_str));
            let near = near.map_or(". For".to_owned(), |near| format!("; did you mean {near}? For"));
            format!(
                "rule.for: {:?} is not a kind that meshdoctor knows{near} other kinds, state the version \
                 and the kind: for: certificates.v1.cert-manager.io, kind: Certificate",
                said.of
            )
        });
    };
    let parts: Vec<&str> = said.of.splitn(3, '.').collect();
    let is_version =
        |text: &str| text.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let [plural, version, group] = parts[..] else {
        return Err(format!("rule.for: {:?} has no version: write certificates.v1.cert-manager.io", said.of));
    };
    if !is_version(version) || !group.contains('.') || plural.is_empty() {
        return Err(format!(
            "rule.for: {:?} is not a resource with version and group, such as \
             certificates.v1.cert-manager.io",
            said.of
        ));
    }
    let known = Kind::of_manifest(&format!("{group}/{version}"), name).filter(|kind| Kind::ALL.contains(kind));
    if let Some(known) = known {
        // Cards named these kinds in this way before they were known.
        return match known {
            Kind::CertManagerCertificate | Kind::Bundle | Kind::IngressRoute => Ok(known),
            _ => Err(format!("rule.kind: {name} is a known kind; for: {} is enough", known.resource())),
        };
    }
    Foreign::register(Description {
        group,
        version,
        kind: name,
        plural,
        namespaced: !said.cluster_scoped,
        reads: &said.reads,
        makes_pods: asks_of_template(said),
    })
    .map_err(|why| format!("rule: {why}"))
}

/// Whether expressions may use injection results for a kind, which requires a pod template.
fn asks_of_template(said: &ExpressedRule) -> bool {
    let steps = said.fix.iter().flat_map(|fix| fix.run.iter().map(String::as_str));
    let evidence = said.evidence.iter().filter_map(|one| one.expression.as_deref());
    let variables = said.variables.iter().map(|one| one.expression.as_str());
    let others = [said.only_where.as_deref(), Some(said.rule.as_str()), said.message_expression.as_deref()];
    let mut all = variables.chain(evidence).chain(steps).chain(others.into_iter().flatten());
    all.any(|text| text.contains("injected") || text.contains("defaultPolicy"))
}
