//! Certificates that are valid whenever the benchmark runs: those of `checks/bases/healthy.yaml` expire and
//! have no keys. A simulated cluster must be healthy; otherwise the printing of findings is measured.

use std::collections::BTreeMap;

use anyhow::Context;
use base64::Engine;
use meshdoctor::item::Kind;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use serde_json::{Value, json};

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// Gives the control plane new certificates with their keys, and replaces the trust anchors everywhere.
/// Returns the anchors in PEM.
pub(crate) fn renew(few: &mut BTreeMap<Kind, Vec<Value>>) -> anyhow::Result<String> {
    let authority = |name: &str| -> anyhow::Result<CertificateParams> {
        let mut params = params(name, 300)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Ok(params)
    };
    let root = CertifiedIssuer::self_signed(authority("root.linkerd.cluster.local")?, KeyPair::generate()?)?;
    let key = KeyPair::generate()?;
    let issuer = authority("identity.linkerd.cluster.local")?.signed_by(&key, &root)?;
    let mut bundles: BTreeMap<String, String> = BTreeMap::new();
    for secret in few.get_mut(&Kind::Secret).context("the base has Secrets")? {
        let name = secret["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        if name == "linkerd-identity-issuer" {
            secret["data"] = json!({ "crt.pem": encoded(&issuer.pem()), "key.pem": encoded(&key.serialize_pem()) });
        } else if let Some(service) = name.strip_suffix("-k8s-tls") {
            let (own, host) = (KeyPair::generate()?, format!("{service}.linkerd.svc"));
            let certificate = params(&host, 300)?.self_signed(&own)?;
            secret["data"] =
                json!({ "tls.crt": encoded(&certificate.pem()), "tls.key": encoded(&own.serialize_pem()) });
            bundles.insert(service.to_owned(), encoded(&certificate.pem()));
        }
    }
    for kind in [Kind::MutatingWebhookConfiguration, Kind::ValidatingWebhookConfiguration] {
        let configurations = few.get_mut(&kind).into_iter().flatten();
        let webhooks = configurations.filter_map(|object| object["webhooks"].as_array_mut()).flatten();
        for client in webhooks.map(|webhook| &mut webhook["clientConfig"]) {
            let service = client["service"]["name"].as_str().unwrap_or_default();
            // Named after the Service, but for one that has the component's name alone.
            let bundle = bundles.iter().find(|(name, _)| service == *name || service.ends_with(&format!("-{name}")));
            client["caBundle"] = json!(bundle.with_context(|| format!("no certificate for {service}"))?.1);
        }
    }
    let anchors = root.pem();
    for object in few.values_mut().flatten() {
        exchange(object, &anchors);
    }
    Ok(anchors)
}

/// Puts the anchors in the place of every certificate in the texts of a tree, as far to the right as that began.
pub(crate) fn exchange(value: &mut Value, anchors: &str) {
    match value {
        Value::String(text) => {
            if let (Some(begin), Some(end)) = (text.find(BEGIN), text.rfind(END)) {
                let column = begin - text[..begin].rfind('\n').map_or(0, |line| line + 1);
                let indented = anchors.trim().replace('\n', &format!("\n{}", " ".repeat(column)));
                *text = format!("{}{indented}{}", &text[..begin], &text[end + END.len()..]);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| exchange(item, anchors)),
        Value::Object(fields) => fields.values_mut().for_each(|item| exchange(item, anchors)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Parameters of a certificate that is older than every pod and valid for `days` days from now.
fn params(name: &str, days: i64) -> anyhow::Result<CertificateParams> {
    let mut params = CertificateParams::new(vec![name.to_owned()])?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = rcgen::date_time_ymd(2025, 11, 1);
    let end = jiff::Timestamp::now().checked_add(jiff::SignedDuration::from_hours(24 * days))?;
    let end = end.to_zoned(jiff::tz::TimeZone::UTC).date();
    params.not_after = rcgen::date_time_ymd(end.year().into(), end.month().unsigned_abs(), end.day().unsigned_abs());
    Ok(params)
}

fn encoded(text: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(text)
}
