#compdef meshdoctor
# Generated from the command line by `UPDATE=1 cargo test`; do not edit.
_meshdoctor_checks() { compadd "$@" - annotation-as-label annotation-misplaced annotation-not-in-release annotation-not-inherited annotation-on-workload annotation-unknown annotation-value-invalid label-as-annotation control-plane-anchors-stale data-plane-anchors-disjoint data-plane-anchors-stale issuer-expired issuer-expiring issuer-key-mismatch issuer-named-like-anchor issuer-not-reloaded issuer-not-trusted issuer-outlives-anchor issuer-pinned-as-anchor issuer-secret-invalid issuer-unsupported issuer-update-skipped node-clock-off old-anchor-removed-too-soon proxy-certificate-expired proxy-trust-domain-differs trust-anchor-duplicated trust-anchor-expired trust-anchor-expiring trust-anchor-unsupported trust-anchors-drifted trust-roots-missing validator-ca-mismatch webhook-certificate-expired webhook-certificate-expiring webhook-certificate-stale webhook-configuration-altered webhook-key-mismatch webhook-secret-invalid chart-value-refused chart-value-type chart-value-unknown chart-value-unread cni-add-exit-127 cni-add-failed cni-add-unauthorized cni-bak-residue cni-boot-race cni-cilium-exclusive cni-conf-dir-mismatch cni-conf-none cni-conf-twin cni-conf-unparseable cni-config-drift cni-daemonset-deadlock cni-ds-coverage cni-entry-dangling cni-entry-duplicate cni-entry-first cni-entry-lookalike cni-entry-missing cni-entry-orphaned cni-entry-shadowed cni-entry-simulate cni-entry-stale cni-inotify-limit cni-installer-failing cni-interface-mode-leftover cni-ip6tables-missing cni-iptables-backend cni-iptables-binary-missing cni-iptables-mode-unsupported cni-kubeconfig-invalid cni-mode-mixed cni-multi-network cni-native-sidecar-version cni-network-not-ready cni-nsenter-missing cni-object-missing cni-plugin-defect cni-plugin-upgrade-hazard cni-pod-security cni-race-unprotected cni-rbac-missing cni-repair-misrendered cni-security-groups-strict cni-token-expired cni-token-in-conflist cni-token-not-rotated cni-token-revoked cni-validator-failed cni-validator-target cni-version-incompatible node-evidence-outdated api-server-port-redirected api-server-unreadable cluster-dns-not-ready cluster-domain-not-served cluster-networks-incomplete cluster-networks-without-nodes control-plane-annotation-ignored control-plane-below-ha control-plane-churning control-plane-ha-partial control-plane-missing control-plane-not-evictable control-plane-not-ready control-plane-on-one-node control-plane-pods-refused control-plane-rbac-missing control-plane-reports-errors control-plane-restarting control-plane-role-missing control-plane-service-missing crd-missing endpoints-answer-stale extension-command-missing extension-namespace-twice heartbeat-failing ipv6-setting-mismatch linkerd-config-missing linkerd-config-unreadable linkerd-image-not-pulled network-policy-blocks-webhooks pod-network-overlaps proxy-init-not-root removed-component-left service-account-missing validator-webhook-missing app-runs-as-proxy autoscaler-held-by-proxy await-hook-failing calico-connect-time-balancing cilium-socket-balancing data-plane-namespace-missing init-container-before-proxy network-policy-blocks-control-plane network-policy-blocks-proxy network-policy-blocks-scrapes opaque-defaults-lost opaque-port-missing opaque-port-speaks-http opaque-ports-mismatch pod-address-shared proxy-cpu-limit-low proxy-init-failing proxy-killed-at-shutdown proxy-not-ready proxy-port-taken proxy-reports-errors proxy-request-unschedulable route-of-two-controllers service-without-endpoints trace-collector-identity debug-image-ignored host-network-not-injected identity-token-missing injected-container-altered injector-ca-mismatch injector-fails-closed-single-replica injector-fails-open injector-not-called injector-unavailable injector-webhook-missing kube-system-not-exempt linkerd-cni-not-exempt other-mesh-sidecar pod-missing-proxy pod-security-refuses-proxy pods-refused proxy-refused-by-quota scc-refuses-proxy token-not-mounted webhook-unreachable windows-pod-injected workload-half-meshed jaeger-cli-skew jaeger-namespace-empty jaeger-namespace-unlabelled jaeger-pods-not-injected jaeger-pods-not-running jaeger-proxy-outdated jaeger-proxy-unhealthy control-plane-credentials-incomplete gateway-identity-mismatch gateway-probe-failing link-anchors-differ link-crd-missing link-credentials-unusable link-invalid link-version-skew mirror-service-orphaned mirror-service-without-endpoints multicluster-cli-skew multicluster-proxy-outdated multicluster-proxy-unhealthy service-mirror-legacy service-mirror-not-running service-mirror-role-missing service-not-mirrored job-held-by-proxy job-proxy-not-ended native-sidecar-key-misplaced native-sidecar-key-misspelled native-sidecar-key-not-read native-sidecar-key-overridden native-sidecar-kubernetes-too-old native-sidecar-value-invalid native-sidecar-wait-refused authentication-missing default-policy-not-applied identity-unknown identity-without-proxy ingress-bypasses-routes ingress-refused pod-started-without-policy policy-answer-differs policy-audits policy-denies policy-ignored policy-target-missing policy-unreadable probe-networks-without-nodes probe-refused profile-shadows-route profile-unused route-backend-elsewhere route-backend-port-undeclared route-backend-without-endpoints route-not-accepted route-status-unwritten route-without-clients scrape-refused server-selects-nothing server-without-authorization servers-overlap skipped-port-bypasses-policy skipped-port-hides-identity traffic-split-ignored aggregation-layer-off control-plane-namespace-exists install-cluster-rights-missing install-leftovers install-rights-missing node-clock-skew upgrade-changes-default upgrade-changes-policy upgrade-closes-shutdown upgrade-deletes-gateway-api upgrade-drops-architecture upgrade-drops-extension upgrade-drops-mesh-tls upgrade-drops-opencensus upgrade-drops-value upgrade-heeds-timeouts upgrade-needs-storage-migration upgrade-orphans-gateway-api upgrade-path upgrade-pinned-proxy upgrade-refuses-undeclared-port upgrade-renames-port upgrade-rollout-blocked upgrade-target-not-recommended cli-control-plane-skew cli-outdated control-plane-mixed-versions control-plane-outdated crd-stored-version-gone data-plane-skew gateway-api-after-controller gateway-api-missing gateway-api-owned-elsewhere gateway-api-unsupported kubernetes-unsupported route-version-not-served stale-endpoints-release viz-cli-skew viz-data-plane-namespace-missing viz-metrics-api-not-running viz-metrics-missing viz-namespace-empty viz-namespace-unlabelled viz-pods-not-injected viz-pods-not-running viz-prometheus-missing viz-proxy-outdated viz-proxy-unhealthy viz-role-missing viz-scrape-unauthorized viz-self-check-failing viz-tap-api-unavailable viz-tap-certificate-expiring viz-tap-certificate-invalid viz-tap-injector-ca-mismatch viz-tap-key-mismatch }
_meshdoctor_listed() { compadd "$@" - annotations certificates chart-values cni control-plane data-plane debug injection jaeger multicluster native-sidecar policy pre-install upgrades versions viz annotation-as-label annotation-misplaced annotation-not-in-release annotation-not-inherited annotation-on-workload annotation-unknown annotation-value-invalid label-as-annotation control-plane-anchors-stale data-plane-anchors-disjoint data-plane-anchors-stale issuer-expired issuer-expiring issuer-key-mismatch issuer-named-like-anchor issuer-not-reloaded issuer-not-trusted issuer-outlives-anchor issuer-pinned-as-anchor issuer-secret-invalid issuer-unsupported issuer-update-skipped node-clock-off old-anchor-removed-too-soon proxy-certificate-expired proxy-trust-domain-differs trust-anchor-duplicated trust-anchor-expired trust-anchor-expiring trust-anchor-unsupported trust-anchors-drifted trust-roots-missing validator-ca-mismatch webhook-certificate-expired webhook-certificate-expiring webhook-certificate-stale webhook-configuration-altered webhook-key-mismatch webhook-secret-invalid chart-value-refused chart-value-type chart-value-unknown chart-value-unread cni-add-exit-127 cni-add-failed cni-add-unauthorized cni-bak-residue cni-boot-race cni-cilium-exclusive cni-conf-dir-mismatch cni-conf-none cni-conf-twin cni-conf-unparseable cni-config-drift cni-daemonset-deadlock cni-ds-coverage cni-entry-dangling cni-entry-duplicate cni-entry-first cni-entry-lookalike cni-entry-missing cni-entry-orphaned cni-entry-shadowed cni-entry-simulate cni-entry-stale cni-inotify-limit cni-installer-failing cni-interface-mode-leftover cni-ip6tables-missing cni-iptables-backend cni-iptables-binary-missing cni-iptables-mode-unsupported cni-kubeconfig-invalid cni-mode-mixed cni-multi-network cni-native-sidecar-version cni-network-not-ready cni-nsenter-missing cni-object-missing cni-plugin-defect cni-plugin-upgrade-hazard cni-pod-security cni-race-unprotected cni-rbac-missing cni-repair-misrendered cni-security-groups-strict cni-token-expired cni-token-in-conflist cni-token-not-rotated cni-token-revoked cni-validator-failed cni-validator-target cni-version-incompatible node-evidence-outdated api-server-port-redirected api-server-unreadable cluster-dns-not-ready cluster-domain-not-served cluster-networks-incomplete cluster-networks-without-nodes control-plane-annotation-ignored control-plane-below-ha control-plane-churning control-plane-ha-partial control-plane-missing control-plane-not-evictable control-plane-not-ready control-plane-on-one-node control-plane-pods-refused control-plane-rbac-missing control-plane-reports-errors control-plane-restarting control-plane-role-missing control-plane-service-missing crd-missing endpoints-answer-stale extension-command-missing extension-namespace-twice heartbeat-failing ipv6-setting-mismatch linkerd-config-missing linkerd-config-unreadable linkerd-image-not-pulled network-policy-blocks-webhooks pod-network-overlaps proxy-init-not-root removed-component-left service-account-missing validator-webhook-missing app-runs-as-proxy autoscaler-held-by-proxy await-hook-failing calico-connect-time-balancing cilium-socket-balancing data-plane-namespace-missing init-container-before-proxy network-policy-blocks-control-plane network-policy-blocks-proxy network-policy-blocks-scrapes opaque-defaults-lost opaque-port-missing opaque-port-speaks-http opaque-ports-mismatch pod-address-shared proxy-cpu-limit-low proxy-init-failing proxy-killed-at-shutdown proxy-not-ready proxy-port-taken proxy-reports-errors proxy-request-unschedulable route-of-two-controllers service-without-endpoints trace-collector-identity debug-image-ignored host-network-not-injected identity-token-missing injected-container-altered injector-ca-mismatch injector-fails-closed-single-replica injector-fails-open injector-not-called injector-unavailable injector-webhook-missing kube-system-not-exempt linkerd-cni-not-exempt other-mesh-sidecar pod-missing-proxy pod-security-refuses-proxy pods-refused proxy-refused-by-quota scc-refuses-proxy token-not-mounted webhook-unreachable windows-pod-injected workload-half-meshed jaeger-cli-skew jaeger-namespace-empty jaeger-namespace-unlabelled jaeger-pods-not-injected jaeger-pods-not-running jaeger-proxy-outdated jaeger-proxy-unhealthy control-plane-credentials-incomplete gateway-identity-mismatch gateway-probe-failing link-anchors-differ link-crd-missing link-credentials-unusable link-invalid link-version-skew mirror-service-orphaned mirror-service-without-endpoints multicluster-cli-skew multicluster-proxy-outdated multicluster-proxy-unhealthy service-mirror-legacy service-mirror-not-running service-mirror-role-missing service-not-mirrored job-held-by-proxy job-proxy-not-ended native-sidecar-key-misplaced native-sidecar-key-misspelled native-sidecar-key-not-read native-sidecar-key-overridden native-sidecar-kubernetes-too-old native-sidecar-value-invalid native-sidecar-wait-refused authentication-missing default-policy-not-applied identity-unknown identity-without-proxy ingress-bypasses-routes ingress-refused pod-started-without-policy policy-answer-differs policy-audits policy-denies policy-ignored policy-target-missing policy-unreadable probe-networks-without-nodes probe-refused profile-shadows-route profile-unused route-backend-elsewhere route-backend-port-undeclared route-backend-without-endpoints route-not-accepted route-status-unwritten route-without-clients scrape-refused server-selects-nothing server-without-authorization servers-overlap skipped-port-bypasses-policy skipped-port-hides-identity traffic-split-ignored aggregation-layer-off control-plane-namespace-exists install-cluster-rights-missing install-leftovers install-rights-missing node-clock-skew upgrade-changes-default upgrade-changes-policy upgrade-closes-shutdown upgrade-deletes-gateway-api upgrade-drops-architecture upgrade-drops-extension upgrade-drops-mesh-tls upgrade-drops-opencensus upgrade-drops-value upgrade-heeds-timeouts upgrade-needs-storage-migration upgrade-orphans-gateway-api upgrade-path upgrade-pinned-proxy upgrade-refuses-undeclared-port upgrade-renames-port upgrade-rollout-blocked upgrade-target-not-recommended cli-control-plane-skew cli-outdated control-plane-mixed-versions control-plane-outdated crd-stored-version-gone data-plane-skew gateway-api-after-controller gateway-api-missing gateway-api-owned-elsewhere gateway-api-unsupported kubernetes-unsupported route-version-not-served stale-endpoints-release viz-cli-skew viz-data-plane-namespace-missing viz-metrics-api-not-running viz-metrics-missing viz-namespace-empty viz-namespace-unlabelled viz-pods-not-injected viz-pods-not-running viz-prometheus-missing viz-proxy-outdated viz-proxy-unhealthy viz-role-missing viz-scrape-unauthorized viz-self-check-failing viz-tap-api-unavailable viz-tap-certificate-expiring viz-tap-certificate-invalid viz-tap-injector-ca-mismatch viz-tap-key-mismatch }
_meshdoctor_contexts() { compadd "$@" - ${(f)"$(kubectl config get-contexts -o name 2>/dev/null)"} }
_meshdoctor_namespaces() { compadd "$@" - ${(f)"$(kubectl --request-timeout=2s get namespaces -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}' 2>/dev/null)"} }
_meshdoctor_targets() { compadd "$@" -S / - ${(f)"$(kubectl --request-timeout=2s get namespaces -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}' 2>/dev/null)"} }


