//! The completion scripts. clap generates the base; check ids are stored once per script, and lists are completed after
//! the last comma. Contexts, namespaces and their objects are requested from kubectl on the line's cluster when the key
//! is pressed, with a limit of two seconds; with `--bundle`, no cluster is contacted. The scripts for PowerShell and
//! elvish complete no values.

use std::collections::BTreeSet;
use std::fmt::Write;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command};
use clap_complete::Shell;

use super::format::FORMATS;
use crate::{checks, demo};

/// Placeholder for checks and categories, in a list.
const LISTED: &str = "__LISTED__";
/// Placeholder for one check.
const CHECK: &str = "__CHECK__";
/// Placeholder for one context.
const CONTEXT: &str = "__CONTEXT__";
/// Placeholder for one namespace.
const NAMESPACE: &str = "__NAMESPACE__";
/// Placeholder for namespaces, in a list.
const NAMESPACES: &str = "__NAMESPACES__";
/// Placeholder for an object in a namespace: `NAMESPACE/NAME`.
const TARGET: &str = "__TARGET__";
/// Prints the contexts, one per line.
const CONTEXTS: &str = "kubectl config get-contexts -o name 2>/dev/null";

/// The completion script for a shell, as in `completions/`.
pub fn completion(shell: Shell, command: &Command) -> String {
    let mut command = command.clone().mut_subcommands(|subcommand| {
        let name = subcommand.get_name().to_owned();
        subcommand.mut_args(|arg| with_values(arg, &name))
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
    // zsh reads the command name from the first line.
    match script.split_once('\n') {
        Some((first, rest)) if first.starts_with("#compdef") => format!("{first}\n{note}{before}{rest}"),
        _ => format!("{note}{before}{script}"),
    }
}

/// An argument with its possible values.
fn with_values(arg: Arg, command: &str) -> Arg {
    let form = arg.get_value_names().is_some_and(|names| names.iter().any(|name| name.starts_with("FORMAT[")));
    let values = match (arg.get_id().as_str(), command) {
        ("only" | "skip", _) => vec![LISTED],
        ("text", "explain") => vec![CHECK],
        ("context", _) => vec![CONTEXT],
        ("namespace", "check" | "ticket" | "sync" | "fix") => vec![NAMESPACES],
        ("namespace" | "linkerd_namespace" | "cni_namespace" | "node_namespace" | "into", _) => {
            vec![NAMESPACE]
        }
        ("from", "policy") => vec![NAMESPACE],
        ("targets", "policy") | ("from" | "to", "reach") => vec![TARGET],
        ("name", "demo") => demo::DEMOS.iter().map(|demo| demo.name).collect(),
        ("output", _) if form => FORMATS.iter().map(|(name, _)| *name).collect(),
        _ => return arg,
    };
    arg.value_parser(PossibleValuesParser::new(values))
}

/// Ids and categories of the built-in checks.
fn ids() -> (String, String) {
    let own = || checks::all().filter(|check| !check.is_brought());
    let ids: Vec<&str> = own().map(|check| check.id).collect();
    let categories: BTreeSet<&str> = own().map(|check| check.card().front.category.as_str()).collect();
    (ids.join(" "), categories.into_iter().collect::<Vec<_>>().join(" "))
}

/// The kinds of possible targets, for kubectl.
const IN_NAMESPACE: &str = "pods,deployments,statefulsets,daemonsets,services";
/// Prints the existing namespaces, one per line; limited to two seconds.
const LIVE_NAMESPACES: &str = "kubectl --request-timeout=2s get namespaces -o 'jsonpath={range .items[*]}{.metadata.name}{\"\\n\"}{end}' 2>/dev/null";
/// For bash: runs kubectl on the line's cluster for a short time; does nothing if the line names a bundle.
const KUBECTL: &str = r#"_meshdoctor_kubectl() {
    local word flag="" bounded=""
    local -a connection=()
    for word in "${COMP_WORDS[@]}"; do
        case "${word}" in
            --bundle|--manifests) return ;;
            --context|--kubeconfig|--cluster|--user) flag="${word}" ;;
            =) ;;
            *) [[ -n ${flag} && -n ${word} ]] && connection+=("${flag}=${word}"); flag="" ;;
        esac
    done
    # A credential plugin may hang longer than the request.
    command -v timeout >/dev/null 2>&1 && bounded="timeout 3"
    ${bounded} kubectl --request-timeout=2s "${connection[@]}" "$@" 2>/dev/null </dev/null
}"#;

