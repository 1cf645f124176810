//! What proxies ask of the issuer's chain beyond what identity asks. Identity verifies the issuer as an end of the chain and as
//! a server's; proxies verify what it signs, one step lower, and for clients as well. So a chain that identity and
//! `linkerd check` take may be one that every proxy refuses, its own certificate first.

use super::identity::{Bundle, Issuer, identity_deployment, trust_domain};
use super::remedy;
use crate::certificates::{Certificate, Path, Purpose};
use crate::checks::Context;
use crate::finding::{Finding, Remedy};

/// The finding where proxies take none of the ways in which the issuer leads to an anchor of the bundle.
pub(super) fn refused_by_proxies(
    ctx: &Context<'_>,
    issuer: &Issuer<'_>,
    bundle: &Bundle,
    paths: &[Path],
) -> Option<Finding> {
    let name = proxies_name(ctx);
    let refusals: Option<Vec<Refusal>> =
        paths.iter().map(|path| refusal(&issuer.chain, bundle, path, name.as_deref())).collect();
    let Refusal { which, message, said, by_anchor } = refusals?.into_iter().next()?;
    let evidence = if by_anchor { bundle.evidence(said) } else { issuer.quoted(said) };
    let finding = ctx
        .finding(issuer.subject(), message)
        .evidence(evidence)
        .parameter(which)
        .fails_rows([])
        .remedy(if by_anchor { another_root(ctx) } else { remedy::another_issuer(ctx, issuer) })
        .tie(identity_deployment(ctx));
    // The name is put together from the values, and constraints are read in more than one way.
    Some(if which == "names" { finding.likely() } else { finding })
}

/// No issuer helps against an anchor that forbids it.
fn another_root(ctx: &Context<'_>) -> Remedy {
    let steps = Remedy::new();
    let steps = remedy::put_root(ctx, remedy::new_root(ctx, steps));
    remedy::restart_meshed(ctx, remedy::restart_control_plane(ctx, steps))
}

/// Why proxies do not take a way.
struct Refusal {
    which: &'static str,
    message: &'static str,
    said: String,
    /// Whether it is the anchor that forbids it.
    by_anchor: bool,
}

fn refusal(chain: &[Certificate], bundle: &Bundle, path: &Path, name: Option<&str>) -> Option<Refusal> {
    let between = path.between.iter().filter_map(|place| chain.get(*place));
    for (below, authority) in chain.iter().take(1).chain(between).enumerate() {
        if let Some(allowed) = authority.path_length().filter(|allowed| usize::from(*allowed) < below) {
            return Some(Refusal {
                which: "path-length",
                message: "an intermediate above the issuer allows no further CA below it: proxies reject \
                    every certificate that this issuer signs",
                said: format!("{}: path length {allowed}, CAs below it: {below}", authority.summary()),
                by_anchor: false,
            });
        }
        if !authority.lets_strictly(Purpose::Server) || !authority.lets_strictly(Purpose::Client) {
            return Some(Refusal {
                which: "purpose",
                message: "the issuer's certificate, or one above it, has extended key usages without TLS \
                    client or server: proxies reject the certificates it signs",
                said: format!(
                    "{}: its extended key usage does not name both serverAuth and clientAuth",
                    authority.summary()
                ),
                by_anchor: false,
            });
        }
        if let Some(refusal) = name.and_then(|name| left_out(authority, name, false)) {
            return Some(refusal);
        }
    }
    // Of an anchor proxies look at the key and the name constraints alone.
    bundle.anchors.get(path.anchor).zip(name).and_then(|(anchor, name)| left_out(anchor, name, true))
}

fn left_out(authority: &Certificate, name: &str, by_anchor: bool) -> Option<Refusal> {
    (!authority.permits(name)).then(|| Refusal {
        which: "names",
        message: "the name constraints of the issuer, or of a certificate above it, exclude the names of \
            proxies: they reject every certificate that this issuer signs",
        said: format!("{}: its name constraints exclude {name}", authority.summary()),
        by_anchor,
    })
}

/// The name of one proxy; all others differ from it in the first two labels. `None` where the trust domain is not known.
fn proxies_name(ctx: &Context<'_>) -> Option<String> {
    let namespace = &ctx.namespaces().control_plane;
    let domain = trust_domain(ctx)?;
    Some(format!("linkerd-identity.{namespace}.serviceaccount.identity.{namespace}.{domain}"))
}
