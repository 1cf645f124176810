//! The chart values that a repair plan sets, per chart, to be merged into values files.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{configured, proof_text};
use crate::finding::{ChartSetting, ChartSettings};
use crate::render::text::{clean, wrap};
use crate::render::yaml;
use crate::repair::{JudgedPlan, Proof};
use crate::report::Report;

/// Width of comments, in columns.
const WIDTH: usize = 100;

/// Options of helm and linkerd that are followed by a value.
const VALUED: [&str; 13] = [
    "-n",
    "--namespace",
    "-L",
    "--linkerd-namespace",
    "--context",
    "--kube-context",
    "--repo",
    "--version",
    "--set",
    "--set-string",
    "--set-file",
    "-f",
    "--values",
];

/// A YAML document for each chart; steps without values are comments.
pub fn values(report: &Report, plan: &JudgedPlan) -> String {
    let mut text = String::new();
    configured(report).iter().for_each(|settings| comment(&mut text, &format!("Configuration: {settings}.")));
    comment(&mut text, "Chart values of meshdoctor, for the values files of each chart. Steps without values:");
    let mut charts: BTreeMap<String, (String, Value)> = BTreeMap::new();
    let mut others = 0;
    for (number, (step, proof)) in (1..).zip(report.repair.steps.iter().zip(&plan.proofs)) {
        let command = step.step.command.as_ref().map(ToString::to_string).unwrap_or_default();
        let is_sure = proof.is_offered() && *proof != Proof::Conditional;
        let set = match &step.step.settings {
            _ if !is_sure => Err(proof_text(proof)),
            Some(settings) => in_files(settings),
            None => settings(&command),
        };
        match set {
            Ok(set) => {
                for (chart, pairs) in set {
                    let (about, document) = charts.entry(chart).or_insert_with(|| (String::new(), json!({})));
                    comment(about, &format!("Step {number}: {}", step.step.text));
                    pairs.into_iter().for_each(|(path, value)| insert(document, &path, value));
                }
            }
            Err(why) => {
                others += 1;
                comment(&mut text, &format!("  step {number}, {why}: {}", step.step.text));
            }
        }
    }
    if others == 0 {
        comment(&mut text, "  none");
    }
    for (chart, (about, document)) in charts {
        text.push_str("---\n");
        comment(&mut text, &format!("Chart {chart}"));
        text.push_str(&about);
        text.push_str(&yaml::document(&document));
    }
    text
}

fn comment(text: &mut String, words: &str) {
    let indent = if words.starts_with("  ") { "  " } else { "" };
    for line in wrap(clean(words).trim_start(), WIDTH - 4) {
        text.push_str(&format!("# {indent}{line}\n"));
    }
}

/// A path in the values, and the value there.
type Pair = (String, Value);

/// The values that a reader sets in files, by chart; otherwise why they are not complete, as the rest of a sentence.
fn in_files(set: &ChartSettings) -> Result<BTreeMap<String, Vec<Pair>>, String> {
    let pair = |setting: &ChartSetting| match setting {
        ChartSetting::Value { path, value, is_text } => Ok((path.clone(), typed(value, *is_text))),
        ChartSetting::Variable { path, .. } => Err(format!("it needs your value of {path}")),
        ChartSetting::File { .. } => Err("it reads a value from a file".to_owned()),
        ChartSetting::HighAvailability => Err("it uses the values of values-ha.yaml".to_owned()),
    };
    let pairs = set.settings.iter().map(pair).collect::<Result<_, _>>()?;
    Ok(BTreeMap::from([(set.chart.clone(), pairs)]))
}

