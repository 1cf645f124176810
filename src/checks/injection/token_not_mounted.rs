//! `token-not-mounted`: pods ask for a proxy and mount no token, and the control plane projects none of its own.

use super::injector_not_called::restart;
use super::passed_over::passed_over;
use crate::checks::admission::Rules;
use crate::checks::upgrade::{self, Options};
use crate::checks::{Context, Judgement, Unjudged};
use crate::finding::{Evidence, Finding, Remedy, StepKind};
use crate::item::Scope;
use crate::model::injection::Skip;
use crate::objects::ConfigMap;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let rules = Rules::of(ctx);
    let config = ctx.named::<ConfigMap>(Scope::ControlPlane, "linkerd-config")?;
    let values = config.and_then(ConfigMap::chart_values);
    let projects = values
        .as_ref()
        .and_then(|values| values.bool("identity.serviceAccountTokenProjection"))
        .unwrap_or(true);
    if projects {
        let why = "the control plane projects a token of its own into every meshed pod";
        return Err(Unjudged::not_applicable(why));
    }
    let rules = rules?;
    let passed = passed_over(ctx, &rules)?;
    let findings = passed.into_iter().filter(|passed| passed.skip == Skip::NoToken).map(|passed| -> Finding {
        let remedy = upgrade::step(
            ctx,
            Remedy::new(),
            StepKind::ChartValue,
            "Turn the projected token on, which is the default",
            Options::none().set("identity.serviceAccountTokenProjection", "true"),
        );
        let mut remedy = remedy.step(
            StepKind::Note,
            "Or set automountServiceAccountToken: true in the pod template, which takes precedence over its ServiceAccount",
        );
        let maker = passed.maker;
        restart(ctx, &mut remedy, std::slice::from_ref(&passed));
        ctx.finding(
            maker.subject(),
            "injection is requested, and the pods mount no service account token, which their proxy would show to identity: the \
             injector leaves them without a proxy, outside the mesh",
        )
        .evidence(passed.asks())
        .evidence(maker.field("spec.automountServiceAccountToken", "false"))
        .evidence(Evidence::field(
            format!("ConfigMap {}/linkerd-config", ctx.namespaces().control_plane),
            "data.values: identity.serviceAccountTokenProjection",
            "false",
        ))
        .remedy(remedy)
    });
    Ok(findings.collect::<Vec<_>>().into())
}
