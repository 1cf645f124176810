//! Requirements of proxies on the issuer's chain that identity does not check. Identity verifies
//! the issuer as an end certificate of a server. Proxies verify the certificates it signs, one
//! level below, and for clients too. So every proxy may reject a chain that identity and `linkerd
//! check` accept.

use super::identity::{Bundle, Issuer, identity_deployment, trust_domain};
use super::remedy;
use crate::certificates::{Certificate, Path, Purpose};
use crate::checks::prelude::*;

/// The finding if proxies accept no path from the issuer to an anchor of the bundle.
pub(super) fn refused_by_proxies(
    ctx: &Context<'_>,
    issuer: &Issuer<'_>,
    bundle: &Bundle,
    paths: &[Path],
) -> Option<Finding> {
    let name = proxies_name(ctx);
    let refusals: Option<Vec<PathRefusal>> =
        paths.iter().map(|path| refusal(&issuer.chain, bundle, path, name.as_deref())).collect();
    let PathRefusal { which, message, said, by_anchor } = refusals?.into_iter().next()?;
    let evidence = if by_anchor { bundle.evidence(said) } else { issuer.quoted(said) };
    let finding = ctx
        .finding(issuer.subject(), message)
        .evidence(evidence)
        .parameter(which)
        .fails_rows([])
        .remedy(if by_anchor { another_root(ctx) } else { remedy::another_issuer(ctx, issuer) })
        .tie(identity_deployment(ctx));
    // The name is built from the values, and constraints can be read in more than one way.
    Some(finding.likely_if(which == "names"))
}

/// If the anchor forbids it, another issuer does not help.
fn another_root(ctx: &Context<'_>) -> Remedy {
    let steps = Remedy::new();
    let steps = remedy::put_root(ctx, remedy::new_root(ctx, steps));
    remedy::restart_meshed_apart(ctx, remedy::restart_control_plane(ctx, steps))
}

/// Why proxies reject a path.
struct PathRefusal {
    which: &'static str,
    message: &'static str,
    said: String,
    /// Whether the anchor forbids it.
    by_anchor: bool,
}

fn refusal(chain: &[Certificate], bundle: &Bundle, path: &Path, name: Option<&str>) -> Option<PathRefusal> {
    let between = path.between.iter().filter_map(|place| chain.get(*place));
    for (below, authority) in chain.iter().take(1).chain(between).enumerate() {
        if let Some(allowed) = authority.path_length().filter(|allowed| usize::from(*allowed) < below) {
            return Some(PathRefusal {
                which: "path-length",
                message: "an intermediate above the issuer allows no further CA below it: proxies reject \
                    every certificate that this issuer signs",
                said: format!("{}: path length {allowed}, CAs below it: {below}", authority.summary()),
                by_anchor: false,
            });
        }
        if !authority.lets_strictly(Purpose::Server) || !authority.lets_strictly(Purpose::Client) {
            return Some(PathRefusal {
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
    // Of an anchor, proxies check only the key and the name constraints.
    bundle.anchors.get(path.anchor).zip(name).and_then(|(anchor, name)| left_out(anchor, name, true))
}

fn left_out(authority: &Certificate, name: &str, by_anchor: bool) -> Option<PathRefusal> {
    (!authority.permits(name)).then(|| PathRefusal {
        which: "names",
        message: "the name constraints of the issuer, or of a certificate above it, exclude the names of \
            proxies: they reject every certificate that this issuer signs",
        said: format!("{}: its name constraints exclude {name}", authority.summary()),
        by_anchor,
    })
}

/// The name of one proxy; all others differ from it in the first two labels. `None` if the trust
/// domain is unknown.
fn proxies_name(ctx: &Context<'_>) -> Option<String> {
    let namespace = &ctx.namespaces().control_plane;
    let domain = trust_domain(ctx)?;
    Some(format!("linkerd-identity.{namespace}.serviceaccount.identity.{namespace}.{domain}"))
}
