//! `viz-tap-certificate-invalid`: the certificate of tap is missing, out of date, or not one that the API server trusts.

use super::tap::{API, Tap, item, tap};
use crate::checks::dates::dates;
use crate::checks::extensions::{reinstall, remedy};
use crate::checks::serving::{Refusal, both_sides, refusal, served};
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, Finding, StepKind, Tie};
use crate::item::{Extension, Item, Kind, Scope};
use crate::model::certificates::{Certificate, Validity, from_base64_pem};
use crate::model::objects::ApiService;
use crate::source::Why;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let tap = match tap(ctx)? {
        Ok(tap) => tap,
        Err(verdict) => return Ok(verdict),
    };
    let Some(secret) = tap.secret else {
        let message = "the Secret with the certificate of tap is missing: its pods do not start without it";
        let seen = tap.evidence("metadata.name", "there is no such Secret");
        return Ok(vec![finding(ctx, &tap, "missing", message).evidence(seen)].into());
    };
    let served = match served(secret) {
        Ok(served) => served,
        Err(error) => {
            let message = "the Secret with the certificate of tap holds none that can be read: tap has nothing to serve";
            return Ok(
                vec![finding(ctx, &tap, "missing", message).evidence(tap.evidence("data", error))].into()
            );
        }
    };
    let api = Item::Named { kind: Kind::APIService, scope: Scope::Cluster, name: API.to_owned() };
    let service = ctx.named::<ApiService>(Kind::APIService, Scope::Cluster, API)?;
    let Some(service) = service else {
        return Ok(Verdict::blocked("viz-tap-api-unavailable", "nothing registers the API of tap"));
    };
    let trusted = from_base64_pem(&service.spec.ca_bundle)
        .map_err(|message| ctx.lacking(api, Why::Malformed { message }, "its caBundle"))?;
    let name = format!("tap.{}.svc", tap.home);
    let refused = refusal(&served, &trusted, &name)
        .map_err(|message| ctx.lacking(item(), Why::Malformed { message }, "its certificate"))?;
    let mut findings = Vec::from_iter(outdated(ctx, &tap, &served, &trusted));
    if let Some(refused) = refused {
        let message = match refused {
            Refusal::WrongName => {
                "the certificate of tap is not good for the name of its Service: the API server refuses to talk to it"
            }
            Refusal::WrongPurpose => {
                "the certificate of tap is limited to purposes that leave out TLS servers: the API server refuses to talk to it"
            }
            Refusal::NoBundle => {
                "the APIService of tap has no caBundle: the API server does not trust tap's certificate and refuses to talk to it"
            }
            Refusal::NotTrusted => {
                "the caBundle of tap's APIService does not verify the certificate that tap serves: the API server refuses to talk to it"
            }
        };
        let seen =
            both_sides(&tap.secret_name(), &served, &format!("APIService {API}"), "spec.caBundle", &trusted);
        findings.push(finding(ctx, &tap, "not-trusted", message).evidences(seen));
    }
    Ok(findings.into())
}

fn outdated(
    ctx: &Context<'_>,
    tap: &Tap<'_>,
    served: &[Certificate],
    trusted: &[Certificate],
) -> Option<Finding> {
    let seen = |certificates: &[Certificate], object: &str, path: &str| -> Vec<Evidence> {
        let out = certificates.iter().filter(|c| c.validity(ctx.now()) != Validity::Current);
        out.map(|c| Evidence::field(object, path, format!("{}: {}", c.summary(), dates(c, ctx.now()))))
            .collect()
    };
    let mut evidence = seen(served, &tap.secret_name(), "data: certificate");
    evidence.extend(seen(trusted, &format!("APIService {API}"), "spec.caBundle"));
    let message = "the certificate of tap, or the bundle by which the API server judges it, is out of date: the API server refuses \
                   to talk to it";
    (!evidence.is_empty()).then(|| finding(ctx, tap, "out-of-date", message).evidences(evidence))
}

fn finding(ctx: &Context<'_>, tap: &Tap<'_>, which: &str, message: &str) -> Finding {
    let home = tap.home;
    let steps = remedy(Extension::Viz)
        .run(
            StepKind::Command,
            "Lay viz down again with the command or the chart of its release, which writes both sides anew (with cert-manager, see \
             why it does not)",
            reinstall(Extension::Viz),
        )
        .run(
            StepKind::Command,
            "Restart tap, so that it serves what is in the Secret now",
            format!("kubectl -n {home} rollout restart deployment/tap"),
        );
    ctx.finding(tap.subject(), message).parameter(which).remedy(steps).tie(Tie::Workload(
        "APIService".to_owned(),
        String::new(),
        API.to_owned(),
    ))
}
