//! Builds the cluster of a card's case and runs a check on it.

use meshdoctor::card::Case;
use meshdoctor::checks::context::UNDECLARED;
use meshdoctor::checks::{Check, CheckResult, evaluate};
use meshdoctor::collect::{Collected, collect_now};
use meshdoctor::fetched::{Fetched, Why};
use meshdoctor::item::{Item, Kind, link_credentials};
use meshdoctor::knowledge::Knowledge;
use meshdoctor::missing::Missing;
use meshdoctor::model::cluster::Cluster;
use meshdoctor::objects::CustomResourceDefinition;
use meshdoctor::policy;
use meshdoctor::scene::Scene;

/// A case as a cluster.
#[derive(Clone)]
pub struct Live(pub Scene);

/// The text of a base cluster.
pub fn base(name: &str) -> Option<String> {
    std::fs::read_to_string(format!("{}/checks/bases/{name}.yaml", env!("CARGO_MANIFEST_DIR"))).ok()
}

/// The cluster that a case describes.
pub fn live(check: &Check, case: &Case) -> Live {
    let scene = Scene::parse(&case.blocks, &base);
    Live(scene.unwrap_or_else(|error| panic!("{}.md, case {:?}: {error}", check.id, case.title)))
}

/// Evidence that a check read without declaring it on its card, if any.
pub fn undeclared(result: &CheckResult) -> Option<String> {
    let of = |gap: &&Missing| matches!(&gap.why, Why::Failed { message } if message == UNDECLARED);
    let each: Vec<String> = result.gaps.iter().filter(of).map(ToString::to_string).collect();
    (!each.is_empty()).then(|| each.join(", "))
}

/// Replaces the reason for which an item is missing; whether the reason is known to change nothing else.
fn replace_reason(cluster: &mut Cluster, item: &Item, way: &Why) -> bool {
    let answer = cluster.answers.get_mut(item).map(|answer| &mut answer.fetched);
    match answer {
        Some(Fetched::Missing { reason }) if *item != link_credentials() && *way != Why::PerhapsMore => {
            *reason = way.clone();
            true
        }
        _ => false,
    }
}

impl Live {
    /// Collects what checks need, as a run with all of them does.
    pub fn collect(&self, checks: &[&'static Check]) -> Collected {
        collect_now(&self.0.memory, &policy::items(checks), &self.0.options, None)
    }

    /// Whether the cluster has the CustomResourceDefinition of a kind.
    pub fn defines(&self, kind: Kind) -> bool {
        let item = Item::List(Kind::CustomResourceDefinition);
        let collected = collect_now(&self.0.memory, &[item.clone()].into(), &self.0.options, None);
        let all =
            collected.cluster.answer(&item).map_or(&[][..], |answer| answer.objects::<CustomResourceDefinition>());
        all.iter().any(|known| known.metadata.name == kind.resource())
    }

    /// Runs one check on collected evidence.
    pub fn judge_on(&self, collected: &Collected, check: &'static Check) -> CheckResult {
        let mut results = evaluate(&[check], &collected.cluster, Knowledge::embedded(), &self.0.settings);
        let result = results.remove(0);
        assert_eq!(undeclared(&result), None, "{}", check.id);
        result
    }

    /// Runs checks on only the evidence that they need.
    pub fn results(&self, checks: &[&'static Check]) -> Vec<CheckResult> {
        let collected = self.collect(checks);
        let results = evaluate(checks, &collected.cluster, Knowledge::embedded(), &self.0.settings);
        for (check, result) in checks.iter().zip(&results) {
            assert_eq!(undeclared(result), None, "{}", check.id);
        }
        results
    }

    /// Runs one check on only the evidence that it needs.
    pub fn judge(&self, check: &'static Check) -> CheckResult {
        self.judge_on(&self.collect(&[check]), check)
    }

    /// Runs one check on the evidence that it needs, with one item missing in each of several ways. Where the other
    /// evidence does not depend on the way, it is collected only once.
    pub fn judge_without(&self, check: &'static Check, item: &Item, ways: &[Why]) -> Vec<CheckResult> {
        let Some((first, others)) = ways.split_first() else { return Vec::new() };
        let mut collected = self.without(item, first.clone()).collect(&[check]);
        let mut results = vec![self.judge_on(&collected, check)];
        for way in others {
            if !replace_reason(&mut collected.cluster, item, way) {
                collected = self.without(item, way.clone()).collect(&[check]);
            }
            results.push(self.judge_on(&collected, check));
        }
        results
    }

    /// The same cluster without one item.
    pub fn without(&self, item: &Item, why: Why) -> Live {
        let mut other = self.clone();
        other.0.memory.trouble.insert(item.clone(), why);
        other
    }
}
