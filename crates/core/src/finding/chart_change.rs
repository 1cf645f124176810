//! Values of a chart that the commands of steps set. `linkerd install-cni` renders a chart from its options alone, so
//! the values of several findings are set by one command: otherwise each step would undo the others.

use super::{ChartSetting, ChartSettings, Step};

/// A value that a command sets: its path, the value, and whether it stays a string.
type Pair<'s> = (&'s str, &'s str, bool);

/// The values of some settings; `None` if a setting is not a value.
fn pairs(settings: &ChartSettings) -> Option<Vec<Pair<'_>>> {
    let mut pairs = Vec::new();
    for setting in &settings.settings {
        let ChartSetting::Value { path, value, is_text } = setting else { return None };
        pairs.push((path.as_str(), value.as_str(), *is_text));
    }
    Some(pairs)
}

/// Whether both set one value differently.
fn contradict(one: &[Pair<'_>], other: &[Pair<'_>]) -> bool {
    one.iter().any(|(path, value, _)| other.iter().any(|(same, new, _)| same == path && new != value))
}

/// The values of both, the second before the first.
fn combined(one: &ChartSettings, other: &ChartSettings) -> ChartSettings {
    let path = |setting: &ChartSetting| match setting {
        ChartSetting::Value { path, .. } => Some(path.clone()),
        _ => None,
    };
    let is_kept = |old: &&ChartSetting| other.settings.iter().all(|new| path(new) != path(old));
    let mut settings: Vec<ChartSetting> = one.settings.iter().filter(is_kept).cloned().collect();
    settings.extend(other.settings.iter().cloned());
    ChartSettings { chart: one.chart.clone(), settings }
}

impl Step {
    /// The step that sets the values of this one and of another one with the same command; `None` if the commands
    /// differ in more than these values, if both set one value differently, or if the reader decides about one of
    /// them.
    pub fn with_chart_of(&self, other: &Step) -> Option<Step> {
        let (own, more) = (self.chart.as_deref()?, other.chart.as_deref()?);
        if own.chart != more.chart || self.is_conditional() || other.is_conditional() {
            return None;
        }
        if contradict(&pairs(own)?, &pairs(more)?) {
            return None;
        }
        let both = combined(own, more);
        let command = self.command.as_ref()?.clone().with_values(&pairs(&both)?);
        if command != other.command.as_ref()?.clone().with_values(&pairs(&both)?) {
            return None;
        }
        let text = self.text_with(other);
        let restarts = self.restarts.max(other.restarts);
        Some(Step { text, command: Some(command), restarts, chart: Some(Box::new(both)), ..self.clone() })
    }

    /// The sentences of both texts, those with a condition last.
    fn text_with(&self, other: &Step) -> String {
        if self.text == other.text {
            return self.text.clone();
        }
        let (own, more) = (self.without_requirement(), other.without_requirement());
        let mut sentences: Vec<&str> = own.split(". ").collect();
        sentences.extend(more.split(". ").filter(|sentence| !own.split(". ").any(|known| known == *sentence)));
        sentences.sort_by_key(|sentence| sentence.starts_with("If "));
        format!("{}{}", sentences.join(". "), &self.text[own.len()..])
    }

    /// The step on top of values that earlier steps set.
    fn with_values_of(&self, earlier: &ChartSettings) -> Option<Step> {
        let own = self.chart.as_deref().filter(|own| own.chart == earlier.chart)?;
        let all = combined(earlier, own);
        let command = self.command.as_ref()?.clone().with_values(&pairs(&all)?);
        Some(Step { command: Some(command), chart: Some(Box::new(all)), ..self.clone() })
    }
}

/// Lets each step that sets values of a chart keep those of the steps before it.
pub fn keep_values<'a>(steps: impl IntoIterator<Item = &'a mut Step>) {
    let mut set: Vec<ChartSettings> = Vec::new();
    for step in steps {
        if let Some(kept) = set.iter().find_map(|earlier| step.with_values_of(earlier)) {
            *step = kept;
        }
        let Some(own) = step.chart.as_deref().filter(|_| !step.is_conditional()) else { continue };
        set.retain(|earlier| earlier.chart != own.chart);
        set.push(own.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Command, Line, helm_set, kubectl, linkerd};
    use crate::finding::StepKind;

    fn step(text: &str, pairs: &[(&str, &str)], carried: &[&'static str]) -> Step {
        let install = carried.iter().fold(linkerd().words("install-cni"), |call, old| call.option("--set", *old));
        let install = pairs.iter().fold(install, |call, (path, value)| call.option("--set", helm_set(path, value)));
        let line = Line::only_with_cli("edge-25.4.4", install.pipe(kubectl().words("apply -f -")));
        let text = format!("{text} (needs linkerd CLI edge-25.4.4)");
        let settings = pairs.iter().map(|(path, value)| ChartSetting::Value {
            path: (*path).to_owned(),
            value: (*value).to_owned(),
            is_text: false,
        });
        let chart = ChartSettings::new("linkerd2-cni", settings.collect()).map(Box::new);
        Step { chart, ..Step::new(StepKind::ChartValue, text, Some(Command::from(line))) }
    }

    fn options(step: &Step) -> String {
        let command = step.command.as_ref().map(ToString::to_string).unwrap_or_default();
        let call = command.split("install-cni ").nth(1).unwrap_or_default();
        call.split(" |").next().unwrap_or_default().replace("--set ", "")
    }

    #[test]
    fn values_of_two_steps_are_set_at_once() {
        let one = step("Set bin. If nodes differ, repeat", &[("bin", "/new")], &["net=/old", "mode=nft"]);
        let other = step("Set net. If nodes differ, repeat", &[("net", "/c")], &["bin=/old", "mode=nft"]);
        let both = one.with_chart_of(&other).expect("one command");
        assert_eq!(options(&both), "mode=nft bin=/new net=/c");
        assert_eq!(both.text, "Set bin. Set net. If nodes differ, repeat (needs linkerd CLI edge-25.4.4)");
        let contradiction = step("Set bin", &[("bin", "/else")], &["net=/old", "mode=nft"]);
        assert_eq!(one.with_chart_of(&contradiction), None);
        let unlike = step("Set net", &[("net", "/c")], &["mode=plain"]);
        assert_eq!(one.with_chart_of(&unlike), None, "the commands differ in another value");
    }

    #[test]
    fn later_steps_keep_values_of_earlier_ones() {
        let mut steps =
            [step("Set bin", &[("bin", "/new")], &["net=/old"]), step("Set net", &[("net", "/c")], &["bin=/old"])];
        keep_values(&mut steps);
        assert_eq!(options(&steps[0]), "net=/old bin=/new");
        assert_eq!(options(&steps[1]), "bin=/new net=/c");
    }
}
