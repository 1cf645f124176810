//! Rerun of a ticket: applies the options of the run that wrote it, unless flags override them.

use super::args::Check;
use super::output;
use super::stop::Stop;
use super::values::{self, Parameter};
use crate::card::Mode;
use crate::command::RerunOptions;

/// The flags of a run on a ticket, with the options stored in it; `None` if those change nothing.
pub(super) fn with_stored_options(args: &Check, then: &RerunOptions) -> Option<Result<Check, Stop>> {
    let said = adopted(args, then);
    match &said {
        Ok((check, taken)) => {
            if taken.flags().is_empty() {
                return None;
            }
            if !args.verbosity.quiet {
                let flags = crate::redact::text(&taken.flags()).into_owned();
                output::print_line(&output::one_line(&format!("applying the options of the ticket: {flags}")));
            }
            Some(Ok(check.clone()))
        }
        Err(_) => Some(said.map(|(check, _)| check)),
    }
}

/// The merged flags, and the options that come from the ticket.
fn adopted(args: &Check, then: &RerunOptions) -> Result<(Check, RerunOptions), Stop> {
    let wrong = |what: &str, text: &str| {
        Stop::could_not_run(
            format!("the ticket names {what} {text:?}, which is not valid"),
            "request a new ticket from its author",
        )
    };
    let mut check = args.clone();
    let mut taken = RerunOptions::default();
    if args.selection.only.is_empty() && args.selection.skip.is_empty() {
        (check.selection.only, check.selection.skip) = (then.only.clone(), then.skip.clone());
        (taken.only, taken.skip) = (then.only.clone(), then.skip.clone());
    }
    if args.namespace.is_empty() {
        let bad = then.namespaces.iter().find(|name| values::namespace(name).is_err());
        if let Some(bad) = bad {
            return Err(wrong("a namespace", bad));
        }
        check.namespace.clone_from(&then.namespaces);
        taken.namespaces.clone_from(&then.namespaces);
    }
    let stage = &args.stage;
    if !stage.pre && !stage.crds && !stage.proxy && args.rehearsal.to.is_none() {
        check.stage.pre = then.mode == Mode::Pre.label();
        check.stage.crds = then.mode == Mode::Crds.label();
        check.stage.linkerd_cni_enabled = then.linkerd_cni_enabled;
        taken.mode.clone_from(&then.mode);
        taken.linkerd_cni_enabled = then.linkerd_cni_enabled;
        check.rehearsal.to.clone_from(&then.to);
        let release = |text: &String| values::linkerd_version(text).map_err(|_| wrong("a release", text));
        check.rehearsal.from = then.from.as_ref().map(release).transpose()?;
        let kubernetes =
            |text: &String| values::kubernetes_version(text).map_err(|_| wrong("a version of Kubernetes", text));
        check.rehearsal.to_kubernetes = then.to_kubernetes.as_ref().map(kubernetes).transpose()?;
        taken.to.clone_from(&then.to);
        taken.from.clone_from(&then.from);
        taken.to_kubernetes.clone_from(&then.to_kubernetes);
    }
    if let (None, Some(text)) = (&args.expected_version, &then.expected_version) {
        check.expected_version = Some(values::linkerd_version(text).map_err(|_| wrong("a release", text))?);
        taken.expected_version = Some(text.clone());
    }
    if let (None, Some(text)) = (&args.to_cni, &then.to_cni) {
        check.to_cni = Some(values::cni_version(text).map_err(|_| wrong("a version of linkerd-cni", text))?);
        taken.to_cni = Some(text.clone());
    }
    // If a name occurs twice, the later value applies: that of the command line.
    let mut params = Vec::new();
    for (id, own) in &then.params {
        for (name, value) in own {
            if args.param.iter().any(|given| given.check == *id && given.name == *name) {
                continue;
            }
            let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            params.push(Parameter { check: id.clone(), name: name.clone(), value: written });
            taken.params.entry(id.clone()).or_default().insert(name.clone(), value.clone());
        }
    }
    params.extend(args.param.iter().cloned());
    check.param = params;
    Ok((check, taken))
}
