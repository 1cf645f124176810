//! Certificates that the stand-in of the step CLI and of the charts make.

use std::path::Path;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};

use meshdoctor::certificates::Certificate;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use meshdoctor::item::Kind;
use serde_json::json;

use super::programs::Call;
use super::world::World;

/// A certificate authority with its key.
pub type Authority = CertifiedIssuer<'static, KeyPair>;

/// A certificate that is valid from a day on, `2026-01-15`, for some years.
fn params(name: &str, is_ca: bool, (day, years): (&str, i32)) -> CertificateParams {
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    let date: Vec<i32> = day.split('-').map(|number| number.parse().unwrap()).collect();
    let [year, month, day] = date[..] else { panic!("{date:?} is not a day") };
    let of = |year| rcgen::date_time_ymd(year, u8::try_from(month).unwrap(), u8::try_from(day).unwrap().min(28));
    (params.not_before, params.not_after) = (of(year), of(year + years));
    if is_ca {
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(1));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    } else {
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    }
    params
}

/// A root certificate with its key.
pub fn root(name: &str, day: &str) -> Authority {
    let mut params = params(name, true, (day, 10));
    params.use_authority_key_identifier_extension = false;
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A self-signed certificate of a webhook server, and its key, in PEM.
pub fn server(name: &str, day: &str) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    (params(name, false, (day, 1)).self_signed(&key).unwrap().pem(), key.serialize_pem())
}

/// An issuer under a root, and its key, in PEM.
pub fn issuer(name: &str, day: &str, root: &Authority) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let mut params = params(name, true, (day, 1));
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.use_authority_key_identifier_extension = true;
    (params.signed_by(&key, root).unwrap().pem(), key.serialize_pem())
}

/// A root with the name and validity of another one.
pub fn copy_of_root(root: &Certificate) -> Authority {
    let mut params = params(common_name(&root.subject()), true, ("2026-01-01", 1));
    take_validity(&mut params, root);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// An issuer with the name and validity of another one, under an authority. With `signs`, it is an intermediate that may
/// sign further authorities.
pub fn copy_of_issuer(issuer: &Certificate, above: &Authority, signs: bool) -> Authority {
    let mut params = params(common_name(&issuer.subject()), true, ("2026-01-01", 1));
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(u8::from(signs)));
    take_validity(&mut params, issuer);
    CertifiedIssuer::signed_by(params, KeyPair::generate().unwrap(), above).unwrap()
}

fn take_validity(params: &mut CertificateParams, of: &Certificate) {
    let at = |moment: jiff::Timestamp| {
        let seconds = u64::try_from(moment.as_second()).unwrap();
        rcgen::date_time_ymd(1970, 1, 1) + std::time::Duration::from_secs(seconds)
    };
    (params.not_before, params.not_after) = (at(of.not_before()), at(of.not_after()));
}

/// The common name of a subject.
pub fn common_name(subject: &str) -> &str {
    subject.split(',').find_map(|part| part.trim().strip_prefix("CN=")).unwrap_or(subject)
}

/// The certificates of a bundle, one by one.
pub fn split(bundle: &str) -> Vec<String> {
    let end = "-----END CERTIFICATE-----";
    let each = bundle.split_inclusive(end).filter(|part| part.contains(end));
    each.map(|part| format!("{}\n", part.trim())).collect()
}

/// `step certificate create NAME CRT KEY` and `step certificate fingerprint`.
pub fn step(world: &mut World, call: &Call) -> Result<String, String> {
    let plain = call.plain(&["--profile", "--not-after", "--ca", "--ca-key", "--kty", "--curve"]);
    let (folder, day) = (world.folder.clone(), world.day());
    match plain.as_slice() {
        ["certificate", "create", name, certificate, key] => {
            let (pem, secret) = match call.value(&["--profile"]) {
                Some("root-ca") => {
                    let root = root(name, &day);
                    let made = (root.pem(), root.key().serialize_pem());
                    world.keys.roots.insert(made.0.trim().to_owned(), Arc::new(root));
                    made
                }
                Some("intermediate-ca") => {
                    let authority = read(&folder, call.value(&["--ca"]).ok_or("no --ca")?)?;
                    read(&folder, call.value(&["--ca-key"]).ok_or("no --ca-key")?)?;
                    // The step CLI signs with the first certificate of the file, whose key it is given.
                    let first = split(&authority).into_iter().next().ok_or("no certificate in --ca")?;
                    let root = world.keys.roots.get(first.trim()).ok_or("the key belongs to another certificate")?;
                    issuer(name, &day, root)
                }
                other => return Err(format!("profile {other:?} is not played")),
            };
            for (file, text) in [(certificate, pem), (key, secret)] {
                std::fs::write(folder.join(file), text).map_err(|error| error.to_string())?;
            }
            Ok(String::new())
        }
        ["certificate", "fingerprint", file] | ["certificate", "inspect", file] => {
            match split(&read(&folder, file)?).len() {
                0 => Err(format!("{file} contains no certificate")),
                _ => Ok(String::new()),
            }
        }
        other => Err(format!("step {other:?} is not played")),
    }
}

/// A file of the operator's folder.
pub fn read(folder: &Path, file: &str) -> Result<String, String> {
    std::fs::read_to_string(folder.join(file)).map_err(|error| format!("{file}: {error}"))
}

/// `cmctl renew`: cert-manager issues the issuer again under the trust anchor.
pub fn renewed(world: &mut World, call: &Call) -> Result<String, String> {
    let name = call.plain(&["-n", "--namespace"]).last().map(|name| (*name).to_owned()).unwrap_or_default();
    let namespace = call.value(&["-n", "--namespace"]).unwrap_or("default");
    let mut secret = world.get(Kind::Secret, namespace, &name).cloned().ok_or("no such certificate")?;
    let bundle = world.get(Kind::ConfigMap, namespace, "linkerd-identity-trust-roots").cloned().unwrap_or_default();
    let bundle = split(bundle["data"]["ca-bundle.crt"].as_str().unwrap_or_default());
    let root = bundle.iter().find_map(|anchor| world.keys.roots.get(anchor.trim()));
    let root = root.ok_or("the issuer of cert-manager is unknown")?;
    let (certificate, key) = issuer("identity.linkerd.cluster.local", &world.day(), root);
    secret["data"]["tls.crt"] = json!(STANDARD.encode(&certificate));
    secret["data"]["tls.key"] = json!(STANDARD.encode(&key));
    world.put(Kind::Secret, secret);
    Ok(String::new())
}
