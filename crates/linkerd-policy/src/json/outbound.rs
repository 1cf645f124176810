//! The policy of a call in the form in which the controller sends it to the client's proxy.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::outbound::{
    Accrual, Backend, Destination, GrpcStatus, Outbound, OutboundRoute, OutboundRule, Parent, Penalty, Retry, RetryOn,
    Spoken, Timeouts,
};
use super::super::routes::RouteKind;
use super::route::{host, matched, modified, one, put, redirected};
use super::{DETECT_TIMEOUT, GROUP};
use crate::objects::RouteFilter;

/// One answer, with Service names in `cluster_domain`.
pub fn answer(outbound: &Outbound<'_>, cluster_domain: &str) -> Value {
    let writer = Writer { outbound, cluster_domain };
    json!({ "protocol": writer.protocol(), "metadata": writer.metadata() })
}

struct Writer<'o> {
    outbound: &'o Outbound<'o>,
    cluster_domain: &'o str,
}

fn duration(duration: Duration) -> Value {
    match duration.subsec_nanos() {
        0 => json!(format!("{}s", duration.as_secs())),
        nanos if nanos % 1_000_000 == 0 => json!(format!("{}.{:03}s", duration.as_secs(), nanos / 1_000_000)),
        nanos => json!(format!("{}.{nanos:09}s", duration.as_secs())),
    }
}

fn queue() -> Value {
    json!({"capacity": 100, "failfast_timeout": "3s"})
}

fn default(name: &str) -> Value {
    json!({ "default": name })
}

fn resource(group: &str, kind: &str, namespace: &str, name: &str, port: u16) -> Value {
    json!({"resource": {"group": group, "kind": kind, "name": name, "namespace": namespace, "port": port}})
}

fn first(backend: &Value) -> Value {
    json!({"first_available": {"backends": [{ "backend": backend }]}})
}

fn forward(metadata: &Value, address: SocketAddr, weight: u32) -> Value {
    let ip = address.ip().to_string();
    let mut to = json!({"addr": {"ip": ip, "port": address.port()}});
    if weight > 0 {
        to["weight"] = json!(weight);
    }
    json!({ "metadata": metadata, "forward": to, "queue": queue() })
}

