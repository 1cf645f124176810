//! `upgrade-needs-storage-migration`: the API server rejects the Gateway API version for the target while
//! GRPCRoutes may be stored as v1alpha2.

use super::Upgrade;
use super::plan::hops;
use super::reached::Reached;
use crate::checks::prelude::*;
use crate::checks::versions::gateway_api::{ALPHA, BUNDLE, GRPC, HTTP, bundle, definition, stored_again};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Upgrade::from_context(ctx)?;
    let (grpc, http) = (definition(ctx, GRPC), definition(ctx, HTTP));
    let (grpc, _) = (grpc?, http?);
    if grpc.is_none() {
        return Err(Unjudged::not_applicable("the GRPCRoute CRD is not installed"));
    }
    let Some(hops) = hops(ctx, &way.from, way.to) else {
        return Err(Unjudged::not_applicable("this is not an upgrade to a later release"));
    };
    let mut reached = Reached::now(ctx);
    let refused = hops.into_iter().find_map(|hop| {
        let step = reached.next_gateway_api(ctx, &hop)?;
        Some((step.stored_as_alpha?, step, hop))
    });
    let Some((grpc, step, hop)) = refused else { return Ok(Verdict::fine()) };
    let (minimum, maximum) = (&step.wanted.minimum, &step.wanted.maximum);
    // The version in the plan.
    let brought = step.wanted.to_bring();
    let object = format!("CustomResourceDefinition {GRPC}");
    let message = format!(
        "{hop} requires Gateway API {minimum} to {maximum}. The API server rejects the CRD of {brought} \
         while {ALPHA} is a version in which GRPCRoutes may be stored, and that step of the upgrade fails"
    );
    let finding = ctx
        .finding(Subject::object(Kind::CustomResourceDefinition, "", GRPC), message)
        .evidence(Evidence::field(&object, "status.storedVersions", grpc.status.stored_versions.join(", ")));
    let of = bundle(grpc).map(|(said, _)| Evidence::field(&object, format!("metadata.annotations[{BUNDLE}]"), said));
    let remedy = stored_again(Remedy::new(), grpc, step.stores_v1);
    Ok(finding.evidences(of).evidence(way.target.clone()).remedy(remedy).into())
}
