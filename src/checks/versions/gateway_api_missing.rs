//! `gateway-api-missing`: the CRDs of Gateway API are missing, or do not serve the versions that the release
//! requires.

use super::gateway_api::{
    GROUP, GRPC, HTTP, bring, brings_gateway_api, brought_by, comes_with_linkerd, definition, is_refused_by_the_cli,
    reads, serves, stops_an_installation,
};
use crate::checks::control_plane::installation::{about_to_be, before_upgrade, note_presumed, release};
use crate::checks::prelude::*;
use crate::knowledge::{GatewayApi, GroupVersion};
use crate::objects::CustomResourceDefinition;
use crate::version::{Contains, EdgeTag};

const CATEGORY: &str = "gateway-api-crd";
const ROW: &str = "Gateway API CRDs are installed";
/// Other kinds of the group that, in some release of Gateway API, still served versions that routes no longer
/// served.
const OTHERS: [&str; 3] = [
    "referencegrants.gateway.networking.k8s.io",
    "tcproutes.gateway.networking.k8s.io",
    "tlsroutes.gateway.networking.k8s.io",
];

/// The evaluated release and its requirements.
struct ReleaseRequirements<'a> {
    version: LinkerdVersion,
    seen: Evidence,
    wanted: &'a GatewayApi,
    /// Whether the release's own CLI requires Gateway API.
    required: bool,
    /// Whether it refuses the upgrade without it.
    refused: bool,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let (http, grpc) = (definition(ctx, HTTP), definition(ctx, GRPC));
    let (version, seen) = release(ctx)?;
    let releases = ctx.knowledge.releases();
    let Some(wanted) = releases.for_version(&version).and_then(|row| row.gateway_api.as_ref()) else {
        return Err(Unjudged::not_applicable(format!(
            "the Gateway API versions that {version} supports are not known"
        )));
    };
    let (http, grpc) = (http?, grpc?);
    if comes_with_the_upgrade(ctx, [http, grpc]) {
        return Ok(Vec::new().into());
    }
    let row = ctx.knowledge.linkerd_check().row(CATEGORY, ROW);
    let refused = is_refused_by_the_cli(ctx);
    let required =
        refused || row.is_some_and(|row| row.releases.covers(&version, ctx.knowledge.minors()) == Contains::Yes);
    let judged = ReleaseRequirements { version, seen, wanted, required, refused };
    if http.is_none() && grpc.is_none() && required {
        let findings = vec![absent(ctx, &judged)];
        note_presumed(ctx, &findings);
        return Ok(findings.into());
    }
    let unserved = Unserved::by(ctx, [http, grpc], &judged.version);
    let mut findings = Vec::new();
    if http.is_none() && grpc.is_none() && stops_an_installation(ctx, &judged.version) {
        findings.push(no_installation_by_cli(ctx, &judged));
    }
    // The charts of releases that require it include it.
    let comes = about_to_be(ctx) && http.is_none() && grpc.is_none();
    if !unserved.asked.is_empty() && !comes {
        for other in OTHERS {
            ctx.or_note(definition(ctx, other));
        }
        findings.push(no_start(ctx, &judged, &unserved, http.or(grpc)));
    }
    for (definition, wanted_version) in [(http, &wanted.http_route), (grpc, &wanted.grpc_route)] {
        let Some(definition) = definition else { continue };
        let reported = unserved.asked.iter().any(|asked| asked.version == *wanted_version);
        let read = definition.metadata.name != GRPC || reads(ctx, &judged.version, "grpcroutes");
        if read && !reported && !serves(definition, wanted_version) {
            findings.push(without(ctx, &judged, definition, wanted_version));
        }
    }
    note_presumed(ctx, &findings);
    Ok(findings.into())
}

/// Whether the chart of the target's CRDs installs the definitions: it contains them, and no definitions from
/// elsewhere exist.
fn comes_with_the_upgrade(ctx: &Context<'_>, there: [Option<&CustomResourceDefinition>; 2]) -> bool {
    let Some(upgrade) = ctx.upgraded() else { return false };
    let there: Vec<_> = there.into_iter().flatten().collect();
    match there.is_empty() {
        true => brings_gateway_api(ctx, &upgrade.to) && !is_refused_by_the_cli(ctx),
        false => there.into_iter().all(|definition| comes_with_linkerd(ctx, definition, &upgrade.to)),
    }
}

/// The versions that the policy controller requires at startup and that are not served.
struct Unserved<'a> {
    asked: Vec<&'a GroupVersion>,
    served: Vec<&'a str>,
    /// Whether the definitions of all kinds that may serve them were available.
    certain: bool,
}

impl<'a> Unserved<'a> {
    fn by(
        ctx: &Context<'a>,
        routes: [Option<&'a CustomResourceDefinition>; 2],
        version: &LinkerdVersion,
    ) -> Unserved<'a> {
        let others = OTHERS.map(|name| definition(ctx, name));
        let certain = others.iter().all(Result::is_ok);
        let there: Vec<_> = routes.into_iter().chain(others.into_iter().filter_map(Result::ok)).flatten().collect();
        let asked = ctx.knowledge.control_plane().group_versions(GROUP, version, ctx.knowledge.minors());
        let asked =
            asked.into_iter().filter(|asked| !there.iter().any(|known| serves(known, &asked.version))).collect();
        let versions = there.iter().flat_map(|known| known.spec.versions.iter());
        let mut served: Vec<&str> = versions.filter(|v| v.served).map(|v| v.name.as_str()).collect();
        served.sort_unstable();
        served.dedup();
        Unserved { asked, served, certain }
    }
}

