# Generated from the command line by `UPDATE=1 cargo test`; do not edit.
_meshdoctor_checks="annotation-as-label annotation-misplaced annotation-not-in-release annotation-not-inherited annotation-on-workload annotation-unknown annotation-value-invalid label-as-annotation anchor-replaced-at-renewal cert-manager-meshed control-plane-anchors-stale data-plane-anchors-disjoint data-plane-anchors-stale identity-serves-other-issuer issuer-drifted issuer-expired issuer-expiring issuer-key-mismatch issuer-named-like-anchor issuer-not-reloaded issuer-not-trusted issuer-outlives-anchor issuer-pinned-as-anchor issuer-renewal-unusable issuer-secret-invalid issuer-unsupported issuer-update-skipped node-clock-off old-anchor-removed-too-soon proxy-certificate-expired proxy-certificate-not-renewed proxy-certificate-of-old-issuer proxy-certificates-end-with-issuer proxy-clock-off proxy-trust-domain-differs running-anchors-outdated trust-anchor-duplicated trust-anchor-expired trust-anchor-expiring trust-anchor-unsupported trust-anchors-drifted trust-anchors-mixed trust-bundle-not-synced trust-roots-missing validator-ca-mismatch webhook-certificate-expired webhook-certificate-expiring webhook-certificate-stale webhook-configuration-altered webhook-key-mismatch webhook-secret-invalid chart-value-refused chart-value-type chart-value-unknown chart-value-unread cni-add-exit-127 cni-add-failed cni-add-unauthorized cni-bak-residue cni-boot-race cni-cilium-exclusive cni-conf-dir-mismatch cni-conf-none cni-conf-twin cni-conf-unparseable cni-config-drift cni-daemonset-deadlock cni-ds-coverage cni-entry-dangling cni-entry-duplicate cni-entry-first cni-entry-lookalike cni-entry-missing cni-entry-orphaned cni-entry-shadowed cni-entry-simulate cni-entry-stale cni-inotify-limit cni-installer-failing cni-interface-mode-leftover cni-ip6tables-missing cni-iptables-backend cni-iptables-binary-missing cni-iptables-mode-unsupported cni-kubeconfig-invalid cni-mode-mixed cni-multi-network cni-native-sidecar-version cni-network-not-ready cni-nsenter-missing cni-object-missing cni-plugin-defect cni-plugin-upgrade-hazard cni-pod-security cni-race-unprotected cni-rbac-missing cni-repair-misrendered cni-security-groups-strict cni-token-expired cni-token-in-conflist cni-token-not-rotated cni-token-revoked cni-validator-failed cni-validator-target cni-version-incompatible node-evidence-outdated api-server-port-redirected api-server-unreadable cluster-dns-not-ready cluster-domain-not-served cluster-networks-incomplete cluster-networks-without-nodes control-plane-annotation-ignored control-plane-below-ha control-plane-churning control-plane-domains-differ control-plane-ha-partial control-plane-missing control-plane-name-unresolved control-plane-not-evictable control-plane-not-ready control-plane-on-one-node control-plane-pods-refused control-plane-probe-times-out control-plane-rbac-missing control-plane-reports-errors control-plane-restarting control-plane-role-missing control-plane-service-missing crd-missing destination-replica-outdated destination-replica-stuck destination-updates-delayed endpoints-answer-stale extension-command-missing extension-namespace-twice extension-restarting extension-service-account-missing gitops-apply-failed gitops-ignore-ineffective heartbeat-failing ipv6-setting-mismatch linkerd-config-missing linkerd-config-unreadable linkerd-image-not-pulled namespace-terminating network-policy-blocks-webhooks pod-network-overlaps proxy-cut-off proxy-init-not-root removed-component-left rollout-stuck service-account-missing validator-not-called validator-webhook-missing app-runs-as-proxy application-refuses-connections autoscaler-held-by-proxy await-hook-failing calico-connect-time-balancing call-to-missing-pod call-without-mtls cilium-socket-balancing data-plane-namespace-missing deleted-profile-in-use endpoint-refuses-ipv6 endpoints-unreachable external-workload-without-endpoint inbound-requests-shed init-container-before-proxy injected-container-not-started local-endpoints-missing monitor-not-selected nested-network-refused network-policy-blocks-control-plane network-policy-blocks-proxy network-policy-blocks-scrapes opaque-defaults-lost opaque-port-missing opaque-port-speaks-http opaque-ports-mismatch outbound-requests-shed pod-address-shared pod-dns-bypasses-cluster probe-fails-behind-proxy protocol-detection-times-out protocol-not-detected proxies-fail-on-some-nodes proxy-control-plane-differs proxy-cpu-limit-low proxy-defaults-broken proxy-ended-with-error proxy-endpoints-stale proxy-exports-many-series proxy-file-descriptors-low proxy-init-failing proxy-killed-at-shutdown proxy-memory-near-limit proxy-not-ready proxy-not-redirected proxy-of-removed-control-plane proxy-port-taken proxy-prestop-failing proxy-reports-errors proxy-request-unschedulable proxy-variable-undefined route-ignored-by-protocol route-of-two-controllers server-identity-refused service-without-endpoints skip-outbound-ports-lost trace-collector-identity trace-collector-unreachable traffic-worse-than-before workload-account-missing workload-not-ready debug-image-ignored extension-injector-unavailable fargate-pod-injected hook-runs-in-proxy host-network-not-injected identity-token-missing injected-container-altered injected-name-too-long injector-ca-mismatch injector-fails-closed-single-replica injector-fails-open injector-not-called injector-unavailable injector-webhook-missing kube-system-not-exempt linkerd-cni-not-exempt other-mesh-sidecar pod-missing-proxy pod-security-refuses-proxy pods-refused proxy-refused-by-quota scc-refuses-proxy token-not-mounted webhook-unreachable windows-pod-injected workload-half-meshed jaeger-cli-skew jaeger-injector-conflict jaeger-namespace-empty jaeger-namespace-unlabelled jaeger-pods-not-injected jaeger-pods-not-running jaeger-proxy-outdated jaeger-proxy-unhealthy control-plane-credentials-incomplete exported-headless-without-hostnames gateway-identity-mismatch gateway-probe-failing gateway-refuses-requests gateway-unavailable link-anchors-differ link-crd-missing link-credentials-unusable link-invalid link-probe-port-undeclared link-version-skew mirror-endpoints-outdated mirror-service-orphaned mirror-service-pruned mirror-service-without-endpoints multicluster-cli-skew multicluster-namespace-unlabelled multicluster-pods-not-running multicluster-proxy-outdated multicluster-proxy-unhealthy remote-account-missing service-mirror-legacy service-mirror-not-running service-mirror-reports-errors service-mirror-role-missing service-not-mirrored job-held-by-proxy job-proxy-not-ended native-sidecar-key-misplaced native-sidecar-key-misspelled native-sidecar-key-not-read native-sidecar-key-overridden native-sidecar-kubernetes-too-old native-sidecar-value-invalid native-sidecar-wait-refused proxy-stopped-early apply-refused authentication-missing caller-without-identity default-policy-not-applied denied-although-authorized hook-refused identity-unknown identity-without-proxy ingress-bypasses-routes ingress-client-address-lost ingress-mode-external-name ingress-mode-opaque-port ingress-refused mirror-bypassed outbound-connection-forbidden pod-started-without-policy policy-answer-differs policy-audits policy-denies policy-ended-connections policy-ignored policy-target-missing policy-unreadable probe-networks-without-nodes probe-refused profile-shadows-route profile-unused proxy-policy-stale requests-rate-limited requests-without-route retry-without-condition route-backend-elsewhere route-backend-port-undeclared route-backend-without-endpoints route-not-accepted route-on-tls-port route-parent-port-undeclared route-status-unwritten route-without-clients scrape-refused server-http-on-opaque-port server-http-on-tls-port server-selects-nothing server-without-authorization servers-overlap service-routes-incomplete session-affinity-ignored skipped-port-bypasses-policy skipped-port-hides-identity traffic-split-backend-missing traffic-split-ignored unmeshed-endpoint-bypasses-policy workload-without-authorization aggregation-layer-off control-plane-namespace-exists install-cluster-rights-missing install-leftovers install-rights-missing node-clock-skew upgrade-changes-default upgrade-changes-policy upgrade-closes-shutdown upgrade-deletes-gateway-api upgrade-drops-architecture upgrade-drops-extension upgrade-drops-mesh-tls upgrade-drops-opencensus upgrade-drops-value upgrade-heeds-timeouts upgrade-image-refused upgrade-needs-storage-migration upgrade-orphans-gateway-api upgrade-path upgrade-pinned-proxy upgrade-refuses-undeclared-port upgrade-renames-port upgrade-rollout-blocked upgrade-stored-values-unusable upgrade-target-not-recommended cli-control-plane-skew cli-outdated control-plane-mixed-versions control-plane-outdated crd-stored-version-gone crds-overwritten-by-cli data-plane-skew gateway-api-after-controller gateway-api-missing gateway-api-owned-elsewhere gateway-api-releases-differ gateway-api-unsupported known-defect kubernetes-unsupported route-version-not-served stale-endpoints-release viz-address-unreachable viz-cli-skew viz-dashboard-host-refused viz-data-plane-namespace-missing viz-metrics-api-not-running viz-metrics-missing viz-namespace-empty viz-namespace-unlabelled viz-pods-not-injected viz-pods-not-running viz-prometheus-missing viz-proxy-outdated viz-proxy-unhealthy viz-role-missing viz-scrape-mismatch viz-scrape-unauthorized viz-self-check-failing viz-tap-api-unavailable viz-tap-certificate-expiring viz-tap-certificate-invalid viz-tap-injector-ca-mismatch viz-tap-injector-missing viz-tap-key-mismatch viz-tap-not-enabled viz-tap-refuses-users"
_meshdoctor_categories="annotations certificates chart-values cni control-plane data-plane debug injection jaeger multicluster native-sidecar policy pre-install upgrades versions viz"
_meshdoctor_listed() {
    compgen -P "${1%"${1##*,}"}" -W "${_meshdoctor_checks} ${_meshdoctor_categories}" -- "${1##*,}"
}
# Names in a kubeconfig must not be expanded by the shell, unlike the words of compgen -W.
_meshdoctor_contexts() {
    local name
    kubectl config get-contexts -o name 2>/dev/null | while IFS= read -r name; do
        [[ ${name} == "${1}"* ]] && printf '%s\n' "${name}"
    done
}
_meshdoctor_kubectl() {
    local word flag="" bounded=""
    local -a connection=()
    for word in "${COMP_WORDS[@]}"; do
        case "${word}" in
            --bundle|--manifests) return ;;
            --context|--kubeconfig|--cluster|--user) flag="${word}" ;;
            =) ;;
            *) [[ -n ${flag} && -n ${word} ]] && connection+=("${flag}=${word}"); flag="" ;;
        esac
    done
    # A credential plugin may hang longer than the request.
    command -v timeout >/dev/null 2>&1 && bounded="timeout 3"
    ${bounded} kubectl --request-timeout=2s "${connection[@]}" "$@" 2>/dev/null </dev/null
}
# Keep only valid names of the output.
_meshdoctor_names() {
    local name
    while IFS= read -r name; do
        [[ ${name} =~ ^[a-z0-9][a-z0-9.-]*$ ]] && printf '%s\n' "${name}"
    done
}
_meshdoctor_every_namespace() {
    {
        _meshdoctor_kubectl config view -o 'jsonpath={range .contexts[*]}{.context.namespace}{"\n"}{end}'
        _meshdoctor_kubectl get namespaces -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}'
    } | _meshdoctor_names | sort -u
}
_meshdoctor_namespaces() {
    compgen -W "$(_meshdoctor_every_namespace)" -- "${1}"
}
_meshdoctor_namespace_list() {
    compgen -P "${1%"${1##*,}"}" -W "$(_meshdoctor_every_namespace)" -- "${1##*,}"
}
# NAMESPACE/ first, then its objects.
_meshdoctor_targets() {
    local name
    if [[ ${1} == -* || ${2} == -* ]]; then
        return
    fi
    if [[ ${1} == */* ]]; then
        _meshdoctor_kubectl -n "${1%%/*}" get pods,deployments,statefulsets,daemonsets,services -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}' |
            _meshdoctor_names | sort -u | while IFS= read -r name; do printf '%s\n' "${1%%/*}/${name}"; done
    else
        _meshdoctor_every_namespace | while IFS= read -r name; do printf '%s\n' "${name}/"; done
    fi
}
_meshdoctor_complete() {
    _meshdoctor "$@"
    # A name follows.
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]]; then
        compopt -o nospace 2>/dev/null
    fi
    return 0
}

_meshdoctor() {
    local i cur prev opts cmd
    COMPREPLY=()
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        cur="$2"
    else
        cur="${COMP_WORDS[COMP_CWORD]}"
    fi
    prev="$3"
    cmd=""
    opts=""

    for i in "${COMP_WORDS[@]:0:COMP_CWORD}"
    do
        case "${cmd},${i}" in
            ",$1")
                cmd="meshdoctor"
                ;;
            meshdoctor,check)
                cmd="meshdoctor__subcmd__check"
                ;;
            meshdoctor,collect)
                cmd="meshdoctor__subcmd__collect"
                ;;
            meshdoctor,completions)
                cmd="meshdoctor__subcmd__completions"
                ;;
            meshdoctor,config)
                cmd="meshdoctor__subcmd__config"
                ;;
            meshdoctor,demo)
                cmd="meshdoctor__subcmd__demo"
                ;;
            meshdoctor,diff)
                cmd="meshdoctor__subcmd__diff"
                ;;
            meshdoctor,explain)
                cmd="meshdoctor__subcmd__explain"
                ;;
            meshdoctor,fix)
                cmd="meshdoctor__subcmd__fix"
                ;;
            meshdoctor,help)
                cmd="meshdoctor__subcmd__help"
                ;;
            meshdoctor,injection)
                cmd="meshdoctor__subcmd__injection"
                ;;
            meshdoctor,list)
                cmd="meshdoctor__subcmd__list"
                ;;
            meshdoctor,mcp)
                cmd="meshdoctor__subcmd__mcp"
                ;;
            meshdoctor,new)
                cmd="meshdoctor__subcmd__new"
                ;;
            meshdoctor,node-snapshot)
                cmd="meshdoctor__subcmd__node__subcmd__snapshot"
                ;;
            meshdoctor,policy)
                cmd="meshdoctor__subcmd__policy"
                ;;
            meshdoctor,rbac)
                cmd="meshdoctor__subcmd__rbac"
                ;;
            meshdoctor,reach)
                cmd="meshdoctor__subcmd__reach"
                ;;
            meshdoctor,report)
                cmd="meshdoctor__subcmd__report"
                ;;
            meshdoctor,rotate)
                cmd="meshdoctor__subcmd__rotate"
                ;;
            meshdoctor,sync)
                cmd="meshdoctor__subcmd__sync"
                ;;
            meshdoctor,test)
                cmd="meshdoctor__subcmd__test"
                ;;
            meshdoctor,ticket)
                cmd="meshdoctor__subcmd__ticket"
                ;;
            meshdoctor,version)
                cmd="meshdoctor__subcmd__version"
                ;;
            meshdoctor__subcmd__help,check)
                cmd="meshdoctor__subcmd__help__subcmd__check"
                ;;
            meshdoctor__subcmd__help,collect)
                cmd="meshdoctor__subcmd__help__subcmd__collect"
                ;;
            meshdoctor__subcmd__help,completions)
                cmd="meshdoctor__subcmd__help__subcmd__completions"
                ;;
            meshdoctor__subcmd__help,config)
                cmd="meshdoctor__subcmd__help__subcmd__config"
                ;;
            meshdoctor__subcmd__help,demo)
                cmd="meshdoctor__subcmd__help__subcmd__demo"
                ;;
            meshdoctor__subcmd__help,diff)
                cmd="meshdoctor__subcmd__help__subcmd__diff"
                ;;
            meshdoctor__subcmd__help,explain)
                cmd="meshdoctor__subcmd__help__subcmd__explain"
                ;;
            meshdoctor__subcmd__help,fix)
                cmd="meshdoctor__subcmd__help__subcmd__fix"
                ;;
            meshdoctor__subcmd__help,help)
                cmd="meshdoctor__subcmd__help__subcmd__help"
                ;;
            meshdoctor__subcmd__help,injection)
                cmd="meshdoctor__subcmd__help__subcmd__injection"
                ;;
            meshdoctor__subcmd__help,list)
                cmd="meshdoctor__subcmd__help__subcmd__list"
                ;;
            meshdoctor__subcmd__help,mcp)
                cmd="meshdoctor__subcmd__help__subcmd__mcp"
                ;;
            meshdoctor__subcmd__help,new)
                cmd="meshdoctor__subcmd__help__subcmd__new"
                ;;
            meshdoctor__subcmd__help,node-snapshot)
                cmd="meshdoctor__subcmd__help__subcmd__node__subcmd__snapshot"
                ;;
            meshdoctor__subcmd__help,policy)
                cmd="meshdoctor__subcmd__help__subcmd__policy"
                ;;
            meshdoctor__subcmd__help,rbac)
                cmd="meshdoctor__subcmd__help__subcmd__rbac"
                ;;
            meshdoctor__subcmd__help,reach)
                cmd="meshdoctor__subcmd__help__subcmd__reach"
                ;;
            meshdoctor__subcmd__help,report)
                cmd="meshdoctor__subcmd__help__subcmd__report"
                ;;
            meshdoctor__subcmd__help,rotate)
                cmd="meshdoctor__subcmd__help__subcmd__rotate"
                ;;
            meshdoctor__subcmd__help,sync)
                cmd="meshdoctor__subcmd__help__subcmd__sync"
                ;;
            meshdoctor__subcmd__help,test)
                cmd="meshdoctor__subcmd__help__subcmd__test"
                ;;
            meshdoctor__subcmd__help,ticket)
                cmd="meshdoctor__subcmd__help__subcmd__ticket"
                ;;
            meshdoctor__subcmd__help,version)
                cmd="meshdoctor__subcmd__help__subcmd__version"
                ;;
            *)
                ;;
        esac
    done

    case "${cmd}" in
        meshdoctor)
            opts="-h -V --color --checks --config --no-config --help --version check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__check)
            opts="-L -n -A -o -v -q -h -V --bundle --live --complete --nodes --logs --proxies --max-proxies --prometheus --prometheus-window --prometheus-token-file --prometheus-ca --prometheus-label --diagnostics --at --linkerd-cli --linkerd-namespace --cni-namespace --kubeconfig --context --cluster --user --as --as-group --request-timeout --timeout --disable-compression --probe --all-contexts --bundles --max-age --expect --parallel --only --skip --namespace --all-namespaces --to-cni --manifests --linkerd-version --kubernetes-version --with --prune --values --chart --into --to --to-kubernetes --from --pre --crds --linkerd-cni-enabled --proxy --expected-version --fail-on --severity --param --on-not-checked --waivers --baseline --verify --before --confidence --wait --output --coverage --publish --save --force --verbose --quiet --knowledge --color --checks --config --no-config --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --bundle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --complete)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --logs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --proxies)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-proxies)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-window)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --diagnostics)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --at)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-cli)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                -L)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --cni-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --kubeconfig)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --context)
                    COMPREPLY=($(_meshdoctor_contexts "${cur}"))
                    return 0
                    ;;
                --cluster)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --user)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as-group)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --request-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bundles)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-age)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --expect)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --parallel)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --only)
                    COMPREPLY=($(_meshdoctor_listed "${cur}"))
                    return 0
                    ;;
                --skip)
                    COMPREPLY=($(_meshdoctor_listed "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(_meshdoctor_namespace_list "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(_meshdoctor_namespace_list "${cur}"))
                    return 0
                    ;;
                --to-cni)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --manifests)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-version)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kubernetes-version)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --with)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prune)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --values)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --chart)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --into)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --to)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --to-kubernetes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --expected-version)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fail-on)
                    COMPREPLY=($(compgen -W "error warning info never error:observed warning:observed" -- "${cur}"))
                    return 0
                    ;;
                --severity)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --param)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --on-not-checked)
                    COMPREPLY=($(compgen -W "fail pass" -- "${cur}"))
                    return 0
                    ;;
                --waivers)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --baseline)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verify)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --before)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --confidence)
                    COMPREPLY=($(compgen -W "likely observed" -- "${cur}"))
                    return 0
                    ;;
                --wait)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table short json yaml linkerd linkerd-table plan sarif junit github gitlab markdown prometheus ndjson html" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table short json yaml linkerd linkerd-table plan sarif junit github gitlab markdown prometheus ndjson html" -- "${cur}"))
                    return 0
                    ;;
                --save)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verbose)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -v)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --knowledge)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__collect)
            opts="-o -L -v -q -h -V --output --force --bundle --live --complete --nodes --logs --proxies --max-proxies --prometheus --prometheus-window --prometheus-token-file --prometheus-ca --prometheus-label --diagnostics --at --linkerd-cli --linkerd-namespace --cni-namespace --node-pods --node --node-image --node-namespace --yes --dry-run --kubeconfig --context --cluster --user --as --as-group --request-timeout --timeout --disable-compression --probe --only --skip --pre --crds --verbose --quiet --color --checks --config --no-config --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bundle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --complete)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --logs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --proxies)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-proxies)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-window)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --diagnostics)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --at)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-cli)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                -L)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --cni-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-image)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --kubeconfig)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --context)
                    COMPREPLY=($(_meshdoctor_contexts "${cur}"))
                    return 0
                    ;;
                --cluster)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --user)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as-group)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --request-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --only)
                    COMPREPLY=($(_meshdoctor_listed "${cur}"))
                    return 0
                    ;;
                --skip)
                    COMPREPLY=($(_meshdoctor_listed "${cur}"))
                    return 0
                    ;;
                --verbose)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -v)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__completions)
            opts="-h -V --color --checks --config --no-config --help --version bash zsh fish powershell elvish"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__config)
            opts="-h -V --color --checks --config --no-config --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__demo)
            opts="-o -v -q -h -V --cured --output --coverage --verbose --quiet --color --checks --config --no-config --help --version cni-exit-127 cni-unauthorized debug-image-ignored injector-fails-open native-sidecar-typo"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -W "table short json yaml linkerd linkerd-table plan sarif junit github gitlab markdown prometheus ndjson html" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table short json yaml linkerd linkerd-table plan sarif junit github gitlab markdown prometheus ndjson html" -- "${cur}"))
                    return 0
                    ;;
                --verbose)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -v)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__diff)
            opts="-o -h -V --fail-on --output --color --checks --config --no-config --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --fail-on)
                    COMPREPLY=($(compgen -W "error warning info never error:observed warning:observed" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__explain)
            opts="-o -h -V --output --color --checks --config --no-config --help --version ${_meshdoctor_checks}"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -W "text markdown json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "text markdown json" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__fix)
            opts="-n -o -L -v -q -h -V --manifests --values --chart --write --apply --linkerd-version --kubernetes-version --into --only --skip --namespace --output --bundle --live --complete --nodes --logs --proxies --max-proxies --prometheus --prometheus-window --prometheus-token-file --prometheus-ca --prometheus-label --diagnostics --at --linkerd-cli --linkerd-namespace --cni-namespace --kubeconfig --context --cluster --user --as --as-group --request-timeout --timeout --disable-compression --probe --verbose --quiet --color --checks --config --no-config --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --manifests)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --values)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --chart)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-version)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kubernetes-version)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --into)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --only)
                    COMPREPLY=($(_meshdoctor_listed "${cur}"))
                    return 0
                    ;;
                --skip)
                    COMPREPLY=($(_meshdoctor_listed "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(_meshdoctor_namespace_list "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(_meshdoctor_namespace_list "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "script patch values diff sarif json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "script patch values diff sarif json" -- "${cur}"))
                    return 0
                    ;;
                --bundle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --complete)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --logs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --proxies)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-proxies)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-window)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --diagnostics)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --at)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-cli)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                -L)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --cni-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --kubeconfig)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --context)
                    COMPREPLY=($(_meshdoctor_contexts "${cur}"))
                    return 0
                    ;;
                --cluster)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --user)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as-group)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --request-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verbose)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -v)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help)
            opts="check explain reach policy injection sync rotate fix diff report collect ticket node-snapshot demo list new test rbac mcp completions config version help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__check)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__collect)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__completions)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__config)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__demo)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__diff)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__explain)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__fix)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__injection)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__list)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__mcp)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__new)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__node__subcmd__snapshot)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__policy)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__rbac)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__reach)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__report)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__rotate)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__sync)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__test)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__ticket)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__help__subcmd__version)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__injection)
            opts="-n -o -L -v -q -h -V --namespace --manifests --linkerd-version --into --output --bundle --live --complete --nodes --logs --proxies --max-proxies --prometheus --prometheus-window --prometheus-token-file --prometheus-ca --prometheus-label --diagnostics --at --linkerd-cli --linkerd-namespace --cni-namespace --kubeconfig --context --cluster --user --as --as-group --request-timeout --timeout --disable-compression --probe --verbose --quiet --color --checks --config --no-config --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --manifests)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-version)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --into)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                --bundle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --complete)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --logs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --proxies)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-proxies)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-window)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --diagnostics)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --at)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-cli)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                -L)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --cni-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --kubeconfig)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --context)
                    COMPREPLY=($(_meshdoctor_contexts "${cur}"))
                    return 0
                    ;;
                --cluster)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --user)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as-group)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --request-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verbose)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -v)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__list)
            opts="-o -h -V --only --defects --knowledge --output --color --checks --config --no-config --help --version ${_meshdoctor_checks} ${_meshdoctor_categories}"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --only)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --knowledge)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table name json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table name json" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__mcp)
            opts="-L -h -V --baseline --bundle --live --complete --nodes --logs --proxies --max-proxies --prometheus --prometheus-window --prometheus-token-file --prometheus-ca --prometheus-label --diagnostics --at --linkerd-cli --linkerd-namespace --cni-namespace --kubeconfig --context --cluster --user --as --as-group --request-timeout --timeout --disable-compression --probe --color --checks --config --no-config --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --baseline)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bundle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --complete)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --logs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --proxies)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-proxies)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-window)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --diagnostics)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --at)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-cli)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                -L)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --cni-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --kubeconfig)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --context)
                    COMPREPLY=($(_meshdoctor_contexts "${cur}"))
                    return 0
                    ;;
                --cluster)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --user)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as-group)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --request-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__new)
            opts="-h -V --for --kind --cluster-scoped --dir --color --checks --config --no-config --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --for)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kind)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__node__subcmd__snapshot)
            opts="-o -q -h -V --output --force --to-log --hold --root --node --conf-dir --bin-dir --no-run --ask-plugin --quiet --color --checks --config --no-config --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --root)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --node)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --conf-dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bin-dir)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__policy)
            opts="-n -o -L -v -q -h -V --to --generate --enforce --namespace --from --output --bundle --live --complete --nodes --logs --proxies --max-proxies --prometheus --prometheus-window --prometheus-token-file --prometheus-ca --prometheus-label --diagnostics --at --linkerd-cli --linkerd-namespace --cni-namespace --kubeconfig --context --cluster --user --as --as-group --request-timeout --timeout --disable-compression --probe --verbose --quiet --color --checks --config --no-config --help --version $(_meshdoctor_targets "${cur}" "${prev}")"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --to)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --from)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json controller" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json controller" -- "${cur}"))
                    return 0
                    ;;
                --bundle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --complete)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --logs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --proxies)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-proxies)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-window)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --diagnostics)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --at)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-cli)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                -L)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --cni-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --kubeconfig)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --context)
                    COMPREPLY=($(_meshdoctor_contexts "${cur}"))
                    return 0
                    ;;
                --cluster)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --user)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as-group)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --request-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verbose)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -v)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__rbac)
            opts="-L -h -V --only --skip --proxies --user --service-account --namespaced --linkerd-namespace --cni-namespace --color --checks --config --no-config --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --only)
                    COMPREPLY=($(_meshdoctor_listed "${cur}"))
                    return 0
                    ;;
                --skip)
                    COMPREPLY=($(_meshdoctor_listed "${cur}"))
                    return 0
                    ;;
                --user)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --service-account)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                -L)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --cni-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__reach)
            opts="-n -o -L -v -q -h -V --matrix --traffic --namespace --output --bundle --live --complete --nodes --logs --proxies --max-proxies --prometheus --prometheus-window --prometheus-token-file --prometheus-ca --prometheus-label --diagnostics --at --linkerd-cli --linkerd-namespace --cni-namespace --kubeconfig --context --cluster --user --as --as-group --request-timeout --timeout --disable-compression --probe --verbose --quiet --color --checks --config --no-config --help --version $(_meshdoctor_targets "${cur}" "${prev}")"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --traffic)
                    COMPREPLY=($(compgen -W "http1 http2 client-first server-first" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json html" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json html" -- "${cur}"))
                    return 0
                    ;;
                --bundle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --complete)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --logs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --proxies)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-proxies)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-window)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --diagnostics)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --at)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-cli)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                -L)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --cni-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --kubeconfig)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --context)
                    COMPREPLY=($(_meshdoctor_contexts "${cur}"))
                    return 0
                    ;;
                --cluster)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --user)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as-group)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --request-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verbose)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -v)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__report)
            opts="-o -v -q -h -V --output --coverage --verbose --quiet --color --checks --config --no-config --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -W "table short json yaml linkerd linkerd-table plan sarif junit github gitlab markdown prometheus ndjson html" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table short json yaml linkerd linkerd-table plan sarif junit github gitlab markdown prometheus ndjson html" -- "${cur}"))
                    return 0
                    ;;
                --verbose)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -v)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__rotate)
            opts="-o -L -v -q -h -V --of --may --issuer-since --bundle-since --confirm --output --bundle --live --complete --nodes --logs --proxies --max-proxies --prometheus --prometheus-window --prometheus-token-file --prometheus-ca --prometheus-label --diagnostics --at --linkerd-cli --linkerd-namespace --cni-namespace --kubeconfig --context --cluster --user --as --as-group --request-timeout --timeout --disable-compression --probe --verbose --quiet --color --checks --config --no-config --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --of)
                    COMPREPLY=($(compgen -W "anchor issuer" -- "${cur}"))
                    return 0
                    ;;
                --may)
                    COMPREPLY=($(compgen -W "add-anchor restart-control-plane restart-workloads replace-issuer renew-certificates remove-anchor drop-old-anchor" -- "${cur}"))
                    return 0
                    ;;
                --issuer-since)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bundle-since)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --confirm)
                    COMPREPLY=($(compgen -W "linked-clusters external-workloads" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json" -- "${cur}"))
                    return 0
                    ;;
                --bundle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --complete)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --logs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --proxies)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-proxies)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-window)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --diagnostics)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --at)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-cli)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                -L)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --cni-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --kubeconfig)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --context)
                    COMPREPLY=($(_meshdoctor_contexts "${cur}"))
                    return 0
                    ;;
                --cluster)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --user)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as-group)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --request-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verbose)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -v)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__sync)
            opts="-n -o -L -v -q -h -V --namespace --output --bundle --live --complete --nodes --logs --proxies --max-proxies --prometheus --prometheus-window --prometheus-token-file --prometheus-ca --prometheus-label --diagnostics --at --linkerd-cli --linkerd-namespace --cni-namespace --kubeconfig --context --cluster --user --as --as-group --request-timeout --timeout --disable-compression --probe --verbose --quiet --color --checks --config --no-config --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --namespace)
                    COMPREPLY=($(_meshdoctor_namespace_list "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(_meshdoctor_namespace_list "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json yaml" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json yaml" -- "${cur}"))
                    return 0
                    ;;
                --bundle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --complete)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --logs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --proxies)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-proxies)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-window)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --diagnostics)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --at)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-cli)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                -L)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --cni-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --kubeconfig)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --context)
                    COMPREPLY=($(_meshdoctor_contexts "${cur}"))
                    return 0
                    ;;
                --cluster)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --user)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as-group)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --request-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verbose)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -v)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__test)
            opts="-h -V --builtin --color --checks --config --no-config --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --builtin)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__ticket)
            opts="-o -L -n -v -q -h -V --output --force --dry-run --bundle --live --complete --nodes --logs --proxies --max-proxies --prometheus --prometheus-window --prometheus-token-file --prometheus-ca --prometheus-label --diagnostics --at --linkerd-cli --linkerd-namespace --cni-namespace --kubeconfig --context --cluster --user --as --as-group --request-timeout --timeout --disable-compression --probe --only --skip --namespace --pre --crds --linkerd-cni-enabled --to --to-kubernetes --from --to-cni --expected-version --param --verbose --quiet --color --checks --config --no-config --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --bundle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --complete)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --logs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --proxies)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-proxies)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-window)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-ca)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --prometheus-label)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --diagnostics)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --at)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-cli)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linkerd-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                -L)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --cni-namespace)
                    COMPREPLY=($(_meshdoctor_namespaces "${cur}"))
                    return 0
                    ;;
                --kubeconfig)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --context)
                    COMPREPLY=($(_meshdoctor_contexts "${cur}"))
                    return 0
                    ;;
                --cluster)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --user)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --as-group)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --request-timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --only)
                    COMPREPLY=($(_meshdoctor_listed "${cur}"))
                    return 0
                    ;;
                --skip)
                    COMPREPLY=($(_meshdoctor_listed "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(_meshdoctor_namespace_list "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(_meshdoctor_namespace_list "${cur}"))
                    return 0
                    ;;
                --to)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --to-kubernetes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --to-cni)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --expected-version)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --param)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --verbose)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -v)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        meshdoctor__subcmd__version)
            opts="-o -h -V --output --color --checks --config --no-config --help --version"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --checks)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
    esac
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _meshdoctor_complete -o nosort -o bashdefault -o default meshdoctor
else
    complete -F _meshdoctor_complete -o bashdefault -o default meshdoctor
fi
