//! One cluster size: all runs alternate, round after round, so that other load on the machine affects all of
//! them alike.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::bare;
use crate::measure::{self, Cost};
use crate::server::Server;
use crate::world::World;

/// Times that each is run; the best counts, and for ratios the best of both.
const ROUNDS: usize = 5;

/// The compared runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    BarePlain,
    CheckPlain,
    BareGzip,
    CheckGzip,
    Save,
    Bundle,
    Proxies,
}

/// The order of the runs; each check follows the read that it is compared with.
pub(crate) const ALL: [What; 7] =
    [What::BarePlain, What::CheckPlain, What::BareGzip, What::CheckGzip, What::Save, What::Bundle, What::Proxies];

impl What {
    /// The run that it is compared with.
    pub(crate) fn beside(self) -> Option<What> {
        match self {
            What::BarePlain | What::BareGzip => None,
            What::CheckPlain | What::Bundle => Some(What::BarePlain),
            What::CheckGzip | What::Save => Some(What::BareGzip),
            What::Proxies => Some(What::CheckGzip),
        }
    }
}

/// One size of cluster, measured.
pub(crate) struct Measured {
    pub(crate) pods: usize,
    pub(crate) rows: Vec<(What, Row)>,
}

/// The best of all rounds.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) wall: Duration,
    pub(crate) busy: Duration,
    pub(crate) peak: u64,
    pub(crate) requests: u64,
    pub(crate) bytes: u64,
}

impl Measured {
    pub(crate) fn row(&self, what: What) -> Row {
        self.rows.iter().find(|(row, _)| *row == what).expect("everything was measured").1
    }
}

pub(crate) fn measure(pods: usize) -> anyhow::Result<Measured> {
    let server = Server::start(World::with(pods)?)?;
    let folder = tempfile::tempdir()?;
    let run = Run { server: &server, folder: folder.path(), lists: Vec::new() };
    // Not measured: records the lists that a check reads.
    server.begin();
    run.once(What::CheckPlain)?;
    let run = Run { lists: server.lists(), ..run };
    let mut rows: Vec<(What, Row)> = Vec::new();
    for _ in 0..ROUNDS {
        for what in ALL {
            server.begin();
            let Cost { wall, busy, peak } = run.once(what)?;
            let (requests, mut bytes) = server.counted();
            if what == What::Bundle {
                bytes = std::fs::metadata(run.folder.join("saved.tar.gz"))?.len();
            }
            let row = Row { wall, busy, peak, requests, bytes };
            match rows.iter_mut().find(|(known, _)| *known == what) {
                None => rows.push((what, row)),
                Some((_, best)) => {
                    best.wall = best.wall.min(wall);
                    best.busy = best.busy.min(busy);
                    best.peak = best.peak.max(peak);
                }
            }
        }
    }
    Ok(Measured { pods, rows })
}

struct Run<'a> {
    server: &'a Server,
    folder: &'a Path,
    lists: Vec<String>,
}

impl Run<'_> {
    fn once(&self, what: What) -> anyhow::Result<Cost> {
        let bundle = self.folder.join("saved.tar.gz");
        let address = self.server.address();
        if let What::BarePlain | What::BareGzip = what {
            let coding = if what == What::BareGzip { "gzip" } else { "plain" };
            let mut command = Command::new(std::env::current_exe()?);
            command.args([bare::WORD, &address.to_string(), coding]).args(&self.lists);
            return measure::run(&mut command, &[0]);
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_meshdoctor"));
        command.env_clear().env("HOME", self.folder).current_dir(self.folder).args(["check", "--quiet"]);
        if what == What::Bundle {
            command.arg("--bundle").arg(&bundle);
        } else {
            let kubeconfig = self.folder.join("kubeconfig");
            std::fs::write(&kubeconfig, kubeconfig_for(address))?;
            command.arg("--kubeconfig").arg(kubeconfig).args(["--linkerd-cli", "none"]);
        }
        match what {
            What::CheckPlain => {
                command.arg("--disable-compression");
            }
            What::Proxies => {
                command.arg("--proxies=1s");
            }
            What::Save => {
                if bundle.exists() {
                    std::fs::remove_file(&bundle)?;
                }
                command.arg("--save").arg(&bundle);
            }
            _ => {}
        }
        // A healthy cluster: findings for all of its pods would add to the measured time.
        // Proxies beyond the limits of a sample are missing evidence.
        let fine: &[i32] = if what == What::Proxies { &[0, 4] } else { &[0] };
        measure::run(&mut command, fine)
    }
}

/// For a server at this address.
pub(crate) fn kubeconfig_for(address: std::net::SocketAddr) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: bench\n\
         clusters: [{{name: bench, cluster: {{server: \"http://{address}\"}}}}]\n\
         contexts: [{{name: bench, context: {{cluster: bench, user: bench}}}}]\n\
         users: [{{name: bench, user: {{}}}}]\n"
    )
}
