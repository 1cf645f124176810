//! `meshdoctor new`: writes a starter card for a kind of object. The card is a complete check, and its cases pass.

use anyhow::Context;

use crate::card::CaseKind;
use crate::cases;
use crate::checks::expressed::CustomCheck;
use crate::cli::args::New;
use crate::cli::files;
use crate::cli::output;
use crate::cli::stop::Stop;
use crate::command::{Arg, meshdoctor, own};
use crate::demo;
use crate::item::Kind;
use crate::nearest::closest;

/// The card, with placeholders in capitals for parts that depend on the kind.
const TEMPLATE: &str = include_str!("card.md");
/// Pod spec of a workload, as in a manifest.
const POD: &str = "{containers: [{name: app, image: registry.example.com/app:1}]}";

/// The kind that a card is for.
struct CardSubject {
    /// As in `for`: `pods`, `certificates.v1.cert-manager.io`.
    resource: String,
    /// The same without version: `certificates.cert-manager.io`.
    listed: String,
    api_version: String,
    kind: String,
    namespaced: bool,
    /// Whether meshdoctor knows the kind without the card.
    is_ours: bool,
}

/// Writes a card.
pub(in crate::cli) fn run(args: &New) -> anyhow::Result<u8> {
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    if !args.check.split('-').all(is_word) {
        let cause = format!("{:?} is not a valid id of a check", args.check);
        let next = "use words of lower-case letters and digits, joined by dashes, such as image-is-pinned";
        return Err(Stop::usage(cause, next).into());
    }
    if crate::checks::find(&args.check).is_some_and(|check| !check.is_brought()) {
        let cause = format!("{} is the id of a built-in check", args.check);
        return Err(Stop::usage(cause, format!("choose another id; {} lists them", own("list"))).into());
    }
    let path = args.folder.join(format!("{}.md", args.check));
    if path.exists() {
        let cause = format!("{} already exists", path.display());
        return Err(Stop::usage(cause, "choose another id, or another folder with --dir").into());
    }
    let text = subject(args)?.card();
    let folder = args.folder.display().to_string();
    let brought = CustomCheck::read(&args.check, &text, super::IN_CASES).map_err(|error| {
        let next = match error.message.starts_with("rule") {
            true => "choose another kind with --for".to_owned(),
            false if crate::checks::find(&args.check).is_some() => {
                format!("choose another id: {} lists the existing ones", own("list"))
            }
            false => "use words of lower-case letters and digits, joined by dashes".to_owned(),
        };
        Stop::usage(error.message, next)
    })?;
    let text = with_expectations(brought, text)?;
    std::fs::create_dir_all(&args.folder).with_context(|| format!("{folder} cannot be created"))?;
    files::write(&path, &text).with_context(|| format!("{} cannot be written", path.display()))?;
    let said = format!(
        "{}\nnext      {}\n          {}\n",
        path.display(),
        meshdoctor().words("test").arg(Arg::path(&folder)),
        meshdoctor().words("check --checks").arg(Arg::path(&folder)),
    );
    output::print(&said)
}

/// Inserts the results of the cases into the card.
fn with_expectations(brought: CustomCheck, mut text: String) -> anyhow::Result<String> {
    let check = brought.register();
    for case in check.cases() {
        let ran = cases::run(check, case, &|name| demo::base(name).map(str::to_owned))?;
        if let Some(why) = ran.wrong.first().filter(|_| case.kind != CaseKind::Unknown) {
            anyhow::bail!("cannot write a card for this kind: {why}");
        }
        if let Some(other) = cases::with_expectation(&text, &case.title, ran.said.trim_end()) {
            text = other;
        }
    }
    Ok(text)
}

