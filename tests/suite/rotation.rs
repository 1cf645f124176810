//! A whole rotation of the trust anchor, played phase by phase on a small mesh: each phase with its next step, the steps that
//! must wait, and what happens if evidence is missing. Certificates are made here; restarts run the printed commands.

use base64::Engine as _;
use jiff::Timestamp;
use meshdoctor::certificates::from_bundle;
use meshdoctor::checks::Settings;
use meshdoctor::checks::rotation::{ConditionStatus, Phase, RotationSubject, Stage, Statements};
use meshdoctor::collect::collect_now;
use meshdoctor::fetched::Why;
use meshdoctor::inspect::rotation::{Decision, RotationAnswer, items};
use meshdoctor::item::{Item, Kind};
use meshdoctor::knowledge::Knowledge;
use meshdoctor::kubectl::actions;
use meshdoctor::markdown::{Block, BlockKind};
use meshdoctor::render::{Look, rotation as render};
use meshdoctor::request::Request;
use meshdoctor::scene::Scene;
use meshdoctor::source::Source as _;
use meshdoctor::source::change::{Change, Set};
use meshdoctor::source::memory::Memory;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::binary::{meshdoctor, ran};
use crate::executed::follow::{Objects, based_on};
use crate::recordings::folder;

type Authority = CertifiedIssuer<'static, KeyPair>;

/// A certificate of an authority; its validity starts on this day of January 2026.
fn params(name: &str, day: u8) -> CertificateParams {
    let mut params = CertificateParams::new(vec![format!("{name}.linkerd.cluster.local")]).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, format!("{name}.linkerd.cluster.local"));
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.not_before = rcgen::date_time_ymd(2026, 1, day);
    params.not_after = rcgen::date_time_ymd(2036, 1, day);
    params
}

fn root(day: u8) -> Authority {
    CertifiedIssuer::self_signed(params("root", day), KeyPair::generate().unwrap()).unwrap()
}

fn issuer(day: u8, root: &Authority) -> String {
    let mut params = params("identity", day);
    params.not_after = rcgen::date_time_ymd(2027, 1, day);
    params.signed_by(&KeyPair::generate().unwrap(), root).unwrap().pem()
}

/// The mesh, as it changes.
struct Play {
    memory: Memory,
    options: meshdoctor::collect::Options,
    statements: Statements,
}

impl Play {
    /// A healthy mesh under one anchor and issuer.
    fn begin(bases: &str, root: &Authority, issuer: &str) -> Play {
        let Scene { memory, options, .. } = based_on(bases);
        let mut play = Play { memory, options, statements: Statements::default() };
        play.put_bundle(&[root]);
        play.put_issuer(issuer);
        play.restart_control_plane("2026-01-12T08:00:00Z");
        play.at("2026-01-13T09:00:00Z");
        play.restart_workloads();
        play
    }

    /// Proxies outside the control plane with the current bundle.
    fn restart_workloads(&mut self) {
        for namespace in ["shop", "linkerd-multicluster"] {
            self.edit_pods(namespace, |pod, bundle| {
                let containers = pod["spec"]["containers"].as_array_mut().unwrap();
                for container in containers.iter_mut().filter(|one| one["name"] == "linkerd-proxy") {
                    container["env"] = json!([{"name": "LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS", "value": bundle}]);
                }
            });
        }
    }

    fn at(&mut self, at: &str) {
        self.memory.captured_at = Some(at.parse().unwrap());
    }

    fn all(&self, kind: Kind) -> Vec<Value> {
        let held = self.memory.objects.get(&kind).into_iter().flatten();
        held.map(|held| serde_json::from_slice(&held.json).unwrap()).collect()
    }

    fn object(&self, kind: Kind, name: &str) -> Value {
        self.all(kind).into_iter().find(|object| object["metadata"]["name"] == name).unwrap()
    }

    fn bundle(&self) -> String {
        let roots = self.object(Kind::ConfigMap, "linkerd-identity-trust-roots");
        roots["data"]["ca-bundle.crt"].as_str().unwrap().to_owned()
    }

    fn edit_pods(&mut self, namespace: &str, edit: impl Fn(&mut Value, &str)) {
        let bundle = self.bundle();
        for mut pod in self.all(Kind::Pod) {
            if pod["metadata"]["namespace"] == namespace {
                edit(&mut pod, &bundle);
                self.memory.add(&pod).unwrap();
            }
        }
    }

