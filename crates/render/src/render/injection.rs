//! The answers of `meshdoctor injection`, as text and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use super::look::Look;
use super::text::{clean, count, escape_ci_commands, wrap};
use crate::finding::Finding;
use crate::inspect::injection::{Injection, On, asked_by};
use crate::item::Kind;
use crate::model::control_plane::CREATED_BY;
use crate::model::injection::INJECT;
use crate::model::installed::COMPONENT;
use crate::source::change::{Fate, RunningPods, Template, Templates};

/// Width of the row names.
const NAMES: usize = 14;

/// As text.
pub fn table(templates: &Templates, injections: &[Injection<'_>], look: Look) -> String {
    let mut text = match &templates.release {
        Some(release) => format!("proxy injection by the injector of {release}\n\n"),
        None => {
            "the injector's release is unknown, so its proxy settings are too; set --linkerd-version\n\n".to_owned()
        }
    };
    for injection in injections {
        let of = injection.of;
        let name = format!("{}/{}", of.namespace, of.name);
        _ = writeln!(text, "{} {}", of.kind_name(), look.strong(&clean(&name)));
        let mut rows: Vec<(&str, String)> = Vec::new();
        rows.push(result(of, injection.fault));
        if let Some(fault) = injection.fault {
            rows.push(("error", format!("{}: {}", fault.check, fault.message)));
        }
        if let Some(proxy) = &injection.proxy {
            let form = if proxy.native { "a native sidecar" } else { "a regular sidecar container" };
            rows.push(("proxy", format!("{}, {form}, traffic redirected by {}", proxy.image, proxy.redirected_by)));
            let or_none = |list: &[String]| if list.is_empty() { "none".to_owned() } else { list.join(", ") };
            rows.push(("resources", or_none(&proxy.resources)));
            rows.extend(proxy.skips_inbound.clone().map(|ports| ("skip inbound", ports)));
            rows.extend(proxy.skips_outbound.clone().map(|ports| ("skip outbound", ports)));
            rows.extend(proxy.opaque.clone().map(|ports| ("opaque", ports)));
            rows.extend(proxy.default_policy.clone().map(|policy| ("default policy", policy)));
            rows.push(("probes", or_none(&proxy.probes)));
        }
        // Without a proxy, no other annotation has an effect.
        let injected = injection.proxy.is_some();
        let told = |key: &str, idle: &Option<String>| injected || key == INJECT || idle.is_some();
        for annotation in injection.annotations.iter().filter(|one| told(one.key, &one.idle)) {
            let on = on(annotation.on);
            let said = format!("{}: {:?} ({on})", annotation.key, annotation.value);
            rows.push(match &annotation.idle {
                None if !injected => ("set", said),
                None => ("in effect", said),
                Some(why) => ("no effect", format!("{said}: {why}")),
            });
        }
        let mut last = "";
        for (name, said) in rows {
            let shown = if name == last { "" } else { name };
            last = name;
            let line = format!("  {shown:NAMES$}  {}", clean(&said));
            for line in hanging_at(&line, look.columns(), NAMES + 4) {
                text.push_str(&line);
                text.push('\n');
            }
        }
        text.push('\n');
    }
    if injections.is_empty() {
        text.push_str(match templates.set_aside.is_empty() {
            true => "no workload creates pods here\n\n",
            false => "no workload that can be read creates pods here; some objects were not read\n\n",
        });
    }
    escape_ci_commands(&text).into_owned()
}

/// The result for new pods, and the running pods that differ from it.
fn result(of: &Template, fault: Option<&Finding>) -> (&'static str, String) {
    let RunningPods { with_proxy, without_proxy } = of.running;
    let pods = |n: usize| count(n, "running pod has", "running pods have");
    let is_pod = of.kind == Kind::Pod;
    match &of.fate {
        _ if of.has_proxy => {
            let by = if is_pod { "the pod has the proxy".to_owned() } else { in_template(of) };
            match without_proxy {
                0 => ("meshed", by),
                n => ("meshed", format!("{by}; {} no proxy: not restarted since", pods(n))),
            }
        }
        Fate::Injected { level, value } => {
            let by = format!("({INJECT}: {value}, from its {})", asked_by(*level));
            if fault.is_some() {
                return ("not working", format!("new pods request a proxy {by}, but an error prevents it"));
            }
            match without_proxy {
                0 => ("injected", format!("new pods are injected {by}")),
                n => ("injected", format!("new pods are injected {by}; {} no proxy until recreated", pods(n))),
            }
        }
        Fate::Refused { key, why } => ("rejected", format!("{key}: {why}")),
        Fate::Left(why) => match with_proxy {
            0 => ("not injected", why.clone()),
            n => ("not injected", format!("{why}; {} a proxy until recreated", pods(n))),
        },
        Fate::Unknown(why) => ("unknown", why.clone()),
    }
}

/// The origin of a proxy in a pod template.
fn in_template(of: &Template) -> String {
    let by = match of.annotations.get(CREATED_BY) {
        _ if of.pod["metadata"]["labels"][COMPONENT].is_string() => " (Linkerd's chart)",
        Some(by) if by.starts_with("linkerd/cli") => " (linkerd inject --manual)",
        _ => "",
    };
    format!("the proxy is in the pod template{by}")
}

/// Wraps a line; its continuation lines begin at column `at`.
fn hanging_at(line: &str, columns: usize, at: usize) -> Vec<String> {
    let (head, rest) = line.split_at(line.char_indices().nth(at).map_or(line.len(), |(at, _)| at));
    let mut lines = wrap(rest, columns.saturating_sub(at).max(20)).into_iter();
    let first = format!("{head}{}", lines.next().unwrap_or_default());
    std::iter::once(first).chain(lines.map(|line| format!("{}{line}", " ".repeat(at)))).collect()
}

fn on(on: On) -> &'static str {
    match on {
        On::Template => "template",
        On::Namespace => "namespace",
        On::Maker => "on the workload, not its template",
    }
}

