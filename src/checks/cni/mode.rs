//! The iptables-mode that works on a node, and the steps to set it: the mode, a plugin version that supports
//! it, a chart that renders it, and the restart that applies it to the node.

use super::chart::{ChartValue, image_version};
use super::config_map::config;
use super::host::which_binaries;
use super::nodes::Nodes;
use super::pods::failed_deleted;
use super::remedy::{advised_version, changed, first_with, restarted, restarted_for};
use super::target::target;
use super::usable::{BY_ADVICE, Usable};
use crate::checks::Context;
use crate::command::kubectl;
use crate::finding::{Remedy, StepKind};
use crate::knowledge::{IptablesMode, PluginRelease, Support};
use crate::model::cni::{template_reads, template_setting};
use crate::model::managed_by::Installer;
use crate::model::sandbox::AddFailure;
use crate::version::{CniVersion, EdgeTag};

/// Whether the installed chart renders `iptables-mode`.
enum Chart {
    Renders(Option<IptablesMode>),
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

/// Whether the installed chart is known to render no `iptables-mode`, which is legacy from v1.4.0 on.
pub(super) fn renders_no_mode(ctx: &Context<'_>) -> bool {
    matches!(chart(ctx), Chart::DoesNot)
}

/// The chart version of an edge release.
fn chart_of(edge: EdgeTag) -> String {
    format!("20{:02}.{}.{}", edge.year, edge.month, edge.number)
}

/// The chart that installs a version of the plugin.
pub(super) fn chart_with(ctx: &Context<'_>, row: &PluginRelease) -> String {
    row.first_chart.map_or_else(|| clean_chart(ctx), chart_of)
}

/// The first chart that renders `iptables-mode`.
fn first_chart(ctx: &Context<'_>) -> String {
    let rows = ctx.knowledge.cni_plugin().rows();
    let first = rows.iter().find(|row| !row.modes.is_empty()).and_then(|row| row.first_chart);
    first.map_or_else(|| "2024.4.1".to_owned(), chart_of)
}

/// The chart of the first version that cleans up after itself, which supports every mode.
pub(super) fn clean_chart(ctx: &Context<'_>) -> String {
    let plugin = ctx.knowledge.cni_plugin();
    let row = plugin.rows().iter().find(|row| Some(&row.first) == plugin.first_with_clean_up());
    row.and_then(|row| row.first_chart).map_or_else(|| "2025.3.1".to_owned(), chart_of)
}

/// Sets a mode that works on `node`, on which `version` of linkerd-cni runs now.
pub(super) fn mode_remedy(
    ctx: &Context<'_>,
    node: &str,
    version: Option<&CniVersion>,
    usable: &Usable,
    failing: &[&AddFailure<'_>],
) -> Remedy {
    let remedy = Remedy::new();
    if let Usable::Seen(modes) = usable
        && modes.is_empty()
    {
        let install = "Install iptables on the node (in its image, or as a package), which lacks the \
                       binaries of every mode";
        let remedy = remedy.step(StepKind::NodeFile, install);
        let remedy = remedy.step(StepKind::ChartValue, "Or use linkerd-init instead of linkerd-cni");
        return failed_deleted(ctx, remedy, failing);
    }
    let plan = Plan::from_context(ctx, version);
    // The mode is already correct, but the nodes do not have it yet.
    if let Chart::Renders(Some(mode)) = plan.chart
        && usable.has(mode)
        && plan.accepts(ctx, mode)
    {
        return failed_deleted(ctx, restarted(ctx, remedy), failing);
    }
    let remedy = match usable {
        Usable::Expected(modes) if modes.is_empty() => {
            which_binaries(remedy, Nodes::for_steps(ctx).system(ctx, node), node)
        }
        Usable::Seen(_) | Usable::Expected(_) => remedy,
    };
    let mode = BY_ADVICE.into_iter().find(|mode| usable.has(*mode)).unwrap_or(IptablesMode::Plain);
    failed_deleted(ctx, plan.set(ctx, remedy, mode, plan.words(ctx, mode)), failing)
}

/// Sets a mode whose binaries the node has, if nothing is known of them.
pub(super) fn mode_remedy_without_node(ctx: &Context<'_>, node: &str, failing: &[&AddFailure<'_>]) -> Remedy {
    let remedy = which_binaries(Remedy::new(), Nodes::for_steps(ctx).system(ctx, node), node);
    let plan = Plan::from_context(ctx, None);
    if let (Chart::Renders(Some(IptablesMode::Plain)), None) = (&plan.chart, plan.image(ctx, IptablesMode::Plain)) {
        let words = "If the node has iptables and iptables-save, restart the DaemonSet: iptablesMode is plain, \
                     but the node may still have the old mode";
        let other = "If the node lacks one of the two, set iptablesMode to nft or legacy, whichever has both of \
                     its binaries there";
        let remedy = restarted_for(ctx, remedy, words).step(StepKind::ChartValue, other);
        return failed_deleted(ctx, remedy, failing);
    }
    let words = format!(
        "Set iptablesMode of linkerd-cni to a mode whose two binaries the node has: plain runs iptables and \
         iptables-save. It needs {}",
        plan.needs(ctx, IptablesMode::Plain)
    );
    failed_deleted(ctx, plan.set(ctx, remedy, IptablesMode::Plain, words), failing)
}

/// The installed version and chart at the time of the change.
struct Plan {
    chart: Chart,
    by_cli: bool,
    /// The version that the DaemonSet installs, else that on the node.
    version: Option<CniVersion>,
    /// Whether the remedy installs a newer version first.
    replaced: bool,
}

impl Plan {
    fn from_context(ctx: &Context<'_>, on_node: Option<&CniVersion>) -> Plan {
        let target = target(ctx);
        let replaced = target.clean_up_broken(ctx);
        let by_cli = target.managed_by.is_some_and(|by| by.installer == Some(Installer::Cli));
        Plan { chart: chart(ctx), by_cli, version: target.version.or_else(|| on_node.cloned()), replaced }
    }