impl Writer<'_> {
    fn metadata(&self) -> Value {
        match &self.outbound.parent {
            Parent::Service { namespace, name } => resource("core", "Service", namespace, name, self.outbound.port),
            Parent::Egress { network, .. } => {
                let meta = &network.metadata;
                resource(GROUP, "EgressNetwork", &meta.namespace, &meta.name, self.outbound.port)
            }
            Parent::Outside(_) => default("egress-fallback"),
        }
    }

    fn protocol(&self) -> Value {
        let http = || {
            let mut value = json!({ "routes": self.http_routes() });
            if let Some(accrual) = &self.outbound.accrual {
                value["failure_accrual"] = self.accrual(accrual);
            }
            value
        };
        match self.outbound.spoken {
            Spoken::Detect => {
                let opaque = json!({ "routes": [self.opaque_rest()] });
                let (http1, http2) = (http(), http());
                json!({"detect": {"timeout": DETECT_TIMEOUT, "opaque": opaque, "http1": http1, "http2": http2}})
            }
            Spoken::Http1 => json!({ "http1": http() }),
            Spoken::Http2 => json!({ "http2": http() }),
            Spoken::Grpc => json!({ "grpc": http() }),
            Spoken::Tls => json!({"tls": {"routes": self.plain_routes("tls")}}),
            Spoken::Opaque => json!({"opaque": {"routes": self.plain_routes("tcp")}}),
            Spoken::Refused => {
                let rule = json!({"backends": {"empty": {}}, "filters": [{"forbidden": {}}]});
                json!({"opaque": {"routes": [{"metadata": default("undefined-port"), "rules": [rule]}]}})
            }
        }
    }

    /// The default backend, for requests that no route sends elsewhere.
    fn backend(&self) -> Value {
        let metadata = self.metadata();
        match &self.outbound.parent {
            Parent::Service { namespace, name } => {
                let penalty = self.outbound.penalty.filter(|_| self.outbound.spoken != Spoken::Opaque);
                self.balancer(&metadata, namespace, name, self.outbound.port, penalty)
            }
            Parent::Egress { address, .. } | Parent::Outside(address) => forward(&metadata, *address, 1),
        }
    }

    fn balancer(&self, metadata: &Value, namespace: &str, name: &str, port: u16, penalty: Option<Penalty>) -> Value {
        let path = format!("{name}.{namespace}.svc.{}:{port}", self.cluster_domain);
        let mut balancer = json!({"discovery": {"dst": { "path": path }}});
        match penalty {
            None => balancer["peak_ewma"] = json!({"default_rtt": "0.030s", "decay": "10s"}),
            Some(said) => {
                balancer["penalty_peak_ewma"] = json!({
                    "default_rtt": "0.030s", "decay": "10s", "penalty": duration(said.penalty),
                    "max_retry_after": duration(said.most), "penalty_decay": "10s",
                });
            }
        }
        json!({ "metadata": metadata, "balancer": balancer, "queue": queue() })
    }

    fn denies(&self) -> bool {
        self.outbound.forbids_rest()
    }

    /// The policy of opaque connections without a route.
    fn opaque_rest(&self) -> Value {
        self.rest_of("tcp", "opaq")
    }

    fn rest_of(&self, what: &str, of_service: &str) -> Value {
        let mut rule = json!({ "backends": first(&self.backend()) });
        let name = match &self.outbound.parent {
            Parent::Service { .. } => of_service.to_owned(),
            Parent::Outside(_) => "egress-fallback".to_owned(),
            Parent::Egress { .. } if self.denies() => {
                rule["filters"] = json!([{"forbidden": {}}]);
                format!("{what}-egress-deny")
            }
            Parent::Egress { .. } => format!("{what}-egress-allow"),
        };
        json!({ "metadata": default(&name), "rules": [rule] })
    }

    fn plain_routes(&self, what: &str) -> Vec<Value> {
        let mut routes: Vec<Value> = self.outbound.routes.iter().map(|route| self.plain_route(route)).collect();
        let egress = matches!(self.outbound.parent, Parent::Egress { .. });
        if routes.is_empty() || egress && self.outbound.spoken == Spoken::Tls {
            routes.push(self.rest_of(what, "opaq"));
        }
        routes
    }

    fn plain_route(&self, route: &OutboundRoute<'_>) -> Value {
        let mut value = json!({ "metadata": self.route_metadata(route) });
        if route.kind == RouteKind::Tls {
            put(&mut value, "snis", route.route.spec.hostnames.iter().map(|name| host(name)).collect());
        }
        let rule = |rule: &OutboundRule<'_>| json!({ "backends": self.distribution(route.kind, rule) });
        put(&mut value, "rules", route.rules.iter().map(rule).collect());
        value
    }

    fn route_metadata(&self, route: &OutboundRoute<'_>) -> Value {
        let (namespace, name) = route.route.metadata.key();
        let (group, kind) = (route.kind.group(), route.kind.kind().info().kind);
        json!({"resource": {"group": group, "kind": kind, "name": name, "namespace": namespace}})
    }

    fn http_routes(&self) -> Vec<Value> {
        let mut routes: Vec<Value> = self.outbound.routes.iter().map(|route| self.http_route(route)).collect();
        let grpc = self.outbound.spoken == Spoken::Grpc;
        let mut rule = json!({ "backends": first(&self.backend()) });
        if !grpc {
            rule["matches"] = json!([{"path": {"prefix": "/"}}]);
        }
        let what = if grpc { "grpc" } else { "http" };
        let name = match &self.outbound.parent {
            Parent::Outside(_) => {
                let rule = json!({ "matches": [{}], "backends": first(&self.backend()) });
                return vec![json!({ "metadata": default("egress-fallback"), "rules": [rule] })];
            }
            Parent::Service { .. } if !routes.is_empty() => return routes,
            Parent::Service { .. } => what.to_owned(),
            Parent::Egress { .. } if self.denies() => {
                let message = "traffic not allowed";
                rule["filters"] = match grpc {
                    false => json!([{"failure_injector": {"status": 403, "message": message}}]),
                    true => json!([{"failure_injector": {"code": 7, "message": message}}]),
                };
                format!("{what}-egress-deny")
            }
            Parent::Egress { .. } => format!("{what}-egress-allow"),
        };
        self.limits(&mut rule, self.outbound.timeouts, self.outbound.retry.as_ref());
        routes.push(json!({ "metadata": default(&name), "rules": [rule] }));
        routes
    }

    fn http_route(&self, route: &OutboundRoute<'_>) -> Value {
        let mut value = json!({ "metadata": self.route_metadata(route) });
        put(&mut value, "hosts", route.route.spec.hostnames.iter().map(|name| host(name)).collect());
        let rule = |rule: &OutboundRule<'_>| {
            let mut value = json!({ "backends": self.distribution(route.kind, rule) });
            let matches = rule.rule.matches.iter().map(|said| matched(route.kind, said));
            put(&mut value, "matches", matches.collect());
            put(&mut value, "filters", rule.rule.filters.iter().filter_map(|said| filter(route.kind, said)).collect());
            self.limits(
                &mut value,
                self.outbound.timeouts_of(rule),
                rule.retry.as_ref().or(self.outbound.retry.as_ref()),
            );
            value
        };
        put(&mut value, "rules", route.rules.iter().map(rule).collect());
        value
    }

    fn limits(&self, rule: &mut Value, timeouts: Timeouts, retry: Option<&Retry>) {
        let named = [("response", timeouts.response), ("request", timeouts.request), ("idle", timeouts.idle)];
        let said = named.iter().filter_map(|(name, limit)| Some(((*name).to_owned(), duration((*limit)?))));
        rule["timeouts"] = Value::Object(said.collect());
        // Proxies of older releases read this field.
        if let Some(limit) = timeouts.request {
            rule["requestTimeout"] = duration(limit);
        }
        if let Some(retry) = retry {
            rule["retry"] = self.retry(retry);
        }
    }

    fn retry(&self, retry: &Retry) -> Value {
        let conditions = match &retry.on {
            RetryOn::Statuses(ranges) => {
                let mut value = json!({});
                let range = |(first, last): &(u16, u16)| json!({ "start": first, "end": last });
                put(&mut value, "status_ranges", ranges.iter().map(range).collect());
                value
            }
            RetryOn::Grpc(statuses) => {
                let name = |status: &GrpcStatus| match status {
                    GrpcStatus::Cancelled => "cancelled",
                    GrpcStatus::DeadlineExceeded => "deadine_exceeded",
                    GrpcStatus::ResourceExhausted => "resource_exhausted",
                    GrpcStatus::Internal => "internal",
                    GrpcStatus::Unavailable => "unavailable",
                };
                Value::Object(statuses.iter().map(|status| (name(status).to_owned(), json!(true))).collect())
            }
        };
        let backoff = json!({"min_backoff": "0.025s", "max_backoff": "0.250s", "jitter_ratio": 1.0});
        let mut value = json!({
            "max_retries": retry.limit, "max_request_bytes": 64 * 1024, "conditions": conditions, "backoff": backoff,
        });
        if let Some(limit) = retry.timeout {
            value["timeout"] = duration(limit);
        }
        value
    }

    fn accrual(&self, accrual: &Accrual) -> Value {
        let mut backoff = json!({
            "min_backoff": duration(accrual.least), "max_backoff": duration(accrual.most),
        });
        if accrual.jitter > 0.0 {
            backoff["jitter_ratio"] = json!(accrual.jitter);
        }
        match accrual.success {
            None => {
                let mut value = json!({ "backoff": backoff });
                if accrual.failures > 0 {
                    value["max_failures"] = json!(accrual.failures);
                }
                json!({ "consecutive_failures": value })
            }
            Some(rate) => {
                if self.outbound.honours_retry_after {
                    backoff["respect_retry_after_hint"] = json!(true);
                }
                let mut value = json!({ "decay": duration(rate.window), "backoff": backoff });
                for (name, number) in [("min_requests", rate.requests), ("max_consecutive_failures", accrual.failures)]
                {
                    if number > 0 {
                        value[name] = json!(number);
                    }
                }
                if rate.threshold > 0.0 {
                    value["success_rate_threshold"] = json!(rate.threshold);
                }
                json!({ "unified": value })
            }
        }
    }

    fn distribution(&self, kind: RouteKind, rule: &OutboundRule<'_>) -> Value {
        if rule.backends.is_empty() {
            return first(&self.backend());
        }
        let each: Vec<Value> = rule.backends.iter().map(|backend| self.weighted(kind, backend)).collect();
        json!({"random_available": { "backends": each }})
    }

    fn weighted(&self, kind: RouteKind, backend: &Backend<'_>) -> Value {
        let name = &backend.named.name;
        let plain = matches!(kind, RouteKind::Tls | RouteKind::Tcp);
        let filters: Vec<Value> = backend.named.filters.iter().filter_map(|said| filter(kind, said)).collect();
        let egress = |namespace: &str| {
            let port = backend.named.port.and_then(|port| u16::try_from(port).ok()).unwrap_or(self.outbound.port);
            resource(GROUP, "EgressNetwork", namespace, name, port)
        };
        let failed = |metadata: Value, message: String| {
            let mut one = json!({"backend": { "metadata": metadata, "queue": queue() }});
            one["filters"] = match (plain, kind) {
                (true, _) => json!([{"invalid": { "message": message }}]),
                (false, RouteKind::Grpc) => json!([{"failure_injector": {"code": 500, "message": message}}]),
                (false, _) => json!([{"failure_injector": {"status": 500, "message": message}}]),
            };
            one
        };
        let to = match &backend.to {
            Destination::Service { namespace, port, .. } => {
                let metadata = resource("core", "Service", namespace, name, *port);
                let penalty = self.outbound.penalty.filter(|_| !plain);
                let mut one = json!({"backend": self.balancer(&metadata, namespace, name, *port, penalty)});
                put(&mut one, "filters", filters);
                one
            }
            Destination::NoService { namespace, port } => {
                failed(resource("core", "Service", namespace, name, *port), format!("Service not found {name}"))
            }
            Destination::Egress { namespace } => {
                let address = match &self.outbound.parent {
                    Parent::Egress { address, .. } | Parent::Outside(address) => Some(*address),
                    Parent::Service { .. } => None,
                };
                match address {
                    Some(address) => {
                        let mut one = json!({"backend": forward(&egress(namespace), address, backend.weight)});
                        put(&mut one, "filters", filters);
                        one
                    }
                    None => {
                        failed(egress(namespace), "EgressNetwork can be resolved from an ip:port combo only".to_owned())
                    }
                }
            }
            Destination::NoEgress { namespace, why } => failed(egress(namespace), why.clone()),
            Destination::Invalid(why) => failed(default("invalid"), why.clone()),
        };
        let mut value = json!({ "backend": to });
        if backend.weight > 0 {
            value["weight"] = json!(backend.weight);
        }
        value
    }
}

/// A filter of a rule or of a backend.
fn filter(kind: RouteKind, said: &RouteFilter) -> Option<Value> {
    if let Some(modifier) = &said.request_header_modifier {
        return Some(one("request_header_modifier", modified(modifier)));
    }
    if let Some(modifier) = &said.response_header_modifier {
        // In Linkerd's own HTTPRoutes, a response filter modifies requests.
        let name = if kind == RouteKind::LinkerdHttp { "request_header_modifier" } else { "response_header_modifier" };
        return Some(one(name, modified(modifier)));
    }
    said.request_redirect.as_ref().map(|redirect| one("redirect", redirected(redirect)))
}
