# Generated from the command line by `UPDATE=1 cargo test`; do not edit.

using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'meshdoctor' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'meshdoctor'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'meshdoctor' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Check a mesh: what is broken, the evidence, and how to repair it')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'Show a saved JSON report in any format; the exit status is that of the saved run')
            [CompletionResult]::new('fix', 'fix', [CompletionResultType]::ParameterValue, 'Print the repair plan as a script or patches, each step judged before it is offered; or edit manifests')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare two reports: new, changed, fixed and unchanged findings, and what cannot be compared')
            [CompletionResult]::new('policy', 'policy', [CompletionResultType]::ParameterValue, 'Show the effective policy of workload ports: who may connect, why, and which policies have no effect')
            [CompletionResult]::new('injection', 'injection', [CompletionResultType]::ParameterValue, 'Show which pods would be injected and why, the annotations that take effect, and the resulting proxy settings')
            [CompletionResult]::new('reach', 'reach', [CompletionResultType]::ParameterValue, 'Trace a connection between two workloads step by step, and show where it fails')
            [CompletionResult]::new('sync', 'sync', [CompletionResultType]::ParameterValue, 'Show whether each control-plane replica and a sample of proxies are in sync: version, certificate, connections to the control plane, endpoints, uptime, and problems')
            [CompletionResult]::new('rotate', 'rotate', [CompletionResultType]::ParameterValue, 'Show the state of a rotation of the trust anchor or the issuer, the next safe step, and the steps that must wait')
            [CompletionResult]::new('collect', 'collect', [CompletionResultType]::ParameterValue, 'Save the evidence that the checks need as one redacted file (a bundle)')
            [CompletionResult]::new('ticket', 'ticket', [CompletionResultType]::ParameterValue, 'Write a small redacted archive for a support ticket: the report and the evidence of its findings')
            [CompletionResult]::new('node-snapshot', 'node-snapshot', [CompletionResultType]::ParameterValue, 'Save the CNI and runtime files of a node')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Check an embedded demo cluster with a known failure; without a name, list the demos')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the checks')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a check, or a text such as a log line, a response header, a status code or an exit code')
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Run the test cases of your own checks, and report results that differ from the card')
            [CompletionResult]::new('new', 'new', [CompletionResultType]::ParameterValue, 'Write a card to start your own check from')
            [CompletionResult]::new('rbac', 'rbac', [CompletionResultType]::ParameterValue, 'Print the RBAC role that the chosen checks need, as a manifest')
            [CompletionResult]::new('mcp', 'mcp', [CompletionResultType]::ParameterValue, 'Serve the checks to an AI agent: a read-only server of the Model Context Protocol on standard input and output')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a completion script for a shell')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Show the settings of meshdoctor.toml and where each comes from')
            [CompletionResult]::new('version', 'version', [CompletionResultType]::ParameterValue, 'Print the version of meshdoctor and of its release data')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'meshdoctor;check' {
            [CompletionResult]::new('--bundle', '--bundle', [CompletionResultType]::ParameterName, 'Read a bundle or dump instead of a cluster: a file, a folder or ''-'' for standard input. Repeatable')
            [CompletionResult]::new('--complete', '--complete', [CompletionResultType]::ParameterName, 'Declare that the dump lists every object of these kinds (comma-separated, or ''all'')')
            [CompletionResult]::new('--nodes', '--nodes', [CompletionResultType]::ParameterName, 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable')
            [CompletionResult]::new('--logs', '--logs', [CompletionResultType]::ParameterName, 'Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable')
            [CompletionResult]::new('--proxies', '--proxies', [CompletionResultType]::ParameterName, 'Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards')
            [CompletionResult]::new('--diagnostics', '--diagnostics', [CompletionResultType]::ParameterName, 'Output of ''linkerd diagnostics'' in a file, to compare with the cluster or bundle. Repeatable')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time')
            [CompletionResult]::new('--linkerd-cli', '--linkerd-cli', [CompletionResultType]::ParameterName, 'The linkerd CLI: its path (with a ''/''), its version, or ''none''')
            [CompletionResult]::new('-L', '-L ', [CompletionResultType]::ParameterName, 'Namespace of the control plane; by default found by its labels')
            [CompletionResult]::new('--linkerd-namespace', '--linkerd-namespace', [CompletionResultType]::ParameterName, 'Namespace of the control plane; by default found by its labels')
            [CompletionResult]::new('--cni-namespace', '--cni-namespace', [CompletionResultType]::ParameterName, 'Namespace of linkerd-cni; by default found by its labels')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account inside a pod')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context. ''check'' accepts several and checks each cluster')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user, instead of the context''s')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Impersonate this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Impersonate this group. Repeatable')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Time limit for one response of the API server: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Time limit for the whole run; the rest is not checked. Without it, reading a cluster may take 5m')
            [CompletionResult]::new('--bundles', '--bundles', [CompletionResultType]::ParameterName, 'Check every bundle and dump in a folder, each as its own cluster, named after its file')
            [CompletionResult]::new('--max-age', '--max-age', [CompletionResultType]::ParameterName, 'With --bundles: treat bundles that are older, and dumps of unknown age, as clusters that could not be checked')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'With --bundles: names of the clusters to expect. A cluster without a bundle counts as not checked')
            [CompletionResult]::new('--parallel', '--parallel', [CompletionResultType]::ParameterName, 'Number of clusters to read at the same time')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Run only these checks or categories (comma-separated)')
            [CompletionResult]::new('--skip', '--skip', [CompletionResultType]::ParameterName, 'Skip these checks or categories (comma-separated)')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Check only workloads in these namespaces (comma-separated). The control plane is always checked')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Check only workloads in these namespaces (comma-separated). The control plane is always checked')
            [CompletionResult]::new('--to-cni', '--to-cni', [CompletionResultType]::ParameterName, 'The linkerd-cni version of the next upgrade, such as v1.6.8: reports what that upgrade would break')
            [CompletionResult]::new('--manifests', '--manifests', [CompletionResultType]::ParameterName, 'Check manifests without a cluster: files, folders or ''-'' for standard input. Several paths may follow')
            [CompletionResult]::new('--linkerd-version', '--linkerd-version', [CompletionResultType]::ParameterName, 'With --manifests: the Linkerd release to check for, if they do not contain the control plane')
            [CompletionResult]::new('--kubernetes-version', '--kubernetes-version', [CompletionResultType]::ParameterName, 'With --manifests: the Kubernetes version to check for, such as 1.34')
            [CompletionResult]::new('--with', '--with', [CompletionResultType]::ParameterName, 'Check the cluster or bundle as it would be with these manifests applied. Repeatable')
            [CompletionResult]::new('--prune', '--prune', [CompletionResultType]::ParameterName, 'With --with: also delete objects with these labels that the manifests do not name, like kubectl apply --prune')
            [CompletionResult]::new('--values', '--values', [CompletionResultType]::ParameterName, 'Check values for a Linkerd Helm chart: unknown and unused values, wrong types, and values that the chart rejects. Repeatable')
            [CompletionResult]::new('--chart', '--chart', [CompletionResultType]::ParameterName, 'The chart that --values are for, and its release: linkerd-control-plane@2.19, linkerd-viz@edge-26.5.5')
            [CompletionResult]::new('--into', '--into', [CompletionResultType]::ParameterName, 'Namespace for manifests that name none, as with kubectl apply -n (default: default)')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'Preview an upgrade to this Linkerd release: a minor such as 2.20, or a release such as edge-26.8.3')
            [CompletionResult]::new('--to-kubernetes', '--to-kubernetes', [CompletionResultType]::ParameterName, 'With --to: Kubernetes version at the time of the upgrade, such as 1.35')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'With --to: the installed release, if the evidence does not contain it')
            [CompletionResult]::new('--expected-version', '--expected-version', [CompletionResultType]::ParameterName, 'The release that all components should run, such as edge-26.8.3 or stable-2.14.10')
            [CompletionResult]::new('--fail-on', '--fail-on', [CompletionResultType]::ParameterName, 'Exit with 1 if a finding has at least this severity; with :observed, inferred (''likely'') findings do not count')
            [CompletionResult]::new('--severity', '--severity', [CompletionResultType]::ParameterName, 'Override the severity of a check''s findings: error, warning or info. Repeatable')
            [CompletionResult]::new('--param', '--param', [CompletionResultType]::ParameterName, 'Override a check''s parameter: trust-anchor-expiring.days=30. Repeatable')
            [CompletionResult]::new('--on-not-checked', '--on-not-checked', [CompletionResultType]::ParameterName, 'Exit status if requested evidence was unavailable')
            [CompletionResult]::new('--waivers', '--waivers', [CompletionResultType]::ParameterName, 'Accept the findings in a YAML file of waivers. Repeatable')
            [CompletionResult]::new('--baseline', '--baseline', [CompletionResultType]::ParameterName, 'Ignore the findings of an earlier report (-o json=FILE) of the same cluster')
            [CompletionResult]::new('--verify', '--verify', [CompletionResultType]::ParameterName, 'Recheck the findings of an earlier report (-o json=FILE) with fresh evidence: fixed, still there, or not checked')
            [CompletionResult]::new('--confidence', '--confidence', [CompletionResultType]::ParameterName, 'With ''observed'', list only findings that the evidence proves')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Retry for up to DURATION (5m) until the checks pass, like linkerd check')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Print the report in this format (default table), or write it to a file with FORMAT=FILE. Repeatable')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Print the report in this format (default table), or write it to a file with FORMAT=FILE. Repeatable')
            [CompletionResult]::new('--save', '--save', [CompletionResultType]::ParameterName, 'Save the evidence as a bundle: FILE.tar.gz, FILE.tar.zst or a folder')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show the full report: every subject, all evidence, symptoms, infos, versions and the complete coverage')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show the full report: every subject, all evidence, symptoms, infos, versions and the complete coverage')
            [CompletionResult]::new('--knowledge', '--knowledge', [CompletionResultType]::ParameterName, 'Read release data and other facts that age from this folder instead of the embedded ones')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Read the live cluster even if --nodes, --logs or --diagnostics is given')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Request uncompressed responses; faster on the API server''s machine or a very fast link')
            [CompletionResult]::new('--probe', '--probe', [CompletionResultType]::ParameterName, 'Also query running programs through port-forwards')
            [CompletionResult]::new('--all-contexts', '--all-contexts', [CompletionResultType]::ParameterName, 'Check the cluster of every kubeconfig context, as with several --context')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Check workloads in all namespaces, as without --namespace')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Check workloads in all namespaces, as without --namespace')
            [CompletionResult]::new('--pre', '--pre', [CompletionResultType]::ParameterName, 'Check whether the cluster can run Linkerd, before it is installed')
            [CompletionResult]::new('--crds', '--crds', [CompletionResultType]::ParameterName, 'Check the custom resource definitions, before the control plane is installed')
            [CompletionResult]::new('--linkerd-cni-enabled', '--linkerd-cni-enabled', [CompletionResultType]::ParameterName, 'With --pre: the installation will use linkerd-cni, which must be installed and ready')
            [CompletionResult]::new('--proxy', '--proxy', [CompletionResultType]::ParameterName, 'With -o linkerd, also print the data-plane rows. meshdoctor''s own reports always include them')
            [CompletionResult]::new('--coverage', '--coverage', [CompletionResultType]::ParameterName, 'Show what was not checked completely, why, and how to check it')
            [CompletionResult]::new('--publish', '--publish', [CompletionResultType]::ParameterName, 'Also write the report into the cluster, for policy reporters; see docs/deploy.md for the role')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Let --save overwrite an existing file')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;report' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Print the report in this format (default table), or write it to a file with FORMAT=FILE. Repeatable')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Print the report in this format (default table), or write it to a file with FORMAT=FILE. Repeatable')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show the full report: every subject, all evidence, symptoms, infos, versions and the complete coverage')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show the full report: every subject, all evidence, symptoms, infos, versions and the complete coverage')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--coverage', '--coverage', [CompletionResultType]::ParameterName, 'Show what was not checked completely, why, and how to check it')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;fix' {
            [CompletionResult]::new('--manifests', '--manifests', [CompletionResultType]::ParameterName, 'Repair manifests instead of a cluster: files or folders. Several paths may follow. Shows a diff unless --write is given')
            [CompletionResult]::new('--linkerd-version', '--linkerd-version', [CompletionResultType]::ParameterName, 'With --manifests: the Linkerd release to check for, if they do not contain the control plane')
            [CompletionResult]::new('--kubernetes-version', '--kubernetes-version', [CompletionResultType]::ParameterName, 'With --manifests: the Kubernetes version to check for, such as 1.34')
            [CompletionResult]::new('--into', '--into', [CompletionResultType]::ParameterName, 'Namespace for manifests that name none, as with kubectl apply -n (default: default)')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Run only these checks or categories (comma-separated)')
            [CompletionResult]::new('--skip', '--skip', [CompletionResultType]::ParameterName, 'Skip these checks or categories (comma-separated)')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Repair only workloads in these namespaces (comma-separated). The control plane is always checked')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Repair only workloads in these namespaces (comma-separated). The control plane is always checked')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format. The default is a script for a cluster, and a diff for --manifests')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format. The default is a script for a cluster, and a diff for --manifests')
            [CompletionResult]::new('--bundle', '--bundle', [CompletionResultType]::ParameterName, 'Read a bundle or dump instead of a cluster: a file, a folder or ''-'' for standard input. Repeatable')
            [CompletionResult]::new('--complete', '--complete', [CompletionResultType]::ParameterName, 'Declare that the dump lists every object of these kinds (comma-separated, or ''all'')')
            [CompletionResult]::new('--nodes', '--nodes', [CompletionResultType]::ParameterName, 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable')
            [CompletionResult]::new('--logs', '--logs', [CompletionResultType]::ParameterName, 'Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable')
            [CompletionResult]::new('--proxies', '--proxies', [CompletionResultType]::ParameterName, 'Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards')
            [CompletionResult]::new('--diagnostics', '--diagnostics', [CompletionResultType]::ParameterName, 'Output of ''linkerd diagnostics'' in a file, to compare with the cluster or bundle. Repeatable')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time')
            [CompletionResult]::new('--linkerd-cli', '--linkerd-cli', [CompletionResultType]::ParameterName, 'The linkerd CLI: its path (with a ''/''), its version, or ''none''')
            [CompletionResult]::new('-L', '-L ', [CompletionResultType]::ParameterName, 'Namespace of the control plane; by default found by its labels')
            [CompletionResult]::new('--linkerd-namespace', '--linkerd-namespace', [CompletionResultType]::ParameterName, 'Namespace of the control plane; by default found by its labels')
            [CompletionResult]::new('--cni-namespace', '--cni-namespace', [CompletionResultType]::ParameterName, 'Namespace of linkerd-cni; by default found by its labels')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account inside a pod')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context. ''check'' accepts several and checks each cluster')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user, instead of the context''s')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Impersonate this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Impersonate this group. Repeatable')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Time limit for one response of the API server: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Time limit for the whole run; the rest is not checked. Without it, reading a cluster may take 5m')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show the full report: every subject, all evidence, symptoms, infos, versions and the complete coverage')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show the full report: every subject, all evidence, symptoms, infos, versions and the complete coverage')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--write', '--write', [CompletionResultType]::ParameterName, 'Edit the files of --manifests, and check them again')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Read the live cluster even if --nodes, --logs or --diagnostics is given')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Request uncompressed responses; faster on the API server''s machine or a very fast link')
            [CompletionResult]::new('--probe', '--probe', [CompletionResultType]::ParameterName, 'Also query running programs through port-forwards')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;diff' {
            [CompletionResult]::new('--fail-on', '--fail-on', [CompletionResultType]::ParameterName, 'Exit with 1 if findings of at least this severity are new or worse (default error)')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;policy' {
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'Show the outbound policy of clients for a Service, NAMESPACE/NAME[:PORT], or an address, ADDRESS:PORT')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'With --to: namespace of the clients (default: the Service''s, or ''default'' for addresses)')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--bundle', '--bundle', [CompletionResultType]::ParameterName, 'Read a bundle or dump instead of a cluster: a file, a folder or ''-'' for standard input. Repeatable')
            [CompletionResult]::new('--complete', '--complete', [CompletionResultType]::ParameterName, 'Declare that the dump lists every object of these kinds (comma-separated, or ''all'')')
            [CompletionResult]::new('--nodes', '--nodes', [CompletionResultType]::ParameterName, 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable')
            [CompletionResult]::new('--logs', '--logs', [CompletionResultType]::ParameterName, 'Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable')
            [CompletionResult]::new('--proxies', '--proxies', [CompletionResultType]::ParameterName, 'Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards')
            [CompletionResult]::new('--diagnostics', '--diagnostics', [CompletionResultType]::ParameterName, 'Output of ''linkerd diagnostics'' in a file, to compare with the cluster or bundle. Repeatable')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time')
            [CompletionResult]::new('--linkerd-cli', '--linkerd-cli', [CompletionResultType]::ParameterName, 'The linkerd CLI: its path (with a ''/''), its version, or ''none''')
            [CompletionResult]::new('-L', '-L ', [CompletionResultType]::ParameterName, 'Namespace of the control plane; by default found by its labels')
            [CompletionResult]::new('--linkerd-namespace', '--linkerd-namespace', [CompletionResultType]::ParameterName, 'Namespace of the control plane; by default found by its labels')
            [CompletionResult]::new('--cni-namespace', '--cni-namespace', [CompletionResultType]::ParameterName, 'Namespace of linkerd-cni; by default found by its labels')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account inside a pod')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context. ''check'' accepts several and checks each cluster')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user, instead of the context''s')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Impersonate this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Impersonate this group. Repeatable')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Time limit for one response of the API server: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Time limit for the whole run; the rest is not checked. Without it, reading a cluster may take 5m')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show the full report: every subject, all evidence, symptoms, infos, versions and the complete coverage')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show the full report: every subject, all evidence, symptoms, infos, versions and the complete coverage')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--generate', '--generate', [CompletionResultType]::ParameterName, 'Print policies as manifests for the Service ports of the given namespaces, which allow what the objects show')
            [CompletionResult]::new('--enforce', '--enforce', [CompletionResultType]::ParameterName, 'With --generate: deny every client that the manifests do not name')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Read the live cluster even if --nodes, --logs or --diagnostics is given')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Request uncompressed responses; faster on the API server''s machine or a very fast link')
            [CompletionResult]::new('--probe', '--probe', [CompletionResultType]::ParameterName, 'Also query running programs through port-forwards')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;injection' {
            [CompletionResult]::new('--manifests', '--manifests', [CompletionResultType]::ParameterName, 'Show the pods of manifests: files, folders or ''-'' for standard input. Repeatable')
            [CompletionResult]::new('--linkerd-version', '--linkerd-version', [CompletionResultType]::ParameterName, 'The Linkerd release, if neither cluster nor manifests contain a control plane')
            [CompletionResult]::new('--into', '--into', [CompletionResultType]::ParameterName, 'Namespace for manifests that name none, as with kubectl apply -n (default: default)')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--bundle', '--bundle', [CompletionResultType]::ParameterName, 'Read a bundle or dump instead of a cluster: a file, a folder or ''-'' for standard input. Repeatable')
            [CompletionResult]::new('--complete', '--complete', [CompletionResultType]::ParameterName, 'Declare that the dump lists every object of these kinds (comma-separated, or ''all'')')
            [CompletionResult]::new('--nodes', '--nodes', [CompletionResultType]::ParameterName, 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable')
            [CompletionResult]::new('--logs', '--logs', [CompletionResultType]::ParameterName, 'Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable')
            [CompletionResult]::new('--proxies', '--proxies', [CompletionResultType]::ParameterName, 'Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards')
            [CompletionResult]::new('--diagnostics', '--diagnostics', [CompletionResultType]::ParameterName, 'Output of ''linkerd diagnostics'' in a file, to compare with the cluster or bundle. Repeatable')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time')
            [CompletionResult]::new('--linkerd-cli', '--linkerd-cli', [CompletionResultType]::ParameterName, 'The linkerd CLI: its path (with a ''/''), its version, or ''none''')
            [CompletionResult]::new('-L', '-L ', [CompletionResultType]::ParameterName, 'Namespace of the control plane; by default found by its labels')
            [CompletionResult]::new('--linkerd-namespace', '--linkerd-namespace', [CompletionResultType]::ParameterName, 'Namespace of the control plane; by default found by its labels')
            [CompletionResult]::new('--cni-namespace', '--cni-namespace', [CompletionResultType]::ParameterName, 'Namespace of linkerd-cni; by default found by its labels')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account inside a pod')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context. ''check'' accepts several and checks each cluster')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user, instead of the context''s')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Impersonate this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Impersonate this group. Repeatable')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Time limit for one response of the API server: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Time limit for the whole run; the rest is not checked. Without it, reading a cluster may take 5m')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show the full report: every subject, all evidence, symptoms, infos, versions and the complete coverage')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show the full report: every subject, all evidence, symptoms, infos, versions and the complete coverage')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Read the live cluster even if --nodes, --logs or --diagnostics is given')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Request uncompressed responses; faster on the API server''s machine or a very fast link')
            [CompletionResult]::new('--probe', '--probe', [CompletionResultType]::ParameterName, 'Also query running programs through port-forwards')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;reach' {
            [CompletionResult]::new('--traffic', '--traffic', [CompletionResultType]::ParameterName, 'Kind of traffic. By default, the report names the kinds that fail')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace for names without one, and for --matrix')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace for names without one, and for --matrix')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--bundle', '--bundle', [CompletionResultType]::ParameterName, 'Read a bundle or dump instead of a cluster: a file, a folder or ''-'' for standard input. Repeatable')
            [CompletionResult]::new('--complete', '--complete', [CompletionResultType]::ParameterName, 'Declare that the dump lists every object of these kinds (comma-separated, or ''all'')')
            [CompletionResult]::new('--nodes', '--nodes', [CompletionResultType]::ParameterName, 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable')
            [CompletionResult]::new('--logs', '--logs', [CompletionResultType]::ParameterName, 'Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable')
            [CompletionResult]::new('--proxies', '--proxies', [CompletionResultType]::ParameterName, 'Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards')
            [CompletionResult]::new('--diagnostics', '--diagnostics', [CompletionResultType]::ParameterName, 'Output of ''linkerd diagnostics'' in a file, to compare with the cluster or bundle. Repeatable')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time')
            [CompletionResult]::new('--linkerd-cli', '--linkerd-cli', [CompletionResultType]::ParameterName, 'The linkerd CLI: its path (with a ''/''), its version, or ''none''')
            [CompletionResult]::new('-L', '-L ', [CompletionResultType]::ParameterName, 'Namespace of the control plane; by default found by its labels')
            [CompletionResult]::new('--linkerd-namespace', '--linkerd-namespace', [CompletionResultType]::ParameterName, 'Namespace of the control plane; by default found by its labels')
            [CompletionResult]::new('--cni-namespace', '--cni-namespace', [CompletionResultType]::ParameterName, 'Namespace of linkerd-cni; by default found by its labels')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account inside a pod')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context. ''check'' accepts several and checks each cluster')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user, instead of the context''s')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Impersonate this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Impersonate this group. Repeatable')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Time limit for one response of the API server: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Time limit for the whole run; the rest is not checked. Without it, reading a cluster may take 5m')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show the full report: every subject, all evidence, symptoms, infos, versions and the complete coverage')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show the full report: every subject, all evidence, symptoms, infos, versions and the complete coverage')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--matrix', '--matrix', [CompletionResultType]::ParameterName, 'Show which workloads of a namespace can connect to which of its Service ports')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Read the live cluster even if --nodes, --logs or --diagnostics is given')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Request uncompressed responses; faster on the API server''s machine or a very fast link')
            [CompletionResult]::new('--probe', '--probe', [CompletionResultType]::ParameterName, 'Also query running programs through port-forwards')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;sync' {
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Show only proxies in these namespaces (comma-separated). The control plane is always shown')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Show only proxies in these namespaces (comma-separated). The control plane is always shown')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--bundle', '--bundle', [CompletionResultType]::ParameterName, 'Read a bundle or dump instead of a cluster: a file, a folder or ''-'' for standard input. Repeatable')
            [CompletionResult]::new('--complete', '--complete', [CompletionResultType]::ParameterName, 'Declare that the dump lists every object of these kinds (comma-separated, or ''all'')')
            [CompletionResult]::new('--nodes', '--nodes', [CompletionResultType]::ParameterName, 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable')
            [CompletionResult]::new('--logs', '--logs', [CompletionResultType]::ParameterName, 'Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable')
            [CompletionResult]::new('--proxies', '--proxies', [CompletionResultType]::ParameterName, 'Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards')
            [CompletionResult]::new('--diagnostics', '--diagnostics', [CompletionResultType]::ParameterName, 'Output of ''linkerd diagnostics'' in a file, to compare with the cluster or bundle. Repeatable')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time')
            [CompletionResult]::new('--linkerd-cli', '--linkerd-cli', [CompletionResultType]::ParameterName, 'The linkerd CLI: its path (with a ''/''), its version, or ''none''')
            [CompletionResult]::new('-L', '-L ', [CompletionResultType]::ParameterName, 'Namespace of the control plane; by default found by its labels')
            [CompletionResult]::new('--linkerd-namespace', '--linkerd-namespace', [CompletionResultType]::ParameterName, 'Namespace of the control plane; by default found by its labels')
            [CompletionResult]::new('--cni-namespace', '--cni-namespace', [CompletionResultType]::ParameterName, 'Namespace of linkerd-cni; by default found by its labels')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account inside a pod')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context. ''check'' accepts several and checks each cluster')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user, instead of the context''s')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Impersonate this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Impersonate this group. Repeatable')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Time limit for one response of the API server: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Time limit for the whole run; the rest is not checked. Without it, reading a cluster may take 5m')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show the full report: every subject, all evidence, symptoms, infos, versions and the complete coverage')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show the full report: every subject, all evidence, symptoms, infos, versions and the complete coverage')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Read the live cluster even if --nodes, --logs or --diagnostics is given')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Request uncompressed responses; faster on the API server''s machine or a very fast link')
            [CompletionResult]::new('--probe', '--probe', [CompletionResultType]::ParameterName, 'Also query running programs through port-forwards')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;rotate' {
            [CompletionResult]::new('--of', '--of', [CompletionResultType]::ParameterName, 'What to rotate; by default the issuer alone if it expires within 60 days and its trust anchor does not, else both')
            [CompletionResult]::new('--may', '--may', [CompletionResultType]::ParameterName, 'Report with the exit status whether this step may be done now, instead of the next step')
            [CompletionResult]::new('--issuer-since', '--issuer-since', [CompletionResultType]::ParameterName, 'A time at which the current issuer was already in place, if no event shows it (RFC 3339)')
            [CompletionResult]::new('--bundle-since', '--bundle-since', [CompletionResultType]::ParameterName, 'A time at which the current bundle of trust anchors was already in place (RFC 3339)')
            [CompletionResult]::new('--confirm', '--confirm', [CompletionResultType]::ParameterName, 'State that this is ready for the next step; use it only after you have checked it. Repeatable')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--bundle', '--bundle', [CompletionResultType]::ParameterName, 'Read a bundle or dump instead of a cluster: a file, a folder or ''-'' for standard input. Repeatable')
            [CompletionResult]::new('--complete', '--complete', [CompletionResultType]::ParameterName, 'Declare that the dump lists every object of these kinds (comma-separated, or ''all'')')
            [CompletionResult]::new('--nodes', '--nodes', [CompletionResultType]::ParameterName, 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable')
            [CompletionResult]::new('--logs', '--logs', [CompletionResultType]::ParameterName, 'Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable')
            [CompletionResult]::new('--proxies', '--proxies', [CompletionResultType]::ParameterName, 'Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards')
            [CompletionResult]::new('--diagnostics', '--diagnostics', [CompletionResultType]::ParameterName, 'Output of ''linkerd diagnostics'' in a file, to compare with the cluster or bundle. Repeatable')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time')
            [CompletionResult]::new('--linkerd-cli', '--linkerd-cli', [CompletionResultType]::ParameterName, 'The linkerd CLI: its path (with a ''/''), its version, or ''none''')
            [CompletionResult]::new('-L', '-L ', [CompletionResultType]::ParameterName, 'Namespace of the control plane; by default found by its labels')
            [CompletionResult]::new('--linkerd-namespace', '--linkerd-namespace', [CompletionResultType]::ParameterName, 'Namespace of the control plane; by default found by its labels')
            [CompletionResult]::new('--cni-namespace', '--cni-namespace', [CompletionResultType]::ParameterName, 'Namespace of linkerd-cni; by default found by its labels')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account inside a pod')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context. ''check'' accepts several and checks each cluster')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user, instead of the context''s')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Impersonate this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Impersonate this group. Repeatable')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Time limit for one response of the API server: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Time limit for the whole run; the rest is not checked. Without it, reading a cluster may take 5m')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show the full report: every subject, all evidence, symptoms, infos, versions and the complete coverage')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show the full report: every subject, all evidence, symptoms, infos, versions and the complete coverage')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Read the live cluster even if --nodes, --logs or --diagnostics is given')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Request uncompressed responses; faster on the API server''s machine or a very fast link')
            [CompletionResult]::new('--probe', '--probe', [CompletionResultType]::ParameterName, 'Also query running programs through port-forwards')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;collect' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Destination: FILE.tar.gz, FILE.tar.zst or a folder')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Destination: FILE.tar.gz, FILE.tar.zst or a folder')
            [CompletionResult]::new('--bundle', '--bundle', [CompletionResultType]::ParameterName, 'Read a bundle or dump instead of a cluster: a file, a folder or ''-'' for standard input. Repeatable')
            [CompletionResult]::new('--complete', '--complete', [CompletionResultType]::ParameterName, 'Declare that the dump lists every object of these kinds (comma-separated, or ''all'')')
            [CompletionResult]::new('--nodes', '--nodes', [CompletionResultType]::ParameterName, 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable')
            [CompletionResult]::new('--logs', '--logs', [CompletionResultType]::ParameterName, 'Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable')
            [CompletionResult]::new('--proxies', '--proxies', [CompletionResultType]::ParameterName, 'Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards')
            [CompletionResult]::new('--diagnostics', '--diagnostics', [CompletionResultType]::ParameterName, 'Output of ''linkerd diagnostics'' in a file, to compare with the cluster or bundle. Repeatable')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time')
            [CompletionResult]::new('--linkerd-cli', '--linkerd-cli', [CompletionResultType]::ParameterName, 'The linkerd CLI: its path (with a ''/''), its version, or ''none''')
            [CompletionResult]::new('-L', '-L ', [CompletionResultType]::ParameterName, 'Namespace of the control plane; by default found by its labels')
            [CompletionResult]::new('--linkerd-namespace', '--linkerd-namespace', [CompletionResultType]::ParameterName, 'Namespace of the control plane; by default found by its labels')
            [CompletionResult]::new('--cni-namespace', '--cni-namespace', [CompletionResultType]::ParameterName, 'Namespace of linkerd-cni; by default found by its labels')
            [CompletionResult]::new('--node', '--node', [CompletionResultType]::ParameterName, 'Read only this node, ready or not. Repeatable. By default every Linux node is read')
            [CompletionResult]::new('--node-image', '--node-image', [CompletionResultType]::ParameterName, 'Image of the pods; it must contain this version of meshdoctor on its PATH')
            [CompletionResult]::new('--node-namespace', '--node-namespace', [CompletionResultType]::ParameterName, 'Namespace of the pods; it must admit pods that mount the node''s files')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account inside a pod')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context. ''check'' accepts several and checks each cluster')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user, instead of the context''s')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Impersonate this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Impersonate this group. Repeatable')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Time limit for one response of the API server: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Time limit for the whole run; the rest is not checked. Without it, reading a cluster may take 5m')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Run only these checks or categories (comma-separated)')
            [CompletionResult]::new('--skip', '--skip', [CompletionResultType]::ParameterName, 'Skip these checks or categories (comma-separated)')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show the full report: every subject, all evidence, symptoms, infos, versions and the complete coverage')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show the full report: every subject, all evidence, symptoms, infos, versions and the complete coverage')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite an existing file')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Read the live cluster even if --nodes, --logs or --diagnostics is given')
            [CompletionResult]::new('--node-pods', '--node-pods', [CompletionResultType]::ParameterName, 'Read node files with a short-lived pod on each node, after confirmation')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Create the pods without confirmation')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print the manifests of the pods, and create nothing')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Request uncompressed responses; faster on the API server''s machine or a very fast link')
            [CompletionResult]::new('--probe', '--probe', [CompletionResultType]::ParameterName, 'Also query running programs through port-forwards')
            [CompletionResult]::new('--pre', '--pre', [CompletionResultType]::ParameterName, 'Collect the evidence for ''check --pre'', before Linkerd is installed; this includes your own permissions')
            [CompletionResult]::new('--crds', '--crds', [CompletionResultType]::ParameterName, 'Collect the evidence for ''check --crds'', before the control plane is installed')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;ticket' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Destination: FILE.tar.gz, FILE.tar.zst, a folder, or ''-'' for a tar.gz on standard output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Destination: FILE.tar.gz, FILE.tar.zst, a folder, or ''-'' for a tar.gz on standard output')
            [CompletionResult]::new('--bundle', '--bundle', [CompletionResultType]::ParameterName, 'Read a bundle or dump instead of a cluster: a file, a folder or ''-'' for standard input. Repeatable')
            [CompletionResult]::new('--complete', '--complete', [CompletionResultType]::ParameterName, 'Declare that the dump lists every object of these kinds (comma-separated, or ''all'')')
            [CompletionResult]::new('--nodes', '--nodes', [CompletionResultType]::ParameterName, 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable')
            [CompletionResult]::new('--logs', '--logs', [CompletionResultType]::ParameterName, 'Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable')
            [CompletionResult]::new('--proxies', '--proxies', [CompletionResultType]::ParameterName, 'Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards')
            [CompletionResult]::new('--diagnostics', '--diagnostics', [CompletionResultType]::ParameterName, 'Output of ''linkerd diagnostics'' in a file, to compare with the cluster or bundle. Repeatable')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time')
            [CompletionResult]::new('--linkerd-cli', '--linkerd-cli', [CompletionResultType]::ParameterName, 'The linkerd CLI: its path (with a ''/''), its version, or ''none''')
            [CompletionResult]::new('-L', '-L ', [CompletionResultType]::ParameterName, 'Namespace of the control plane; by default found by its labels')
            [CompletionResult]::new('--linkerd-namespace', '--linkerd-namespace', [CompletionResultType]::ParameterName, 'Namespace of the control plane; by default found by its labels')
            [CompletionResult]::new('--cni-namespace', '--cni-namespace', [CompletionResultType]::ParameterName, 'Namespace of linkerd-cni; by default found by its labels')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account inside a pod')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context. ''check'' accepts several and checks each cluster')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user, instead of the context''s')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Impersonate this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Impersonate this group. Repeatable')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Time limit for one response of the API server: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Time limit for the whole run; the rest is not checked. Without it, reading a cluster may take 5m')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Run only these checks or categories (comma-separated)')
            [CompletionResult]::new('--skip', '--skip', [CompletionResultType]::ParameterName, 'Skip these checks or categories (comma-separated)')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Check only workloads in these namespaces (comma-separated). The control plane is always checked')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Check only workloads in these namespaces (comma-separated). The control plane is always checked')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'Add a preview of an upgrade to this Linkerd release to the report')
            [CompletionResult]::new('--to-kubernetes', '--to-kubernetes', [CompletionResultType]::ParameterName, 'With --to: Kubernetes version at the time of the upgrade, such as 1.35')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'With --to: the installed release, if the evidence does not contain it')
            [CompletionResult]::new('--to-cni', '--to-cni', [CompletionResultType]::ParameterName, 'The linkerd-cni version of the next upgrade, such as v1.6.8')
            [CompletionResult]::new('--expected-version', '--expected-version', [CompletionResultType]::ParameterName, 'The release that all components should run, such as edge-26.8.3 or stable-2.14.10')
            [CompletionResult]::new('--param', '--param', [CompletionResultType]::ParameterName, 'Override a check''s parameter: trust-anchor-expiring.days=30. Repeatable')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show the full report: every subject, all evidence, symptoms, infos, versions and the complete coverage')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show the full report: every subject, all evidence, symptoms, infos, versions and the complete coverage')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite an existing file')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'List the files of the archive, their size and redactions, and write nothing')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Read the live cluster even if --nodes, --logs or --diagnostics is given')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Request uncompressed responses; faster on the API server''s machine or a very fast link')
            [CompletionResult]::new('--probe', '--probe', [CompletionResultType]::ParameterName, 'Also query running programs through port-forwards')
            [CompletionResult]::new('--pre', '--pre', [CompletionResultType]::ParameterName, 'Check whether the cluster can run Linkerd, before it is installed')
            [CompletionResult]::new('--crds', '--crds', [CompletionResultType]::ParameterName, 'Check the custom resource definitions, before the control plane is installed')
            [CompletionResult]::new('--linkerd-cni-enabled', '--linkerd-cni-enabled', [CompletionResultType]::ParameterName, 'With --pre: the installation will use linkerd-cni, which must be installed and ready')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;node-snapshot' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Destination: FILE.tar.gz, FILE.tar.zst, a folder, or ''-'' for a tar.gz on standard output (default NODE.tar.gz)')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Destination: FILE.tar.gz, FILE.tar.zst, a folder, or ''-'' for a tar.gz on standard output (default NODE.tar.gz)')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Root of the node''s file system. Links that lead out of it are not followed')
            [CompletionResult]::new('--node', '--node', [CompletionResultType]::ParameterName, 'Name of the node in the cluster; by default the kubelet''s node name, else /etc/hostname')
            [CompletionResult]::new('--conf-dir', '--conf-dir', [CompletionResultType]::ParameterName, 'CNI configuration directory; overrides the container runtime''s setting')
            [CompletionResult]::new('--bin-dir', '--bin-dir', [CompletionResultType]::ParameterName, 'Directory with plugin binaries; overrides the container runtime''s setting. Repeatable')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite an existing file')
            [CompletionResult]::new('--to-log', '--to-log', [CompletionResultType]::ParameterName, 'Write to standard output as log lines, as the pods of ''collect --node-pods'' do. --nodes reads them')
            [CompletionResult]::new('--hold', '--hold', [CompletionResultType]::ParameterName, 'With --to-log: keep running afterwards, as the pod of a DaemonSet must')
            [CompletionResult]::new('--no-run', '--no-run', [CompletionResultType]::ParameterName, 'Run no programs')
            [CompletionResult]::new('--ask-plugin', '--ask-plugin', [CompletionResultType]::ParameterName, 'Run the linkerd-cni binary for its versions even if the root is not /')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;demo' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Print the report in this format (default table), or write it to a file with FORMAT=FILE. Repeatable')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Print the report in this format (default table), or write it to a file with FORMAT=FILE. Repeatable')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show the full report: every subject, all evidence, symptoms, infos, versions and the complete coverage')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show the full report: every subject, all evidence, symptoms, infos, versions and the complete coverage')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--cured', '--cured', [CompletionResultType]::ParameterName, 'Check the cluster after the fix')
            [CompletionResult]::new('--coverage', '--coverage', [CompletionResultType]::ParameterName, 'Show what was not checked completely, why, and how to check it')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only errors on standard error')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;list' {
            [CompletionResult]::new('--knowledge', '--knowledge', [CompletionResultType]::ParameterName, 'Folder with newer release data (with --defects)')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--defects', '--defects', [CompletionResultType]::ParameterName, 'List known defects of Linkerd releases instead of checks')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;explain' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;test' {
            [CompletionResult]::new('--builtin', '--builtin', [CompletionResultType]::ParameterName, 'Built-in checks or categories instead (comma-separated)')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;new' {
            [CompletionResult]::new('--for', '--for', [CompletionResultType]::ParameterName, 'Resource that the check evaluates, as kubectl names it: pods, servers.policy.linkerd.io')
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'With --for: kind of the custom resource, such as Certificate')
            [CompletionResult]::new('--dir', '--dir', [CompletionResultType]::ParameterName, 'Folder to write the card to')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--cluster-scoped', '--cluster-scoped', [CompletionResultType]::ParameterName, 'With --kind: the resource is cluster-scoped')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;rbac' {
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Run only these checks or categories (comma-separated)')
            [CompletionResult]::new('--skip', '--skip', [CompletionResultType]::ParameterName, 'Skip these checks or categories (comma-separated)')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Also print a binding to this user')
            [CompletionResult]::new('--service-account', '--service-account', [CompletionResultType]::ParameterName, 'Also print a binding to this service account')
            [CompletionResult]::new('-L', '-L ', [CompletionResultType]::ParameterName, 'With --namespaced: namespace of the control plane')
            [CompletionResult]::new('--linkerd-namespace', '--linkerd-namespace', [CompletionResultType]::ParameterName, 'With --namespaced: namespace of the control plane')
            [CompletionResult]::new('--cni-namespace', '--cni-namespace', [CompletionResultType]::ParameterName, 'With --namespaced: namespace of linkerd-cni')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--proxies', '--proxies', [CompletionResultType]::ParameterName, 'Also allow port-forwards to pods in every namespace, which ''check --proxies'' and ''sync'' need to read metrics')
            [CompletionResult]::new('--namespaced', '--namespaced', [CompletionResultType]::ParameterName, 'Use Roles instead of a ClusterRole for Secrets and ConfigMaps that are read by name')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;mcp' {
            [CompletionResult]::new('--baseline', '--baseline', [CompletionResultType]::ParameterName, 'An earlier report (check -o json=FILE), which the tool diff knows as "baseline"')
            [CompletionResult]::new('--bundle', '--bundle', [CompletionResultType]::ParameterName, 'Read a bundle or dump instead of a cluster: a file, a folder or ''-'' for standard input. Repeatable')
            [CompletionResult]::new('--complete', '--complete', [CompletionResultType]::ParameterName, 'Declare that the dump lists every object of these kinds (comma-separated, or ''all'')')
            [CompletionResult]::new('--nodes', '--nodes', [CompletionResultType]::ParameterName, 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable')
            [CompletionResult]::new('--logs', '--logs', [CompletionResultType]::ParameterName, 'Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable')
            [CompletionResult]::new('--proxies', '--proxies', [CompletionResultType]::ParameterName, 'Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards')
            [CompletionResult]::new('--diagnostics', '--diagnostics', [CompletionResultType]::ParameterName, 'Output of ''linkerd diagnostics'' in a file, to compare with the cluster or bundle. Repeatable')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this time')
            [CompletionResult]::new('--linkerd-cli', '--linkerd-cli', [CompletionResultType]::ParameterName, 'The linkerd CLI: its path (with a ''/''), its version, or ''none''')
            [CompletionResult]::new('-L', '-L ', [CompletionResultType]::ParameterName, 'Namespace of the control plane; by default found by its labels')
            [CompletionResult]::new('--linkerd-namespace', '--linkerd-namespace', [CompletionResultType]::ParameterName, 'Namespace of the control plane; by default found by its labels')
            [CompletionResult]::new('--cni-namespace', '--cni-namespace', [CompletionResultType]::ParameterName, 'Namespace of linkerd-cni; by default found by its labels')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'Kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account inside a pod')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Kubeconfig context. ''check'' accepts several and checks each cluster')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Kubeconfig cluster, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Kubeconfig user, instead of the context''s')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Impersonate this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Impersonate this group. Repeatable')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'Time limit for one response of the API server: 30s, 2m; 0 means no limit. A long list that arrives steadily may take longer')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Time limit for the whole run; the rest is not checked. Without it, reading a cluster may take 5m')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Read the live cluster even if --nodes, --logs or --diagnostics is given')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Request uncompressed responses; faster on the API server''s machine or a very fast link')
            [CompletionResult]::new('--probe', '--probe', [CompletionResultType]::ParameterName, 'Also query running programs through port-forwards')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;completions' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;config' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;version' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Folder with your own checks, which run like the built-in ones. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;help' {
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Check a mesh: what is broken, the evidence, and how to repair it')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'Show a saved JSON report in any format; the exit status is that of the saved run')
            [CompletionResult]::new('fix', 'fix', [CompletionResultType]::ParameterValue, 'Print the repair plan as a script or patches, each step judged before it is offered; or edit manifests')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare two reports: new, changed, fixed and unchanged findings, and what cannot be compared')
            [CompletionResult]::new('policy', 'policy', [CompletionResultType]::ParameterValue, 'Show the effective policy of workload ports: who may connect, why, and which policies have no effect')
            [CompletionResult]::new('injection', 'injection', [CompletionResultType]::ParameterValue, 'Show which pods would be injected and why, the annotations that take effect, and the resulting proxy settings')
            [CompletionResult]::new('reach', 'reach', [CompletionResultType]::ParameterValue, 'Trace a connection between two workloads step by step, and show where it fails')
            [CompletionResult]::new('sync', 'sync', [CompletionResultType]::ParameterValue, 'Show whether each control-plane replica and a sample of proxies are in sync: version, certificate, connections to the control plane, endpoints, uptime, and problems')
            [CompletionResult]::new('rotate', 'rotate', [CompletionResultType]::ParameterValue, 'Show the state of a rotation of the trust anchor or the issuer, the next safe step, and the steps that must wait')
            [CompletionResult]::new('collect', 'collect', [CompletionResultType]::ParameterValue, 'Save the evidence that the checks need as one redacted file (a bundle)')
            [CompletionResult]::new('ticket', 'ticket', [CompletionResultType]::ParameterValue, 'Write a small redacted archive for a support ticket: the report and the evidence of its findings')
            [CompletionResult]::new('node-snapshot', 'node-snapshot', [CompletionResultType]::ParameterValue, 'Save the CNI and runtime files of a node')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Check an embedded demo cluster with a known failure; without a name, list the demos')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the checks')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a check, or a text such as a log line, a response header, a status code or an exit code')
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Run the test cases of your own checks, and report results that differ from the card')
            [CompletionResult]::new('new', 'new', [CompletionResultType]::ParameterValue, 'Write a card to start your own check from')
            [CompletionResult]::new('rbac', 'rbac', [CompletionResultType]::ParameterValue, 'Print the RBAC role that the chosen checks need, as a manifest')
            [CompletionResult]::new('mcp', 'mcp', [CompletionResultType]::ParameterValue, 'Serve the checks to an AI agent: a read-only server of the Model Context Protocol on standard input and output')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a completion script for a shell')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Show the settings of meshdoctor.toml and where each comes from')
            [CompletionResult]::new('version', 'version', [CompletionResultType]::ParameterValue, 'Print the version of meshdoctor and of its release data')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'meshdoctor;help;check' {
            break
        }
        'meshdoctor;help;report' {
            break
        }
        'meshdoctor;help;fix' {
            break
        }
        'meshdoctor;help;diff' {
            break
        }
        'meshdoctor;help;policy' {
            break
        }
        'meshdoctor;help;injection' {
            break
        }
        'meshdoctor;help;reach' {
            break
        }
        'meshdoctor;help;sync' {
            break
        }
        'meshdoctor;help;rotate' {
            break
        }
        'meshdoctor;help;collect' {
            break
        }
        'meshdoctor;help;ticket' {
            break
        }
        'meshdoctor;help;node-snapshot' {
            break
        }
        'meshdoctor;help;demo' {
            break
        }
        'meshdoctor;help;list' {
            break
        }
        'meshdoctor;help;explain' {
            break
        }
        'meshdoctor;help;test' {
            break
        }
        'meshdoctor;help;new' {
            break
        }
        'meshdoctor;help;rbac' {
            break
        }
        'meshdoctor;help;mcp' {
            break
        }
        'meshdoctor;help;completions' {
            break
        }
        'meshdoctor;help;config' {
            break
        }
        'meshdoctor;help;version' {
            break
        }
        'meshdoctor;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
