//! `upgrade-stored-values-unusable`: `linkerd upgrade` cannot read the values that the CLI stored.

use super::Way;
use crate::checks::control_plane::installation::values;
use crate::checks::upgrade::{apply, guarded, managed_by};
use crate::checks::{Context, Judgement, Unjudged};
use crate::command::{Arg, Call, Command, Line, kubectl, linkerd, program};
use crate::fetched::Why;
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::item::{Item, Kind, Scope};
use crate::objects::Secret;
use crate::redact::{STORED_VALUES, STORED_VALUES_STATE, StoredValues};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Way::of(ctx)?;
    if !managed_by(ctx).is_by_cli() {
        return Err(Unjudged::not_applicable("the linkerd CLI does not manage this control plane"));
    }
    let secret = ctx.named::<Secret>(Scope::ControlPlane, STORED_VALUES)?;
    let entry = || format!("data[{STORED_VALUES}]");
    let (path, seen, error) = match secret.map(|secret| secret.metadata.annotation(STORED_VALUES_STATE)) {
        None => ("metadata.name".to_owned(), "the Secret does not exist", "it does not find the Secret"),
        Some(state) => match StoredValues::of(state) {
            StoredValues::Usable => return Ok(Vec::new().into()),
            StoredValues::Absent => (entry(), "the entry is missing", "it does not find the entry"),
            StoredValues::Empty => {
                (entry(), "the entry contains no value", "without values it has no issuer certificate")
            }
            StoredValues::NotYaml => (entry(), "not valid YAML", "it cannot parse the values"),
            StoredValues::NotAMap => (entry(), "not a YAML map", "it cannot parse the values"),
            StoredValues::WithoutIssuer => (
                entry(),
                "no issuer certificate or key in identity.issuer.tls",
                "it does not find the issuer's certificate and key in the values",
            ),
            StoredValues::Unknown => {
                let item = Item::Named {
                    kind: Kind::Secret,
                    scope: Scope::ControlPlane,
                    name: STORED_VALUES.to_owned(),
                };
                let part = format!("{}, redacted or unreadable", entry());
                return Err(ctx.lacking(item, Why::NotCaptured, part).into());
            }
        },
    };
    let home = ctx.namespaces().control_plane.as_str();
    let message = format!("`linkerd upgrade` exits with an error and prints no manifests: {error}");
    let finding: Finding = ctx
        .finding(Subject::object(Kind::Secret, home, STORED_VALUES), message)
        .evidence(Evidence::field(format!("Secret {home}/{STORED_VALUES}"), path, seen))
        .evidence(way.target.clone())
        .remedy(remedy(ctx, &way));
    Ok(vec![finding].into())
}

/// The steps that write the Secret again. The CLI writes it whenever it renders the control plane.
fn remedy(ctx: &Context<'_>, way: &Way<'_>) -> Remedy {
    let values = values(ctx).ok();
    let text = |path: &str| values.as_ref().and_then(|values| values.text(path)).unwrap_or_default();
    let own_certificate = |webhook: &&str| {
        let is_external =
            values.as_ref().and_then(|values| values.bool(&format!("{webhook}.externalSecret")));
        !text(&format!("{webhook}.crtPEM")).is_empty() && is_external != Some(true)
    };
    // linkerd-config does not contain the keys of given certificates.
    let lacks_keys = ["proxyInjector", "profileValidator", "policyValidator"].iter().any(own_certificate);
    let remedy = match text("identity.issuer.scheme") {
        // `linkerd install --ignore-cluster` refuses to run.
        "kubernetes.io/tls" => by_hand(ctx, "identity.issuer.scheme and identityTrustAnchorsPEM"),
        _ if lacks_keys => by_hand(
            ctx,
            "identityTrustAnchorsPEM, the certificate and key of the issuer (identity.issuer.tls), and those of the webhooks",
        ),
        _ => rendered_again(ctx, way),
    };
    remedy.step(
        StepKind::Note,
        "If you kept the manifests of the installation (the output of `linkerd install` or `linkerd upgrade`), \
         `linkerd upgrade --from-manifests FILE` also works: it reads the values from that file",
    )
}

/// The control plane is rendered at its own release, with its current values and issuer. `--ignore-cluster`: otherwise the
/// CLI refuses an existing installation.
fn rendered_again(ctx: &Context<'_>, way: &Way<'_>) -> Remedy {
    let home = ctx.namespaces().control_plane.as_str();
    let issuer = |entry: &str, file: &'static str| {
        let get = of(ctx, "get secret linkerd-identity-issuer", entry);
        get.pipe(program("base64").words("-d")).to_file(file)
    };
    let files = Command::lines([
        of(ctx, "get configmap linkerd-config", "values").to_file("stored-values.yaml"),
        of(ctx, "get configmap linkerd-identity-trust-roots", "ca-bundle.crt").to_file("stored-ca.crt"),
        issuer("crt.pem", "stored-issuer.crt"),
        issuer("key.pem", "stored-issuer.key"),
    ]);
    let pem = "identityTrustAnchorsPEM=stored-ca.crt,identity.issuer.tls.crtPEM=stored-issuer.crt,\
               identity.issuer.tls.keyPEM=stored-issuer.key";
    let install = linkerd()
        .control_plane(home)
        .words("install --ignore-cluster --values stored-values.yaml")
        .option("--set-file", pem)
        .pipe(apply());
    Remedy::new()
        .run(StepKind::Command, "Write the current values, trust anchors and issuer to files", files.whole())
        .run(
            StepKind::Command,
            format!(
                "Apply the control plane of the installed release again; with it the CLI writes the Secret. Do this before \
                 you install the CLI of {}",
                way.to
            ),
            guarded(Some(&way.from), install),
        )
        .run(
            StepKind::Command,
            "Delete the files: one of them is the issuer's private key",
            program("rm").words("stored-values.yaml stored-ca.crt stored-issuer.crt stored-issuer.key"),
        )
}

/// The values are written by hand; `needed` are those that the CLI requires.
fn by_hand(ctx: &Context<'_>, needed: &str) -> Remedy {
    let home = ctx.namespaces().control_plane.as_str();
    let create = kubectl()
        .namespace(home)
        .words("create secret generic")
        .arg(STORED_VALUES)
        .option("--from-file", format!("{STORED_VALUES}=overrides.yaml"))
        .words("--dry-run=client -o yaml")
        .pipe(apply());
    let label = kubectl()
        .namespace(home)
        .words("label secret")
        .operand(STORED_VALUES)
        .arg(format!("linkerd.io/control-plane-ns={home}"));
    Remedy::new()
        .run(
            StepKind::Command,
            "Print the values in effect",
            of(ctx, "get configmap linkerd-config", "values"),
        )
        .step(
            StepKind::Note,
            format!(
                "Write to overrides.yaml the values that you set at the installation, with {needed}. Leave out all others, \
                 in particular versions: they would override the target's"
            ),
        )
        .run(StepKind::Command, "Create the Secret from that file", Command::lines([create, Line::from(label)]))
}

/// Prints an entry of an object of the control plane.
fn of(ctx: &Context<'_>, get: &'static str, entry: &str) -> Call {
    let path = format!("jsonpath={{.data.{}}}", entry.replace('.', "\\."));
    kubectl().namespace(&ctx.namespaces().control_plane).words(get).words("-o").arg(Arg::from(path))
}
