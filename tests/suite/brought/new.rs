//! The card that `meshdoctor new` writes: a check at once, right for its kind.

use meshdoctor::item::Kind;

use super::ran;

#[test]
fn a_new_card_is_a_check_at_once_and_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    ran(&["new", "no-owner", "--dir", &path], 0);
    ran(&["new", "no-owner", "--dir", &path], 2);
    ran(&["new", "No_Owner", "--dir", &path], 2);
    ran(&["new", "pod-missing-proxy", "--dir", &path], 2);
    ran(&["test", &path], 0);
}

/// For every kind, the generated card has a firing case, a quiet case and a case with missing evidence.
#[test]
fn a_new_card_is_right_for_its_kind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    let kinds = Kind::ALL.iter().filter(|kind| !matches!(kind, Kind::Secret | Kind::ConfigMap));
    for (at, kind) in kinds.enumerate() {
        ran(&["new", &format!("of-{at}"), "--for", &kind.resource(), "--dir", &path], 0);
        let card = std::fs::read_to_string(folder.path().join(format!("of-{at}.md"))).unwrap();
        let info = kind.info();
        assert!(card.contains(&format!("  for: {}\n", kind.resource())), "{card}");
        assert!(card.contains(&format!("kind: {}\nmetadata", info.kind)), "{card}");
        assert_eq!(card.contains("object.metadata.namespace"), info.namespaced, "{card}");
    }
    // A custom resource of others, in namespaces and in none.
    let foreign = ["new", "of-certificates", "--for", "certificates.v1.cert-manager.io", "--kind", "Certificate"];
    ran(&[&foreign[..], &["--dir", &path]].concat(), 0);
    let of_cluster = ["new", "of-issuers", "--for", "clusterissuers.v1.cert-manager.io", "--kind", "ClusterIssuer"];
    ran(&[&of_cluster[..], &["--cluster-scoped", "--dir", &path]].concat(), 0);
    ran(&["test", &path], 0);
    for (words, why) in [
        (&["--for", "poods"][..], "did you mean pods?"),
        (&["--for", "secrets"], "expressions cannot read secrets"),
        (&["--for", "certificates", "--kind", "Certificate"], "has no version"),
        (&["--for", "pumps.v1.example.com"], "--kind"),
        (&["--cluster-scoped"], "--kind"),
    ] {
        let error = ran(&[&["new", "never", "--dir", &path], words].concat(), 2).err;
        assert!(error.contains(why), "{words:?}: {error}");
    }
    assert!(!folder.path().join("never.md").exists());
}
