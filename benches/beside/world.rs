//! A cluster of the requested size: the install of one CLI, and Deployments of ten pods injected by that CLI,
//! each with a Service, on as many simulated nodes as needed.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::binaries::kubernetes_version;
use crate::harness::kubeconfig::{ADMIN, write_kubeconfig};
use crate::harness::linkerd_cli::LinkerdCli;
use crate::harness::{Cluster, Options, print_line};

/// Pods of one Deployment.
const REPLICAS: usize = 10;
/// Namespaces with Deployments.
const NAMESPACES: usize = 20;
/// Pods on one node.
const DENSITY: usize = 100;

/// The workload that is injected once and then written many times.
const WORKLOAD: &str = r#"
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Service
metadata: {name: app, namespace: shop}
spec:
  selector: {app: app}
  ports: [{name: http, port: 80, targetPort: 8080}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: shop}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      containers:
      - name: app
        image: registry.example/app
        ports: [{name: http, containerPort: 8080}]
        env: [{name: MODE, value: production}]
        resources: {requests: {cpu: 10m, memory: 32Mi}}
"#;

/// Starts such a cluster; `None`, with a message, on a machine that cannot run one.
pub fn cluster(cli: &LinkerdCli, pods: usize, folder: &Path) -> Option<Cluster> {
    let mut cluster = Cluster::start(Options::played().kept_as_protobuf())?;
    cluster.add_nodes(pods.div_ceil(DENSITY) + 3, &kubernetes_version());
    let kubeconfig = folder.join("kubeconfig");
    write_kubeconfig(&kubeconfig, &[("bench", cluster.context(ADMIN))]);
    let workload = folder.join("workload.yaml");
    std::fs::write(&workload, WORKLOAD).unwrap();
    let installed = cluster.install_with(cli, &kubeconfig, &workload);
    let of_shop = |object: &&Value| object["metadata"]["namespace"] == "shop";
    let shop: Vec<&Value> = installed.objects.iter().filter(of_shop).collect();

    let apps = pods.div_ceil(REPLICAS);
    print_line(&format!("{apps} Deployments of {REPLICAS} pods; that takes minutes"));
    for number in 0..NAMESPACES.min(apps) {
        let name = namespace(number);
        cluster.api.create(&json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } }));
    }
    for number in 0..apps {
        for object in &shop {
            cluster.api.create(&copy(object, number));
        }
    }
    let mut said = 0;
    cluster.wait(Duration::from_secs(1800), |api| {
        std::thread::sleep(Duration::from_secs(2));
        let deployments = api.list("/apis/apps/v1/deployments");
        let ready = deployments.iter().filter_map(|one| one["status"]["availableReplicas"].as_u64()).sum::<u64>();
        if ready > said + 1000 {
            said = ready;
            print_line(&format!("{ready} pods run"));
        }
        let wanted = apps * REPLICAS;
        if ready as usize >= wanted { Ok(()) } else { Err(format!("{ready} of {wanted} pods run")) }
    });
    Some(cluster)
}

fn namespace(number: usize) -> String {
    format!("shop-{:02}", number % NAMESPACES)
}

/// The workload again, under another name and in another namespace.
fn copy(object: &Value, number: usize) -> Value {
    let name = format!("app-{number:04}");
    let mut object = object.clone();
    object["metadata"]["name"] = json!(name);
    object["metadata"]["namespace"] = json!(namespace(number));
    if object["kind"] == "Service" {
        object["spec"]["selector"] = json!({ "app": name });
        return object;
    }
    object["spec"]["replicas"] = json!(REPLICAS);
    object["spec"]["selector"] = json!({ "matchLabels": { "app": name } });
    let labels = &mut object["spec"]["template"]["metadata"]["labels"];
    labels["app"] = json!(name);
    labels["linkerd.io/proxy-deployment"] = json!(name);
    labels["linkerd.io/workload-ns"] = json!(namespace(number));
    object
}
