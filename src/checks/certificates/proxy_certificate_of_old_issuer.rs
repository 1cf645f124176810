//! `proxy-certificate-of-old-issuer`: proxies got their certificates before the current issuer existed.

use std::collections::{BTreeMap, HashMap};
use std::{fmt, slice};

use jiff::Timestamp;

use super::identity::issuer;
use crate::certificates::{Certificate, Trust, from_bundle, trust};
use crate::checks::diagnosed::{exporting, name_of, proxies, quoted};
use crate::checks::restart::{self, Needs};
use crate::checks::words::some;
use crate::checks::{Context, Judgement};
use crate::fetched::Why;
use crate::finding::{Evidence, Remedy, StepKind};
use crate::item::Item;
use crate::knowledge::MetricMeaning::CertificateRefreshedAt;
use crate::missing::Missing;
use crate::model::owners::Owner;
use crate::objects::Pod;

/// The number of quoted proxies.
const QUOTED: usize = 5;
/// Number of pods in a gap.
const NAMED: usize = 3;
/// The error of certificates that cannot be parsed.
const UNREADABLE: &str = "the certificates are not valid";

/// Why a proxy's certificate is of another issuer.
enum Proof {
    /// It was issued at this time, before the issuer existed.
    IssuedAt(Timestamp),
    /// The proxy serves this certificate, which the issuer did not sign.
    Served(Box<Certificate>),
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Proof::IssuedAt(at) => write!(f, "certificate issued at {at}, before the issuer's start"),
            Proof::Served(leaf) => {
                write!(f, "serves a certificate of {}, valid until {}", leaf.issuer(), leaf.not_after())
            }
        }
    }
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let issuer = issuer(ctx)?;
    let made = issuer.certificate().not_before();
    let served = served(ctx)?;
    // The certificate itself is better evidence than the time of its renewal.
    let has_chain = |pod: &Pod| served.iter().any(|(other, _)| other.metadata.key() == pod.metadata.key());
    let metrics = match proxies(ctx) {
        Ok(all) => all.into_iter().filter(|(pod, _)| !has_chain(pod)).collect(),
        Err(missing) if !served.is_empty() => {
            ctx.gap(missing);
            Vec::new()
        }
        Err(missing) => return Err(missing.into()),
    };
    let all = exporting(ctx, metrics, CertificateRefreshedAt, "the renewal time of the certificate");
    let of_others = served.iter().filter_map(|(pod, chain)| {
        let (leaf, above) = chain.split_first()?;
        let is_own = above.iter().any(|one| one.print() == issuer.certificate().print())
            || !matches!(trust(slice::from_ref(leaf), slice::from_ref(issuer.certificate())), Trust::No);
        (!is_own).then(|| (*pod, Proof::Served(Box::new(leaf.clone()))))
    });
    let mut old: Vec<(&Pod, Proof)> = of_others.collect();
    let by_time = all.into_iter().filter_map(|(pod, metrics)| {
        #[allow(clippy::cast_possible_truncation, reason = "seconds of a clock; a cast saturates")]
        let refreshed = metrics.value(CertificateRefreshedAt)? as i64;
        let refreshed = Timestamp::from_second(refreshed).ok()?;
        let is_valid = metrics.expires_at > metrics.read_at;
        (is_valid && refreshed < made).then_some((pod, Proof::IssuedAt(refreshed)))
    });
    old.extend(by_time);
    if old.is_empty() {
        return Ok(Vec::new().into());
    }
    let more = old.len().saturating_sub(QUOTED);
    let said = old.iter().take(QUOTED).map(|(pod, proof)| {
        let object = match proof {
            Proof::IssuedAt(_) => return quoted(pod, proof.to_string()),
            Proof::Served(_) => format!("TLS of the proxy, Pod {}", name_of(pod)),
        };
        Evidence::other(object, proof.to_string())
    });
    let rest = (more > 0).then(|| issuer.quoted(format!("and {more} more proxies")));
    let names: Vec<String> = old.iter().map(|(pod, _)| name_of(pod)).collect();
    let remedy = Remedy::new().step(
        StepKind::Note,
        "Keep the previous trust anchor until no proxy has a certificate of the old issuer",
    );
    let mut owners: BTreeMap<Owner, Vec<String>> = BTreeMap::new();
    for (pod, _) in &old {
        owners.entry(ctx.owners().owner(pod)).or_default().push(pod.metadata.name.clone());
    }
    let act = format!("To end this sooner, restart the workload of {}", some(&names, QUOTED));
    let remedy = restart::of_workloads(ctx, remedy, Needs::NewPods, &act, &owners);
    let finding = ctx
        .finding(
            issuer.subject(),
            "proxies still use certificates of the previous issuer: they are rejected if its trust anchor is \
             removed before they renew",
        )
        .evidence(issuer.quoted(format!("not before {made}")))
        .evidences(said.chain(rest))
        .remedy(remedy);
    Ok(vec![finding].into())
}

/// The certificates that proxies serve. Those that could not be read are noted as a gap.
fn served<'a>(ctx: &Context<'a>) -> Result<Vec<(&'a Pod, Vec<Certificate>)>, Missing> {
    let pods = ctx.partial_list::<Pod>()?;
    let pods: HashMap<(&str, &str), &Pod> = pods.iter().map(|pod| (pod.metadata.key(), pod)).collect();
    let (mut all, mut failed) = (Vec::new(), BTreeMap::<&str, Vec<String>>::new());
    for one in ctx.diagnostics()?.iter().filter_map(|one| one.said.of_certificates()) {
        let Some(pod) = pods.get(&(one.namespace.as_str(), one.pod.as_str())) else { continue };
        if !ctx.judges(&one.namespace) || pod.is_finished() {
            continue;
        }
        match from_bundle(&one.chain) {
            Ok(chain) if !chain.is_empty() => all.push((*pod, chain)),
            _ if one.chain.is_empty() && one.error.is_empty() => {}
            _ => {
                let error = if one.chain.is_empty() { one.error.as_str() } else { UNREADABLE };
                failed.entry(error).or_default().push(name_of(pod));
            }
        }
    }
    for (error, pods) in failed {
        let why = Why::Failed { message: error.to_owned() };
        ctx.gap(ctx.missing(
            Item::Diagnostics,
            why,
            format!("certificates served by {}", some(&pods, NAMED)),
        ));
    }
    Ok(all)
}
