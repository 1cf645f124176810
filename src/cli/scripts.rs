//! The completion scripts. What clap knows it writes itself; the ids of checks, which are many, stand in each script once, lists of
//! them are completed behind the last comma, and contexts are asked of kubectl when the key is pressed. The scripts of PowerShell and
//! elvish complete no values.

use std::collections::BTreeSet;
use std::fmt::Write;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command};
use clap_complete::Shell;

use super::values::FORMATS;
use crate::{checks, demo};

/// Stands for checks and categories, in a list.
const LISTED: &str = "__LISTED__";
/// Stands for one check.
const CHECK: &str = "__CHECK__";
/// Stands for one context.
const CONTEXT: &str = "__CONTEXT__";
/// Names the contexts, one a line.
const CONTEXTS: &str = "kubectl config get-contexts -o name 2>/dev/null";

/// The completion script for a shell, as `completions/` holds it.
pub fn completion(shell: Shell, command: &Command) -> String {
    let mut command = command.clone().mut_subcommands(|subcommand| {
        let name = subcommand.get_name().to_owned();
        subcommand.mut_args(|arg| told(arg, &name))
    });
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut script);
    let script = String::from_utf8_lossy(&script);
    let (before, script) = match shell {
        Shell::Bash => bash(&script),
        Shell::Zsh => zsh(&script),
        Shell::Fish => fish(&script),
        _ => (String::new(), script.into_owned()),
    };
    let note = "# Generated from the command line by `UPDATE=1 cargo test`; do not edit.\n";
    // zsh reads the first line: it says which command the script completes.
    match script.split_once('\n') {
        Some((first, rest)) if first.starts_with("#compdef") => format!("{first}\n{note}{before}{rest}"),
        _ => format!("{note}{before}{script}"),
    }
}

/// An argument with the values that its table knows.
fn told(arg: Arg, command: &str) -> Arg {
    let form =
        arg.get_value_names().is_some_and(|names| names.iter().any(|name| name.starts_with("FORMAT[")));
    let values = match (arg.get_id().as_str(), command) {
        ("only" | "skip", _) => vec![LISTED],
        ("check", "explain") => vec![CHECK],
        ("context", _) => vec![CONTEXT],
        ("name", "demo") => demo::DEMOS.iter().map(|demo| demo.name).collect(),
        ("output", _) if form => FORMATS.iter().map(|(name, _)| *name).collect(),
        _ => return arg,
    };
    arg.value_parser(PossibleValuesParser::new(values))
}

/// Ids of the checks that everybody has, and their categories.
fn ids() -> (String, String) {
    let own = || checks::all().filter(|check| !check.is_brought());
    let ids: Vec<&str> = own().map(|check| check.id).collect();
    let categories: BTreeSet<&str> = own().map(|check| check.card().front.category.as_str()).collect();
    (ids.join(" "), categories.into_iter().collect::<Vec<_>>().join(" "))
}

fn bash(script: &str) -> (String, String) {
    let (ids, categories) = ids();
    let before = format!(
        r#"_meshdoctor_checks="{ids}"
_meshdoctor_categories="{categories}"
_meshdoctor_listed() {{
    compgen -P "${{1%"${{1##*,}}"}}" -W "${{_meshdoctor_checks}} ${{_meshdoctor_categories}}" -- "${{1##*,}}"
}}
# What stands in a kubeconfig is no text of the shell, as the words of compgen -W are.
_meshdoctor_contexts() {{
    local name
    {CONTEXTS} | while IFS= read -r name; do
        [[ ${{name}} == "${{1}}"* ]] && printf '%s\n' "${{name}}"
    done
}}

"#
    );
    let script = script
        .replace(&format!("compgen -W \"{LISTED}\" -- \"${{cur}}\""), "_meshdoctor_listed \"${cur}\"")
        .replace(LISTED, "${_meshdoctor_checks} ${_meshdoctor_categories}")
        .replace(CHECK, "${_meshdoctor_checks}")
        .replace(&format!("compgen -W \"{CONTEXT}\" -- \"${{cur}}\""), "_meshdoctor_contexts \"${cur}\"");
    (before, script)
}

fn zsh(script: &str) -> (String, String) {
    let (ids, categories) = ids();
    let before = format!(
        "_meshdoctor_checks() {{ compadd \"$@\" - {ids} }}\n\
         _meshdoctor_listed() {{ compadd \"$@\" - {categories} {ids} }}\n\
         _meshdoctor_contexts() {{ compadd \"$@\" - ${{(f)\"$({CONTEXTS})\"}} }}\n\n"
    );
    let script = script
        .replace(&format!("({LISTED})"), "_sequence _meshdoctor_listed")
        .replace(&format!("({CHECK})"), "_meshdoctor_checks")
        .replace(&format!("({CONTEXT})"), "_meshdoctor_contexts");
    (before, script)
}

fn fish(script: &str) -> (String, String) {
    let (ids, categories) = ids();
    let before = format!(
        "function __meshdoctor_checks\n    printf '%s\\n' {ids}\nend\n\
         function __meshdoctor_listed\n    printf '%s\\n' {categories}\n    __meshdoctor_checks\nend\n\n"
    );
    let mut script = script
        .replace(&format!("{LISTED}\\t''"), "(__fish_complete_list , __meshdoctor_listed)")
        .replace(&format!("{CONTEXT}\\t''"), &format!("({CONTEXTS})"));
    // Its values of arguments without a name.
    let demos: Vec<&str> = demo::DEMOS.iter().map(|demo| demo.name).collect();
    for (command, values) in [
        ("explain", "(__meshdoctor_checks)".to_owned()),
        ("list", "(__fish_complete_list , __meshdoctor_listed)".to_owned()),
        ("demo", demos.join(" ")),
    ] {
        let line = format!(
            "complete -c meshdoctor -n \"__fish_meshdoctor_using_subcommand {command}\" -f -a \"{values}\""
        );
        _ = writeln!(script, "{line}");
    }
    (before, script)
}
