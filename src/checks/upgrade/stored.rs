//! Steps of a control plane whose stored values `linkerd upgrade` cannot read: it exits with an error before
//! it prints anything. `linkerd install` reads none, so it renders the control plane from the values, trust
//! anchors and issuer in the cluster; or the Secret is written by hand first.

use super::{CERTIFICATE, KEY, Options, apply, guarded};
use crate::chart::values::Values;
use crate::checks::prelude::*;
use crate::checks::trust_roots::{BUNDLE, TRUST_ROOTS};
use crate::checks::upgrades::Upgrade;
use crate::command::{Call, Line, linkerd, program};
use crate::objects::Secret;
use crate::redact::{STORED_VALUES, STORED_VALUES_STATE, StoredValues, WITHHELD};

/// The Secret of the issuer.
pub(super) const ISSUER: &str = "linkerd-identity-issuer";
/// The files that the commands write.
pub(in crate::checks) const OVERRIDES_FILE: &str = "overrides.yaml";
const VALUES_FILE: &str = "stored-values.yaml";
const ANCHORS_FILE: &str = "stored-ca.crt";
const CERTIFICATE_FILE: &str = "stored-issuer.crt";
const KEY_FILE: &str = "stored-issuer.key";

/// Whether `linkerd upgrade` is known to find no usable values. Only for control planes that the CLI manages:
/// Helm writes no such Secret.
pub(super) fn is_unusable(ctx: &Context<'_>) -> bool {
    if ctx.is_absent_for_steps::<Secret>(STORED_VALUES) {
        return true;
    }
    let secret = ctx.named_for_steps::<Secret>(STORED_VALUES).map(|secret| &secret.metadata);
    secret.filter(|meta| meta.annotation(WITHHELD).is_none()).is_some_and(|meta| {
        let state = StoredValues::parse(meta.annotation(STORED_VALUES_STATE));
        !matches!(state, StoredValues::Usable | StoredValues::Unknown)
    })
}

/// The part of an installation that a command writes anew, by its path in the chart values.
pub(super) const ANCHORS: &str = "identityTrustAnchorsPEM";

/// The values in effect, from which the stored ones are written again.
pub(in crate::checks) struct Stored {
    values: Option<Values>,
    has_config: bool,
    has_anchors: bool,
    has_issuer: bool,
}

impl Stored {
    /// Reads `linkerd-config`, the trust anchors and the issuer, if they were read for any check.
    pub(in crate::checks) fn from_context(ctx: &Context<'_>) -> Stored {
        let config = ctx.named_for_steps::<ConfigMap>("linkerd-config");
        let values = config.and_then(ConfigMap::chart_values);
        let roots = ctx.named_for_steps::<ConfigMap>(TRUST_ROOTS);
        Stored {
            has_config: !ctx.is_absent_for_steps::<ConfigMap>("linkerd-config") && config.is_some() == values.is_some(),
            has_anchors: !ctx.is_absent_for_steps::<ConfigMap>(TRUST_ROOTS)
                && roots.is_none_or(|roots| roots.data.contains_key(BUNDLE)),
            has_issuer: !ctx.is_absent_for_steps::<Secret>(ISSUER),
            values,
        }
    }