    /// What `linkerd upgrade --identity-trust-anchors-file` changes, without its restart.
    fn put_bundle(&mut self, anchors: &[&Authority]) {
        let bundle: Vec<String> = anchors.iter().map(|anchor| anchor.pem().trim().to_owned()).collect();
        let bundle = bundle.join("\n");
        let mut roots = self.object(Kind::ConfigMap, "linkerd-identity-trust-roots");
        roots["data"]["ca-bundle.crt"] = bundle.clone().into();
        self.memory.add(&roots).unwrap();
        let mut config = self.object(Kind::ConfigMap, "linkerd-config");
        let mut values: serde_yaml::Value = serde_yaml::from_str(config["data"]["values"].as_str().unwrap()).unwrap();
        values["identityTrustAnchorsPEM"] = bundle.into();
        config["data"]["values"] = serde_yaml::to_string(&values).unwrap().into();
        self.memory.add(&config).unwrap();
    }

    /// What `linkerd upgrade --identity-issuer-certificate-file` changes.
    fn put_issuer(&mut self, pem: &str) {
        let mut secret = self.object(Kind::Secret, "linkerd-identity-issuer");
        secret["data"]["crt.pem"] = base64::engine::general_purpose::STANDARD.encode(pem).into();
        self.memory.add(&secret).unwrap();
    }

    /// The event of identity for a loaded issuer.
    fn loaded(&mut self, at: &str) {
        let event = json!({
            "apiVersion": "v1", "kind": "Event", "metadata": {"namespace": "linkerd", "name": "identity.1"},
            "involvedObject": {"kind": "Deployment", "namespace": "linkerd", "name": "linkerd-identity"},
            "reason": "IssuerUpdated", "type": "Normal", "message": "Updated identity issuer", "count": 1,
            "firstTimestamp": at, "lastTimestamp": at,
        });
        self.memory.add(&event).unwrap();
    }

    /// New pods of the control plane, with the hash that the chart writes.
    fn restart_control_plane(&mut self, at: &str) {
        self.edit_pods("linkerd", |pod, bundle| {
            let hash: String = Sha256::digest(bundle).iter().map(|byte| format!("{byte:02x}")).collect();
            pod["metadata"]["annotations"]["linkerd.io/trust-root-sha256"] = hash.into();
            pod["metadata"]["creationTimestamp"] = at.into();
            for status in pod["status"]["containerStatuses"].as_array_mut().unwrap() {
                status["state"]["running"]["startedAt"] = at.into();
            }
        });
    }

    fn answer(&self) -> RotationAnswer {
        let collected = collect_now(&self.memory, &items(), &self.options, None);
        RotationAnswer::read(&collected.cluster, Knowledge::embedded(), &Settings::default(), &self.statements)
    }

    /// Runs the printed commands of the next step for workloads outside the control plane, at a time.
    fn run_next(&mut self, at: &str, expected: Stage) {
        let answer = self.answer();
        let next = answer.rotation.next().unwrap();
        assert_eq!((next.stage, answer.decision(None)), (expected, Decision::Go), "{}", shown(&answer));
        let commands = next.remedy.steps.iter().filter_map(|step| step.command.as_ref());
        let restarts: Vec<String> = commands
            .flat_map(|command| command.rendered())
            .filter(|line| line.contains("rollout restart") && !line.contains("-n linkerd "))
            .collect();
        assert!(!restarts.is_empty(), "{}", shown(&answer));
        let at: Timestamp = at.parse().unwrap();
        let knowledge = Knowledge::embedded();
        let mut set = Set::default();
        for action in restarts.iter().flat_map(|line| actions(line).unwrap()) {
            let change = Change::new(&self.memory, &set, knowledge, at);
            set = futures::executor::block_on(change.with_action(&action)).unwrap();
        }
        let change = Change::new(&self.memory, &set, knowledge, at);
        let mut pods = Objects::default();
        futures::executor::block_on(change.fetch(&Request::new(Item::List(Kind::Pod)), &mut pods));
        for mut pod in pods.0 {
            // The overlay predicts no starts of containers.
            if pod["metadata"]["creationTimestamp"] == at.to_string() {
                for list in ["containerStatuses", "initContainerStatuses"] {
                    for status in pod["status"][list].as_array_mut().into_iter().flatten() {
                        if status["state"]["running"].is_object() {
                            status["state"]["running"]["startedAt"] = at.to_string().into();
                        }
                    }
                }
            }
            self.memory.add(&pod).unwrap();
        }
    }

    /// Checks the phase, the next step and the decisions about the two dangerous steps.
    fn expect(&self, phase: Phase, next: Option<Stage>, replace: Decision, remove: Decision) -> RotationAnswer {
        let answer = self.answer();
        let text = shown(&answer);
        assert_eq!(answer.rotation.phase, phase, "{text}");
        assert_eq!(answer.rotation.next().map(|next| next.stage), next, "{text}");
        assert_eq!(answer.decision(Some(Stage::ReplaceIssuer)), replace, "{text}");
        assert_eq!(answer.decision(Some(Stage::RemoveAnchor)), remove, "{text}");
        let document = render::json(&answer, None);
        crate::schemas::assert_valid(&document);
        answer
    }
}

