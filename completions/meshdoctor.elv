# Generated from the command line by `UPDATE=1 cargo test`; do not edit.

use builtin;
use str;

set edit:completion:arg-completer[meshdoctor] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'meshdoctor'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'meshdoctor'= {
            cand --color 'When to use colour'
            cand --checks 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand check 'Look at a mesh and say what is wrong, what proves it and what to do'
            cand diff 'Compare two reports: what is new, changed, fixed or unchanged, and what cannot be compared'
            cand policy 'Show what Linkerd''s policy says of the ports of workloads: what takes them, who is let in by what, and what of that which people wrote counts for nothing'
            cand reach 'Say whether a call would get from one workload to another, step by step as Linkerd takes it, and where it stops'
            cand collect 'Save everything that the checks need, redacted, as one file for a ticket or for later'
            cand ticket 'Write one small redacted archive for a support ticket: the report, and the evidence that its findings rest on'
            cand node-snapshot 'Save what checks need to know of a node, read on the node itself or in a pod that has its files mounted'
            cand demo 'Check an embedded cluster with a known failure; without a name, list them'
            cand list 'List the checks'
            cand explain 'Explain a check: what it finds, why it matters, how to fix it, what it cannot see'
            cand test 'Run the cases of cards of your own, and say which do not say what their card claims'
            cand new 'Write a card to start a check of your own from'
            cand rbac 'Print the role that suffices for the chosen checks, as a manifest'
            cand completions 'Print a completion script for a shell'
            cand version 'Print the version of meshdoctor and of what it knows'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'meshdoctor;check'= {
            cand --bundle 'Read a bundle or dump instead of a cluster: a file, a folder or ''-'' for standard input. Repeatable; all of them together are one cluster'
            cand --complete 'Say that the dump lists every object of these kinds (comma-separated, or ''all''). Otherwise what a dump does not hold counts as not provided'
            cand --nodes 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable'
            cand --logs 'Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); ''-'' for standard input. Only lines of known meaning are kept, redacted. Repeatable'
            cand --at 'The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it'
            cand --linkerd-cli 'The linkerd CLI: its path (with a ''/''), its version, or ''none''. By default the one on PATH is asked when a live cluster is read'
            cand -L 'The namespace of the control plane; found by its labels when not given'
            cand --linkerd-namespace 'The namespace of the control plane; found by its labels when not given'
            cand --cni-namespace 'The namespace of linkerd-cni; found by its labels when not given'
            cand --kubeconfig 'The kubeconfig file; otherwise $KUBECONFIG, ~/.kube/config, or the service account inside a pod'
            cand --context 'The context of the kubeconfig to use'
            cand --cluster 'The cluster of the kubeconfig to use, instead of the context''s'
            cand --user 'The user of the kubeconfig to use, instead of the context''s'
            cand --as 'Act as this user'
            cand --as-group 'Act as a member of this group. Repeatable'
            cand --request-timeout 'How long to wait for one response of the API server: 30s, 2m; 0 waits forever'
            cand --timeout 'How long the whole run may take; what is not read by then is not checked'
            cand --only 'Run only these checks or categories (comma-separated)'
            cand --skip 'Leave out these checks or categories (comma-separated)'
            cand -n 'Check only workloads in these namespaces (comma-separated). The control plane is always checked'
            cand --namespace 'Check only workloads in these namespaces (comma-separated). The control plane is always checked'
            cand --to-cni 'The version of linkerd-cni that you are about to upgrade to, such as v1.6.8: says what that upgrade would break. By default the newest release that meshdoctor knows'
            cand --manifests 'Judge manifests without a cluster: files, folders or ''-'' for standard input, as helm template, kustomize build and linkerd install print them. What they do not hold is not checked, and changes no exit status. Repeatable'
            cand --linkerd-version 'With --manifests: the release of Linkerd that they are for, where they do not hold the control plane. With --bundle beside --manifests it is read from there'
            cand --kubernetes-version 'With --manifests: the Kubernetes that they are for, such as 1.34'
            cand --with 'Lay manifests over the cluster or bundle, as if they were applied, and judge the cluster as it would be: says what the change brings in, what it cures and what stays. --fail-on counts what it brings in. Repeatable'
            cand --prune 'With --with: objects with these labels that the manifests do not name are deleted, as kubectl apply --prune does'
            cand --values 'Judge values that are about to be given to a chart of Linkerd''s: unknown and unread ones, wrong types, what the chart refuses. By themselves; with --bundle or --live over what the cluster has; with --to for the upgrade. A later file counts over an earlier one, as with helm. Repeatable'
            cand --chart 'The chart that --values are for, and its release: linkerd-control-plane@2.19, linkerd-viz@edge-26.5.5, or with the version of the chart, linkerd2-cni@2025.10.7. Without a release it is that of the cluster or of --to'
            cand --into 'The namespace of manifests that name none, as with kubectl apply -n; default when not given'
            cand --to 'The release of Linkerd that you are about to upgrade to: a minor such as 2.20, or a release such as edge-26.8.3. Says what that upgrade will break and what it will change on this cluster, and in which order to go about it (-o plan)'
            cand --to-kubernetes 'With --to: the Kubernetes that the cluster will run by then, such as 1.35'
            cand --from 'With --to: the release that is installed, where the evidence does not tell'
            cand --expected-version 'The release that everything should run, such as edge-26.8.3 or stable-2.14.10. By default what the evidence and meshdoctor''s release data say'
            cand --fail-on 'Exit with 1 when there is a finding of at least this severity; with :observed what is inferred (''likely'') does not count. By default error, and with --verify warning'
            cand --on-not-checked 'What it means for the exit status when evidence that was asked for could not be had'
            cand --waivers 'Findings that are accepted: a YAML file of waivers, each with check or fingerprint, scope, reason, owner and expiry. They stay in the report, marked, and do not count. Waivers that have expired, are unused, accept everything or name no check are findings. Repeatable'
            cand --baseline 'An earlier report (-o json=FILE) of the same cluster: what was found then, at the same subjects and as bad, does not count'
            cand --verify 'Check the findings of an earlier report (-o json=FILE) again on fresh evidence, and say of each: fixed, still there, or not checked. What the report''s run was asked is asked again where no flag says otherwise'
            cand -o 'Output format: table, short, json or yaml; html (one page that needs nothing else); sarif, junit, github (annotations), gitlab (code quality), markdown, prometheus (textfile) or ndjson for pipelines; plan, with --to, for the plan of the upgrade as Markdown; linkerd or linkerd-table for the rows of ''linkerd check'' as its JSON document or table. FORMAT=FILE writes it to a file. Repeatable'
            cand --output 'Output format: table, short, json or yaml; html (one page that needs nothing else); sarif, junit, github (annotations), gitlab (code quality), markdown, prometheus (textfile) or ndjson for pipelines; plan, with --to, for the plan of the upgrade as Markdown; linkerd or linkerd-table for the rows of ''linkerd check'' as its JSON document or table. FORMAT=FILE writes it to a file. Repeatable'
            cand --save 'Also save what was read as a bundle: FILE.tar.gz, FILE.tar.zst or a folder'
            cand -v 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item'
            cand --verbose 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item'
            cand --knowledge 'Read the release data and other facts that age from this folder instead of the embedded ones'
            cand --color 'When to use colour'
            cand --checks 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable'
            cand --live 'Read the live cluster, also where --nodes or --logs is given'
            cand --disable-compression 'Ask for uncompressed answers: faster on the API server''s own machine or a very fast link'
            cand --probe 'Also query running programs through port-forwards: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links'
            cand --pre 'Check whether the cluster can take Linkerd, before it is installed'
            cand --crds 'Check the custom resource definitions, before the control plane is installed'
            cand --linkerd-cni-enabled 'With --pre: the installation will use linkerd-cni, which must be installed and ready'
            cand --proxy 'With -o linkerd, also print the rows of the data plane. meshdoctor''s own reports always include it'
            cand --coverage 'Say in a table what was not checked in full: why, and how to check it'
            cand --force 'Let --save overwrite a file that is there'
            cand -q 'Print nothing on standard error but errors'
            cand --quiet 'Print nothing on standard error but errors'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'meshdoctor;diff'= {
            cand --fail-on 'Exit with 1 when something of at least this severity is new or has become worse, and with 4 when such cannot be compared. By default error'
            cand -o 'The form of the answer'
            cand --output 'The form of the answer'
            cand --color 'When to use colour'
            cand --checks 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'meshdoctor;policy'= {
            cand -o 'The form of the answer'
            cand --output 'The form of the answer'
            cand --bundle 'Read a bundle or dump instead of a cluster: a file, a folder or ''-'' for standard input. Repeatable; all of them together are one cluster'
            cand --complete 'Say that the dump lists every object of these kinds (comma-separated, or ''all''). Otherwise what a dump does not hold counts as not provided'
            cand --nodes 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable'
            cand --logs 'Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); ''-'' for standard input. Only lines of known meaning are kept, redacted. Repeatable'
            cand --at 'The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it'
            cand --linkerd-cli 'The linkerd CLI: its path (with a ''/''), its version, or ''none''. By default the one on PATH is asked when a live cluster is read'
            cand -L 'The namespace of the control plane; found by its labels when not given'
            cand --linkerd-namespace 'The namespace of the control plane; found by its labels when not given'
            cand --cni-namespace 'The namespace of linkerd-cni; found by its labels when not given'
            cand --kubeconfig 'The kubeconfig file; otherwise $KUBECONFIG, ~/.kube/config, or the service account inside a pod'
            cand --context 'The context of the kubeconfig to use'
            cand --cluster 'The cluster of the kubeconfig to use, instead of the context''s'
            cand --user 'The user of the kubeconfig to use, instead of the context''s'
            cand --as 'Act as this user'
            cand --as-group 'Act as a member of this group. Repeatable'
            cand --request-timeout 'How long to wait for one response of the API server: 30s, 2m; 0 waits forever'
            cand --timeout 'How long the whole run may take; what is not read by then is not checked'
            cand -v 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item'
            cand --verbose 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item'
            cand --color 'When to use colour'
            cand --checks 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable'
            cand --live 'Read the live cluster, also where --nodes or --logs is given'
            cand --disable-compression 'Ask for uncompressed answers: faster on the API server''s own machine or a very fast link'
            cand --probe 'Also query running programs through port-forwards: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links'
            cand -q 'Print nothing on standard error but errors'
            cand --quiet 'Print nothing on standard error but errors'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'meshdoctor;reach'= {
            cand -n 'The namespace of --matrix'
            cand --namespace 'The namespace of --matrix'
            cand -o 'The form of the answer'
            cand --output 'The form of the answer'
            cand --bundle 'Read a bundle or dump instead of a cluster: a file, a folder or ''-'' for standard input. Repeatable; all of them together are one cluster'
            cand --complete 'Say that the dump lists every object of these kinds (comma-separated, or ''all''). Otherwise what a dump does not hold counts as not provided'
            cand --nodes 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable'
            cand --logs 'Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); ''-'' for standard input. Only lines of known meaning are kept, redacted. Repeatable'
            cand --at 'The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it'
            cand --linkerd-cli 'The linkerd CLI: its path (with a ''/''), its version, or ''none''. By default the one on PATH is asked when a live cluster is read'
            cand -L 'The namespace of the control plane; found by its labels when not given'
            cand --linkerd-namespace 'The namespace of the control plane; found by its labels when not given'
            cand --cni-namespace 'The namespace of linkerd-cni; found by its labels when not given'
            cand --kubeconfig 'The kubeconfig file; otherwise $KUBECONFIG, ~/.kube/config, or the service account inside a pod'
            cand --context 'The context of the kubeconfig to use'
            cand --cluster 'The cluster of the kubeconfig to use, instead of the context''s'
            cand --user 'The user of the kubeconfig to use, instead of the context''s'
            cand --as 'Act as this user'
            cand --as-group 'Act as a member of this group. Repeatable'
            cand --request-timeout 'How long to wait for one response of the API server: 30s, 2m; 0 waits forever'
            cand --timeout 'How long the whole run may take; what is not read by then is not checked'
            cand -v 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item'
            cand --verbose 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item'
            cand --color 'When to use colour'
            cand --checks 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable'
            cand --matrix 'Show who may call whom in a namespace: its workloads, and the ports of its Services'
            cand --live 'Read the live cluster, also where --nodes or --logs is given'
            cand --disable-compression 'Ask for uncompressed answers: faster on the API server''s own machine or a very fast link'
            cand --probe 'Also query running programs through port-forwards: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links'
            cand -q 'Print nothing on standard error but errors'
            cand --quiet 'Print nothing on standard error but errors'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'meshdoctor;collect'= {
            cand -o 'Where to: FILE.tar.gz, FILE.tar.zst or a folder'
            cand --output 'Where to: FILE.tar.gz, FILE.tar.zst or a folder'
            cand --bundle 'Read a bundle or dump instead of a cluster: a file, a folder or ''-'' for standard input. Repeatable; all of them together are one cluster'
            cand --complete 'Say that the dump lists every object of these kinds (comma-separated, or ''all''). Otherwise what a dump does not hold counts as not provided'
            cand --nodes 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable'
            cand --logs 'Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); ''-'' for standard input. Only lines of known meaning are kept, redacted. Repeatable'
            cand --at 'The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it'
            cand --linkerd-cli 'The linkerd CLI: its path (with a ''/''), its version, or ''none''. By default the one on PATH is asked when a live cluster is read'
            cand -L 'The namespace of the control plane; found by its labels when not given'
            cand --linkerd-namespace 'The namespace of the control plane; found by its labels when not given'
            cand --cni-namespace 'The namespace of linkerd-cni; found by its labels when not given'
            cand --node 'Only this node, ready or not. Repeatable; every Linux node when not given'
            cand --node-image 'The image of the pods; it must hold this version of meshdoctor on its PATH'
            cand --node-namespace 'The namespace of the pods; it must admit pods that mount files of the node'
            cand --kubeconfig 'The kubeconfig file; otherwise $KUBECONFIG, ~/.kube/config, or the service account inside a pod'
            cand --context 'The context of the kubeconfig to use'
            cand --cluster 'The cluster of the kubeconfig to use, instead of the context''s'
            cand --user 'The user of the kubeconfig to use, instead of the context''s'
            cand --as 'Act as this user'
            cand --as-group 'Act as a member of this group. Repeatable'
            cand --request-timeout 'How long to wait for one response of the API server: 30s, 2m; 0 waits forever'
            cand --timeout 'How long the whole run may take; what is not read by then is not checked'
            cand --only 'Run only these checks or categories (comma-separated)'
            cand --skip 'Leave out these checks or categories (comma-separated)'
            cand -v 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item'
            cand --verbose 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item'
            cand --color 'When to use colour'
            cand --checks 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable'
            cand --force 'Overwrite a file that is there'
            cand --live 'Read the live cluster, also where --nodes or --logs is given'
            cand --node-pods 'Read the files of nodes by a short-lived pod on each, which is deleted again. Needs rights to create and delete pods; shows what it would create, and asks'
            cand --yes 'Create the pods without asking'
            cand --dry-run 'Print the manifests of the pods, and do nothing'
            cand --disable-compression 'Ask for uncompressed answers: faster on the API server''s own machine or a very fast link'
            cand --probe 'Also query running programs through port-forwards: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links'
            cand --pre 'Collect what ''check --pre'' needs, before Linkerd is installed; this includes your own permissions'
            cand --crds 'Collect what ''check --crds'' needs, before the control plane is installed'
            cand -q 'Print nothing on standard error but errors'
            cand --quiet 'Print nothing on standard error but errors'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'meshdoctor;ticket'= {
            cand -o 'Where to: FILE.tar.gz, FILE.tar.zst, a folder, or ''-'' for a tar.gz on standard output'
            cand --output 'Where to: FILE.tar.gz, FILE.tar.zst, a folder, or ''-'' for a tar.gz on standard output'
            cand --bundle 'Read a bundle or dump instead of a cluster: a file, a folder or ''-'' for standard input. Repeatable; all of them together are one cluster'
            cand --complete 'Say that the dump lists every object of these kinds (comma-separated, or ''all''). Otherwise what a dump does not hold counts as not provided'
            cand --nodes 'Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable'
            cand --logs 'Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a value, a log out of a file: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container (NAMESPACE/POD/CONTAINER=FILE); ''-'' for standard input. Only lines of known meaning are kept, redacted. Repeatable'
            cand --at 'The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged against it'
            cand --linkerd-cli 'The linkerd CLI: its path (with a ''/''), its version, or ''none''. By default the one on PATH is asked when a live cluster is read'
            cand -L 'The namespace of the control plane; found by its labels when not given'
            cand --linkerd-namespace 'The namespace of the control plane; found by its labels when not given'
            cand --cni-namespace 'The namespace of linkerd-cni; found by its labels when not given'
            cand --kubeconfig 'The kubeconfig file; otherwise $KUBECONFIG, ~/.kube/config, or the service account inside a pod'
            cand --context 'The context of the kubeconfig to use'
            cand --cluster 'The cluster of the kubeconfig to use, instead of the context''s'
            cand --user 'The user of the kubeconfig to use, instead of the context''s'
            cand --as 'Act as this user'
            cand --as-group 'Act as a member of this group. Repeatable'
            cand --request-timeout 'How long to wait for one response of the API server: 30s, 2m; 0 waits forever'
            cand --timeout 'How long the whole run may take; what is not read by then is not checked'
            cand -v 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item'
            cand --verbose 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item'
            cand --color 'When to use colour'
            cand --checks 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable'
            cand --force 'Overwrite a file that is there'
            cand --dry-run 'List every file that would leave this machine, how large it is and how much of it is redacted, and write nothing'
            cand --live 'Read the live cluster, also where --nodes or --logs is given'
            cand --disable-compression 'Ask for uncompressed answers: faster on the API server''s own machine or a very fast link'
            cand --probe 'Also query running programs through port-forwards: webhooks for the certificates that they serve, metrics-api, Prometheus, the controllers of links'
            cand -q 'Print nothing on standard error but errors'
            cand --quiet 'Print nothing on standard error but errors'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'meshdoctor;node-snapshot'= {
            cand -o 'Where to: FILE.tar.gz, FILE.tar.zst, a folder, or ''-'' for a tar.gz on standard output. NODE.tar.gz when not given'
            cand --output 'Where to: FILE.tar.gz, FILE.tar.zst, a folder, or ''-'' for a tar.gz on standard output. NODE.tar.gz when not given'
            cand --root 'The root of the node''s file system, where a pod has it mounted. No link leads out of it. By default /, or /host in a pod that has the node''s files there'
            cand --node 'The node''s name in the cluster; by default the one that the kubelet was given, else /etc/hostname'
            cand --conf-dir 'The directory of CNI configuration, instead of what the container runtime says'
            cand --bin-dir 'A directory of plugin binaries, instead of what the container runtime says. Repeatable'
            cand --color 'When to use colour'
            cand --checks 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable'
            cand --force 'Overwrite a file that is there'
            cand --to-log 'Write to standard output as lines of a log, as the pods of ''collect --node-pods'' do: what --nodes reads again'
            cand --no-run 'Run no program. By default crictl, journalctl, iptables --version and the version question of linkerd-cni are run where the root is /'
            cand --ask-plugin 'Run the linkerd-cni binary of another root than / as well, to ask it for its versions'
            cand -q 'Say nothing on standard error but errors'
            cand --quiet 'Say nothing on standard error but errors'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'meshdoctor;demo'= {
            cand -o 'Output format: table, short, json or yaml; html (one page that needs nothing else); sarif, junit, github (annotations), gitlab (code quality), markdown, prometheus (textfile) or ndjson for pipelines; plan, with --to, for the plan of the upgrade as Markdown; linkerd or linkerd-table for the rows of ''linkerd check'' as its JSON document or table. FORMAT=FILE writes it to a file. Repeatable'
            cand --output 'Output format: table, short, json or yaml; html (one page that needs nothing else); sarif, junit, github (annotations), gitlab (code quality), markdown, prometheus (textfile) or ndjson for pipelines; plan, with --to, for the plan of the upgrade as Markdown; linkerd or linkerd-table for the rows of ''linkerd check'' as its JSON document or table. FORMAT=FILE writes it to a file. Repeatable'
            cand -v 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item'
            cand --verbose 'Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also say on standard error what is read: requests, bytes and time of each item'
            cand --color 'When to use colour'
            cand --checks 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable'
            cand --cured 'Check the cluster after the fix'
            cand --coverage 'Say in a table what was not checked in full: why, and how to check it'
            cand -q 'Print nothing on standard error but errors'
            cand --quiet 'Print nothing on standard error but errors'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'meshdoctor;list'= {
            cand -o 'The form of the list'
            cand --output 'The form of the list'
            cand --color 'When to use colour'
            cand --checks 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'meshdoctor;explain'= {
            cand -o 'The form of the page'
            cand --output 'The form of the page'
            cand --color 'When to use colour'
            cand --checks 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'meshdoctor;test'= {
            cand --color 'When to use colour'
            cand --checks 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'meshdoctor;new'= {
            cand --dir 'The folder that it is written into'
            cand --color 'When to use colour'
            cand --checks 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'meshdoctor;rbac'= {
            cand --only 'Run only these checks or categories (comma-separated)'
            cand --skip 'Leave out these checks or categories (comma-separated)'
            cand --user 'Also print a binding to this user'
            cand --service-account 'Also print a binding to this service account'
            cand --color 'When to use colour'
            cand --checks 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'meshdoctor;completions'= {
            cand --color 'When to use colour'
            cand --checks 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'meshdoctor;version'= {
            cand -o 'The form of the answer'
            cand --output 'The form of the answer'
            cand --color 'When to use colour'
            cand --checks 'Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything. Repeatable'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'meshdoctor;help'= {
            cand check 'Look at a mesh and say what is wrong, what proves it and what to do'
            cand diff 'Compare two reports: what is new, changed, fixed or unchanged, and what cannot be compared'
            cand policy 'Show what Linkerd''s policy says of the ports of workloads: what takes them, who is let in by what, and what of that which people wrote counts for nothing'
            cand reach 'Say whether a call would get from one workload to another, step by step as Linkerd takes it, and where it stops'
            cand collect 'Save everything that the checks need, redacted, as one file for a ticket or for later'
            cand ticket 'Write one small redacted archive for a support ticket: the report, and the evidence that its findings rest on'
            cand node-snapshot 'Save what checks need to know of a node, read on the node itself or in a pod that has its files mounted'
            cand demo 'Check an embedded cluster with a known failure; without a name, list them'
            cand list 'List the checks'
            cand explain 'Explain a check: what it finds, why it matters, how to fix it, what it cannot see'
            cand test 'Run the cases of cards of your own, and say which do not say what their card claims'
            cand new 'Write a card to start a check of your own from'
            cand rbac 'Print the role that suffices for the chosen checks, as a manifest'
            cand completions 'Print a completion script for a shell'
            cand version 'Print the version of meshdoctor and of what it knows'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'meshdoctor;help;check'= {
        }
        &'meshdoctor;help;diff'= {
        }
        &'meshdoctor;help;policy'= {
        }
        &'meshdoctor;help;reach'= {
        }
        &'meshdoctor;help;collect'= {
        }
        &'meshdoctor;help;ticket'= {
        }
        &'meshdoctor;help;node-snapshot'= {
        }
        &'meshdoctor;help;demo'= {
        }
        &'meshdoctor;help;list'= {
        }
        &'meshdoctor;help;explain'= {
        }
        &'meshdoctor;help;test'= {
        }
        &'meshdoctor;help;new'= {
        }
        &'meshdoctor;help;rbac'= {
        }
        &'meshdoctor;help;completions'= {
        }
        &'meshdoctor;help;version'= {
        }
        &'meshdoctor;help;help'= {
        }
    ]
    $completions[$command]
}