    /// The values that the reader must write by hand, if `linkerd install` cannot render the control plane
    /// from the cluster.
    pub(in crate::checks) fn by_hand(&self) -> Option<&'static str> {
        self.by_hand_with(&Options::none())
    }

    fn by_hand_with(&self, options: &Options<'_>) -> Option<&'static str> {
        let text = |path: &str| self.values.as_ref().and_then(|values| values.text(path)).unwrap_or_default();
        let own_certificate = |webhook: &&str| {
            let is_external = self.values.as_ref().and_then(|one| one.bool(&format!("{webhook}.externalSecret")));
            !text(&format!("{webhook}.crtPEM")).is_empty() && is_external != Some(true)
        };
        // linkerd-config does not contain the keys of given certificates.
        let lacks_keys = ["proxyInjector", "profileValidator", "policyValidator"].iter().any(own_certificate);
        let lacks = |has: bool, path: &str| !has && !options.sets(path);
        if text("identity.issuer.scheme") == "kubernetes.io/tls" {
            // `linkerd install --ignore-cluster` refuses to run.
            Some("identity.issuer.scheme and identityTrustAnchorsPEM")
        } else if lacks_keys {
            Some(
                "identityTrustAnchorsPEM, the certificate and key of the issuer (identity.issuer.tls), and \
                 those of the webhooks",
            )
        } else if !self.has_config || lacks(self.has_anchors, ANCHORS) || lacks(self.has_issuer, CERTIFICATE) {
            Some("identityTrustAnchorsPEM and the certificate and key of the issuer (identity.issuer.tls)")
        } else {
            None
        }
    }

    /// Adds the steps that write the Secret from a file; `needed` are the values that the CLI requires.
    pub(in crate::checks) fn written_by_hand(&self, ctx: &Context<'_>, remedy: Remedy, needed: &str) -> Remedy {
        let home = ctx.namespaces().control_plane.as_str();
        let label = kubectl()
            .namespace(home)
            .words("label secret")
            .operand(STORED_VALUES)
            .arg(format!("linkerd.io/control-plane-ns={home}"));
        let remedy = match self.has_config {
            true => remedy.command("Print the values in effect", entry(ctx, "get configmap linkerd-config", "values")),
            false => remedy,
        };
        remedy
            .note(format!(
                "Write to {OVERRIDES_FILE} the values that you set at the installation, with {needed}. \
                     Leave out all others, in particular versions: they would override the target's"
            ))
            .command("Create the Secret from that file", Command::lines([written(ctx), Line::from(label)]))
    }

    /// The steps that render the control plane at its own release, with its current values and issuer.
    pub(in crate::checks) fn rendered_again(&self, ctx: &Context<'_>, way: &Upgrade<'_>) -> Remedy {
        let none = Options::none();
        Remedy::new()
            .command(
                "Write the current values, trust anchors and issuer to files",
                Command::lines(files(ctx, &none)).whole(),
            )
            .command(
                format!(
                    "Apply the control plane of the installed release again; with it the CLI writes the \
                     Secret. Do this before you install the CLI of {}",
                    way.to
                ),
                guarded(Some(&way.from), install(ctx, &none)),
            )
            .command("Delete the files: one of them is the issuer's private key", deletion(&none))
    }
}

/// Adds the step that renders the control plane without its stored values. If that is impossible, the steps
/// that write them; `upgrade` then follows. Returns whether `upgrade` is still needed.
pub(super) fn instead(
    ctx: &Context<'_>,
    remedy: Remedy,
    kind: StepKind,
    act: &str,
    options: &Options<'_>,
    version: Option<&LinkerdVersion>,
) -> (Remedy, bool) {
    let stored = Stored::from_context(ctx);
    if let Some(needed) = stored.by_hand_with(options) {
        return (stored.written_by_hand(ctx, remedy, needed), true);
    }
    let contents = if options.sets(CERTIFICATE) { "" } else { ", which contain the issuer's private key" };
    let text = format!(
        "{act}. `linkerd upgrade` cannot read its stored values (Secret {STORED_VALUES}), so `linkerd install` \
         renders the current ones. The last command deletes the files{contents}"
    );
    let mut command = Command::lines(files(ctx, options));
    command.join([&guarded(version, install(ctx, options)), &Command::from(Line::from(deletion(options)))]);
    (remedy.run(kind, text, command.whole()), false)
}

/// Adds the steps that change the stored values by hand; `words` is the change.
pub(super) fn corrected(ctx: &Context<'_>, remedy: Remedy, words: &str) -> Remedy {
    let private = Line::from(program("install").words("-m 600 /dev/null").arg(OVERRIDES_FILE));
    let stored = entry(ctx, "get secret linkerd-config-overrides", STORED_VALUES);
    let stored = stored.pipe(program("base64").words("-d")).to_file(OVERRIDES_FILE);
    let deleted = program("rm").words("-f").arg(OVERRIDES_FILE);
    remedy
        .command(
            "Write the stored values to a file, which then contains the issuer's private key. `linkerd upgrade` reads \
             them first and rejects the invalid value, so --set cannot correct it",
            Command::lines([private, stored]).whole(),
        )
        .step(StepKind::ChartValue, format!("In {OVERRIDES_FILE}, {words}"))
        .run(
            StepKind::Command,
            "Write the corrected values back. The command then deletes the file",
            written(ctx).and(deleted),
        )
}

/// The line that writes the Secret from the file.
fn written(ctx: &Context<'_>) -> Line {
    kubectl()
        .namespace(&ctx.namespaces().control_plane)
        .words("create secret generic")
        .arg(STORED_VALUES)
        .option("--from-file", format!("{STORED_VALUES}={OVERRIDES_FILE}"))
        .words("--dry-run=client -o yaml")
        .pipe(apply())
}

