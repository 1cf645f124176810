//! Options that a `linkerd upgrade` needs on its command line because the CLI does not take them from its
//! stored values. Decided in one place for every printed `linkerd upgrade`.

use serde_yaml::Value;

use crate::chart::values::Values;
use crate::checks::prelude::*;
use crate::command::{Call, helm_set};
use crate::knowledge::UnstoredValue;
use crate::redact::is_marked;

/// The value that the CLI requires if a node runs Docker.
const RUN_AS_ROOT: &str = "proxyInit.runAsRoot";

/// An option that sets a value.
struct CliOption {
    option: &'static str,
    text: String,
    /// Whether the value was replaced by a marker, so that the reader must fill it in.
    is_withheld: bool,
}

impl CliOption {
    fn new(path: &str, value: &str) -> CliOption {
        CliOption { option: "--set", text: helm_set(path, value), is_withheld: false }
    }

    fn arg(&self) -> Arg {
        let text = Arg::from(self.text.as_str());
        if self.is_withheld { text.then(Arg::placeholder("VALUE")) } else { text }
    }
}

/// A value that the CLI does not store, as set in the cluster.
pub(in crate::checks) struct Unstored<'a> {
    /// The value, which may be a map or a list.
    pub(in crate::checks) row: &'a UnstoredValue,
    settings: Vec<CliOption>,
}

impl Unstored<'_> {
    /// The options that set it again, as text.
    pub(in crate::checks) fn options(&self) -> String {
        let each: Vec<String> = self.settings.iter().map(|one| format!("{} {}", one.option, one.arg())).collect();
        each.join(" ")
    }

    /// Adds the options that set it again.
    fn set(&self, call: Call) -> Call {
        self.settings.iter().fold(call, |call, one| call.option(one.option, one.arg()))
    }

    /// The values that differ from their defaults, as evidence.
    pub(in crate::checks) fn written(&self) -> String {
        let each: Vec<&str> = self.settings.iter().map(|one| one.text.as_str()).collect();
        each.join(", ")
    }
}

/// The values that differ from their defaults and that `linkerd upgrade` of a release drops. `None` as the
/// release: unknown, presumed to drop them.
pub(in crate::checks) fn unstored<'a>(
    ctx: &Context<'a>,
    values: &Values,
    release: Option<&LinkerdVersion>,
) -> Vec<Unstored<'a>> {
    let rows = ctx.knowledge.upgrades().unstored(release, ctx.knowledge.minors());
    let set = rows.filter_map(|row| {
        let mut settings = Vec::new();
        gather(&row.value, values.value(&row.value)?, Some(&row.default), &mut settings);
        (!settings.is_empty()).then_some(Unstored { row, settings })
    });
    set.collect()
}

/// Adds the options that `linkerd upgrade` of a release needs; `set` are the values that the command sets in any case.
pub(super) fn options(ctx: &Context<'_>, call: Call, release: Option<&LinkerdVersion>, set: &[&str]) -> Call {
    let values = ctx.values_for_steps();
    let unstored = values.map(|values| unstored(ctx, &values, release)).unwrap_or_default();
    let unstored = unstored.iter().filter(|one| !set.iter().any(|path| is_within(path, &one.row.value)));
    let call = unstored.fold(call, |call, one| one.set(call));
    match !set.contains(&RUN_AS_ROOT) && refuses_docker(ctx, release) {
        true => call.option("--set", helm_set(RUN_AS_ROOT, "true")),
        false => call,
    }
}

/// Whether the CLI refuses the upgrade because a node runs Docker: it reads only the command line, not the
/// stored values.
fn refuses_docker(ctx: &Context<'_>, release: Option<&LinkerdVersion>) -> bool {
    ctx.knowledge.upgrades().guards_docker(release, ctx.knowledge.minors())
        && ctx.for_steps::<Node>().iter().any(Node::runs_docker)
}

fn is_within(path: &str, value: &str) -> bool {
    path.strip_prefix(value).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Collects the options that set a value, except for the parts that are at their default. Lists are set as a whole.
fn gather(path: &str, value: &Value, default: Option<&Value>, into: &mut Vec<CliOption>) {
    if default == Some(value) || is_empty(value) && default.is_none_or(is_empty) {
        return;
    }
    match value {
        Value::Mapping(map) => {
            for (key, inner) in map {
                let Some(key) = key.as_str() else { continue };
                gather(&format!("{path}.{}", escaped(key)), inner, default.and_then(|map| map.get(key)), into);
            }
        }
        Value::Sequence(list) => {
            for (at, inner) in list.iter().enumerate() {
                gather(&format!("{path}[{at}]"), inner, None, into);
            }
        }
        Value::String(text) => {
            let is_withheld = is_marked(text);
            let is_text = serde_yaml::from_str::<Value>(text).is_ok_and(|value| value.is_string());
            into.push(CliOption {
                option: if is_text { "--set" } else { "--set-string" },
                is_withheld,
                ..CliOption::new(path, if is_withheld { "" } else { text })
            });
        }
        Value::Bool(value) => into.push(CliOption::new(path, &value.to_string())),
        Value::Number(number) => into.push(CliOption::new(path, &number.to_string())),
        Value::Null => into.push(CliOption::new(path, "null")),
        Value::Tagged(_) => {}
    }
}

/// Whether a value is like a missing one.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Mapping(map) => map.is_empty(),
        Value::Sequence(list) => list.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Tagged(_) => false,
    }
}

/// A key as part of a path of `--set`.
fn escaped(key: &str) -> String {
    let mut escaped = String::with_capacity(key.len());
    for c in key.chars() {
        if matches!(c, '.' | ',' | '=' | '[' | ']' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(path: &str, value: &str, default: &str) -> Vec<String> {
        let (value, default): (Value, Value) =
            (serde_yaml::from_str(value).expect("YAML"), serde_yaml::from_str(default).expect("YAML"));
        let mut found = Vec::new();
        gather(path, &value, Some(&default), &mut found);
        found.iter().map(|one| format!("{} {}", one.option, one.text)).collect()
    }

    #[test]
    fn values_at_their_default_need_no_option() {
        assert!(
            settings("kubeAPI", "{clientQPS: 100, clientBurst: 200}", "{clientQPS: 100, clientBurst: 200}").is_empty()
        );
        assert!(settings("runtimeClassName", "''", "null").is_empty());
        assert_eq!(
            settings("kubeAPI", "{clientQPS: 300, clientBurst: 200}", "{clientQPS: 100, clientBurst: 200}"),
            ["--set kubeAPI.clientQPS=300"]
        );
    }

    #[test]
    fn labels_keep_their_dots_and_type() {
        let found = settings("commonLabels", "{app.kubernetes.io/part-of: mesh, canary: 'true'}", "{}");
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0], r"--set commonLabels.app\.kubernetes\.io/part-of=mesh");
        assert_eq!(found[1], "--set-string commonLabels.canary=true");
    }

    #[test]
    fn a_changed_list_is_set_as_a_whole() {
        let found = settings("configReaders", "[{kind: ServiceAccount, name: a}]", "null");
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0], "--set configReaders[0].kind=ServiceAccount");
    }
}
