//! An operator who runs printed commands: the real kubectl, and stand-ins for the linkerd and step CLIs that act on the
//! live cluster as the real ones do.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use meshdoctor::certificates::{Trust, from_bundle, trust as is_trusted};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair};
use serde::Deserialize as _;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::Api;
use crate::harness::linkerd::{injected, manifests, trust};
use crate::harness::objects::{ObjectSet, rank};

const ROOTS: &str = "/api/v1/namespaces/linkerd/configmaps/linkerd-identity-trust-roots";
const ISSUER: &str = "/api/v1/namespaces/linkerd/secrets/linkerd-identity-issuer";
const OVERRIDES: &str = "/api/v1/namespaces/linkerd/secrets/linkerd-config-overrides";
/// A program that hands its call to the test, and prints the answer.
const STAND_IN: &str = r#"#!/bin/sh
call=$(mktemp -d "$CALLS/call-XXXXXX")
basename "$0" > "$call/program"
for word; do printf '%s\n' "$word"; done > "$call/words"
case " $* " in *" - ") cat > "$call/input" ;; esac
touch "$call/ready"
while [ ! -f "$call/status" ]; do sleep 0.05; done
cat "$call/output"
exit "$(cat "$call/status")"
"#;

/// A certificate authority with its key.
type Authority = CertifiedIssuer<'static, KeyPair>;

/// The folder of the kubectl on PATH.
pub fn kubectl() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("kubectl")).find(|file| file.is_file())
}

/// The first authorities were made this long ago.
const AGE: Duration = Duration::from_secs(100 * 86_400);
/// The new authorities are made some minutes before they are put in place.
const FRESH: Duration = Duration::from_secs(600);
/// The time that all replicas of identity need to load a changed issuer.
const LOADING: Duration = Duration::from_secs(120);
/// Lifetime of certificates from today on.
const LIFETIME: Duration = Duration::from_secs(500 * 86_400);

fn authority(name: &str, path_length: u8, age: Duration) -> CertificateParams {
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let now = Duration::from_secs(u64::try_from(jiff::Timestamp::now().as_second()).unwrap());
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    (params.not_before, params.not_after) = (epoch + now - age, epoch + now + LIFETIME);
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(path_length));
    params.key_usages = vec![rcgen::KeyUsagePurpose::KeyCertSign, rcgen::KeyUsagePurpose::CrlSign];
    params.use_authority_key_identifier_extension = path_length == 0;
    params
}

fn root(name: &str, age: Duration) -> Authority {
    CertifiedIssuer::self_signed(authority(name, 1, age), KeyPair::generate().unwrap()).unwrap()
}

fn issuer(name: &str, root: &Authority, age: Duration) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    (authority(name, 0, age).signed_by(&key, root).unwrap().pem(), key.serialize_pem())
}

/// A call of a stand-in.
struct Call {
    words: Vec<String>,
    input: String,
}

impl Call {
    /// The words without the connection, which is that of the operator.
    fn new(written: &str, input: String) -> Call {
        let mut words: Vec<String> = written.lines().map(str::to_owned).collect();
        if let Some(at) = words.iter().position(|word| word == "--kubeconfig") {
            words.drain(at..at + 2);
        }
        Call { words, input }
    }

    fn option(&self, name: &str) -> Option<&str> {
        let at = self.words.iter().position(|word| word == name)?;
        self.words.get(at + 1).map(String::as_str)
    }

    fn begins(&self, words: &[&str]) -> bool {
        self.words.iter().map(String::as_str).take(words.len()).eq(words.iter().copied())
    }
}

/// The operator's folder and programs, the release of the CLI, and the keys of authorities.
pub struct Operator {
    folder: TempDir,
    programs: TempDir,
    calls: TempDir,
    release: &'static str,
    roots: Vec<Authority>,
}

