//! Starts and stops a cluster: etcd and kube-apiserver, and optionally the controllers, the scheduler and
//! kwok, which simulates the kubelets.
//!
//! Everything listens on 127.0.0.1. Connections that the API server opens itself (webhooks, aggregated APIs,
//! kubelets) go through an egress selector whose socket does not exist, so they fail at once instead of
//! reaching another machine.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use serde_json::json;
use tempfile::TempDir;

use super::binaries::{Binaries, binaries};
use super::etcd::Etcd;
use super::front::{Front, Rule};
use super::kubeconfig::{ADMIN, Context, token, write_kubeconfig};
use super::process::Process;
use super::road::Road;
use super::slot::Slot;
use super::{Api, front, print_line};

/// Options of a cluster.
#[derive(Debug, Clone, Default)]
pub struct Options {
    played: bool,
    presents: Option<String>,
    users: Vec<String>,
    pages_from_etcd: bool,
    reachable: bool,
    kept_as_protobuf: bool,
}

impl Options {
    /// A server and nothing that acts on its own: objects stay exactly as they are written.
    pub fn still() -> Options {
        Options::default()
    }

    /// With controllers, scheduler and simulated kubelets: workloads become running pods.
    pub fn played() -> Options {
        Options { played: true, ..Options::default() }
    }

    /// The version that `/version` answers to users, such as `v1.31.5-eks-abcdef0`. All else stays as it is.
    pub fn presenting(self, version: &str) -> Options {
        Options { presents: Some(version.to_owned()), ..self }
    }

    /// Pages of lists come from etcd, as up to 1.33, so that `Etcd::compact` makes their tokens expire. (By
    /// default, 1.34 keeps the data of the next pages in memory.)
    pub fn pages_from_etcd(self) -> Options {
        Options { pages_from_etcd: true, ..self }
    }

    /// Objects are stored in etcd in the default format, so that reading them has realistic cost. Tests store
    /// them as JSON, which they can change below the server.
    #[allow(dead_code, reason = "a benchmark measures what tests only ask")]
    pub fn kept_as_protobuf(self) -> Options {
        Options { kept_as_protobuf: true, ..self }
    }

    /// Simulated kubelets that serve logs to the server, as defined by `Logs` objects of kwok.
    pub fn reachable_kubelets(self) -> Options {
        Options { played: true, reachable: true, ..self }
    }

    /// One more user, without any rights until a binding names it.
    pub fn user(mut self, name: &str) -> Options {
        self.users.push(name.to_owned());
        self
    }
}

/// A running cluster. It ends when the value is dropped; its logs stay when a test fails.
pub struct Cluster {
    /// The server as the administrator sees it.
    pub api: Api,
    /// The etcd of the server.
    pub etcd: Etcd,
    url: String,
    authority: String,
    users: Vec<String>,
    front: Option<Front>,
    processes: Vec<Process>,
    folder: Option<TempDir>,
    _road: Option<Road>,
    _slot: Slot,
}

impl Cluster {
    /// Starts a cluster; `None`, with a message, on a machine without servers that cannot build them.
    pub fn start(options: Options) -> Option<Cluster> {
        Cluster::start_in(Slot::take(1), options)
    }

    /// Starts two that run side by side. (Asking for a second one while holding one could wait for ever.)
    pub fn start_two(one: Options, other: Options) -> Option<(Cluster, Cluster)> {
        let slot = Slot::take(2);
        Some((Cluster::start_in(slot, one)?, Cluster::start_in(Slot::beside(), other)?))
    }

    fn start_in(slot: Slot, options: Options) -> Option<Cluster> {
        let binaries = binaries()?;
        let mut refused = String::new();
        // Another program may take a port between our choosing it and the server's opening it.
        for _ in 0..3 {
            match Cluster::launch(binaries, &options) {
                Ok(parts) => return Some(parts.into_cluster(options, slot)),
                Err(why) => refused = why,
            }
            if !refused.contains("address already in use") {
                break;
            }
        }
        panic!("the cluster does not start: {refused}");
    }