fn shown(answer: &RotationAnswer) -> String {
    let now = "2026-01-20T00:00:00Z".parse().unwrap();
    render::text(answer, None, now, Look { verbose: true, ..Look::plain(100) })
}

use Decision::{Done, Go, NoGo, Unknown};

/// From the healthy mesh to the new anchor alone, with each intermediate state.
#[test]
fn whole_rotation_is_guided_phase_by_phase() {
    let (old, new) = (root(1), root(14));
    let (first, second) = (issuer(1, &old), issuer(14, &new));
    let mut play = Play::begin("healthy", &old, &first);
    play.at("2026-01-14T12:00:00Z");
    let answer = play.expect(Phase::None, Some(Stage::AddAnchor), NoGo, NoGo);
    // Nothing is left of an earlier rotation.
    assert_eq!(answer.decision(Some(Stage::DropOldAnchor)), Done);
    let now = "2026-01-14T12:00:00Z".parse().unwrap();
    let text = render::text(&answer, Some(Stage::DropOldAnchor), now, Look::plain(100));
    assert!(text.contains("Already done: Restart what still trusts the old anchor"), "{text}");
    // The conditions of another step than the next one are shown.
    let text = render::text(&answer, Some(Stage::ReplaceIssuer), now, Look::plain(100));
    assert!(text.contains("asked   Replace the issuer: not yet\n        met      "), "{text}");
    // The command that installs the CLI comes before the steps that need it.
    let text = shown(&answer);
    let (install, first) = (text.find("run.linkerd.io"), text.find("grep -Fx"));
    assert!(install.is_some() && install < first, "{text}");

    play.put_bundle(&[&old, &new]);
    let answer = play.expect(Phase::AnchorAdded, Some(Stage::RestartControlPlane), NoGo, NoGo);
    assert_eq!(answer.decision(Some(Stage::AddAnchor)), Done);
    assert_eq!(answer.decision(Some(Stage::DropOldAnchor)), NoGo);

    play.restart_control_plane("2026-01-14T12:05:00Z");
    play.at("2026-01-14T12:10:00Z");
    let answer = play.expect(Phase::AnchorAdded, Some(Stage::RestartWorkloads), NoGo, NoGo);
    assert!(answer.rotation.not_yet.iter().any(|(stage, _)| *stage == Stage::ReplaceIssuer));

    play.run_next("2026-01-14T12:15:00Z", Stage::RestartWorkloads);
    play.at("2026-01-15T09:00:00Z");
    play.expect(Phase::AnchorTrusted, Some(Stage::ReplaceIssuer), Go, NoGo);

    // The issuer was made a day before it is put in place: pods that started between have certificates of the old one.
    play.put_issuer(&second);
    play.loaded("2026-01-15T10:00:00Z");
    play.at("2026-01-15T10:10:00Z");
    let answer = play.expect(Phase::IssuerReplaced, Some(Stage::RenewCertificates), Done, NoGo);
    assert!(answer.rotation.workloads.iter().all(|workload| workload.renewed == ConditionStatus::No));

    // Without a restart, the last old certificate expires a day after identity loaded the new issuer.
    play.at("2026-01-16T10:02:00Z");
    play.expect(Phase::IssuerReplaced, Some(Stage::RenewCertificates), Done, NoGo);
    play.at("2026-01-16T10:03:00Z");
    play.expect(Phase::AnchorUnneeded, Some(Stage::RemoveAnchor), Done, Go);

    // With a restart, sooner.
    play.at("2026-01-15T10:10:00Z");
    play.run_next("2026-01-15T10:12:00Z", Stage::RenewCertificates);
    play.at("2026-01-15T10:20:00Z");
    let answer = play.expect(Phase::IssuerReplaced, Some(Stage::RenewCertificates), Done, NoGo);
    let open = answer.rotation.workloads.iter().filter(|workload| workload.renewed != ConditionStatus::Yes);
    assert!(open.clone().all(|workload| workload.subject.contains("linkerd/")), "{}", shown(&answer));
    play.restart_control_plane("2026-01-15T10:21:00Z");
    play.expect(Phase::AnchorUnneeded, Some(Stage::RemoveAnchor), Done, Go);

    play.put_bundle(&[&new]);
    play.at("2026-01-15T10:30:00Z");
    play.expect(Phase::AnchorRemoved, Some(Stage::DropOldAnchor), Done, Done);
    play.restart_control_plane("2026-01-15T10:31:00Z");
    play.run_next("2026-01-15T10:32:00Z", Stage::DropOldAnchor);
    play.expect(Phase::None, Some(Stage::AddAnchor), NoGo, NoGo);
}

