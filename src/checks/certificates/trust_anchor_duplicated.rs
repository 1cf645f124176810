//! `trust-anchor-duplicated`: a bundle of trust anchors holds one certificate more than once.

use super::identity::{Bundle, bundles};
use super::remedy;
use crate::certificates::Certificate;
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let bundles = bundles(ctx)?;
    let in_force = bundles.iter().find(|bundle| bundle.in_force);
    // A bundle with the same anchors adds nothing.
    let differ =
        |bundle: &&Bundle| bundle.in_force || in_force.is_none_or(|in_force| in_force.anchors != bundle.anchors);
    Ok(bundles.iter().filter(differ).filter_map(|bundle| finding(ctx, bundle)).collect())
}

fn finding(ctx: &Context<'_>, bundle: &Bundle) -> Option<Finding> {
    let mut seen: Vec<(&Certificate, usize)> = Vec::new();
    for anchor in &bundle.anchors {
        match seen.iter_mut().find(|(certificate, _)| *certificate == anchor) {
            Some((_, times)) => *times += 1,
            None => seen.push((anchor, 1)),
        }
    }
    let twice = seen.iter().filter(|(_, times)| *times > 1);
    let said: Vec<String> =
        twice.map(|(certificate, times)| format!("{}: {times} times", certificate.summary())).collect();
    let steps = Remedy::new();
    let steps = remedy::read_bundle_once(ctx, steps, "Write the bundle to a file, with each anchor once");
    let steps = remedy::put_bundle(ctx, steps, "With the next change of the anchors, put it in place", remedy::EDITED);
    (!said.is_empty()).then(|| {
        ctx.finding(
            bundle.subject.clone(),
            "a trust anchor is duplicated in the bundle: nothing breaks, but a rotation may have added the \
             old anchor instead of a new one",
        )
        .evidence(bundle.evidence(said.join("; ")))
        .remedy(steps)
    })
}
