//! `viz-tap-certificate-invalid`: the certificate of tap is missing, expired, or not trusted by the API server.

use super::tap::{API, SECRET, Tap, item, tap};
use crate::certificates::{Certificate, Validity, at_least_one, from_base64_bundle, from_base64_pool};
use crate::checks::dates::{clocks_first, dates, starts_shortly, wait_for};
use crate::checks::extensions::reinstall;
use crate::checks::prelude::*;
use crate::checks::serving::{Refusal, both_sides, out_of_date, refusal, served};
use crate::objects::APIService;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let tap = tap(ctx)?;
    let Some(secret) = tap.secret else {
        let message = "the Secret with the certificate of tap is missing: its pods cannot start without it";
        let seen = tap.evidence("metadata.name", "missing");
        return Ok(finding(ctx, &tap, "missing", message).evidence(seen).into());
    };
    let served = match served(secret) {
        Ok(served) => served,
        Err(error) => {
            let message = "the Secret of tap holds no readable certificate: tap has nothing to serve";
            return Ok(finding(ctx, &tap, "missing", message).evidence(tap.evidence("data", error)).into());
        }
    };
    let api = Item::named(Kind::APIService, Scope::Cluster, API);
    let service = ctx.object::<APIService>(Scope::Cluster, API)?;
    let Some(service) = service else {
        return Err(Unjudged::blocked("viz-tap-api-unavailable", "the APIService of tap is missing"));
    };
    let trusted = from_base64_pool(&service.spec.ca_bundle)
        .map_err(|message| ctx.missing(api, Why::Malformed { message }, "its caBundle"))?;
    let name = format!("tap.{}.svc", tap.namespace);
    let refused = refusal(&served, (&service.spec.ca_bundle, &trusted), &name)
        .map_err(|message| ctx.missing(item(SECRET), Why::Malformed { message }, "its certificate"))?;
    let mut findings = Vec::from_iter(outdated(ctx, &tap, &served, &trusted));
    if !trusted.is_empty()
        && let Err(error) = from_base64_bundle(&service.spec.ca_bundle).and_then(at_least_one)
    {
        let message = "the caBundle of tap's APIService holds more than certificates: the API server accepts \
                       it, but `linkerd viz check` cannot read it and stops there";
        let seen = Evidence::field(format!("APIService {API}"), "spec.caBundle", error);
        let finding = finding(ctx, &tap, "bundle", message).severity(Severity::Info).rows_as(Severity::Error);
        findings.push(finding.explains_nothing().evidence(seen));
    }
    if let Some(refused) = refused {
        let message = match refused {
            Refusal::WrongName => {
                "the certificate of tap is not valid for the name of its Service: the API server rejects it"
            }
            Refusal::WrongPurpose => {
                "the extended key usage of tap's certificate does not include server authentication: the \
                 API server rejects it"
            }
            Refusal::NoBundle => {
                "the APIService of tap has no caBundle: the API server does not trust tap's certificate \
                 and rejects it"
            }
            Refusal::NoCertificate => {
                "the caBundle of tap's APIService holds no certificate: the API server cannot connect to tap"
            }
            Refusal::NotTrusted => {
                "the certificate of tap does not chain to the caBundle of its APIService: the API server \
                 rejects it"
            }
        };
        let seen = both_sides(&tap.secret_name(), &served, &format!("APIService {API}"), "spec.caBundle", &trusted);
        findings.push(finding(ctx, &tap, "not-trusted", message).evidences(seen));
    }
    Ok(findings.into())
}

fn outdated(ctx: &Context<'_>, tap: &Tap<'_>, served: &[Certificate], trusted: &[Certificate]) -> Option<Finding> {
    let seen = |certificates: &[&Certificate], object: &str, path: &str| -> Vec<Evidence> {
        let said = |c: &Certificate| format!("{}: {}", c.summary(), dates(c, ctx.now()));
        certificates.iter().map(|c| Evidence::field(object, path, said(c))).collect()
    };
    let own = out_of_date(served, trusted, ctx.now());
    let theirs: Vec<&Certificate> = trusted.iter().filter(|c| c.validity(ctx.now()) != Validity::Current).collect();
    let mut evidence = seen(&own, &tap.secret_name(), "data: certificate");
    evidence.extend(seen(&theirs, &format!("APIService {API}"), "spec.caBundle"));
    let message = "the certificate of tap, or the caBundle that verifies it, is expired or not valid yet: \
     the API server rejects it";
    let all: Vec<&Certificate> = own.into_iter().chain(theirs).collect();
    (!evidence.is_empty()).then(|| finding_of(ctx, tap, "out-of-date", message, &all).evidences(evidence))
}

fn finding(ctx: &Context<'_>, tap: &Tap<'_>, which: &str, message: &str) -> Finding {
    finding_of(ctx, tap, which, message, &[])
}

fn finding_of(ctx: &Context<'_>, tap: &Tap<'_>, which: &str, message: &str, certificates: &[&Certificate]) -> Finding {
    let steps = match starts_shortly(certificates.iter().copied(), ctx.now()) {
        Some(start) => wait_for(Remedy::new(), start),
        None => {
            let steps = clocks_first(Remedy::new(), certificates.iter().copied(), ctx.now());
            let why = ", which writes certificate and caBundle";
            reinstall(ctx, steps, Extension::Viz, why).command(
                "Restart tap, so that it serves the certificate in the Secret",
                kubectl().namespace(tap.namespace).words("rollout restart deployment/tap"),
            )
        }
    };
    ctx.finding(tap.subject(), message).parameter(which).remedy(steps).tie(Tie::Workload(
        "APIService".to_owned(),
        String::new(),
        API.to_owned(),
    ))
}