/// Certificates of cert-manager and a Bundle of trust-manager, as in Linkerd's guide.
fn managed(play: &mut Play, anchor: &Authority, sources: &Value) {
    let day = |at: Timestamp| at.to_string();
    let held = from_bundle(&anchor.pem()).unwrap().remove(0);
    let owner = json!([{"apiVersion": "trust.cert-manager.io/v1alpha1", "kind": "Bundle",
        "name": "linkerd-identity-trust-roots", "controller": true, "uid": "u"}]);
    let mut roots = play.object(Kind::ConfigMap, "linkerd-identity-trust-roots");
    roots["metadata"]["ownerReferences"] = owner;
    let mut config = play.object(Kind::ConfigMap, "linkerd-config");
    let values = config["data"]["values"].as_str().unwrap();
    let mut values: serde_yaml::Value = serde_yaml::from_str(values).unwrap();
    values["identity"] = serde_yaml::from_str("{externalCA: true, issuer: {scheme: kubernetes.io/tls}}").unwrap();
    values["identityTrustAnchorsPEM"] = "".into();
    config["data"]["values"] = serde_yaml::to_string(&values).unwrap().into();
    let mut secret = play.object(Kind::Secret, "linkerd-identity-issuer");
    secret["type"] = "kubernetes.io/tls".into();
    secret["metadata"]["annotations"]["cert-manager.io/certificate-name"] = "linkerd-identity-issuer".into();
    if let Some(pem) = secret["data"]["crt.pem"].as_str().map(str::to_owned) {
        let ca = base64::engine::general_purpose::STANDARD.encode(anchor.pem());
        secret["data"] = json!({"tls.crt": pem, "tls.key": "", "ca.crt": ca});
    }
    let crd = |plural: &str, kind: &str, group: &str, scope: &str, version: &str| {
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.{group}")},
            "spec": {"group": group, "names": {"kind": kind, "plural": plural}, "scope": scope,
                "versions": [{"name": version, "served": true, "storage": true}]}})
    };
    for object in [
        roots,
        config,
        secret,
        crd("certificates", "Certificate", "cert-manager.io", "Namespaced", "v1"),
        crd("bundles", "Bundle", "trust.cert-manager.io", "Cluster", "v1alpha1"),
        json!({"apiVersion": "cert-manager.io/v1", "kind": "Certificate",
            "metadata": {"namespace": "cert-manager", "name": "linkerd-trust-anchor"},
            "spec": {"isCA": true, "commonName": "root.linkerd.cluster.local", "secretName": "linkerd-trust-anchor",
                "privateKey": {"algorithm": "ECDSA", "rotationPolicy": "Never"}},
            "status": {"notBefore": day(held.not_before()), "notAfter": day(held.not_after())}}),
        json!({"apiVersion": "cert-manager.io/v1", "kind": "Certificate",
            "metadata": {"namespace": "linkerd", "name": "linkerd-identity-issuer"},
            "spec": {"isCA": true, "commonName": "identity.linkerd.cluster.local",
                "secretName": "linkerd-identity-issuer", "privateKey": {"algorithm": "ECDSA", "rotationPolicy": "Always"}},
            "status": {"renewalTime": "2026-01-16T10:00:00Z"}}),
        json!({"apiVersion": "trust.cert-manager.io/v1alpha1", "kind": "Bundle",
            "metadata": {"name": "linkerd-identity-trust-roots"},
            "spec": {"sources": sources, "target": {"configMap": {"key": "ca-bundle.crt"}}}}),
    ] {
        play.memory.add(&object).unwrap();
    }
}

/// The commands of a step, in order.
fn commands(answer: &RotationAnswer, stage: Stage) -> Vec<String> {
    let planned = answer.rotation.plan.iter().find(|planned| planned.stage == stage).unwrap();
    let commands = planned.remedy.steps.iter().filter_map(|step| step.command.as_ref());
    commands.flat_map(meshdoctor::command::Command::rendered).collect()
}

