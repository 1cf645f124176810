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
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Look at a mesh and say what is wrong, what proves it and what to do')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'Show a saved report again, in any form: check -o json=FILE saves one. The exit status is that of the saved run')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare two reports: what is new, changed, fixed or unchanged, and what cannot be compared')
            [CompletionResult]::new('policy', 'policy', [CompletionResultType]::ParameterValue, 'Show what Linkerd''s policy says of the ports of workloads: what takes them, who is let in by what, and what of that which people wrote counts for nothing')
            [CompletionResult]::new('injection', 'injection', [CompletionResultType]::ParameterValue, 'Show what would be injected: for everything that makes pods whether it gets a proxy and why, which annotations act, and what the proxy would be asked to do')
            [CompletionResult]::new('reach', 'reach', [CompletionResultType]::ParameterValue, 'Say whether a call would get from one workload to another, step by step as Linkerd takes it, and where it stops')
            [CompletionResult]::new('collect', 'collect', [CompletionResultType]::ParameterValue, 'Save everything that the checks need, redacted, as one file for a ticket or for later')
            [CompletionResult]::new('ticket', 'ticket', [CompletionResultType]::ParameterValue, 'Write one small redacted archive for a support ticket: the report, and the evidence that its findings rest on')
            [CompletionResult]::new('node-snapshot', 'node-snapshot', [CompletionResultType]::ParameterValue, 'Save what checks need to know of a node, read on the node itself or in a pod that has its files mounted')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Check an embedded cluster with a known failure; without a name, list them')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the checks')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a check: what it finds, why it matters, how to fix it, what it cannot see')
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Run the cases of cards of your own, and say which do not say what their card claims')
            [CompletionResult]::new('new', 'new', [CompletionResultType]::ParameterValue, 'Write a card to start a check of your own from')
            [CompletionResult]::new('rbac', 'rbac', [CompletionResultType]::ParameterValue, 'Print the role that suffices for the chosen checks, as a manifest')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a completion script for a shell')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Show what meshdoctor.toml sets, and where')
            [CompletionResult]::new('version', 'version', [CompletionResultType]::ParameterValue, 'Print the version of meshdoctor and of what it knows')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'meshdoctor;check' {
            [CompletionResult]::new('--bundle', '--bundle', [CompletionResultType]::ParameterName, 'Read a bundle or dump instead of a cluster: a file, a folder or ''-'' for standard input. Repeatable; all of them together are one cluster')
            [CompletionResult]::new('--complete', '--complete', [CompletionResultType]::ParameterName, 'Say that the dump lists every object of these kinds (comma-separated, or ''all''). Otherwise what a dump does not hold counts as not provided')
            [CompletionResult]::new('--nodes', '--nodes', [CompletionResultType]::ParameterName, 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable')
            [CompletionResult]::new('--logs', '--logs', [CompletionResultType]::ParameterName, 'Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); ''-'' for standard input. Only lines of known meaning are kept, redacted. Repeatable')
            [CompletionResult]::new('--diagnostics', '--diagnostics', [CompletionResultType]::ParameterName, 'What linkerd diagnostics proxy-metrics or endpoints -o json printed, in a file; of linkerd diagnostics policy with the pod and port that it was asked of. It is compared with the cluster or bundle. Repeatable')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it')
            [CompletionResult]::new('--linkerd-cli', '--linkerd-cli', [CompletionResultType]::ParameterName, 'The linkerd CLI: its path (with a ''/''), its version, or ''none''. By default the one on PATH is asked when a live cluster is read')
            [CompletionResult]::new('-L', '-L ', [CompletionResultType]::ParameterName, 'The namespace of the control plane; found by its labels when not given')
            [CompletionResult]::new('--linkerd-namespace', '--linkerd-namespace', [CompletionResultType]::ParameterName, 'The namespace of the control plane; found by its labels when not given')
            [CompletionResult]::new('--cni-namespace', '--cni-namespace', [CompletionResultType]::ParameterName, 'The namespace of linkerd-cni; found by its labels when not given')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file; otherwise $KUBECONFIG, ~/.kube/config, or the service account inside a pod')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The context of the kubeconfig to use. ''check'' takes several, and judges each cluster')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Act as this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Act as a member of this group. Repeatable')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long to wait for one response of the API server: 30s, 2m; 0 waits forever')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long the whole run may take; what is not read by then is not checked. Without it, reading a cluster may take 5m')
            [CompletionResult]::new('--bundles', '--bundles', [CompletionResultType]::ParameterName, 'Judge every bundle and dump in a folder, each as a cluster of its own, called as its file without the ending')
            [CompletionResult]::new('--max-age', '--max-age', [CompletionResultType]::ParameterName, 'With --bundles: a bundle that is older, or a dump that does not tell its age, is of a cluster that could not be judged')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'With --bundles: the clusters that there must be. One without a bundle could not be judged')
            [CompletionResult]::new('--parallel', '--parallel', [CompletionResultType]::ParameterName, 'How many clusters are read at a time')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Run only these checks or categories (comma-separated)')
            [CompletionResult]::new('--skip', '--skip', [CompletionResultType]::ParameterName, 'Leave out these checks or categories (comma-separated)')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Check only workloads in these namespaces (comma-separated). The control plane is always checked')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Check only workloads in these namespaces (comma-separated). The control plane is always checked')
            [CompletionResult]::new('--to-cni', '--to-cni', [CompletionResultType]::ParameterName, 'The version of linkerd-cni that you are about to upgrade to, such as v1.6.8: says what that upgrade would break, and where it is newer than what meshdoctor knows, that it does not know. By default the newest release that meshdoctor knows')
            [CompletionResult]::new('--manifests', '--manifests', [CompletionResultType]::ParameterName, 'Judge manifests without a cluster: files, folders or ''-'' for standard input, as helm template, kustomize build and linkerd install print them. What they do not hold is not checked, and changes no exit status. Repeatable')
            [CompletionResult]::new('--linkerd-version', '--linkerd-version', [CompletionResultType]::ParameterName, 'With --manifests: the release of Linkerd that they are for, where they do not hold the control plane. With --bundle beside --manifests it is read from there')
            [CompletionResult]::new('--kubernetes-version', '--kubernetes-version', [CompletionResultType]::ParameterName, 'With --manifests: the Kubernetes that they are for, such as 1.34')
            [CompletionResult]::new('--with', '--with', [CompletionResultType]::ParameterName, 'Lay manifests over the cluster or bundle, as if they were applied, and judge the cluster as it would be: says what the change brings in, what it cures and what stays. --fail-on counts what it brings in. Repeatable')
            [CompletionResult]::new('--prune', '--prune', [CompletionResultType]::ParameterName, 'With --with: objects with these labels that the manifests do not name are deleted, as kubectl apply --prune does')
            [CompletionResult]::new('--values', '--values', [CompletionResultType]::ParameterName, 'Judge values that are about to be given to a chart of Linkerd''s: unknown and unread ones, wrong types, what the chart refuses. By themselves; with --bundle or --live over what the cluster has; with --to for the upgrade. A later file counts over an earlier one, as with helm. Repeatable')
            [CompletionResult]::new('--chart', '--chart', [CompletionResultType]::ParameterName, 'The chart that --values are for, and its release: linkerd-control-plane@2.19, linkerd-viz@edge-26.5.5, or with the version of the chart, linkerd2-cni@2025.10.7. Without a release it is that of the cluster or of --to')
            [CompletionResult]::new('--into', '--into', [CompletionResultType]::ParameterName, 'The namespace of manifests that name none, as with kubectl apply -n; default when not given')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'The release of Linkerd that you are about to upgrade to: a minor such as 2.20, or a release such as edge-26.8.3. Says what that upgrade will break and what it will change on this cluster, and in which order to go about it (-o plan)')
            [CompletionResult]::new('--to-kubernetes', '--to-kubernetes', [CompletionResultType]::ParameterName, 'With --to: the Kubernetes that the cluster will run by then, such as 1.35')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'With --to: the release that is installed, where the evidence does not tell')
            [CompletionResult]::new('--expected-version', '--expected-version', [CompletionResultType]::ParameterName, 'The release that everything should run, such as edge-26.8.3 or stable-2.14.10. By default what the evidence and meshdoctor''s release data say')
            [CompletionResult]::new('--fail-on', '--fail-on', [CompletionResultType]::ParameterName, 'Exit with 1 when there is a finding of at least this severity; with :observed what is inferred (''likely'') does not count. By default error, and with --verify warning')
            [CompletionResult]::new('--severity', '--severity', [CompletionResultType]::ParameterName, 'How bad the findings of a check are here: error, warning or info. Below the severity of its card, the most that they may have; else that of every one, also of what is only an info by itself. Repeatable; leave a check out with --skip')
            [CompletionResult]::new('--param', '--param', [CompletionResultType]::ParameterName, 'A parameter of a check, in the place of what its card says: trust-anchor-expiring.days=30. ''explain CHECK'' shows which there are. Repeatable')
            [CompletionResult]::new('--on-not-checked', '--on-not-checked', [CompletionResultType]::ParameterName, 'What it means for the exit status when evidence that was asked for could not be had')
            [CompletionResult]::new('--waivers', '--waivers', [CompletionResultType]::ParameterName, 'Findings that are accepted: a YAML file of waivers, each with check or fingerprint, scope, reason, owner and expiry. They stay in the report, marked, and do not count. Waivers that have expired, are unused, accept everything or name no check are findings. Repeatable')
            [CompletionResult]::new('--baseline', '--baseline', [CompletionResultType]::ParameterName, 'An earlier report (-o json=FILE) of the same cluster: what was found then, at the same subjects and as bad, does not count')
            [CompletionResult]::new('--verify', '--verify', [CompletionResultType]::ParameterName, 'Check the findings of an earlier report (-o json=FILE) again on fresh evidence, and say of each: fixed, still there, or not checked. What the report''s run was asked is asked again where no flag says otherwise')
            [CompletionResult]::new('--confidence', '--confidence', [CompletionResultType]::ParameterName, 'What is told: everything, or with ''observed'' what the evidence shows alone. What is inferred is then counted, and neither listed nor able to fail the run')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Look again, for so long at most, until nothing fails the run: 5m, as linkerd check does. What does not go by itself, an expired certificate say, ends the waiting at once')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format: table, short, json or yaml; html (one page that needs nothing else); sarif, junit, github (annotations), gitlab (code quality), markdown, prometheus (textfile) or ndjson for pipelines; plan, with --to, for the plan of the upgrade as Markdown; linkerd or linkerd-table for the rows of ''linkerd check'' as its JSON document or table. FORMAT=FILE writes it to a file. Repeatable')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format: table, short, json or yaml; html (one page that needs nothing else); sarif, junit, github (annotations), gitlab (code quality), markdown, prometheus (textfile) or ndjson for pipelines; plan, with --to, for the plan of the upgrade as Markdown; linkerd or linkerd-table for the rows of ''linkerd check'' as its JSON document or table. FORMAT=FILE writes it to a file. Repeatable')
            [CompletionResult]::new('--save', '--save', [CompletionResultType]::ParameterName, 'Also save what was read as a bundle: FILE.tar.gz, FILE.tar.zst or a folder')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item')
            [CompletionResult]::new('--knowledge', '--knowledge', [CompletionResultType]::ParameterName, 'Read the release data and other facts that age from this folder instead of the embedded ones')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Read the live cluster, also where --nodes, --logs or --diagnostics is given')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Ask for uncompressed answers: faster on the API server''s own machine or a very fast link')
            [CompletionResult]::new('--probe', '--probe', [CompletionResultType]::ParameterName, 'Also query running programs through port-forwards: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links')
            [CompletionResult]::new('--all-contexts', '--all-contexts', [CompletionResultType]::ParameterName, 'Judge the cluster of every context of the kubeconfig, as with several --context')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Check workloads in all namespaces, as without --namespace')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Check workloads in all namespaces, as without --namespace')
            [CompletionResult]::new('--pre', '--pre', [CompletionResultType]::ParameterName, 'Check whether the cluster can take Linkerd, before it is installed')
            [CompletionResult]::new('--crds', '--crds', [CompletionResultType]::ParameterName, 'Check the custom resource definitions, before the control plane is installed')
            [CompletionResult]::new('--linkerd-cni-enabled', '--linkerd-cni-enabled', [CompletionResultType]::ParameterName, 'With --pre: the installation will use linkerd-cni, which must be installed and ready')
            [CompletionResult]::new('--proxy', '--proxy', [CompletionResultType]::ParameterName, 'With -o linkerd, also print the rows of the data plane. meshdoctor''s own reports always include it')
            [CompletionResult]::new('--coverage', '--coverage', [CompletionResultType]::ParameterName, 'Say in a table what was not checked in full: why, and how to check it')
            [CompletionResult]::new('--publish', '--publish', [CompletionResultType]::ParameterName, 'Also write the report into the cluster, as the objects that policy reporters read (Reports of openreports.io, or else PolicyReports of wgpolicyk8s.io), with an event for each finding that appears or goes. It writes to the cluster; see docs/deploy.md for the role')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Let --save overwrite a file that is there')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing on standard error but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing on standard error but errors')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;report' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format: table, short, json or yaml; html (one page that needs nothing else); sarif, junit, github (annotations), gitlab (code quality), markdown, prometheus (textfile) or ndjson for pipelines; plan, with --to, for the plan of the upgrade as Markdown; linkerd or linkerd-table for the rows of ''linkerd check'' as its JSON document or table. FORMAT=FILE writes it to a file. Repeatable')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format: table, short, json or yaml; html (one page that needs nothing else); sarif, junit, github (annotations), gitlab (code quality), markdown, prometheus (textfile) or ndjson for pipelines; plan, with --to, for the plan of the upgrade as Markdown; linkerd or linkerd-table for the rows of ''linkerd check'' as its JSON document or table. FORMAT=FILE writes it to a file. Repeatable')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs')
            [CompletionResult]::new('--coverage', '--coverage', [CompletionResultType]::ParameterName, 'Say in a table what was not checked in full: why, and how to check it')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing on standard error but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing on standard error but errors')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;diff' {
            [CompletionResult]::new('--fail-on', '--fail-on', [CompletionResultType]::ParameterName, 'Exit with 1 when something of at least this severity is new or has become worse, and with 4 when such cannot be compared. By default error')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The form of the answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The form of the answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;policy' {
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'Show instead what clients get on the way to a Service, NAMESPACE/NAME[:PORT], or to an address, ADDRESS:PORT: routes, where they send what, time limits, retries, and what is forbidden')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'With --to, the namespace of the clients; that of the Service when not given, `default` for addresses')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The form of the answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The form of the answer')
            [CompletionResult]::new('--bundle', '--bundle', [CompletionResultType]::ParameterName, 'Read a bundle or dump instead of a cluster: a file, a folder or ''-'' for standard input. Repeatable; all of them together are one cluster')
            [CompletionResult]::new('--complete', '--complete', [CompletionResultType]::ParameterName, 'Say that the dump lists every object of these kinds (comma-separated, or ''all''). Otherwise what a dump does not hold counts as not provided')
            [CompletionResult]::new('--nodes', '--nodes', [CompletionResultType]::ParameterName, 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable')
            [CompletionResult]::new('--logs', '--logs', [CompletionResultType]::ParameterName, 'Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); ''-'' for standard input. Only lines of known meaning are kept, redacted. Repeatable')
            [CompletionResult]::new('--diagnostics', '--diagnostics', [CompletionResultType]::ParameterName, 'What linkerd diagnostics proxy-metrics or endpoints -o json printed, in a file; of linkerd diagnostics policy with the pod and port that it was asked of. It is compared with the cluster or bundle. Repeatable')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it')
            [CompletionResult]::new('--linkerd-cli', '--linkerd-cli', [CompletionResultType]::ParameterName, 'The linkerd CLI: its path (with a ''/''), its version, or ''none''. By default the one on PATH is asked when a live cluster is read')
            [CompletionResult]::new('-L', '-L ', [CompletionResultType]::ParameterName, 'The namespace of the control plane; found by its labels when not given')
            [CompletionResult]::new('--linkerd-namespace', '--linkerd-namespace', [CompletionResultType]::ParameterName, 'The namespace of the control plane; found by its labels when not given')
            [CompletionResult]::new('--cni-namespace', '--cni-namespace', [CompletionResultType]::ParameterName, 'The namespace of linkerd-cni; found by its labels when not given')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file; otherwise $KUBECONFIG, ~/.kube/config, or the service account inside a pod')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The context of the kubeconfig to use. ''check'' takes several, and judges each cluster')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Act as this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Act as a member of this group. Repeatable')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long to wait for one response of the API server: 30s, 2m; 0 waits forever')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long the whole run may take; what is not read by then is not checked. Without it, reading a cluster may take 5m')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Read the live cluster, also where --nodes, --logs or --diagnostics is given')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Ask for uncompressed answers: faster on the API server''s own machine or a very fast link')
            [CompletionResult]::new('--probe', '--probe', [CompletionResultType]::ParameterName, 'Also query running programs through port-forwards: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing on standard error but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing on standard error but errors')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;injection' {
            [CompletionResult]::new('--manifests', '--manifests', [CompletionResultType]::ParameterName, 'Show what manifests make: files, folders or ''-'' for standard input. By themselves, or with --bundle or --live as the injector of that cluster treats them. Repeatable')
            [CompletionResult]::new('--linkerd-version', '--linkerd-version', [CompletionResultType]::ParameterName, 'The release that injects, where neither cluster nor manifests hold a control plane')
            [CompletionResult]::new('--into', '--into', [CompletionResultType]::ParameterName, 'The namespace of manifests that name none, as with kubectl apply -n; default when not given')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The form of the answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The form of the answer')
            [CompletionResult]::new('--bundle', '--bundle', [CompletionResultType]::ParameterName, 'Read a bundle or dump instead of a cluster: a file, a folder or ''-'' for standard input. Repeatable; all of them together are one cluster')
            [CompletionResult]::new('--complete', '--complete', [CompletionResultType]::ParameterName, 'Say that the dump lists every object of these kinds (comma-separated, or ''all''). Otherwise what a dump does not hold counts as not provided')
            [CompletionResult]::new('--nodes', '--nodes', [CompletionResultType]::ParameterName, 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable')
            [CompletionResult]::new('--logs', '--logs', [CompletionResultType]::ParameterName, 'Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); ''-'' for standard input. Only lines of known meaning are kept, redacted. Repeatable')
            [CompletionResult]::new('--diagnostics', '--diagnostics', [CompletionResultType]::ParameterName, 'What linkerd diagnostics proxy-metrics or endpoints -o json printed, in a file; of linkerd diagnostics policy with the pod and port that it was asked of. It is compared with the cluster or bundle. Repeatable')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it')
            [CompletionResult]::new('--linkerd-cli', '--linkerd-cli', [CompletionResultType]::ParameterName, 'The linkerd CLI: its path (with a ''/''), its version, or ''none''. By default the one on PATH is asked when a live cluster is read')
            [CompletionResult]::new('-L', '-L ', [CompletionResultType]::ParameterName, 'The namespace of the control plane; found by its labels when not given')
            [CompletionResult]::new('--linkerd-namespace', '--linkerd-namespace', [CompletionResultType]::ParameterName, 'The namespace of the control plane; found by its labels when not given')
            [CompletionResult]::new('--cni-namespace', '--cni-namespace', [CompletionResultType]::ParameterName, 'The namespace of linkerd-cni; found by its labels when not given')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file; otherwise $KUBECONFIG, ~/.kube/config, or the service account inside a pod')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The context of the kubeconfig to use. ''check'' takes several, and judges each cluster')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Act as this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Act as a member of this group. Repeatable')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long to wait for one response of the API server: 30s, 2m; 0 waits forever')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long the whole run may take; what is not read by then is not checked. Without it, reading a cluster may take 5m')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Read the live cluster, also where --nodes, --logs or --diagnostics is given')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Ask for uncompressed answers: faster on the API server''s own machine or a very fast link')
            [CompletionResult]::new('--probe', '--probe', [CompletionResultType]::ParameterName, 'Also query running programs through port-forwards: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing on standard error but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing on standard error but errors')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;reach' {
            [CompletionResult]::new('--traffic', '--traffic', [CompletionResultType]::ParameterName, 'What is sent. Without it, the answer names the kinds of traffic that fail')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'The namespace of names that state none, and of --matrix')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'The namespace of names that state none, and of --matrix')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The form of the answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The form of the answer')
            [CompletionResult]::new('--bundle', '--bundle', [CompletionResultType]::ParameterName, 'Read a bundle or dump instead of a cluster: a file, a folder or ''-'' for standard input. Repeatable; all of them together are one cluster')
            [CompletionResult]::new('--complete', '--complete', [CompletionResultType]::ParameterName, 'Say that the dump lists every object of these kinds (comma-separated, or ''all''). Otherwise what a dump does not hold counts as not provided')
            [CompletionResult]::new('--nodes', '--nodes', [CompletionResultType]::ParameterName, 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable')
            [CompletionResult]::new('--logs', '--logs', [CompletionResultType]::ParameterName, 'Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); ''-'' for standard input. Only lines of known meaning are kept, redacted. Repeatable')
            [CompletionResult]::new('--diagnostics', '--diagnostics', [CompletionResultType]::ParameterName, 'What linkerd diagnostics proxy-metrics or endpoints -o json printed, in a file; of linkerd diagnostics policy with the pod and port that it was asked of. It is compared with the cluster or bundle. Repeatable')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it')
            [CompletionResult]::new('--linkerd-cli', '--linkerd-cli', [CompletionResultType]::ParameterName, 'The linkerd CLI: its path (with a ''/''), its version, or ''none''. By default the one on PATH is asked when a live cluster is read')
            [CompletionResult]::new('-L', '-L ', [CompletionResultType]::ParameterName, 'The namespace of the control plane; found by its labels when not given')
            [CompletionResult]::new('--linkerd-namespace', '--linkerd-namespace', [CompletionResultType]::ParameterName, 'The namespace of the control plane; found by its labels when not given')
            [CompletionResult]::new('--cni-namespace', '--cni-namespace', [CompletionResultType]::ParameterName, 'The namespace of linkerd-cni; found by its labels when not given')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file; otherwise $KUBECONFIG, ~/.kube/config, or the service account inside a pod')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The context of the kubeconfig to use. ''check'' takes several, and judges each cluster')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Act as this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Act as a member of this group. Repeatable')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long to wait for one response of the API server: 30s, 2m; 0 waits forever')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long the whole run may take; what is not read by then is not checked. Without it, reading a cluster may take 5m')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs')
            [CompletionResult]::new('--matrix', '--matrix', [CompletionResultType]::ParameterName, 'Show who may call whom in a namespace: its workloads, and the ports of its Services')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Read the live cluster, also where --nodes, --logs or --diagnostics is given')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Ask for uncompressed answers: faster on the API server''s own machine or a very fast link')
            [CompletionResult]::new('--probe', '--probe', [CompletionResultType]::ParameterName, 'Also query running programs through port-forwards: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing on standard error but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing on standard error but errors')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;collect' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Where to: FILE.tar.gz, FILE.tar.zst or a folder')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Where to: FILE.tar.gz, FILE.tar.zst or a folder')
            [CompletionResult]::new('--bundle', '--bundle', [CompletionResultType]::ParameterName, 'Read a bundle or dump instead of a cluster: a file, a folder or ''-'' for standard input. Repeatable; all of them together are one cluster')
            [CompletionResult]::new('--complete', '--complete', [CompletionResultType]::ParameterName, 'Say that the dump lists every object of these kinds (comma-separated, or ''all''). Otherwise what a dump does not hold counts as not provided')
            [CompletionResult]::new('--nodes', '--nodes', [CompletionResultType]::ParameterName, 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable')
            [CompletionResult]::new('--logs', '--logs', [CompletionResultType]::ParameterName, 'Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); ''-'' for standard input. Only lines of known meaning are kept, redacted. Repeatable')
            [CompletionResult]::new('--diagnostics', '--diagnostics', [CompletionResultType]::ParameterName, 'What linkerd diagnostics proxy-metrics or endpoints -o json printed, in a file; of linkerd diagnostics policy with the pod and port that it was asked of. It is compared with the cluster or bundle. Repeatable')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it')
            [CompletionResult]::new('--linkerd-cli', '--linkerd-cli', [CompletionResultType]::ParameterName, 'The linkerd CLI: its path (with a ''/''), its version, or ''none''. By default the one on PATH is asked when a live cluster is read')
            [CompletionResult]::new('-L', '-L ', [CompletionResultType]::ParameterName, 'The namespace of the control plane; found by its labels when not given')
            [CompletionResult]::new('--linkerd-namespace', '--linkerd-namespace', [CompletionResultType]::ParameterName, 'The namespace of the control plane; found by its labels when not given')
            [CompletionResult]::new('--cni-namespace', '--cni-namespace', [CompletionResultType]::ParameterName, 'The namespace of linkerd-cni; found by its labels when not given')
            [CompletionResult]::new('--node', '--node', [CompletionResultType]::ParameterName, 'Only this node, ready or not. Repeatable; every Linux node when not given')
            [CompletionResult]::new('--node-image', '--node-image', [CompletionResultType]::ParameterName, 'The image of the pods; it must hold this version of meshdoctor on its PATH')
            [CompletionResult]::new('--node-namespace', '--node-namespace', [CompletionResultType]::ParameterName, 'The namespace of the pods; it must admit pods that mount files of the node')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file; otherwise $KUBECONFIG, ~/.kube/config, or the service account inside a pod')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The context of the kubeconfig to use. ''check'' takes several, and judges each cluster')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Act as this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Act as a member of this group. Repeatable')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long to wait for one response of the API server: 30s, 2m; 0 waits forever')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long the whole run may take; what is not read by then is not checked. Without it, reading a cluster may take 5m')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Run only these checks or categories (comma-separated)')
            [CompletionResult]::new('--skip', '--skip', [CompletionResultType]::ParameterName, 'Leave out these checks or categories (comma-separated)')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite a file that is there')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Read the live cluster, also where --nodes, --logs or --diagnostics is given')
            [CompletionResult]::new('--node-pods', '--node-pods', [CompletionResultType]::ParameterName, 'Read the files of nodes by a short-lived pod on each, which is deleted again. Needs rights to create and delete pods; shows what it would create, and asks')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Create the pods without asking')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print the manifests of the pods, and do nothing')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Ask for uncompressed answers: faster on the API server''s own machine or a very fast link')
            [CompletionResult]::new('--probe', '--probe', [CompletionResultType]::ParameterName, 'Also query running programs through port-forwards: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links')
            [CompletionResult]::new('--pre', '--pre', [CompletionResultType]::ParameterName, 'Collect what ''check --pre'' needs, before Linkerd is installed; this includes your own permissions')
            [CompletionResult]::new('--crds', '--crds', [CompletionResultType]::ParameterName, 'Collect what ''check --crds'' needs, before the control plane is installed')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing on standard error but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing on standard error but errors')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;ticket' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Where to: FILE.tar.gz, FILE.tar.zst, a folder, or ''-'' for a tar.gz on standard output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Where to: FILE.tar.gz, FILE.tar.zst, a folder, or ''-'' for a tar.gz on standard output')
            [CompletionResult]::new('--bundle', '--bundle', [CompletionResultType]::ParameterName, 'Read a bundle or dump instead of a cluster: a file, a folder or ''-'' for standard input. Repeatable; all of them together are one cluster')
            [CompletionResult]::new('--complete', '--complete', [CompletionResultType]::ParameterName, 'Say that the dump lists every object of these kinds (comma-separated, or ''all''). Otherwise what a dump does not hold counts as not provided')
            [CompletionResult]::new('--nodes', '--nodes', [CompletionResultType]::ParameterName, 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable')
            [CompletionResult]::new('--logs', '--logs', [CompletionResultType]::ParameterName, 'Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); ''-'' for standard input. Only lines of known meaning are kept, redacted. Repeatable')
            [CompletionResult]::new('--diagnostics', '--diagnostics', [CompletionResultType]::ParameterName, 'What linkerd diagnostics proxy-metrics or endpoints -o json printed, in a file; of linkerd diagnostics policy with the pod and port that it was asked of. It is compared with the cluster or bundle. Repeatable')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it')
            [CompletionResult]::new('--linkerd-cli', '--linkerd-cli', [CompletionResultType]::ParameterName, 'The linkerd CLI: its path (with a ''/''), its version, or ''none''. By default the one on PATH is asked when a live cluster is read')
            [CompletionResult]::new('-L', '-L ', [CompletionResultType]::ParameterName, 'The namespace of the control plane; found by its labels when not given')
            [CompletionResult]::new('--linkerd-namespace', '--linkerd-namespace', [CompletionResultType]::ParameterName, 'The namespace of the control plane; found by its labels when not given')
            [CompletionResult]::new('--cni-namespace', '--cni-namespace', [CompletionResultType]::ParameterName, 'The namespace of linkerd-cni; found by its labels when not given')
            [CompletionResult]::new('--kubeconfig', '--kubeconfig', [CompletionResultType]::ParameterName, 'The kubeconfig file; otherwise $KUBECONFIG, ~/.kube/config, or the service account inside a pod')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'The context of the kubeconfig to use. ''check'' takes several, and judges each cluster')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'The cluster of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'The user of the kubeconfig to use, instead of the context''s')
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Act as this user')
            [CompletionResult]::new('--as-group', '--as-group', [CompletionResultType]::ParameterName, 'Act as a member of this group. Repeatable')
            [CompletionResult]::new('--request-timeout', '--request-timeout', [CompletionResultType]::ParameterName, 'How long to wait for one response of the API server: 30s, 2m; 0 waits forever')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'How long the whole run may take; what is not read by then is not checked. Without it, reading a cluster may take 5m')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Run only these checks or categories (comma-separated)')
            [CompletionResult]::new('--skip', '--skip', [CompletionResultType]::ParameterName, 'Leave out these checks or categories (comma-separated)')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Check only workloads in these namespaces (comma-separated). The control plane is always checked')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Check only workloads in these namespaces (comma-separated). The control plane is always checked')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'The release of Linkerd that you are about to upgrade to: what that breaks and changes goes into the report')
            [CompletionResult]::new('--to-kubernetes', '--to-kubernetes', [CompletionResultType]::ParameterName, 'With --to: the Kubernetes that the cluster will run by then, such as 1.35')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'With --to: the release that is installed, where the evidence does not tell')
            [CompletionResult]::new('--to-cni', '--to-cni', [CompletionResultType]::ParameterName, 'The version of linkerd-cni that you are about to upgrade to, such as v1.6.8')
            [CompletionResult]::new('--expected-version', '--expected-version', [CompletionResultType]::ParameterName, 'The release that everything should run, such as edge-26.8.3 or stable-2.14.10')
            [CompletionResult]::new('--param', '--param', [CompletionResultType]::ParameterName, 'A parameter of a check, in the place of what its card says: trust-anchor-expiring.days=30. Repeatable')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite a file that is there')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'List every file that would leave this machine, how large it is and how much of it is redacted, and write nothing')
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'Read the live cluster, also where --nodes, --logs or --diagnostics is given')
            [CompletionResult]::new('--disable-compression', '--disable-compression', [CompletionResultType]::ParameterName, 'Ask for uncompressed answers: faster on the API server''s own machine or a very fast link')
            [CompletionResult]::new('--probe', '--probe', [CompletionResultType]::ParameterName, 'Also query running programs through port-forwards: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links')
            [CompletionResult]::new('--pre', '--pre', [CompletionResultType]::ParameterName, 'Check whether the cluster can take Linkerd, before it is installed')
            [CompletionResult]::new('--crds', '--crds', [CompletionResultType]::ParameterName, 'Check the custom resource definitions, before the control plane is installed')
            [CompletionResult]::new('--linkerd-cni-enabled', '--linkerd-cni-enabled', [CompletionResultType]::ParameterName, 'With --pre: the installation will use linkerd-cni, which must be installed and ready')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing on standard error but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing on standard error but errors')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;node-snapshot' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Where to: FILE.tar.gz, FILE.tar.zst, a folder, or ''-'' for a tar.gz on standard output. NODE.tar.gz when not given')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Where to: FILE.tar.gz, FILE.tar.zst, a folder, or ''-'' for a tar.gz on standard output. NODE.tar.gz when not given')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'The root of the node''s file system, where a pod has it mounted. No link leads out of it. By default /, or /host in a pod that has the node''s files there')
            [CompletionResult]::new('--node', '--node', [CompletionResultType]::ParameterName, 'The node''s name in the cluster; by default the one that the kubelet was given, else /etc/hostname')
            [CompletionResult]::new('--conf-dir', '--conf-dir', [CompletionResultType]::ParameterName, 'The directory of CNI configuration, instead of what the container runtime says')
            [CompletionResult]::new('--bin-dir', '--bin-dir', [CompletionResultType]::ParameterName, 'A directory of plugin binaries, instead of what the container runtime says. Repeatable')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite a file that is there')
            [CompletionResult]::new('--to-log', '--to-log', [CompletionResultType]::ParameterName, 'Write to standard output as lines of a log, as the pods of ''collect --node-pods'' do: what --nodes reads again')
            [CompletionResult]::new('--hold', '--hold', [CompletionResultType]::ParameterName, 'With --to-log: stay until ended, and do nothing, as the pod of a DaemonSet must')
            [CompletionResult]::new('--no-run', '--no-run', [CompletionResultType]::ParameterName, 'Run no program. By default crictl, journalctl, iptables --version and the version question of linkerd-cni are run where the root is /')
            [CompletionResult]::new('--ask-plugin', '--ask-plugin', [CompletionResultType]::ParameterName, 'Run the linkerd-cni binary of another root than / as well, to ask it for its versions')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Say nothing on standard error but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Say nothing on standard error but errors')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;demo' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format: table, short, json or yaml; html (one page that needs nothing else); sarif, junit, github (annotations), gitlab (code quality), markdown, prometheus (textfile) or ndjson for pipelines; plan, with --to, for the plan of the upgrade as Markdown; linkerd or linkerd-table for the rows of ''linkerd check'' as its JSON document or table. FORMAT=FILE writes it to a file. Repeatable')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format: table, short, json or yaml; html (one page that needs nothing else); sarif, junit, github (annotations), gitlab (code quality), markdown, prometheus (textfile) or ndjson for pipelines; plan, with --to, for the plan of the upgrade as Markdown; linkerd or linkerd-table for the rows of ''linkerd check'' as its JSON document or table. FORMAT=FILE writes it to a file. Repeatable')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs')
            [CompletionResult]::new('--cured', '--cured', [CompletionResultType]::ParameterName, 'Check the cluster after the fix')
            [CompletionResult]::new('--coverage', '--coverage', [CompletionResultType]::ParameterName, 'Say in a table what was not checked in full: why, and how to check it')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing on standard error but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing on standard error but errors')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;list' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The form of the list')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The form of the list')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;explain' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The form of the page')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The form of the page')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;test' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;new' {
            [CompletionResult]::new('--for', '--for', [CompletionResultType]::ParameterName, 'The kind of object that it is asked of, as kubectl takes it: pods, servers.policy.linkerd.io. A custom resource of others with its version, and its kind with --kind: certificates.v1.cert-manager.io')
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'With --for: the kind of that custom resource as manifests name it, such as Certificate')
            [CompletionResult]::new('--dir', '--dir', [CompletionResultType]::ParameterName, 'The folder that it is written into')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs')
            [CompletionResult]::new('--cluster-scoped', '--cluster-scoped', [CompletionResultType]::ParameterName, 'With --kind: its objects live in no namespace')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;rbac' {
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Run only these checks or categories (comma-separated)')
            [CompletionResult]::new('--skip', '--skip', [CompletionResultType]::ParameterName, 'Leave out these checks or categories (comma-separated)')
            [CompletionResult]::new('--user', '--user', [CompletionResultType]::ParameterName, 'Also print a binding to this user')
            [CompletionResult]::new('--service-account', '--service-account', [CompletionResultType]::ParameterName, 'Also print a binding to this service account')
            [CompletionResult]::new('-L', '-L ', [CompletionResultType]::ParameterName, 'With --namespaced: the namespace of the control plane')
            [CompletionResult]::new('--linkerd-namespace', '--linkerd-namespace', [CompletionResultType]::ParameterName, 'With --namespaced: the namespace of the control plane')
            [CompletionResult]::new('--cni-namespace', '--cni-namespace', [CompletionResultType]::ParameterName, 'With --namespaced: the namespace of linkerd-cni')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs')
            [CompletionResult]::new('--namespaced', '--namespaced', [CompletionResultType]::ParameterName, 'Grant what is read by name, Secrets and ConfigMaps, in its own namespace alone: by Roles in those of the control plane and of linkerd-cni and in kube-system, in the place of a ClusterRole. Lists are of all namespaces as before')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;completions' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;config' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;version' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'The form of the answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'The form of the answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--checks', '--checks', [CompletionResultType]::ParameterName, 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder above. A file that was found rather than named cannot choose clusters, programs or outputs')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'meshdoctor;help' {
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Look at a mesh and say what is wrong, what proves it and what to do')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'Show a saved report again, in any form: check -o json=FILE saves one. The exit status is that of the saved run')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare two reports: what is new, changed, fixed or unchanged, and what cannot be compared')
            [CompletionResult]::new('policy', 'policy', [CompletionResultType]::ParameterValue, 'Show what Linkerd''s policy says of the ports of workloads: what takes them, who is let in by what, and what of that which people wrote counts for nothing')
            [CompletionResult]::new('injection', 'injection', [CompletionResultType]::ParameterValue, 'Show what would be injected: for everything that makes pods whether it gets a proxy and why, which annotations act, and what the proxy would be asked to do')
            [CompletionResult]::new('reach', 'reach', [CompletionResultType]::ParameterValue, 'Say whether a call would get from one workload to another, step by step as Linkerd takes it, and where it stops')
            [CompletionResult]::new('collect', 'collect', [CompletionResultType]::ParameterValue, 'Save everything that the checks need, redacted, as one file for a ticket or for later')
            [CompletionResult]::new('ticket', 'ticket', [CompletionResultType]::ParameterValue, 'Write one small redacted archive for a support ticket: the report, and the evidence that its findings rest on')
            [CompletionResult]::new('node-snapshot', 'node-snapshot', [CompletionResultType]::ParameterValue, 'Save what checks need to know of a node, read on the node itself or in a pod that has its files mounted')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Check an embedded cluster with a known failure; without a name, list them')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List the checks')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a check: what it finds, why it matters, how to fix it, what it cannot see')
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Run the cases of cards of your own, and say which do not say what their card claims')
            [CompletionResult]::new('new', 'new', [CompletionResultType]::ParameterValue, 'Write a card to start a check of your own from')
            [CompletionResult]::new('rbac', 'rbac', [CompletionResultType]::ParameterValue, 'Print the role that suffices for the chosen checks, as a manifest')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a completion script for a shell')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Show what meshdoctor.toml sets, and where')
            [CompletionResult]::new('version', 'version', [CompletionResultType]::ParameterValue, 'Print the version of meshdoctor and of what it knows')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'meshdoctor;help;check' {
            break
        }
        'meshdoctor;help;report' {
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
