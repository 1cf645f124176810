//! `chart-value-unread`: a value is set that the chart has but no template reads.

use super::{BEFORE, ValuesOrigin};
use crate::chart::values_input::{Leaf, ValuesFile};
use crate::checks::prelude::*;
use crate::knowledge::Known;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    ValuesOrigin::each_file(ctx, of_file)
}

fn of_file<'a>(ctx: &Context<'a>, of: &ValuesOrigin<'a>, file: &ValuesFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for leaf in file.leaves() {
        let path = leaf.path();
        let Known::Taken(value) = of.chart.known(&path, Some(of.edge)) else { continue };
        if !value.is_unread(Some(of.edge)) || holds_for_others(file, &leaf) || file.is_shared(&path) {
            continue;
        }
        let message = format!("no template of the chart of {} reads {path}: the value has no effect", of.release);
        let finding = of.finding(ctx, (file, &leaf.place()), leaf.describe(), message);
        let act = format!("set the value of each component instead of {path}, or remove it");
        findings.push(ValuesOrigin::with_step(finding, act, BEFORE));
    }
    findings
}

/// Whether the file repeats a value by an anchor, as `values-ha.yaml` does. Such a value is intended.
fn holds_for_others(file: &ValuesFile, leaf: &Leaf<'_>) -> bool {
    let outer = leaf.names[0];
    let Some(value) = file.at(outer) else { return false };
    let others = file.leaves().into_iter().filter(|other| other.names[0] != outer);
    let mut maps = others
        .flat_map(|other| (1..=other.names.len()).map(move |count| other.names[..count].join(".")).collect::<Vec<_>>());
    maps.any(|path| file.at(&path) == Some(value)) && file.text.contains('&')
}