#[test]
fn anchor_of_cert_manager_is_kept_as_a_source_and_renewed() {
    let (old, new) = (root(1), root(14));
    let (first, second) = (issuer(1, &old), issuer(14, &new));
    let own = json!({"secret": {"name": "linkerd-trust-anchor", "key": "tls.crt"}});
    let previous = json!({"secret": {"name": "linkerd-previous-anchor", "key": "tls.crt"}});
    let get = "kubectl -n cert-manager get secret linkerd-trust-anchor -o 'jsonpath={.data.tls\\.crt}'";
    let copy = format!(
        "kubectl -n cert-manager patch secret linkerd-previous-anchor --type merge -p '{{\"data\":{{\"tls.crt\":\"'\"$({get})\"'\"}}}}'"
    );
    let renew = ["cmctl renew -n cert-manager linkerd-trust-anchor", "cmctl renew -n linkerd linkerd-identity-issuer"];

    let mut play = Play::begin("healthy", &old, &first);
    managed(&mut play, &old, &json!([own]));
    play.at("2026-01-14T12:00:00Z");
    let answer = play.expect(Phase::None, Some(Stage::AddAnchor), NoGo, NoGo);
    let add = commands(&answer, Stage::AddAnchor);
    let expected = [
        renew[1].to_owned(),
        format!("{get} | base64 -d > ca-previous.crt"),
        "kubectl -n cert-manager create secret generic linkerd-previous-anchor --from-file tls.crt=ca-previous.crt \
         --dry-run=client -o yaml | kubectl apply -f -"
            .to_owned(),
        "kubectl patch bundles.trust.cert-manager.io linkerd-identity-trust-roots --type json -p \
         '[{\"op\":\"add\",\"path\":\"/spec/sources/-\",\"value\":{\"secret\":{\"name\":\"linkerd-previous-anchor\",\
         \"key\":\"tls.crt\"}}}]'"
            .to_owned(),
        "kubectl -n cert-manager patch certificates.cert-manager.io linkerd-trust-anchor --type merge -p \
         '{\"spec\":{\"privateKey\":{\"rotationPolicy\":\"Always\"}}}'"
            .to_owned(),
        renew[0].to_owned(),
    ];
    assert_eq!(add[..6], expected, "{}", shown(&answer));
    assert!(shown(&answer).contains("2026-01-16T10:00:00Z"), "{}", shown(&answer));
    // The anchor itself is in the Secret from which cert-manager signs.
    assert_eq!(commands(&answer, Stage::ReplaceIssuer)[0], renew[1]);
    assert!(!shown(&answer).contains("CA_SECRET"), "{}", shown(&answer));
    assert_eq!(commands(&answer, Stage::RemoveAnchor), std::slice::from_ref(&copy));

    // With a source for the previous anchor, that is overwritten.
    managed(&mut play, &old, &json!([own, previous]));
    assert_eq!(commands(&play.answer(), Stage::AddAnchor)[1], copy);

    // After the renewal.
    play.put_bundle(&[&old, &new]);
    managed(&mut play, &new, &json!([own, previous]));
    let answer = play.expect(Phase::AnchorAdded, Some(Stage::RestartControlPlane), NoGo, NoGo);
    assert_eq!(commands(&answer, Stage::RemoveAnchor), std::slice::from_ref(&copy));
    let mut secret = play.object(Kind::Secret, "linkerd-identity-issuer");
    secret["data"]["tls.crt"] = base64::engine::general_purpose::STANDARD.encode(&second).into();
    play.memory.add(&secret).unwrap();
    assert_eq!(commands(&play.answer(), Stage::RemoveAnchor), [copy]);

    // An anchor in another Secret is added to the Bundle itself, and the Secret of the authority is looked up.
    let mut play = Play::begin("healthy", &old, &first);
    managed(&mut play, &old, &json!([{"configMap": {"name": "anchors", "key": "ca.crt"}}]));
    play.at("2026-01-14T12:00:00Z");
    let answer = play.expect(Phase::None, Some(Stage::AddAnchor), NoGo, NoGo);
    let add = commands(&answer, Stage::AddAnchor);
    assert!(add.last().unwrap().contains("{inLine: .}"), "{add:?}");
    let replace = commands(&answer, Stage::ReplaceIssuer);
    assert!(replace.iter().any(|line| line.contains("create secret tls \"${CA_SECRET:?}\"")), "{replace:?}");
    assert_eq!(replace[3], renew[1]);
}

