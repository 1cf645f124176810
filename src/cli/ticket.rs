//! `meshdoctor ticket`: writes the report and the evidence of its findings, redacted, into one small archive.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::Instant;

use anyhow::Context;

use super::args::{Rehearsal, Ticket as Args};
use super::evidence::{self, EvidenceSource, Read, Save};
use super::format::Format;
use super::stop::Stop;
use super::{collect, examine, files, namespaces, output, params, request};
use crate::card::Mode;
use crate::checks::Settings;
use crate::command::RerunOptions;
use crate::exit;
use crate::fetched::Why;
use crate::item::{Item, Kind};
use crate::knowledge::Knowledge;
use crate::missing::Missing;
use crate::model::cluster::{Answer, Cluster};
use crate::policy::{self, Policy};
use crate::render::{self, Look};
use crate::report::{Question, Report};
use crate::request::Request;
use crate::save::{ClosingEntries, Contents, Packed, Writer};
use crate::ticket::{self, Ticket};

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let began = Instant::now();
    if args.output.is_none() && !args.dry_run {
        return Err(collect::no_output("ticket", "ticket.tar.gz").into());
    }
    let evidence = evidence::with_files(&args.evidence, &args.files, |_| None)?;
    let args = &Args { evidence, files: Vec::new(), ..args.clone() };
    let writer = writer(args)?;
    let mode = match args.to {
        Some(_) => Mode::Upgrade,
        None => request::mode(args.pre, args.crds),
    };
    let (only, skip) = (args.selection.only.clone(), args.selection.skip.clone());
    let policy = Policy { only, skip, mode, ..Policy::default() };
    let checks = request::select(&policy, Knowledge::embedded())?;
    let mut settings = settings(args, mode)?;
    let way = EvidenceSource::new(&args.evidence, &args.connection);
    let mut items = policy::run_items(&checks);
    if !args.namespace.is_empty() {
        items.insert(Item::List(Kind::Namespace));
    }
    let mut read = evidence::read(&way, &args.verbosity, &items, Save::In(&writer))?;
    namespaces::known(&args.namespace, &args.evidence, args.pre || args.crds, &read.collected, &args.verbosity)?;
    settings.rerun = read.rerun.clone().without_folders();
    settings.time_limit = examine::time_limit(began, args.connection.timeout);
    let question = Question {
        checks: &checks,
        policy: &policy,
        settings: &settings,
        knowledge: Knowledge::embedded(),
        origin: read.origin.clone(),
        change: None,
    };
    let Ticket { mut report, left_out } = ticket::choose(&question, &mut read.collected);
    report.run = examine::run_since(began);
    report.asked.linkerd_namespace = args.evidence.linkerd_namespace.clone();
    report.asked.cni_namespace = args.evidence.cni_namespace.clone();
    let contents = Contents { left_out, beside: beside(&report) };
    let left_out = describe(&contents.left_out, &read.collected.cluster);
    let rerun = read.closing.rerun.clone().without_folders();
    let closing = ClosingEntries { asked: options_to_store(&report), rerun, ..read.closing.clone() };
    let packed = writer.pack(closing, contents).context("the ticket was not written")?;
    if args.dry_run {
        dry_run(args, packed, &report, &left_out, &read)?;
    } else {
        write(args, packed, &report, &left_out)?;
    }
    let missing = collect::missing(&read.collected.cluster);
    let asked_for: Vec<&Missing> = missing.iter().filter(|missing| missing.was_asked_for()).collect();
    if asked_for.is_empty() {
        return Ok(exit::FINE);
    }
    if !args.verbosity.quiet {
        output::print_line(&format!("exit 4: {}; the report lists them", missing_in_brief(&asked_for)));
    }
    Ok(exit::NOT_CHECKED)
}

/// Missing evidence in a few words, Linkerd's kinds first: `servers.policy.linkerd.io and 17 other kinds were not
/// provided`.
fn missing_in_brief(missing: &[&Missing]) -> String {
    let name = |missing: &Missing| {
        missing.request.item.kind().map_or_else(|| missing.request.to_string(), |kind| kind.resource())
    };
    let is_linkerds = |name: &String| name.split('.').skip(1).collect::<Vec<_>>().join(".").ends_with("linkerd.io");
    let names: BTreeSet<String> = missing.iter().map(|missing| name(missing)).collect();
    let (own, others): (Vec<String>, Vec<String>) = names.into_iter().partition(is_linkerds);
    let names: Vec<String> = own.into_iter().chain(others).collect();
    let are_lists = missing.iter().all(|missing| matches!(missing.request.item, Item::List(_)));
    let (one, many) = if are_lists { ("other kind", "other kinds") } else { ("other item", "other items") };
    let named = match names.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [first, rest @ ..] => format!("{first} and {}", render::text::count(rest.len(), one, many)),
    };
    let verb = if names.len() == 1 { "was" } else { "were" };
    match missing.iter().all(|missing| matches!(missing.why, Why::NotCaptured | Why::NotOffered)) {
        true => format!("{named} {verb} not provided"),
        false => format!("{named} {verb} not available"),
    }
}