    fn launch(binaries: &Binaries, options: &Options) -> Result<Parts, String> {
        let folder = TempDir::with_prefix("meshdoctor-cluster-").unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        let [store, peers, secure, kubelets] = free_ports();
        let url = format!("https://127.0.0.1:{secure}");
        let store_url = format!("http://127.0.0.1:{store}");
        let authority = write_identity(folder.path(), &options.users);
        let api = Api::new(&url, Some(authority.as_bytes()), Some(&token(ADMIN)));

        let start = |name: &str, program: &Path, arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
            Process::start(name, program, &arguments, folder.path())
        };
        let peers = format!("http://127.0.0.1:{peers}");
        let etcd = start(
            "etcd",
            &binaries.program("etcd"),
            &[
                &format!("--data-dir={}", at("etcd")),
                &format!("--listen-client-urls={store_url}"),
                &format!("--advertise-client-urls={store_url}"),
                &format!("--listen-peer-urls={peers}"),
                &format!("--initial-advertise-peer-urls={peers}"),
                &format!("--initial-cluster=default={peers}"),
                "--unsafe-no-fsync",
                "--log-level=warn",
            ],
        );
        let kept_as = match options.kept_as_protobuf {
            true => "application/vnd.kubernetes.protobuf",
            false => "application/json",
        };
        let server = start(
            "kube-apiserver",
            &binaries.program("kube-apiserver"),
            &[
                &format!("--etcd-servers={store_url}"),
                &format!("--storage-media-type={kept_as}"),
                &format!("--secure-port={secure}"),
                "--bind-address=127.0.0.1",
                // A documentation address, which no machine has.
                "--advertise-address=192.0.2.1",
                &format!("--cert-dir={}", at("certificates")),
                &format!("--tls-cert-file={}", at("server.crt")),
                &format!("--tls-private-key-file={}", at("server.key")),
                &format!("--service-account-key-file={}", at("accounts.pub")),
                &format!("--service-account-signing-key-file={}", at("accounts.key")),
                "--service-account-issuer=https://kubernetes.default.svc",
                "--service-cluster-ip-range=10.96.0.0/12",
                &format!("--token-auth-file={}", at("tokens.csv")),
                "--authorization-mode=RBAC",
                "--allow-privileged=true",
                &format!("--egress-selector-config-file={}", at("egress.yaml")),
                "--event-ttl=24h",
                &format!("--disable-admission-plugins={}", admission_left_out(options)),
                &format!("--feature-gates=ListFromCacheSnapshot={}", !options.pages_from_etcd),
            ],
        );
        let mut processes = vec![server, etcd];
        ready(&api, &mut processes)?;
        let road = match options.reachable {
            true => {
                api.apply(&binaries.kwok_logs()?);
                Some(Road::open(&folder.path().join(NOWHERE), kubelets))
            }
            false => None,
        };

        if options.played {
            let kubeconfig = at("admin.kubeconfig");
            write_kubeconfig(Path::new(&kubeconfig), &[(ADMIN, Context::new(&url, &authority, ADMIN))]);
            let connection = [
                &format!("--kubeconfig={kubeconfig}"),
                &format!("--authentication-kubeconfig={kubeconfig}"),
                &format!("--authorization-kubeconfig={kubeconfig}"),
                "--leader-elect=false",
                "--secure-port=0",
                "--kube-api-qps=500",
                "--kube-api-burst=1000",
            ];
            let mut controllers = connection.to_vec();
            let accounts = format!("--service-account-private-key-file={}", at("accounts.key"));
            let root = format!("--root-ca-file={}", at("ca.crt"));
            controllers.extend([&*accounts, &root, "--node-monitor-grace-period=1h"]);
            let program = "kube-controller-manager";
            processes.push(start(program, &binaries.program(program), &controllers));
            processes.push(start("kube-scheduler", &binaries.program("kube-scheduler"), &connection));
            let kubeconfig = format!("--kubeconfig={kubeconfig}");
            let address = format!("--server-address=127.0.0.1:{kubelets}");
            let port = format!("--node-port={kubelets}");
            let mut kwok =
                vec![&*kubeconfig, "--manage-all-nodes=true", "--cidr=10.244.0.0/16", "--node-ip=10.0.0.1", &address];
            if options.reachable {
                kwok.extend([&*port, "--enable-crds=Logs"]);
            }
            processes.push(start("kwok", &binaries.program("kwok"), &kwok));
            processes.reverse();
        }
        Ok(Parts { api, etcd: Etcd::new(&store_url), url, authority, processes, folder, road })
    }

    /// A context of this cluster for `kubeconfig`.
    pub fn context(&self, user: &str) -> Context {
        assert!(user == ADMIN || self.users.iter().any(|name| name == user), "no user {user} was requested");
        let url = self.front.as_ref().map_or(&self.url, |front| &front.url);
        Context::new(url, &self.authority, user)
    }

    /// A context that goes through a front with the test's own rule; both end when the returned values are
    /// dropped.
    pub fn context_behind(&self, user: &str, rule: Arc<Rule>) -> (Front, Context) {
        let front = Front::start(&self.url, &self.authority, rule);
        let context = Context::new(&front.url, &self.authority, user);
        (front, context)
    }

    /// The server as this user sees it.
    pub fn api_of(&self, user: &str) -> Api {
        self.context(user).api()
    }

    /// The folder of this cluster's files, also for files of tests. It is deleted with the cluster.
    pub fn folder(&self) -> &Path {
        self.folder.as_ref().expect("taken only while dropping").path()
    }

    /// Waits until `done` returns `Ok`; after `limit`, panics with its last error.
    pub fn wait(&mut self, limit: Duration, mut done: impl FnMut(&Api) -> Result<(), String>) {
        let late = Instant::now() + limit;
        loop {
            match done(&self.api) {
                Ok(()) => return,
                Err(what) if Instant::now() > late => panic!("still not so after {limit:?}: {what}"),
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
            for process in &mut self.processes {
                if let Some(how) = process.ended() {
                    panic!("{how}");
                }
            }
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.processes.clear();
        if let Some(folder) = self.folder.take().filter(|_| std::thread::panicking()) {
            print_line(&format!("the logs of the cluster are kept in {}", folder.keep().display()));
        }
    }
}

/// A cluster that has started, before it has its place among the others.
struct Parts {
    api: Api,
    etcd: Etcd,
    url: String,
    authority: String,
    processes: Vec<Process>,
    folder: TempDir,
    road: Option<Road>,
}

impl Parts {
    fn into_cluster(self, options: Options, slot: Slot) -> Cluster {
        let Parts { api, etcd, url, authority, processes, folder, road } = self;
        let users = options.users;
        let front = options.presents.map(|version| Front::start(&url, &authority, front::presenting(&version)));
        let folder = Some(folder);
        Cluster { api, etcd, url, authority, users, front, processes, folder, _road: road, _slot: slot }
    }
}

/// Admission that would change or refuse objects which a server has admitted before.
fn admission_left_out(options: &Options) -> &'static str {
    match options.played {
        true => "StorageObjectInUseProtection",
        false => {
            "ServiceAccount,TaintNodesByCondition,DefaultTolerationSeconds,Priority,LimitRanger,ResourceQuota,\
             RuntimeClass"
        }
    }
}