autoload -U is-at-least

_meshdoctor() {
    typeset -A opt_args
    typeset -a _arguments_options
    local ret=1

    if is-at-least 5.2; then
        _arguments_options=(-s -S -C)
    else
        _arguments_options=(-s -C)
    fi

    local context curcontext="$curcontext" state line
    _arguments "${_arguments_options[@]}" : \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Checks of your own\: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it. By default \$MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs]:FILE:_files' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
":: :_meshdoctor_commands" \
"*::: :->meshdoctor" \
&& ret=0
    case $state in
    (meshdoctor)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:meshdoctor-command-$line[1]:"
        case $line[1] in
            (check)
_arguments "${_arguments_options[@]}" : \
'*--bundle=[Read a bundle or dump instead of a cluster\: a file, a folder or '\''-'\'' for standard input. Repeatable; all of them together are one cluster]:PATH:_files' \
'*--complete=[Say that the dump lists every object of these kinds (comma-separated, or '\''all'\''). Otherwise what a dump does not hold counts as not provided]:KIND,...|all:_default' \
'*--nodes=[Node evidence\: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable]:NAME=PATH|DIR:_default' \
'*--logs=[Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file\: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); '\''-'\'' for standard input. Only lines of known meaning are kept, redacted. Repeatable]::NAME=FILE:_default' \
'*--diagnostics=[What linkerd diagnostics proxy-metrics or endpoints -o json printed, in a file; of linkerd diagnostics policy with the pod and port that it was asked of. It is compared with the cluster or bundle. Repeatable]:[NAMESPACE/POD:PORT=]FILE:_default' \
'--at=[The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it]:RFC3339:_default' \
'--linkerd-cli=[The linkerd CLI\: its path (with a '\''/'\''), its version, or '\''none'\''. By default the one on PATH is asked when a live cluster is read]:PATH|VERSION|none:_default' \
'-L+[The namespace of the control plane; found by its labels when not given]:NAMESPACE:_meshdoctor_namespaces' \
'--linkerd-namespace=[The namespace of the control plane; found by its labels when not given]:NAMESPACE:_meshdoctor_namespaces' \
'--cni-namespace=[The namespace of linkerd-cni; found by its labels when not given]:NAMESPACE:_meshdoctor_namespaces' \
'--kubeconfig=[The kubeconfig file; otherwise \$KUBECONFIG, ~/.kube/config, or the service account inside a pod]:FILE:_files' \
'*--context=[The context of the kubeconfig to use. '\''check'\'' takes several, and judges each cluster]:NAME:_meshdoctor_contexts' \
'--cluster=[The cluster of the kubeconfig to use, instead of the context'\''s]:NAME:_default' \
'--user=[The user of the kubeconfig to use, instead of the context'\''s]:NAME:_default' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group. Repeatable]:GROUP:_default' \
'--request-timeout=[How long to wait for one response of the API server\: 30s, 2m; 0 waits forever]:DURATION:_default' \
'--timeout=[How long the whole run may take; what is not read by then is not checked. Without it, reading a cluster may take 5m]:DURATION:_default' \
'(--context --bundle --live)--bundles=[Judge every bundle and dump in a folder, each as a cluster of its own, called as its file without the ending]:DIR:_files' \
'--max-age=[With --bundles\: a bundle that is older, or a dump that does not tell its age, is of a cluster that could not be judged]:DURATION:_default' \
'*--expect=[With --bundles\: the clusters that there must be. One without a bundle could not be judged]:NAME,...:_default' \
'--parallel=[How many clusters are read at a time]:N:_default' \
'*--only=[Run only these checks or categories (comma-separated)]:CHECK,...:_sequence _meshdoctor_listed' \
'*--skip=[Leave out these checks or categories (comma-separated)]:CHECK,...:_sequence _meshdoctor_listed' \
'*-n+[Check only workloads in these namespaces (comma-separated). The control plane is always checked]:NAMESPACE,...:_sequence _meshdoctor_namespaces' \
'*--namespace=[Check only workloads in these namespaces (comma-separated). The control plane is always checked]:NAMESPACE,...:_sequence _meshdoctor_namespaces' \
'--to-cni=[The version of linkerd-cni that you are about to upgrade to, such as v1.6.8\: says what that upgrade would break, and where it is newer than what meshdoctor knows, that it does not know. By default the newest release that meshdoctor knows]:VERSION:_default' \
'(--with --live --nodes --logs --pre --crds --verify --save)*--manifests=[Judge manifests without a cluster\: files, folders or '\''-'\'' for standard input, as helm template, kustomize build and linkerd install print them. What they do not hold is not checked, and changes no exit status. Repeatable]:PATH:_files' \
'--linkerd-version=[With --manifests\: the release of Linkerd that they are for, where they do not hold the control plane. With --bundle beside --manifests it is read from there]:RELEASE:_default' \
'--kubernetes-version=[With --manifests\: the Kubernetes that they are for, such as 1.34]:VERSION:_default' \
'(--to --pre --crds --verify)*--with=[Lay manifests over the cluster or bundle, as if they were applied, and judge the cluster as it would be\: says what the change brings in, what it cures and what stays. --fail-on counts what it brings in. Repeatable]:PATH:_files' \
'--prune=[With --with\: objects with these labels that the manifests do not name are deleted, as kubectl apply --prune does]:SELECTOR:_default' \
'(--manifests --with --pre --crds --verify)*--values=[Judge values that are about to be given to a chart of Linkerd'\''s\: unknown and unread ones, wrong types, what the chart refuses. By themselves; with --bundle or --live over what the cluster has; with --to for the upgrade. A later file counts over an earlier one, as with helm. Repeatable]:FILE:_files' \
'--chart=[The chart that --values are for, and its release\: linkerd-control-plane@2.19, linkerd-viz@edge-26.5.5, or with the version of the chart, linkerd2-cni@2025.10.7. Without a release it is that of the cluster or of --to]:CHART[@RELEASE]:_default' \
'--into=[The namespace of manifests that name none, as with kubectl apply -n; default when not given]:NAMESPACE:_meshdoctor_namespaces' \
'(--pre --crds --verify)--to=[The release of Linkerd that you are about to upgrade to\: a minor such as 2.20, or a release such as edge-26.8.3. Says what that upgrade will break and what it will change on this cluster, and in which order to go about it (-o plan)]:RELEASE:_default' \
'--to-kubernetes=[With --to\: the Kubernetes that the cluster will run by then, such as 1.35]:VERSION:_default' \
'--from=[With --to\: the release that is installed, where the evidence does not tell]:RELEASE:_default' \
'--expected-version=[The release that everything should run, such as edge-26.8.3 or stable-2.14.10. By default what the evidence and meshdoctor'\''s release data say]:VERSION:_default' \
'--fail-on=[Exit with 1 when there is a finding of at least this severity; with \:observed what is inferred ('\''likely'\'') does not count. By default error, and with --verify warning]:FAIL_ON:(error warning info never error\:observed warning\:observed)' \
'(--verify)*--severity=[How bad the findings of a check are here\: error, warning or info. Below the severity of its card, the most that they may have; else that of every one, also of what is only an info by itself. Repeatable; leave a check out with --skip]:CHECK=SEVERITY:_default' \
'(--verify)*--param=[A parameter of a check, in the place of what its card says\: trust-anchor-expiring.days=30. '\''explain CHECK'\'' shows which there are. Repeatable]:CHECK.NAME=VALUE:_default' \
'(--verify)--on-not-checked=[What it means for the exit status when evidence that was asked for could not be had]:ON_NOT_CHECKED:((fail\:"Exit with 4"
pass\:"Exit with 0"))' \
'(--verify)*--waivers=[Findings that are accepted\: a YAML file of waivers, each with check or fingerprint, scope, reason, owner and expiry. They stay in the report, marked, and do not count. Waivers that have expired, are unused, accept everything or name no check are findings. Repeatable]:FILE:_files' \
'(--verify)--baseline=[An earlier report (-o json=FILE) of the same cluster\: what was found then, at the same subjects and as bad, does not count]:REPORT.json:_files' \
'--verify=[Check the findings of an earlier report (-o json=FILE) again on fresh evidence, and say of each\: fixed, still there, or not checked. What the report'\''s run was asked is asked again where no flag says otherwise]:REPORT.json:_files' \
'(--verify)--confidence=[What is told\: everything, or with '\''observed'\'' what the evidence shows alone. What is inferred is then counted, and neither listed nor able to fail the run]:CONFIDENCE:((likely\:"What is inferred as well"
observed\:"What the evidence shows alone"))' \
'(--bundle --bundles --manifests --with --values --verify --to)--wait=[Look again, for so long at most, until nothing fails the run\: 5m, as linkerd check does. What does not go by itself, an expired certificate say, ends the waiting at once]:DURATION:_default' \
'*-o+[Output format\: table, short, json or yaml; html (one page that needs nothing else); sarif, junit, github (annotations), gitlab (code quality), markdown, prometheus (textfile) or ndjson for pipelines; plan, with --to, for the plan of the upgrade as Markdown; linkerd or linkerd-table for the rows of '\''linkerd check'\'' as its JSON document or table. FORMAT=FILE writes it to a file. Repeatable]:FORMAT[=FILE]:(table short json yaml linkerd linkerd-table plan sarif junit github gitlab markdown prometheus ndjson html)' \
'*--output=[Output format\: table, short, json or yaml; html (one page that needs nothing else); sarif, junit, github (annotations), gitlab (code quality), markdown, prometheus (textfile) or ndjson for pipelines; plan, with --to, for the plan of the upgrade as Markdown; linkerd or linkerd-table for the rows of '\''linkerd check'\'' as its JSON document or table. FORMAT=FILE writes it to a file. Repeatable]:FORMAT[=FILE]:(table short json yaml linkerd linkerd-table plan sarif junit github gitlab markdown prometheus ndjson html)' \
'--save=[Also save what was read as a bundle\: FILE.tar.gz, FILE.tar.zst or a folder]:PATH:_files' \
'-v+[Unfold the report\: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read\: requests, bytes and time of each item]::LEVEL:_default' \
'--verbose=[Unfold the report\: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read\: requests, bytes and time of each item]::LEVEL:_default' \
'--knowledge=[Read the release data and other facts that age from this folder instead of the embedded ones]:DIR:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Checks of your own\: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it. By default \$MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs]:FILE:_files' \
'(--bundle)--live[Read the live cluster, also where --nodes, --logs or --diagnostics is given]' \
'--disable-compression[Ask for uncompressed answers\: faster on the API server'\''s own machine or a very fast link]' \
'--probe[Also query running programs through port-forwards\: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links]' \
'(--context --bundle --live --bundles)--all-contexts[Judge the cluster of every context of the kubeconfig, as with several --context]' \
'(-n --namespace)-A[Check workloads in all namespaces, as without --namespace]' \
'(-n --namespace)--all-namespaces[Check workloads in all namespaces, as without --namespace]' \
'(--crds)--pre[Check whether the cluster can take Linkerd, before it is installed]' \
'--crds[Check the custom resource definitions, before the control plane is installed]' \
'--linkerd-cni-enabled[With --pre\: the installation will use linkerd-cni, which must be installed and ready]' \
'(--pre --crds)--proxy[With -o linkerd, also print the rows of the data plane. meshdoctor'\''s own reports always include it]' \
'--coverage[Say in a table what was not checked in full\: why, and how to check it]' \
'(--bundle --manifests --with --values --verify --to --pre --crds --only --skip -n --namespace --confidence)--publish[Also write the report into the cluster, as the objects that policy reporters read (Reports of openreports.io, or else PolicyReports of wgpolicyk8s.io), with an event for each finding that appears or goes. It writes to the cluster; see docs/deploy.md for the role]' \
'--force[Let --save overwrite a file that is there]' \
'(-v --verbose)-q[Print nothing on standard error but errors]' \
'(-v --verbose)--quiet[Print nothing on standard error but errors]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'*::files -- Bundles or dumps to read instead of a cluster, as with --bundle:_files' \
&& ret=0
;;
(diff)
_arguments "${_arguments_options[@]}" : \
'--fail-on=[Exit with 1 when something of at least this severity is new or has become worse, and with 4 when such cannot be compared. By default error]:FAIL_ON:(error warning info never error\:observed warning\:observed)' \
'-o+[The form of the answer]:OUTPUT:((table\:"For people"
json\:"For programs"))' \
'--output=[The form of the answer]:OUTPUT:((table\:"For people"
json\:"For programs"))' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Checks of your own\: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it. By default \$MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs]:FILE:_files' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':before -- The earlier report, as check -o json=FILE writes it; or a bundle or folder, which is checked first:_files' \
':after -- The later report, bundle or folder:_files' \
&& ret=0
;;
(policy)
_arguments "${_arguments_options[@]}" : \
'()*--to=[Show instead what clients get on the way to a Service, NAMESPACE/NAME\[\:PORT\], or to an address, ADDRESS\:PORT\: routes, where they send what, time limits, retries, and what is forbidden]:SERVICE[:PORT]:_default' \
'--from=[With --to, the namespace of the clients; that of the Service when not given, \`default\` for addresses]:NAMESPACE:_meshdoctor_namespaces' \
'-o+[The form of the answer]:OUTPUT:((table\:"For people"
json\:"For programs"
controller\:"As the policy controller itself answers proxies\: {"inbound"\: {"NAMESPACE/POD"\: {"PORT"\: ANSWER}}}, with --to {"outbound"\: \[{"query"\: QUERY, "policy"\: ANSWER}\]}"))' \
'--output=[The form of the answer]:OUTPUT:((table\:"For people"
json\:"For programs"
controller\:"As the policy controller itself answers proxies\: {"inbound"\: {"NAMESPACE/POD"\: {"PORT"\: ANSWER}}}, with --to {"outbound"\: \[{"query"\: QUERY, "policy"\: ANSWER}\]}"))' \
'*--bundle=[Read a bundle or dump instead of a cluster\: a file, a folder or '\''-'\'' for standard input. Repeatable; all of them together are one cluster]:PATH:_files' \
'*--complete=[Say that the dump lists every object of these kinds (comma-separated, or '\''all'\''). Otherwise what a dump does not hold counts as not provided]:KIND,...|all:_default' \
'*--nodes=[Node evidence\: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable]:NAME=PATH|DIR:_default' \
'*--logs=[Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file\: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); '\''-'\'' for standard input. Only lines of known meaning are kept, redacted. Repeatable]::NAME=FILE:_default' \
'*--diagnostics=[What linkerd diagnostics proxy-metrics or endpoints -o json printed, in a file; of linkerd diagnostics policy with the pod and port that it was asked of. It is compared with the cluster or bundle. Repeatable]:[NAMESPACE/POD:PORT=]FILE:_default' \
'--at=[The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it]:RFC3339:_default' \
'--linkerd-cli=[The linkerd CLI\: its path (with a '\''/'\''), its version, or '\''none'\''. By default the one on PATH is asked when a live cluster is read]:PATH|VERSION|none:_default' \
'-L+[The namespace of the control plane; found by its labels when not given]:NAMESPACE:_meshdoctor_namespaces' \
'--linkerd-namespace=[The namespace of the control plane; found by its labels when not given]:NAMESPACE:_meshdoctor_namespaces' \
'--cni-namespace=[The namespace of linkerd-cni; found by its labels when not given]:NAMESPACE:_meshdoctor_namespaces' \
'--kubeconfig=[The kubeconfig file; otherwise \$KUBECONFIG, ~/.kube/config, or the service account inside a pod]:FILE:_files' \
'*--context=[The context of the kubeconfig to use. '\''check'\'' takes several, and judges each cluster]:NAME:_meshdoctor_contexts' \
'--cluster=[The cluster of the kubeconfig to use, instead of the context'\''s]:NAME:_default' \
'--user=[The user of the kubeconfig to use, instead of the context'\''s]:NAME:_default' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group. Repeatable]:GROUP:_default' \
'--request-timeout=[How long to wait for one response of the API server\: 30s, 2m; 0 waits forever]:DURATION:_default' \
'--timeout=[How long the whole run may take; what is not read by then is not checked. Without it, reading a cluster may take 5m]:DURATION:_default' \
'-v+[Unfold the report\: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read\: requests, bytes and time of each item]::LEVEL:_default' \
'--verbose=[Unfold the report\: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read\: requests, bytes and time of each item]::LEVEL:_default' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Checks of your own\: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it. By default \$MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs]:FILE:_files' \
'(--bundle)--live[Read the live cluster, also where --nodes, --logs or --diagnostics is given]' \
'--disable-compression[Ask for uncompressed answers\: faster on the API server'\''s own machine or a very fast link]' \
'--probe[Also query running programs through port-forwards\: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links]' \
'(-v --verbose)-q[Print nothing on standard error but errors]' \
'(-v --verbose)--quiet[Print nothing on standard error but errors]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'*::targets -- What to show\: NAMESPACE, NAMESPACE/NAME or NAMESPACE/NAME\:PORT, of a pod, a workload such as a Deployment, or an ExternalWorkload. Everything that is injected when not given:_meshdoctor_targets' \
&& ret=0
;;
(injection)
_arguments "${_arguments_options[@]}" : \
'(--nodes --logs)*--manifests=[Show what manifests make\: files, folders or '\''-'\'' for standard input. By themselves, or with --bundle or --live as the injector of that cluster treats them. Repeatable]:PATH:_files' \
'--linkerd-version=[The release that injects, where neither cluster nor manifests hold a control plane]:RELEASE:_default' \
'--into=[The namespace of manifests that name none, as with kubectl apply -n; default when not given]:NAMESPACE:_meshdoctor_namespaces' \
'-o+[The form of the answer]:OUTPUT:((table\:"For people"
json\:"For programs"))' \
'--output=[The form of the answer]:OUTPUT:((table\:"For people"
json\:"For programs"))' \
'*--bundle=[Read a bundle or dump instead of a cluster\: a file, a folder or '\''-'\'' for standard input. Repeatable; all of them together are one cluster]:PATH:_files' \
'*--complete=[Say that the dump lists every object of these kinds (comma-separated, or '\''all'\''). Otherwise what a dump does not hold counts as not provided]:KIND,...|all:_default' \
'*--nodes=[Node evidence\: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable]:NAME=PATH|DIR:_default' \
'*--logs=[Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file\: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); '\''-'\'' for standard input. Only lines of known meaning are kept, redacted. Repeatable]::NAME=FILE:_default' \
'*--diagnostics=[What linkerd diagnostics proxy-metrics or endpoints -o json printed, in a file; of linkerd diagnostics policy with the pod and port that it was asked of. It is compared with the cluster or bundle. Repeatable]:[NAMESPACE/POD:PORT=]FILE:_default' \
'--at=[The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it]:RFC3339:_default' \
'--linkerd-cli=[The linkerd CLI\: its path (with a '\''/'\''), its version, or '\''none'\''. By default the one on PATH is asked when a live cluster is read]:PATH|VERSION|none:_default' \
'-L+[The namespace of the control plane; found by its labels when not given]:NAMESPACE:_meshdoctor_namespaces' \
'--linkerd-namespace=[The namespace of the control plane; found by its labels when not given]:NAMESPACE:_meshdoctor_namespaces' \
'--cni-namespace=[The namespace of linkerd-cni; found by its labels when not given]:NAMESPACE:_meshdoctor_namespaces' \
'--kubeconfig=[The kubeconfig file; otherwise \$KUBECONFIG, ~/.kube/config, or the service account inside a pod]:FILE:_files' \
'*--context=[The context of the kubeconfig to use. '\''check'\'' takes several, and judges each cluster]:NAME:_meshdoctor_contexts' \
'--cluster=[The cluster of the kubeconfig to use, instead of the context'\''s]:NAME:_default' \
'--user=[The user of the kubeconfig to use, instead of the context'\''s]:NAME:_default' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group. Repeatable]:GROUP:_default' \
'--request-timeout=[How long to wait for one response of the API server\: 30s, 2m; 0 waits forever]:DURATION:_default' \
'--timeout=[How long the whole run may take; what is not read by then is not checked. Without it, reading a cluster may take 5m]:DURATION:_default' \
'-v+[Unfold the report\: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read\: requests, bytes and time of each item]::LEVEL:_default' \
'--verbose=[Unfold the report\: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read\: requests, bytes and time of each item]::LEVEL:_default' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Checks of your own\: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it. By default \$MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs]:FILE:_files' \
'(--bundle)--live[Read the live cluster, also where --nodes, --logs or --diagnostics is given]' \
'--disable-compression[Ask for uncompressed answers\: faster on the API server'\''s own machine or a very fast link]' \
'--probe[Also query running programs through port-forwards\: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links]' \
'(-v --verbose)-q[Print nothing on standard error but errors]' \
'(-v --verbose)--quiet[Print nothing on standard error but errors]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'*::targets -- What to show\: NAMESPACE or NAMESPACE/NAME of something that makes pods. Everything when not given:_default' \
&& ret=0
;;
(reach)
_arguments "${_arguments_options[@]}" : \
'--traffic=[What is sent. Without it, the answer names the kinds of traffic that fail]:KIND:((http1\:"HTTP/1"
http2\:"HTTP/2, such as gRPC"
client-first\:"Another protocol in which the client sends the first byte"
server-first\:"Another protocol in which the server sends the first byte"))' \
'-n+[The namespace of names that state none, and of --matrix]:NAMESPACE:_meshdoctor_namespaces' \
'--namespace=[The namespace of names that state none, and of --matrix]:NAMESPACE:_meshdoctor_namespaces' \
'-o+[The form of the answer]:OUTPUT:((table\:"For people"
json\:"For programs"
html\:"For a browser\: the path of each call"))' \
'--output=[The form of the answer]:OUTPUT:((table\:"For people"
json\:"For programs"
html\:"For a browser\: the path of each call"))' \
'*--bundle=[Read a bundle or dump instead of a cluster\: a file, a folder or '\''-'\'' for standard input. Repeatable; all of them together are one cluster]:PATH:_files' \
'*--complete=[Say that the dump lists every object of these kinds (comma-separated, or '\''all'\''). Otherwise what a dump does not hold counts as not provided]:KIND,...|all:_default' \
'*--nodes=[Node evidence\: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable]:NAME=PATH|DIR:_default' \
'*--logs=[Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file\: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); '\''-'\'' for standard input. Only lines of known meaning are kept, redacted. Repeatable]::NAME=FILE:_default' \
'*--diagnostics=[What linkerd diagnostics proxy-metrics or endpoints -o json printed, in a file; of linkerd diagnostics policy with the pod and port that it was asked of. It is compared with the cluster or bundle. Repeatable]:[NAMESPACE/POD:PORT=]FILE:_default' \
'--at=[The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it]:RFC3339:_default' \
'--linkerd-cli=[The linkerd CLI\: its path (with a '\''/'\''), its version, or '\''none'\''. By default the one on PATH is asked when a live cluster is read]:PATH|VERSION|none:_default' \
'-L+[The namespace of the control plane; found by its labels when not given]:NAMESPACE:_meshdoctor_namespaces' \
'--linkerd-namespace=[The namespace of the control plane; found by its labels when not given]:NAMESPACE:_meshdoctor_namespaces' \
'--cni-namespace=[The namespace of linkerd-cni; found by its labels when not given]:NAMESPACE:_meshdoctor_namespaces' \
'--kubeconfig=[The kubeconfig file; otherwise \$KUBECONFIG, ~/.kube/config, or the service account inside a pod]:FILE:_files' \
'*--context=[The context of the kubeconfig to use. '\''check'\'' takes several, and judges each cluster]:NAME:_meshdoctor_contexts' \
'--cluster=[The cluster of the kubeconfig to use, instead of the context'\''s]:NAME:_default' \
'--user=[The user of the kubeconfig to use, instead of the context'\''s]:NAME:_default' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group. Repeatable]:GROUP:_default' \
'--request-timeout=[How long to wait for one response of the API server\: 30s, 2m; 0 waits forever]:DURATION:_default' \
'--timeout=[How long the whole run may take; what is not read by then is not checked. Without it, reading a cluster may take 5m]:DURATION:_default' \
'-v+[Unfold the report\: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read\: requests, bytes and time of each item]::LEVEL:_default' \
'--verbose=[Unfold the report\: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read\: requests, bytes and time of each item]::LEVEL:_default' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Checks of your own\: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it. By default \$MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs]:FILE:_files' \
'()--matrix[Show who may call whom in a namespace\: its workloads, and the ports of its Services]' \
'(--bundle)--live[Read the live cluster, also where --nodes, --logs or --diagnostics is given]' \
'--disable-compression[Ask for uncompressed answers\: faster on the API server'\''s own machine or a very fast link]' \
'--probe[Also query running programs through port-forwards\: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links]' \
'(-v --verbose)-q[Print nothing on standard error but errors]' \
'(-v --verbose)--quiet[Print nothing on standard error but errors]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'::from -- The client\: a pod or a workload, NAMESPACE/NAME, or NAME with --namespace:_meshdoctor_targets' \
'::to -- The called end\: a Service, a workload or a pod, NAMESPACE/NAME\[\:PORT\], or NAME\[\:PORT\] with --namespace; or a host, HOST\:PORT:_meshdoctor_targets' \
&& ret=0
;;
(collect)
_arguments "${_arguments_options[@]}" : \
'-o+[Where to\: FILE.tar.gz, FILE.tar.zst or a folder]:PATH:_files' \
'--output=[Where to\: FILE.tar.gz, FILE.tar.zst or a folder]:PATH:_files' \
'*--bundle=[Read a bundle or dump instead of a cluster\: a file, a folder or '\''-'\'' for standard input. Repeatable; all of them together are one cluster]:PATH:_files' \
'*--complete=[Say that the dump lists every object of these kinds (comma-separated, or '\''all'\''). Otherwise what a dump does not hold counts as not provided]:KIND,...|all:_default' \
'*--nodes=[Node evidence\: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable]:NAME=PATH|DIR:_default' \
'*--logs=[Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file\: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); '\''-'\'' for standard input. Only lines of known meaning are kept, redacted. Repeatable]::NAME=FILE:_default' \
'*--diagnostics=[What linkerd diagnostics proxy-metrics or endpoints -o json printed, in a file; of linkerd diagnostics policy with the pod and port that it was asked of. It is compared with the cluster or bundle. Repeatable]:[NAMESPACE/POD:PORT=]FILE:_default' \
'--at=[The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it]:RFC3339:_default' \
'--linkerd-cli=[The linkerd CLI\: its path (with a '\''/'\''), its version, or '\''none'\''. By default the one on PATH is asked when a live cluster is read]:PATH|VERSION|none:_default' \
'-L+[The namespace of the control plane; found by its labels when not given]:NAMESPACE:_meshdoctor_namespaces' \
'--linkerd-namespace=[The namespace of the control plane; found by its labels when not given]:NAMESPACE:_meshdoctor_namespaces' \
'--cni-namespace=[The namespace of linkerd-cni; found by its labels when not given]:NAMESPACE:_meshdoctor_namespaces' \
'*--node=[Only this node, ready or not. Repeatable; every Linux node when not given]:NAME:_default' \
'--node-image=[The image of the pods; it must hold this version of meshdoctor on its PATH]:IMAGE:_default' \
'--node-namespace=[The namespace of the pods; it must admit pods that mount files of the node]:NAMESPACE:_meshdoctor_namespaces' \
'--kubeconfig=[The kubeconfig file; otherwise \$KUBECONFIG, ~/.kube/config, or the service account inside a pod]:FILE:_files' \
'*--context=[The context of the kubeconfig to use. '\''check'\'' takes several, and judges each cluster]:NAME:_meshdoctor_contexts' \
'--cluster=[The cluster of the kubeconfig to use, instead of the context'\''s]:NAME:_default' \
'--user=[The user of the kubeconfig to use, instead of the context'\''s]:NAME:_default' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group. Repeatable]:GROUP:_default' \
'--request-timeout=[How long to wait for one response of the API server\: 30s, 2m; 0 waits forever]:DURATION:_default' \
'--timeout=[How long the whole run may take; what is not read by then is not checked. Without it, reading a cluster may take 5m]:DURATION:_default' \
'*--only=[Run only these checks or categories (comma-separated)]:CHECK,...:_sequence _meshdoctor_listed' \
'*--skip=[Leave out these checks or categories (comma-separated)]:CHECK,...:_sequence _meshdoctor_listed' \
'-v+[Unfold the report\: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read\: requests, bytes and time of each item]::LEVEL:_default' \
'--verbose=[Unfold the report\: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read\: requests, bytes and time of each item]::LEVEL:_default' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Checks of your own\: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it. By default \$MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs]:FILE:_files' \
'--force[Overwrite a file that is there]' \
'(--bundle)--live[Read the live cluster, also where --nodes, --logs or --diagnostics is given]' \
'(--bundle)--node-pods[Read the files of nodes by a short-lived pod on each, which is deleted again. Needs rights to create and delete pods; shows what it would create, and asks]' \
'--yes[Create the pods without asking]' \
'--dry-run[Print the manifests of the pods, and do nothing]' \
'--disable-compression[Ask for uncompressed answers\: faster on the API server'\''s own machine or a very fast link]' \
'--probe[Also query running programs through port-forwards\: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links]' \
'(--crds)--pre[Collect what '\''check --pre'\'' needs, before Linkerd is installed; this includes your own permissions]' \
'--crds[Collect what '\''check --crds'\'' needs, before the control plane is installed]' \
'(-v --verbose)-q[Print nothing on standard error but errors]' \
'(-v --verbose)--quiet[Print nothing on standard error but errors]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(ticket)
_arguments "${_arguments_options[@]}" : \
'-o+[Where to\: FILE.tar.gz, FILE.tar.zst, a folder, or '\''-'\'' for a tar.gz on standard output]:PATH:_files' \
'--output=[Where to\: FILE.tar.gz, FILE.tar.zst, a folder, or '\''-'\'' for a tar.gz on standard output]:PATH:_files' \
'*--bundle=[Read a bundle or dump instead of a cluster\: a file, a folder or '\''-'\'' for standard input. Repeatable; all of them together are one cluster]:PATH:_files' \
'*--complete=[Say that the dump lists every object of these kinds (comma-separated, or '\''all'\''). Otherwise what a dump does not hold counts as not provided]:KIND,...|all:_default' \
'*--nodes=[Node evidence\: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable]:NAME=PATH|DIR:_default' \
'*--logs=[Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file\: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); '\''-'\'' for standard input. Only lines of known meaning are kept, redacted. Repeatable]::NAME=FILE:_default' \
'*--diagnostics=[What linkerd diagnostics proxy-metrics or endpoints -o json printed, in a file; of linkerd diagnostics policy with the pod and port that it was asked of. It is compared with the cluster or bundle. Repeatable]:[NAMESPACE/POD:PORT=]FILE:_default' \
'--at=[The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it]:RFC3339:_default' \
'--linkerd-cli=[The linkerd CLI\: its path (with a '\''/'\''), its version, or '\''none'\''. By default the one on PATH is asked when a live cluster is read]:PATH|VERSION|none:_default' \
'-L+[The namespace of the control plane; found by its labels when not given]:NAMESPACE:_meshdoctor_namespaces' \
'--linkerd-namespace=[The namespace of the control plane; found by its labels when not given]:NAMESPACE:_meshdoctor_namespaces' \
'--cni-namespace=[The namespace of linkerd-cni; found by its labels when not given]:NAMESPACE:_meshdoctor_namespaces' \
'--kubeconfig=[The kubeconfig file; otherwise \$KUBECONFIG, ~/.kube/config, or the service account inside a pod]:FILE:_files' \
'*--context=[The context of the kubeconfig to use. '\''check'\'' takes several, and judges each cluster]:NAME:_meshdoctor_contexts' \
'--cluster=[The cluster of the kubeconfig to use, instead of the context'\''s]:NAME:_default' \
'--user=[The user of the kubeconfig to use, instead of the context'\''s]:NAME:_default' \
'--as=[Act as this user]:USER:_default' \
'*--as-group=[Act as a member of this group. Repeatable]:GROUP:_default' \
'--request-timeout=[How long to wait for one response of the API server\: 30s, 2m; 0 waits forever]:DURATION:_default' \
'--timeout=[How long the whole run may take; what is not read by then is not checked. Without it, reading a cluster may take 5m]:DURATION:_default' \
'*--only=[Run only these checks or categories (comma-separated)]:CHECK,...:_sequence _meshdoctor_listed' \
'*--skip=[Leave out these checks or categories (comma-separated)]:CHECK,...:_sequence _meshdoctor_listed' \
'*-n+[Check only workloads in these namespaces (comma-separated). The control plane is always checked]:NAMESPACE,...:_sequence _meshdoctor_namespaces' \
'*--namespace=[Check only workloads in these namespaces (comma-separated). The control plane is always checked]:NAMESPACE,...:_sequence _meshdoctor_namespaces' \
'--to=[The release of Linkerd that you are about to upgrade to\: what that breaks and changes goes into the report]:RELEASE:_default' \
'--to-kubernetes=[With --to\: the Kubernetes that the cluster will run by then, such as 1.35]:VERSION:_default' \
'--from=[With --to\: the release that is installed, where the evidence does not tell]:RELEASE:_default' \
'--to-cni=[The version of linkerd-cni that you are about to upgrade to, such as v1.6.8]:VERSION:_default' \
'--expected-version=[The release that everything should run, such as edge-26.8.3 or stable-2.14.10]:VERSION:_default' \
'*--param=[A parameter of a check, in the place of what its card says\: trust-anchor-expiring.days=30. Repeatable]:CHECK.NAME=VALUE:_default' \
'-v+[Unfold the report\: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read\: requests, bytes and time of each item]::LEVEL:_default' \
'--verbose=[Unfold the report\: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read\: requests, bytes and time of each item]::LEVEL:_default' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Checks of your own\: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it. By default \$MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs]:FILE:_files' \
'--force[Overwrite a file that is there]' \
'--dry-run[List every file that would leave this machine, how large it is and how much of it is redacted, and write nothing]' \
'(--bundle)--live[Read the live cluster, also where --nodes, --logs or --diagnostics is given]' \
'--disable-compression[Ask for uncompressed answers\: faster on the API server'\''s own machine or a very fast link]' \
'--probe[Also query running programs through port-forwards\: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links]' \
'(--crds --to)--pre[Check whether the cluster can take Linkerd, before it is installed]' \
'(--to)--crds[Check the custom resource definitions, before the control plane is installed]' \
'--linkerd-cni-enabled[With --pre\: the installation will use linkerd-cni, which must be installed and ready]' \
'(-v --verbose)-q[Print nothing on standard error but errors]' \
'(-v --verbose)--quiet[Print nothing on standard error but errors]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(node-snapshot)
_arguments "${_arguments_options[@]}" : \
'-o+[Where to\: FILE.tar.gz, FILE.tar.zst, a folder, or '\''-'\'' for a tar.gz on standard output. NODE.tar.gz when not given]:PATH:_files' \
'--output=[Where to\: FILE.tar.gz, FILE.tar.zst, a folder, or '\''-'\'' for a tar.gz on standard output. NODE.tar.gz when not given]:PATH:_files' \
'--root=[The root of the node'\''s file system, where a pod has it mounted. No link leads out of it. By default /, or /host in a pod that has the node'\''s files there]:DIR:_files' \
'--node=[The node'\''s name in the cluster; by default the one that the kubelet was given, else /etc/hostname]:NAME:_default' \
'--conf-dir=[The directory of CNI configuration, instead of what the container runtime says]:DIR:_default' \
'*--bin-dir=[A directory of plugin binaries, instead of what the container runtime says. Repeatable]:DIR:_default' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Checks of your own\: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it. By default \$MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs]:FILE:_files' \
'(--to-log)--force[Overwrite a file that is there]' \
'(-o --output)--to-log[Write to standard output as lines of a log, as the pods of '\''collect --node-pods'\'' do\: what --nodes reads again]' \
'--hold[With --to-log\: stay until ended, and do nothing, as the pod of a DaemonSet must]' \
'(--ask-plugin)--no-run[Run no program. By default crictl, journalctl, iptables --version and the version question of linkerd-cni are run where the root is /]' \
'--ask-plugin[Run the linkerd-cni binary of another root than / as well, to ask it for its versions]' \
'-q[Say nothing on standard error but errors]' \
'--quiet[Say nothing on standard error but errors]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(demo)
_arguments "${_arguments_options[@]}" : \
'*-o+[Output format\: table, short, json or yaml; html (one page that needs nothing else); sarif, junit, github (annotations), gitlab (code quality), markdown, prometheus (textfile) or ndjson for pipelines; plan, with --to, for the plan of the upgrade as Markdown; linkerd or linkerd-table for the rows of '\''linkerd check'\'' as its JSON document or table. FORMAT=FILE writes it to a file. Repeatable]:FORMAT[=FILE]:(table short json yaml linkerd linkerd-table plan sarif junit github gitlab markdown prometheus ndjson html)' \
'*--output=[Output format\: table, short, json or yaml; html (one page that needs nothing else); sarif, junit, github (annotations), gitlab (code quality), markdown, prometheus (textfile) or ndjson for pipelines; plan, with --to, for the plan of the upgrade as Markdown; linkerd or linkerd-table for the rows of '\''linkerd check'\'' as its JSON document or table. FORMAT=FILE writes it to a file. Repeatable]:FORMAT[=FILE]:(table short json yaml linkerd linkerd-table plan sarif junit github gitlab markdown prometheus ndjson html)' \
'-v+[Unfold the report\: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read\: requests, bytes and time of each item]::LEVEL:_default' \
'--verbose=[Unfold the report\: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read\: requests, bytes and time of each item]::LEVEL:_default' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Checks of your own\: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it. By default \$MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs]:FILE:_files' \
'--cured[Check the cluster after the fix]' \
'--coverage[Say in a table what was not checked in full\: why, and how to check it]' \
'(-v --verbose)-q[Print nothing on standard error but errors]' \
'(-v --verbose)--quiet[Print nothing on standard error but errors]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'::name -- The demo to check:(cni-exit-127 cni-unauthorized debug-image-ignored injector-fails-open native-sidecar-typo)' \
&& ret=0
;;
(list)
_arguments "${_arguments_options[@]}" : \
'-o+[The form of the list]:OUTPUT:((table\:"For people"
name\:"One id a line"
json\:"For programs"))' \
'--output=[The form of the list]:OUTPUT:((table\:"For people"
name\:"One id a line"
json\:"For programs"))' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Checks of your own\: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it. By default \$MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs]:FILE:_files' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'*::only -- Only these checks or categories (comma-separated):_sequence _meshdoctor_listed' \
&& ret=0
;;
(explain)
_arguments "${_arguments_options[@]}" : \
'-o+[The form of the page]:OUTPUT:((text\:"For people"
markdown\:"As on the documentation page"
json\:"For programs"))' \
'--output=[The form of the page]:OUTPUT:((text\:"For people"
markdown\:"As on the documentation page"
json\:"For programs"))' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Checks of your own\: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it. By default \$MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs]:FILE:_files' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':check -- The check\: its id, or the anchor of a row of '\''linkerd check'\'' (l5d-...). Where several checks answer a row, they are listed:_meshdoctor_checks' \
&& ret=0
;;
(test)
_arguments "${_arguments_options[@]}" : \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Checks of your own\: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it. By default \$MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs]:FILE:_files' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'*::folders -- Folders of cards, or cards; by default those of --checks. With UPDATE=1 in the environment what the cases say is written into the cards:_files' \
&& ret=0
;;
(new)
_arguments "${_arguments_options[@]}" : \
'--for=[The kind of object that it is asked of, as kubectl takes it\: pods, servers.policy.linkerd.io. A custom resource of others with its version, and its kind with --kind\: certificates.v1.cert-manager.io]:RESOURCE:_default' \
'--kind=[With --for\: the kind of that custom resource as manifests name it, such as Certificate]:KIND:_default' \
'--dir=[The folder that it is written into]:DIR:_files' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Checks of your own\: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it. By default \$MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs]:FILE:_files' \
'--cluster-scoped[With --kind\: its objects live in no namespace]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':check -- The id of the check\: what is wrong, in words with dashes between them, such as workload-without-owner:_default' \
&& ret=0
;;
(rbac)
_arguments "${_arguments_options[@]}" : \
'*--only=[Run only these checks or categories (comma-separated)]:CHECK,...:_sequence _meshdoctor_listed' \
'*--skip=[Leave out these checks or categories (comma-separated)]:CHECK,...:_sequence _meshdoctor_listed' \
'(--service-account)--user=[Also print a binding to this user]:NAME:_default' \
'--service-account=[Also print a binding to this service account]:NAMESPACE/NAME:_default' \
'-L+[With --namespaced\: the namespace of the control plane]:NAMESPACE:_meshdoctor_namespaces' \
'--linkerd-namespace=[With --namespaced\: the namespace of the control plane]:NAMESPACE:_meshdoctor_namespaces' \
'--cni-namespace=[With --namespaced\: the namespace of linkerd-cni]:NAMESPACE:_meshdoctor_namespaces' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Checks of your own\: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it. By default \$MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs]:FILE:_files' \
'--namespaced[Grant what is read by name, Secrets and ConfigMaps, in its own namespace alone\: by Roles in those of the control plane and of linkerd-cni and in kube-system, in the place of a ClusterRole. Lists are of all namespaces as before]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(completions)
_arguments "${_arguments_options[@]}" : \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Checks of your own\: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it. By default \$MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs]:FILE:_files' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':shell -- The shell:(bash zsh fish powershell elvish)' \
&& ret=0
;;
(config)
_arguments "${_arguments_options[@]}" : \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Checks of your own\: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it. By default \$MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs]:FILE:_files' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(version)
_arguments "${_arguments_options[@]}" : \
'-o+[The form of the answer]:OUTPUT:((text\:"For people"
json\:"For programs"))' \
'--output=[The form of the answer]:OUTPUT:((text\:"For people"
json\:"For programs"))' \
'--color=[When to use colour]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Checks of your own\: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it. By default \$MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs]:FILE:_files' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_meshdoctor__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:meshdoctor-help-command-$line[1]:"
        case $line[1] in
            (check)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(diff)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(policy)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(injection)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(reach)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(collect)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(ticket)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(node-snapshot)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(demo)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(list)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(explain)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(test)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(new)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(rbac)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(completions)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(config)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(version)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
}

