//! Messages stay readable, and secrets in them do not.

use super::*;
use crate::knowledge::Knowledge;

#[test]
fn messages_of_kubernetes_and_linkerd_are_kept() {
    for message in [
        r#"Back-off restarting failed container linkerd-proxy in pod web-5d4f7b9c66-x7k2p_shop(0f7c5ae4-9a5c-4d9b-8a53-0d9cf0a2a3c1)"#,
        r#"MountVolume.SetUp failed for volume "certs" : secret "linkerd-identity-issuer" not found"#,
        "Successfully assigned shop/web-5d4f7b9c66-x7k2p to node-1",
        "Readiness probe failed: HTTP probe failed with statuscode: 503",
        "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.",
        r#"Failed to pull image "registry.example/shop/web:v2": rpc error: code = NotFound desc = failed to pull and unpack image"#,
        r#"plugin type="linkerd-cni" name="linkerd-cni" failed (add): Unauthorized"#,
        "Scaled up replica set web-78dfd64795 from 0 to 2",
        "dial tcp 10.96.0.1:443: connect: connection refused",
        "bearer authentication required; invalid bearer token, the token has expired",
        "Failed to create Order: 429 urn:ietf:params:acme:error:rateLimited",
        "Failed to verify ACME account: acme: urn:ietf:params:acme:error:unauthorized: Account is not valid",
        "3 node(s) had untolerated taint {CriticalAddonsOnly: true}.",
        "unable to clone 'ssh://git@github.com/acme/mesh': ssh: handshake failed: knownhosts: key mismatch",
        "Could not find a JWS signature in the cluster-info ConfigMap",
        "unable to create chain CNI-HOSTPORT-SETMARK: failed to list chains",
        r#"Server-Side apply failed: conflict with "linkerd-proxy-injector" using admissionregistration.k8s.io/v1: .webhooks"#,
        "values don't meet the specifications of the schema(s) in the following chart(s)",
        r#"CustomResourceDefinition.apiextensions.k8s.io "httproutes.gateway.networking.k8s.io" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes"#,
        r#"HTTPRoute.gateway.networking.k8s.io "web" is invalid"#,
        "linux capability 'NET_ADMIN' on container 'linkerd-init' not allowed; Autopilot only allows the capabilities: \
         'AUDIT_WRITE,CHOWN,DAC_OVERRIDE,FOWNER,FSETID,KILL,MKNOD,NET_BIND_SERVICE,NET_RAW,SETFCAP,SETGID,SETPCAP,\
         SETUID,SYS_CHROOT,SYS_PTRACE'.",
    ] {
        assert_eq!(free_text(message), message);
    }
}

#[test]
fn announced_codes_are_replaced_before_and_behind_the_word() {
    for (message, secret) in [
        ("x-amz-security-token 219239", "219239"),
        ("one-time code 960868", "960868"),
        ("verification number 392246", "392246"),
        ("code 394454 sent", "394454"),
        ("488596 is not a valid api key", "488596"),
        ("482913 was sent as your code", "482913"),
        ("recovery 786367", "786367"),
        ("unseal 535212", "535212"),
        ("ssn 250117", "250117"),
        ("card 777930", "777930"),
        ("size=4929004823458012 x", "4929004823458012"),
        ("pid=4929004823458012", "4929004823458012"),
        ("port=4929004823458012", "4929004823458012"),
        ("name=0f7c5ae4-9a5c-4d9b-8a53-0d9cf0a2a3c1", "0f7c5ae4"),
        ("client.id=0f7c5ae4-9a5c-4d9b-8a53-0d9cf0a2a3c1", "0f7c5ae4"),
        ("using sk-knrwhf4dc7-qdm2s", "knrwhf4dc7"),
        ("CONFIG SET requirepass 1234567890", "1234567890"),
        ("masterauth 8005551234", "8005551234"),
        ("privkey is 8005551234", "8005551234"),
        ("kennwort \"8005551234\"", "8005551234"),
        ("access_code is 8005551234", "8005551234"),
        ("conn_str \"8005551234\"", "8005551234"),
        ("deploy_key is 8005551234", "8005551234"),
        ("rpcpasswort 8005551234", "8005551234"),
        ("zugangskennung 8005551234", "8005551234"),
        ("unlockpin is 8005551234", "8005551234"),
        ("echo '4711' | docker login --password-stdin", "4711"),
        ("printf \"8005551234\" | helm registry login", "8005551234"),
    ] {
        let clean = free_text(message).into_owned();
        assert!(!clean.contains(secret), "{message}: {clean}");
        assert_eq!(free_text(&clean), clean, "{message}");
    }
    for message in [
        "exit code 137",
        "FooBar 8005551234 is full",
        "exit status 3221225477",
        "status code 50301",
        "error code 10054 was returned",
        "port=8080 size=1048576 pid=4194304",
        "10250 is the port of the kubelet",
        "uid=0f7c5ae4-9a5c-4d9b-8a53-0d9cf0a2a3c1",
    ] {
        assert_eq!(free_text(message), message);
    }
}