/// The lines that write the current values, trust anchors and issuer to files, without those that the options replace.
fn files(ctx: &Context<'_>, options: &Options<'_>) -> Vec<Line> {
    let mut lines = vec![entry(ctx, "get configmap linkerd-config", "values").to_file(VALUES_FILE)];
    if !options.sets(ANCHORS) {
        lines.push(anchors_to_file(ctx, ANCHORS_FILE));
    }
    if !options.sets(CERTIFICATE) {
        lines.extend(issuer_to_files(ctx, CERTIFICATE_FILE, KEY_FILE, None));
    }
    lines
}

/// The values that come from files, each with its file, without those that the options replace.
fn current(options: &Options<'_>) -> impl Iterator<Item = (&'static str, &'static str)> {
    let all = [(ANCHORS, ANCHORS_FILE), (CERTIFICATE, CERTIFICATE_FILE), (KEY, KEY_FILE)];
    all.into_iter().filter(|(path, _)| !options.sets(path))
}

/// Deletes the files.
fn deletion(options: &Options<'_>) -> Call {
    let written = current(options).map(|(_, file)| file);
    written.fold(program("rm").words("-f").arg(VALUES_FILE), Call::arg)
}

/// The line that writes the current trust anchors to a file.
pub(super) fn anchors_to_file(ctx: &Context<'_>, file: &'static str) -> Line {
    entry(ctx, "get configmap linkerd-identity-trust-roots", "ca-bundle.crt").to_file(file)
}

/// The lines that write the current issuer's certificate and key to files. Only the user may read the key.
/// `corrected`: what the certificate is piped into.
pub(in crate::checks) fn issuer_to_files(
    ctx: &Context<'_>,
    certificate: &'static str,
    key: &'static str,
    corrected: Option<Call>,
) -> [Line; 3] {
    let decoded = |name: &str| {
        let get = entry(ctx, "get secret linkerd-identity-issuer", name);
        get.pipe(program("base64").words("-d"))
    };
    let private = Line::from(program("install").words("-m 600 /dev/null").arg(key));
    let read = corrected.into_iter().fold(decoded("crt.pem"), Line::pipe);
    [read.to_file(certificate), private, decoded("key.pem").to_file(key)]
}

/// The lines that write the issuer of the stored values and its key to files. Only the user may read the key.
pub(in crate::checks) fn stored_issuer_to_files(
    ctx: &Context<'_>,
    certificate: &'static str,
    key: &'static str,
) -> [Line; 5] {
    let [opened, stored, private, written] = stored_key_to_file(ctx, key);
    [opened, stored, stored_part("crtPEM", certificate), private, written]
}

/// The lines that write the key of the stored issuer to a file. Only the user may read it.
pub(in crate::checks) fn stored_key_to_file(ctx: &Context<'_>, key: &'static str) -> [Line; 4] {
    let private = |file: &'static str| Line::from(program("install").words("-m 600 /dev/null").arg(file));
    let stored = entry(ctx, "get secret linkerd-config-overrides", STORED_VALUES);
    let stored = stored.pipe(program("base64").words("-d")).to_file(OVERRIDES_FILE);
    [private(OVERRIDES_FILE), stored, private(key), stored_part("keyPEM", key)]
}

/// The line that writes a PEM text of the stored values to a file.
fn stored_part(name: &str, file: &'static str) -> Line {
    let script = format!("/{name}:/{{p=1; next}} p&&/:/{{exit}} p{{sub(/^ +/, \"\"); print}}");
    Line::from(program("awk").arg(script).arg(OVERRIDES_FILE)).to_file(file)
}

/// `--ignore-cluster`: otherwise the CLI refuses an existing installation. The values of files are set last:
/// they win over those of the values file.
fn install(ctx: &Context<'_>, options: &Options<'_>) -> Line {
    let install = linkerd()
        .control_plane(&ctx.namespaces().control_plane)
        .words("install --ignore-cluster --values")
        .arg(VALUES_FILE);
    let install = if options.ha { install.words("--ha") } else { install };
    let install = options.settings(str::to_owned).fold(install, |install, set| install.option("--set", set));
    let given = options.files.iter().map(|(_, path, file)| (*path, *file));
    let pem: Vec<String> = current(options).chain(given).map(|(path, file)| format!("{path}={file}")).collect();
    install.option("--set-file", pem.join(",")).pipe(apply())
}

/// Prints an entry of an object of the control plane.
fn entry(ctx: &Context<'_>, get: &'static str, entry: &str) -> Call {
    let path = format!("jsonpath={{.data.{}}}", entry.replace('.', "\\."));
    kubectl().namespace(&ctx.namespaces().control_plane).words(get).words("-o").arg(Arg::from(path))
}
