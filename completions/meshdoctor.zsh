#compdef meshdoctor
# Generated from the command line by `UPDATE=1 cargo test`; do not edit.
_meshdoctor_checks() { compadd "$@" - annotation-as-label annotation-misplaced annotation-not-in-release annotation-not-inherited annotation-on-workload annotation-unknown annotation-value-invalid label-as-annotation anchor-replaced-at-renewal cert-manager-meshed control-plane-anchors-stale data-plane-anchors-disjoint data-plane-anchors-stale identity-serves-other-issuer issuer-drifted issuer-expired issuer-expiring issuer-key-mismatch issuer-named-like-anchor issuer-not-reloaded issuer-not-trusted issuer-outlives-anchor issuer-pinned-as-anchor issuer-renewal-unusable issuer-secret-invalid issuer-unsupported issuer-update-skipped node-clock-off old-anchor-removed-too-soon proxy-certificate-expired proxy-certificate-not-renewed proxy-certificate-of-old-issuer proxy-certificates-end-with-issuer proxy-clock-off proxy-trust-domain-differs running-anchors-outdated trust-anchor-duplicated trust-anchor-expired trust-anchor-expiring trust-anchor-unsupported trust-anchors-drifted trust-anchors-mixed trust-bundle-not-synced trust-roots-missing validator-ca-mismatch webhook-certificate-expired webhook-certificate-expiring webhook-certificate-stale webhook-configuration-altered webhook-key-mismatch webhook-secret-invalid chart-value-refused chart-value-type chart-value-unknown chart-value-unread cni-add-exit-127 cni-add-failed cni-add-unauthorized cni-bak-residue cni-boot-race cni-cilium-exclusive cni-conf-dir-mismatch cni-conf-none cni-conf-twin cni-conf-unparseable cni-config-drift cni-daemonset-deadlock cni-ds-coverage cni-entry-dangling cni-entry-duplicate cni-entry-first cni-entry-lookalike cni-entry-missing cni-entry-orphaned cni-entry-shadowed cni-entry-simulate cni-entry-stale cni-inotify-limit cni-installer-failing cni-interface-mode-leftover cni-ip6tables-missing cni-iptables-backend cni-iptables-binary-missing cni-iptables-mode-unsupported cni-kubeconfig-invalid cni-mode-mixed cni-multi-network cni-native-sidecar-version cni-network-not-ready cni-nsenter-missing cni-object-missing cni-plugin-defect cni-plugin-upgrade-hazard cni-pod-security cni-race-unprotected cni-rbac-missing cni-repair-misrendered cni-security-groups-strict cni-token-expired cni-token-in-conflist cni-token-not-rotated cni-token-revoked cni-validator-failed cni-validator-target cni-version-incompatible node-evidence-outdated api-server-port-redirected api-server-unreadable cluster-dns-not-ready cluster-domain-not-served cluster-networks-incomplete cluster-networks-without-nodes control-plane-annotation-ignored control-plane-below-ha control-plane-churning control-plane-domains-differ control-plane-ha-partial control-plane-missing control-plane-name-unresolved control-plane-not-evictable control-plane-not-ready control-plane-on-one-node control-plane-pods-refused control-plane-probe-times-out control-plane-rbac-missing control-plane-reports-errors control-plane-restarting control-plane-role-missing control-plane-service-missing crd-missing destination-replica-outdated destination-replica-stuck destination-updates-delayed endpoints-answer-stale extension-command-missing extension-namespace-twice extension-restarting extension-service-account-missing gitops-apply-failed gitops-ignore-ineffective heartbeat-failing ipv6-setting-mismatch linkerd-config-missing linkerd-config-unreadable linkerd-image-not-pulled namespace-terminating network-policy-blocks-webhooks pod-network-overlaps proxy-cut-off proxy-init-not-root removed-component-left rollout-stuck service-account-missing validator-not-called validator-webhook-missing app-runs-as-proxy application-refuses-connections autoscaler-held-by-proxy await-hook-failing calico-connect-time-balancing call-to-missing-pod call-without-mtls cilium-socket-balancing data-plane-namespace-missing deleted-profile-in-use endpoint-refuses-ipv6 endpoints-unreachable external-workload-without-endpoint inbound-requests-shed init-container-before-proxy injected-container-not-started local-endpoints-missing monitor-not-selected nested-network-refused network-policy-blocks-control-plane network-policy-blocks-proxy network-policy-blocks-scrapes opaque-defaults-lost opaque-port-missing opaque-port-speaks-http opaque-ports-mismatch outbound-requests-shed pod-address-shared pod-dns-bypasses-cluster probe-fails-behind-proxy protocol-detection-times-out protocol-not-detected proxies-fail-on-some-nodes proxy-control-plane-differs proxy-cpu-limit-low proxy-defaults-broken proxy-ended-with-error proxy-endpoints-stale proxy-exports-many-series proxy-file-descriptors-low proxy-init-failing proxy-killed-at-shutdown proxy-memory-near-limit proxy-not-ready proxy-not-redirected proxy-of-removed-control-plane proxy-port-taken proxy-prestop-failing proxy-reports-errors proxy-request-unschedulable proxy-variable-undefined route-ignored-by-protocol route-of-two-controllers server-identity-refused service-without-endpoints skip-outbound-ports-lost trace-collector-identity trace-collector-unreachable traffic-worse-than-before workload-account-missing workload-not-ready debug-image-ignored extension-injector-unavailable fargate-pod-injected hook-runs-in-proxy host-network-not-injected identity-token-missing injected-container-altered injected-name-too-long injector-ca-mismatch injector-fails-closed-single-replica injector-fails-open injector-not-called injector-unavailable injector-webhook-missing kube-system-not-exempt linkerd-cni-not-exempt other-mesh-sidecar pod-missing-proxy pod-security-refuses-proxy pods-refused proxy-refused-by-quota scc-refuses-proxy token-not-mounted webhook-unreachable windows-pod-injected workload-half-meshed jaeger-cli-skew jaeger-injector-conflict jaeger-namespace-empty jaeger-namespace-unlabelled jaeger-pods-not-injected jaeger-pods-not-running jaeger-proxy-outdated jaeger-proxy-unhealthy control-plane-credentials-incomplete exported-headless-without-hostnames gateway-identity-mismatch gateway-probe-failing gateway-refuses-requests gateway-unavailable link-anchors-differ link-crd-missing link-credentials-unusable link-invalid link-probe-port-undeclared link-version-skew mirror-endpoints-outdated mirror-service-orphaned mirror-service-pruned mirror-service-without-endpoints multicluster-cli-skew multicluster-namespace-unlabelled multicluster-pods-not-running multicluster-proxy-outdated multicluster-proxy-unhealthy remote-account-missing service-mirror-legacy service-mirror-not-running service-mirror-reports-errors service-mirror-role-missing service-not-mirrored job-held-by-proxy job-proxy-not-ended native-sidecar-key-misplaced native-sidecar-key-misspelled native-sidecar-key-not-read native-sidecar-key-overridden native-sidecar-kubernetes-too-old native-sidecar-value-invalid native-sidecar-wait-refused proxy-stopped-early apply-refused authentication-missing caller-without-identity default-policy-not-applied denied-although-authorized hook-refused identity-unknown identity-without-proxy ingress-bypasses-routes ingress-client-address-lost ingress-mode-external-name ingress-mode-opaque-port ingress-refused mirror-bypassed outbound-connection-forbidden pod-started-without-policy policy-answer-differs policy-audits policy-denies policy-ended-connections policy-ignored policy-target-missing policy-unreadable probe-networks-without-nodes probe-refused profile-shadows-route profile-unused proxy-policy-stale requests-rate-limited requests-without-route retry-without-condition route-backend-elsewhere route-backend-port-undeclared route-backend-without-endpoints route-not-accepted route-on-tls-port route-parent-port-undeclared route-status-unwritten route-without-clients scrape-refused server-http-on-opaque-port server-http-on-tls-port server-selects-nothing server-without-authorization servers-overlap service-routes-incomplete session-affinity-ignored skipped-port-bypasses-policy skipped-port-hides-identity traffic-split-backend-missing traffic-split-ignored unmeshed-endpoint-bypasses-policy workload-without-authorization aggregation-layer-off control-plane-namespace-exists install-cluster-rights-missing install-leftovers install-rights-missing node-clock-skew upgrade-changes-default upgrade-changes-policy upgrade-closes-shutdown upgrade-deletes-gateway-api upgrade-drops-architecture upgrade-drops-extension upgrade-drops-mesh-tls upgrade-drops-opencensus upgrade-drops-value upgrade-heeds-timeouts upgrade-image-refused upgrade-needs-storage-migration upgrade-orphans-gateway-api upgrade-path upgrade-pinned-proxy upgrade-refuses-undeclared-port upgrade-renames-port upgrade-rollout-blocked upgrade-stored-values-unusable upgrade-target-not-recommended cli-control-plane-skew cli-outdated control-plane-mixed-versions control-plane-outdated crd-stored-version-gone crds-overwritten-by-cli data-plane-skew gateway-api-after-controller gateway-api-missing gateway-api-owned-elsewhere gateway-api-releases-differ gateway-api-unsupported known-defect kubernetes-unsupported route-version-not-served stale-endpoints-release viz-address-unreachable viz-cli-skew viz-dashboard-host-refused viz-data-plane-namespace-missing viz-metrics-api-not-running viz-metrics-missing viz-namespace-empty viz-namespace-unlabelled viz-pods-not-injected viz-pods-not-running viz-prometheus-missing viz-proxy-outdated viz-proxy-unhealthy viz-role-missing viz-scrape-mismatch viz-scrape-unauthorized viz-self-check-failing viz-tap-api-unavailable viz-tap-certificate-expiring viz-tap-certificate-invalid viz-tap-injector-ca-mismatch viz-tap-injector-missing viz-tap-key-mismatch viz-tap-not-enabled viz-tap-refuses-users }
_meshdoctor_listed() { compadd "$@" - annotations certificates chart-values cni control-plane data-plane debug injection jaeger multicluster native-sidecar policy pre-install upgrades versions viz annotation-as-label annotation-misplaced annotation-not-in-release annotation-not-inherited annotation-on-workload annotation-unknown annotation-value-invalid label-as-annotation anchor-replaced-at-renewal cert-manager-meshed control-plane-anchors-stale data-plane-anchors-disjoint data-plane-anchors-stale identity-serves-other-issuer issuer-drifted issuer-expired issuer-expiring issuer-key-mismatch issuer-named-like-anchor issuer-not-reloaded issuer-not-trusted issuer-outlives-anchor issuer-pinned-as-anchor issuer-renewal-unusable issuer-secret-invalid issuer-unsupported issuer-update-skipped node-clock-off old-anchor-removed-too-soon proxy-certificate-expired proxy-certificate-not-renewed proxy-certificate-of-old-issuer proxy-certificates-end-with-issuer proxy-clock-off proxy-trust-domain-differs running-anchors-outdated trust-anchor-duplicated trust-anchor-expired trust-anchor-expiring trust-anchor-unsupported trust-anchors-drifted trust-anchors-mixed trust-bundle-not-synced trust-roots-missing validator-ca-mismatch webhook-certificate-expired webhook-certificate-expiring webhook-certificate-stale webhook-configuration-altered webhook-key-mismatch webhook-secret-invalid chart-value-refused chart-value-type chart-value-unknown chart-value-unread cni-add-exit-127 cni-add-failed cni-add-unauthorized cni-bak-residue cni-boot-race cni-cilium-exclusive cni-conf-dir-mismatch cni-conf-none cni-conf-twin cni-conf-unparseable cni-config-drift cni-daemonset-deadlock cni-ds-coverage cni-entry-dangling cni-entry-duplicate cni-entry-first cni-entry-lookalike cni-entry-missing cni-entry-orphaned cni-entry-shadowed cni-entry-simulate cni-entry-stale cni-inotify-limit cni-installer-failing cni-interface-mode-leftover cni-ip6tables-missing cni-iptables-backend cni-iptables-binary-missing cni-iptables-mode-unsupported cni-kubeconfig-invalid cni-mode-mixed cni-multi-network cni-native-sidecar-version cni-network-not-ready cni-nsenter-missing cni-object-missing cni-plugin-defect cni-plugin-upgrade-hazard cni-pod-security cni-race-unprotected cni-rbac-missing cni-repair-misrendered cni-security-groups-strict cni-token-expired cni-token-in-conflist cni-token-not-rotated cni-token-revoked cni-validator-failed cni-validator-target cni-version-incompatible node-evidence-outdated api-server-port-redirected api-server-unreadable cluster-dns-not-ready cluster-domain-not-served cluster-networks-incomplete cluster-networks-without-nodes control-plane-annotation-ignored control-plane-below-ha control-plane-churning control-plane-domains-differ control-plane-ha-partial control-plane-missing control-plane-name-unresolved control-plane-not-evictable control-plane-not-ready control-plane-on-one-node control-plane-pods-refused control-plane-probe-times-out control-plane-rbac-missing control-plane-reports-errors control-plane-restarting control-plane-role-missing control-plane-service-missing crd-missing destination-replica-outdated destination-replica-stuck destination-updates-delayed endpoints-answer-stale extension-command-missing extension-namespace-twice extension-restarting extension-service-account-missing gitops-apply-failed gitops-ignore-ineffective heartbeat-failing ipv6-setting-mismatch linkerd-config-missing linkerd-config-unreadable linkerd-image-not-pulled namespace-terminating network-policy-blocks-webhooks pod-network-overlaps proxy-cut-off proxy-init-not-root removed-component-left rollout-stuck service-account-missing validator-not-called validator-webhook-missing app-runs-as-proxy application-refuses-connections autoscaler-held-by-proxy await-hook-failing calico-connect-time-balancing call-to-missing-pod call-without-mtls cilium-socket-balancing data-plane-namespace-missing deleted-profile-in-use endpoint-refuses-ipv6 endpoints-unreachable external-workload-without-endpoint inbound-requests-shed init-container-before-proxy injected-container-not-started local-endpoints-missing monitor-not-selected nested-network-refused network-policy-blocks-control-plane network-policy-blocks-proxy network-policy-blocks-scrapes opaque-defaults-lost opaque-port-missing opaque-port-speaks-http opaque-ports-mismatch outbound-requests-shed pod-address-shared pod-dns-bypasses-cluster probe-fails-behind-proxy protocol-detection-times-out protocol-not-detected proxies-fail-on-some-nodes proxy-control-plane-differs proxy-cpu-limit-low proxy-defaults-broken proxy-ended-with-error proxy-endpoints-stale proxy-exports-many-series proxy-file-descriptors-low proxy-init-failing proxy-killed-at-shutdown proxy-memory-near-limit proxy-not-ready proxy-not-redirected proxy-of-removed-control-plane proxy-port-taken proxy-prestop-failing proxy-reports-errors proxy-request-unschedulable proxy-variable-undefined route-ignored-by-protocol route-of-two-controllers server-identity-refused service-without-endpoints skip-outbound-ports-lost trace-collector-identity trace-collector-unreachable traffic-worse-than-before workload-account-missing workload-not-ready debug-image-ignored extension-injector-unavailable fargate-pod-injected hook-runs-in-proxy host-network-not-injected identity-token-missing injected-container-altered injected-name-too-long injector-ca-mismatch injector-fails-closed-single-replica injector-fails-open injector-not-called injector-unavailable injector-webhook-missing kube-system-not-exempt linkerd-cni-not-exempt other-mesh-sidecar pod-missing-proxy pod-security-refuses-proxy pods-refused proxy-refused-by-quota scc-refuses-proxy token-not-mounted webhook-unreachable windows-pod-injected workload-half-meshed jaeger-cli-skew jaeger-injector-conflict jaeger-namespace-empty jaeger-namespace-unlabelled jaeger-pods-not-injected jaeger-pods-not-running jaeger-proxy-outdated jaeger-proxy-unhealthy control-plane-credentials-incomplete exported-headless-without-hostnames gateway-identity-mismatch gateway-probe-failing gateway-refuses-requests gateway-unavailable link-anchors-differ link-crd-missing link-credentials-unusable link-invalid link-probe-port-undeclared link-version-skew mirror-endpoints-outdated mirror-service-orphaned mirror-service-pruned mirror-service-without-endpoints multicluster-cli-skew multicluster-namespace-unlabelled multicluster-pods-not-running multicluster-proxy-outdated multicluster-proxy-unhealthy remote-account-missing service-mirror-legacy service-mirror-not-running service-mirror-reports-errors service-mirror-role-missing service-not-mirrored job-held-by-proxy job-proxy-not-ended native-sidecar-key-misplaced native-sidecar-key-misspelled native-sidecar-key-not-read native-sidecar-key-overridden native-sidecar-kubernetes-too-old native-sidecar-value-invalid native-sidecar-wait-refused proxy-stopped-early apply-refused authentication-missing caller-without-identity default-policy-not-applied denied-although-authorized hook-refused identity-unknown identity-without-proxy ingress-bypasses-routes ingress-client-address-lost ingress-mode-external-name ingress-mode-opaque-port ingress-refused mirror-bypassed outbound-connection-forbidden pod-started-without-policy policy-answer-differs policy-audits policy-denies policy-ended-connections policy-ignored policy-target-missing policy-unreadable probe-networks-without-nodes probe-refused profile-shadows-route profile-unused proxy-policy-stale requests-rate-limited requests-without-route retry-without-condition route-backend-elsewhere route-backend-port-undeclared route-backend-without-endpoints route-not-accepted route-on-tls-port route-parent-port-undeclared route-status-unwritten route-without-clients scrape-refused server-http-on-opaque-port server-http-on-tls-port server-selects-nothing server-without-authorization servers-overlap service-routes-incomplete session-affinity-ignored skipped-port-bypasses-policy skipped-port-hides-identity traffic-split-backend-missing traffic-split-ignored unmeshed-endpoint-bypasses-policy workload-without-authorization aggregation-layer-off control-plane-namespace-exists install-cluster-rights-missing install-leftovers install-rights-missing node-clock-skew upgrade-changes-default upgrade-changes-policy upgrade-closes-shutdown upgrade-deletes-gateway-api upgrade-drops-architecture upgrade-drops-extension upgrade-drops-mesh-tls upgrade-drops-opencensus upgrade-drops-value upgrade-heeds-timeouts upgrade-image-refused upgrade-needs-storage-migration upgrade-orphans-gateway-api upgrade-path upgrade-pinned-proxy upgrade-refuses-undeclared-port upgrade-renames-port upgrade-rollout-blocked upgrade-stored-values-unusable upgrade-target-not-recommended cli-control-plane-skew cli-outdated control-plane-mixed-versions control-plane-outdated crd-stored-version-gone crds-overwritten-by-cli data-plane-skew gateway-api-after-controller gateway-api-missing gateway-api-owned-elsewhere gateway-api-releases-differ gateway-api-unsupported known-defect kubernetes-unsupported route-version-not-served stale-endpoints-release viz-address-unreachable viz-cli-skew viz-dashboard-host-refused viz-data-plane-namespace-missing viz-metrics-api-not-running viz-metrics-missing viz-namespace-empty viz-namespace-unlabelled viz-pods-not-injected viz-pods-not-running viz-prometheus-missing viz-proxy-outdated viz-proxy-unhealthy viz-role-missing viz-scrape-mismatch viz-scrape-unauthorized viz-self-check-failing viz-tap-api-unavailable viz-tap-certificate-expiring viz-tap-certificate-invalid viz-tap-injector-ca-mismatch viz-tap-injector-missing viz-tap-key-mismatch viz-tap-not-enabled viz-tap-refuses-users }
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
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
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
'*--bundle=[Read a bundle or dump instead of a cluster\: a file, a folder or '\''-'\'' for standard input. Repeatable]:PATH:_files' \
'*--complete=[Declare that the dump lists every object of these kinds (comma-separated, or '\''all'\'')]:KIND,...|all:_default' \
'*--nodes=[Node evidence\: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable]:NAME=PATH|DIR:_default' \
'*--logs=[Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable]::NAME=FILE:_default' \
'(--bundle)--proxies=[Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards]::DURATION:_default' \
'(--bundle)--max-proxies=[Maximum number of proxies whose metrics --proxies reads, from 1 to 2000; 200 by default]:NUMBER:_default' \
'(--bundle --proxies)--prometheus=[Read the metrics of all proxies from a Prometheus server\: its URL, or '\''viz'\'' for the one of the viz extension]:URL|viz:_default' \
'--prometheus-window=[The time between the two values, from 1m to 24h]:DURATION:_default' \
'--prometheus-token-file=[File with a bearer token for the Prometheus server; by default \$MESHDOCTOR_PROMETHEUS_TOKEN, if set]:FILE:_files' \
'--prometheus-ca=[File with the certificate authority of the Prometheus server (PEM); by default those of the system]:FILE:_files' \
'*--prometheus-label=[Read only series with this label, such as cluster=east if the server has series of several clusters. Repeatable]:LABEL=VALUE:_default' \
'*--diagnostics=[Output of '\''linkerd diagnostics'\'' in a file, to compare with the cluster or bundle. Repeatable]:[NAMESPACE/POD:PORT=]FILE:_default' \
'--at=[Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time]:RFC3339:_default' \
'--linkerd-cli=[The linkerd CLI\: its path (with a '\''/'\''), its version, or '\''none'\'']:PATH|VERSION|none:_default' \
'-L+[Namespace of the control plane; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--linkerd-namespace=[Namespace of the control plane; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--cni-namespace=[Namespace of linkerd-cni; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--kubeconfig=[Kubeconfig file; by default \$KUBECONFIG, ~/.kube/config, or the service account inside a pod]:FILE:_files' \
'*--context=[Kubeconfig context. '\''check'\'' accepts several and checks each cluster]:NAME:_meshdoctor_contexts' \
'--cluster=[Kubeconfig cluster, instead of the context'\''s]:NAME:_default' \
'--user=[Kubeconfig user, instead of the context'\''s]:NAME:_default' \
'--as=[Impersonate this user]:USER:_default' \
'*--as-group=[Impersonate this group. Repeatable]:GROUP:_default' \
'--request-timeout=[Time limit for one response of the API server\: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer]:DURATION:_default' \
'--timeout=[Time limit for the whole run; the rest is not checked. At least 10s are left for the checks. Without the flag, reading a cluster and the checks may take 5m each]:DURATION:_default' \
'(--context --bundle --live)--bundles=[Check every bundle and dump in a folder, each as its own cluster, named after its file]:DIR:_files' \
'--max-age=[With --bundles\: treat bundles that are older, and dumps of unknown age, as clusters that could not be checked]:DURATION:_default' \
'*--expect=[With --bundles\: names of the clusters to expect. A cluster without a bundle counts as not checked]:NAME,...:_default' \
'--parallel=[Number of clusters to read at the same time]:N:_default' \
'*--only=[Run only these checks, categories or known defects (known-defect/ID), comma-separated]:CHECK,...:_sequence _meshdoctor_listed' \
'*--skip=[Skip these checks, categories or known defects (known-defect/ID), comma-separated]:CHECK,...:_sequence _meshdoctor_listed' \
'*-n+[Check only workloads in these namespaces (comma-separated). The control plane is always checked]:NAMESPACE,...:_sequence _meshdoctor_namespaces' \
'*--namespace=[Check only workloads in these namespaces (comma-separated). The control plane is always checked]:NAMESPACE,...:_sequence _meshdoctor_namespaces' \
'--to-cni=[The linkerd-cni version of the next upgrade, such as v1.6.8\: reports what that upgrade would break]:VERSION:_default' \
'(--with --live --nodes --logs --pre --crds --verify --save)*--manifests=[Check manifests without a cluster\: files, folders or '\''-'\'' for standard input. Several paths may follow]:PATH:_files' \
'--linkerd-version=[With --manifests\: the Linkerd release to check for, if they do not contain the control plane. With --pre or --crds\: the release to install]:RELEASE:_default' \
'--kubernetes-version=[With --manifests\: the Kubernetes version to check for, such as 1.34]:VERSION:_default' \
'(--to --pre --crds --verify)*--with=[Check the cluster or bundle as it would be with these manifests applied. Repeatable]:PATH:_files' \
'--prune=[With --with\: also delete objects with these labels that the manifests do not name, like kubectl apply --prune]:SELECTOR:_default' \
'(--manifests --with --pre --crds --verify)*--values=[Check values for a Linkerd Helm chart\: unknown and unused values, wrong types, and values that the chart rejects. Repeatable]:FILE:_files' \
'--chart=[The chart that --values are for, and its release\: linkerd-control-plane@2.19, linkerd-viz@edge-26.5.5]:CHART[@RELEASE]:_default' \
'--into=[Namespace for manifests that name none, as with kubectl apply -n (default\: default)]:NAMESPACE:_meshdoctor_namespaces' \
'(--pre --crds --verify)--to=[Preview an upgrade to this Linkerd release\: a minor such as 2.20, or a release such as edge-26.8.3]:RELEASE:_default' \
'--to-kubernetes=[With --to\: Kubernetes version at the time of the upgrade, such as 1.35]:VERSION:_default' \
'--from=[With --to\: the installed release, if the evidence does not contain it]:RELEASE:_default' \
'--expected-version=[The release that all components should run, such as edge-26.8.3 or stable-2.14.10]:VERSION:_default' \
'--fail-on=[Exit with 1 if a finding has at least this severity; with \:observed, inferred ('\''likely'\'') findings do not count]:SEVERITY:(error warning info never error\:observed warning\:observed)' \
'(--verify)*--severity=[Override the severity of a check'\''s findings\: error, warning or info. Repeatable]:CHECK=SEVERITY:_default' \
'(--verify)*--param=[Override a check'\''s parameter\: trust-anchor-expiring.days=30. Repeatable]:CHECK.NAME=VALUE:_default' \
'(--verify)--on-not-checked=[Exit status if requested evidence was unavailable]:ON_NOT_CHECKED:((fail\:"Exit with 4"
pass\:"Exit with 0"))' \
'(--verify)*--waivers=[Accept the findings in a YAML file of waivers. Repeatable]:FILE:_files' \
'(--verify)--baseline=[Ignore the findings of an earlier report (-o json=FILE) of the same cluster]:REPORT.json:_files' \
'--verify=[Recheck the findings of an earlier report (-o json=FILE) with fresh evidence\: fixed, still there, or not checked]:REPORT.json:_files' \
'(--verify --to --manifests --with --values)--before=[Compare the numbers of proxies (requests, failures, latency, memory) with those of an earlier report or bundle]:REPORT.json|BUNDLE:_files' \
'(--verify)--confidence=[With '\''observed'\'', list only findings that the evidence proves]:CONFIDENCE:((likely\:"Also inferred findings"
observed\:"Only findings that the evidence proves"))' \
'(--bundle --bundles --manifests --with --values --verify --to)--wait=[Retry for up to DURATION (5m) until the checks pass, like linkerd check]:DURATION:_default' \
'*-o+[Print the report in this format (default table), or write it to a file with FORMAT=FILE. Repeatable]:FORMAT[=FILE]:(table short json yaml linkerd linkerd-table plan sarif junit github gitlab markdown prometheus ndjson html)' \
'*--output=[Print the report in this format (default table), or write it to a file with FORMAT=FILE. Repeatable]:FORMAT[=FILE]:(table short json yaml linkerd linkerd-table plan sarif junit github gitlab markdown prometheus ndjson html)' \
'--save=[Save the evidence as a bundle\: FILE.tar.gz, FILE.tar.zst or a folder]:PATH:_files' \
'-v+[Show all details; for check, also symptoms, infos and versions]::LEVEL:_default' \
'--verbose=[Show all details; for check, also symptoms, infos and versions]::LEVEL:_default' \
'--knowledge=[Read release data from this folder instead of the embedded data]:DIR:_files' \
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
'(--bundle)--live[Read the live cluster even if --nodes, --logs or --diagnostics is given]' \
'--disable-compression[Request uncompressed responses; faster on the API server'\''s machine or a very fast link]' \
'--probe[Also query running programs through port-forwards]' \
'(--context --bundle --live --bundles)--all-contexts[Check the cluster of every kubeconfig context, as with several --context]' \
'(-n --namespace)-A[Check workloads in all namespaces, as without --namespace]' \
'(-n --namespace)--all-namespaces[Check workloads in all namespaces, as without --namespace]' \
'(--crds)--pre[Check whether the cluster can run Linkerd, before it is installed]' \
'--crds[Check the custom resource definitions, before the control plane is installed]' \
'--linkerd-cni-enabled[With --pre\: the installation will use linkerd-cni, which must be installed and ready]' \
'(--pre --crds)--proxy[With -o linkerd, also print the data-plane rows. meshdoctor'\''s own reports always include them]' \
'--coverage[Show what was not checked completely, why, and how to check it]' \
'(--bundle --manifests --with --values --verify --to --pre --crds --only --skip -n --namespace --confidence)--publish[Also write the report into the cluster, for policy reporters. This needs a role of its own]' \
'--force[Let --save overwrite an existing file]' \
'(-v --verbose)-q[Print no warnings or progress on standard error]' \
'(-v --verbose)--quiet[Print no warnings or progress on standard error]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'*::files -- Bundles, dumps or folders to read instead of the cluster, as with --bundle:_files' \
&& ret=0
;;
(explain)
_arguments "${_arguments_options[@]}" : \
'-o+[Output format]:OUTPUT:((text\:"Plain text"
markdown\:"Markdown, as on the documentation page"
json\:"JSON"))' \
'--output=[Output format]:OUTPUT:((text\:"Plain text"
markdown\:"Markdown, as on the documentation page"
json\:"JSON"))' \
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'*::text -- One or more check ids, a known defect (known-defect/ID), the hint anchor of a row of '\''linkerd check'\'' (l5d-...), or a text to explain; '\''-'\'' reads a text from standard input:_meshdoctor_checks' \
&& ret=0
;;
(reach)
_arguments "${_arguments_options[@]}" : \
'--traffic=[Kind of traffic. By default, the report names the kinds that fail]:KIND:((http1\:"HTTP/1"
http2\:"HTTP/2, such as gRPC"
client-first\:"Another protocol in which the client sends the first byte"
server-first\:"Another protocol in which the server sends the first byte"))' \
'-n+[Namespace for names without one, and for --matrix]:NAMESPACE:_meshdoctor_namespaces' \
'--namespace=[Namespace for names without one, and for --matrix]:NAMESPACE:_meshdoctor_namespaces' \
'-o+[Output format]:OUTPUT:((table\:"A table"
json\:"JSON"
html\:"An HTML page with the path of each connection"))' \
'--output=[Output format]:OUTPUT:((table\:"A table"
json\:"JSON"
html\:"An HTML page with the path of each connection"))' \
'*--bundle=[Read a bundle or dump instead of a cluster\: a file, a folder or '\''-'\'' for standard input. Repeatable]:PATH:_files' \
'*--complete=[Declare that the dump lists every object of these kinds (comma-separated, or '\''all'\'')]:KIND,...|all:_default' \
'*--nodes=[Node evidence\: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable]:NAME=PATH|DIR:_default' \
'*--logs=[Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable]::NAME=FILE:_default' \
'(--bundle)--proxies=[Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards]::DURATION:_default' \
'(--bundle)--max-proxies=[Maximum number of proxies whose metrics --proxies reads, from 1 to 2000; 200 by default]:NUMBER:_default' \
'(--bundle --proxies)--prometheus=[Read the metrics of all proxies from a Prometheus server\: its URL, or '\''viz'\'' for the one of the viz extension]:URL|viz:_default' \
'--prometheus-window=[The time between the two values, from 1m to 24h]:DURATION:_default' \
'--prometheus-token-file=[File with a bearer token for the Prometheus server; by default \$MESHDOCTOR_PROMETHEUS_TOKEN, if set]:FILE:_files' \
'--prometheus-ca=[File with the certificate authority of the Prometheus server (PEM); by default those of the system]:FILE:_files' \
'*--prometheus-label=[Read only series with this label, such as cluster=east if the server has series of several clusters. Repeatable]:LABEL=VALUE:_default' \
'*--diagnostics=[Output of '\''linkerd diagnostics'\'' in a file, to compare with the cluster or bundle. Repeatable]:[NAMESPACE/POD:PORT=]FILE:_default' \
'--at=[Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time]:RFC3339:_default' \
'--linkerd-cli=[The linkerd CLI\: its path (with a '\''/'\''), its version, or '\''none'\'']:PATH|VERSION|none:_default' \
'-L+[Namespace of the control plane; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--linkerd-namespace=[Namespace of the control plane; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--cni-namespace=[Namespace of linkerd-cni; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--kubeconfig=[Kubeconfig file; by default \$KUBECONFIG, ~/.kube/config, or the service account inside a pod]:FILE:_files' \
'*--context=[Kubeconfig context. '\''check'\'' accepts several and checks each cluster]:NAME:_meshdoctor_contexts' \
'--cluster=[Kubeconfig cluster, instead of the context'\''s]:NAME:_default' \
'--user=[Kubeconfig user, instead of the context'\''s]:NAME:_default' \
'--as=[Impersonate this user]:USER:_default' \
'*--as-group=[Impersonate this group. Repeatable]:GROUP:_default' \
'--request-timeout=[Time limit for one response of the API server\: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer]:DURATION:_default' \
'--timeout=[Time limit for the whole run; the rest is not checked. At least 10s are left for the checks. Without the flag, reading a cluster and the checks may take 5m each]:DURATION:_default' \
'-v+[Show all details; for check, also symptoms, infos and versions]::LEVEL:_default' \
'--verbose=[Show all details; for check, also symptoms, infos and versions]::LEVEL:_default' \
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
'()--matrix[Show which workloads of a namespace can connect to which of its Service ports]' \
'(--bundle)--live[Read the live cluster even if --nodes, --logs or --diagnostics is given]' \
'--disable-compression[Request uncompressed responses; faster on the API server'\''s machine or a very fast link]' \
'--probe[Also query running programs through port-forwards]' \
'(-v --verbose)-q[Print no warnings or progress on standard error]' \
'(-v --verbose)--quiet[Print no warnings or progress on standard error]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'::from -- The client\: a pod or a workload, NAMESPACE/NAME, or NAME with --namespace:_meshdoctor_targets' \
'::to -- The destination\: a Service, workload or pod, NAMESPACE/NAME\[\:PORT\], or NAME\[\:PORT\] with --namespace; or HOST\:PORT:_meshdoctor_targets' \
&& ret=0
;;
(policy)
_arguments "${_arguments_options[@]}" : \
'()*--to=[Show the outbound policy of clients for a Service, NAMESPACE/NAME\[\:PORT\], or an address, ADDRESS\:PORT]:SERVICE[:PORT]:_default' \
'-n+[Namespace of names that are given without one; without names, all injected workloads of it]:NAMESPACE:_meshdoctor_namespaces' \
'--namespace=[Namespace of names that are given without one; without names, all injected workloads of it]:NAMESPACE:_meshdoctor_namespaces' \
'--from=[With --to\: namespace of the clients (default\: the Service'\''s, or '\''default'\'' for addresses)]:NAMESPACE:_meshdoctor_namespaces' \
'-o+[Output format]:OUTPUT:((table\:"A table"
json\:"JSON"
controller\:"The response of the policy controller to proxies\: {"inbound"\: {"NAMESPACE/POD"\: {"PORT"\: ANSWER}}}, with --to {"outbound"\: \[{"query"\: QUERY, "policy"\: ANSWER}\]}"))' \
'--output=[Output format]:OUTPUT:((table\:"A table"
json\:"JSON"
controller\:"The response of the policy controller to proxies\: {"inbound"\: {"NAMESPACE/POD"\: {"PORT"\: ANSWER}}}, with --to {"outbound"\: \[{"query"\: QUERY, "policy"\: ANSWER}\]}"))' \
'*--bundle=[Read a bundle or dump instead of a cluster\: a file, a folder or '\''-'\'' for standard input. Repeatable]:PATH:_files' \
'*--complete=[Declare that the dump lists every object of these kinds (comma-separated, or '\''all'\'')]:KIND,...|all:_default' \
'*--nodes=[Node evidence\: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable]:NAME=PATH|DIR:_default' \
'*--logs=[Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable]::NAME=FILE:_default' \
'(--bundle)--proxies=[Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards]::DURATION:_default' \
'(--bundle)--max-proxies=[Maximum number of proxies whose metrics --proxies reads, from 1 to 2000; 200 by default]:NUMBER:_default' \
'(--bundle --proxies)--prometheus=[Read the metrics of all proxies from a Prometheus server\: its URL, or '\''viz'\'' for the one of the viz extension]:URL|viz:_default' \
'--prometheus-window=[The time between the two values, from 1m to 24h]:DURATION:_default' \
'--prometheus-token-file=[File with a bearer token for the Prometheus server; by default \$MESHDOCTOR_PROMETHEUS_TOKEN, if set]:FILE:_files' \
'--prometheus-ca=[File with the certificate authority of the Prometheus server (PEM); by default those of the system]:FILE:_files' \
'*--prometheus-label=[Read only series with this label, such as cluster=east if the server has series of several clusters. Repeatable]:LABEL=VALUE:_default' \
'*--diagnostics=[Output of '\''linkerd diagnostics'\'' in a file, to compare with the cluster or bundle. Repeatable]:[NAMESPACE/POD:PORT=]FILE:_default' \
'--at=[Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time]:RFC3339:_default' \
'--linkerd-cli=[The linkerd CLI\: its path (with a '\''/'\''), its version, or '\''none'\'']:PATH|VERSION|none:_default' \
'-L+[Namespace of the control plane; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--linkerd-namespace=[Namespace of the control plane; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--cni-namespace=[Namespace of linkerd-cni; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--kubeconfig=[Kubeconfig file; by default \$KUBECONFIG, ~/.kube/config, or the service account inside a pod]:FILE:_files' \
'*--context=[Kubeconfig context. '\''check'\'' accepts several and checks each cluster]:NAME:_meshdoctor_contexts' \
'--cluster=[Kubeconfig cluster, instead of the context'\''s]:NAME:_default' \
'--user=[Kubeconfig user, instead of the context'\''s]:NAME:_default' \
'--as=[Impersonate this user]:USER:_default' \
'*--as-group=[Impersonate this group. Repeatable]:GROUP:_default' \
'--request-timeout=[Time limit for one response of the API server\: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer]:DURATION:_default' \
'--timeout=[Time limit for the whole run; the rest is not checked. At least 10s are left for the checks. Without the flag, reading a cluster and the checks may take 5m each]:DURATION:_default' \
'-v+[Show all details; for check, also symptoms, infos and versions]::LEVEL:_default' \
'--verbose=[Show all details; for check, also symptoms, infos and versions]::LEVEL:_default' \
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
'(--to -o --output)--generate[Print policies as manifests for the Service ports of the given namespaces, which allow what the objects show]' \
'--enforce[With --generate\: deny every client that the manifests do not name]' \
'(--bundle)--live[Read the live cluster even if --nodes, --logs or --diagnostics is given]' \
'--disable-compression[Request uncompressed responses; faster on the API server'\''s machine or a very fast link]' \
'--probe[Also query running programs through port-forwards]' \
'(-v --verbose)-q[Print no warnings or progress on standard error]' \
'(-v --verbose)--quiet[Print no warnings or progress on standard error]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'*::targets -- NAMESPACE, or NAMESPACE/NAME\[\:PORT\] of a pod, a workload or an ExternalWorkload; by default all injected workloads:_meshdoctor_targets' \
&& ret=0
;;
(injection)
_arguments "${_arguments_options[@]}" : \
'-n+[Namespace of names that are given without one; without names, all pods and workloads of it]:NAMESPACE:_meshdoctor_namespaces' \
'--namespace=[Namespace of names that are given without one; without names, all pods and workloads of it]:NAMESPACE:_meshdoctor_namespaces' \
'(--nodes --logs)*--manifests=[Show the pods of manifests\: files, folders or '\''-'\'' for standard input. Repeatable]:PATH:_files' \
'--linkerd-version=[The Linkerd release, if neither cluster nor manifests contain a control plane]:RELEASE:_default' \
'--into=[Namespace for manifests that name none, as with kubectl apply -n (default\: default)]:NAMESPACE:_meshdoctor_namespaces' \
'-o+[Output format]:OUTPUT:((table\:"A table"
json\:"JSON"))' \
'--output=[Output format]:OUTPUT:((table\:"A table"
json\:"JSON"))' \
'*--bundle=[Read a bundle or dump instead of a cluster\: a file, a folder or '\''-'\'' for standard input. Repeatable]:PATH:_files' \
'*--complete=[Declare that the dump lists every object of these kinds (comma-separated, or '\''all'\'')]:KIND,...|all:_default' \
'*--nodes=[Node evidence\: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable]:NAME=PATH|DIR:_default' \
'*--logs=[Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable]::NAME=FILE:_default' \
'(--bundle)--proxies=[Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards]::DURATION:_default' \
'(--bundle)--max-proxies=[Maximum number of proxies whose metrics --proxies reads, from 1 to 2000; 200 by default]:NUMBER:_default' \
'(--bundle --proxies)--prometheus=[Read the metrics of all proxies from a Prometheus server\: its URL, or '\''viz'\'' for the one of the viz extension]:URL|viz:_default' \
'--prometheus-window=[The time between the two values, from 1m to 24h]:DURATION:_default' \
'--prometheus-token-file=[File with a bearer token for the Prometheus server; by default \$MESHDOCTOR_PROMETHEUS_TOKEN, if set]:FILE:_files' \
'--prometheus-ca=[File with the certificate authority of the Prometheus server (PEM); by default those of the system]:FILE:_files' \
'*--prometheus-label=[Read only series with this label, such as cluster=east if the server has series of several clusters. Repeatable]:LABEL=VALUE:_default' \
'*--diagnostics=[Output of '\''linkerd diagnostics'\'' in a file, to compare with the cluster or bundle. Repeatable]:[NAMESPACE/POD:PORT=]FILE:_default' \
'--at=[Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time]:RFC3339:_default' \
'--linkerd-cli=[The linkerd CLI\: its path (with a '\''/'\''), its version, or '\''none'\'']:PATH|VERSION|none:_default' \
'-L+[Namespace of the control plane; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--linkerd-namespace=[Namespace of the control plane; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--cni-namespace=[Namespace of linkerd-cni; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--kubeconfig=[Kubeconfig file; by default \$KUBECONFIG, ~/.kube/config, or the service account inside a pod]:FILE:_files' \
'*--context=[Kubeconfig context. '\''check'\'' accepts several and checks each cluster]:NAME:_meshdoctor_contexts' \
'--cluster=[Kubeconfig cluster, instead of the context'\''s]:NAME:_default' \
'--user=[Kubeconfig user, instead of the context'\''s]:NAME:_default' \
'--as=[Impersonate this user]:USER:_default' \
'*--as-group=[Impersonate this group. Repeatable]:GROUP:_default' \
'--request-timeout=[Time limit for one response of the API server\: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer]:DURATION:_default' \
'--timeout=[Time limit for the whole run; the rest is not checked. At least 10s are left for the checks. Without the flag, reading a cluster and the checks may take 5m each]:DURATION:_default' \
'-v+[Show all details; for check, also symptoms, infos and versions]::LEVEL:_default' \
'--verbose=[Show all details; for check, also symptoms, infos and versions]::LEVEL:_default' \
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
'(--bundle)--live[Read the live cluster even if --nodes, --logs or --diagnostics is given]' \
'--disable-compression[Request uncompressed responses; faster on the API server'\''s machine or a very fast link]' \
'--probe[Also query running programs through port-forwards]' \
'(-v --verbose)-q[Print no warnings or progress on standard error]' \
'(-v --verbose)--quiet[Print no warnings or progress on standard error]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'*::targets -- NAMESPACE, or NAMESPACE/NAME of a pod or workload; by default everything:_default' \
&& ret=0
;;
(sync)
_arguments "${_arguments_options[@]}" : \
'*-n+[Show only proxies in these namespaces (comma-separated). The control plane is always shown]:NAMESPACE,...:_sequence _meshdoctor_namespaces' \
'*--namespace=[Show only proxies in these namespaces (comma-separated). The control plane is always shown]:NAMESPACE,...:_sequence _meshdoctor_namespaces' \
'-o+[Output format]:OUTPUT:((table\:"A table"
json\:"JSON"
yaml\:"YAML"))' \
'--output=[Output format]:OUTPUT:((table\:"A table"
json\:"JSON"
yaml\:"YAML"))' \
'*--bundle=[Read a bundle or dump instead of a cluster\: a file, a folder or '\''-'\'' for standard input. Repeatable]:PATH:_files' \
'*--complete=[Declare that the dump lists every object of these kinds (comma-separated, or '\''all'\'')]:KIND,...|all:_default' \
'*--nodes=[Node evidence\: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable]:NAME=PATH|DIR:_default' \
'*--logs=[Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable]::NAME=FILE:_default' \
'(--bundle)--proxies=[Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards]::DURATION:_default' \
'(--bundle)--max-proxies=[Maximum number of proxies whose metrics --proxies reads, from 1 to 2000; 200 by default]:NUMBER:_default' \
'(--bundle --proxies)--prometheus=[Read the metrics of all proxies from a Prometheus server\: its URL, or '\''viz'\'' for the one of the viz extension]:URL|viz:_default' \
'--prometheus-window=[The time between the two values, from 1m to 24h]:DURATION:_default' \
'--prometheus-token-file=[File with a bearer token for the Prometheus server; by default \$MESHDOCTOR_PROMETHEUS_TOKEN, if set]:FILE:_files' \
'--prometheus-ca=[File with the certificate authority of the Prometheus server (PEM); by default those of the system]:FILE:_files' \
'*--prometheus-label=[Read only series with this label, such as cluster=east if the server has series of several clusters. Repeatable]:LABEL=VALUE:_default' \
'*--diagnostics=[Output of '\''linkerd diagnostics'\'' in a file, to compare with the cluster or bundle. Repeatable]:[NAMESPACE/POD:PORT=]FILE:_default' \
'--at=[Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time]:RFC3339:_default' \
'--linkerd-cli=[The linkerd CLI\: its path (with a '\''/'\''), its version, or '\''none'\'']:PATH|VERSION|none:_default' \
'-L+[Namespace of the control plane; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--linkerd-namespace=[Namespace of the control plane; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--cni-namespace=[Namespace of linkerd-cni; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--kubeconfig=[Kubeconfig file; by default \$KUBECONFIG, ~/.kube/config, or the service account inside a pod]:FILE:_files' \
'*--context=[Kubeconfig context. '\''check'\'' accepts several and checks each cluster]:NAME:_meshdoctor_contexts' \
'--cluster=[Kubeconfig cluster, instead of the context'\''s]:NAME:_default' \
'--user=[Kubeconfig user, instead of the context'\''s]:NAME:_default' \
'--as=[Impersonate this user]:USER:_default' \
'*--as-group=[Impersonate this group. Repeatable]:GROUP:_default' \
'--request-timeout=[Time limit for one response of the API server\: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer]:DURATION:_default' \
'--timeout=[Time limit for the whole run; the rest is not checked. At least 10s are left for the checks. Without the flag, reading a cluster and the checks may take 5m each]:DURATION:_default' \
'-v+[Show all details; for check, also symptoms, infos and versions]::LEVEL:_default' \
'--verbose=[Show all details; for check, also symptoms, infos and versions]::LEVEL:_default' \
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
'(--bundle)--live[Read the live cluster even if --nodes, --logs or --diagnostics is given]' \
'--disable-compression[Request uncompressed responses; faster on the API server'\''s machine or a very fast link]' \
'--probe[Also query running programs through port-forwards]' \
'(-v --verbose)-q[Print no warnings or progress on standard error]' \
'(-v --verbose)--quiet[Print no warnings or progress on standard error]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'*::files -- Bundles, dumps or folders to read instead of the cluster, as with --bundle:_files' \
&& ret=0
;;
(rotate)
_arguments "${_arguments_options[@]}" : \
'--of=[What to rotate; by default the issuer alone if it expires within 60 days and its trust anchor does not, else both]:WHAT:((anchor\:"The trust anchor, and the issuer under it"
issuer\:"The issuer, under the current trust anchor"))' \
'--may=[Report with the exit status whether this step may be done now, instead of the next step]:STEP:((add-anchor\:"Add a new trust anchor to the bundle"
restart-control-plane\:"Restart the control plane with the new bundle"
restart-workloads\:"Restart the meshed workloads with the new bundle"
replace-issuer\:"Replace the issuer"
renew-certificates\:"Renew certificates of the old issuer"
remove-anchor\:"Remove the old trust anchor from the bundle"
drop-old-anchor\:"Restart everything that still trusts the old anchor"))' \
'--issuer-since=[A time at which the current issuer was already in place, if no event shows it (RFC 3339)]:RFC3339:_default' \
'--bundle-since=[A time at which the current bundle of trust anchors was already in place (RFC 3339)]:RFC3339:_default' \
'*--confirm=[State that this is ready for the next step; use it only after you have checked it. Repeatable]:WHAT:((linked-clusters\:"The clusters that this cluster has Links to"
external-workloads\:"The proxies of ExternalWorkloads"))' \
'-o+[Output format]:OUTPUT:((table\:"Text"
json\:"JSON"))' \
'--output=[Output format]:OUTPUT:((table\:"Text"
json\:"JSON"))' \
'*--bundle=[Read a bundle or dump instead of a cluster\: a file, a folder or '\''-'\'' for standard input. Repeatable]:PATH:_files' \
'*--complete=[Declare that the dump lists every object of these kinds (comma-separated, or '\''all'\'')]:KIND,...|all:_default' \
'*--nodes=[Node evidence\: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable]:NAME=PATH|DIR:_default' \
'*--logs=[Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable]::NAME=FILE:_default' \
'(--bundle)--proxies=[Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards]::DURATION:_default' \
'(--bundle)--max-proxies=[Maximum number of proxies whose metrics --proxies reads, from 1 to 2000; 200 by default]:NUMBER:_default' \
'(--bundle --proxies)--prometheus=[Read the metrics of all proxies from a Prometheus server\: its URL, or '\''viz'\'' for the one of the viz extension]:URL|viz:_default' \
'--prometheus-window=[The time between the two values, from 1m to 24h]:DURATION:_default' \
'--prometheus-token-file=[File with a bearer token for the Prometheus server; by default \$MESHDOCTOR_PROMETHEUS_TOKEN, if set]:FILE:_files' \
'--prometheus-ca=[File with the certificate authority of the Prometheus server (PEM); by default those of the system]:FILE:_files' \
'*--prometheus-label=[Read only series with this label, such as cluster=east if the server has series of several clusters. Repeatable]:LABEL=VALUE:_default' \
'*--diagnostics=[Output of '\''linkerd diagnostics'\'' in a file, to compare with the cluster or bundle. Repeatable]:[NAMESPACE/POD:PORT=]FILE:_default' \
'--at=[Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time]:RFC3339:_default' \
'--linkerd-cli=[The linkerd CLI\: its path (with a '\''/'\''), its version, or '\''none'\'']:PATH|VERSION|none:_default' \
'-L+[Namespace of the control plane; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--linkerd-namespace=[Namespace of the control plane; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--cni-namespace=[Namespace of linkerd-cni; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--kubeconfig=[Kubeconfig file; by default \$KUBECONFIG, ~/.kube/config, or the service account inside a pod]:FILE:_files' \
'*--context=[Kubeconfig context. '\''check'\'' accepts several and checks each cluster]:NAME:_meshdoctor_contexts' \
'--cluster=[Kubeconfig cluster, instead of the context'\''s]:NAME:_default' \
'--user=[Kubeconfig user, instead of the context'\''s]:NAME:_default' \
'--as=[Impersonate this user]:USER:_default' \
'*--as-group=[Impersonate this group. Repeatable]:GROUP:_default' \
'--request-timeout=[Time limit for one response of the API server\: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer]:DURATION:_default' \
'--timeout=[Time limit for the whole run; the rest is not checked. At least 10s are left for the checks. Without the flag, reading a cluster and the checks may take 5m each]:DURATION:_default' \
'-v+[Show all details; for check, also symptoms, infos and versions]::LEVEL:_default' \
'--verbose=[Show all details; for check, also symptoms, infos and versions]::LEVEL:_default' \
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
'(--bundle)--live[Read the live cluster even if --nodes, --logs or --diagnostics is given]' \
'--disable-compression[Request uncompressed responses; faster on the API server'\''s machine or a very fast link]' \
'--probe[Also query running programs through port-forwards]' \
'(-v --verbose)-q[Print no warnings or progress on standard error]' \
'(-v --verbose)--quiet[Print no warnings or progress on standard error]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'*::files -- Bundles, dumps or folders to read instead of the cluster, as with --bundle:_files' \
&& ret=0
;;
(fix)
_arguments "${_arguments_options[@]}" : \
'(--live --nodes --logs)*--manifests=[Repair manifests instead of a cluster\: files or folders. Several paths may follow. Shows a diff unless --write is given]:PATH:_files' \
'(--live --nodes --logs --bundle)*--values=[Repair values for a Linkerd Helm chart instead, as with check --values. Repeatable; later files override earlier ones]:FILE:_files' \
'--chart=[The chart that --values are for, and its release\: linkerd-control-plane@2.19, linkerd-viz@edge-26.5.5]:CHART@RELEASE:_default' \
'--linkerd-version=[With --manifests\: the Linkerd release to check for, if they do not contain the control plane]:RELEASE:_default' \
'--kubernetes-version=[With --manifests\: the Kubernetes version to check for, such as 1.34]:VERSION:_default' \
'--into=[Namespace for manifests that name none, as with kubectl apply -n (default\: default)]:NAMESPACE:_meshdoctor_namespaces' \
'*--only=[Run only these checks, categories or known defects (known-defect/ID), comma-separated]:CHECK,...:_sequence _meshdoctor_listed' \
'*--skip=[Skip these checks, categories or known defects (known-defect/ID), comma-separated]:CHECK,...:_sequence _meshdoctor_listed' \
'*-n+[Repair only workloads in these namespaces (comma-separated). The control plane is always checked]:NAMESPACE,...:_sequence _meshdoctor_namespaces' \
'*--namespace=[Repair only workloads in these namespaces (comma-separated). The control plane is always checked]:NAMESPACE,...:_sequence _meshdoctor_namespaces' \
'-o+[Output format. The default is a script for a cluster, and a diff for files]:FORMAT:((script\:"A shell script that stops at the first failure and at each manual step"
patch\:"Patches of objects, in the form of a kustomization"
values\:"The chart values that steps set, for the values files of each chart"
diff\:"A unified diff of the files of --manifests or --values"
sarif\:"The findings of these files as SARIF, each with its edit under \`fixes\`"
json\:"JSON"))' \
'--output=[Output format. The default is a script for a cluster, and a diff for files]:FORMAT:((script\:"A shell script that stops at the first failure and at each manual step"
patch\:"Patches of objects, in the form of a kustomization"
values\:"The chart values that steps set, for the values files of each chart"
diff\:"A unified diff of the files of --manifests or --values"
sarif\:"The findings of these files as SARIF, each with its edit under \`fixes\`"
json\:"JSON"))' \
'*--bundle=[Read a bundle or dump instead of a cluster\: a file, a folder or '\''-'\'' for standard input. Repeatable]:PATH:_files' \
'*--complete=[Declare that the dump lists every object of these kinds (comma-separated, or '\''all'\'')]:KIND,...|all:_default' \
'*--nodes=[Node evidence\: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable]:NAME=PATH|DIR:_default' \
'*--logs=[Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable]::NAME=FILE:_default' \
'(--bundle)--proxies=[Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards]::DURATION:_default' \
'(--bundle)--max-proxies=[Maximum number of proxies whose metrics --proxies reads, from 1 to 2000; 200 by default]:NUMBER:_default' \
'(--bundle --proxies)--prometheus=[Read the metrics of all proxies from a Prometheus server\: its URL, or '\''viz'\'' for the one of the viz extension]:URL|viz:_default' \
'--prometheus-window=[The time between the two values, from 1m to 24h]:DURATION:_default' \
'--prometheus-token-file=[File with a bearer token for the Prometheus server; by default \$MESHDOCTOR_PROMETHEUS_TOKEN, if set]:FILE:_files' \
'--prometheus-ca=[File with the certificate authority of the Prometheus server (PEM); by default those of the system]:FILE:_files' \
'*--prometheus-label=[Read only series with this label, such as cluster=east if the server has series of several clusters. Repeatable]:LABEL=VALUE:_default' \
'*--diagnostics=[Output of '\''linkerd diagnostics'\'' in a file, to compare with the cluster or bundle. Repeatable]:[NAMESPACE/POD:PORT=]FILE:_default' \
'--at=[Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time]:RFC3339:_default' \
'--linkerd-cli=[The linkerd CLI\: its path (with a '\''/'\''), its version, or '\''none'\'']:PATH|VERSION|none:_default' \
'-L+[Namespace of the control plane; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--linkerd-namespace=[Namespace of the control plane; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--cni-namespace=[Namespace of linkerd-cni; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--kubeconfig=[Kubeconfig file; by default \$KUBECONFIG, ~/.kube/config, or the service account inside a pod]:FILE:_files' \
'*--context=[Kubeconfig context. '\''check'\'' accepts several and checks each cluster]:NAME:_meshdoctor_contexts' \
'--cluster=[Kubeconfig cluster, instead of the context'\''s]:NAME:_default' \
'--user=[Kubeconfig user, instead of the context'\''s]:NAME:_default' \
'--as=[Impersonate this user]:USER:_default' \
'*--as-group=[Impersonate this group. Repeatable]:GROUP:_default' \
'--request-timeout=[Time limit for one response of the API server\: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer]:DURATION:_default' \
'--timeout=[Time limit for the whole run; the rest is not checked. At least 10s are left for the checks. Without the flag, reading a cluster and the checks may take 5m each]:DURATION:_default' \
'-v+[Show all details; for check, also symptoms, infos and versions]::LEVEL:_default' \
'--verbose=[Show all details; for check, also symptoms, infos and versions]::LEVEL:_default' \
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
'--write[Edit the files of --manifests or --values, and check them again]' \
'(--manifests --values --nodes --logs -o --output)--apply[Run the steps on the cluster, each after a confirmation, and check the cluster again after each. Stops if one fails]' \
'(--bundle)--live[Read the live cluster even if --nodes, --logs or --diagnostics is given]' \
'--disable-compression[Request uncompressed responses; faster on the API server'\''s machine or a very fast link]' \
'--probe[Also query running programs through port-forwards]' \
'(-v --verbose)-q[Print no warnings or progress on standard error]' \
'(-v --verbose)--quiet[Print no warnings or progress on standard error]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'::report -- A bundle, dump or folder to read instead of the cluster, as with --bundle, or a saved report (check -o json=FILE), whose plan is printed as it is:_files' \
&& ret=0
;;
(diff)
_arguments "${_arguments_options[@]}" : \
'--fail-on=[Exit with 1 if findings of at least this severity are new or worse (default error)]:SEVERITY:(error warning info never error\:observed warning\:observed)' \
'-o+[Output format]:OUTPUT:((table\:"A table"
json\:"JSON"))' \
'--output=[Output format]:OUTPUT:((table\:"A table"
json\:"JSON"))' \
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':before -- The earlier report (check -o json=FILE), or a bundle or folder, which is checked first:_files' \
':after -- The later report, bundle or folder:_files' \
&& ret=0
;;
(report)
_arguments "${_arguments_options[@]}" : \
'*-o+[Print the report in this format (default table), or write it to a file with FORMAT=FILE. Repeatable]:FORMAT[=FILE]:(table short json yaml linkerd linkerd-table plan sarif junit github gitlab markdown prometheus ndjson html)' \
'*--output=[Print the report in this format (default table), or write it to a file with FORMAT=FILE. Repeatable]:FORMAT[=FILE]:(table short json yaml linkerd linkerd-table plan sarif junit github gitlab markdown prometheus ndjson html)' \
'-v+[Show all details; for check, also symptoms, infos and versions]::LEVEL:_default' \
'--verbose=[Show all details; for check, also symptoms, infos and versions]::LEVEL:_default' \
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
'--coverage[Show what was not checked completely, why, and how to check it]' \
'(-v --verbose)-q[Print no warnings or progress on standard error]' \
'(-v --verbose)--quiet[Print no warnings or progress on standard error]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':file -- The report that check -o json=FILE wrote; '\''-'\'' for standard input:_files' \
&& ret=0
;;
(collect)
_arguments "${_arguments_options[@]}" : \
'-o+[Destination\: FILE.tar.gz, FILE.tar.zst or a folder]:PATH:_files' \
'--output=[Destination\: FILE.tar.gz, FILE.tar.zst or a folder]:PATH:_files' \
'*--bundle=[Read a bundle or dump instead of a cluster\: a file, a folder or '\''-'\'' for standard input. Repeatable]:PATH:_files' \
'*--complete=[Declare that the dump lists every object of these kinds (comma-separated, or '\''all'\'')]:KIND,...|all:_default' \
'*--nodes=[Node evidence\: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable]:NAME=PATH|DIR:_default' \
'*--logs=[Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable]::NAME=FILE:_default' \
'(--bundle)--proxies=[Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards]::DURATION:_default' \
'(--bundle)--max-proxies=[Maximum number of proxies whose metrics --proxies reads, from 1 to 2000; 200 by default]:NUMBER:_default' \
'(--bundle --proxies)--prometheus=[Read the metrics of all proxies from a Prometheus server\: its URL, or '\''viz'\'' for the one of the viz extension]:URL|viz:_default' \
'--prometheus-window=[The time between the two values, from 1m to 24h]:DURATION:_default' \
'--prometheus-token-file=[File with a bearer token for the Prometheus server; by default \$MESHDOCTOR_PROMETHEUS_TOKEN, if set]:FILE:_files' \
'--prometheus-ca=[File with the certificate authority of the Prometheus server (PEM); by default those of the system]:FILE:_files' \
'*--prometheus-label=[Read only series with this label, such as cluster=east if the server has series of several clusters. Repeatable]:LABEL=VALUE:_default' \
'*--diagnostics=[Output of '\''linkerd diagnostics'\'' in a file, to compare with the cluster or bundle. Repeatable]:[NAMESPACE/POD:PORT=]FILE:_default' \
'--at=[Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time]:RFC3339:_default' \
'--linkerd-cli=[The linkerd CLI\: its path (with a '\''/'\''), its version, or '\''none'\'']:PATH|VERSION|none:_default' \
'-L+[Namespace of the control plane; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--linkerd-namespace=[Namespace of the control plane; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--cni-namespace=[Namespace of linkerd-cni; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'*--node=[Read only this node, ready or not. Repeatable. By default every Linux node is read]:NAME:_default' \
'--node-image=[Image of the pods; it must contain this version of meshdoctor on its PATH]:IMAGE:_default' \
'--node-namespace=[Namespace of the pods; it must admit pods that mount the node'\''s files]:NAMESPACE:_meshdoctor_namespaces' \
'--kubeconfig=[Kubeconfig file; by default \$KUBECONFIG, ~/.kube/config, or the service account inside a pod]:FILE:_files' \
'*--context=[Kubeconfig context. '\''check'\'' accepts several and checks each cluster]:NAME:_meshdoctor_contexts' \
'--cluster=[Kubeconfig cluster, instead of the context'\''s]:NAME:_default' \
'--user=[Kubeconfig user, instead of the context'\''s]:NAME:_default' \
'--as=[Impersonate this user]:USER:_default' \
'*--as-group=[Impersonate this group. Repeatable]:GROUP:_default' \
'--request-timeout=[Time limit for one response of the API server\: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer]:DURATION:_default' \
'--timeout=[Time limit for the whole run; the rest is not checked. At least 10s are left for the checks. Without the flag, reading a cluster and the checks may take 5m each]:DURATION:_default' \
'*--only=[Run only these checks, categories or known defects (known-defect/ID), comma-separated]:CHECK,...:_sequence _meshdoctor_listed' \
'*--skip=[Skip these checks, categories or known defects (known-defect/ID), comma-separated]:CHECK,...:_sequence _meshdoctor_listed' \
'-v+[Show all details; for check, also symptoms, infos and versions]::LEVEL:_default' \
'--verbose=[Show all details; for check, also symptoms, infos and versions]::LEVEL:_default' \
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
'--force[Overwrite an existing file]' \
'(--bundle)--live[Read the live cluster even if --nodes, --logs or --diagnostics is given]' \
'(--bundle)--node-pods[Read node files with a short-lived pod on each node, after confirmation]' \
'--yes[Create the pods without confirmation]' \
'--dry-run[Print the manifests of the pods, and create nothing]' \
'--disable-compression[Request uncompressed responses; faster on the API server'\''s machine or a very fast link]' \
'--probe[Also query running programs through port-forwards]' \
'(--crds)--pre[Collect the evidence for '\''check --pre'\'', before Linkerd is installed; this includes your own permissions]' \
'--crds[Collect the evidence for '\''check --crds'\'', before the control plane is installed]' \
'(-v --verbose)-q[Print no warnings or progress on standard error]' \
'(-v --verbose)--quiet[Print no warnings or progress on standard error]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(ticket)
_arguments "${_arguments_options[@]}" : \
'-o+[Destination\: FILE.tar.gz, FILE.tar.zst, a folder, or '\''-'\'' for a tar.gz on standard output]:PATH:_files' \
'--output=[Destination\: FILE.tar.gz, FILE.tar.zst, a folder, or '\''-'\'' for a tar.gz on standard output]:PATH:_files' \
'*--bundle=[Read a bundle or dump instead of a cluster\: a file, a folder or '\''-'\'' for standard input. Repeatable]:PATH:_files' \
'*--complete=[Declare that the dump lists every object of these kinds (comma-separated, or '\''all'\'')]:KIND,...|all:_default' \
'*--nodes=[Node evidence\: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable]:NAME=PATH|DIR:_default' \
'*--logs=[Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable]::NAME=FILE:_default' \
'(--bundle)--proxies=[Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards]::DURATION:_default' \
'(--bundle)--max-proxies=[Maximum number of proxies whose metrics --proxies reads, from 1 to 2000; 200 by default]:NUMBER:_default' \
'(--bundle --proxies)--prometheus=[Read the metrics of all proxies from a Prometheus server\: its URL, or '\''viz'\'' for the one of the viz extension]:URL|viz:_default' \
'--prometheus-window=[The time between the two values, from 1m to 24h]:DURATION:_default' \
'--prometheus-token-file=[File with a bearer token for the Prometheus server; by default \$MESHDOCTOR_PROMETHEUS_TOKEN, if set]:FILE:_files' \
'--prometheus-ca=[File with the certificate authority of the Prometheus server (PEM); by default those of the system]:FILE:_files' \
'*--prometheus-label=[Read only series with this label, such as cluster=east if the server has series of several clusters. Repeatable]:LABEL=VALUE:_default' \
'*--diagnostics=[Output of '\''linkerd diagnostics'\'' in a file, to compare with the cluster or bundle. Repeatable]:[NAMESPACE/POD:PORT=]FILE:_default' \
'--at=[Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time]:RFC3339:_default' \
'--linkerd-cli=[The linkerd CLI\: its path (with a '\''/'\''), its version, or '\''none'\'']:PATH|VERSION|none:_default' \
'-L+[Namespace of the control plane; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--linkerd-namespace=[Namespace of the control plane; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--cni-namespace=[Namespace of linkerd-cni; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--kubeconfig=[Kubeconfig file; by default \$KUBECONFIG, ~/.kube/config, or the service account inside a pod]:FILE:_files' \
'*--context=[Kubeconfig context. '\''check'\'' accepts several and checks each cluster]:NAME:_meshdoctor_contexts' \
'--cluster=[Kubeconfig cluster, instead of the context'\''s]:NAME:_default' \
'--user=[Kubeconfig user, instead of the context'\''s]:NAME:_default' \
'--as=[Impersonate this user]:USER:_default' \
'*--as-group=[Impersonate this group. Repeatable]:GROUP:_default' \
'--request-timeout=[Time limit for one response of the API server\: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer]:DURATION:_default' \
'--timeout=[Time limit for the whole run; the rest is not checked. At least 10s are left for the checks. Without the flag, reading a cluster and the checks may take 5m each]:DURATION:_default' \
'*--only=[Run only these checks, categories or known defects (known-defect/ID), comma-separated]:CHECK,...:_sequence _meshdoctor_listed' \
'*--skip=[Skip these checks, categories or known defects (known-defect/ID), comma-separated]:CHECK,...:_sequence _meshdoctor_listed' \
'*-n+[Check only workloads in these namespaces (comma-separated). The control plane is always checked]:NAMESPACE,...:_sequence _meshdoctor_namespaces' \
'*--namespace=[Check only workloads in these namespaces (comma-separated). The control plane is always checked]:NAMESPACE,...:_sequence _meshdoctor_namespaces' \
'--to=[Add a preview of an upgrade to this Linkerd release to the report]:RELEASE:_default' \
'--to-kubernetes=[With --to\: Kubernetes version at the time of the upgrade, such as 1.35]:VERSION:_default' \
'--from=[With --to\: the installed release, if the evidence does not contain it]:RELEASE:_default' \
'--to-cni=[The linkerd-cni version of the next upgrade, such as v1.6.8]:VERSION:_default' \
'--expected-version=[The release that all components should run, such as edge-26.8.3 or stable-2.14.10]:VERSION:_default' \
'*--param=[Override a check'\''s parameter\: trust-anchor-expiring.days=30. Repeatable]:CHECK.NAME=VALUE:_default' \
'-v+[Show all details; for check, also symptoms, infos and versions]::LEVEL:_default' \
'--verbose=[Show all details; for check, also symptoms, infos and versions]::LEVEL:_default' \
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
'--force[Overwrite an existing file]' \
'--dry-run[List the files of the archive, their size and redactions, and write nothing]' \
'(--bundle)--live[Read the live cluster even if --nodes, --logs or --diagnostics is given]' \
'--disable-compression[Request uncompressed responses; faster on the API server'\''s machine or a very fast link]' \
'--probe[Also query running programs through port-forwards]' \
'(--crds --to)--pre[Check whether the cluster can run Linkerd, before it is installed]' \
'(--to)--crds[Check the custom resource definitions, before the control plane is installed]' \
'--linkerd-cni-enabled[With --pre\: the installation will use linkerd-cni, which must be installed and ready]' \
'(-v --verbose)-q[Print no warnings or progress on standard error]' \
'(-v --verbose)--quiet[Print no warnings or progress on standard error]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'*::files -- Bundles, dumps or folders to read instead of the cluster, as with --bundle:_files' \
&& ret=0
;;
(node-snapshot)
_arguments "${_arguments_options[@]}" : \
'-o+[Destination\: FILE.tar.gz, FILE.tar.zst, a folder, or '\''-'\'' for a tar.gz on standard output (default NODE.tar.gz)]:PATH:_files' \
'--output=[Destination\: FILE.tar.gz, FILE.tar.zst, a folder, or '\''-'\'' for a tar.gz on standard output (default NODE.tar.gz)]:PATH:_files' \
'--root=[Root of the node'\''s file system. Links that lead out of it are not followed]:DIR:_files' \
'--node=[Name of the node in the cluster; by default the kubelet'\''s node name, else /etc/hostname]:NAME:_default' \
'--conf-dir=[CNI configuration directory; overrides the container runtime'\''s setting]:DIR:_default' \
'*--bin-dir=[Directory with plugin binaries; overrides the container runtime'\''s setting. Repeatable]:DIR:_default' \
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
'(--to-log)--force[Overwrite an existing file]' \
'(-o --output)--to-log[Write to standard output as log lines, as the pods of '\''collect --node-pods'\'' do. --nodes reads them]' \
'--hold[With --to-log\: keep running afterwards, as the pod of a DaemonSet must]' \
'(--ask-plugin)--no-run[Run no programs]' \
'--ask-plugin[Run the linkerd-cni binary for its versions even if the root is not /]' \
'-q[Print no warnings or progress on standard error]' \
'--quiet[Print no warnings or progress on standard error]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(demo)
_arguments "${_arguments_options[@]}" : \
'*-o+[Print the report in this format (default table), or write it to a file with FORMAT=FILE. Repeatable]:FORMAT[=FILE]:(table short json yaml linkerd linkerd-table plan sarif junit github gitlab markdown prometheus ndjson html)' \
'*--output=[Print the report in this format (default table), or write it to a file with FORMAT=FILE. Repeatable]:FORMAT[=FILE]:(table short json yaml linkerd linkerd-table plan sarif junit github gitlab markdown prometheus ndjson html)' \
'-v+[Show all details; for check, also symptoms, infos and versions]::LEVEL:_default' \
'--verbose=[Show all details; for check, also symptoms, infos and versions]::LEVEL:_default' \
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
'--cured[Check the cluster after the fix]' \
'--coverage[Show what was not checked completely, why, and how to check it]' \
'(-v --verbose)-q[Print no warnings or progress on standard error]' \
'(-v --verbose)--quiet[Print no warnings or progress on standard error]' \
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
'(--defects)*--only=[The same, as for other commands]:ID,...:_default' \
'--knowledge=[Folder with newer release data (with --defects)]:DIR:_files' \
'-o+[Output format]:OUTPUT:((table\:"A table"
name\:"One id per line"
json\:"JSON"))' \
'--output=[Output format]:OUTPUT:((table\:"A table"
name\:"One id per line"
json\:"JSON"))' \
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
'()--defects[List known defects of Linkerd releases instead of checks]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'*::only -- List only these checks or categories (comma-separated):_sequence _meshdoctor_listed' \
&& ret=0
;;
(new)
_arguments "${_arguments_options[@]}" : \
'--for=[Resource that the check evaluates, as kubectl names it\: pods, servers.policy.linkerd.io]:RESOURCE:_default' \
'--kind=[With --for\: kind of the custom resource, such as Certificate]:KIND:_default' \
'--dir=[Folder to write the card to]:DIR:_files' \
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
'--cluster-scoped[With --kind\: the resource is cluster-scoped]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
':check -- Id of the check\: lower-case words for the bad state, joined by dashes, such as workload-without-owner:_default' \
&& ret=0
;;
(test)
_arguments "${_arguments_options[@]}" : \
'()*--builtin=[Built-in checks or categories instead (comma-separated)]:CHECK,...:_default' \
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
'*::folders -- Folders with cards, or single cards (default\: those of --checks):_files' \
&& ret=0
;;
(rbac)
_arguments "${_arguments_options[@]}" : \
'*--only=[Run only these checks, categories or known defects (known-defect/ID), comma-separated]:CHECK,...:_sequence _meshdoctor_listed' \
'*--skip=[Skip these checks, categories or known defects (known-defect/ID), comma-separated]:CHECK,...:_sequence _meshdoctor_listed' \
'(--service-account)--user=[Also print a binding to this user]:NAME:_default' \
'--service-account=[Also print a binding to this service account]:NAMESPACE/NAME:_default' \
'-L+[With --namespaced\: namespace of the control plane]:NAMESPACE:_meshdoctor_namespaces' \
'--linkerd-namespace=[With --namespaced\: namespace of the control plane]:NAMESPACE:_meshdoctor_namespaces' \
'--cni-namespace=[With --namespaced\: namespace of linkerd-cni]:NAMESPACE:_meshdoctor_namespaces' \
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
'--proxies[Also allow port-forwards to pods in every namespace, which '\''check --proxies'\'' and '\''sync'\'' need to read metrics]' \
'--namespaced[Use Roles instead of a ClusterRole for Secrets and ConfigMaps that are read by name]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(mcp)
_arguments "${_arguments_options[@]}" : \
'--baseline=[An earlier report (check -o json=FILE), which the tool diff knows as "baseline"]:REPORT.json:_files' \
'*--bundle=[Read a bundle or dump instead of a cluster\: a file, a folder or '\''-'\'' for standard input. Repeatable]:PATH:_files' \
'*--complete=[Declare that the dump lists every object of these kinds (comma-separated, or '\''all'\'')]:KIND,...|all:_default' \
'*--nodes=[Node evidence\: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable]:NAME=PATH|DIR:_default' \
'*--logs=[Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable]::NAME=FILE:_default' \
'(--bundle)--proxies=[Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards]::DURATION:_default' \
'(--bundle)--max-proxies=[Maximum number of proxies whose metrics --proxies reads, from 1 to 2000; 200 by default]:NUMBER:_default' \
'(--bundle --proxies)--prometheus=[Read the metrics of all proxies from a Prometheus server\: its URL, or '\''viz'\'' for the one of the viz extension]:URL|viz:_default' \
'--prometheus-window=[The time between the two values, from 1m to 24h]:DURATION:_default' \
'--prometheus-token-file=[File with a bearer token for the Prometheus server; by default \$MESHDOCTOR_PROMETHEUS_TOKEN, if set]:FILE:_files' \
'--prometheus-ca=[File with the certificate authority of the Prometheus server (PEM); by default those of the system]:FILE:_files' \
'*--prometheus-label=[Read only series with this label, such as cluster=east if the server has series of several clusters. Repeatable]:LABEL=VALUE:_default' \
'*--diagnostics=[Output of '\''linkerd diagnostics'\'' in a file, to compare with the cluster or bundle. Repeatable]:[NAMESPACE/POD:PORT=]FILE:_default' \
'--at=[Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time]:RFC3339:_default' \
'--linkerd-cli=[The linkerd CLI\: its path (with a '\''/'\''), its version, or '\''none'\'']:PATH|VERSION|none:_default' \
'-L+[Namespace of the control plane; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--linkerd-namespace=[Namespace of the control plane; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--cni-namespace=[Namespace of linkerd-cni; by default found by its labels]:NAMESPACE:_meshdoctor_namespaces' \
'--kubeconfig=[Kubeconfig file; by default \$KUBECONFIG, ~/.kube/config, or the service account inside a pod]:FILE:_files' \
'*--context=[Kubeconfig context. '\''check'\'' accepts several and checks each cluster]:NAME:_meshdoctor_contexts' \
'--cluster=[Kubeconfig cluster, instead of the context'\''s]:NAME:_default' \
'--user=[Kubeconfig user, instead of the context'\''s]:NAME:_default' \
'--as=[Impersonate this user]:USER:_default' \
'*--as-group=[Impersonate this group. Repeatable]:GROUP:_default' \
'--request-timeout=[Time limit for one response of the API server\: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer]:DURATION:_default' \
'--timeout=[Time limit for the whole run; the rest is not checked. At least 10s are left for the checks. Without the flag, reading a cluster and the checks may take 5m each]:DURATION:_default' \
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
'(--bundle)--live[Read the live cluster even if --nodes, --logs or --diagnostics is given]' \
'--disable-compression[Request uncompressed responses; faster on the API server'\''s machine or a very fast link]' \
'--probe[Also query running programs through port-forwards]' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(completions)
_arguments "${_arguments_options[@]}" : \
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
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
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
'--no-config[Ignore meshdoctor.toml files and \$MESHDOCTOR_CONFIG]' \
'-h[Print help (see more with '\''--help'\'')]' \
'--help[Print help (see more with '\''--help'\'')]' \
'-V[Print version]' \
'--version[Print version]' \
&& ret=0
;;
(version)
_arguments "${_arguments_options[@]}" : \
'-o+[Output format]:OUTPUT:((text\:"Plain text"
json\:"JSON"))' \
'--output=[Output format]:OUTPUT:((text\:"Plain text"
json\:"JSON"))' \
'--color=[When to use color]:COLOR:((auto\:"On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it"
always\:"Always"
never\:"Never"))' \
'*--checks=[Folder with your own checks, which run like the built-in ones. Repeatable]:DIR:_files' \
'(--no-config)--config=[Configuration file; flags override it]:FILE:_files' \
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
(explain)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(reach)
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
(sync)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(rotate)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(fix)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(diff)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(report)
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
(new)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(test)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(rbac)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(mcp)
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
'check:Check a mesh\: what is broken, the evidence, and how to repair it' \
'explain:Explain a check, a log line, a header, a status or an exit code' \
'reach:Trace a connection between two workloads, and show where it fails' \
'policy:Show who may connect to the ports of workloads, and why' \
'injection:Show which pods would be injected, and their proxy settings' \
'sync:Show whether control-plane replicas and proxies are in sync' \
'rotate:Show the state of a certificate rotation and the next safe step' \
'fix:Print the repair plan as a script or patches, or edit manifests' \
'diff:Compare two reports\: new, changed, fixed and unchanged findings' \
'report:Show a saved JSON report in any format' \
'collect:Save the evidence of the checks as one redacted file (a bundle)' \
'ticket:Write a small redacted archive for a support ticket' \
'node-snapshot:Save the CNI and runtime files of a node' \
'demo:Check an embedded demo cluster with a known failure' \
'list:List the checks' \
'new:Write a card to start your own check from' \
'test:Run the test cases of your own checks' \
'rbac:Print the RBAC role that the chosen checks need, as a manifest' \
'mcp:Serve the checks to an AI agent (Model Context Protocol)' \
'completions:Print a completion script for a shell' \
'config:Show the settings of meshdoctor.toml and their origin' \
'version:Print the version of meshdoctor and of its release data' \
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
(( $+functions[_meshdoctor__subcmd__fix_commands] )) ||
_meshdoctor__subcmd__fix_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor fix commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__help_commands] )) ||
_meshdoctor__subcmd__help_commands() {
    local commands; commands=(
'check:Check a mesh\: what is broken, the evidence, and how to repair it' \
'explain:Explain a check, a log line, a header, a status or an exit code' \
'reach:Trace a connection between two workloads, and show where it fails' \
'policy:Show who may connect to the ports of workloads, and why' \
'injection:Show which pods would be injected, and their proxy settings' \
'sync:Show whether control-plane replicas and proxies are in sync' \
'rotate:Show the state of a certificate rotation and the next safe step' \
'fix:Print the repair plan as a script or patches, or edit manifests' \
'diff:Compare two reports\: new, changed, fixed and unchanged findings' \
'report:Show a saved JSON report in any format' \
'collect:Save the evidence of the checks as one redacted file (a bundle)' \
'ticket:Write a small redacted archive for a support ticket' \
'node-snapshot:Save the CNI and runtime files of a node' \
'demo:Check an embedded demo cluster with a known failure' \
'list:List the checks' \
'new:Write a card to start your own check from' \
'test:Run the test cases of your own checks' \
'rbac:Print the RBAC role that the chosen checks need, as a manifest' \
'mcp:Serve the checks to an AI agent (Model Context Protocol)' \
'completions:Print a completion script for a shell' \
'config:Show the settings of meshdoctor.toml and their origin' \
'version:Print the version of meshdoctor and of its release data' \
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
(( $+functions[_meshdoctor__subcmd__help__subcmd__fix_commands] )) ||
_meshdoctor__subcmd__help__subcmd__fix_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help fix commands' commands "$@"
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
(( $+functions[_meshdoctor__subcmd__help__subcmd__mcp_commands] )) ||
_meshdoctor__subcmd__help__subcmd__mcp_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help mcp commands' commands "$@"
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
(( $+functions[_meshdoctor__subcmd__help__subcmd__report_commands] )) ||
_meshdoctor__subcmd__help__subcmd__report_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help report commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__help__subcmd__rotate_commands] )) ||
_meshdoctor__subcmd__help__subcmd__rotate_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help rotate commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__help__subcmd__sync_commands] )) ||
_meshdoctor__subcmd__help__subcmd__sync_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor help sync commands' commands "$@"
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
(( $+functions[_meshdoctor__subcmd__mcp_commands] )) ||
_meshdoctor__subcmd__mcp_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor mcp commands' commands "$@"
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
(( $+functions[_meshdoctor__subcmd__report_commands] )) ||
_meshdoctor__subcmd__report_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor report commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__rotate_commands] )) ||
_meshdoctor__subcmd__rotate_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor rotate commands' commands "$@"
}
(( $+functions[_meshdoctor__subcmd__sync_commands] )) ||
_meshdoctor__subcmd__sync_commands() {
    local commands; commands=()
    _describe -t commands 'meshdoctor sync commands' commands "$@"
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
