//! The issuer and the trust anchors of an installation that stores others than the cluster has. An upgrade with
//! stored values puts the stored ones in place, or is refused because of them, so the printed commands pass the
//! current ones.

use super::guard::is_issuer_written;
use super::stored::{ANCHORS, ISSUER, anchors_to_file, issuer_to_files};
use super::{KEY as KEY_VALUE, KEY_OPTION, Options, managed_by, uses_stored_values};
use crate::certificates::{Certificate, from_base64_bundle, from_bundle};
use crate::chart::values::Values;
use crate::checks::prelude::*;
use crate::checks::trust_roots::may_store_others;
use crate::command::{Line, program};
use crate::finding::Step;
use crate::objects::Secret;

/// The files that the commands write.
const CERTIFICATE: &str = "issuer-current.crt";
const KEY: &str = "issuer-current.key";
/// The current bundle of trust anchors as it is.
pub(in crate::checks) const BUNDLE: &str = "bundle-current.crt";

/// The certificates that a change keeps, and for which it has files of the current ones.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KeptCertificates {
    pub(super) issuer: bool,
    pub(super) anchors: bool,
    /// Whether a step before it writes the file of the trust anchors.
    has_bundle: bool,
}

/// The text of the step that deletes the files of the current issuer.
const DELETION: &str = "Delete the issuer's files, which contain its private key";
/// The end of the text of a step that deletes the key file of a new issuer.
const KEY_DELETION: &str = ". The command then deletes the key's file: the installation stores it";

/// Whether a step only deletes files.
pub(super) fn is_deletion(step: &Step) -> bool {
    step.text == DELETION
}

/// Deletes the key file of a new issuer, one of `keys`, if a step puts it into the stored values: with the command of
/// that step, only if it succeeds.
pub(in crate::checks) fn without_key(mut remedy: Remedy, keys: &[&'static str]) -> Remedy {
    let key = |step: &Step| {
        let text = step.command.as_ref()?.to_string();
        keys.iter().copied().find(|key| gives(&text, key))
    };
    let Some((at, key)) = remedy.steps.iter().enumerate().rev().find_map(|(at, step)| Some((at, key(step)?))) else {
        return remedy;
    };
    let step = &mut remedy.steps[at];
    if step.text.contains(KEY_DELETION) {
        return remedy;
    }
    step.text.insert_str(step.without_requirement().len(), KEY_DELETION);
    let forced = step.forced.as_mut().map(|forced| &mut forced.without);
    for command in step.command.iter_mut().chain(forced) {
        command.and_delete(key, |line| gives(line, key));
    }
    remedy
}

/// Whether a command puts a key file into the values of the installation, by the CLI's option or Helm's.
fn gives(text: &str, key: &str) -> bool {
    text.contains(&format!("{KEY_OPTION} {key} ")) || text.contains(&format!("{KEY_VALUE}={key}"))
}

impl KeptCertificates {
    /// The lines that write the files.
    fn lines(self, ctx: &Context<'_>) -> Vec<Line> {
        let anchors = (self.anchors && !self.has_bundle).then(|| anchors_to_file(ctx, BUNDLE));
        let issuer = self.issuer.then(|| issuer_to_files(ctx, CERTIFICATE, KEY, None));
        anchors.into_iter().chain(issuer.into_iter().flatten()).collect()
    }

    /// Adds the step that writes the files.
    pub(super) fn to_files(self, ctx: &Context<'_>, remedy: Remedy) -> Remedy {
        let what = match (self.issuer, self.anchors && !self.has_bundle) {
            (false, false) => return remedy,
            (false, true) => "trust anchors to a file for the upgrade, since the installation may store others",
            (true, false) => "issuer to files for the upgrade, since the installation stored another",
            (true, true) => "issuer and trust anchors to files for the upgrade, since the installation stored others",
        };
        let command = Command::lines(self.lines(ctx)).whole();
        remedy.command(format!("Write the current {what}"), command)
    }

    /// Adds the step that deletes the files of the issuer.
    pub(super) fn delete_files(self, remedy: Remedy) -> Remedy {
        if self.issuer { remedy.command(DELETION, deletion()) } else { remedy }
    }
}

fn deletion() -> Command {
    Line::from(program("rm").words("-f").arg(CERTIFICATE).arg(KEY)).into()
}

/// The issuer that the values of an installation store.
pub(in crate::checks) fn stored_issuer(values: &Values) -> Option<Vec<Certificate>> {
    from_bundle(values.text(super::CERTIFICATE)?.trim()).ok()
}

/// The issuer that the values of an installation store, if it is another one than the Secret holds. An issuer
/// of another tool is not part of the values.
pub(in crate::checks) fn stored_instead(values: &Values, secret: &Secret) -> Option<Vec<Certificate>> {
    is_issuer_written(values).then_some(())?;
    let stored = stored_issuer(values)?;
    let current = from_base64_bundle(secret.data.get("crt.pem")?).ok()?;
    (stored.first()? != current.first()?).then_some(stored)
}

/// The options of a change, with files of the current issuer and trust anchors if it keeps them and the CLI or
/// Helm would use others.
pub(super) fn kept<'a>(ctx: &Context<'_>, mut options: Options<'a>) -> Options<'a> {
    if options.stores_current || !(uses_stored_values(ctx) || managed_by(ctx).is_rendered_by_cli()) {
        return options;
    }
    options.kept = KeptCertificates {
        issuer: !options.sets(super::CERTIFICATE) && is_other(ctx),
        anchors: !options.sets(ANCHORS) && may_store_others(ctx),
        has_bundle: options.bundle.is_some(),
    };
    let KeptCertificates { issuer, anchors, .. } = options.kept;
    let bundle = options.bundle.unwrap_or(BUNDLE);
    let options = if anchors { options.anchors(bundle) } else { options };
    if issuer { options.pair(CERTIFICATE, KEY) } else { options }
}

/// Whether the installation stores another issuer.
fn is_other(ctx: &Context<'_>) -> bool {
    let secret = ctx.named_for_steps::<Secret>(ISSUER);
    let values = ctx.values_for_steps().zip(secret);
    values.is_some_and(|(values, secret)| stored_instead(&values, secret).is_some())
}

/// A command and the end of its step's text. Lines before it write the files of what is kept, and one after it
/// deletes those of the issuer.
pub(super) fn with_files(ctx: &Context<'_>, command: Command, options: &Options<'_>) -> (Command, &'static str) {
    let reason = match (options.kept.issuer, options.kept.anchors) {
        (false, false) => return (command, ""),
        (false, true) => ". It passes the current trust anchors, since the installation may store others",
        (true, false) => {
            ". It passes the current issuer, since the installation stored another, and deletes the key's files"
        }
        (true, true) => {
            ". It passes the current issuer and trust anchors, since the installation stored others, and deletes \
             the key's files"
        }
    };
    let mut all = Command::lines(options.kept.lines(ctx));
    all.join([&command]);
    if options.kept.issuer {
        all.join([&deletion()]);
    }
    (all.whole(), reason)
}
