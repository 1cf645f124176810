//! The issuer of an installation that stores another one than the Secret holds. An upgrade with stored values
//! puts the stored one in place, or is refused because of it, so the printed commands pass the current one.

use super::{Options, managed_by, stored};
use crate::certificates::{Certificate, from_base64_bundle, from_bundle};
use crate::chart::values::Values;
use crate::checks::Context;
use crate::command::{Call, Command, Line, kubectl, program};
use crate::model::managed_by::Installer;
use crate::objects::{ConfigMap, Secret};

const ISSUER: &str = "linkerd-identity-issuer";
/// The files that the commands write.
const CERTIFICATE: &str = "issuer-current.crt";
const KEY: &str = "issuer-current.key";

/// Why a printed upgrade has more lines.
pub(super) const PASSED: &str = ". The installation stores another issuer, so the current one is passed. The last \
     command deletes its files, since they contain the private key";

/// The issuer that the values of an installation store, if it is another one than the Secret holds. An issuer
/// of another tool is not part of the values.
pub(in crate::checks) fn stored_instead(values: &Values, secret: &Secret) -> Option<Vec<Certificate>> {
    matches!(values.text("identity.issuer.scheme"), None | Some("linkerd.io/tls")).then_some(())?;
    let stored = from_bundle(values.text("identity.issuer.tls.crtPEM")?.trim()).ok()?;
    let current = from_base64_bundle(secret.data.get("crt.pem")?).ok()?;
    (stored.first()? != current.first()?).then_some(stored)
}

/// The options of a change that keeps the issuer, with the files of the current one if the CLI or Helm would
/// use another.
pub(super) fn kept<'a>(ctx: &Context<'_>, options: Options<'a>) -> Options<'a> {
    let by = managed_by(ctx);
    let is_printed = match by.installer {
        Some(Installer::Cli) => !stored::is_unusable(ctx),
        Some(Installer::Release(_)) => true,
        Some(Installer::Chart) | None => false,
    };
    if options.sets(super::CERTIFICATE) || by.gitops.is_some() || !is_printed || !is_other(ctx) {
        return options;
    }
    Options { keeps_issuer: true, ..options.pair(CERTIFICATE, KEY) }
}

/// Whether the installation stores another issuer.
pub(super) fn is_other(ctx: &Context<'_>) -> bool {
    let values = ctx.named_for_steps::<ConfigMap>("linkerd-config").and_then(ConfigMap::chart_values);
    let secret = ctx.named_for_steps::<Secret>(ISSUER);
    values.zip(secret).is_some_and(|(values, secret)| stored_instead(&values, secret).is_some())
}

/// A command between the lines that write the files and the one that deletes them.
pub(super) fn around(ctx: &Context<'_>, command: &Command) -> Command {
    let entry = |name: &str, file: &'static str| {
        let get: Call = kubectl().namespace(&ctx.namespaces().control_plane).words("get secret").arg(ISSUER);
        let get = get.words("-o").arg(format!("jsonpath={{.data.{name}\\.pem}}"));
        get.pipe(program("base64").words("-d")).to_file(file)
    };
    let mut around = Command::lines([entry("crt", CERTIFICATE), entry("key", KEY)]);
    let delete = Line::from(program("rm").words("-f").arg(CERTIFICATE).arg(KEY));
    around.join([command, &Command::from(delete)]);
    around.whole()
}