fn supported(judged: &ReleaseRequirements<'_>) -> Evidence {
    let range = format!("Gateway API {} to {}", judged.wanted.minimum, judged.wanted.maximum);
    Evidence::other(format!("Linkerd {}", judged.version), range)
}

fn absent(ctx: &Context<'_>, judged: &ReleaseRequirements<'_>) -> Finding {
    let remedy = bring(ctx, Remedy::new(), None, judged.wanted);
    ctx.finding(
        Subject::thing("Gateway API"),
        "the Gateway API CRDs are missing: install them before you install or upgrade this Linkerd release",
    )
    .evidence(Evidence::other("CustomResourceDefinitions", format!("neither {HTTP} nor {GRPC} exists")))
    .evidence(supported(judged))
    .evidence(judged.seen.clone())
    .evidences(refusal(judged))
    .remedy(remedy)
}

/// The finding before an installation of a release whose CLI requires them, although its control plane does not.
fn no_installation_by_cli(ctx: &Context<'_>, judged: &ReleaseRequirements<'_>) -> Finding {
    let version = &judged.version;
    let by_helm = match brings_gateway_api(ctx, version) {
        true => "Helm's chart linkerd-crds installs its own",
        false => "Helm's charts require none",
    };
    let remedy = bring(ctx, Remedy::new(), None, judged.wanted);
    ctx.finding(
        Subject::thing("Gateway API"),
        format!(
            "the Gateway API CRDs are missing: linkerd install --crds of {version} exits with an error until they \
             exist. {by_helm}"
        ),
    )
    .severity(Severity::Warning)
    .parameter("cli")
    .evidence(Evidence::other("CustomResourceDefinitions", format!("neither {HTTP} nor {GRPC} exists")))
    .evidence(supported(judged))
    .evidence(judged.seen.clone())
    .fails_rows([])
    .remedy(remedy)
}

/// The behavior of the target's CLI without them.
fn refusal(judged: &ReleaseRequirements<'_>) -> Option<Evidence> {
    let said = "exits with an error and prints no manifests until they exist and serve v1";
    judged.refused.then(|| Evidence::other(format!("linkerd upgrade of {}", judged.version), said))
}

/// The finding for a policy controller that exits at startup.
fn no_start(
    ctx: &Context<'_>,
    judged: &ReleaseRequirements<'_>,
    unserved: &Unserved<'_>,
    there: Option<&CustomResourceDefinition>,
) -> Finding {
    let asked: Vec<&str> = unserved.asked.iter().map(|asked| asked.version.as_str()).collect();
    let served = if unserved.served.is_empty() { "nothing".to_owned() } else { unserved.served.join(", ") };
    let remedy = bring(ctx, Remedy::new(), there, judged.wanted);
    let until = unserved.asked.iter().filter_map(|asked| asked.first_without()).max();
    let remedy = match until.filter(|until| !runs_at_least(ctx, *until)) {
        Some(until) => remedy.step(
            StepKind::Upgrade,
            format!("Or upgrade Linkerd to {until} or later, whose policy controller starts without them"),
        ),
        None => remedy,
    };
    let finding = ctx
        .finding(
            Subject::thing("Gateway API"),
            "the policy controller of this release exits at startup, because no CRD serves the Gateway API \
             versions that it requires: pods of linkerd-destination do not become ready once they restart",
        )
        .evidence(Evidence::other(
            format!("API group {GROUP}"),
            format!("serves {served}, but not {}", asked.join(", ")),
        ))
        .evidence(supported(judged))
        .evidence(judged.seen.clone())
        .parameter("no-start")
        .fails_rows([])
        .remedy(remedy)
        .tie(Tie::Workload(
            "Deployment".to_owned(),
            ctx.namespaces().control_plane.clone(),
            "linkerd-destination".to_owned(),
        ));
    // A vendor's build may include a fix of a later release.
    finding.observed_if(unserved.certain && judged.version.edge().is_some())
}

/// Whether the cluster already runs this release or a later one, and the evaluated release is an earlier one.
fn runs_at_least(ctx: &Context<'_>, release: EdgeTag) -> bool {
    let minors = ctx.knowledge.minors();
    let is_at_least = |installed: LinkerdVersion| installed.presumed_edge(minors) >= Some(release);
    ctx.upgraded().is_some() && before_upgrade(ctx).is_ok_and(is_at_least)
}

/// The finding for one kind of routes without effect.
fn without(
    ctx: &Context<'_>,
    judged: &ReleaseRequirements<'_>,
    definition: &CustomResourceDefinition,
    wanted_version: &str,
) -> Finding {
    let versions = &definition.spec.versions;
    let name = &definition.metadata.name;
    let served: Vec<&str> =
        versions.iter().filter(|version| version.served).map(|version| version.name.as_str()).collect();
    let of_linkerd = brought_by(definition).is_some();
    let (severity, rows) = match judged.required && !of_linkerd {
        true => (Severity::Error, vec![ROW]),
        false => (Severity::Warning, vec![]),
    };
    ctx.finding(
        Subject::object("CustomResourceDefinition", "", name),
        "a Gateway API CRD does not serve the version that this Linkerd release requires: routes of that \
         kind have no effect",
    )
    .severity(severity)
    .likely()
    .evidence(Evidence::field(
        format!("CustomResourceDefinition {name}"),
        "spec.versions",
        format!("{} served, but not {wanted_version}", served.join(", ")),
    ))
    .evidence(supported(judged))
    .evidences(refusal(judged).filter(|_| !of_linkerd))
    .fails_rows(rows)
    .remedy(bring(ctx, Remedy::new(), Some(definition), judged.wanted))
}