/// Every phase without a list or an object that it needs: never a go.
#[test]
fn missing_evidence_is_never_a_go() {
    let (old, new) = (root(1), root(14));
    let (first, second) = (issuer(1, &old), issuer(14, &new));
    let mut healthy = Play::begin("healthy", &old, &first);
    healthy.at("2026-01-14T12:00:00Z");
    let mut trusted = Play::begin("healthy", &old, &first);
    trusted.put_bundle(&[&old, &new]);
    trusted.restart_control_plane("2026-01-14T12:05:00Z");
    trusted.at("2026-01-14T12:10:00Z");
    trusted.run_next("2026-01-14T12:15:00Z", Stage::RestartWorkloads);
    let mut unneeded = Play::begin("healthy", &new, &second);
    unneeded.put_bundle(&[&old, &new]);
    unneeded.restart_workloads();
    unneeded.loaded("2026-01-14T10:00:00Z");
    unneeded.restart_control_plane("2026-01-14T11:00:00Z");
    unneeded.at("2026-01-16T12:00:00Z");
    unneeded.expect(Phase::AnchorUnneeded, Some(Stage::RemoveAnchor), Done, Go);
    let named =
        |kind, name: &str| Item::Named { kind, scope: meshdoctor::item::Scope::ControlPlane, name: name.to_owned() };
    for (play, stage) in
        [(&mut healthy, Stage::AddAnchor), (&mut trusted, Stage::ReplaceIssuer), (&mut unneeded, Stage::RemoveAnchor)]
    {
        assert_eq!(play.answer().decision(None), Go, "{}", shown(&play.answer()));
        assert_eq!(play.answer().rotation.next().unwrap().stage, stage);
        for item in [
            Item::List(Kind::Pod),
            Item::List(Kind::Deployment),
            Item::List(Kind::MutatingWebhookConfiguration),
            named(Kind::ConfigMap, "linkerd-identity-trust-roots"),
            named(Kind::ConfigMap, "linkerd-config"),
            named(Kind::Secret, "linkerd-identity-issuer"),
        ] {
            let message = "not for you".to_owned();
            play.memory.trouble.insert(item.clone(), Why::Denied { message });
            for asked in [None, Some(stage)] {
                let decision = play.answer().decision(asked);
                let text = shown(&play.answer());
                assert!(!matches!(decision, Go | Done), "{stage:?} without {item}: {decision:?}\n{text}");
            }
            play.memory.trouble.clear();
        }
    }
}

/// The time at which the issuer was put in place decides which certificates are old. Without it, no anchor is removed.
#[test]
fn unknown_time_of_the_issuer_keeps_the_old_anchor() {
    let (old, new) = (root(1), root(14));
    let mut play = Play::begin("healthy", &new, &issuer(14, &new));
    play.put_bundle(&[&old, &new]);
    play.restart_workloads();
    play.restart_control_plane("2026-01-15T08:00:00Z");
    play.at("2026-02-20T12:00:00Z");
    let answer = play.expect(Phase::IssuerReplaced, Some(Stage::RenewCertificates), Done, Unknown);
    assert!(shown(&answer).contains("--issuer-since"), "{}", shown(&answer));
    play.statements.issuer_since = Some("2026-01-14T11:00:00Z".parse().unwrap());
    play.expect(Phase::AnchorUnneeded, Some(Stage::RemoveAnchor), Done, Go);
    // A time before the issuer existed proves nothing.
    play.statements.issuer_since = Some("2026-01-02T00:00:00Z".parse().unwrap());
    play.expect(Phase::IssuerReplaced, Some(Stage::RenewCertificates), Done, Unknown);
}

/// A company's root is older than the anchor in use, but was added after the proxies started.
#[test]
fn anchors_that_proxies_lack_are_new_however_old_they_are() {
    let (company, own) = (root(1), root(14));
    let mut play = Play::begin("healthy", &own, &issuer(14, &own));
    play.put_bundle(&[&own, &company]);
    play.at("2026-01-14T12:10:00Z");
    play.expect(Phase::AnchorAdded, Some(Stage::RestartControlPlane), NoGo, NoGo);
    play.restart_control_plane("2026-01-14T12:15:00Z");
    play.at("2026-01-14T12:20:00Z");
    play.run_next("2026-01-14T12:25:00Z", Stage::RestartWorkloads);
}

/// A proxy whose anchors are redacted is not known to trust the new one.
#[test]
fn hidden_anchors_of_a_proxy_are_unknown() {
    let (old, new) = (root(1), root(14));
    let mut play = Play::begin("healthy", &old, &issuer(1, &old));
    play.put_bundle(&[&old, &new]);
    play.restart_control_plane("2026-01-14T12:05:00Z");
    play.at("2026-01-14T12:10:00Z");
    play.run_next("2026-01-14T12:15:00Z", Stage::RestartWorkloads);
    play.expect(Phase::AnchorTrusted, Some(Stage::ReplaceIssuer), Go, NoGo);
    let mut pods = play.all(Kind::Pod).into_iter();
    let mut pod = pods.find(|pod| pod["metadata"]["namespace"] == "shop").unwrap();
    let containers = pod["spec"]["containers"].as_array().into_iter().chain(pod["spec"]["initContainers"].as_array());
    assert!(containers.flatten().any(|container| container["name"] == "linkerd-proxy"));
    for list in ["containers", "initContainers"] {
        for container in pod["spec"][list].as_array_mut().into_iter().flatten() {
            for variable in container["env"].as_array_mut().into_iter().flatten() {
                if variable["name"] == "LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS" {
                    variable["value"] = "***".into();
                }
            }
        }
    }
    play.memory.add(&pod).unwrap();
    play.expect(Phase::AnchorAdded, Some(Stage::RestartWorkloads), Unknown, NoGo);
}

