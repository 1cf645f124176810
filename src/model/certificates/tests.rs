//! Chains, keys and prints of certificates that are made for the test.

use super::*;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

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
    let one =
        parse(&params(NAME, true).self_signed(&KeyPair::generate().expect("a key")).expect("one").pem());
    let two =
        parse(&params(NAME, true).self_signed(&KeyPair::generate().expect("a key")).expect("two").pem());
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
    let leaf =
        params("leaf", false).signed_by(&KeyPair::generate().expect("a key"), &issuer).expect("a leaf");
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
    let leaf =
        params("leaf", false).signed_by(&KeyPair::generate().expect("a key"), &issuer).expect("a leaf");
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
    assert!(root.is_authority() && root.signs_certificates() && root.lets_serve());
    assert_eq!(root.path_length(), None);
    let at = |text: &str| root.validity(text.parse().expect("a time"));
    assert_eq!(at("2025-12-31T23:59:59Z"), Validity::NotYet);
    assert_eq!(at("2026-01-01T00:00:00Z"), Validity::Current);
    assert_eq!(at("2026-02-01T00:00:00Z"), Validity::Current);
    assert_eq!(at("2026-02-01T00:00:01Z"), Validity::Over);
}

#[test]
fn the_prints_of_a_bundle_say_what_it_has_in_common_with_another() {
    let pem =
        |name| params(name, true).self_signed(&KeyPair::generate().expect("a key")).expect("a root").pem();
    let (one, two) = (pem("one"), pem("two"));
    let print = BundlePrint::of(&format!("{one}{two}"));
    assert_eq!(print.to_string().parse(), Ok(print.clone()));
    assert!(print.same_text(&BundlePrint::of(&format!("\n{one}{two}\n\n"))));
    let turned = BundlePrint::of(&format!("{two}{one}"));
    assert!(!print.same_text(&turned) && print.same_anchors(&turned) && print.overlaps(&turned));
    assert!(
        print.overlaps(&BundlePrint::of(&one)) && !BundlePrint::of(&two).overlaps(&BundlePrint::of(&one))
    );
    assert!(print.has(&parse(&one)[0]) && !BundlePrint::of(&two).has(&parse(&one)[0]));
    assert_eq!(BundlePrint::of("").to_string().parse(), Ok(BundlePrint::of("")));
}
