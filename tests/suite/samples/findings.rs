//! The findings of the sample reports.

use meshdoctor::command::{Arg, Command, Line, kubectl, meshdoctor, program};
use meshdoctor::finding::{Evidence, Finding, Place, Remedy, Severity, StepKind, Subject, Tie};

pub(super) fn finding(check: &'static str, severity: Severity, subject: Subject, message: &str) -> Finding {
    Finding::new(check, severity, subject, message)
        .remedy(Remedy::verified_by(meshdoctor().words("check --only").arg(check)))
}

pub(super) fn workload(kind: &str, namespace: &str, name: &str, pods: &[String]) -> Subject {
    Subject::Object {
        kind: kind.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        pods: pods.to_vec(),
    }
}

pub(super) fn file(node: &str, file: &str, line: u32, path: &str, said: &str) -> Evidence {
    let place = Place::File {
        node: node.to_owned(),
        file: file.to_owned(),
        path: Some(path.to_owned()),
        line: Some(line),
        column: None,
    };
    Evidence { place, said: said.to_owned() }
}

pub(super) fn event(object: &str, reason: &str, count: u32, last: &str, said: &str) -> Evidence {
    let place =
        Place::Event { object: object.to_owned(), reason: reason.to_owned(), count, last: Some(last.parse().unwrap()) };
    Evidence { place, said: said.to_owned() }
}

const NODES: [&str; 3] = ["ip-10-0-1-12", "ip-10-0-1-40", "ip-10-0-3-9"];

/// One finding a node, as a check gives them.
pub(super) fn token_revoked() -> Vec<Finding> {
    NODES
        .iter()
        .map(|node| {
            let file_name = "/etc/cni/net.d/05-cilium.conflist";
            let jq = program("jq").arg(".plugins |= map(select(.type != \"linkerd-cni\"))").operand(file_name);
            let jq = jq.to_file("/tmp/new").and(program("mv").operand("/tmp/new").operand(file_name));
            let pod = kubectl().words("-n linkerd-cni delete pod -l k8s-app=linkerd-cni --field-selector");
            let uncordon = kubectl().words("uncordon").arg(Arg::node());
            let remedy = Remedy::verified_by(meshdoctor().words("check --only cni --nodes ./nodes"))
                .command(
                    "Keep new pods off one node, and do all steps there before you go to the next: between removing the entry and the installer's return, meshed pods that start there fail",
                    Command::about_node(node, [kubectl().words("cordon").arg(Arg::node())]),
                )
                .run(
                    StepKind::NodeFile,
                    "Remove the linkerd-cni entry from the file that containerd loads; without jq delete the lines that the evidence names",
                    Command::in_node_shell([jq]),
                )
                .command(
                    "Delete the linkerd-cni pod of that node; the new one writes the entry again with a token of its own",
                    Command::about_node(node, [pod.arg(Arg::from("spec.nodeName=").then(Arg::node())), uncordon]),
                );
            finding(
                "cni-token-revoked",
                Severity::Error,
                Subject::file(node, "/etc/cni/net.d/05-cilium.conflist", "plugins[1]", 31),
                "new pods on these nodes can't start: the linkerd-cni entry that containerd loads signs in with the token of a pod that is gone",
            )
            .evidence(file(node, "/etc/cni/net.d/05-cilium.conflist", 31, "plugins[1].type", "\"linkerd-cni\""))
            .evidence(file(
                node,
                "/etc/cni/net.d/ZZZ-linkerd-cni-kubeconfig",
                12,
                "users[0].user.token",
                "token of pod linkerd-cni/linkerd-cni-7xk2p (uid 4f1c2a90-5c7e-4d0e-9a3b-6d2f4a1b8c11), which is gone",
            ))
            .remedy(remedy)
        })
        .collect()
}

pub(super) fn unauthorized() -> Vec<Finding> {
    let apps = [("shop", "web", 6), ("shop", "checkout", 4), ("pay", "ledger", 4), ("pay", "fx-rates-importer", 3)];
    apps.iter()
        .enumerate()
        .map(|(at, (namespace, name, pods))| {
            let pods: Vec<String> = (0..*pods).map(|n| format!("{name}-5d9f7c6b8-x{n}kq")).collect();
            finding(
                "cni-add-unauthorized",
                Severity::Error,
                workload("Deployment", namespace, name, &pods),
                "pods can't start: the API server refuses the token that linkerd-cni signs in with",
            )
            .evidence(event(
                &format!("Pod {namespace}/{}", pods[0]),
                "FailedCreatePodSandBox",
                40,
                "2026-01-15T11:57:30Z",
                "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox \"9a1f\": plugin type=\"linkerd-cni\" name=\"linkerd-cni\" failed (add): Unauthorized",
            ))
            .remedy(Remedy::verified_by(Line::shell("kubectl get pods -A --field-selector status.phase=Pending")).command(
                "Delete the pods that hang, once the cause is gone",
                Line::shell("kubectl -n shop delete pod -l app=web"),
            ))
            .tie(Tie::Node(NODES[at % 3].to_owned()))
        })
        .collect()
}

