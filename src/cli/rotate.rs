//! `meshdoctor rotate`: the state of a rotation of the trust anchor or the issuer, and its next safe step.

use super::args::{Rotate, RotateFormat};
use super::evidence::{self, EvidenceSource, Save};
use super::{output, policy};
use crate::checks::Settings;
use crate::exit;
use crate::inspect::rotation::{Decision, RotationAnswer, items};
use crate::knowledge::Knowledge;
use crate::render::look::Look;
use crate::render::{json, rotation as render};

pub(super) fn run(args: &Rotate) -> anyhow::Result<u8> {
    let given = evidence::with_files(&args.evidence, &args.files, |_| None)?;
    let way = EvidenceSource::new(&given, &args.connection);
    let read = evidence::read(&way, &args.verbosity, &items(), Save::No)?;
    let cluster = &read.collected.cluster;
    let settings = Settings { rerun: read.rerun.clone(), ..Settings::default() };
    let answer = RotationAnswer::read(cluster, Knowledge::embedded(), &settings, &args.statements());
    let stage = args.may.map(super::args::StageArg::stage);
    let decision = answer.decision(stage);
    let text = match args.output {
        RotateFormat::Table => {
            let look = Look { verbose: args.verbosity.verbose > 0, ..output::look() };
            render::text(&answer, stage, cluster.at, look)
        }
        RotateFormat::Json => json::document(&render::json(&answer, stage)),
    };
    output::print(&text)?;
    policy::gaps(&answer.rotation.gaps, &super::rerun::connection(&args.connection));
    Ok(match decision {
        Decision::Go | Decision::Done => exit::FINE,
        Decision::NoGo => exit::FINDINGS,
        Decision::Unknown => exit::NOT_CHECKED,
    })
}
