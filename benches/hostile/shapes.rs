//! The shapes: texts and archives of a given approximate size that are as expensive as possible to read.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, Header};

/// One of them.
pub struct Shape {
    /// In the table.
    pub name: &'static str,
    /// Name of the file.
    pub file: &'static str,
    /// Creates one of about this many bytes.
    pub make: fn(usize) -> Vec<u8>,
}

const fn json(name: &'static str, make: fn(usize) -> Vec<u8>) -> Shape {
    Shape { name, file: "x.json", make }
}

const fn yaml(name: &'static str, make: fn(usize) -> Vec<u8>) -> Shape {
    Shape { name, file: "x.yaml", make }
}

/// Instead of a file: a folder with a small file for each byte that is made.
pub const FOLDER: &str = "x.d";

/// All of them.
pub const SHAPES: &[Shape] = &[
    json("json: empty items", |n| list("List", n, |_| "{}".to_owned())),
    json("json: items that are numbers", |n| list("PodList", n, |_| "1".to_owned())),
    json("json: pods without a name", |n| list("PodList", n, |_| r#"{"metadata":{}}"#.to_owned())),
    json("json: items without a kind", |n| list("List", n, |at| meta(&format!("x{at}"), ""))),
    json("json: names that are refused", |n| list("PodList", n, |at| meta(&format!("X{at}"), ""))),
    json("json: lists of one broken item", |n| {
        filled(n, |_| r#"{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{}},1]}"#.to_owned())
    }),
    json("json: one object many times", |n| list("PodList", n, |_| meta("web", ""))),
    json("json: pods", |n| {
        list("PodList", n, |at| {
            meta(&format!("web-{at}"), r#","spec":{"containers":[{"name":"a"},{"name":"linkerd-proxy"}]}"#)
        })
    }),
    json("json: events of one pod", |n| {
        list("EventList", n, |at| {
            meta(
                &format!("e{at}"),
                r#","reason":"FailedCreatePodSandBox","message":"plugin type=\"linkerd-cni\" failed (add): Unauthorized","involvedObject":{"kind":"Pod","namespace":"shop","name":"web"}"#,
            )
        })
    }),
    json("json: events of many pods", |n| {
        list("EventList", n, |at| {
            meta(
                &format!("e{at}"),
                &format!(
                    r#","reason":"FailedCreatePodSandBox","message":"plugin type=\"linkerd-cni\" failed (add): Unauthorized","involvedObject":{{"kind":"Pod","namespace":"shop","name":"web-{at}"}}"#
                ),
            )
        })
    }),
    json("json: namespaces", |n| {
        list("NamespaceList", n, |at| {
            format!(
                r#"{{"metadata":{{"name":"n{at}","annotations":{{"linkerd.io/inject":"enabled"}},"labels":{{"linkerd.io/extension":"viz"}}}}}}"#
            )
        })
    }),
    json("json: nodes", |n| {
        list("NodeList", n, |at| {
            format!(
                r#"{{"metadata":{{"name":"n{at}"}},"status":{{"nodeInfo":{{"kubeletVersion":"v1.31.{at}"}}}}}}"#
            )
        })
    }),
    json("json: services", |n| {
        list("ServiceList", n, |at| {
            meta(&format!("s{at}"), r#","spec":{"selector":{"app":"x"},"ports":[{"port":80}]}"#)
        })
    }),
    json("json: links", |n| {
        list_of("multicluster.linkerd.io/v1alpha2", "LinkList", n, |at| {
            meta(
                &format!("l{at}"),
                &format!(r#","spec":{{"targetClusterName":"c{at}","clusterCredentialsSecret":"s{at}"}}"#),
            )
        })
    }),
    json("json: annotations of one namespace", |n| {
        let many = joined(n, |at| format!(r#""config.linkerd.io/proxy-cpu-limt{at}":"1""#));
        format!(r#"{{"kind":"Namespace","apiVersion":"v1","metadata":{{"name":"shop","annotations":{{{many}}}}}}}"#).into_bytes()
    }),
    json("json: containers of one pod", |n| {
        let many = joined(n, |at| format!(r#"{{"name":"linkerd-proxy{at}"}}"#));
        pod(&format!(r#""containers":[{many}]"#))
    }),
    json("json: opaque ports", |n| {
        let many = (0..n / 6).map(|at| (at % 65536).to_string()).collect::<Vec<_>>().join(",");
        format!(r#"{{"kind":"Namespace","apiVersion":"v1","metadata":{{"name":"shop","annotations":{{"config.linkerd.io/opaque-ports":"{many}"}}}}}}"#).into_bytes()
    }),
    json("json: owners in a row", |n| {
        list_of("apps/v1", "ReplicaSetList", n, |at| {
            format!(
                r#"{{"metadata":{{"name":"r{at}","namespace":"shop","uid":"u{at}","ownerReferences":[{{"kind":"ReplicaSet","name":"r{}","uid":"u{}","controller":true}}]}}}}"#,
                at + 1,
                at + 1
            )
        })
    }),
    json("json: webhooks of one configuration", |n| {
        let many = joined(n, |at| {
            format!(
                r#"{{"name":"w{at}.linkerd.io","clientConfig":{{"service":{{"name":"x","namespace":"linkerd"}}}}}}"#
            )
        });
        format!(r#"{{"kind":"MutatingWebhookConfiguration","apiVersion":"admissionregistration.k8s.io/v1","metadata":{{"name":"linkerd-proxy-injector-webhook-config"}},"webhooks":[{many}]}}"#).into_bytes()
    }),
    json("json: rules of one role", |n| {
        let many = joined(n, |_| r#"{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}"#.to_owned());
        format!(r#"{{"kind":"ClusterRole","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{{"name":"linkerd-linkerd-identity"}},"rules":[{many}]}}"#).into_bytes()
    }),
    json("json: values of linkerd-config, deep", |n| config(&format!("a: {}", "[".repeat(n)))),
    json("json: values of linkerd-config, wide", |n| config(&format!("a: [{}]", "[],".repeat(n / 3)))),
    json("json: trust anchors that are none", |n| {
        let many = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n".repeat(n / 60);
        configmap("linkerd-identity-trust-roots", "ca-bundle.crt", &many)
    }),
    json("json: values that look like tokens", |n| {
        let many = "eyJhbGciOiJub25lIn0.eyJhIjoxfQ.c2ln ".repeat(n / 36);
        list("EventList", 1, |_| meta("e", &format!(r#","message":"{many}""#)))
    }),
    json("json: base64 of anything", |n| {
        let many = "QUJD".repeat(n / 4);
        list("EventList", 1, |_| meta("e", &format!(r#","message":"{many}""#)))
    }),
    json("json: brackets", |n| b"[".repeat(n)),
    json("json: documents of nothing", |n| b"{\"a\":1}\n".repeat(n / 8)),
    yaml("yaml: brackets", |n| format!("a: {}\n", "[".repeat(n)).into_bytes()),
    yaml("yaml: braces", |n| format!("a: {}\n", "{a: ".repeat(n / 4)).into_bytes()),
    yaml("yaml: brackets that close", |n| {
        format!("a: {}{}\n", "[".repeat(n / 2), "]".repeat(n / 2)).into_bytes()
    }),
    yaml("yaml: a hundred deep, again and again", |n| {
        let one = format!("- {}{}\n", "[".repeat(100), "]".repeat(100));
        format!("a:\n{}", one.repeat(n / one.len())).into_bytes()
    }),
    yaml("yaml: dashes", |n| "- ".repeat(n / 2).into_bytes()),
    yaml("yaml: aliases", |n| {
        format!("a: &a [{}]\nb: [{}]\n", "1,".repeat(n / 4), "*a,".repeat(n / 6)).into_bytes()
    }),
    yaml("yaml: directives", |n| format!("{}---\na: 1\n", "%TAG !a! x\n".repeat(n / 11)).into_bytes()),
    yaml("yaml: empty items", |n| {
        format!("apiVersion: v1\nkind: List\nitems:\n{}", "- {}\n".repeat(n / 5)).into_bytes()
    }),
    yaml("yaml: items that are numbers", |n| {
        format!("apiVersion: v1\nkind: List\nitems:\n{}", "- 1\n".repeat(n / 4)).into_bytes()
    }),
    yaml("yaml: broken documents", |n| "a: 1\nb: [\n---\n".repeat(n / 14).into_bytes()),
    yaml("yaml: documents of nothing", |n| "a: 1\n---\n".repeat(n / 9).into_bytes()),
    yaml("yaml: documents that are pods", |n| {
        filled(n, |at| {
            format!(
                "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: web-{at}, namespace: shop}}\nspec: {{}}"
            )
        })
    }),
    yaml("yaml: pods", |n| {
        let items =
            filled(n, |at| format!("- metadata:\n    name: web-{at}\n    namespace: shop\n  spec: {{}}"));
        [&b"apiVersion: v1\nkind: PodList\nitems:\n"[..], &items].concat()
    }),
    yaml("yaml: keys", |n| filled(n, |at| format!("k{at}: 1"))),
    Shape {
        name: "tar.gz: empty files",
        file: "x.tar.gz",
        make: |n| packed(n, 45, |at| format!("d/{at:06}.json"), b""),
    },
    Shape {
        name: "tar.gz: files of nothing",
        file: "x.tar.gz",
        make: |n| packed(n, 60, |at| format!("d/{at:06}.json"), b"{}"),
    },
    Shape {
        name: "tar.gz: manifests",
        file: "x.tar.gz",
        make: |n| {
            packed(n, 75, |at| format!("d{at:06}/manifest.json"), br#"{"schema":"meshdoctor.bundle/1"}"#)
        },
    },
    Shape {
        name: "tar.gz: a hundred thousand a MB",
        file: "x.tar.gz",
        make: |n| packed(n, 10, |at| format!("d/{at:07}.txt"), b"junk"),
    },
    Shape { name: "folder: junk", file: FOLDER, make: |n| vec![b'x'; n / 40] },
    Shape { name: "gzip: a bomb of blanks", file: "x.gz", make: bomb },
];

/// Writes a shape of about this many bytes to a path.
pub fn write(shape: &Shape, bytes: usize, path: &Path) -> io::Result<()> {
    let made = (shape.make)(bytes);
    if shape.file != FOLDER {
        return fs::write(path, made);
    }
    // Recreated, so that files of a larger size do not count.
    if path.exists() {
        fs::remove_dir_all(path)?;
    }
    fs::create_dir(path)?;
    (0..made.len()).try_for_each(|at| fs::write(path.join(format!("{at:07}.json")), b"{\"a\": 1}\n"))
}

fn filled(bytes: usize, mut item: impl FnMut(usize) -> String) -> Vec<u8> {
    let mut text = String::new();
    let mut at = 0;
    while text.len() < bytes {
        text.push_str(&item(at));
        text.push('\n');
        at += 1;
    }
    text.into_bytes()
}

fn joined(bytes: usize, item: impl FnMut(usize) -> String) -> String {
    let text = String::from_utf8(filled(bytes, item)).unwrap_or_default();
    text.trim_end().replace('\n', ",\n")
}

fn list_of(version: &str, kind: &str, bytes: usize, item: impl FnMut(usize) -> String) -> Vec<u8> {
    let items = joined(bytes, item);
    format!("{{\"kind\":\"{kind}\",\"apiVersion\":\"{version}\",\"items\":[\n{items}\n]}}").into_bytes()
}

fn list(kind: &str, bytes: usize, item: impl FnMut(usize) -> String) -> Vec<u8> {
    list_of("v1", kind, bytes, item)
}

/// An object of the namespace `shop`; `more` begins with a comma.
fn meta(name: &str, more: &str) -> String {
    format!(r#"{{"metadata":{{"name":"{name}","namespace":"shop"}}{more}}}"#)
}

fn pod(spec: &str) -> Vec<u8> {
    format!(r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"web","namespace":"shop"}},"spec":{{{spec}}}}}"#)
        .into_bytes()
}

fn configmap(name: &str, key: &str, value: &str) -> Vec<u8> {
    let label = serde_json::json!({"linkerd.io/control-plane-component": "destination", "linkerd.io/control-plane-ns": "linkerd"});
    let items = serde_json::json!([
        {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name, "namespace": "linkerd"}, "data": {key: value}},
        {"kind": "Deployment", "apiVersion": "apps/v1",
         "metadata": {"name": "linkerd-destination", "namespace": "linkerd", "labels": label}},
    ]);
    serde_json::json!({"kind": "List", "apiVersion": "v1", "items": items}).to_string().into_bytes()
}

fn config(values: &str) -> Vec<u8> {
    configmap("linkerd-config", "values", values)
}

/// An archive of about `bytes` bytes, made of files that take `each` bytes.
fn packed(bytes: usize, each: usize, name: impl Fn(usize) -> String, content: &[u8]) -> Vec<u8> {
    let mut tar = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for at in 0..bytes / each {
        let mut header = Header::new_gnu();
        header.set_size(content.len() as u64);
        // Memory takes whatever it is given.
        let _ = tar.append_data(&mut header, name(at), content);
    }
    tar.into_inner().and_then(GzEncoder::finish).unwrap_or_default()
}

fn bomb(bytes: usize) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    let blanks = vec![b' '; 1 << 20];
    let _ = gzip.write_all(b"{\"kind\":\"List\",\"items\":[");
    for _ in 0..bytes / 1020 {
        let _ = gzip.write_all(&blanks);
    }
    gzip.finish().unwrap_or_default()
}