(( $+functions[_meshdoctor_commands] )) ||
_meshdoctor_commands() {
    local commands; commands=(
'check:Look at a mesh and say what is wrong, what proves it and what to do' \
'diff:Compare two reports\: what is new, changed, fixed or unchanged, and what cannot be compared' \
'policy:Show what Linkerd'\''s policy says of the ports of workloads\: what takes them, who is let in by what, and what of that which people wrote counts for nothing' \
'injection:Show what would be injected\: for everything that makes pods whether it gets a proxy and why, which annotations act, and what the proxy would be asked to do' \
'reach:Say whether a call would get from one workload to another, step by step as Linkerd takes it, and where it stops' \
'collect:Save everything that the checks need, redacted, as one file for a ticket or for later' \
'ticket:Write one small redacted archive for a support ticket\: the report, and the evidence that its findings rest on' \
'node-snapshot:Save what checks need to know of a node, read on the node itself or in a pod that has its files mounted' \
'demo:Check an embedded cluster with a known failure; without a name, list them' \
'list:List the checks' \
'explain:Explain a check\: what it finds, why it matters, how to fix it, what it cannot see' \
'test:Run the cases of cards of your own, and say which do not say what their card claims' \
'new:Write a card to start a check of your own from' \
'rbac:Print the role that suffices for the chosen checks, as a manifest' \
'completions:Print a completion script for a shell' \
'config:Show what meshdoctor.toml sets, and where' \
'version:Print the version of meshdoctor and of what it knows' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'meshdoctor commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__check_commands] )) ||
_meshdoctor__subcmd__check_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor check commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__collect_commands] )) ||
_meshdoctor__subcmd__collect_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor collect commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__completions_commands] )) ||
_meshdoctor__subcmd__completions_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor completions commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__config_commands] )) ||
_meshdoctor__subcmd__config_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor config commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__demo_commands] )) ||
_meshdoctor__subcmd__demo_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor demo commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__diff_commands] )) ||
_meshdoctor__subcmd__diff_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor diff commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__explain_commands] )) ||
_meshdoctor__subcmd__explain_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor explain commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__help_commands] )) ||
_meshdoctor__subcmd__help_commands() {
    local commands; commands=(
'check:Look at a mesh and say what is wrong, what proves it and what to do' \
'diff:Compare two reports\: what is new, changed, fixed or unchanged, and what cannot be compared' \
'policy:Show what Linkerd'\''s policy says of the ports of workloads\: what takes them, who is let in by what, and what of that which people wrote counts for nothing' \
'injection:Show what would be injected\: for everything that makes pods whether it gets a proxy and why, which annotations act, and what the proxy would be asked to do' \
'reach:Say whether a call would get from one workload to another, step by step as Linkerd takes it, and where it stops' \
'collect:Save everything that the checks need, redacted, as one file for a ticket or for later' \
'ticket:Write one small redacted archive for a support ticket\: the report, and the evidence that its findings rest on' \
'node-snapshot:Save what checks need to know of a node, read on the node itself or in a pod that has its files mounted' \
'demo:Check an embedded cluster with a known failure; without a name, list them' \
'list:List the checks' \
'explain:Explain a check\: what it finds, why it matters, how to fix it, what it cannot see' \
'test:Run the cases of cards of your own, and say which do not say what their card claims' \
'new:Write a card to start a check of your own from' \
'rbac:Print the role that suffices for the chosen checks, as a manifest' \
'completions:Print a completion script for a shell' \
'config:Show what meshdoctor.toml sets, and where' \
'version:Print the version of meshdoctor and of what it knows' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'meshdoctor help commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__help__subcmd__check_commands] )) ||
_meshdoctor__subcmd__help__subcmd__check_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help check commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__help__subcmd__collect_commands] )) ||
_meshdoctor__subcmd__help__subcmd__collect_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help collect commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__help__subcmd__completions_commands] )) ||
_meshdoctor__subcmd__help__subcmd__completions_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help completions commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__help__subcmd__config_commands] )) ||
_meshdoctor__subcmd__help__subcmd__config_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help config commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__help__subcmd__demo_commands] )) ||
_meshdoctor__subcmd__help__subcmd__demo_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help demo commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__help__subcmd__diff_commands] )) ||
_meshdoctor__subcmd__help__subcmd__diff_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help diff commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__help__subcmd__explain_commands] )) ||
_meshdoctor__subcmd__help__subcmd__explain_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help explain commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__help__subcmd__help_commands] )) ||
_meshdoctor__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help help commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__help__subcmd__injection_commands] )) ||
_meshdoctor__subcmd__help__subcmd__injection_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help injection commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__help__subcmd__list_commands] )) ||
_meshdoctor__subcmd__help__subcmd__list_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help list commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__help__subcmd__new_commands] )) ||
_meshdoctor__subcmd__help__subcmd__new_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help new commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__help__subcmd__node-snapshot_commands] )) ||
_meshdoctor__subcmd__help__subcmd__node-snapshot_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help node-snapshot commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__help__subcmd__policy_commands] )) ||
_meshdoctor__subcmd__help__subcmd__policy_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help policy commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__help__subcmd__rbac_commands] )) ||
_meshdoctor__subcmd__help__subcmd__rbac_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help rbac commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__help__subcmd__reach_commands] )) ||
_meshdoctor__subcmd__help__subcmd__reach_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help reach commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__help__subcmd__test_commands] )) ||
_meshdoctor__subcmd__help__subcmd__test_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help test commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__help__subcmd__ticket_commands] )) ||
_meshdoctor__subcmd__help__subcmd__ticket_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help ticket commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__help__subcmd__version_commands] )) ||
_meshdoctor__subcmd__help__subcmd__version_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help version commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__injection_commands] )) ||
_meshdoctor__subcmd__injection_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor injection commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__list_commands] )) ||
_meshdoctor__subcmd__list_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor list commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__new_commands] )) ||
_meshdoctor__subcmd__new_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor new commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__node-snapshot_commands] )) ||
_meshdoctor__subcmd__node-snapshot_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor node-snapshot commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__policy_commands] )) ||
_meshdoctor__subcmd__policy_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor policy commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__rbac_commands] )) ||
_meshdoctor__subcmd__rbac_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor rbac commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__reach_commands] )) ||
_meshdoctor__subcmd__reach_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor reach commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__test_commands] )) ||
_meshdoctor__subcmd__test_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor test commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__ticket_commands] )) ||
_meshdoctor__subcmd__ticket_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor ticket commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__version_commands] )) ||
_meshdoctor__subcmd__version_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor version commands' commands "$@"
}

if [ "$funcstack[1]" = "_meshdoctor" ]; then
    _meshdoctor "$@"
else
    compdef _meshdoctor meshdoctor
fi
