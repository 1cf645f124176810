//! The issuer of an installation that stores another one than the Secret holds. An upgrade with stored values
//! puts the stored one in place, or is refused because of it, so the printed commands pass the current one.

use super::guard::is_issuer_written;
use super::stored::{ISSUER, issuer_to_files};
use super::{Options, uses_stored_values};
use crate::certificates::{Certificate, from_base64_bundle, from_bundle};
use crate::chart::values::Values;
use crate::checks::Context;
use crate::command::{Command, Line, program};
use crate::objects::Secret;

/// The files that the commands write.
const CERTIFICATE: &str = "issuer-current.crt";
const KEY: &str = "issuer-current.key";

/// Why a printed upgrade has more lines.
const PASSED: &str = ". The installation stores another issuer, so the current one is passed. The last \
     command deletes its files, since they contain the private key";

/// The issuer that the values of an installation store, if it is another one than the Secret holds. An issuer
/// of another tool is not part of the values.
pub(in crate::checks) fn stored_instead(values: &Values, secret: &Secret) -> Option<Vec<Certificate>> {
    is_issuer_written(values).then_some(())?;
    let stored = from_bundle(values.text("identity.issuer.tls.crtPEM")?.trim()).ok()?;
    let current = from_base64_bundle(secret.data.get("crt.pem")?).ok()?;
    (stored.first()? != current.first()?).then_some(stored)
}

/// The options of a change that keeps the issuer, with the files of the current one if the CLI or Helm would
/// use another.
pub(super) fn kept<'a>(ctx: &Context<'_>, options: Options<'a>) -> Options<'a> {
    if options.sets(super::CERTIFICATE) || !uses_stored_values(ctx) || !is_other(ctx) {
        return options;
    }
    Options { keeps_issuer: true, ..options.pair(CERTIFICATE, KEY) }
}

/// Whether the installation stores another issuer.
fn is_other(ctx: &Context<'_>) -> bool {
    let secret = ctx.named_for_steps::<Secret>(ISSUER);
    let values = ctx.values_for_steps().zip(secret);
    values.is_some_and(|(values, secret)| stored_instead(&values, secret).is_some())
}

/// A command and the end of its step's text. If the options have the files of the current issuer, lines before it
/// write them, and one after it deletes them.
pub(super) fn with_files(
    ctx: &Context<'_>,
    command: Command,
    options: &Options<'_>,
) -> (Command, &'static str) {
    if !options.keeps_issuer {
        return (command, "");
    }
    let mut all = Command::lines(issuer_to_files(ctx, CERTIFICATE, KEY));
    let delete = Line::from(program("rm").words("-f").arg(CERTIFICATE).arg(KEY));
    all.join([&command, &Command::from(delete)]);
    (all.whole(), PASSED)
}
