# Generated from the command line by `UPDATE=1 cargo test`; do not edit.
function __meshdoctor_checks
    printf '%s\n' annotation-as-label annotation-misplaced annotation-not-in-release annotation-not-inherited annotation-on-workload annotation-unknown annotation-value-invalid label-as-annotation anchor-replaced-at-renewal cert-manager-meshed control-plane-anchors-stale data-plane-anchors-disjoint data-plane-anchors-stale identity-serves-other-issuer issuer-drifted issuer-expired issuer-expiring issuer-key-mismatch issuer-named-like-anchor issuer-not-reloaded issuer-not-trusted issuer-outlives-anchor issuer-pinned-as-anchor issuer-renewal-unusable issuer-secret-invalid issuer-unsupported issuer-update-skipped node-clock-off old-anchor-removed-too-soon proxy-certificate-expired proxy-certificate-not-renewed proxy-certificate-of-old-issuer proxy-certificates-end-with-issuer proxy-clock-off proxy-trust-domain-differs running-anchors-outdated trust-anchor-duplicated trust-anchor-expired trust-anchor-expiring trust-anchor-unsupported trust-anchors-drifted trust-anchors-mixed trust-bundle-not-synced trust-roots-missing validator-ca-mismatch webhook-certificate-expired webhook-certificate-expiring webhook-certificate-stale webhook-configuration-altered webhook-key-mismatch webhook-secret-invalid chart-value-refused chart-value-type chart-value-unknown chart-value-unread cni-add-exit-127 cni-add-failed cni-add-unauthorized cni-bak-residue cni-boot-race cni-cilium-exclusive cni-conf-dir-mismatch cni-conf-none cni-conf-twin cni-conf-unparseable cni-config-drift cni-daemonset-deadlock cni-ds-coverage cni-entry-dangling cni-entry-duplicate cni-entry-first cni-entry-lookalike cni-entry-missing cni-entry-orphaned cni-entry-shadowed cni-entry-simulate cni-entry-stale cni-inotify-limit cni-installer-failing cni-interface-mode-leftover cni-ip6tables-missing cni-iptables-backend cni-iptables-binary-missing cni-iptables-mode-unsupported cni-kubeconfig-invalid cni-mode-mixed cni-multi-network cni-native-sidecar-version cni-network-not-ready cni-nsenter-missing cni-object-missing cni-plugin-defect cni-plugin-upgrade-hazard cni-pod-security cni-race-unprotected cni-rbac-missing cni-repair-misrendered cni-security-groups-strict cni-token-expired cni-token-in-conflist cni-token-not-rotated cni-token-revoked cni-validator-failed cni-validator-target cni-version-incompatible node-evidence-outdated api-server-port-redirected api-server-unreadable cluster-dns-not-ready cluster-domain-not-served cluster-networks-incomplete cluster-networks-without-nodes control-plane-annotation-ignored control-plane-below-ha control-plane-churning control-plane-domains-differ control-plane-ha-partial control-plane-missing control-plane-name-unresolved control-plane-not-evictable control-plane-not-ready control-plane-on-one-node control-plane-pods-refused control-plane-probe-times-out control-plane-rbac-missing control-plane-reports-errors control-plane-restarting control-plane-role-missing control-plane-service-missing crd-missing destination-replica-outdated destination-replica-stuck destination-updates-delayed endpoints-answer-stale extension-command-missing extension-namespace-twice extension-restarting extension-service-account-missing gitops-apply-failed gitops-ignore-ineffective heartbeat-failing ipv6-setting-mismatch linkerd-config-missing linkerd-config-unreadable linkerd-image-not-pulled namespace-terminating network-policy-blocks-webhooks pod-network-overlaps proxy-cut-off proxy-init-not-root removed-component-left rollout-stuck service-account-missing validator-not-called validator-webhook-missing app-runs-as-proxy application-refuses-connections autoscaler-held-by-proxy await-hook-failing calico-connect-time-balancing call-to-missing-pod call-without-mtls cilium-socket-balancing data-plane-namespace-missing deleted-profile-in-use endpoint-refuses-ipv6 endpoints-unreachable external-workload-without-endpoint inbound-requests-shed init-container-before-proxy injected-container-not-started local-endpoints-missing monitor-not-selected nested-network-refused network-policy-blocks-control-plane network-policy-blocks-proxy network-policy-blocks-scrapes opaque-defaults-lost opaque-port-missing opaque-port-speaks-http opaque-ports-mismatch outbound-requests-shed pod-address-shared pod-dns-bypasses-cluster probe-fails-behind-proxy protocol-detection-times-out protocol-not-detected proxies-fail-on-some-nodes proxy-control-plane-differs proxy-cpu-limit-low proxy-defaults-broken proxy-ended-with-error proxy-endpoints-stale proxy-exports-many-series proxy-file-descriptors-low proxy-init-failing proxy-killed-at-shutdown proxy-memory-near-limit proxy-not-ready proxy-not-redirected proxy-of-removed-control-plane proxy-port-taken proxy-prestop-failing proxy-reports-errors proxy-request-unschedulable proxy-variable-undefined route-ignored-by-protocol route-of-two-controllers server-identity-refused service-without-endpoints skip-outbound-ports-lost trace-collector-identity trace-collector-unreachable traffic-worse-than-before workload-account-missing workload-not-ready debug-image-ignored extension-injector-unavailable fargate-pod-injected hook-runs-in-proxy host-network-not-injected identity-token-missing injected-container-altered injected-name-too-long injector-ca-mismatch injector-fails-closed-single-replica injector-fails-open injector-not-called injector-unavailable injector-webhook-missing kube-system-not-exempt linkerd-cni-not-exempt other-mesh-sidecar pod-missing-proxy pod-security-refuses-proxy pods-refused proxy-refused-by-quota scc-refuses-proxy token-not-mounted webhook-unreachable windows-pod-injected workload-half-meshed jaeger-cli-skew jaeger-injector-conflict jaeger-namespace-empty jaeger-namespace-unlabelled jaeger-pods-not-injected jaeger-pods-not-running jaeger-proxy-outdated jaeger-proxy-unhealthy control-plane-credentials-incomplete exported-headless-without-hostnames gateway-identity-mismatch gateway-probe-failing gateway-refuses-requests gateway-unavailable link-anchors-differ link-crd-missing link-credentials-unusable link-invalid link-probe-port-undeclared link-version-skew mirror-endpoints-outdated mirror-service-orphaned mirror-service-pruned mirror-service-without-endpoints multicluster-cli-skew multicluster-namespace-unlabelled multicluster-pods-not-running multicluster-proxy-outdated multicluster-proxy-unhealthy remote-account-missing service-mirror-legacy service-mirror-not-running service-mirror-reports-errors service-mirror-role-missing service-not-mirrored job-held-by-proxy job-proxy-not-ended native-sidecar-key-misplaced native-sidecar-key-misspelled native-sidecar-key-not-read native-sidecar-key-overridden native-sidecar-kubernetes-too-old native-sidecar-value-invalid native-sidecar-wait-refused proxy-stopped-early apply-refused authentication-missing caller-without-identity default-policy-not-applied denied-although-authorized hook-refused identity-unknown identity-without-proxy ingress-bypasses-routes ingress-client-address-lost ingress-mode-external-name ingress-mode-opaque-port ingress-refused mirror-bypassed outbound-connection-forbidden pod-started-without-policy policy-answer-differs policy-audits policy-denies policy-ended-connections policy-ignored policy-target-missing policy-unreadable probe-networks-without-nodes probe-refused profile-shadows-route profile-unused proxy-policy-stale requests-rate-limited requests-without-route retry-without-condition route-backend-elsewhere route-backend-port-undeclared route-backend-without-endpoints route-not-accepted route-on-tls-port route-parent-port-undeclared route-status-unwritten route-without-clients scrape-refused server-http-on-opaque-port server-http-on-tls-port server-selects-nothing server-without-authorization servers-overlap service-routes-incomplete session-affinity-ignored skipped-port-bypasses-policy skipped-port-hides-identity traffic-split-backend-missing traffic-split-ignored unmeshed-endpoint-bypasses-policy workload-without-authorization aggregation-layer-off control-plane-namespace-exists install-cluster-rights-missing install-leftovers install-rights-missing node-clock-skew upgrade-changes-default upgrade-changes-policy upgrade-closes-shutdown upgrade-deletes-gateway-api upgrade-drops-architecture upgrade-drops-extension upgrade-drops-mesh-tls upgrade-drops-opencensus upgrade-drops-value upgrade-heeds-timeouts upgrade-image-refused upgrade-needs-storage-migration upgrade-orphans-gateway-api upgrade-path upgrade-pinned-proxy upgrade-refuses-undeclared-port upgrade-renames-port upgrade-rollout-blocked upgrade-stored-values-unusable upgrade-target-not-recommended cli-control-plane-skew cli-outdated control-plane-mixed-versions control-plane-outdated crd-stored-version-gone crds-overwritten-by-cli data-plane-skew gateway-api-after-controller gateway-api-missing gateway-api-owned-elsewhere gateway-api-releases-differ gateway-api-unsupported known-defect kubernetes-unsupported route-version-not-served stale-endpoints-release viz-address-unreachable viz-cli-skew viz-dashboard-host-refused viz-data-plane-namespace-missing viz-metrics-api-not-running viz-metrics-missing viz-namespace-empty viz-namespace-unlabelled viz-pods-not-injected viz-pods-not-running viz-prometheus-missing viz-proxy-outdated viz-proxy-unhealthy viz-role-missing viz-scrape-mismatch viz-scrape-unauthorized viz-self-check-failing viz-tap-api-unavailable viz-tap-certificate-expiring viz-tap-certificate-invalid viz-tap-injector-ca-mismatch viz-tap-injector-missing viz-tap-key-mismatch viz-tap-not-enabled viz-tap-refuses-users
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

complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "check" -d 'Check a mesh: what is broken, the evidence, and how to repair it'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "explain" -d 'Explain a check, a log line, a header, a status or an exit code'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "reach" -d 'Trace a connection between two workloads, and show where it fails'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "policy" -d 'Show who may connect to the ports of workloads, and why'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "injection" -d 'Show which pods would be injected, and their proxy settings'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "sync" -d 'Show whether control-plane replicas and proxies are in sync'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "rotate" -d 'Show the state of a certificate rotation and the next safe step'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "fix" -d 'Print the repair plan as a script or patches, or edit manifests'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "diff" -d 'Compare two reports: new, changed, fixed and unchanged findings'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "report" -d 'Show a saved JSON report in any format'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "collect" -d 'Save the evidence of the checks as one redacted file (a bundle)'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "ticket" -d 'Write a small redacted archive for a support ticket'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "node-snapshot" -d 'Save the CNI and runtime files of a node'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "demo" -d 'Check an embedded demo cluster with a known failure'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "list" -d 'List the checks'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "new" -d 'Write a card to start your own check from'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "test" -d 'Run the test cases of your own checks'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "rbac" -d 'Print the RBAC role that the chosen checks need, as a manifest'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "mcp" -d 'Serve the checks to an AI agent (Model Context Protocol)'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "completions" -d 'Print a completion script for a shell'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "config" -d 'Show the settings of meshdoctor.toml and their origin'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "version" -d 'Print the version of meshdoctor and of its release data'
complete -c meshdoctor -n "__fish_meshdoctor_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l bundle -d 'Read a bundle or dump instead of a cluster: a file, a folder or \'-\' for standard input. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l complete -d 'Declare that the dump lists every object of these kinds (comma-separated, or \'all\')' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l nodes -d 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l logs -d 'Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l proxies -d 'Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l max-proxies -d 'Maximum number of proxies whose metrics --proxies reads, from 1 to 2000; 200 by default' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l prometheus -d 'Read the metrics of all proxies from a Prometheus server: its URL, or \'viz\' for the one of the viz extension' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l prometheus-window -d 'The time between the two values, from 1m to 24h' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l prometheus-token-file -d 'File with a bearer token for the Prometheus server; by default $MESHDOCTOR_PROMETHEUS_TOKEN, if set' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l prometheus-ca -d 'File with the certificate authority of the Prometheus server (PEM); by default those of the system' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l prometheus-label -d 'Read only series with this label, such as cluster=east if the server has series of several clusters. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l diagnostics -d 'Output of \'linkerd diagnostics\' in a file, to compare with the cluster or bundle. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l at -d 'Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l linkerd-cli -d 'The linkerd CLI: its path (with a \'/\'), its version, or \'none\'' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -s L -l linkerd-namespace -d 'Namespace of the control plane; by default found by its labels' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l cni-namespace -d 'Namespace of linkerd-cni; by default found by its labels' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l kubeconfig -d 'Kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account inside a pod' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l context -d 'Kubeconfig context. \'check\' accepts several and checks each cluster' -r -f -a "(kubectl config get-contexts -o name 2>/dev/null)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l cluster -d 'Kubeconfig cluster, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l user -d 'Kubeconfig user, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l as -d 'Impersonate this user' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l as-group -d 'Impersonate this group. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l request-timeout -d 'Time limit for one response of the API server: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l timeout -d 'Time limit for the whole run; the rest is not checked. At least 10s are left for the checks. Without the flag, reading a cluster and the checks may take 5m each' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l bundles -d 'Check every bundle and dump in a folder, each as its own cluster, named after its file' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l max-age -d 'With --bundles: treat bundles that are older, and dumps of unknown age, as clusters that could not be checked' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l expect -d 'With --bundles: names of the clusters to expect. A cluster without a bundle counts as not checked' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l parallel -d 'Number of clusters to read at the same time' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l only -d 'Run only these checks, categories or known defects (known-defect/ID), comma-separated' -r -f -a "(__fish_complete_list , __meshdoctor_listed)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l skip -d 'Skip these checks, categories or known defects (known-defect/ID), comma-separated' -r -f -a "(__fish_complete_list , __meshdoctor_listed)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -s n -l namespace -d 'Check only workloads in these namespaces (comma-separated). The control plane is always checked' -r -f -a "(__fish_complete_list , __meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l to-cni -d 'The linkerd-cni version of the next upgrade, such as v1.6.8: reports what that upgrade would break' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l manifests -d 'Check manifests without a cluster: files, folders or \'-\' for standard input. Several paths may follow' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l linkerd-version -d 'With --manifests: the Linkerd release to check for, if they do not contain the control plane. With --pre or --crds: the release to install' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l kubernetes-version -d 'With --manifests: the Kubernetes version to check for, such as 1.34' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l with -d 'Check the cluster or bundle as it would be with these manifests applied. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l prune -d 'With --with: also delete objects with these labels that the manifests do not name, like kubectl apply --prune' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l values -d 'Check values for a Linkerd Helm chart: unknown and unused values, wrong types, and values that the chart rejects. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l chart -d 'The chart that --values are for, and its release: linkerd-control-plane@2.19, linkerd-viz@edge-26.5.5' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l into -d 'Namespace for manifests that name none, as with kubectl apply -n (default: default)' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l to -d 'Preview an upgrade to this Linkerd release: a minor such as 2.20, or a release such as edge-26.8.3' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l to-kubernetes -d 'With --to: Kubernetes version at the time of the upgrade, such as 1.35' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l from -d 'With --to: the installed release, if the evidence does not contain it' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l expected-version -d 'The release that all components should run, such as edge-26.8.3 or stable-2.14.10' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l fail-on -d 'Exit with 1 if a finding has at least this severity; with :observed, inferred (\'likely\') findings do not count' -r -f -a "error\t''
warning\t''
info\t''
never\t''
error:observed\t''
warning:observed\t''"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l severity -d 'Override the severity of a check\'s findings: error, warning or info. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l param -d 'Override a check\'s parameter: trust-anchor-expiring.days=30. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l on-not-checked -d 'Exit status if requested evidence was unavailable' -r -f -a "fail\t'Exit with 4'
pass\t'Exit with 0'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l waivers -d 'Accept the findings in a YAML file of waivers. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l baseline -d 'Ignore the findings of an earlier report (-o json=FILE) of the same cluster' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l verify -d 'Recheck the findings of an earlier report (-o json=FILE) with fresh evidence: fixed, still there, or not checked' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l before -d 'Compare the numbers of proxies (requests, failures, latency, memory) with those of an earlier report or bundle' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l confidence -d 'With \'observed\', list only findings that the evidence proves' -r -f -a "likely\t'Also inferred findings'
observed\t'Only findings that the evidence proves'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l wait -d 'Retry for up to DURATION (5m) until the checks pass, like linkerd check' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -s o -l output -d 'Print the report in this format (default table), or write it to a file with FORMAT=FILE. Repeatable' -r -f -a "table\t''
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
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l save -d 'Save the evidence as a bundle: FILE.tar.gz, FILE.tar.zst or a folder' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -s v -l verbose -d 'Show all details; for check, also symptoms, infos and versions' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l knowledge -d 'Read release data from this folder instead of the embedded data' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l live -d 'Read the live cluster even if --nodes, --logs or --diagnostics is given'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l disable-compression -d 'Request uncompressed responses; faster on the API server\'s machine or a very fast link'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l probe -d 'Also query running programs through port-forwards'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l all-contexts -d 'Check the cluster of every kubeconfig context, as with several --context'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -s A -l all-namespaces -d 'Check workloads in all namespaces, as without --namespace'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l pre -d 'Check whether the cluster can run Linkerd, before it is installed'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l crds -d 'Check the custom resource definitions, before the control plane is installed'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l linkerd-cni-enabled -d 'With --pre: the installation will use linkerd-cni, which must be installed and ready'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l proxy -d 'With -o linkerd, also print the data-plane rows. meshdoctor\'s own reports always include them'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l coverage -d 'Show what was not checked completely, why, and how to check it'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l publish -d 'Also write the report into the cluster, for policy reporters. This needs a role of its own'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l force -d 'Let --save overwrite an existing file'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -s q -l quiet -d 'Print no warnings or progress on standard error'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand check" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand explain" -s o -l output -d 'Output format' -r -f -a "text\t'Plain text'
markdown\t'Markdown, as on the documentation page'
json\t'JSON'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand explain" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand explain" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand explain" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand explain" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand explain" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l traffic -d 'Kind of traffic. By default, the report names the kinds that fail' -r -f -a "http1\t'HTTP/1'
http2\t'HTTP/2, such as gRPC'
client-first\t'Another protocol in which the client sends the first byte'
server-first\t'Another protocol in which the server sends the first byte'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -s n -l namespace -d 'Namespace for names without one, and for --matrix' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -s o -l output -d 'Output format' -r -f -a "table\t'A table'
json\t'JSON'
html\t'An HTML page with the path of each connection'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l bundle -d 'Read a bundle or dump instead of a cluster: a file, a folder or \'-\' for standard input. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l complete -d 'Declare that the dump lists every object of these kinds (comma-separated, or \'all\')' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l nodes -d 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l logs -d 'Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l proxies -d 'Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l max-proxies -d 'Maximum number of proxies whose metrics --proxies reads, from 1 to 2000; 200 by default' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l prometheus -d 'Read the metrics of all proxies from a Prometheus server: its URL, or \'viz\' for the one of the viz extension' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l prometheus-window -d 'The time between the two values, from 1m to 24h' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l prometheus-token-file -d 'File with a bearer token for the Prometheus server; by default $MESHDOCTOR_PROMETHEUS_TOKEN, if set' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l prometheus-ca -d 'File with the certificate authority of the Prometheus server (PEM); by default those of the system' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l prometheus-label -d 'Read only series with this label, such as cluster=east if the server has series of several clusters. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l diagnostics -d 'Output of \'linkerd diagnostics\' in a file, to compare with the cluster or bundle. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l at -d 'Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l linkerd-cli -d 'The linkerd CLI: its path (with a \'/\'), its version, or \'none\'' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -s L -l linkerd-namespace -d 'Namespace of the control plane; by default found by its labels' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l cni-namespace -d 'Namespace of linkerd-cni; by default found by its labels' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l kubeconfig -d 'Kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account inside a pod' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l context -d 'Kubeconfig context. \'check\' accepts several and checks each cluster' -r -f -a "(kubectl config get-contexts -o name 2>/dev/null)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l cluster -d 'Kubeconfig cluster, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l user -d 'Kubeconfig user, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l as -d 'Impersonate this user' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l as-group -d 'Impersonate this group. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l request-timeout -d 'Time limit for one response of the API server: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l timeout -d 'Time limit for the whole run; the rest is not checked. At least 10s are left for the checks. Without the flag, reading a cluster and the checks may take 5m each' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -s v -l verbose -d 'Show all details; for check, also symptoms, infos and versions' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l matrix -d 'Show which workloads of a namespace can connect to which of its Service ports'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l live -d 'Read the live cluster even if --nodes, --logs or --diagnostics is given'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l disable-compression -d 'Request uncompressed responses; faster on the API server\'s machine or a very fast link'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l probe -d 'Also query running programs through port-forwards'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -s q -l quiet -d 'Print no warnings or progress on standard error'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l to -d 'Show the outbound policy of clients for a Service, NAMESPACE/NAME[:PORT], or an address, ADDRESS:PORT' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -s n -l namespace -d 'Namespace of names that are given without one; without names, all injected workloads of it' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l from -d 'With --to: namespace of the clients (default: the Service\'s, or \'default\' for addresses)' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -s o -l output -d 'Output format' -r -f -a "table\t'A table'
json\t'JSON'
controller\t'The response of the policy controller to proxies: {"inbound": {"NAMESPACE/POD": {"PORT": ANSWER}}}, with --to {"outbound": [{"query": QUERY, "policy": ANSWER}]}'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l bundle -d 'Read a bundle or dump instead of a cluster: a file, a folder or \'-\' for standard input. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l complete -d 'Declare that the dump lists every object of these kinds (comma-separated, or \'all\')' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l nodes -d 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l logs -d 'Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l proxies -d 'Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l max-proxies -d 'Maximum number of proxies whose metrics --proxies reads, from 1 to 2000; 200 by default' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l prometheus -d 'Read the metrics of all proxies from a Prometheus server: its URL, or \'viz\' for the one of the viz extension' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l prometheus-window -d 'The time between the two values, from 1m to 24h' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l prometheus-token-file -d 'File with a bearer token for the Prometheus server; by default $MESHDOCTOR_PROMETHEUS_TOKEN, if set' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l prometheus-ca -d 'File with the certificate authority of the Prometheus server (PEM); by default those of the system' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l prometheus-label -d 'Read only series with this label, such as cluster=east if the server has series of several clusters. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l diagnostics -d 'Output of \'linkerd diagnostics\' in a file, to compare with the cluster or bundle. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l at -d 'Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l linkerd-cli -d 'The linkerd CLI: its path (with a \'/\'), its version, or \'none\'' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -s L -l linkerd-namespace -d 'Namespace of the control plane; by default found by its labels' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l cni-namespace -d 'Namespace of linkerd-cni; by default found by its labels' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l kubeconfig -d 'Kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account inside a pod' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l context -d 'Kubeconfig context. \'check\' accepts several and checks each cluster' -r -f -a "(kubectl config get-contexts -o name 2>/dev/null)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l cluster -d 'Kubeconfig cluster, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l user -d 'Kubeconfig user, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l as -d 'Impersonate this user' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l as-group -d 'Impersonate this group. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l request-timeout -d 'Time limit for one response of the API server: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l timeout -d 'Time limit for the whole run; the rest is not checked. At least 10s are left for the checks. Without the flag, reading a cluster and the checks may take 5m each' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -s v -l verbose -d 'Show all details; for check, also symptoms, infos and versions' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l generate -d 'Print policies as manifests for the Service ports of the given namespaces, which allow what the objects show'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l enforce -d 'With --generate: deny every client that the manifests do not name'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l live -d 'Read the live cluster even if --nodes, --logs or --diagnostics is given'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l disable-compression -d 'Request uncompressed responses; faster on the API server\'s machine or a very fast link'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l probe -d 'Also query running programs through port-forwards'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -s q -l quiet -d 'Print no warnings or progress on standard error'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -s n -l namespace -d 'Namespace of names that are given without one; without names, all pods and workloads of it' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l manifests -d 'Show the pods of manifests: files, folders or \'-\' for standard input. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l linkerd-version -d 'The Linkerd release, if neither cluster nor manifests contain a control plane' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l into -d 'Namespace for manifests that name none, as with kubectl apply -n (default: default)' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -s o -l output -d 'Output format' -r -f -a "table\t'A table'
json\t'JSON'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l bundle -d 'Read a bundle or dump instead of a cluster: a file, a folder or \'-\' for standard input. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l complete -d 'Declare that the dump lists every object of these kinds (comma-separated, or \'all\')' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l nodes -d 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l logs -d 'Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l proxies -d 'Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l max-proxies -d 'Maximum number of proxies whose metrics --proxies reads, from 1 to 2000; 200 by default' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l prometheus -d 'Read the metrics of all proxies from a Prometheus server: its URL, or \'viz\' for the one of the viz extension' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l prometheus-window -d 'The time between the two values, from 1m to 24h' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l prometheus-token-file -d 'File with a bearer token for the Prometheus server; by default $MESHDOCTOR_PROMETHEUS_TOKEN, if set' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l prometheus-ca -d 'File with the certificate authority of the Prometheus server (PEM); by default those of the system' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l prometheus-label -d 'Read only series with this label, such as cluster=east if the server has series of several clusters. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l diagnostics -d 'Output of \'linkerd diagnostics\' in a file, to compare with the cluster or bundle. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l at -d 'Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l linkerd-cli -d 'The linkerd CLI: its path (with a \'/\'), its version, or \'none\'' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -s L -l linkerd-namespace -d 'Namespace of the control plane; by default found by its labels' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l cni-namespace -d 'Namespace of linkerd-cni; by default found by its labels' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l kubeconfig -d 'Kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account inside a pod' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l context -d 'Kubeconfig context. \'check\' accepts several and checks each cluster' -r -f -a "(kubectl config get-contexts -o name 2>/dev/null)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l cluster -d 'Kubeconfig cluster, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l user -d 'Kubeconfig user, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l as -d 'Impersonate this user' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l as-group -d 'Impersonate this group. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l request-timeout -d 'Time limit for one response of the API server: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l timeout -d 'Time limit for the whole run; the rest is not checked. At least 10s are left for the checks. Without the flag, reading a cluster and the checks may take 5m each' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -s v -l verbose -d 'Show all details; for check, also symptoms, infos and versions' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l live -d 'Read the live cluster even if --nodes, --logs or --diagnostics is given'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l disable-compression -d 'Request uncompressed responses; faster on the API server\'s machine or a very fast link'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l probe -d 'Also query running programs through port-forwards'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -s q -l quiet -d 'Print no warnings or progress on standard error'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand injection" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -s n -l namespace -d 'Show only proxies in these namespaces (comma-separated). The control plane is always shown' -r -f -a "(__fish_complete_list , __meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -s o -l output -d 'Output format' -r -f -a "table\t'A table'
json\t'JSON'
yaml\t'YAML'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l bundle -d 'Read a bundle or dump instead of a cluster: a file, a folder or \'-\' for standard input. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l complete -d 'Declare that the dump lists every object of these kinds (comma-separated, or \'all\')' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l nodes -d 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l logs -d 'Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l proxies -d 'Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l max-proxies -d 'Maximum number of proxies whose metrics --proxies reads, from 1 to 2000; 200 by default' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l prometheus -d 'Read the metrics of all proxies from a Prometheus server: its URL, or \'viz\' for the one of the viz extension' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l prometheus-window -d 'The time between the two values, from 1m to 24h' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l prometheus-token-file -d 'File with a bearer token for the Prometheus server; by default $MESHDOCTOR_PROMETHEUS_TOKEN, if set' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l prometheus-ca -d 'File with the certificate authority of the Prometheus server (PEM); by default those of the system' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l prometheus-label -d 'Read only series with this label, such as cluster=east if the server has series of several clusters. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l diagnostics -d 'Output of \'linkerd diagnostics\' in a file, to compare with the cluster or bundle. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l at -d 'Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l linkerd-cli -d 'The linkerd CLI: its path (with a \'/\'), its version, or \'none\'' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -s L -l linkerd-namespace -d 'Namespace of the control plane; by default found by its labels' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l cni-namespace -d 'Namespace of linkerd-cni; by default found by its labels' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l kubeconfig -d 'Kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account inside a pod' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l context -d 'Kubeconfig context. \'check\' accepts several and checks each cluster' -r -f -a "(kubectl config get-contexts -o name 2>/dev/null)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l cluster -d 'Kubeconfig cluster, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l user -d 'Kubeconfig user, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l as -d 'Impersonate this user' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l as-group -d 'Impersonate this group. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l request-timeout -d 'Time limit for one response of the API server: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l timeout -d 'Time limit for the whole run; the rest is not checked. At least 10s are left for the checks. Without the flag, reading a cluster and the checks may take 5m each' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -s v -l verbose -d 'Show all details; for check, also symptoms, infos and versions' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l live -d 'Read the live cluster even if --nodes, --logs or --diagnostics is given'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l disable-compression -d 'Request uncompressed responses; faster on the API server\'s machine or a very fast link'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l probe -d 'Also query running programs through port-forwards'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -s q -l quiet -d 'Print no warnings or progress on standard error'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand sync" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l of -d 'What to rotate; by default the issuer alone if it expires within 60 days and its trust anchor does not, else both' -r -f -a "anchor\t'The trust anchor, and the issuer under it'
issuer\t'The issuer, under the current trust anchor'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l may -d 'Report with the exit status whether this step may be done now, instead of the next step' -r -f -a "add-anchor\t'Add a new trust anchor to the bundle'
restart-control-plane\t'Restart the control plane with the new bundle'
restart-workloads\t'Restart the meshed workloads with the new bundle'
replace-issuer\t'Replace the issuer'
renew-certificates\t'Renew certificates of the old issuer'
remove-anchor\t'Remove the old trust anchor from the bundle'
drop-old-anchor\t'Restart everything that still trusts the old anchor'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l issuer-since -d 'A time at which the current issuer was already in place, if no event shows it (RFC 3339)' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l bundle-since -d 'A time at which the current bundle of trust anchors was already in place (RFC 3339)' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l confirm -d 'State that this is ready for the next step; use it only after you have checked it. Repeatable' -r -f -a "linked-clusters\t'The clusters that this cluster has Links to'
external-workloads\t'The proxies of ExternalWorkloads'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -s o -l output -d 'Output format' -r -f -a "table\t'Text'
json\t'JSON'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l bundle -d 'Read a bundle or dump instead of a cluster: a file, a folder or \'-\' for standard input. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l complete -d 'Declare that the dump lists every object of these kinds (comma-separated, or \'all\')' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l nodes -d 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l logs -d 'Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l proxies -d 'Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l max-proxies -d 'Maximum number of proxies whose metrics --proxies reads, from 1 to 2000; 200 by default' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l prometheus -d 'Read the metrics of all proxies from a Prometheus server: its URL, or \'viz\' for the one of the viz extension' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l prometheus-window -d 'The time between the two values, from 1m to 24h' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l prometheus-token-file -d 'File with a bearer token for the Prometheus server; by default $MESHDOCTOR_PROMETHEUS_TOKEN, if set' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l prometheus-ca -d 'File with the certificate authority of the Prometheus server (PEM); by default those of the system' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l prometheus-label -d 'Read only series with this label, such as cluster=east if the server has series of several clusters. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l diagnostics -d 'Output of \'linkerd diagnostics\' in a file, to compare with the cluster or bundle. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l at -d 'Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l linkerd-cli -d 'The linkerd CLI: its path (with a \'/\'), its version, or \'none\'' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -s L -l linkerd-namespace -d 'Namespace of the control plane; by default found by its labels' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l cni-namespace -d 'Namespace of linkerd-cni; by default found by its labels' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l kubeconfig -d 'Kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account inside a pod' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l context -d 'Kubeconfig context. \'check\' accepts several and checks each cluster' -r -f -a "(kubectl config get-contexts -o name 2>/dev/null)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l cluster -d 'Kubeconfig cluster, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l user -d 'Kubeconfig user, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l as -d 'Impersonate this user' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l as-group -d 'Impersonate this group. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l request-timeout -d 'Time limit for one response of the API server: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l timeout -d 'Time limit for the whole run; the rest is not checked. At least 10s are left for the checks. Without the flag, reading a cluster and the checks may take 5m each' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -s v -l verbose -d 'Show all details; for check, also symptoms, infos and versions' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l live -d 'Read the live cluster even if --nodes, --logs or --diagnostics is given'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l disable-compression -d 'Request uncompressed responses; faster on the API server\'s machine or a very fast link'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l probe -d 'Also query running programs through port-forwards'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -s q -l quiet -d 'Print no warnings or progress on standard error'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rotate" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l manifests -d 'Repair manifests instead of a cluster: files or folders. Several paths may follow. Shows a diff unless --write is given' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l values -d 'Repair values for a Linkerd Helm chart instead, as with check --values. Repeatable; later files override earlier ones' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l chart -d 'The chart that --values are for, and its release: linkerd-control-plane@2.19, linkerd-viz@edge-26.5.5' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l linkerd-version -d 'With --manifests: the Linkerd release to check for, if they do not contain the control plane' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l kubernetes-version -d 'With --manifests: the Kubernetes version to check for, such as 1.34' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l into -d 'Namespace for manifests that name none, as with kubectl apply -n (default: default)' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l only -d 'Run only these checks, categories or known defects (known-defect/ID), comma-separated' -r -f -a "(__fish_complete_list , __meshdoctor_listed)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l skip -d 'Skip these checks, categories or known defects (known-defect/ID), comma-separated' -r -f -a "(__fish_complete_list , __meshdoctor_listed)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -s n -l namespace -d 'Repair only workloads in these namespaces (comma-separated). The control plane is always checked' -r -f -a "(__fish_complete_list , __meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -s o -l output -d 'Output format. The default is a script for a cluster, and a diff for files' -r -f -a "script\t'A shell script that stops at the first failure and at each manual step'
patch\t'Patches of objects, in the form of a kustomization'
values\t'The chart values that steps set, for the values files of each chart'
diff\t'A unified diff of the files of --manifests or --values'
sarif\t'The findings of these files as SARIF, each with its edit under `fixes`'
json\t'JSON'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l bundle -d 'Read a bundle or dump instead of a cluster: a file, a folder or \'-\' for standard input. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l complete -d 'Declare that the dump lists every object of these kinds (comma-separated, or \'all\')' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l nodes -d 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l logs -d 'Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l proxies -d 'Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l max-proxies -d 'Maximum number of proxies whose metrics --proxies reads, from 1 to 2000; 200 by default' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l prometheus -d 'Read the metrics of all proxies from a Prometheus server: its URL, or \'viz\' for the one of the viz extension' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l prometheus-window -d 'The time between the two values, from 1m to 24h' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l prometheus-token-file -d 'File with a bearer token for the Prometheus server; by default $MESHDOCTOR_PROMETHEUS_TOKEN, if set' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l prometheus-ca -d 'File with the certificate authority of the Prometheus server (PEM); by default those of the system' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l prometheus-label -d 'Read only series with this label, such as cluster=east if the server has series of several clusters. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l diagnostics -d 'Output of \'linkerd diagnostics\' in a file, to compare with the cluster or bundle. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l at -d 'Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l linkerd-cli -d 'The linkerd CLI: its path (with a \'/\'), its version, or \'none\'' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -s L -l linkerd-namespace -d 'Namespace of the control plane; by default found by its labels' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l cni-namespace -d 'Namespace of linkerd-cni; by default found by its labels' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l kubeconfig -d 'Kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account inside a pod' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l context -d 'Kubeconfig context. \'check\' accepts several and checks each cluster' -r -f -a "(kubectl config get-contexts -o name 2>/dev/null)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l cluster -d 'Kubeconfig cluster, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l user -d 'Kubeconfig user, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l as -d 'Impersonate this user' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l as-group -d 'Impersonate this group. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l request-timeout -d 'Time limit for one response of the API server: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l timeout -d 'Time limit for the whole run; the rest is not checked. At least 10s are left for the checks. Without the flag, reading a cluster and the checks may take 5m each' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -s v -l verbose -d 'Show all details; for check, also symptoms, infos and versions' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l write -d 'Edit the files of --manifests or --values, and check them again'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l apply -d 'Run the steps on the cluster, each after a confirmation, and check the cluster again after each. Stops if one fails'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l live -d 'Read the live cluster even if --nodes, --logs or --diagnostics is given'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l disable-compression -d 'Request uncompressed responses; faster on the API server\'s machine or a very fast link'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l probe -d 'Also query running programs through port-forwards'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -s q -l quiet -d 'Print no warnings or progress on standard error'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand fix" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand diff" -l fail-on -d 'Exit with 1 if findings of at least this severity are new or worse (default error)' -r -f -a "error\t''
warning\t''
info\t''
never\t''
error:observed\t''
warning:observed\t''"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand diff" -s o -l output -d 'Output format' -r -f -a "table\t'A table'
json\t'JSON'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand diff" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand diff" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand diff" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand diff" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand diff" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand report" -s o -l output -d 'Print the report in this format (default table), or write it to a file with FORMAT=FILE. Repeatable' -r -f -a "table\t''
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
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand report" -s v -l verbose -d 'Show all details; for check, also symptoms, infos and versions' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand report" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand report" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand report" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand report" -l coverage -d 'Show what was not checked completely, why, and how to check it'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand report" -s q -l quiet -d 'Print no warnings or progress on standard error'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand report" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand report" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -s o -l output -d 'Destination: FILE.tar.gz, FILE.tar.zst or a folder' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l bundle -d 'Read a bundle or dump instead of a cluster: a file, a folder or \'-\' for standard input. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l complete -d 'Declare that the dump lists every object of these kinds (comma-separated, or \'all\')' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l nodes -d 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l logs -d 'Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l proxies -d 'Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l max-proxies -d 'Maximum number of proxies whose metrics --proxies reads, from 1 to 2000; 200 by default' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l prometheus -d 'Read the metrics of all proxies from a Prometheus server: its URL, or \'viz\' for the one of the viz extension' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l prometheus-window -d 'The time between the two values, from 1m to 24h' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l prometheus-token-file -d 'File with a bearer token for the Prometheus server; by default $MESHDOCTOR_PROMETHEUS_TOKEN, if set' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l prometheus-ca -d 'File with the certificate authority of the Prometheus server (PEM); by default those of the system' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l prometheus-label -d 'Read only series with this label, such as cluster=east if the server has series of several clusters. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l diagnostics -d 'Output of \'linkerd diagnostics\' in a file, to compare with the cluster or bundle. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l at -d 'Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l linkerd-cli -d 'The linkerd CLI: its path (with a \'/\'), its version, or \'none\'' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -s L -l linkerd-namespace -d 'Namespace of the control plane; by default found by its labels' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l cni-namespace -d 'Namespace of linkerd-cni; by default found by its labels' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l node -d 'Read only this node, ready or not. Repeatable. By default every Linux node is read' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l node-image -d 'Image of the pods; it must contain this version of meshdoctor on its PATH' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l node-namespace -d 'Namespace of the pods; it must admit pods that mount the node\'s files' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l kubeconfig -d 'Kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account inside a pod' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l context -d 'Kubeconfig context. \'check\' accepts several and checks each cluster' -r -f -a "(kubectl config get-contexts -o name 2>/dev/null)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l cluster -d 'Kubeconfig cluster, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l user -d 'Kubeconfig user, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l as -d 'Impersonate this user' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l as-group -d 'Impersonate this group. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l request-timeout -d 'Time limit for one response of the API server: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l timeout -d 'Time limit for the whole run; the rest is not checked. At least 10s are left for the checks. Without the flag, reading a cluster and the checks may take 5m each' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l only -d 'Run only these checks, categories or known defects (known-defect/ID), comma-separated' -r -f -a "(__fish_complete_list , __meshdoctor_listed)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l skip -d 'Skip these checks, categories or known defects (known-defect/ID), comma-separated' -r -f -a "(__fish_complete_list , __meshdoctor_listed)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -s v -l verbose -d 'Show all details; for check, also symptoms, infos and versions' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l force -d 'Overwrite an existing file'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l live -d 'Read the live cluster even if --nodes, --logs or --diagnostics is given'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l node-pods -d 'Read node files with a short-lived pod on each node, after confirmation'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l yes -d 'Create the pods without confirmation'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l dry-run -d 'Print the manifests of the pods, and create nothing'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l disable-compression -d 'Request uncompressed responses; faster on the API server\'s machine or a very fast link'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l probe -d 'Also query running programs through port-forwards'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l pre -d 'Collect the evidence for \'check --pre\', before Linkerd is installed; this includes your own permissions'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l crds -d 'Collect the evidence for \'check --crds\', before the control plane is installed'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -s q -l quiet -d 'Print no warnings or progress on standard error'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand collect" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -s o -l output -d 'Destination: FILE.tar.gz, FILE.tar.zst, a folder, or \'-\' for a tar.gz on standard output' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l bundle -d 'Read a bundle or dump instead of a cluster: a file, a folder or \'-\' for standard input. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l complete -d 'Declare that the dump lists every object of these kinds (comma-separated, or \'all\')' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l nodes -d 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l logs -d 'Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l proxies -d 'Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l max-proxies -d 'Maximum number of proxies whose metrics --proxies reads, from 1 to 2000; 200 by default' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l prometheus -d 'Read the metrics of all proxies from a Prometheus server: its URL, or \'viz\' for the one of the viz extension' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l prometheus-window -d 'The time between the two values, from 1m to 24h' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l prometheus-token-file -d 'File with a bearer token for the Prometheus server; by default $MESHDOCTOR_PROMETHEUS_TOKEN, if set' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l prometheus-ca -d 'File with the certificate authority of the Prometheus server (PEM); by default those of the system' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l prometheus-label -d 'Read only series with this label, such as cluster=east if the server has series of several clusters. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l diagnostics -d 'Output of \'linkerd diagnostics\' in a file, to compare with the cluster or bundle. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l at -d 'Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l linkerd-cli -d 'The linkerd CLI: its path (with a \'/\'), its version, or \'none\'' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -s L -l linkerd-namespace -d 'Namespace of the control plane; by default found by its labels' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l cni-namespace -d 'Namespace of linkerd-cni; by default found by its labels' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l kubeconfig -d 'Kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account inside a pod' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l context -d 'Kubeconfig context. \'check\' accepts several and checks each cluster' -r -f -a "(kubectl config get-contexts -o name 2>/dev/null)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l cluster -d 'Kubeconfig cluster, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l user -d 'Kubeconfig user, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l as -d 'Impersonate this user' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l as-group -d 'Impersonate this group. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l request-timeout -d 'Time limit for one response of the API server: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l timeout -d 'Time limit for the whole run; the rest is not checked. At least 10s are left for the checks. Without the flag, reading a cluster and the checks may take 5m each' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l only -d 'Run only these checks, categories or known defects (known-defect/ID), comma-separated' -r -f -a "(__fish_complete_list , __meshdoctor_listed)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l skip -d 'Skip these checks, categories or known defects (known-defect/ID), comma-separated' -r -f -a "(__fish_complete_list , __meshdoctor_listed)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -s n -l namespace -d 'Check only workloads in these namespaces (comma-separated). The control plane is always checked' -r -f -a "(__fish_complete_list , __meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l to -d 'Add a preview of an upgrade to this Linkerd release to the report' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l to-kubernetes -d 'With --to: Kubernetes version at the time of the upgrade, such as 1.35' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l from -d 'With --to: the installed release, if the evidence does not contain it' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l to-cni -d 'The linkerd-cni version of the next upgrade, such as v1.6.8' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l expected-version -d 'The release that all components should run, such as edge-26.8.3 or stable-2.14.10' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l param -d 'Override a check\'s parameter: trust-anchor-expiring.days=30. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -s v -l verbose -d 'Show all details; for check, also symptoms, infos and versions' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l force -d 'Overwrite an existing file'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l dry-run -d 'List the files of the archive, their size and redactions, and write nothing'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l live -d 'Read the live cluster even if --nodes, --logs or --diagnostics is given'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l disable-compression -d 'Request uncompressed responses; faster on the API server\'s machine or a very fast link'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l probe -d 'Also query running programs through port-forwards'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l pre -d 'Check whether the cluster can run Linkerd, before it is installed'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l crds -d 'Check the custom resource definitions, before the control plane is installed'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l linkerd-cni-enabled -d 'With --pre: the installation will use linkerd-cni, which must be installed and ready'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -s q -l quiet -d 'Print no warnings or progress on standard error'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand ticket" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -s o -l output -d 'Destination: FILE.tar.gz, FILE.tar.zst, a folder, or \'-\' for a tar.gz on standard output (default NODE.tar.gz)' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l root -d 'Root of the node\'s file system. Links that lead out of it are not followed' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l node -d 'Name of the node in the cluster; by default the kubelet\'s node name, else /etc/hostname' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l conf-dir -d 'CNI configuration directory; overrides the container runtime\'s setting' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l bin-dir -d 'Directory with plugin binaries; overrides the container runtime\'s setting. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l force -d 'Overwrite an existing file'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l to-log -d 'Write to standard output as log lines, as the pods of \'collect --node-pods\' do. --nodes reads them'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l hold -d 'With --to-log: keep running afterwards, as the pod of a DaemonSet must'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l no-run -d 'Run no programs'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l ask-plugin -d 'Run the linkerd-cni binary for its versions even if the root is not /'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -s q -l quiet -d 'Print no warnings or progress on standard error'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand node-snapshot" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -s o -l output -d 'Print the report in this format (default table), or write it to a file with FORMAT=FILE. Repeatable' -r -f -a "table\t''
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
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -s v -l verbose -d 'Show all details; for check, also symptoms, infos and versions' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -l cured -d 'Check the cluster after the fix'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -l coverage -d 'Show what was not checked completely, why, and how to check it'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -s q -l quiet -d 'Print no warnings or progress on standard error'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand list" -l only -d 'The same, as for other commands' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand list" -l knowledge -d 'Folder with newer release data (with --defects)' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand list" -s o -l output -d 'Output format' -r -f -a "table\t'A table'
name\t'One id per line'
json\t'JSON'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand list" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand list" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand list" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand list" -l defects -d 'List known defects of Linkerd releases instead of checks'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand list" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand list" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand new" -l for -d 'Resource that the check evaluates, as kubectl names it: pods, servers.policy.linkerd.io' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand new" -l kind -d 'With --for: kind of the custom resource, such as Certificate' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand new" -l dir -d 'Folder to write the card to' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand new" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand new" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand new" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand new" -l cluster-scoped -d 'With --kind: the resource is cluster-scoped'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand new" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand new" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand new" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand test" -l builtin -d 'Built-in checks or categories instead (comma-separated)' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand test" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand test" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand test" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand test" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand test" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand test" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -l only -d 'Run only these checks, categories or known defects (known-defect/ID), comma-separated' -r -f -a "(__fish_complete_list , __meshdoctor_listed)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -l skip -d 'Skip these checks, categories or known defects (known-defect/ID), comma-separated' -r -f -a "(__fish_complete_list , __meshdoctor_listed)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -l user -d 'Also print a binding to this user' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -l service-account -d 'Also print a binding to this service account' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -s L -l linkerd-namespace -d 'With --namespaced: namespace of the control plane' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -l cni-namespace -d 'With --namespaced: namespace of linkerd-cni' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -l proxies -d 'Also allow port-forwards to pods in every namespace, which \'check --proxies\' and \'sync\' need to read metrics'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -l namespaced -d 'Use Roles instead of a ClusterRole for Secrets and ConfigMaps that are read by name'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand rbac" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l baseline -d 'An earlier report (check -o json=FILE), which the tool diff knows as "baseline"' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l bundle -d 'Read a bundle or dump instead of a cluster: a file, a folder or \'-\' for standard input. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l complete -d 'Declare that the dump lists every object of these kinds (comma-separated, or \'all\')' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l nodes -d 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l logs -d 'Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l proxies -d 'Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l max-proxies -d 'Maximum number of proxies whose metrics --proxies reads, from 1 to 2000; 200 by default' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l prometheus -d 'Read the metrics of all proxies from a Prometheus server: its URL, or \'viz\' for the one of the viz extension' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l prometheus-window -d 'The time between the two values, from 1m to 24h' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l prometheus-token-file -d 'File with a bearer token for the Prometheus server; by default $MESHDOCTOR_PROMETHEUS_TOKEN, if set' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l prometheus-ca -d 'File with the certificate authority of the Prometheus server (PEM); by default those of the system' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l prometheus-label -d 'Read only series with this label, such as cluster=east if the server has series of several clusters. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l diagnostics -d 'Output of \'linkerd diagnostics\' in a file, to compare with the cluster or bundle. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l at -d 'Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l linkerd-cli -d 'The linkerd CLI: its path (with a \'/\'), its version, or \'none\'' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -s L -l linkerd-namespace -d 'Namespace of the control plane; by default found by its labels' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l cni-namespace -d 'Namespace of linkerd-cni; by default found by its labels' -r -f -a "(__meshdoctor_namespaces)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l kubeconfig -d 'Kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account inside a pod' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l context -d 'Kubeconfig context. \'check\' accepts several and checks each cluster' -r -f -a "(kubectl config get-contexts -o name 2>/dev/null)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l cluster -d 'Kubeconfig cluster, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l user -d 'Kubeconfig user, instead of the context\'s' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l as -d 'Impersonate this user' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l as-group -d 'Impersonate this group. Repeatable' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l request-timeout -d 'Time limit for one response of the API server: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l timeout -d 'Time limit for the whole run; the rest is not checked. At least 10s are left for the checks. Without the flag, reading a cluster and the checks may take 5m each' -r
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l live -d 'Read the live cluster even if --nodes, --logs or --diagnostics is given'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l disable-compression -d 'Request uncompressed responses; faster on the API server\'s machine or a very fast link'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l probe -d 'Also query running programs through port-forwards'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand mcp" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand completions" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand completions" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand completions" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand completions" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand completions" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand config" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand config" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand config" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand config" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand config" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand config" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand version" -s o -l output -d 'Output format' -r -f -a "text\t'Plain text'
json\t'JSON'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand version" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it'
always\t'Always'
never\t'Never'"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand version" -l checks -d 'Folder with your own checks, which run like the built-in ones. Repeatable' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand version" -l config -d 'Configuration file; flags override it' -r -F
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand version" -l no-config -d 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand version" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand version" -s V -l version -d 'Print version'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "check" -d 'Check a mesh: what is broken, the evidence, and how to repair it'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "explain" -d 'Explain a check, a log line, a header, a status or an exit code'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "reach" -d 'Trace a connection between two workloads, and show where it fails'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "policy" -d 'Show who may connect to the ports of workloads, and why'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "injection" -d 'Show which pods would be injected, and their proxy settings'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "sync" -d 'Show whether control-plane replicas and proxies are in sync'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "rotate" -d 'Show the state of a certificate rotation and the next safe step'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "fix" -d 'Print the repair plan as a script or patches, or edit manifests'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "diff" -d 'Compare two reports: new, changed, fixed and unchanged findings'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "report" -d 'Show a saved JSON report in any format'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "collect" -d 'Save the evidence of the checks as one redacted file (a bundle)'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "ticket" -d 'Write a small redacted archive for a support ticket'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "node-snapshot" -d 'Save the CNI and runtime files of a node'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "demo" -d 'Check an embedded demo cluster with a known failure'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "list" -d 'List the checks'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "new" -d 'Write a card to start your own check from'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "test" -d 'Run the test cases of your own checks'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "rbac" -d 'Print the RBAC role that the chosen checks need, as a manifest'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "mcp" -d 'Serve the checks to an AI agent (Model Context Protocol)'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "completions" -d 'Print a completion script for a shell'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "config" -d 'Show the settings of meshdoctor.toml and their origin'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "version" -d 'Print the version of meshdoctor and of its release data'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand help; and not __fish_seen_subcommand_from check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand explain" -f -a "(__meshdoctor_checks)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand list" -f -a "(__fish_complete_list , __meshdoctor_listed)"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand demo" -f -a "cni-exit-127 cni-unauthorized debug-image-ignored injector-fails-open native-sidecar-typo"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand policy" -f -a "(__meshdoctor_namespaces)/"
complete -c meshdoctor -n "__fish_meshdoctor_using_subcommand reach" -f -a "(__meshdoctor_namespaces)/"