impl Operator {
    pub fn new(kubectl: &Path, release: &'static str) -> Operator {
        let [folder, programs, calls] = std::array::from_fn(|_| TempDir::new().unwrap());
        std::os::unix::fs::symlink(kubectl, programs.path().join("kubectl")).unwrap();
        for name in ["linkerd", "step"] {
            let path = programs.path().join(name);
            fs::write(&path, STAND_IN).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let roots = vec![root("root.linkerd.cluster.local", AGE)];
        Operator { folder, programs, calls, release, roots }
    }

    /// The mesh as the CLI installs it: under the first authority, with an issuer whose key is known.
    pub fn installed(&self) -> Vec<Value> {
        let pair = issuer("identity.linkerd.cluster.local", &self.roots[0], AGE);
        let mut objects = self.rendered(&["crds", "control-plane", "workloads"], &self.roots[0].pem(), &pair);
        objects.sort_by_key(rank);
        objects
    }

    /// The bundle of trust anchors on the server.
    pub fn bundle(&self, api: &Api) -> String {
        api.get(ROOTS)["data"]["ca-bundle.crt"].as_str().unwrap().to_owned()
    }

    /// Parts of the release with these anchors and this issuer.
    fn rendered(&self, parts: &[&str], anchors: &str, (certificate, key): &(String, String)) -> Vec<Value> {
        let folder = manifests().expect("looked for before").join(self.release);
        let read = |part: &&str| ObjectSet::read(&folder.join(format!("{part}.yaml"))).objects;
        let mut objects = injected(self.release, parts.iter().flat_map(read).collect());
        for object in &mut objects {
            trust(object, anchors);
            match object["metadata"]["name"].as_str().unwrap_or_default() {
                "linkerd-identity-trust-roots" => object["data"]["ca-bundle.crt"] = json!(anchors),
                "linkerd-identity-issuer" => {
                    object["data"] = json!({"crt.pem": STANDARD.encode(certificate), "key.pem": STANDARD.encode(key)});
                }
                // What `linkerd upgrade` reads.
                "linkerd-config-overrides" => {
                    let stored = json!({"identityTrustAnchorsPEM": anchors,
                        "identity": {"issuer": {"tls": {"crtPEM": certificate, "keyPEM": key}}}});
                    let stored = serde_yaml::to_string(&stored).unwrap();
                    object["data"] = json!({"linkerd-config-overrides": STANDARD.encode(stored)});
                }
                "linkerd-config" => {
                    let mut values = values(object);
                    values["identityTrustAnchorsPEM"] = json!(anchors);
                    values["identity"]["issuer"]["tls"]["crtPEM"] = json!(certificate);
                    object["data"]["values"] = json!(serde_yaml::to_string(&values).unwrap());
                }
                _ => {}
            }
        }
        objects
    }

    /// Runs the commands of a stage, one after the other.
    pub fn run(&mut self, api: &Api, commands: &[String]) {
        for command in commands {
            let path = format!("{}:/usr/bin:/bin", self.programs.path().display());
            let mut child = Command::new("/bin/sh")
                .args(["-uc", command])
                .current_dir(self.folder.path())
                .env_clear()
                .env("PATH", path)
                .env("HOME", self.folder.path())
                .env("CALLS", self.calls.path())
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            while child.try_wait().unwrap().is_none() {
                self.answer(api);
                std::thread::sleep(Duration::from_millis(20));
            }
            let output = child.wait_with_output().unwrap();
            let err = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{command}\n{err}");
        }
    }

    /// Answers the calls of stand-ins that wait.
    fn answer(&mut self, api: &Api) {
        for entry in fs::read_dir(self.calls.path()).unwrap() {
            let folder = entry.unwrap().path();
            if !folder.join("ready").exists() || folder.join("status").exists() {
                continue;
            }
            let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
            let call = Call::new(&read("words"), read("input"));
            let answer = match read("program").trim() {
                "step" => self.step(&call),
                _ => self.linkerd(api, &call),
            };
            let (status, output) = match answer {
                Ok(output) => ("0", output),
                Err(why) => panic!("{:?}: {why}", call.words),
            };
            fs::write(folder.join("output"), output).unwrap();
            fs::write(folder.join("status.new"), status).unwrap();
            fs::rename(folder.join("status.new"), folder.join("status")).unwrap();
        }
    }

    fn file(&self, name: &str) -> Result<String, String> {
        fs::read_to_string(self.folder.path().join(name)).map_err(|why| format!("{name}: {why}"))
    }

    fn step(&mut self, call: &Call) -> Result<String, String> {
        if call.begins(&["certificate", "fingerprint"]) {
            let file = call.words.last().ok_or("no file")?;
            let has = self.file(file)?.contains("BEGIN CERTIFICATE");
            return has.then(String::new).ok_or_else(|| format!("{file} contains no certificate"));
        }
        if !call.begins(&["certificate", "create"]) {
            return Err("step has no such stand-in".to_owned());
        }
        let [name, certificate, key] = [2, 3, 4].map(|at| call.words[at].clone());
        let made = match call.option("--profile") {
            Some("root-ca") => {
                self.roots.push(root(&name, FRESH));
                let root = &self.roots[self.roots.len() - 1];
                (root.pem(), root.key().serialize_pem())
            }
            Some("intermediate-ca") => {
                let above = self.file(call.option("--ca").ok_or("no --ca")?)?;
                self.file(call.option("--ca-key").ok_or("no --ca-key")?)?;
                let root = self.roots.iter().find(|root| root.pem().trim() == above.trim());
                issuer(&name, root.ok_or("the key belongs to another certificate")?, FRESH)
            }
            other => return Err(format!("step has no stand-in for profile {other:?}")),
        };
        for (file, text) in [(certificate, made.0), (key, made.1)] {
            fs::write(self.folder.path().join(file), text).map_err(|why| why.to_string())?;
        }
        Ok(String::new())
    }

    fn linkerd(&self, api: &Api, call: &Call) -> Result<String, String> {
        match () {
            () if call.begins(&["version"]) => {
                let config = api.get("/api/v1/namespaces/linkerd/configmaps/linkerd-config");
                Ok(format!("{}\n", values(&config)["linkerdVersion"].as_str().unwrap()))
            }
            () if call.begins(&["upgrade"]) => self.upgrade(api, call),
            () if call.begins(&["inject", "--manual"]) => {
                let mut workload: Value =
                    serde_yaml::from_str(&call.input).map_err(|why| format!("{why}: {}", call.input))?;
                trust(&mut workload, &self.bundle(api));
                serde_yaml::to_string(&workload).map_err(|why| why.to_string())
            }
            () => Err("linkerd has no such stand-in".to_owned()),
        }
    }

    /// `linkerd upgrade`: the control plane with the given anchors and issuer, or those of the cluster.
    fn upgrade(&self, api: &Api, call: &Call) -> Result<String, String> {
        api.find(OVERRIDES).ok_or("secrets \"linkerd-config-overrides\" not found")?;
        let given = |option: &str| call.option(option).map(|file| self.file(file)).transpose();
        let anchors = given("--identity-trust-anchors-file")?.unwrap_or_else(|| self.bundle(api));
        let stored = |name: &str| {
            let text = api.get(ISSUER)["data"][name].as_str().unwrap_or_default().to_owned();
            String::from_utf8(STANDARD.decode(text).unwrap()).unwrap()
        };
        let new = given("--identity-issuer-certificate-file")?;
        let key = given("--identity-issuer-key-file")?.unwrap_or_else(|| stored("key.pem"));
        let pair = (new.clone().unwrap_or_else(|| stored("crt.pem")), key);
        let chain = from_bundle(&pair.0).map_err(|why| why.to_string())?;
        let bundle = from_bundle(&anchors).map_err(|why| why.to_string())?;
        if is_trusted(&chain, &bundle) != Trust::Yes {
            return Err("x509: certificate signed by unknown authority".to_owned());
        }
        if new.is_some() {
            issuer_updated(api);
        }
        let objects = self.rendered(&["control-plane"], &anchors, &pair);
        let documents = objects.iter().map(|object| format!("---\n{}", serde_yaml::to_string(object).unwrap()));
        Ok(documents.collect())
    }
}

/// The values in linkerd-config.
fn values(config: &Value) -> Value {
    let text = config["data"]["values"].as_str().unwrap_or_default();
    Value::deserialize(serde_yaml::Deserializer::from_str(text)).unwrap()
}

/// Identity reports a changed issuer. Its replicas have loaded it when the next step is read: the stages of an operator
/// are further apart than those of a test, so the event is that much older. Pods from before it are older still.
fn issuer_updated(api: &Api) {
    let now = jiff::Timestamp::now() - LOADING;
    let now = now.round(jiff::Unit::Second).unwrap().to_string();
    api.create(&json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"namespace": "linkerd", "name": "linkerd-identity.1"},
        "involvedObject": {"kind": "Deployment", "namespace": "linkerd", "name": "linkerd-identity"},
        "reason": "IssuerUpdated", "type": "Normal", "message": "Updated identity issuer", "count": 1,
        "firstTimestamp": now, "lastTimestamp": now, "source": {"component": "linkerd-identity"},
    }));
}