fn subject(args: &New) -> Result<CardSubject, Stop> {
    let said = args.of.as_str();
    let parts: Vec<&str> = said.splitn(3, '.').collect();
    if let Some(kind) = &args.kind {
        let [plural, version, group] = parts[..] else {
            let cause = format!("--for {said} has no version");
            return Err(Stop::usage(cause, "with --kind, use RESOURCE.VERSION.GROUP: certificates.v1.cert-manager.io"));
        };
        return Ok(CardSubject {
            resource: said.to_owned(),
            listed: format!("{plural}.{group}"),
            api_version: format!("{group}/{version}"),
            kind: kind.clone(),
            namespaced: !args.cluster_scoped,
            is_ours: false,
        });
    }
    let ours = || Kind::ALL.iter().copied().find(|kind| said.parse() == Ok(*kind));
    let Some(kind) = ours() else {
        let known: Vec<String> = Kind::ALL.iter().map(|kind| kind.resource()).collect();
        let near = closest(said, known.iter().map(String::as_str));
        let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        return Err(Stop::usage(
            format!("--for {said} is not a kind that meshdoctor knows{near}"),
            "for a custom resource, use --for certificates.v1.cert-manager.io --kind Certificate",
        ));
    };
    let info = kind.info();
    Ok(CardSubject {
        resource: kind.resource(),
        listed: kind.resource(),
        api_version: kind.api_version(),
        kind: info.kind.to_owned(),
        namespaced: info.namespaced,
        is_ours: true,
    })
}

impl CardSubject {
    fn card(&self) -> String {
        let scope = match self.namespaced {
            true => {
                "  where: \"!object.metadata.namespace.startsWith('kube-') && object.metadata.namespace != \
                 cluster.controlPlane\"\n"
            }
            false if self.kind == "Namespace" => {
                "  where: \"!object.metadata.name.startsWith('kube-') && object.metadata.name != \
                 cluster.controlPlane\"\n"
            }
            false => "",
        };
        let (mut head, mut crd) = (String::new(), String::new());
        if !self.is_ours {
            head.push_str(&format!("  kind: {}\n", self.kind));
            if !self.namespaced {
                head.push_str("  cluster-scoped: true\n");
            }
            crd = format!(
                "```yaml cluster\napiVersion: apiextensions.k8s.io/v1\nkind: \
                 CustomResourceDefinition\nmetadata: {{name: {}}}\n```\n",
                self.listed
            );
        }
        let outside = if scope.is_empty() { "" } else { " outside kube-* and the control plane's namespace" };
        TEMPLATE
            .replace("RESOURCE", &self.resource)
            .replace("WHERE", &format!("{head}{scope}"))
            .replace("FIX", &self.fix())
            .replace("ORPHAN", &self.object("orphan", ""))
            .replace("OWNED", &self.object("owned", ", labels: {team: shop}"))
            .replace("CRD```", &format!("{crd}```"))
            .replace("LISTED", &self.listed)
            .replace("KINDOUTSIDE", &format!("{}{outside}", self.kind))
            .replace("KIND", &self.kind)
    }

    /// The repair step. A pod loses a label when it is replaced, so its workload must set it.
    fn fix(&self) -> String {
        if self.kind == "Pod" {
            return "  - text: Add the label to the pod template in the manifest of the workload".to_owned();
        }
        let namespace = if self.namespaced { "-n, \"=object.metadata.namespace\", " } else { "" };
        format!(
            "  - text: Add the label, also in the manifest\n    run: [kubectl, {namespace}label, {}, \
             \"=object.metadata.name\", \"=params.label + '=TEAM'\"]",
            self.listed
        )
    }

    /// An object of the kind, as in a manifest.
    fn object(&self, name: &str, labels: &str) -> String {
        let namespace = if self.namespaced { ", namespace: shop" } else { "" };
        let template = format!(
            "selector: {{matchLabels: {{app: {name}}}}}, template: {{metadata: {{labels: {{app: {name}}}}}, \
             spec: {POD}}}"
        );
        let spec = match self.kind.as_str() {
            _ if !self.is_ours => String::new(),
            "Pod" => format!("\nspec: {POD}\nstatus: {{phase: Running}}"),
            "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" => format!("\nspec: {{{template}}}"),
            "Job" => format!("\nspec: {{template: {{spec: {POD}}}}}"),
            "CronJob" => {
                format!("\nspec: {{schedule: \"0 4 * * *\", jobTemplate: {{spec: {{template: {{spec: {POD}}}}}}}}}")
            }
            "Service" => format!("\nspec: {{selector: {{app: {name}}}, ports: [{{port: 80}}]}}"),
            _ => String::new(),
        };
        format!(
            "apiVersion: {}\nkind: {}\nmetadata: {{name: {name}{namespace}{labels}}}{spec}",
            self.api_version, self.kind
        )
    }
}
