use super::*;

fn prod() -> Connection {
    Connection { context: Some("prod $(id)".to_owned()), as_user: Some("eve".to_owned()), ..Connection::default() }
}

#[test]
fn each_program_gets_its_own_connection_options() {
    let aimed = |call: Call| Command::from(call).aimed(&prod()).to_string();
    assert_eq!(aimed(kubectl().words("get pods")), "kubectl --context 'prod $(id)' --as eve get pods");
    assert_eq!(aimed(linkerd().words("viz check")), "linkerd --context 'prod $(id)' --as eve viz check");
    assert_eq!(aimed(helm().words("list")), "helm --kube-context 'prod $(id)' --kube-as-user eve list");
    assert_eq!(aimed(meshdoctor().words("check --pre")), "meshdoctor check --context 'prod $(id)' --as eve --pre");
    assert_eq!(aimed(meshdoctor().words("explain x")), "meshdoctor explain x");
    for words in ["policy shop/web:80", "reach shop/web shop/api:80", "sync", "fix", "rotate", "injection", "ticket"] {
        let (name, rest) = words.split_once(' ').unwrap_or((words, ""));
        let connected = format!("meshdoctor {name} --context 'prod $(id)' --as eve {rest}");
        assert_eq!(aimed(meshdoctor().words(words)), connected.trim_end());
    }
    assert_eq!(aimed(program("jq").words(".a")), "jq .a");
    let other = kubectl().in_context(Arg::placeholder("OTHER_CLUSTER")).words("get pods");
    assert_eq!(aimed(other), "kubectl --context \"${OTHER_CLUSTER:?}\" get pods");
    let upgrade = linkerd().words("upgrade").pipe(kubectl().words("apply -f -"));
    assert_eq!(
        Command::from(Line::only_with_cli("edge-1", upgrade)).aimed(&prod()).to_string(),
        "linkerd version --client --short | grep -Fx edge-1 && linkerd --context 'prod $(id)' --as eve upgrade | \
         kubectl --context 'prod $(id)' --as eve apply -f -"
    );
}

#[test]
fn missing_context_is_a_variable() {
    let connection = Connection { cluster: Some("c".to_owned()), ..Connection::default() };
    let aimed = |call: Call| Command::from(call).aimed(&connection);
    assert_eq!(aimed(kubectl().words("get pods")).to_string(), "kubectl --cluster c get pods");
    let asked = aimed(linkerd().words("upgrade"));
    assert_eq!(asked.to_string(), "linkerd --context \"${CONTEXT:?}\" upgrade");
    assert_eq!(asked.placeholders(), ["CONTEXT"]);
}

#[test]
fn operand_is_never_an_option() {
    let call = kubectl().words("delete clusterrole").operand("-x").operand("y").words("--wait=false");
    assert_eq!(call.to_string(), "kubectl delete clusterrole --wait=false -- -x y");
    let call = kubectl().words("delete clusterrole").operand("x").words("--wait=false");
    assert_eq!(call.to_string(), "kubectl delete clusterrole x --wait=false");
}

#[test]
fn script_runs_completely_on_its_node() {
    let remove = program("rm").words("-f").operand("/etc/cni/net.d/it's $(id)");
    let command = Command::on_node("n 1", [Line::shell("set -e"), remove.into()]);
    assert_eq!(
        command.to_string(),
        "NODE='n 1'\nkubectl debug node/\"$NODE\" -it --profile=sysadmin --image=busybox -- chroot /host sh -c \
         'set -e\nrm -f '\"'\"'/etc/cni/net.d/it'\"'\"'\"'\"'\"'\"'\"'\"'s $(id)'\"'\"''"
    );
}

#[test]
fn script_without_a_shell_on_the_host_runs_in_the_debug_pod() {
    let remove = program("rm").operand("/etc/cni/net.d/a b");
    assert_eq!(
        Command::on_node_files("n1", [remove]).to_string(),
        "NODE=n1\nkubectl -n kube-system debug node/\"$NODE\" -it --profile=sysadmin --image=busybox -- sh -c 'ln -s \
         /host/etc/cni /etc/cni && mkdir -p /opt && ln -s /host/opt/cni /opt/cni\nrm '\"'\"'/etc/cni/net.d/a b'\"'\"''"
    );
}

#[test]
fn equal_lines_are_kept_once_with_their_nodes() {
    let delete = |name: &str| Command::from(kubectl().words("delete pod").operand(name));
    let mut all = delete("a");
    all.join([&delete("b"), &delete("a")]);
    assert_eq!(all.to_string(), "kubectl delete pod a\nkubectl delete pod b");
    let cordon = |node: &str| Command::about_node(node, [kubectl().words("cordon").arg(Arg::node())]);
    let mut nodes = cordon("n1");
    nodes.join([&cordon("n2"), &cordon("n1"), &cordon("n2")]);
    assert_eq!(nodes.to_string(), "NODE=n1\nkubectl cordon \"$NODE\"");
    assert_eq!(nodes.other_nodes(), ["n2"]);
}

#[test]
fn injected_workloads_of_a_namespace_share_a_line() {
    let inject = |name: &str| {
        let get = kubectl().namespace("shop").words("get").operand(name.to_owned()).words("-o yaml");
        let line = get.pipe(linkerd().words("inject --manual -")).pipe(kubectl().words("apply -f -"));
        Line::only_with_cli("edge-25.4.4", line)
    };
    let mut command = Command::lines([inject("deployment/api")]);
    command.join([&Command::lines([inject("deployment/web")])]);
    let expected = "linkerd version --client --short | grep -Fx edge-25.4.4 && kubectl -n shop get deployment/api \
                    deployment/web -o yaml | linkerd inject --manual - | kubectl apply -f -";
    assert_eq!(command.to_string(), expected);
    let joined = Line::joined(["a", "b", "c"].map(inject), 2);
    assert_eq!(joined.len(), 2);
}

#[test]
fn prepared_restart_stays_after_its_preparation() {
    let each = |name: &str| {
        let of = |verb: &'static str| Line::from(kubectl().words(verb).operand(name.to_owned()));
        Command::lines([of("rollout resume"), of("rollout restart")])
    };
    let mut command = each("deployment/a");
    command.join([&each("deployment/b")]);
    let lines = command.rendered();
    let at = |line: &str| lines.iter().position(|one| one == line).unwrap();
    assert!(at("kubectl rollout resume deployment/b") < at("kubectl rollout restart deployment/b"), "{lines:?}");
}