/// The values that a command sets, by chart; otherwise why it sets none, as the rest of a sentence.
fn settings(command: &str) -> Result<BTreeMap<String, Vec<Pair>>, String> {
    let mut set: BTreeMap<String, Vec<Pair>> = BTreeMap::new();
    for words in calls(command) {
        let Some((chart, options)) = chart_of(&words) else { continue };
        let pairs = set.entry(chart).or_default();
        let mut options = options.iter();
        while let Some(option) = options.next() {
            match option.as_str() {
                "--ha" => return Err("it uses the values of values-ha.yaml".to_owned()),
                "--set" | "--set-string" => {
                    let pair = options.next().and_then(|pair| pair.split_once('='));
                    let (path, value) = pair.ok_or("its values are not readable")?;
                    if value.contains('$') {
                        return Err(format!("it needs your value of {path}"));
                    }
                    pairs.push((path.to_owned(), read(value, option == "--set-string")));
                }
                "--set-file" => return Err("it reads a value from a file".to_owned()),
                option if option.ends_with("-file") => return Err("it reads a value from a file".to_owned()),
                _ => {}
            }
        }
    }
    set.retain(|_, pairs| !pairs.is_empty());
    if set.is_empty() { Err("it sets no chart value".to_owned()) } else { Ok(set) }
}

/// The chart of a command that installs or upgrades one, and its options.
fn chart_of(words: &[String]) -> Option<(String, &[String])> {
    let at = words.iter().position(|word| word == "helm" || word == "linkerd")?;
    let options = &words[at + 1..];
    let mut plain = Vec::new();
    let mut rest = options.iter().map(String::as_str);
    while let Some(word) = rest.next() {
        match word.starts_with('-') {
            true if VALUED.contains(&word) => _ = rest.next(),
            true => {}
            false => plain.push(word),
        }
    }
    let chart = match (words[at].as_str(), plain.as_slice()) {
        ("helm", ["upgrade" | "install", _, chart, ..]) => chart.rsplit('/').next()?,
        ("linkerd", ["upgrade" | "install", ..]) => "linkerd-control-plane",
        ("linkerd", ["install-cni", ..]) => "linkerd2-cni",
        ("linkerd", ["viz", "install", ..]) => "linkerd-viz",
        ("linkerd", ["jaeger", "install", ..]) => "linkerd-jaeger",
        ("linkerd", ["multicluster", "install", ..]) => "linkerd-multicluster",
        _ => return None,
    };
    Some((chart.to_owned(), options))
}

/// The words of each program that a shell command runs, without quotes.
fn calls(command: &str) -> Vec<Vec<String>> {
    let (mut all, mut words, mut word) = (Vec::new(), Vec::new(), None::<String>);
    let mut letters = command.chars();
    let mut quote = None;
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(letters.next()),
            (None, '|' | '&' | ';' | '\n') => {
                words.extend(word.take());
                all.push(std::mem::take(&mut words));
            }
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    all.push(words);
    all
}

/// A value as `--set` reads it; as text, with `--set-string`.
fn read(value: &str, is_text: bool) -> Value {
    let mut text = String::with_capacity(value.len());
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => text.extend(letters.next()),
            letter => text.push(letter),
        }
    }
    typed(&text, is_text)
}

/// A value without escapes, with the type that `--set` gives it; as text, with `is_text`.
fn typed(text: &str, is_text: bool) -> Value {
    match (is_text, text) {
        (false, "true") => json!(true),
        (false, "false") => json!(false),
        (false, "null") => Value::Null,
        // Helm reads a number with a leading zero as text.
        (false, number) if !number.starts_with('0') || number == "0" => {
            number.parse::<i64>().map_or_else(|_| json!(number), |number| json!(number))
        }
        (_, text) => json!(text),
    }
}

