# Generated from the command line by `UPDATE=1 cargo test`; do not edit.
function __meshdoctor_checks
    printf '%s\n' annotation-as-label annotation-misplaced annotation-not-in-release annotation-not-inherited annotation-on-workload annotation-unknown annotation-value-invalid label-as-annotation control-plane-anchors-stale data-plane-anchors-disjoint data-plane-anchors-stale issuer-expired issuer-expiring issuer-key-mismatch issuer-named-like-anchor issuer-not-reloaded issuer-not-trusted issuer-outlives-anchor issuer-pinned-as-anchor issuer-secret-invalid issuer-unsupported issuer-update-skipped node-clock-off old-anchor-removed-too-soon proxy-certificate-expired proxy-trust-domain-differs trust-anchor-duplicated trust-anchor-expired trust-anchor-expiring trust-anchor-unsupported trust-anchors-drifted trust-roots-missing validator-ca-mismatch webhook-certificate-expired webhook-certificate-expiring webhook-certificate-stale webhook-configuration-altered webhook-key-mismatch webhook-secret-invalid chart-value-refused chart-value-type chart-value-unknown chart-value-unread cni-add-exit-127 cni-add-failed cni-add-unauthorized cni-bak-residue cni-boot-race cni-cilium-exclusive cni-conf-dir-mismatch cni-conf-none cni-conf-twin cni-conf-unparseable cni-config-drift cni-daemonset-deadlock cni-ds-coverage cni-entry-dangling cni-entry-duplicate cni-entry-first cni-entry-lookalike cni-entry-missing cni-entry-orphaned cni-entry-shadowed cni-entry-simulate cni-entry-stale cni-inotify-limit cni-installer-failing cni-interface-mode-leftover cni-ip6tables-missing cni-iptables-backend cni-iptables-binary-missing cni-iptables-mode-unsupported cni-kubeconfig-invalid cni-mode-mixed cni-multi-network cni-native-sidecar-version cni-network-not-ready cni-nsenter-missing cni-object-missing cni-plugin-defect cni-plugin-upgrade-hazard cni-pod-security cni-race-unprotected cni-rbac-missing cni-repair-misrendered cni-security-groups-strict cni-token-expired cni-token-in-conflist cni-token-not-rotated cni-token-revoked cni-validator-failed cni-validator-target cni-version-incompatible node-evidence-outdated api-server-port-redirected api-server-unreadable cluster-dns-not-ready cluster-domain-not-served cluster-networks-incomplete cluster-networks-without-nodes control-plane-annotation-ignored control-plane-below-ha control-plane-churning control-plane-ha-partial control-plane-missing control-plane-not-evictable control-plane-not-ready control-plane-on-one-node control-plane-pods-refused control-plane-rbac-missing control-plane-reports-errors control-plane-restarting control-plane-role-missing control-plane-service-missing crd-missing endpoints-answer-stale extension-command-missing extension-namespace-twice heartbeat-failing ipv6-setting-mismatch linkerd-config-missing linkerd-config-unreadable linkerd-image-not-pulled network-policy-blocks-webhooks pod-network-overlaps proxy-init-not-root removed-component-left service-account-missing validator-webhook-missing app-runs-as-proxy autoscaler-held-by-proxy await-hook-failing calico-connect-time-balancing cilium-socket-balancing data-plane-namespace-missing init-container-before-proxy network-policy-blocks-control-plane network-policy-blocks-proxy network-policy-blocks-scrapes opaque-defaults-lost opaque-port-missing opaque-port-speaks-http opaque-ports-mismatch pod-address-shared proxy-cpu-limit-low proxy-init-failing proxy-killed-at-shutdown proxy-not-ready proxy-port-taken proxy-reports-errors proxy-request-unschedulable route-of-two-controllers service-without-endpoints trace-collector-identity debug-image-ignored host-network-not-injected identity-token-missing injected-container-altered injector-ca-mismatch injector-fails-closed-single-replica injector-fails-open injector-not-called injector-unavailable injector-webhook-missing kube-system-not-exempt linkerd-cni-not-exempt other-mesh-sidecar pod-missing-proxy pod-security-refuses-proxy pods-refused proxy-refused-by-quota scc-refuses-proxy token-not-mounted webhook-unreachable windows-pod-injected workload-half-meshed jaeger-cli-skew jaeger-namespace-empty jaeger-namespace-unlabelled jaeger-pods-not-injected jaeger-pods-not-running jaeger-proxy-outdated jaeger-proxy-unhealthy control-plane-credentials-incomplete gateway-identity-mismatch gateway-probe-failing link-anchors-differ link-crd-missing link-credentials-unusable link-invalid link-version-skew mirror-service-orphaned mirror-service-without-endpoints multicluster-cli-skew multicluster-proxy-outdated multicluster-proxy-unhealthy service-mirror-legacy service-mirror-not-running service-mirror-role-missing service-not-mirrored job-held-by-proxy job-proxy-not-ended native-sidecar-key-misplaced native-sidecar-key-misspelled native-sidecar-key-not-read native-sidecar-key-overridden native-sidecar-kubernetes-too-old native-sidecar-value-invalid native-sidecar-wait-refused authentication-missing default-policy-not-applied identity-unknown identity-without-proxy ingress-bypasses-routes ingress-refused pod-started-without-policy policy-answer-differs policy-audits policy-denies policy-ignored policy-target-missing policy-unreadable probe-networks-without-nodes probe-refused profile-shadows-route profile-unused route-backend-elsewhere route-backend-port-undeclared route-backend-without-endpoints route-not-accepted route-status-unwritten route-without-clients scrape-refused server-selects-nothing server-without-authorization servers-overlap skipped-port-bypasses-policy skipped-port-hides-identity traffic-split-ignored aggregation-layer-off control-plane-namespace-exists install-cluster-rights-missing install-leftovers install-rights-missing node-clock-skew upgrade-changes-default upgrade-changes-policy upgrade-closes-shutdown upgrade-deletes-gateway-api upgrade-drops-architecture upgrade-drops-extension upgrade-drops-mesh-tls upgrade-drops-opencensus upgrade-drops-value upgrade-heeds-timeouts upgrade-needs-storage-migration upgrade-orphans-gateway-api upgrade-path upgrade-pinned-proxy upgrade-refuses-undeclared-port upgrade-renames-port upgrade-rollout-blocked upgrade-target-not-recommended cli-control-plane-skew cli-outdated control-plane-mixed-versions control-plane-outdated crd-stored-version-gone data-plane-skew gateway-api-after-controller gateway-api-missing gateway-api-owned-elsewhere gateway-api-unsupported kubernetes-unsupported route-version-not-served stale-endpoints-release viz-cli-skew viz-data-plane-namespace-missing viz-metrics-api-not-running viz-metrics-missing viz-namespace-empty viz-namespace-unlabelled viz-pods-not-injected viz-pods-not-running viz-prometheus-missing viz-proxy-outdated viz-proxy-unhealthy viz-role-missing viz-scrape-unauthorized viz-self-check-failing viz-tap-api-unavailable viz-tap-certificate-expiring viz-tap-certificate-invalid viz-tap-injector-ca-mismatch viz-tap-key-mismatch
