//! The answers of `meshdoctor injection`, for people and for programs.

use std::fmt::Write;

use serde_json::{Value, json};

use super::look::Look;
use super::text::{clean, harmless, wrap};
use crate::inspect::injection::{Injection, On, asked_by};
use crate::model::injection::INJECT;
use crate::source::change::{Fate, Templates};

/// Width of the row names.
const NAMES: usize = 14;

/// For people.
pub fn table(templates: &Templates, injections: &[Injection<'_>], look: Look) -> String {
    let mut text = match &templates.release {
        Some(release) => format!("proxy injection by the injector of {release}\n\n"),
        None => "the injector's release is unknown, so its proxy settings are too; set --linkerd-version\n\n"
            .to_owned(),
    };
    for injection in injections {
        let of = injection.of;
        let name = format!("{}/{}", of.namespace, of.name);
        _ = writeln!(text, "{} {}", of.kind.info().kind, look.strong(&clean(&name)));
        let mut rows: Vec<(&str, String)> = Vec::new();
        match &of.fate {
            Fate::Injected { level, value } => {
                rows.push(("injected", format!("{INJECT}: {value}, from its {}", asked_by(*level))));
            }
            Fate::Refused { key, why } => rows.push(("rejected", format!("{key}: {why}"))),
            Fate::Left(why) => rows.push(("not injected", why.clone())),
            Fate::Unknown(why) => rows.push(("unknown", why.clone())),
        }
        if let Some(proxy) = &injection.proxy {
            let form = if proxy.native { "a native sidecar" } else { "a regular sidecar container" };
            rows.push((
                "proxy",
                format!("{}, {form}, traffic redirected by {}", proxy.image, proxy.redirected_by),
            ));
            let or_none = |list: &[String]| if list.is_empty() { "none".to_owned() } else { list.join(", ") };
            rows.push(("resources", or_none(&proxy.resources)));
            rows.extend(proxy.skips_inbound.clone().map(|ports| ("skip inbound", ports)));
            rows.extend(proxy.skips_outbound.clone().map(|ports| ("skip outbound", ports)));
            rows.extend(proxy.opaque.clone().map(|ports| ("opaque", ports)));
            rows.extend(proxy.default_policy.clone().map(|policy| ("default policy", policy)));
            rows.push(("probes", or_none(&proxy.probes)));
        }
        // Without a proxy nothing else of it acts.
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
        text.push_str("no workload creates pods here\n\n");
    }
    harmless(&text).into_owned()
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

/// For programs.
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
            "kind": injection.of.kind.info().kind,
            "namespace": injection.of.namespace,
            "name": injection.of.name,
            "fate": fate,
            "why": why,
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
