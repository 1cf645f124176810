//! A proxy in front of the API server: forwards everything unchanged, except for answers that a test
//! replaces.
//!
//! It presents a server of another version (a real server refuses to be more than three minors older than it
//! is), and lets a test act between two pages of a list. It speaks plain HTTP, on 127.0.0.1 only.

use std::convert::Infallible;
use std::sync::Arc;

use http::request::Parts;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::api::connect;

/// Looks at a request before it is passed on; `Some` is answered instead. May block.
pub type Rule = dyn Fn(&Parts) -> Option<(u16, Value)> + Send + Sync;

/// A running front; it ends when the value is dropped.
pub struct Front {
    pub url: String,
    // Dropping the runtime ends every connection.
    _runtime: Runtime,
}

impl Front {
    /// Starts one before the server at `url`.
    pub fn start(url: &str, authority: &str, rule: Arc<Rule>) -> Front {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let behind = {
            let _inside = runtime.enter();
            // The user and the accepted encodings are in the forwarded headers.
            connect(url, Some(authority.as_bytes()), None)
        };
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        runtime.spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                let (behind, rule) = (behind.clone(), Arc::clone(&rule));
                let service =
                    hyper::service::service_fn(move |request| answer(request, behind.clone(), Arc::clone(&rule)));
                tokio::spawn(async move {
                    // A client that disconnects is not an error.
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(connection), service)
                        .await;
                });
            }
        });
        Front { url, _runtime: runtime }
    }
}

/// The rule for a server that reports `version`.
pub fn presenting(version: &str) -> Arc<Rule> {
    let numbers: Vec<_> = version.trim_start_matches('v').splitn(3, '.').map(str::to_owned).collect();
    let info = json!({
        "major": numbers[0],
        "minor": numbers[1],
        "gitVersion": version,
        "gitTreeState": "clean",
        "compiler": "gc",
        "platform": "linux/amd64",
    });
    Arc::new(move |request| (request.uri.path() == "/version").then(|| (200, info.clone())))
}

async fn answer(
    request: Request<Incoming>,
    behind: kube::Client,
    rule: Arc<Rule>,
) -> Result<Response<Body>, Infallible> {
    let (parts, body) = request.into_parts();
    // Rules may talk to servers themselves, so they run where blocking is allowed.
    let asked = parts.clone();
    let ruled = tokio::task::spawn_blocking(move || rule(&asked)).await.unwrap_or_default();
    if let Some((status, body)) = ruled {
        return Ok(response(status, &body));
    }
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let passed = Request::from_parts(parts, Body::from(body.to_vec()));
    Ok(behind.send(passed).await.unwrap_or_else(|error| response(502, &json!(error.to_string()))))
}

fn response(status: u16, body: &Value) -> Response<Body> {
    let response = Response::builder().status(status).header("content-type", "application/json");
    response.body(Body::from(body.to_string().into_bytes())).unwrap()
}
