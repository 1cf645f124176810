//! Chains, keys and prints of certificates that the tests generate.

use super::*;
use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, DnType, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa,
    Issuer, KeyPair, NameConstraints,
};
use tokio_rustls::rustls;

const NAME: &str = "linkerd-proxy-injector.linkerd.svc";

fn parse(pem: &str) -> Vec<Certificate> {
    from_base64_pem(&STANDARD.encode(pem)).expect("certificates")
}

fn params(name: &str, ca: bool) -> CertificateParams {
    let mut params = CertificateParams::new(vec![NAME.to_owned()]).expect("a name");
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = if ca { IsCa::Ca(BasicConstraints::Unconstrained) } else { IsCa::NoCa };
    params
}

#[test]
fn a_self_signed_certificate_trusts_itself_and_no_namesake() {
    let one = parse(&params(NAME, true).self_signed(&KeyPair::generate().expect("a key")).expect("one").pem());
    let two = parse(&params(NAME, true).self_signed(&KeyPair::generate().expect("a key")).expect("two").pem());
    assert_eq!(trust(&one, &one), Trust::Yes);
    assert_eq!(trust(&one, &two), Trust::No);
    assert_eq!(trust(&one, &[two.clone(), one.clone()].concat()), Trust::Yes);
    assert_eq!(trust(&one, &[]), Trust::No);
    assert_eq!(trust(&[], &one), Trust::No);
    assert_ne!(one[0].summary(), two[0].summary());
    assert!(one[0].covers(NAME) && !one[0].covers("linkerd-proxy-injector.mesh.svc"));
}

#[test]
fn a_chain_is_followed_through_what_is_served() {
    for algorithm in [&rcgen::PKCS_ECDSA_P256_SHA256, &rcgen::PKCS_ECDSA_P384_SHA384, &rcgen::PKCS_ED25519] {
        let key = || KeyPair::generate_for(algorithm).expect("a key");
        let (root_key, middle_key) = (key(), key());
        let root = params("root", true).self_signed(&root_key).expect("a root");
        let root_issuer = Issuer::new(params("root", true), &root_key);
        let middle = params("middle", true).signed_by(&middle_key, &root_issuer).expect("a middle");
        let middle_issuer = Issuer::new(params("middle", true), &middle_key);
        let leaf = params("leaf", false).signed_by(&key(), &middle_issuer).expect("a leaf");
        let (root, middle, leaf) = (parse(&root.pem()), parse(&middle.pem()), parse(&leaf.pem()));
        assert_eq!(trust(&[leaf.clone(), middle.clone()].concat(), &root), Trust::Yes);
        assert_eq!(trust(&leaf, &middle), Trust::Yes);
        assert_eq!(trust(&leaf, &root), Trust::No, "the middle is not served");
        assert_eq!(trust(&middle, &leaf), Trust::No);
    }
}

#[test]
fn only_authorities_sign() {
    let key = KeyPair::generate().expect("a key");
    let root = parse(&params("root", false).self_signed(&key).expect("a root").pem());
    let issuer = Issuer::new(params("root", true), &key);
    let leaf = params("leaf", false).signed_by(&KeyPair::generate().expect("a key"), &issuer).expect("a leaf");
    assert_eq!(trust(&parse(&leaf.pem()), &root), Trust::No);
}

