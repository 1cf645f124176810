//! `upgrade-stored-values-unusable`: `linkerd upgrade` cannot read the values that the CLI stored.

use super::Upgrade;
use crate::checks::prelude::*;
use crate::checks::upgrade::{Stored, managed_by};
use crate::objects::Secret;
use crate::redact::{STORED_VALUES, STORED_VALUES_STATE, StoredValues};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Upgrade::from_context(ctx)?;
    if !managed_by(ctx).is_by_cli() {
        return Err(Unjudged::not_applicable("the linkerd CLI does not manage this control plane"));
    }
    let secret = ctx.object::<Secret>(Scope::ControlPlane, STORED_VALUES)?;
    let entry = || format!("data[{STORED_VALUES}]");
    let (path, seen, error) = match secret.map(|secret| secret.metadata.annotation(STORED_VALUES_STATE)) {
        None => ("metadata.name".to_owned(), "the Secret does not exist", "it does not find the Secret"),
        Some(state) => match StoredValues::parse(state) {
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
            // `linkerd install` before edge-26.4.4 stored both if the scheme was given with `--set`.
            StoredValues::TwoIssuers => {
                (entry(), TWO_ISSUERS, "it refuses a certificate of the issuer if its scheme is kubernetes.io/tls")
            }
            StoredValues::Unknown => {
                let item = Item::named(Kind::Secret, Scope::ControlPlane, STORED_VALUES);
                let part = format!("{}, redacted or unreadable", entry());
                return Err(ctx.missing(item, Why::NotCaptured, part).into());
            }
        },
    };
    let home = ctx.namespaces().control_plane.as_str();
    let message = format!("`linkerd upgrade` exits with an error and prints no manifests: {error}");
    let finding: Finding = ctx
        .finding(Subject::object(Kind::Secret, home, STORED_VALUES), message)
        .evidence(Evidence::field(format!("Secret {home}/{STORED_VALUES}"), path, seen))
        .evidence(way.target.clone())
        .remedy(remedy(ctx, &way, seen != TWO_ISSUERS));
    Ok(finding.into())
}

/// The stored values of an issuer that the CLI stores and one that it must not store.
const TWO_ISSUERS: &str = "identity.issuer.tls, and identity.issuer.scheme kubernetes.io/tls";

/// The steps that write the Secret again. The CLI writes it whenever it renders the control plane. `differs`: manifests
/// of the installation can have other values.
fn remedy(ctx: &Context<'_>, way: &Upgrade<'_>, differs: bool) -> Remedy {
    let stored = Stored::from_context(ctx);
    let remedy = match stored.by_hand() {
        Some(needed) => stored.written_by_hand(ctx, Remedy::new(), needed),
        None => stored.rendered_again(ctx, way),
    };
    if !differs {
        return remedy;
    }
    remedy.note(
        "If you kept the manifests of the installation (the output of `linkerd install` or `linkerd upgrade`), \
         `linkerd upgrade --from-manifests FILE` also works: it reads the values from that file",
    )
}