pub fn json(templates: &Templates, injections: &[Injection<'_>]) -> Value {
    let of = |injection: &Injection<'_>| {
        let (fate, why) = match &injection.of.fate {
            Fate::Injected { level, value } => ("injected", format!("{value} from {}", asked_by(*level))),
            Fate::Refused { key, why } => ("refused", format!("{key}: {why}")),
            Fate::Left(why) => ("left", why.clone()),
            Fate::Unknown(why) => ("unknown", why.clone()),
        };
        let annotations = injection.annotations.iter().map(|annotation| {
            json!({
                "key": annotation.key,
                "value": annotation.value,
                "on": on(annotation.on),
                "acts": annotation.idle.is_none(),
                "why": annotation.idle,
            })
        });
        let proxy = injection.proxy.as_ref().map(|proxy| {
            json!({
                "image": proxy.image,
                "native": proxy.native,
                "redirectedBy": proxy.redirected_by,
                "resources": proxy.resources,
                "skipsInbound": proxy.skips_inbound,
                "skipsOutbound": proxy.skips_outbound,
                "opaque": proxy.opaque,
                "defaultPolicy": proxy.default_policy,
                "probes": proxy.probes,
                "log": proxy.log,
                "user": proxy.user,
            })
        });
        json!({
            "kind": injection.of.kind_name(),
            "namespace": injection.of.namespace,
            "name": injection.of.name,
            "fate": fate,
            "why": why,
            "error": injection.fault.map(|fault| json!({"check": fault.check, "message": fault.message})),
            "proxyInTemplate": injection.of.has_proxy,
            "runningPods": {
                "withProxy": injection.of.running.with_proxy,
                "withoutProxy": injection.of.running.without_proxy,
            },
            "annotations": annotations.collect::<Vec<_>>(),
            "proxy": proxy,
        })
    };
    json!({
        "schema": "meshdoctor.injection/1",
        "release": templates.release.as_ref().map(ToString::to_string),
        "workloads": injections.iter().map(of).collect::<Vec<_>>(),
        "notRead": templates.gaps.iter().map(|(kind, why)| format!("{}: {why}", kind.resource())).collect::<Vec<_>>(),
    })
}
