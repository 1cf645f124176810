//! Reasons for which the injector skipped pods, from its own metrics: detail of findings about pods that
//! objects show as to be injected.

use std::collections::BTreeMap;

use super::unmeshed::Unmeshed;
use crate::checks::Context;
use crate::finding::Evidence;
use crate::knowledge::{Knowledge, MetricMeaning};
use crate::model::injection::Level;

/// Reason that pods without an annotation of their own have too, if their namespace has none.
const NOT_REQUESTED: &str = "injection_enable_annotation_absent";

/// The reasons that contradict the present objects, for pods with the same namespace and kind of owner, with
/// the numbers of all replicas since they started.
pub(super) fn skipped(ctx: &Context<'_>, of: &Unmeshed<'_>) -> Vec<Evidence> {
    let meta = &of.pod.metadata;
    let owner = meta.controller().map(|owner| owner.kind.to_ascii_lowercase()).unwrap_or_default();
    let names = Knowledge::embedded().proxy_metrics();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let metrics = ctx.diagnostics_hint().iter().filter_map(|one| one.said.of_controller());
    for series in metrics.flat_map(|metrics| metrics.series(MetricMeaning::SkippedPods)) {
        let is_same = series.label("namespace") == meta.namespace && series.label("owner_kind") == owner;
        for reason in series.label("skip_reason").split(',').filter(|_| is_same) {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
            let count = series.value as u64;
            *counts.entry(reason).or_default() += count;
        }
    }
    let known = counts.into_iter().filter_map(|(reason, count)| Some((names.skip_reason(reason)?, count)));
    let contradicting = known.filter(|(reason, count)| {
        *count > 0 && reason.contradicts && (of.level == Level::Namespace || reason.reason != NOT_REQUESTED)
    });
    let home = ctx.namespaces().control_plane.as_str();
    let each = contradicting.map(|(reason, count)| {
        Evidence::other(
            format!("metrics of the injector in {home}, pods of Namespace {}", meta.namespace),
            format!("{count} skipped since it started ({}): {}", reason.reason, reason.text),
        )
    });
    each.collect()
}