/// An issuer that is replaced too early breaks connections: the repair comes first.
#[test]
fn issuer_replaced_too_early_is_repaired_first() {
    let (old, new) = (root(1), root(14));
    let mut play = Play::begin("healthy", &old, &issuer(1, &old));
    play.at("2026-01-14T12:00:00Z");
    play.put_bundle(&[&old, &new]);
    play.restart_control_plane("2026-01-14T12:05:00Z");
    play.put_issuer(&issuer(14, &new));
    let answer = play.expect(Phase::Broken, None, Done, NoGo);
    assert_eq!(answer.broken[0].check, "data-plane-anchors-disjoint");
    assert_eq!(answer.decision(None), NoGo);
}

/// With the trust anchors in another tool, no hash shows what the control plane has read; a proxy that was created earlier with
/// the same bundle does.
#[test]
fn control_plane_without_hash_needs_other_evidence() {
    let (old, new) = (root(1), root(14));
    let mut play = Play::begin("healthy", &old, &issuer(1, &old));
    play.put_bundle(&[&old, &new]);
    play.restart_control_plane("2026-01-14T12:05:00Z");
    play.edit_pods("linkerd", |pod, _| {
        pod["metadata"]["annotations"]["linkerd.io/trust-root-sha256"] = "00".into();
    });
    play.at("2026-01-14T12:10:00Z");
    play.expect(Phase::AnchorAdded, Some(Stage::RestartControlPlane), NoGo, NoGo);
    play.statements.bundle_since = Some("2026-01-14T12:01:00Z".parse().unwrap());
    play.expect(Phase::AnchorAdded, Some(Stage::RestartWorkloads), NoGo, NoGo);
    play.run_next("2026-01-14T12:15:00Z", Stage::RestartWorkloads);
    play.expect(Phase::AnchorTrusted, Some(Stage::ReplaceIssuer), Go, NoGo);
    play.statements.bundle_since = None;
    play.expect(Phase::AnchorAdded, Some(Stage::RestartControlPlane), Unknown, NoGo);
    play.edit_pods("linkerd", |pod, _| {
        for status in pod["status"]["containerStatuses"].as_array_mut().unwrap() {
            status["state"]["running"]["startedAt"] = "2026-01-14T12:20:00Z".into();
        }
    });
    play.at("2026-01-14T12:30:00Z");
    play.expect(Phase::AnchorTrusted, Some(Stage::ReplaceIssuer), Go, NoGo);
}

/// An issuer under another anchor is rejected in linked clusters without it.
#[test]
fn linked_clusters_must_trust_the_new_anchor() {
    let (old, new) = (root(1), root(14));
    let print = |root: &Authority| from_bundle(&root.pem()).unwrap()[0].print();
    let mut play = Play::begin("healthy,multicluster", &old, &issuer(1, &old));
    // Their Deployments are not part of the base.
    let pods = play.memory.objects.get_mut(&Kind::Pod).unwrap();
    pods.retain(|pod| pod.namespace != "linkerd-multicluster");
    play.put_bundle(&[&old, &new]);
    play.restart_control_plane("2026-01-14T12:05:00Z");
    play.at("2026-01-14T12:10:00Z");
    play.run_next("2026-01-14T12:15:00Z", Stage::RestartWorkloads);
    play.expect(Phase::AnchorTrusted, Some(Stage::ReplaceIssuer), Unknown, NoGo);
    play.probed(&[print(&old)]);
    play.expect(Phase::AnchorTrusted, Some(Stage::ReplaceIssuer), NoGo, NoGo);
    play.probed(&[print(&old), print(&new)]);
    play.expect(Phase::AnchorTrusted, Some(Stage::ReplaceIssuer), Go, NoGo);
    play.probed(&[]);
    play.statements.linked_clusters = true;
    play.expect(Phase::AnchorTrusted, Some(Stage::ReplaceIssuer), Go, NoGo);
}

impl Play {
    /// The answer of the linked cluster.
    fn probed(&mut self, anchors: &[String]) {
        let text = json!({"probe": [{"program": "linked-cluster", "pod": "linkerd-multicluster/east", "status": 200, "anchors": anchors}]});
        let block = Block { line: 1, content: BlockKind::Run, text: text.to_string() };
        self.memory.probes = Scene::parse(&[block], &|_| None).unwrap().memory.probes;
    }
}

