//! Judges changes on top of evidence with the checks of a run.

use std::collections::BTreeSet;

use crate::chart::values_input::ValuesInput;
use crate::checks::{Check, Settings};
use crate::cli::{args, change};
use crate::collect::Collected;
use crate::item::Item;
use crate::knowledge::Knowledge;
use crate::kubectl::Action;
use crate::policy::Policy;
use crate::repair::{self, State};
use crate::report::{self, Question, Report};
use crate::source::Source;
use crate::source::change::{Change, Set};
use crate::version::LinkerdVersion;

/// The questions of a run.
#[derive(Clone, Copy)]
pub(super) struct Questions<'a> {
    pub(super) checks: &'a [&'static Check],
    pub(super) policy: &'a Policy,
    pub(super) settings: &'a Settings,
    pub(super) knowledge: &'a Knowledge,
    pub(super) items: &'a BTreeSet<Item>,
}

/// Evidence to judge changes on.
pub(super) struct Overlay<'a, S> {
    /// The evidence without any change.
    pub(super) base: &'a S,
    /// The release, if manifests contain no control plane.
    pub(super) release: Option<LinkerdVersion>,
    /// The cluster as it was read; `None` for manifests.
    pub(super) today: Option<&'a Collected>,
    pub(super) args: &'a args::Check,
    pub(super) questions: Questions<'a>,
}

impl<S: Source> Overlay<'_, S> {
    fn change<'s>(&'s self, set: &'s Set) -> Change<'s, S> {
        let at = self
            .today
            .map_or_else(|| self.args.evidence.at.unwrap_or_else(jiff::Timestamp::now), |today| today.cluster.at);
        Change::new(self.base, set, self.questions.knowledge, at).injecting(self.release.clone())
    }

    /// The evidence with a set applied.
    pub(super) fn collected(&self, set: &Set) -> Collected {
        let items = (self.questions.items, self.args);
        let mut collected = change::read(&self.change(set), set, items, self.today);
        if let Some(today) = self.today {
            collected.cluster.time_source = today.cluster.time_source;
        }
        collected
    }

    /// The report with a set applied.
    pub(super) fn report(&self, collected: &Collected) -> Report {
        self.report_with(collected, self.questions.settings)
    }

    fn report_with(&self, collected: &Collected, settings: &Settings) -> Report {
        let Questions { checks, policy, knowledge, .. } = self.questions;
        let origin = self.base.origin();
        report::judge(&Question { checks, policy, settings, knowledge, origin, change: None }, collected)
    }

    /// The findings with a set applied and other chart values.
    pub(super) fn judge_with(&self, set: &Set, values: &[ValuesInput]) -> State {
        let settings = Settings { values: values.to_vec(), ..self.questions.settings.clone() };
        State::from_report(&self.report_with(&self.collected(set), &settings))
    }
}

impl<S: Source> repair::Overlay for Overlay<'_, S> {
    fn apply(&self, set: &Set, action: &Action) -> Result<Set, String> {
        futures::executor::block_on(self.change(set).with_action(action))
    }

    fn judge(&self, set: &Set) -> State {
        State::from_report(&self.report(&self.collected(set)))
    }
}