#[test]
fn only_the_account_of_git_servers_is_kept_in_a_url() {
    for (url, secret) in [
        ("ssh://git@hunter2@github.com/acme/mesh", "hunter2"),
        ("ssh://git:hunter2@github.com/acme/mesh", "hunter2"),
        ("ssh://hunter2@github.com/acme/mesh", "hunter2"),
        ("https://git@github.com/acme/mesh", "git@"),
    ] {
        let clean = free_text(url).into_owned();
        assert!(!clean.contains(secret), "{url}: {clean}");
    }
}

/// Objects keep their uid, so messages keep it behind each spelling of its name. Behind other words, such a token may be a key.
#[test]
fn uids_of_objects_are_kept_in_every_spelling() {
    const UID: &str = "0f7c5ae4-9a5c-4d9b-8a53-0d9cf0a2a3c1";
    for before in [
        "uid=",
        "uid:",
        "uid: ",
        "uid ",
        "UID ",
        "UID: ",
        "UID=",
        "Uid: ",
        "pod UID ",
        "pod uid: ",
        "podUID=",
        "podUID: ",
        "pod_uid=",
        "pod.uid=",
        "poduid: ",
        "object.uid=",
        "involvedObject.uid: ",
        "metadata.uid=",
        "ownerUID=",
        "owner uid ",
        "\"uid\":\"",
        "uid=\"",
        "UID \"",
        "with uid '",
        "UID (",
    ] {
        let quote = match before.chars().last() {
            Some('(') => ")",
            Some('"') => "\"",
            Some('\'') => "'",
            _ => "",
        };
        let message = format!("{before}{UID}{quote}");
        assert_eq!(free_text(&message), message);
    }
    for before in ["key ", "apikey=", "token: ", "name=", "id=", "ownerkey=", "id ", "guid=", "liquid ", ""] {
        let clean = free_text(&format!("{before}{UID}")).into_owned();
        assert!(!clean.contains(UID), "{before}: {clean}");
    }
}

#[test]
fn redacted_knowledge_texts_match_their_rows() {
    let knowledge = Knowledge::embedded();
    for row in knowledge.mesh_logs().rows() {
        let clean = free_text(&row.example);
        assert!(row.matches(&clean), "{}: {}\n{clean}", row.id, row.example);
    }
    for row in knowledge.signatures().rows() {
        let clean = free_text(&row.example);
        assert!(row.matches(&clean), "{}: {}\n{clean}", row.id, row.example);
    }
}

#[test]
fn free_text_redaction_is_idempotent() {
    for text in [
        "password: hunter2, user app",
        "NetworkReady=false reason:NetworkPluginNotReady",
        "&{User:app Password:hunter2 Host:db}",
        "token:\n  hunter2\nnext",
        "key=\"a b\" and 'c'",
    ] {
        let once = free_text(text).into_owned();
        assert!(!once.contains("hunter2"), "{once}");
        assert_eq!(free_text(&once), once, "{text}");
    }
}

#[test]
fn long_texts_and_broken_markers_end() {
    let line = "Readiness probe failed: Get \"http://10.42.0.9:4191/live\": password=\"x y\" {a=b,c=d} (z)\n";
    _ = free_text(&line.repeat(20_000));
    _ = free_text(&"a".repeat(1_000_000));
    _ = free_text(&"a=\"".repeat(100_000));
    _ = free_text(&"password=\"a ".repeat(50_000));
    for text in ["REDACTED(y", "x REDACTED(y", "a REDACTED()", "REDACTED(len=)", "REDACTED(len=x)", "x(REDACTED("] {
        assert!(!free_text(text).is_empty(), "{text}");
    }
    assert_eq!(free_text("pods are REDACTED(len=12)"), "pods are REDACTED(len=12)");
}

/// Real messages of Kubernetes, CNI plugins, admission policies, cert-manager, GitOps tools and Linkerd: the cause is in
/// any part of them, so they lose none.
#[test]
fn messages_of_programs_lose_no_word() {
    let lost = include_str!("messages.txt").lines().filter_map(|line| {
        let message = line.replace("\\n", "\n");
        let clean = free_text(&message);
        (clean != message).then(|| format!("{message}\n    -> {clean}"))
    });
    let lost: Vec<String> = lost.collect();
    assert!(lost.is_empty(), "{}:\n{}", lost.len(), lost.join("\n"));
}
