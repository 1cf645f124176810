//! `extension-namespace-twice`: several namespaces say that they are the home of one extension.

use crate::checks::extensions::homes;
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Remedy, StepKind, Subject};
use crate::item::EXTENSION_LABEL;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let twice = homes(ctx)?.into_iter().filter(|(_, homes)| homes.len() > 1);
    let findings = twice.map(|(extension, homes)| {
        let remedy = Remedy::verified_by(format!("kubectl get namespaces -l {EXTENSION_LABEL}={extension}")).run(
            StepKind::Annotation,
            format!("Keep the label on the namespace in which {extension} runs, and take it off the others"),
            format!("NAMESPACE={}   # one in which it does not run\nkubectl label namespace \"$NAMESPACE\" {EXTENSION_LABEL}-", homes[homes.len() - 1]),
        );
        let seen = homes.iter().map(|home| {
            Evidence::field(format!("Namespace {home}"), format!("metadata.labels[{EXTENSION_LABEL}]"), extension)
        });
        let finding = ctx
            .finding(
                Subject::object("Namespace", "", homes[0]),
                "several namespaces carry the label of one extension: linkerd and the extension's own command find it in one of \
                 them, and not always the same",
            )
            .parameter(extension)
            .evidences(seen)
            .remedy(remedy);
        homes[1..].iter().fold(finding, |finding, home| finding.subject(Subject::object("Namespace", "", home)))
    });
    Ok(findings.collect::<Vec<_>>().into())
}