#[test]
fn issuer_alone_is_replaced_under_a_trusted_anchor() {
    let old = root(1);
    let mut play = Play::begin("healthy", &old, &issuer(1, &old));
    play.at("2026-01-14T12:00:00Z");
    play.statements.of = Some(RotationSubject::Issuer);
    let answer = play.answer();
    assert_eq!((answer.rotation.plan.len(), answer.decision(None)), (1, Go), "{}", shown(&answer));
    // Shortly before its expiry, without being asked.
    play.statements.of = None;
    play.at("2026-12-14T12:00:00Z");
    let answer = play.answer();
    assert_eq!(answer.rotation.of, RotationSubject::Issuer, "{}", shown(&answer));
    assert!(answer.rotation.is_due);
}

/// A recording, its phase, the exit status, and words of the text.
const RECORDED: &[(&str, &str, i32, &str)] = &[
    ("healthy-2.15", "none", 0, "No rotation is in progress"),
    ("healthy-2.18", "none", 0, "No rotation is in progress"),
    ("healthy-2.18-ha", "none", 0, "No rotation is in progress"),
    ("healthy-2.20", "none", 0, "No rotation is in progress"),
    ("anchor-bundle-one-expired", "broken", 1, "data-plane-anchors-disjoint"),
    ("data-plane-stale-anchor", "broken", 1, "data-plane-anchors-disjoint"),
    ("issuer-expired", "broken", 1, "issuer-expired"),
    ("anchor-expired", "broken", 1, "trust-anchor-expired"),
    ("anchor-expiring", "broken", 1, "The trust anchor of the mesh expires"),
    ("issuer-secret-missing", "broken", 1, "issuer-secret-invalid"),
    ("trust-roots-missing", "broken", 1, "trust-roots-missing"),
    ("injector-webhook-missing", "broken", 1, "injector-webhook-missing"),
];

#[test]
fn recorded_clusters_have_the_expected_phase() {
    let Some(folder) = folder() else { return };
    for (name, phase, status, words) in RECORDED {
        let path = folder.join(name).display().to_string();
        let run = |more: &[&str]| {
            let words = ["rotate", "--bundle", &path, "--complete", "all"];
            ran(meshdoctor(&[&words[..], more].concat()))
        };
        let text = run(&["-v"]);
        assert_eq!(text.status, *status, "{name}: {}\n{}", text.out, text.err);
        assert!(text.out.contains(words), "{name}: {}", text.out);
        let document = run(&["-o", "json"]).document();
        assert_eq!(document["phase"], *phase, "{name}");
        crate::schemas::assert_valid(&document);
        // A dump that may be incomplete never shows that a step is safe.
        let partial = ran(meshdoctor(&["rotate", "--bundle", &path, "-o", "json"]));
        assert_ne!(partial.status, 0, "{name}: {}", partial.out);
    }
}

/// The report on a mesh whose trust anchor and issuer end on these days of 2026. The case is judged on 13 January.
fn ending(anchor: (u8, u8), issuer: (u8, u8)) -> meshdoctor::report::Report {
    let mut of_root = params("root", 5);
    of_root.not_after = rcgen::date_time_ymd(2026, anchor.0, anchor.1);
    let root = CertifiedIssuer::self_signed(of_root, KeyPair::generate().unwrap()).unwrap();
    let mut of_issuer = params("identity", 6);
    of_issuer.not_after = rcgen::date_time_ymd(2026, issuer.0, issuer.1);
    let issuer = of_issuer.signed_by(&KeyPair::generate().unwrap(), &root).unwrap().pem();
    let mut scene = based_on("healthy");
    scene.memory = Play::begin("healthy", &root, &issuer).memory;
    crate::stories::judge(&scene)
}

fn commands_of(finding: &meshdoctor::finding::Finding) -> String {
    finding.remedy.commands().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn issuer_under_an_ending_anchor_waits_for_the_new_one() {
    let report = ending((2, 12), (2, 2));
    let found = |id: &str| report.findings.iter().find(|finding| finding.check == id).expect("a finding");
    let (issuer, anchor) = (found("issuer-expiring"), found("trust-anchor-expiring"));
    assert!(issuer.caused_by.contains(&anchor.fingerprint()), "{:?}", issuer.caused_by);
    assert!(commands_of(anchor).contains("--not-after 8760h --ca ca-new.crt"), "{}", commands_of(anchor));
}

#[test]
fn new_issuer_does_not_outlive_its_anchor() {
    let report = ending((3, 24), (2, 2));
    let found = |id: &str| report.findings.iter().find(|finding| finding.check == id);
    assert!(found("trust-anchor-expiring").is_none(), "{:?}", report.findings);
    let commands = commands_of(found("issuer-expiring").expect("a finding"));
    assert!(commands.contains("--not-after 2026-03-24T00:00:00Z --ca ca-current.crt"), "{commands}");
    assert!(!commands.contains("8760h"), "{commands}");
}
