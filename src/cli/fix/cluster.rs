//! The cluster that `fix` repairs: what was asked, and each reading of it.

use std::collections::BTreeSet;
use std::time::Instant;

use super::overlay::{Overlay, Questions};
use crate::checks::{Check, Settings};
use crate::cli::args::{self, Fix, Reports};
use crate::cli::evidence::EvidenceSource;
use crate::cli::examine::{self, Examination};
use crate::cli::{change, check, namespaces, request};
use crate::item::{Item, Kind};
use crate::knowledge::Knowledge;
use crate::policy::{self, Policy};
use crate::repair::{JudgedPlan, Overlay as _};
use crate::report::Report;
use crate::source::change::Set;

/// A cluster, live or captured, and the questions to it.
pub(super) struct FixCluster<'a> {
    args: &'a Fix,
    check: args::Check,
    policy: Policy,
    checks: Vec<&'static Check>,
    settings: Settings,
    items: BTreeSet<Item>,
}

/// One reading of the cluster.
pub(super) struct Reading {
    kept: change::ReplayedEvidence,
    settings: Settings,
    pub(super) report: Report,
}

impl<'a> FixCluster<'a> {
    /// From the flags.
    ///
    /// # Errors
    /// Wrong usage.
    pub(super) fn new(args: &'a Fix) -> anyhow::Result<FixCluster<'a>> {
        let check = args.as_check();
        let policy = request::policy(&check)?;
        let checks = request::select(&policy, Knowledge::embedded())?;
        let settings = check::settings(&check, &policy)?;
        let mut items = policy::run_items(&checks);
        items.insert(Item::List(Kind::Namespace));
        change::items(&mut items);
        Ok(FixCluster { args, check, policy, checks, settings, items })
    }

    /// Reads and checks the cluster.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn read(&self) -> anyhow::Result<Reading> {
        let began = Instant::now();
        let way = EvidenceSource::new(&self.check.evidence, &self.check.connection);
        let kept = change::gather_and_save(&way, &self.check.verbosity, &self.items, None)?;
        let settings = Settings { rerun: kept.read.rerun.clone(), ..self.settings.clone() };
        namespaces::of_check(&self.check, &kept.read.collected)?;
        let report = examine::judge(&Examination {
            checks: &self.checks,
            policy: &self.policy,
            settings: &settings,
            knowledge: Knowledge::embedded(),
            origin: kept.read.origin.clone(),
            collected: &kept.read.collected,
            change: None,
            places: None,
            began,
            timeout: self.check.connection.timeout,
            named: (self.args.evidence.linkerd_namespace.clone(), self.args.evidence.cni_namespace.clone()),
            reports: &Reports::default(),
            verbosity: &self.check.verbosity,
        });
        Ok(Reading { kept, settings, report })
    }

    /// Judges each step of the plan on top of the evidence.
    pub(super) fn plan(&self, reading: &Reading) -> JudgedPlan {
        let Reading { kept, settings, report } = reading;
        if report.repair.steps.is_empty() {
            return JudgedPlan::default();
        }
        let knowledge = Knowledge::embedded();
        let questions =
            Questions { checks: &self.checks, policy: &self.policy, settings, knowledge, items: &self.items };
        let today = Some(&kept.read.collected);
        let overlay = Overlay { base: &kept.again, release: None, today, args: &self.check, questions };
        let begin = Set::default();
        // The stored evidence is judged again, so that both states come from the same evidence.
        let today = overlay.judge(&begin);
        JudgedPlan::new(&report.repair, &begin, &today, &overlay)
    }
}