#[test]
fn what_is_no_certificate_says_so() {
    assert!(from_base64_pem("!").is_err());
    assert!(from_base64_pem("").is_ok_and(|none| none.is_empty()));
    let broken = STANDARD.encode("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    assert!(from_base64_pem(&broken).is_err_and(|e| e.starts_with("not a certificate")));
}

#[test]
fn a_root_made_again_with_another_kind_of_key_signed_nothing() {
    let (old, new) = (KeyPair::generate().expect("a key"), KeyPair::generate_for(&rcgen::PKCS_ED25519));
    let issuer = Issuer::new(params("root", true), &old);
    let leaf = params("leaf", false).signed_by(&KeyPair::generate().expect("a key"), &issuer).expect("a leaf");
    let root = params("root", true).self_signed(&new.expect("a key")).expect("a root");
    assert_eq!(trust(&parse(&leaf.pem()), &parse(&root.pem())), Trust::No);
}

#[test]
fn a_certificate_says_what_it_is() {
    let mut root = params("root", true);
    root.not_before = rcgen::date_time_ymd(2026, 1, 1);
    root.not_after = rcgen::date_time_ymd(2026, 2, 1);
    let root = &parse(&root.self_signed(&KeyPair::generate().expect("a key")).expect("a root").pem())[0];
    assert_eq!((root.key(), root.signed_with().as_str()), (Key::Ecdsa(256), "ECDSA-SHA256"));
    assert!(root.is_authority() && root.signs_certificates() && root.lets(Purpose::Server));
    assert_eq!(root.path_length(), None);
    let at = |text: &str| root.validity(text.parse().expect("a time"));
    assert_eq!(at("2025-12-31T23:59:59Z"), Validity::NotYet);
    assert_eq!(at("2026-01-01T00:00:00Z"), Validity::Current);
    assert_eq!(at("2026-02-01T00:00:00Z"), Validity::Current);
    assert_eq!(at("2026-02-01T00:00:01Z"), Validity::Over);
}

#[test]
fn the_prints_of_a_bundle_say_what_it_has_in_common_with_another() {
    let pem = |name| params(name, true).self_signed(&KeyPair::generate().expect("a key")).expect("a root").pem();
    let (one, two) = (pem("one"), pem("two"));
    let print = BundlePrint::from_pem(&format!("{one}{two}"));
    for text in [&one, &one, &two, &one, &String::new()] {
        assert_eq!(BundlePrint::sanitized(text, |pem| pem.into()), BundlePrint::from_pem(text).to_string());
    }
    assert_eq!(print.to_string().parse(), Ok(print.clone()));
    assert!(print.same_text(&BundlePrint::from_pem(&format!("\n{one}{two}\n\n"))));
    let turned = BundlePrint::from_pem(&format!("{two}{one}"));
    assert!(!print.same_text(&turned) && print.same_anchors(&turned) && print.overlaps(&turned));
    assert!(
        print.overlaps(&BundlePrint::from_pem(&one))
            && !BundlePrint::from_pem(&two).overlaps(&BundlePrint::from_pem(&one))
    );
    assert!(print.has(&parse(&one)[0]) && !BundlePrint::from_pem(&two).has(&parse(&one)[0]));
    assert_eq!(BundlePrint::from_pem("").to_string().parse(), Ok(BundlePrint::from_pem("")));
}

/// The chain of an issuer, its own certificate first, the anchor it chains to, and a certificate
/// that it signed.
struct Mesh {
    issuer: Vec<Certificate>,
    anchor: Vec<Certificate>,
    proxy: Certificate,
}

/// A root, an intermediate and an issuer, each changed by `bend`; 0 is the root.
fn mesh(bend: &dyn Fn(usize, &mut CertificateParams)) -> Mesh {
    let bent = |place, name: &str| {
        let mut params = params(name, true);
        bend(place, &mut params);
        params
    };
    let names = ["root", "middle", "issuer"];
    let keys = names.map(|_| KeyPair::generate().expect("a key"));
    let by = |place: usize| Issuer::new(bent(place, names[place]), &keys[place]);
    let root = bent(0, "root").self_signed(&keys[0]).expect("a root");
    let middle = bent(1, "middle").signed_by(&keys[1], &by(0)).expect("an intermediate");
    let issuer = bent(2, "issuer").signed_by(&keys[2], &by(1)).expect("an issuer");
    let mut proxy = params("proxy", false);
    proxy.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    let proxy = proxy.signed_by(&KeyPair::generate().expect("a key"), &by(2)).expect("a proxy's");
    Mesh {
        issuer: parse(&format!("{}{}", issuer.pem(), middle.pem())),
        anchor: parse(&root.pem()),
        proxy: parse(&proxy.pem())[0].clone(),
    }
}

/// The result of rustls, which proxies use, for the certificate that the issuer signed: as a server
/// and as a client.
fn rustls_takes(mesh: &Mesh) -> [bool; 2] {
    let der = |certificate: &Certificate| rustls::pki_types::CertificateDer::from(certificate.der.clone());
    let mut roots = rustls::RootCertStore::empty();
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    mesh.anchor.iter().for_each(|anchor| roots.add(der(anchor)).expect("an anchor"));
    let between: Vec<_> = mesh.issuer.iter().map(der).collect();
    let now = rustls::pki_types::UnixTime::now();
    let proxy = der(&mesh.proxy);
    let parsed = rustls::server::ParsedCertificate::try_from(&proxy).expect("a certificate");
    let algorithms = provider.signature_verification_algorithms.all;
    let server = rustls::client::verify_server_cert_signed_by_trust_anchor(&parsed, &roots, &between, now, algorithms);
    let client = rustls::server::WebPkiClientVerifier::builder_with_provider(roots.into(), provider)
        .build()
        .expect("a verifier")
        .verify_client_cert(&proxy, &between, now);
    [server.is_ok(), client.is_ok()]
}

fn length(allowed: u8) -> IsCa {
    IsCa::Ca(BasicConstraints::Constrained(allowed))
}

/// The chains that identity and proxies accept. Identity is Go, which treats the issuer as the end of the
/// chain; the test checks proxies with rustls.
#[test]
fn identity_and_proxies_take_different_chains() {
    use ExtendedKeyUsagePurpose::{Any, ClientAuth, ServerAuth};
    type Bend = Box<dyn Fn(usize, &mut CertificateParams)>;
    let bend = |at: usize, how: fn(&mut CertificateParams)| -> Bend {
        Box::new(move |place, params| {
            if place == at {
                how(params)
            }
        })
    };
    let demanding = |params: &mut CertificateParams| {
        let mut extension = CustomExtension::from_oid_content(&[1, 2, 3, 4, 5], vec![5, 0]);
        extension.set_criticality(true);
        params.custom_extensions = vec![extension];
    };
    let cases: Vec<(&str, Bend, Option<Obstacle>, [bool; 2])> = vec![
        ("nothing bent", bend(0, |_| {}), None, [true, true]),
        ("root demands the unknown", bend(0, demanding), Some(Obstacle::Extension), [true, true]),
        ("intermediate demands the unknown", bend(1, demanding), Some(Obstacle::Extension), [false, false]),
        ("issuer demands the unknown", bend(2, demanding), Some(Obstacle::Extension), [false, false]),
        // Go treats the intermediate as an authority below the root; rustls checks nothing on an
        // anchor.
        ("root allows none", bend(0, |p| p.is_ca = length(0)), Some(Obstacle::PathLength), [true, true]),
        ("root allows one", bend(0, |p| p.is_ca = length(1)), None, [true, true]),
        ("intermediate allows none", bend(1, |p| p.is_ca = length(0)), None, [false, false]),
        ("intermediate allows one", bend(1, |p| p.is_ca = length(1)), None, [true, true]),
        ("issuer allows none", bend(2, |p| p.is_ca = length(0)), None, [true, true]),
        (
            "root for clients",
            bend(0, |p| p.extended_key_usages = vec![ClientAuth]),
            Some(Obstacle::Purpose),
            [true, true],
        ),
        (
            "issuer for clients",
            bend(2, |p| p.extended_key_usages = vec![ClientAuth]),
            Some(Obstacle::Purpose),
            [false, true],
        ),
        ("issuer for servers", bend(2, |p| p.extended_key_usages = vec![ServerAuth]), None, [true, false]),
        ("issuer for all", bend(2, |p| p.extended_key_usages = vec![Any]), None, [false, false]),
        ("issuer for both", bend(2, |p| p.extended_key_usages = vec![ServerAuth, ClientAuth]), None, [true, true]),
        (
            "root for other names",
            bend(0, |p| p.name_constraints = Some(only("example.com"))),
            Some(Obstacle::Names),
            [false, false],
        ),
        ("root for these names", bend(0, |p| p.name_constraints = Some(only("linkerd.svc"))), None, [true, true]),
        ("issuer for other names", bend(2, |p| p.name_constraints = Some(only("example.com"))), None, [false, false]),
    ];
    for (what, bend, obstacle, rustls) in cases {
        let mesh = mesh(&*bend);
        let reached = reach(&mesh.issuer, &mesh.anchor, &|_| true);
        assert_eq!(reached.obstacle(), obstacle, "{what}");
        assert_eq!(reached.anchors.is_empty(), obstacle.is_some(), "{what}");
        assert_eq!(reached.paths.len(), 1, "{what}");
        assert_eq!(rustls_takes(&mesh), rustls, "{what}");
        for (purpose, taken) in [(Purpose::Server, rustls[0]), (Purpose::Client, rustls[1])] {
            assert_eq!(fits(&mesh, purpose), taken, "{what}");
        }
    }
}

/// Whether a chain fits a purpose, according to the certificates alone.
fn fits(mesh: &Mesh, purpose: Purpose) -> bool {
    let chain = || mesh.issuer.iter();
    chain().all(|certificate| certificate.lets_strictly(purpose) && !certificate.demands_the_unknown())
        && chain().enumerate().all(|(below, c)| c.path_length().is_none_or(|allowed| usize::from(allowed) >= below))
        && chain().chain(&mesh.anchor).all(|certificate| certificate.permits(NAME))
}

fn only(name: &str) -> NameConstraints {
    NameConstraints {
        permitted_subtrees: vec![GeneralSubtree::DnsName(name.to_owned())],
        excluded_subtrees: Vec::new(),
    }
}

#[test]
fn a_search_among_many_of_one_name_ends() {
    let root = params("root", true);
    let crowd: Vec<Certificate> = (0..40)
        .flat_map(|_| parse(&root.self_signed(&KeyPair::generate().expect("a key")).expect("a root").pem()))
        .collect();
    assert!(matches!(trust(&crowd, &crowd[39..]), Trust::Unknown(_) | Trust::No));
    assert_eq!(trust(&crowd, &crowd[..1]), Trust::Yes);
}
