//! `linkerd-config-unreadable`: a chart value has a type that the injector cannot read.

use crate::checks::control_plane::installation::{CONFIG, installed, values};
use crate::checks::injection::unmeshed::{injector_webhook, once_it_answers};
use crate::checks::prelude::*;
use crate::checks::serving::values_unreadable;
use crate::checks::upgrade::{self, Options};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let values = values(ctx)?;
    let namespace = &ctx.namespaces().control_plane;
    let object = format!("ConfigMap {namespace}/{CONFIG}");
    let installed = installed(ctx).ok().flatten().map(|(version, _)| version);
    let release = installed.and_then(|version| version.presumed_edge(ctx.knowledge.minors()));
    let types = ctx.knowledge.chart_values().types(release);
    let unfit = types.into_iter().filter_map(|(path, wanted)| {
        let found = values.unfit(path, wanted)?;
        let said = format!("{found}, expected {}", wanted.describe());
        let evidence = Evidence::field(&object, format!("data.values: {path}"), said);
        Some((path, (format!("{path} as {}", wanted.describe()), evidence)))
    });
    let (paths, described): (Vec<&str>, Vec<_>) = unfit.unzip();
    let (as_types, evidence): (Vec<String>, Vec<Evidence>) = described.into_iter().unzip();
    // `--set` reads a number or a boolean from the text that was stored as a string.
    let typed = paths.iter().try_fold(Options::none(), |options, path| {
        let text = values.value(path)?.as_str()?;
        let is_plain = text.parse::<i64>().is_ok() || matches!(text, "true" | "false");
        is_plain.then(|| options.set(path, text))
    });
    if paths.is_empty() {
        return Ok(Verdict::fine());
    }
    let webhook = injector_webhook(ctx).ok().flatten().map(|(_, webhook)| webhook);
    let effect = match webhook.map(|webhook| webhook.failure_policy.as_str()) {
        Some("Ignore") => "new pods start without a proxy",
        Some("Fail") => "no new pod starts in the namespaces that its webhook covers",
        Some(_) | None => "new pods start without a proxy, or cannot start",
    };
    let message = format!(
        "a chart value has a type that Linkerd cannot read, so it cannot read any value. The injector answers every \
         request with an error: {effect}"
    );
    let remedy = Remedy::new();
    let act = format!(
        "Set {} with the right type: with --set instead of --set-string, or without quotes. Keep the other \
         values of the installation",
        paths.join(", ")
    );
    let options = typed.unwrap_or_else(Options::none);
    let options = options.stored_first(format!("write {}", as_types.join(", ")));
    let remedy = upgrade::with_values(ctx, remedy, &act, options);
    let remedy = once_it_answers(ctx, remedy, webhook);
    let finding = ctx.finding(Subject::object("ConfigMap", namespace, CONFIG), message).evidences(evidence);
    Ok(finding.remedy(remedy).tie(values_unreadable()).into())
}