fn bash(script: &str) -> (String, String) {
    let (ids, categories) = ids();
    let before = format!(
        r#"_meshdoctor_checks="{ids}"
_meshdoctor_categories="{categories}"
_meshdoctor_listed() {{
    compgen -P "${{1%"${{1##*,}}"}}" -W "${{_meshdoctor_checks}} ${{_meshdoctor_categories}}" -- "${{1##*,}}"
}}
# Names in a kubeconfig must not be expanded by the shell, unlike the words of compgen -W.
_meshdoctor_contexts() {{
    local name
    {CONTEXTS} | while IFS= read -r name; do
        [[ ${{name}} == "${{1}}"* ]] && printf '%s\n' "${{name}}"
    done
}}
{KUBECTL}
# Keep only valid names of the output.
_meshdoctor_names() {{
    local name
    while IFS= read -r name; do
        [[ ${{name}} =~ ^[a-z0-9][a-z0-9.-]*$ ]] && printf '%s\n' "${{name}}"
    done
}}
_meshdoctor_every_namespace() {{
    {{
        _meshdoctor_kubectl config view -o 'jsonpath={{range .contexts[*]}}{{.context.namespace}}{{"\n"}}{{end}}'
        _meshdoctor_kubectl get namespaces -o 'jsonpath={{range .items[*]}}{{.metadata.name}}{{"\n"}}{{end}}'
    }} | _meshdoctor_names | sort -u
}}
_meshdoctor_namespaces() {{
    compgen -W "$(_meshdoctor_every_namespace)" -- "${{1}}"
}}
_meshdoctor_namespace_list() {{
    compgen -P "${{1%"${{1##*,}}"}}" -W "$(_meshdoctor_every_namespace)" -- "${{1##*,}}"
}}
# NAMESPACE/ first, then its objects.
_meshdoctor_targets() {{
    local name
    if [[ ${{1}} == -* || ${{2}} == -* ]]; then
        return
    fi
    if [[ ${{1}} == */* ]]; then
        _meshdoctor_kubectl -n "${{1%%/*}}" get {IN_NAMESPACE} -o 'jsonpath={{range .items[*]}}{{.metadata.name}}{{"\n"}}{{end}}' |
            _meshdoctor_names | sort -u | while IFS= read -r name; do printf '%s\n' "${{1%%/*}}/${{name}}"; done
    else
        _meshdoctor_every_namespace | while IFS= read -r name; do printf '%s\n' "${{name}}/"; done
    fi
}}
_meshdoctor_complete() {{
    _meshdoctor "$@"
    # A name follows.
    if [[ ${{#COMPREPLY[@]}} -eq 1 && ${{COMPREPLY[0]}} == */ ]]; then
        compopt -o nospace 2>/dev/null
    fi
    return 0
}}

"#
    );
    let script = script
        .replace(&format!("compgen -W \"{NAMESPACE}\" -- \"${{cur}}\""), "_meshdoctor_namespaces \"${cur}\"")
        .replace(&format!("compgen -W \"{NAMESPACES}\" -- \"${{cur}}\""), "_meshdoctor_namespace_list \"${cur}\"")
        .replace(&format!("{TARGET} {TARGET}"), TARGET)
        .replace(TARGET, "$(_meshdoctor_targets \"${cur}\" \"${prev}\")")
        .replace("complete -F _meshdoctor ", "complete -F _meshdoctor_complete ")
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
         _meshdoctor_contexts() {{ compadd \"$@\" - ${{(f)\"$({CONTEXTS})\"}} }}\n\
         _meshdoctor_namespaces() {{ compadd \"$@\" - ${{(f)\"$({LIVE_NAMESPACES})\"}} }}\n\
         _meshdoctor_targets() {{ compadd \"$@\" -S / - ${{(f)\"$({LIVE_NAMESPACES})\"}} }}\n\n"
    );
    let script = script
        .replace(&format!("({LISTED})"), "_sequence _meshdoctor_listed")
        .replace(&format!("({CHECK})"), "_meshdoctor_checks")
        .replace(&format!("({CONTEXT})"), "_meshdoctor_contexts")
        .replace(&format!("({NAMESPACE})"), "_meshdoctor_namespaces")
        .replace(&format!("({NAMESPACES})"), "_sequence _meshdoctor_namespaces")
        .replace(&format!("({TARGET})"), "_meshdoctor_targets");
    (before, script)
}

fn fish(script: &str) -> (String, String) {
    let (ids, categories) = ids();
    let before = format!(
        "function __meshdoctor_checks\n    printf '%s\\n' {ids}\nend\n\
         function __meshdoctor_namespaces\n    {LIVE_NAMESPACES}\nend\n\
         function __meshdoctor_listed\n    printf '%s\\n' {categories}\n    __meshdoctor_checks\nend\n\n"
    );
    let mut script = script
        .replace(&format!("{LISTED}\\t''"), "(__fish_complete_list , __meshdoctor_listed)")
        .replace(&format!("{CONTEXT}\\t''"), &format!("({CONTEXTS})"))
        .replace(&format!("{NAMESPACE}\\t''"), "(__meshdoctor_namespaces)")
        .replace(&format!("{NAMESPACES}\\t''"), "(__fish_complete_list , __meshdoctor_namespaces)");
    // Its values of arguments without a name.
    let demos: Vec<&str> = demo::DEMOS.iter().map(|demo| demo.name).collect();
    for (command, values) in [
        ("explain", "(__meshdoctor_checks)".to_owned()),
        ("list", "(__fish_complete_list , __meshdoctor_listed)".to_owned()),
        ("demo", demos.join(" ")),
        ("policy", "(__meshdoctor_namespaces)/".to_owned()),
        ("reach", "(__meshdoctor_namespaces)/".to_owned()),
    ] {
        let line =
            format!("complete -c meshdoctor -n \"__fish_meshdoctor_using_subcommand {command}\" -f -a \"{values}\"");
        _ = writeln!(script, "{line}");
    }
    (before, script)
}
