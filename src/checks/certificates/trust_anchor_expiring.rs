//! `trust-anchor-expiring`: a trust anchor expires soon.

use jiff::Timestamp;

use super::anchor_replaced_at_renewal::renewal;
use super::identity::{Anchor, Issuer, anchor_tie, identity_deployment, issuer};
use super::remedy;
use super::role::{AnchorUse, of_each};
use super::stranded;
use crate::certificates::Validity;
use crate::checks::dates::{self, ExpiryWindow, expiry};
use crate::checks::prelude::*;
use crate::checks::upgrade::Options;
use crate::command::meshdoctor;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    of_each(ctx, |anchor, role| {
        let soon = ExpiryWindow::first_of(ctx, [anchor.certificate])?;
        Some(match renewal(ctx, anchor.certificate) {
            Some(at) => renewed(ctx, anchor, at),
            None => finding(ctx, anchor, role, soon),
        })
    })
}

/// A finding about an anchor that cert-manager renews in time. `linkerd check` warns nevertheless.
fn renewed(ctx: &Context<'_>, anchor: &Anchor<'_>, at: Timestamp) -> Finding {
    let message = format!(
        "cert-manager renews a trust anchor in {}, and it expires {}: nothing is urgent, but linkerd check warns",
        dates::span(at.duration_since(ctx.now())),
        expiry(ctx, [anchor.certificate])
    );
    let said = format!("{}: {}", anchor.certificate.summary(), dates::dates(anchor.certificate, ctx.now()));
    ctx.finding(anchor.subject(), message)
        .severity(Severity::Info)
        .rows_as(Severity::Warning)
        .evidences(anchor.evidence(&said))
        .parameter(anchor.certificate.print())
        .explains_nothing()
        .remedy(Remedy::new().step(
            StepKind::Note,
            "Wait for the renewal: if it makes a new key, anchor-replaced-at-renewal reports how to keep proxies \
             connected",
        ))
        .tie(anchor_tie(anchor.certificate))
}

fn finding(ctx: &Context<'_>, anchor: &Anchor<'_>, role: AnchorUse, soon: ExpiryWindow) -> Finding {
    let (what, comes) = match role {
        AnchorUse::Unknown => {
            ("a trust anchor", "if the issuer chains to it, identity issues no certificates from then on")
        }
        AnchorUse::Only => (
            "the trust anchor of the mesh",
            "then no new proxy becomes ready, and running proxies lose their connections within 24 hours",
        ),
        AnchorUse::OneOfSeveral | AnchorUse::Unused => {
            ("a trust anchor in the bundle", "the issuer does not depend on it, but `linkerd check` fails from then on")
        }
    };
    let steps = || match role {
        AnchorUse::Unknown | AnchorUse::Only => rotation(ctx, Remedy::new(), anchor),
        AnchorUse::OneOfSeveral | AnchorUse::Unused => remedy::take_out_anchor(ctx, Remedy::new(), anchor),
    };
    let sooner = issuer(ctx).ok().filter(|issuer| role == AnchorUse::Only && is_due_first(ctx, issuer, anchor));
    let before = sooner.as_ref().map(|issuer| expiry(ctx, [issuer.certificate()]));
    let before = before.map(|when| format!(", and the issuer under it {when}")).unwrap_or_default();
    let message =
        soon.message(ctx, what, [anchor.certificate], |when| format!("{what} expires {when}{before}: {comes}"));
    let said = format!("{}: {}", anchor.certificate.summary(), dates::dates(anchor.certificate, ctx.now()));
    let finding = ctx
        .finding(anchor.subject(), message)
        .evidences(anchor.evidence(&said))
        .evidences(sooner.map(|issuer| issuer.quoted(dates::dates(issuer.certificate(), ctx.now()))))
        .parameter(anchor.certificate.print())
        .remedy(stranded::later(ctx, "trust-anchor-expiring", Severity::Warning).unwrap_or_else(steps))
        .tie(anchor_tie(anchor.certificate))
        .tie(identity_deployment(ctx));
    // Only a new root requires a new issuer.
    match role {
        AnchorUse::Only | AnchorUse::Unknown => soon.graded(finding),
        AnchorUse::OneOfSeveral | AnchorUse::Unused => soon.graded(finding).explains_nothing(),
    }
}

/// Whether the issuer expires before its trust anchor, also soon, and no tool renews it.
fn is_due_first(ctx: &Context<'_>, issuer: &Issuer<'_>, anchor: &Anchor<'_>) -> bool {
    let certificate = issuer.certificate();
    certificate.not_after() < anchor.certificate.not_after()
        && certificate.validity(ctx.now()) == Validity::Current
        && ExpiryWindow::first_of(ctx, [certificate]).is_some()
        && dates::renewed_by(&issuer.secret.metadata, certificate).is_none()
}

/// Two proxies always share an anchor: the new one is added first, then the issuer under it.
fn rotation(ctx: &Context<'_>, steps: Remedy, anchor: &Anchor<'_>) -> Remedy {
    let steps = remedy::new_root(ctx, steps);
    let steps = remedy::add_to_bundle(
        ctx,
        steps,
        "Write a bundle of the current anchors and the new one to a file",
        remedy::WITH_NEW,
        remedy::NEW_ROOT,
    );
    let steps = remedy::put_bundle(ctx, steps, "Put that bundle in place", remedy::WITH_NEW);
    let steps = remedy::restart_meshed(ctx, remedy::restart_control_plane(ctx, steps));
    let steps = steps
        .command(
            "Wait until every proxy trusts both anchors. The command then exits with status 0",
            meshdoctor().words("rotate --may replace-issuer"),
        )
        .later();
    let steps = remedy::put_new_issuer_with(ctx, steps, Options::none().in_rotation());
    let steps = remedy::see_it_loaded(ctx, steps)
        .command(
            "Wait until every proxy has a certificate under the new anchor, by default one day. The command then \
             exits with status 0",
            meshdoctor().words("rotate --may remove-anchor"),
        )
        .later();
    let steps = remedy::without_anchor(ctx, steps, "Write the bundle", anchor);
    let steps = remedy::put_bundle_with(
        ctx,
        steps,
        "Put the edited bundle in place",
        remedy::EDITED,
        Options::none().in_rotation(),
    );
    remedy::restart_meshed(ctx, remedy::restart_control_plane(ctx, steps))
}