/// The options of the checks.
fn settings(args: &Args, mode: Mode) -> Result<Settings, Stop> {
    let rehearsal =
        Rehearsal { to: args.to.clone(), to_kubernetes: args.to_kubernetes.clone(), from: args.from.clone() };
    Ok(Settings {
        namespaces: args.namespace.clone(),
        to_cni: args.to_cni.clone(),
        upgrade: request::upgrade(&rehearsal, Knowledge::embedded())?,
        mode,
        cni_expected: args.linkerd_cni_enabled,
        expected_version: args.expected_version.clone(),
        params: params::set(&args.param)?,
        ..Settings::default()
    })
}

/// The options to store for a rerun; `None` if there are none.
fn options_to_store(report: &Report) -> Option<RerunOptions> {
    let asked = RerunOptions { to_cni: report.to_cni.clone(), ..render::document::run_options(&report.asked) };
    (!asked.flags().is_empty()).then_some(asked)
}

/// The destination, validated before anything is read.
fn writer(args: &Args) -> anyhow::Result<Writer> {
    let Some(path) = args.output.as_deref().filter(|_| !args.dry_run) else { return Ok(Writer::unnamed()) };
    if is_stdout(path) {
        if io::stdout().is_terminal() {
            let cause = "-o - writes an archive, but standard output is a terminal";
            return Err(Stop::usage(cause, "redirect it to a file or pipe, or name a file with -o").into());
        }
        return Ok(Writer::unnamed());
    }
    files::reject_overwriting(&[], Some(("-o", path)), Some(&args.evidence))?;
    files::not_there("-o", path, args.force)?;
    Ok(evidence::writer(path)?)
}

fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// The report files in the archive.
fn beside(report: &Report) -> Vec<(String, Vec<u8>)> {
    let look = Look { coverage: true, ..Look::plain(output::WIDTH) };
    let files = [
        ("report.txt", output::text(report, Format::Table, look)),
        ("report.json", output::text(report, Format::Json, look)),
        ("report.md", render::ticket::markdown(report)),
    ];
    files.map(|(name, text)| (name.to_owned(), text.into_bytes())).into()
}

/// Evidence that is left out: number of objects by kind.
fn describe(left_out: &BTreeSet<Request>, cluster: &Cluster) -> Vec<String> {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for request in left_out {
        let name = request.item.kind().map_or_else(|| request.to_string(), |kind| kind.resource());
        let objects = match &request.item {
            Item::NodeFiles => cluster.nodes.as_ref().map_or(0, Vec::len),
            item => cluster.answer(item).map_or(0, Answer::count),
        };
        *kinds.entry(name).or_default() += objects;
    }
    kinds.into_iter().map(|(name, objects)| format!("{name} ({})", render::text::thousands(objects))).collect()
}

fn dry_run(args: &Args, packed: Packed, report: &Report, left_out: &[String], read: &Read) -> anyhow::Result<()> {
    let redacted = read.collected.redaction.touched;
    let mut text = render::ticket::listing(&packed.entries().collect::<Vec<_>>(), left_out, redacted, output::look());
    let size = packed.size().context("the ticket could not be packed")?;
    text.push_str(&render::ticket::nothing_written(size));
    output::print(&output::for_people(text))?;
    if !args.verbosity.quiet {
        output::print_line(&format!("report    {}", render::table::counts_line(report, true)));
    }
    Ok(())
}

fn write(args: &Args, packed: Packed, report: &Report, left_out: &[String]) -> anyhow::Result<()> {
    let files = packed.entries().count();
    let path = match args.output.as_deref() {
        Some(path) if !is_stdout(path) => {
            packed.write()?;
            output::print(&format!("{}\n", output::one_line(&path.display().to_string())))?;
            path.display().to_string()
        }
        _ => {
            packed.stream(io::stdout().lock()).context("the archive was not written")?;
            "FILE.tar.gz".to_owned()
        }
    };
    if !args.verbosity.quiet {
        output::print_line(&format!("report    {}", render::table::counts_line(report, true)));
        let kept = render::text::count(files, "file", "files");
        match left_out.len() {
            0 => output::print_line(&format!("{kept}; nothing is left out")),
            some => output::print_line(&format!(
                "{kept}; left out because no finding needs them: objects of {} (--dry-run lists them)",
                render::text::count(some, "kind", "kinds")
            )),
        }
        output::print_line("report.md is for the ticket's text; report.txt and report.json are complete");
        let check = crate::command::meshdoctor().words("check --bundle").arg(path);
        output::print_line(&format!("next      {check}"));
    }
    Ok(())
}