/// Keys, certificates, tokens and the road to nowhere. Gives the certificate of the authority.
fn write_identity(folder: &Path, users: &[String]) -> String {
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    let mut root = CertificateParams::default();
    root.distinguished_name.push(DnType::CommonName, "cluster-tests");
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root_key = KeyPair::generate().unwrap();
    let authority = root.self_signed(&root_key).unwrap().pem();
    let names = ["127.0.0.1", "localhost", "kubernetes.default.svc"].map(str::to_owned);
    let server_key = KeyPair::generate().unwrap();
    let server = CertificateParams::new(names.to_vec()).unwrap();
    let server = server.signed_by(&server_key, &Issuer::new(root, root_key)).unwrap();
    let accounts = KeyPair::generate().unwrap();
    write("ca.crt", &authority);
    write("server.crt", &server.pem());
    write("server.key", &server_key.serialize_pem());
    write("accounts.key", &accounts.serialize_pem());
    write("accounts.pub", &accounts.public_key_pem());

    let mut tokens = format!("{},{ADMIN},{ADMIN},system:masters\n", token(ADMIN));
    for user in users {
        tokens.push_str(&format!("{},{user},{user}\n", token(user)));
    }
    write("tokens.csv", &tokens);

    let nowhere = json!({
        "proxyProtocol": "HTTPConnect",
        "transport": { "uds": { "udsName": folder.join(NOWHERE) } },
    });
    let egress = json!({
        "apiVersion": "apiserver.k8s.io/v1beta1",
        "kind": "EgressSelectorConfiguration",
        "egressSelections": [
            { "name": "cluster", "connection": nowhere },
            { "name": "controlplane", "connection": nowhere },
        ],
    });
    write("egress.yaml", &egress.to_string());
    authority
}

/// The socket for all connections that the server opens itself. It only exists with a [`Road`].
const NOWHERE: &str = "nowhere.sock";

/// Ports that were free a moment ago, all different.
fn free_ports<const N: usize>() -> [u16; N] {
    let open: [TcpListener; N] = std::array::from_fn(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    open.map(|listener| listener.local_addr().unwrap().port())
}

/// Waits until the server is ready and the system namespaces and priority classes exist.
fn ready(api: &Api, processes: &mut [Process]) -> Result<(), String> {
    let late = Instant::now() + Duration::from_secs(90);
    let good = |path: &str| {
        let answer = api.call("GET", path, "application/json", Vec::new());
        matches!(answer, Ok(answer) if answer.status == 200)
    };
    loop {
        if good("/readyz") && good("/api/v1/namespaces/default") && good("/api/v1/namespaces/kube-system") {
            return Ok(());
        }
        for process in &mut *processes {
            if let Some(how) = process.ended() {
                return Err(how);
            }
        }
        if Instant::now() > late {
            return Err("the API server is not ready after 90 s".to_owned());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
