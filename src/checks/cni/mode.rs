//! Which iptables-mode would work on a node, and how linkerd-cni is brought to it: the mode, the plugin version that knows
//! it, the chart that renders it, and the restart without which none of it reaches the node.

use std::collections::BTreeSet;

use super::cni_add_exit_127::which_binaries;
use super::remedy::{VERIFY, delete_failed, first_clean, first_with, restarted, target};
use crate::checks::Context;
use crate::finding::{Remedy, StepKind};
use crate::item::{Kind, Scope};
use crate::knowledge::{Mode, Support};
use crate::model::cni::{InstalledBy, template_reads, template_setting};
use crate::model::node::{Looked, NodeSnapshot};
use crate::model::objects::ConfigMap;
use crate::model::sandbox::FailedAdd;
use crate::version::{CniVersion, EdgeTag};

/// The modes in the order of advice: whatever `iptables` the node itself uses comes first.
pub(super) const BY_ADVICE: [Mode; 3] = [Mode::Plain, Mode::Nft, Mode::Legacy];

/// The ConfigMap that installers write entries from. Reads `configmaps/cni/linkerd-cni-config`.
pub(super) fn config<'a>(ctx: &Context<'a>) -> Option<&'a ConfigMap> {
    ctx.named::<ConfigMap>(Kind::ConfigMap, Scope::Cni, "linkerd-cni-config").ok().flatten()
}

/// The two binaries of a mode.
pub(super) fn pair(ctx: &Context<'_>, mode: Mode) -> Option<[String; 2]> {
    ctx.knowledge.cni_plugin().binary_of(mode).map(|binary| [format!("{binary}-save"), binary.to_owned()])
}

/// What is known of the modes on a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Usable {
    /// These have both binaries there; none, where every name was looked for and nothing was found.
    Seen(BTreeSet<Mode>),
    /// These are known to be part of the operating system; nobody looked.
    Expected(BTreeSet<Mode>),
}

impl Usable {
    /// From the files of a node.
    pub(super) fn seen(ctx: &Context<'_>, snapshot: &NodeSnapshot) -> Usable {
        let has = |name: &String| matches!(snapshot.binary(name), Looked::Found(_));
        let all = |mode: &Mode| pair(ctx, *mode).is_some_and(|names| names.iter().all(has));
        Usable::Seen(BY_ADVICE.into_iter().filter(all).collect())
    }

    fn modes(&self) -> &BTreeSet<Mode> {
        match self {
            Usable::Seen(modes) | Usable::Expected(modes) => modes,
        }
    }

    pub(super) fn has(&self, mode: Mode) -> bool {
        self.modes().contains(&mode)
    }
}

/// Whether the chart that is installed renders `iptables-mode` at all.
enum Chart {
    Renders(Option<Mode>),
    DoesNot,
    Unknown,
}

fn chart(ctx: &Context<'_>) -> Chart {
    match config(ctx).filter(|config| template_reads(config)) {
        None => Chart::Unknown,
        Some(config) => match template_setting(config, "iptables-mode") {
            None => Chart::DoesNot,
            Some(mode) => Chart::Renders(mode.as_str().and_then(|mode| mode.parse().ok())),
        },
    }
}

/// The version of the chart that came with an edge.
fn chart_of(edge: EdgeTag) -> String {
    format!("20{:02}.{}.{}", edge.year, edge.month, edge.number)
}

/// The first chart that renders `iptables-mode`.
fn first_chart(ctx: &Context<'_>) -> String {
    let rows = ctx.knowledge.cni_plugin().rows();
    let first = rows.iter().find(|row| !row.modes.is_empty()).and_then(|row| row.first_chart);
    first.map_or_else(|| "2024.4.1".to_owned(), chart_of)
}

/// The chart of the first version that cleans up after itself, which knows every mode.
fn clean_chart(ctx: &Context<'_>) -> String {
    let plugin = ctx.knowledge.cni_plugin();
    let row = plugin.rows().iter().find(|row| Some(&row.first) == plugin.first_with_clean_up());
    row.and_then(|row| row.first_chart).map_or_else(|| "2025.3.1".to_owned(), chart_of)
}

