//! `issuer-not-trusted`: the issuer's certificate does not chain to a current trust anchor.

use super::beyond_identity::refused_by_proxies;
use super::identity::{Bundle, Issuer, anchor_tie, identity_deployment, issuer_and_bundles, issuer_item};
use super::{rejections, remedy};
use crate::certificates::{Certificate, Obstacle, Path, Validity, reach};
use crate::checks::dates;
use crate::checks::prelude::*;
use crate::checks::upgrade::CURRENT_BUNDLE;

/// The relation of the issuer to a bundle.
enum Standing {
    /// It chains to one of its anchors, by these paths.
    Trusted(Vec<Path>),
    /// It chains to these, but no anchor or intermediate path is valid now.
    OutOfForce(Vec<usize>),
    /// It chains to none.
    Foreign,
    /// The signatures chain to one, but a certificate on the path forbids it.
    Barred(Obstacle),
    /// An unsupported algorithm.
    Unknown(String),
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (issuer, bundles) = issuer_and_bundles(ctx)?;
    let mut findings = Vec::new();
    let in_force = bundles.iter().find(|bundle| bundle.in_force);
    for (place, bundle) in bundles.iter().enumerate() {
        // A bundle with the same anchors adds nothing.
        if !bundle.in_force && in_force.is_some_and(|other| other.anchors == bundle.anchors) {
            continue;
        }
        match standing(ctx, &issuer, bundle) {
            // Proxies use the current bundle, which comes first.
            Standing::Trusted(paths) if place == 0 => {
                findings.extend(refused_by_proxies(ctx, &issuer, bundle, &paths));
            }
            Standing::Trusted(_) => {}
            Standing::Unknown(algorithm) => {
                let why = Why::Malformed { message: algorithm };
                ctx.gap(ctx.missing(issuer_item(), why, "the signer of the issuer's certificate"));
            }
            standing => findings.push(finding(ctx, &issuer, bundle, &standing)),
        }
    }
    Ok(findings.into())
}

fn standing(ctx: &Context<'_>, issuer: &Issuer<'_>, bundle: &Bundle) -> Standing {
    let now = |certificate: &Certificate| certificate.validity(ctx.now()) == Validity::Current;
    let reached = reach(&issuer.chain, &bundle.anchors, &now);
    if !reached.anchors.is_empty() {
        return Standing::Trusted(reached.paths.into_iter().filter(|path| path.obstacle.is_none()).collect());
    }
    let ever = reach(&issuer.chain, &bundle.anchors, &|_| true);
    match (reached.obstacle().or(ever.obstacle()), ever.anchors.is_empty(), ever.unknown) {
        (None, false, _) => Standing::OutOfForce(ever.anchors),
        (_, _, Some(algorithm)) => Standing::Unknown(algorithm),
        (Some(obstacle), _, None) => Standing::Barred(obstacle),
        (None, true, None) => Standing::Foreign,
    }
}

fn finding(ctx: &Context<'_>, issuer: &Issuer<'_>, bundle: &Bundle, standing: &Standing) -> Finding {
    let message = match (standing, bundle.in_force) {
        (Standing::Barred(Obstacle::Extension), _) => {
            "the issuer's certificate, or one above it, has a critical extension that Linkerd does not \
                support: identity rejects it and issues no certificates"
        }
        (Standing::Barred(Obstacle::Purpose), _) => {
            "the issuer's certificate, or one above it, has extended key usages without TLS server: \
                identity rejects it and issues no certificates"
        }
        (Standing::Barred(Obstacle::PathLength), _) => {
            "a certificate above the issuer allows fewer CAs below it than there are: identity rejects \
                the issuer and issues no certificates"
        }
        (Standing::Barred(Obstacle::Names), _) => {
            "the name constraints of a certificate above the issuer exclude the issuer's own name: \
                identity rejects the issuer and issues no certificates"
        }
        (Standing::OutOfForce(_), true) => {
            "the issuer's certificate chains to no trust anchor that is valid now: identity rejects it \
                and issues no certificates"
        }
        (_, true) => {
            "none of the current trust anchors signed the issuer's certificate: once identity starts or \
                reads it, it rejects it and issues no certificates"
        }
        (_, false) => {
            "the trust anchors of the next upgrade do not cover the issuer's certificate: `linkerd \
                check` fails, and after that upgrade identity rejects the issuer"
        }
    };
    let seen: Vec<String> = bundle
        .anchors
        .iter()
        .map(|anchor| match standing {
            Standing::OutOfForce(_) => format!("{}: {}", anchor.summary(), dates::dates(anchor, ctx.now())),
            _ => anchor.summary(),
        })
        .collect();
    let finding = ctx
        .finding(issuer.subject(), message)
        .evidence(issuer.quoted(format!(
            "{}, signed by {}",
            issuer.certificate().summary(),
            issuer.certificate().issuer()
        )))
        .evidence(bundle.evidence(seen.join("; ")))
        .evidences(rejections::untrusted(ctx).filter(|_| bundle.in_force))
        .parameter(if bundle.in_force { "in-force" } else { "next-upgrade" })
        .tie(identity_deployment(ctx));
    // Identity uses the current bundle until the next upgrade.
    let mut finding = if bundle.in_force { finding } else { finding.explains_nothing() };
    if let Standing::OutOfForce(reached) = standing {
        let anchors = reached.iter().filter_map(|place| bundle.anchors.get(*place));
        finding = anchors.map(anchor_tie).fold(finding, Finding::tie);
    }
    let steps = match standing {
        Standing::Foreign if !bundle.in_force => keep_what_is_in_force(ctx),
        _ => remedy::another_issuer(ctx, issuer),
    };
    finding.remedy(steps)
}

/// The current bundle usually covers the issuer: it must only be stored in the installation to
/// survive the next upgrade.
fn keep_what_is_in_force(ctx: &Context<'_>) -> Remedy {
    let steps = remedy::read_bundle(
        ctx,
        Remedy::new(),
        "Write the current bundle to a file, and check that its content is correct",
        CURRENT_BUNDLE,
    );
    remedy::put_bundle(ctx, steps, "Make it the bundle of the installation", CURRENT_BUNDLE)
}