end
function __meshdoctor_namespaces
    kubectl --request-timeout=2s get namespaces -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}' 2>/dev/null
end
function __meshdoctor_listed
    printf '%s\n' annotations certificates chart-values cni control-plane data-plane debug injection jaeger multicluster native-sidecar policy pre-install upgrades versions viz
    __meshdoctor_checks
end

# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_meshdoctor_global_optspecs
    string join \n color= checks= config= no-config h/help V/version
end

function __fish_meshdoctor_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_meshdoctor_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_meshdoctor_using_subcommand
    set -l cmd (__fish_meshdoctor_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -l checks -d 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -l config -d 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "check" -d 'Look at a mesh and say what is wrong, what proves it and what to do'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "diff" -d 'Compare two reports: what is new, changed, fixed or unchanged, and what cannot be compared'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "policy" -d 'Show what Linkerd\'s policy says of the ports of workloads: what takes them, who is let in by what, and what of that which people wrote counts for nothing'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "injection" -d 'Show what would be injected: for everything that makes pods whether it gets a proxy and why, which annotations act, and what the proxy would be asked to do'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "reach" -d 'Say whether a call would get from one workload to another, step by step as Linkerd takes it, and where it stops'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "collect" -d 'Save everything that the checks need, redacted, as one file for a ticket or for later'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "ticket" -d 'Write one small redacted archive for a support ticket: the report, and the evidence that its findings rest on'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "node-snapshot" -d 'Save what checks need to know of a node, read on the node itself or in a pod that has its files mounted'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "demo" -d 'Check an embedded cluster with a known failure; without a name, list them'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "list" -d 'List the checks'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "explain" -d 'Explain a check: what it finds, why it matters, how to fix it, what it cannot see'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "test" -d 'Run the cases of cards of your own, and say which do not say what their card claims'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "new" -d 'Write a card to start a check of your own from'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "rbac" -d 'Print the role that suffices for the chosen checks, as a manifest'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "completions" -d 'Print a completion script for a shell'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "config" -d 'Show what meshdoctor.toml sets, and where'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "version" -d 'Print the version of meshdoctor and of what it knows'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l bundle -d 'Read a bundle or dump instead of a cluster: a file, a folder or \'-\' for standard input. Repeatable; all of them together are one cluster' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l complete -d 'Say that the dump lists every object of these kinds (comma-separated, or \'all\'). Otherwise what a dump does not hold counts as not provided' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l nodes -d 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l logs -d 'Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); \'-\' for standard input. Only lines of known meaning are kept, redacted. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l diagnostics -d 'What linkerd diagnostics proxy-metrics or endpoints -o json printed, in a file; of linkerd diagnostics policy with the pod and port that it was asked of. It is compared with the cluster or bundle. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l at -d 'The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l linkerd-cli -d 'The linkerd CLI: its path (with a \'/\'), its version, or \'none\'. By default the one on PATH is asked when a live cluster is read' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -s L -l linkerd-namespace -d 'The namespace of the control plane; found by its labels when not given' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l cni-namespace -d 'The namespace of linkerd-cni; found by its labels when not given' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l kubeconfig -d 'The kubeconfig file; otherwise $KUBECONFIG, ~/.kube/config, or the service account inside a pod' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l context -d 'The context of the kubeconfig to use. \'check\' takes several, and judges each cluster' -r -f -a "(kubectl config get-contexts -o name 2>/dev/null)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l as -d 'Act as this user' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l as-group -d 'Act as a member of this group. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l request-timeout -d 'How long to wait for one response of the API server: 30s, 2m; 0 waits forever' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l timeout -d 'How long the whole run may take; what is not read by then is not checked. Without it, reading a cluster may take 5m' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l bundles -d 'Judge every bundle and dump in a folder, each as a cluster of its own, called as its file without the ending' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l max-age -d 'With --bundles: a bundle that is older, or a dump that does not tell its age, is of a cluster that could not be judged' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l expect -d 'With --bundles: the clusters that there must be. One without a bundle could not be judged' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l parallel -d 'How many clusters are read at a time' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l only -d 'Run only these checks or categories (comma-separated)' -r -f -a "(__fish_complete_list , __meshdoctor_listed)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l skip -d 'Leave out these checks or categories (comma-separated)' -r -f -a "(__fish_complete_list , __meshdoctor_listed)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -s n -l namespace -d 'Check only workloads in these namespaces (comma-separated). The control plane is always checked' -r -f -a "(__fish_complete_list , __meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l to-cni -d 'The version of linkerd-cni that you are about to upgrade to, such as v1.6.8: says what that upgrade would break, and where it is newer than what meshdoctor knows, that it does not know. By default the newest release that meshdoctor knows' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l manifests -d 'Judge manifests without a cluster: files, folders or \'-\' for standard input, as helm template, kustomize build and linkerd install print them. What they do not hold is not checked, and changes no exit status. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l linkerd-version -d 'With --manifests: the release of Linkerd that they are for, where they do not hold the control plane. With --bundle beside --manifests it is read from there' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l kubernetes-version -d 'With --manifests: the Kubernetes that they are for, such as 1.34' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l with -d 'Lay manifests over the cluster or bundle, as if they were applied, and judge the cluster as it would be: says what the change brings in, what it cures and what stays. --fail-on counts what it brings in. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l prune -d 'With --with: objects with these labels that the manifests do not name are deleted, as kubectl apply --prune does' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l values -d 'Judge values that are about to be given to a chart of Linkerd\'s: unknown and unread ones, wrong types, what the chart refuses. By themselves; with --bundle or --live over what the cluster has; with --to for the upgrade. A later file counts over an earlier one, as with helm. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l chart -d 'The chart that --values are for, and its release: linkerd-control-plane@2.19, linkerd-viz@edge-26.5.5, or with the version of the chart, linkerd2-cni@2025.10.7. Without a release it is that of the cluster or of --to' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l into -d 'The namespace of manifests that name none, as with kubectl apply -n; default when not given' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l to -d 'The release of Linkerd that you are about to upgrade to: a minor such as 2.20, or a release such as edge-26.8.3. Says what that upgrade will break and what it will change on this cluster, and in which order to go about it (-o plan)' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l to-kubernetes -d 'With --to: the Kubernetes that the cluster will run by then, such as 1.35' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l from -d 'With --to: the release that is installed, where the evidence does not tell' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l expected-version -d 'The release that everything should run, such as edge-26.8.3 or stable-2.14.10. By default what the evidence and meshdoctor\'s release data say' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l fail-on -d 'Exit with 1 when there is a finding of at least this severity; with :observed what is inferred (\'likely\') does not count. By default error, and with --verify warning' -r -f -a "error\t''
warning\t''
info\t''
never\t''
error:observed\t''
warning:observed\t''"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l severity -d 'How bad the findings of a check are here: error, warning or info. Below the severity of its card, the most that they may have; else that of every one, also of what is only an info by itself. Repeatable; leave a check out with --skip' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l param -d 'A parameter of a check, in the place of what its card says: trust-anchor-expiring.days=30. \'explain CHECK\' shows which there are. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l on-not-checked -d 'What it means for the exit status when evidence that was asked for could not be had' -r -f -a "fail\t'Exit with 4'
pass\t'Exit with 0'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l waivers -d 'Findings that are accepted: a YAML file of waivers, each with check or fingerprint, scope, reason, owner and expiry. They stay in the report, marked, and do not count. Waivers that have expired, are unused, accept everything or name no check are findings. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l baseline -d 'An earlier report (-o json=FILE) of the same cluster: what was found then, at the same subjects and as bad, does not count' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l verify -d 'Check the findings of an earlier report (-o json=FILE) again on fresh evidence, and say of each: fixed, still there, or not checked. What the report\'s run was asked is asked again where no flag says otherwise' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l confidence -d 'What is told: everything, or with \'observed\' what the evidence shows alone. What is inferred is then counted, and neither listed nor able to fail the run' -r -f -a "likely\t'What is inferred as well'
observed\t'What the evidence shows alone'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l wait -d 'Look again, for so long at most, until nothing fails the run: 5m, as linkerd check does. What does not go by itself, an expired certificate say, ends the waiting at once' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -s o -l output -d 'Output format: table, short, json or yaml; html (one page that needs nothing else); sarif, junit, github (annotations), gitlab (code quality), markdown, prometheus (textfile) or ndjson for pipelines; plan, with --to, for the plan of the upgrade as Markdown; linkerd or linkerd-table for the rows of \'linkerd check\' as its JSON document or table. FORMAT=FILE writes it to a file. Repeatable' -r -f -a "table\t''
short\t''
json\t''
yaml\t''
linkerd\t''
linkerd-table\t''
plan\t''
sarif\t''
junit\t''
github\t''
gitlab\t''
markdown\t''
prometheus\t''
ndjson\t''
html\t''"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l save -d 'Also save what was read as a bundle: FILE.tar.gz, FILE.tar.zst or a folder' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -s v -l verbose -d 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l knowledge -d 'Read the release data and other facts that age from this folder instead of the embedded ones' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l checks -d 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l config -d 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l live -d 'Read the live cluster, also where --nodes, --logs or --diagnostics is given'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l disable-compression -d 'Ask for uncompressed answers: faster on the API server\'s own machine or a very fast link'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l probe -d 'Also query running programs through port-forwards: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l all-contexts -d 'Judge the cluster of every context of the kubeconfig, as with several --context'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -s A -l all-namespaces -d 'Check workloads in all namespaces, as without --namespace'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l pre -d 'Check whether the cluster can take Linkerd, before it is installed'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l crds -d 'Check the custom resource definitions, before the control plane is installed'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l linkerd-cni-enabled -d 'With --pre: the installation will use linkerd-cni, which must be installed and ready'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l proxy -d 'With -o linkerd, also print the rows of the data plane. meshdoctor\'s own reports always include it'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l coverage -d 'Say in a table what was not checked in full: why, and how to check it'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l publish -d 'Also write the report into the cluster, as the objects that policy reporters read (Reports of openreports.io, or else PolicyReports of wgpolicyk8s.io), with an event for each finding that appears or goes. It writes to the cluster; see docs/deploy.md for the role'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l force -d 'Let --save overwrite a file that is there'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -s q -l quiet -d 'Print nothing on standard error but errors'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand diff" -l fail-on -d 'Exit with 1 when something of at least this severity is new or has become worse, and with 4 when such cannot be compared. By default error' -r -f -a "error\t''
warning\t''
info\t''
never\t''
error:observed\t''
warning:observed\t''"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand diff" -s o -l output -d 'The form of the answer' -r -f -a "table\t'For people'
json\t'For programs'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand diff" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand diff" -l checks -d 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand diff" -l config -d 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand diff" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand diff" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l to -d 'Show instead what clients get on the way to a Service, NAMESPACE/NAME[:PORT], or to an address, ADDRESS:PORT: routes, where they send what, time limits, retries, and what is forbidden' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l from -d 'With --to, the namespace of the clients; that of the Service when not given, `default` for addresses' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -s o -l output -d 'The form of the answer' -r -f -a "table\t'For people'
json\t'For programs'
controller\t'As the policy controller itself answers proxies: {"inbound": {"NAMESPACE/POD": {"PORT": ANSWER}}}, with --to {"outbound": [{"query": QUERY, "policy": ANSWER}]}'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l bundle -d 'Read a bundle or dump instead of a cluster: a file, a folder or \'-\' for standard input. Repeatable; all of them together are one cluster' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l complete -d 'Say that the dump lists every object of these kinds (comma-separated, or \'all\'). Otherwise what a dump does not hold counts as not provided' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l nodes -d 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l logs -d 'Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); \'-\' for standard input. Only lines of known meaning are kept, redacted. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l diagnostics -d 'What linkerd diagnostics proxy-metrics or endpoints -o json printed, in a file; of linkerd diagnostics policy with the pod and port that it was asked of. It is compared with the cluster or bundle. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l at -d 'The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l linkerd-cli -d 'The linkerd CLI: its path (with a \'/\'), its version, or \'none\'. By default the one on PATH is asked when a live cluster is read' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -s L -l linkerd-namespace -d 'The namespace of the control plane; found by its labels when not given' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l cni-namespace -d 'The namespace of linkerd-cni; found by its labels when not given' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l kubeconfig -d 'The kubeconfig file; otherwise $KUBECONFIG, ~/.kube/config, or the service account inside a pod' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l context -d 'The context of the kubeconfig to use. \'check\' takes several, and judges each cluster' -r -f -a "(kubectl config get-contexts -o name 2>/dev/null)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l as -d 'Act as this user' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l as-group -d 'Act as a member of this group. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l request-timeout -d 'How long to wait for one response of the API server: 30s, 2m; 0 waits forever' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l timeout -d 'How long the whole run may take; what is not read by then is not checked. Without it, reading a cluster may take 5m' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -s v -l verbose -d 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l checks -d 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l config -d 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l live -d 'Read the live cluster, also where --nodes, --logs or --diagnostics is given'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l disable-compression -d 'Ask for uncompressed answers: faster on the API server\'s own machine or a very fast link'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l probe -d 'Also query running programs through port-forwards: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -s q -l quiet -d 'Print nothing on standard error but errors'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l manifests -d 'Show what manifests make: files, folders or \'-\' for standard input. By themselves, or with --bundle or --live as the injector of that cluster treats them. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l linkerd-version -d 'The release that injects, where neither cluster nor manifests hold a control plane' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l into -d 'The namespace of manifests that name none, as with kubectl apply -n; default when not given' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -s o -l output -d 'The form of the answer' -r -f -a "table\t'For people'
json\t'For programs'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l bundle -d 'Read a bundle or dump instead of a cluster: a file, a folder or \'-\' for standard input. Repeatable; all of them together are one cluster' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l complete -d 'Say that the dump lists every object of these kinds (comma-separated, or \'all\'). Otherwise what a dump does not hold counts as not provided' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l nodes -d 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l logs -d 'Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); \'-\' for standard input. Only lines of known meaning are kept, redacted. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l diagnostics -d 'What linkerd diagnostics proxy-metrics or endpoints -o json printed, in a file; of linkerd diagnostics policy with the pod and port that it was asked of. It is compared with the cluster or bundle. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l at -d 'The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l linkerd-cli -d 'The linkerd CLI: its path (with a \'/\'), its version, or \'none\'. By default the one on PATH is asked when a live cluster is read' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -s L -l linkerd-namespace -d 'The namespace of the control plane; found by its labels when not given' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l cni-namespace -d 'The namespace of linkerd-cni; found by its labels when not given' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l kubeconfig -d 'The kubeconfig file; otherwise $KUBECONFIG, ~/.kube/config, or the service account inside a pod' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l context -d 'The context of the kubeconfig to use. \'check\' takes several, and judges each cluster' -r -f -a "(kubectl config get-contexts -o name 2>/dev/null)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l as -d 'Act as this user' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l as-group -d 'Act as a member of this group. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l request-timeout -d 'How long to wait for one response of the API server: 30s, 2m; 0 waits forever' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l timeout -d 'How long the whole run may take; what is not read by then is not checked. Without it, reading a cluster may take 5m' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -s v -l verbose -d 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l checks -d 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l config -d 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l live -d 'Read the live cluster, also where --nodes, --logs or --diagnostics is given'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l disable-compression -d 'Ask for uncompressed answers: faster on the API server\'s own machine or a very fast link'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l probe -d 'Also query running programs through port-forwards: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -s q -l quiet -d 'Print nothing on standard error but errors'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l traffic -d 'What is sent. Without it, the answer names the kinds of traffic that fail' -r -f -a "http1\t'HTTP/1'
http2\t'HTTP/2, such as gRPC'
client-first\t'Another protocol in which the client sends the first byte'
server-first\t'Another protocol in which the server sends the first byte'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -s n -l namespace -d 'The namespace of names that state none, and of --matrix' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -s o -l output -d 'The form of the answer' -r -f -a "table\t'For people'
json\t'For programs'
html\t'For a browser: the path of each call'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l bundle -d 'Read a bundle or dump instead of a cluster: a file, a folder or \'-\' for standard input. Repeatable; all of them together are one cluster' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l complete -d 'Say that the dump lists every object of these kinds (comma-separated, or \'all\'). Otherwise what a dump does not hold counts as not provided' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l nodes -d 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l logs -d 'Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); \'-\' for standard input. Only lines of known meaning are kept, redacted. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l diagnostics -d 'What linkerd diagnostics proxy-metrics or endpoints -o json printed, in a file; of linkerd diagnostics policy with the pod and port that it was asked of. It is compared with the cluster or bundle. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l at -d 'The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l linkerd-cli -d 'The linkerd CLI: its path (with a \'/\'), its version, or \'none\'. By default the one on PATH is asked when a live cluster is read' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -s L -l linkerd-namespace -d 'The namespace of the control plane; found by its labels when not given' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l cni-namespace -d 'The namespace of linkerd-cni; found by its labels when not given' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l kubeconfig -d 'The kubeconfig file; otherwise $KUBECONFIG, ~/.kube/config, or the service account inside a pod' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l context -d 'The context of the kubeconfig to use. \'check\' takes several, and judges each cluster' -r -f -a "(kubectl config get-contexts -o name 2>/dev/null)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l as -d 'Act as this user' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l as-group -d 'Act as a member of this group. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l request-timeout -d 'How long to wait for one response of the API server: 30s, 2m; 0 waits forever' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l timeout -d 'How long the whole run may take; what is not read by then is not checked. Without it, reading a cluster may take 5m' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -s v -l verbose -d 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l checks -d 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l config -d 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l matrix -d 'Show who may call whom in a namespace: its workloads, and the ports of its Services'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l live -d 'Read the live cluster, also where --nodes, --logs or --diagnostics is given'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l disable-compression -d 'Ask for uncompressed answers: faster on the API server\'s own machine or a very fast link'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l probe -d 'Also query running programs through port-forwards: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -s q -l quiet -d 'Print nothing on standard error but errors'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -s o -l output -d 'Where to: FILE.tar.gz, FILE.tar.zst or a folder' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l bundle -d 'Read a bundle or dump instead of a cluster: a file, a folder or \'-\' for standard input. Repeatable; all of them together are one cluster' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l complete -d 'Say that the dump lists every object of these kinds (comma-separated, or \'all\'). Otherwise what a dump does not hold counts as not provided' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l nodes -d 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l logs -d 'Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); \'-\' for standard input. Only lines of known meaning are kept, redacted. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l diagnostics -d 'What linkerd diagnostics proxy-metrics or endpoints -o json printed, in a file; of linkerd diagnostics policy with the pod and port that it was asked of. It is compared with the cluster or bundle. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l at -d 'The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l linkerd-cli -d 'The linkerd CLI: its path (with a \'/\'), its version, or \'none\'. By default the one on PATH is asked when a live cluster is read' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -s L -l linkerd-namespace -d 'The namespace of the control plane; found by its labels when not given' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l cni-namespace -d 'The namespace of linkerd-cni; found by its labels when not given' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l node -d 'Only this node, ready or not. Repeatable; every Linux node when not given' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l node-image -d 'The image of the pods; it must hold this version of meshdoctor on its PATH' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l node-namespace -d 'The namespace of the pods; it must admit pods that mount files of the node' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l kubeconfig -d 'The kubeconfig file; otherwise $KUBECONFIG, ~/.kube/config, or the service account inside a pod' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l context -d 'The context of the kubeconfig to use. \'check\' takes several, and judges each cluster' -r -f -a "(kubectl config get-contexts -o name 2>/dev/null)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l as -d 'Act as this user' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l as-group -d 'Act as a member of this group. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l request-timeout -d 'How long to wait for one response of the API server: 30s, 2m; 0 waits forever' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l timeout -d 'How long the whole run may take; what is not read by then is not checked. Without it, reading a cluster may take 5m' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l only -d 'Run only these checks or categories (comma-separated)' -r -f -a "(__fish_complete_list , __meshdoctor_listed)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l skip -d 'Leave out these checks or categories (comma-separated)' -r -f -a "(__fish_complete_list , __meshdoctor_listed)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -s v -l verbose -d 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l checks -d 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l config -d 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l force -d 'Overwrite a file that is there'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l live -d 'Read the live cluster, also where --nodes, --logs or --diagnostics is given'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l node-pods -d 'Read the files of nodes by a short-lived pod on each, which is deleted again. Needs rights to create and delete pods; shows what it would create, and asks'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l yes -d 'Create the pods without asking'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l dry-run -d 'Print the manifests of the pods, and do nothing'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l disable-compression -d 'Ask for uncompressed answers: faster on the API server\'s own machine or a very fast link'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l probe -d 'Also query running programs through port-forwards: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l pre -d 'Collect what \'check --pre\' needs, before Linkerd is installed; this includes your own permissions'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l crds -d 'Collect what \'check --crds\' needs, before the control plane is installed'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -s q -l quiet -d 'Print nothing on standard error but errors'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -s o -l output -d 'Where to: FILE.tar.gz, FILE.tar.zst, a folder, or \'-\' for a tar.gz on standard output' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l bundle -d 'Read a bundle or dump instead of a cluster: a file, a folder or \'-\' for standard input. Repeatable; all of them together are one cluster' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l complete -d 'Say that the dump lists every object of these kinds (comma-separated, or \'all\'). Otherwise what a dump does not hold counts as not provided' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l nodes -d 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l logs -d 'Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); \'-\' for standard input. Only lines of known meaning are kept, redacted. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l diagnostics -d 'What linkerd diagnostics proxy-metrics or endpoints -o json printed, in a file; of linkerd diagnostics policy with the pod and port that it was asked of. It is compared with the cluster or bundle. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l at -d 'The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l linkerd-cli -d 'The linkerd CLI: its path (with a \'/\'), its version, or \'none\'. By default the one on PATH is asked when a live cluster is read' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -s L -l linkerd-namespace -d 'The namespace of the control plane; found by its labels when not given' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l cni-namespace -d 'The namespace of linkerd-cni; found by its labels when not given' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l kubeconfig -d 'The kubeconfig file; otherwise $KUBECONFIG, ~/.kube/config, or the service account inside a pod' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l context -d 'The context of the kubeconfig to use. \'check\' takes several, and judges each cluster' -r -f -a "(kubectl config get-contexts -o name 2>/dev/null)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l cluster -d 'The cluster of the kubeconfig to use, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l user -d 'The user of the kubeconfig to use, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l as -d 'Act as this user' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l as-group -d 'Act as a member of this group. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l request-timeout -d 'How long to wait for one response of the API server: 30s, 2m; 0 waits forever' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l timeout -d 'How long the whole run may take; what is not read by then is not checked. Without it, reading a cluster may take 5m' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l only -d 'Run only these checks or categories (comma-separated)' -r -f -a "(__fish_complete_list , __meshdoctor_listed)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l skip -d 'Leave out these checks or categories (comma-separated)' -r -f -a "(__fish_complete_list , __meshdoctor_listed)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -s n -l namespace -d 'Check only workloads in these namespaces (comma-separated). The control plane is always checked' -r -f -a "(__fish_complete_list , __meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l to -d 'The release of Linkerd that you are about to upgrade to: what that breaks and changes goes into the report' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l to-kubernetes -d 'With --to: the Kubernetes that the cluster will run by then, such as 1.35' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l from -d 'With --to: the release that is installed, where the evidence does not tell' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l to-cni -d 'The version of linkerd-cni that you are about to upgrade to, such as v1.6.8' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l expected-version -d 'The release that everything should run, such as edge-26.8.3 or stable-2.14.10' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l param -d 'A parameter of a check, in the place of what its card says: trust-anchor-expiring.days=30. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -s v -l verbose -d 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l checks -d 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l config -d 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l force -d 'Overwrite a file that is there'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l dry-run -d 'List every file that would leave this machine, how large it is and how much of it is redacted, and write nothing'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l live -d 'Read the live cluster, also where --nodes, --logs or --diagnostics is given'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l disable-compression -d 'Ask for uncompressed answers: faster on the API server\'s own machine or a very fast link'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l probe -d 'Also query running programs through port-forwards: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l pre -d 'Check whether the cluster can take Linkerd, before it is installed'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l crds -d 'Check the custom resource definitions, before the control plane is installed'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l linkerd-cni-enabled -d 'With --pre: the installation will use linkerd-cni, which must be installed and ready'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -s q -l quiet -d 'Print nothing on standard error but errors'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -s o -l output -d 'Where to: FILE.tar.gz, FILE.tar.zst, a folder, or \'-\' for a tar.gz on standard output. NODE.tar.gz when not given' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l root -d 'The root of the node\'s file system, where a pod has it mounted. No link leads out of it. By default /, or /host in a pod that has the node\'s files there' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l node -d 'The node\'s name in the cluster; by default the one that the kubelet was given, else /etc/hostname' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l conf-dir -d 'The directory of CNI configuration, instead of what the container runtime says' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l bin-dir -d 'A directory of plugin binaries, instead of what the container runtime says. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l checks -d 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l config -d 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l force -d 'Overwrite a file that is there'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l to-log -d 'Write to standard output as lines of a log, as the pods of \'collect --node-pods\' do: what --nodes reads again'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l hold -d 'With --to-log: stay until ended, and do nothing, as the pod of a DaemonSet must'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l no-run -d 'Run no program. By default crictl, journalctl, iptables --version and the version question of linkerd-cni are run where the root is /'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l ask-plugin -d 'Run the linkerd-cni binary of another root than / as well, to ask it for its versions'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -s q -l quiet -d 'Say nothing on standard error but errors'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -s o -l output -d 'Output format: table, short, json or yaml; html (one page that needs nothing else); sarif, junit, github (annotations), gitlab (code quality), markdown, prometheus (textfile) or ndjson for pipelines; plan, with --to, for the plan of the upgrade as Markdown; linkerd or linkerd-table for the rows of \'linkerd check\' as its JSON document or table. FORMAT=FILE writes it to a file. Repeatable' -r -f -a "table\t''
short\t''
json\t''
yaml\t''
linkerd\t''
linkerd-table\t''
plan\t''
sarif\t''
junit\t''
github\t''
gitlab\t''
markdown\t''
prometheus\t''
ndjson\t''
html\t''"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -s v -l verbose -d 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -l checks -d 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -l config -d 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -l cured -d 'Check the cluster after the fix'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -l coverage -d 'Say in a table what was not checked in full: why, and how to check it'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -s q -l quiet -d 'Print nothing on standard error but errors'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand list" -s o -l output -d 'The form of the list' -r -f -a "table\t'For people'
name\t'One id a line'
json\t'For programs'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand list" -l checks -d 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand list" -l config -d 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand list" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand list" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand explain" -s o -l output -d 'The form of the page' -r -f -a "text\t'For people'
markdown\t'As on the documentation page'
json\t'For programs'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand explain" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand explain" -l checks -d 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand explain" -l config -d 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand explain" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand explain" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand test" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand test" -l checks -d 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand test" -l config -d 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand test" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand test" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand test" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand new" -l for -d 'The kind of object that it is asked of, as kubectl takes it: pods, servers.policy.linkerd.io. A custom resource of others with its version, and its kind with --kind: certificates.v1.cert-manager.io' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand new" -l kind -d 'With --for: the kind of that custom resource as manifests name it, such as Certificate' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand new" -l dir -d 'The folder that it is written into' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand new" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand new" -l checks -d 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand new" -l config -d 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand new" -l cluster-scoped -d 'With --kind: its objects live in no namespace'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand new" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand new" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand new" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -l only -d 'Run only these checks or categories (comma-separated)' -r -f -a "(__fish_complete_list , __meshdoctor_listed)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -l skip -d 'Leave out these checks or categories (comma-separated)' -r -f -a "(__fish_complete_list , __meshdoctor_listed)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -l user -d 'Also print a binding to this user' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -l service-account -d 'Also print a binding to this service account' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -s L -l linkerd-namespace -d 'With --namespaced: the namespace of the control plane' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -l cni-namespace -d 'With --namespaced: the namespace of linkerd-cni' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -l checks -d 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -l config -d 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -l namespaced -d 'Grant what is read by name, Secrets and ConfigMaps, in its own namespace alone: by Roles in those of the control plane and of linkerd-cni and in kube-system, in the place of a ClusterRole. Lists are of all namespaces as before'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand completions" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand completions" -l checks -d 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand completions" -l config -d 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand completions" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand completions" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand config" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand config" -l checks -d 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand config" -l config -d 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand config" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand config" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand config" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand version" -s o -l output -d 'The form of the answer' -r -f -a "text\t'For people'
json\t'For programs'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand version" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand version" -l checks -d 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand version" -l config -d 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand version" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand version" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand version" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check diff policy injection reach collect ticket node-snapshot demo list explain test new rbac completions config version help" -f -a "check" -d 'Look at a mesh and say what is wrong, what proves it and what to do'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check diff policy injection reach collect ticket node-snapshot demo list explain test new rbac completions config version help" -f -a "diff" -d 'Compare two reports: what is new, changed, fixed or unchanged, and what cannot be compared'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check diff policy injection reach collect ticket node-snapshot demo list explain test new rbac completions config version help" -f -a "policy" -d 'Show what Linkerd\'s policy says of the ports of workloads: what takes them, who is let in by what, and what of that which people wrote counts for nothing'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check diff policy injection reach collect ticket node-snapshot demo list explain test new rbac completions config version help" -f -a "injection" -d 'Show what would be injected: for everything that makes pods whether it gets a proxy and why, which annotations act, and what the proxy would be asked to do'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check diff policy injection reach collect ticket node-snapshot demo list explain test new rbac completions config version help" -f -a "reach" -d 'Say whether a call would get from one workload to another, step by step as Linkerd takes it, and where it stops'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check diff policy injection reach collect ticket node-snapshot demo list explain test new rbac completions config version help" -f -a "collect" -d 'Save everything that the checks need, redacted, as one file for a ticket or for later'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check diff policy injection reach collect ticket node-snapshot demo list explain test new rbac completions config version help" -f -a "ticket" -d 'Write one small redacted archive for a support ticket: the report, and the evidence that its findings rest on'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check diff policy injection reach collect ticket node-snapshot demo list explain test new rbac completions config version help" -f -a "node-snapshot" -d 'Save what checks need to know of a node, read on the node itself or in a pod that has its files mounted'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check diff policy injection reach collect ticket node-snapshot demo list explain test new rbac completions config version help" -f -a "demo" -d 'Check an embedded cluster with a known failure; without a name, list them'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check diff policy injection reach collect ticket node-snapshot demo list explain test new rbac completions config version help" -f -a "list" -d 'List the checks'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check diff policy injection reach collect ticket node-snapshot demo list explain test new rbac completions config version help" -f -a "explain" -d 'Explain a check: what it finds, why it matters, how to fix it, what it cannot see'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check diff policy injection reach collect ticket node-snapshot demo list explain test new rbac completions config version help" -f -a "test" -d 'Run the cases of cards of your own, and say which do not say what their card claims'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check diff policy injection reach collect ticket node-snapshot demo list explain test new rbac completions config version help" -f -a "new" -d 'Write a card to start a check of your own from'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check diff policy injection reach collect ticket node-snapshot demo list explain test new rbac completions config version help" -f -a "rbac" -d 'Print the role that suffices for the chosen checks, as a manifest'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check diff policy injection reach collect ticket node-snapshot demo list explain test new rbac completions config version help" -f -a "completions" -d 'Print a completion script for a shell'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check diff policy injection reach collect ticket node-snapshot demo list explain test new rbac completions config version help" -f -a "config" -d 'Show what meshdoctor.toml sets, and where'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check diff policy injection reach collect ticket node-snapshot demo list explain test new rbac completions config version help" -f -a "version" -d 'Print the version of meshdoctor and of what it knows'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check diff policy injection reach collect ticket node-snapshot demo list explain test new rbac completions config version help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand explain" -f -a "(__meshdoctor_checks)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand list" -f -a "(__fish_complete_list , __meshdoctor_listed)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -f -a "cni-exit-127 cni-unauthorized debug-image-ignored injector-fails-open native-sidecar-typo"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -f -a "(__meshdoctor_namespaces)/"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -f -a "(__meshdoctor_namespaces)/"