/// Brings linkerd-cni to a mode that works on `node`, where `version` of it runs now.
pub(super) fn cure(
    ctx: &Context<'_>,
    node: &str,
    version: Option<&CniVersion>,
    usable: &Usable,
    failing: &[&FailedAdd<'_>],
) -> Remedy {
    let target = target(ctx);
    let chart = chart(ctx);
    let remedy = Remedy::verified_by(VERIFY);
    let accepts = |mode: Mode| {
        let plugin = ctx.knowledge.cni_plugin();
        version.is_some_and(|v| plugin.mode_supported(v, Some(&mode.to_string())) == Support::Yes)
    };
    if let Usable::Seen(modes) = usable
        && modes.is_empty()
    {
        return finish(
            remedy.step(
                StepKind::NodeFile,
                "Install iptables on the node (its image, or the package), for it has the binaries of no mode; or run Linkerd without linkerd-cni, with linkerd-init",
            ),
            failing,
        );
    }
    // Somebody has set it right already, and the nodes do not have it yet.
    if let Chart::Renders(Some(mode)) = chart
        && usable.has(mode)
        && accepts(mode)
    {
        return finish(restarted(ctx, remedy), failing);
    }
    let remedy = match usable {
        Usable::Expected(modes) if modes.is_empty() => {
            remedy.run(StepKind::Note, "See first which iptables binaries the node has", which_binaries(node))
        }
        Usable::Seen(_) | Usable::Expected(_) => remedy,
    };
    let mode = BY_ADVICE.into_iter().find(|mode| usable.has(*mode)).unwrap_or(Mode::Plain);
    let new_chart = matches!(chart, Chart::DoesNot).then(|| clean_chart(ctx));
    let image = image(ctx, version, accepts(mode));
    let mut values = vec![format!("iptablesMode={mode}")];
    values.extend(image.iter().map(|image| format!("image.version={image}")));
    let mut words = vec![format!(
        "Set iptablesMode of linkerd-cni to {mode}: {}",
        because(ctx, mode, version, image.as_deref(), accepts(mode))
    )];
    match (&chart, target.by) {
        (Chart::DoesNot, InstalledBy::Helm) => words.push(format!(
            "The chart that is installed renders no iptables-mode, so the value would change nothing there: take chart {} or newer with it",
            first_chart(ctx)
        )),
        (Chart::DoesNot, InstalledBy::Cli) => words.push(format!(
            "The linkerd CLI that installed it renders no iptables-mode, so the value would change nothing there: take one of the time of chart {} or newer",
            first_chart(ctx)
        )),
        (Chart::Unknown, _) => words.push(format!("Charts before {} do not render the value", first_chart(ctx))),
        (Chart::Renders(_), _) => {}
    }
    let remedy =
        remedy.run(StepKind::ChartValue, words.join(". "), target.set_values(new_chart.as_deref(), &values));
    finish(restarted(ctx, remedy), failing)
}

/// The image to set with the mode; `None` where the one that runs will do, or where nobody knows what it can.
fn image(ctx: &Context<'_>, version: Option<&CniVersion>, accepts: bool) -> Option<String> {
    let plugin = ctx.knowledge.cni_plugin();
    let row = version.and_then(|version| plugin.for_version(version));
    let broken = row.is_some_and(|row| row.clean_up_broken);
    let known = row.is_some() || matches!(version, Some(CniVersion::InLinkerd(_)));
    (known && (!accepts || broken)).then(|| first_clean(ctx))
}

fn because(
    ctx: &Context<'_>,
    mode: Mode,
    version: Option<&CniVersion>,
    image: Option<&str>,
    accepts: bool,
) -> String {
    let what = match mode {
        Mode::Plain => "it runs the iptables and iptables-save that the node has",
        Mode::Nft | Mode::Legacy => "the node has the binaries of this mode",
    };
    let floor = first_with(ctx, mode);
    match (version, image) {
        (Some(version), Some(image)) if !accepts => format!(
            "{what}. It needs plugin {floor} or newer, and {version} would refuse it, so {image} comes in the same step"
        ),
        (Some(version), Some(image)) => format!(
            "{what}. It needs plugin {floor} or newer; {version} leaves dead tokens behind, so {image} comes in the same step"
        ),
        (Some(CniVersion::Plugin(version)), None) => {
            format!("{what}. It needs plugin {floor} or newer, which v{version} is")
        }
        (_, None) => format!("{what}. It needs plugin {floor} or newer; see that the image is"),
        (None, Some(image)) => format!("{what}. It needs plugin {floor} or newer: take {image}"),
    }
}

fn finish(remedy: Remedy, failing: &[&FailedAdd<'_>]) -> Remedy {
    remedy.run(
        StepKind::Command,
        "Delete the pods that could not start (a pod that nothing owns is not made again: keep its manifest)",
        delete_failed(failing),
    )
}