/// Puts a value at a path such as `a.b[0].c`, where `\.` is part of a key.
fn insert(document: &mut Value, path: &str, value: Value) {
    let mut place = document;
    for step in path.replace("\\.", "\u{0}").split('.') {
        let step = step.replace('\u{0}', ".");
        let (key, index) = match step.strip_suffix(']').and_then(|step| step.rsplit_once('[')) {
            Some((key, index)) => (key.to_owned(), index.parse::<usize>().ok()),
            None => (step, None),
        };
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        place = &mut place[key.as_str()];
        if let Some(index) = index {
            if !place.is_array() {
                *place = json!([]);
            }
            let list = place.as_array_mut().expect("it was made a list");
            while list.len() <= index {
                list.push(Value::Null);
            }
            place = &mut list[index];
        }
    }
    *place = value;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(command: &str) -> Value {
        let mut charts = Map::new();
        for (chart, pairs) in settings(command).unwrap() {
            let mut document = json!({});
            pairs.into_iter().for_each(|(path, value)| insert(&mut document, &path, value));
            charts.insert(chart, document);
        }
        Value::Object(charts)
    }

    #[test]
    fn values_of_both_tools_are_read() {
        let guard = "linkerd version --client --short | grep -Fx edge-25.4.4 && ";
        let cli = r"linkerd -L mesh upgrade --set 'clusterNetworks=10.0.0.0/8\,fd00::/8' --set proxy.cores=2 | kubectl apply -f -";
        assert_eq!(
            set(&format!("{guard}{cli}")),
            json!({"linkerd-control-plane": {"clusterNetworks": "10.0.0.0/8,fd00::/8", "proxy": {"cores": 2}}})
        );
        let helm = "if [ -n \"$CHART\" ]; then helm upgrade cni linkerd2-cni --repo \"$REPO\" -n cni --reuse-values \
             --set 'tolerations[0].operator=Exists' --set-string image.version=1 --set 'a\\.b/c.d=true'; else echo no; fi";
        assert_eq!(
            set(helm),
            json!({"linkerd2-cni": {"tolerations": [{"operator": "Exists"}], "image": {"version": "1"},
                "a.b/c": {"d": true}}})
        );
    }

    #[test]
    fn settings_in_git_are_values_too() {
        let value = |path: &str, value: &str, is_text| ChartSetting::Value {
            path: path.to_owned(),
            value: value.to_owned(),
            is_text,
        };
        let chart = |settings| ChartSettings { chart: "linkerd2-cni".to_owned(), settings };
        let all = vec![value("a.b", "10.0.0.0/8,fd00::/8", false), value("c", "2", false), value("d", "2", true)];
        let pairs = in_files(&chart(all)).unwrap().remove("linkerd2-cni").unwrap();
        let mut document = json!({});
        pairs.into_iter().for_each(|(path, value)| insert(&mut document, &path, value));
        assert_eq!(document, json!({"a": {"b": "10.0.0.0/8,fd00::/8"}, "c": 2, "d": "2"}));
        let variable = ChartSetting::Variable { path: "x".to_owned(), value: String::new(), variable: "X" };
        let file = ChartSetting::File { path: "x".to_owned(), file: "x.crt" };
        for (setting, why) in [
            (variable, "it needs your value of x"),
            (file, "it reads a value from a file"),
            (ChartSetting::HighAvailability, "it uses the values of values-ha.yaml"),
        ] {
            assert_eq!(in_files(&chart(vec![setting])), Err(why.to_owned()));
        }
    }

    #[test]
    fn commands_without_known_values_state_the_reason() {
        for (command, why) in [
            ("kubectl -n linkerd rollout restart deployment/linkerd-identity", "it sets no chart value"),
            ("helm upgrade a linkerd/linkerd-viz --set x=\"${VALUE:?}\"", "it needs your value of x"),
            ("linkerd upgrade --ha | kubectl apply -f -", "it uses the values of values-ha.yaml"),
            (
                "linkerd upgrade --set a=1 --identity-issuer-key-file issuer.key | kubectl apply -f -",
                "it reads a value from a file",
            ),
            ("helm upgrade a linkerd/linkerd-viz --reuse-values", "it sets no chart value"),
        ] {
            assert_eq!(settings(command), Err(why.to_owned()), "{command}");
        }
    }
}
