//! `gateway-api-releases-differ`: Linkerd installed some Gateway API CRDs from an older release than that of the
//! others.

use semver::Version;

use super::gateway_api::{
    BUNDLE, CHANNEL, GROUP, brought_by, bundle, installing_value, is_of_the_cli, reinstall, unmark,
};
use crate::checks::control_plane::installation::release;
use crate::checks::prelude::*;
use crate::knowledge::GatewayChannel;
use crate::objects::CustomResourceDefinition;

/// A definition that states its release.
struct Stated<'a> {
    definition: &'a CustomResourceDefinition,
    said: &'a str,
    release: Version,
}

impl Stated<'_> {
    /// Releases of one minor have the same versions and fields.
    fn minor(&self) -> (u64, u64) {
        (self.release.major, self.release.minor)
    }

    fn channel(&self) -> Option<&str> {
        self.definition.metadata.annotations.get(CHANNEL).map(String::as_str)
    }

    fn evidence(&self) -> Evidence {
        let by = brought_by(self.definition).map(|by| format!(", created by {by}")).unwrap_or_default();
        Evidence::field(
            format!("CustomResourceDefinition {}", self.definition.metadata.name),
            format!("metadata.annotations[{BUNDLE}]"),
            format!("{} ({}){by}", self.said, self.channel().unwrap_or("no channel")),
        )
    }
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let definitions = ctx.partial_list::<CustomResourceDefinition>()?;
    let stated: Vec<Stated<'_>> = definitions
        .iter()
        .filter(|definition| definition.spec.group == GROUP)
        .filter_map(|definition| {
            let (said, release) = bundle(definition)?;
            Some(Stated { definition, said, release })
        })
        .collect();
    let (of_linkerd, others): (Vec<&Stated<'_>>, Vec<&Stated<'_>>) =
        stated.iter().partition(|one| brought_by(one.definition).is_some());
    let Some(newest) = others.into_iter().max_by(|a, b| a.release.cmp(&b.release)) else {
        return Err(Unjudged::not_applicable("no other tool installed Gateway API CRDs"));
    };
    let older: Vec<&Stated<'_>> = of_linkerd.into_iter().filter(|one| one.minor() < newest.minor()).collect();
    match older.is_empty() {
        true => Ok(Verdict::fine()),
        false => Ok(finding(ctx, &older, newest).into()),
    }
}

fn finding(ctx: &Context<'_>, older: &[&Stated<'_>], newest: &Stated<'_>) -> Finding {
    let message = format!(
        "Linkerd's tools installed these Gateway API CRDs from {}, but the others are from {}. Other gateway \
         controllers lose the versions and fields that they need",
        older[0].said, newest.said
    );
    let subject = |one: &&Stated<'_>| Subject::object("CustomResourceDefinition", "", &one.definition.metadata.name);
    older
        .iter()
        .skip(1)
        .map(subject)
        .fold(ctx.finding(subject(&older[0]), message), |finding, further| finding.subject(further))
        .evidences(older.iter().map(|one| one.evidence()))
        .evidence(newest.evidence())
        .remedy(remedy(ctx, older, newest))
}

fn remedy(ctx: &Context<'_>, older: &[&Stated<'_>], newest: &Stated<'_>) -> Remedy {
    let experimental = GatewayChannel::Experimental.name();
    let uses_it = older.iter().chain([&newest]).any(|one| one.channel() == Some(experimental));
    let channel = if uses_it { experimental } else { GatewayChannel::Standard.name() };
    let definitions: Vec<&CustomResourceDefinition> = older.iter().map(|one| one.definition).collect();
    let is_of_helm = definitions.iter().any(|definition| !is_of_the_cli(definition));
    let remedy = Remedy::new();
    let remedy = match is_of_helm {
        true => remedy.note(
            "Linkerd's chart linkerd-crds holds these CRDs and would restore its own: transfer their ownership \
             first, https://linkerd.io/2/tasks/gateway-api-ownership-migration/",
        ),
        false => remedy,
    };
    let remedy = reinstall(remedy, definitions[0], &newest.release, channel);
    let names: Vec<&str> = definitions.iter().map(|definition| definition.metadata.name.as_str()).collect();
    let remedy = if is_of_helm { remedy } else { unmark(remedy, &names) };
    let value = release(ctx).ok().map_or(Some("installGatewayAPI"), |(release, _)| installing_value(ctx, &release));
    match value {
        None => remedy,
        Some(value) => remedy.step(
            StepKind::ChartValue,
            format!(
                "Install and upgrade Linkerd's CRDs with {value}=false from now on: otherwise they replace the \
                 CRDs again"
            ),
        ),
    }
}
