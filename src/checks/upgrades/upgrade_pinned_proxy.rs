//! `upgrade-pinned-proxy`: a proxy is pinned to a release whose image has no linkerd-init, which the target
//! runs from it.

use super::Upgrade;
use crate::checks::control_plane::installation::{CONFIG, values};
use crate::checks::prelude::*;
use crate::checks::rewrite::{self, Act};
use crate::checks::written::{AnnotatedObjects, MAKE_PODS};
use crate::version::{Contains, Introduced};

/// The annotation that pins a proxy to a version.
const PIN: &str = "config.linkerd.io/proxy-version";
/// The chart's value that does so for every proxy.
const VALUE: &str = "proxy.image.version";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Upgrade::from_context(ctx)?;
    let Some(edge) = ctx.knowledge.upgrades().init_in_proxy(way.between(ctx)) else {
        return Err(Unjudged::not_applicable("this upgrade does not move linkerd-init into the proxy's image"));
    };
    let values = values(ctx)?;
    if values.bool("cniEnabled") == Some(true) {
        return Err(Unjudged::not_applicable("linkerd-cni sets up the pods, not linkerd-init"));
    }
    let change = Introduced::at_edge(edge);
    let old = |text: &str| {
        let version = text.parse::<LinkerdVersion>().ok()?;
        (version.contains(&change, ctx.knowledge.minors()) == Contains::No).then_some(version)
    };
    let home = ctx.namespaces().control_plane.as_str();
    let mut findings: Vec<Finding> = Vec::new();
    if let Some(version) = values.text(VALUE).filter(|text| old(text).is_some()) {
        let object = format!("ConfigMap {home}/{CONFIG}");
        let evidence = Evidence::field(object, format!("data.values: {VALUE}"), version);
        let remedy =
            Remedy::new().step(StepKind::ChartValue, format!("Remove {VALUE} from your values before the upgrade"));
        findings.push(about(ctx, &way, Subject::object(Kind::ConfigMap, home, CONFIG), evidence, remedy));
    }
    let written = AnnotatedObjects::from_kinds(ctx, &MAKE_PODS);
    for object in &written.objects {
        for site in &object.sites {
            let Some(value) = site.meta.annotation(PIN).filter(|value| old(value).is_some()) else {
                continue;
            };
            let evidence = object.evidence(site, "annotations", PIN, value);
            let act = format!("Remove {PIN} before the upgrade");
            let remedy = rewrite::template(ctx, Remedy::new(), Act::Remove(&act), object, &[(PIN, None)]);
            findings.push(about(ctx, &way, object.subject(), evidence, remedy));
            break;
        }
    }
    Ok(findings.into())
}

fn about(ctx: &Context<'_>, way: &Upgrade<'_>, subject: Subject, evidence: Evidence, remedy: Remedy) -> Finding {
    ctx.finding(
        subject,
        "the target's injector runs linkerd-init from the proxy's image, and the pinned image does not \
         contain it: new pods stay in Init",
    )
    .evidence(evidence)
    .evidence(way.target.clone())
    .remedy(remedy)
}