    /// Whether the installed version accepts the mode.
    fn accepts(&self, ctx: &Context<'_>, mode: IptablesMode) -> bool {
        let plugin = ctx.knowledge.cni_plugin();
        let mode = mode.to_string();
        self.version.as_ref().is_some_and(|v| plugin.mode_supported(v, Some(&mode)) == Support::Yes)
    }

    /// The image to set with the mode; `None` if the installed one supports it, or if its support is not
    /// known.
    fn image(&self, ctx: &Context<'_>, mode: IptablesMode) -> Option<String> {
        let version = self.version.as_ref()?;
        let known = ctx.knowledge.cni_plugin().for_version(version).is_some();
        let known = known || matches!(version, CniVersion::InLinkerd(_));
        (self.replaced || known && !self.accepts(ctx, mode)).then(|| advised_version(ctx))
    }

    /// Sets a mode, with the image and the chart that it needs.
    fn set(&self, ctx: &Context<'_>, remedy: Remedy, mode: IptablesMode, words: String) -> Remedy {
        let remedy = match self.image(ctx, mode).is_some() || self.accepts(ctx, mode) {
            true => remedy,
            false => remedy.run(
                StepKind::Note,
                format!(
                    "Check that the image of linkerd-cni is {} or newer: older ones reject {mode}",
                    first_with(ctx, mode)
                ),
                kubectl().words("get daemonsets -A -l linkerd.io/cni-resource=true -o wide"),
            ),
        };
        let chart = matches!(self.chart, Chart::DoesNot).then(|| clean_chart(ctx));
        let mut values = vec![ChartValue::new("iptablesMode", mode.to_string())];
        values.extend(self.image(ctx, mode).iter().map(image_version));
        changed(ctx, remedy, words, chart.as_deref(), &values)
    }

    fn words(&self, ctx: &Context<'_>, mode: IptablesMode) -> String {
        let what = match mode {
            IptablesMode::Plain => "it runs the node's iptables and iptables-save",
            IptablesMode::Nft | IptablesMode::Legacy => "the node has the binaries of this mode",
        };
        format!("Set iptablesMode of linkerd-cni to {mode}: {what}. It needs {}", self.needs(ctx, mode))
    }

    /// What a mode needs: the version of the plugin, its image and the chart.
    fn needs(&self, ctx: &Context<'_>, mode: IptablesMode) -> String {
        let (floor, clean) = (first_with(ctx, mode), advised_version(ctx));
        let image = match (&self.version, self.image(ctx, mode)) {
            (Some(_), Some(_)) if self.replaced => {
                format!(": {clean} must stay in the values, or the old version returns")
            }
            (Some(version), Some(image)) => {
                format!(": {image} is set with it, because {version} rejects the mode")
            }
            (Some(version @ CniVersion::Plugin(_)), None) if self.accepts(ctx, mode) => {
                format!(", such as the installed {version}")
            }
            (_, _) => String::new(),
        };
        let first = first_chart(ctx);
        let chart = match (&self.chart, self.by_cli) {
            (Chart::Renders(_), _) => String::new(),
            (Chart::Unknown, _) => format!(". Charts before {first} do not render the value"),
            (Chart::DoesNot, true) => format!(
                ". The CLI must be of chart {first} or later: the one that installed linkerd-cni does not render \
                 the value"
            ),
            (Chart::DoesNot, false) => {
                format!(". The chart must be edge {first} or newer: the installed one does not render the value")
            }
        };
        format!("plugin {floor} or newer{image}{chart}")
    }
}