pub(super) fn deadlock() -> Vec<Finding> {
    let pods: Vec<String> = ["b82qm", "c5xz7", "q9w2f"].iter().map(|p| format!("linkerd-cni-{p}")).collect();
    vec![
        finding(
            "cni-daemonset-deadlock",
            Severity::Error,
            workload("DaemonSet", "linkerd-cni", "linkerd-cni", &pods),
            "linkerd-cni's own pods wait for the plugin that they are to repair",
        )
        .evidence(event(
            "Pod linkerd-cni/linkerd-cni-b82qm",
            "FailedCreatePodSandBox",
            12,
            "2026-01-15T11:59:01Z",
            "plugin type=\"linkerd-cni\" name=\"linkerd-cni\" failed (add): Unauthorized",
        ))
        .remedy(Remedy::verified_by(Line::shell("kubectl -n linkerd-cni get pods")).note("Repair the entry first"))
        .tie(Tie::Node(NODES[0].to_owned()))
        .tie(Tie::Node(NODES[2].to_owned())),
    ]
}

pub(super) fn warnings() -> Vec<Finding> {
    let annotation = "config.linkerd.io/proxy-memory-limits";
    let misspelled = |namespace: &str, name: &str| {
        finding(
            "annotation-unknown",
            Severity::Warning,
            workload("Deployment", namespace, name, &[]),
            "the annotation does nothing: no release of Linkerd knows this key, and config.linkerd.io/proxy-memory-limit is the nearest that 2.17 reads",
        )
        .evidence(Evidence::field(
            format!("Deployment {namespace}/{name}"),
            format!("spec.template.metadata.annotations[\"{annotation}\"]"),
            "512Mi",
        ))
        .remedy(Remedy::verified_by(Line::shell("meshdoctor check --only annotations")).run(
            StepKind::Annotation,
            "Write the key that the installed injector reads, and take the other away",
            kubectl().namespace(namespace).words("patch deployment").operand(name).words("--type merge -p").arg(format!(
                "{{\"spec\":{{\"template\":{{\"metadata\":{{\"annotations\":{{\"config.linkerd.io/proxy-memory-limit\":\"512Mi\",\"{annotation}\":null}}}}}}}}}}"
            )),
        ))
        .parameter(annotation)
    };
    let skew = finding(
        "cli-control-plane-skew",
        Severity::Warning,
        Subject::thing("linkerd CLI"),
        "the linkerd command is of another release than the control plane: what it installs, upgrades and checks is that other release's",
    )
    .evidence(Evidence::other("linkerd CLI", "2.15.7"))
    .evidence(Evidence::other("control plane", "2.17.1"))
    .remedy(Remedy::verified_by(Line::shell("linkerd version")).run(
        StepKind::Upgrade,
        "Install the command of the control plane's release",
        Line::shell("curl --proto '=https' --tlsv1.2 -sSfL https://run.linkerd.io/install-edge | LINKERD2_VERSION=edge-24.11.8 sh"),
    ));
    let mut half = finding(
        "workload-half-meshed",
        Severity::Warning,
        workload("StatefulSet", "data", "kafka", &["kafka-0".to_owned(), "kafka-3".to_owned()]),
        "some pods of this workload run outside the mesh, so their traffic is neither encrypted nor subject to policy",
    )
    .likely();
    for n in 0..11 {
        half = half.evidence(Evidence::field(format!("Pod data/kafka-{n}"), "spec.containers", "kafka, exporter"));
    }
    let half = half.remedy(Remedy::verified_by(Line::shell("meshdoctor check --only injection")).command(
        "Restart the workload, so that the injector sees its pods",
        Line::shell("kubectl -n data rollout restart statefulset kafka"),
    ));
    vec![
        misspelled("shop", "web"),
        misspelled("shop", "checkout-worker"),
        misspelled("a-namespace-with-a-rather-long-name", "and-a-deployment-to-match"),
        skew,
        half,
    ]
}

pub(super) fn infos() -> Vec<Finding> {
    let open = finding(
        "injector-fails-open",
        Severity::Info,
        Subject::object("MutatingWebhookConfiguration", "", "linkerd-proxy-injector-webhook-config"),
        "while the injector can't answer, pods start outside the mesh and stay there until they are restarted",
    )
    .evidence(Evidence::field(
        "MutatingWebhookConfiguration linkerd-proxy-injector-webhook-config",
        "webhooks[0].failurePolicy",
        "Ignore",
    ))
    .remedy(
        Remedy::verified_by(Line::shell("meshdoctor check --only injection"))
            .step(StepKind::ChartValue, "Set webhookFailurePolicy to Fail, after high availability is on"),
    );
    let behind = finding(
        "data-plane-skew",
        Severity::Info,
        workload("Deployment", "shop", "web", &["web-1".to_owned()]),
        "proxies are one minor release behind the control plane",
    )
    .evidence(Evidence::field(
        "Pod shop/web-1",
        "spec.containers[linkerd-proxy].image",
        "cr.l5d.io/linkerd/proxy:2.16.0",
    ))
    .remedy(Remedy::verified_by(Line::shell("meshdoctor check --only versions")).note("Restart it when it suits"));
    vec![open, behind]
}
