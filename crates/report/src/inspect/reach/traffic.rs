//! How the proxies of both ends handle the bytes of a connection, by the side that sends first.

use crate::inspect::steps::Condition;
use crate::knowledge::Calls;
use crate::model::policy::{Protocol, Spoken};

/// The kind of traffic, as far as proxies distinguish it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traffic {
    /// HTTP/1.
    Http1,
    /// HTTP/2, gRPC with it.
    Http2,
    /// Another protocol, in which the client sends the first byte.
    ClientFirst,
    /// Another protocol, in which the server sends the first byte.
    ServerFirst,
}

impl Traffic {
    /// Every kind.
    pub const ALL: [Traffic; 4] = [Traffic::Http1, Traffic::Http2, Traffic::ClientFirst, Traffic::ServerFirst];

    /// As a clause after "if" or "unless".
    const fn clause(self) -> &'static str {
        match self {
            Traffic::Http1 => "it is HTTP/1",
            Traffic::Http2 => "it is HTTP/2",
            Traffic::ClientFirst => "the client speaks first in another protocol",
            Traffic::ServerFirst => "the server speaks first",
        }
    }

    /// As a noun.
    const fn name(self) -> &'static str {
        match self {
            Traffic::Http1 => "HTTP/1",
            Traffic::Http2 => "HTTP/2",
            Traffic::ClientFirst => "protocols in which the client speaks first",
            Traffic::ServerFirst => "protocols in which the server speaks first",
        }
    }
}

/// Known facts about the called port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CalledPort<'a> {
    /// The Server that sets its protocol.
    pub(super) server: Option<&'a str>,
    /// The protocol that its number or name belongs to, if the server speaks first in it.
    pub(super) server_first: Option<&'a str>,
}

/// How the proxies treat a connection. An end without a proxy, or whose proxy does not see the port, is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ends {
    /// The client's proxy.
    pub(super) client: Option<Spoken>,
    /// The server's proxy.
    pub(super) server: Option<Protocol>,
    /// Whether the client's proxy announces no protocol to the server's, because the pod's port is opaque.
    pub(super) unannounced: bool,
}

/// What happens to a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Its bytes flow.
    Flows,
    /// They flow after protocol detection has given up.
    Delayed,
    /// It fails, and how.
    Fails(&'static str),
    /// Not measured.
    Unknown,
}

const CLOSED: &str = "closed without a byte after protocol detection";
const BAD_REQUEST: &str = "answered with HTTP 400";
/// Between proxies, a Server that declares HTTP accepts only connections that are announced as such.
const DENIED: &str = "denied, since the pod's port is opaque and its Server declares HTTP";

/// The conclusion about a connection, and the traffic for which it works.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Conclusion {
    /// The whole sentence.
    pub(super) says: String,
    /// The result for the requested traffic; the best of several kinds.
    pub(super) fate: TrafficFate,
    /// The condition on the traffic if some of it fails.
    pub(super) condition: Option<Condition>,
}

/// Whether bytes get through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TrafficFate {
    /// They do.
    Flows,
    /// Not measured.
    Unknown,
    /// They do not.
    Fails,
}

impl Ends {
    /// The result for traffic of one kind, or of each if the kind is unknown.
    pub(super) fn evaluate(
        self,
        traffic: Option<Traffic>,
        called: CalledPort<'_>,
        calls: &Calls,
    ) -> Option<Conclusion> {
        let how = self.describe()?;
        let asked: Vec<Traffic> = traffic.map_or_else(|| Traffic::ALL.to_vec(), |one| vec![one]);
        let fates: Vec<(Traffic, Fate)> = asked.iter().map(|&one| (one, self.fate(one))).collect();
        let says = match traffic {
            Some(_) => in_full(how, &fates, calls),
            None => in_short(how, &fates, called, calls),
        };
        let known = |fate: Fate| match fate {
            Fate::Flows | Fate::Delayed => TrafficFate::Flows,
            Fate::Unknown => TrafficFate::Unknown,
            Fate::Fails(_) => TrafficFate::Fails,
        };
        let fate = fates.iter().map(|(_, fate)| known(*fate)).min().unwrap_or(TrafficFate::Unknown);
        Some(Conclusion { says, fate, condition: condition(&fates).filter(|_| fate == TrafficFate::Flows) })
    }

    /// How each proxy treats the port.
    fn describe(self) -> Option<String> {
        let client = self.client.map(|spoken| match spoken {
            Spoken::Detect => "detects the protocol",
            Spoken::Http1 => "expects HTTP/1",
            Spoken::Http2 => "expects HTTP/2",
            Spoken::Grpc => "expects gRPC",
            Spoken::Tls => "expects TLS",
            Spoken::Opaque => "treats the port as opaque",
            Spoken::Refused => "refuses the port",
        });
        let server = self.server.map(|protocol| match protocol {
            Protocol::Detect => "detects the protocol",
            Protocol::Http1 => "expects HTTP/1",
            Protocol::Http2 => "expects HTTP/2",
            Protocol::Grpc => "expects gRPC",
            Protocol::Opaque => "treats the port as opaque",
            Protocol::Tls => "expects TLS",
        });
        Some(match (client, server) {
            (None, None) => return None,
            (Some(client), None) => format!("the client's proxy {client}"),
            (None, Some(server)) => format!("the server's proxy {server}"),
            (Some(client), Some(server)) if client == server => format!("the proxy of each end {client}"),
            (Some(client), Some(server)) => format!("the client's proxy {client}, the server's {server}"),
        })
    }

    fn fate(self, traffic: Traffic) -> Fate {
        match self.client {
            None => unmeshed(self.server, traffic),
            Some(client) => match (by_client(client, traffic), self.by_server(client, traffic)) {
                (Fate::Fails(how), _) | (_, Fate::Fails(how)) => Fate::Fails(how),
                (Fate::Unknown, _) | (_, Fate::Unknown) => Fate::Unknown,
                (Fate::Delayed, _) | (_, Fate::Delayed) => Fate::Delayed,
                (Fate::Flows, Fate::Flows) => Fate::Flows,
            },
        }
    }

    /// The result of the server's proxy for traffic from a client's proxy, which announces traffic that is not
    /// HTTP, so nothing is detected.
    fn by_server(self, client: Spoken, traffic: Traffic) -> Fate {
        let is_http = matches!(traffic, Traffic::Http1 | Traffic::Http2);
        match self.server {
            None | Some(Protocol::Detect | Protocol::Opaque | Protocol::Tls) => Fate::Flows,
            Some(Protocol::Http1 | Protocol::Http2 | Protocol::Grpc) if self.unannounced => Fate::Fails(DENIED),
            // Between proxies HTTP/1 is carried in HTTP/2.
            Some(Protocol::Http1 | Protocol::Http2) if is_http && client != Spoken::Opaque => Fate::Flows,
            Some(Protocol::Grpc) if traffic == Traffic::Http2 && client != Spoken::Opaque => Fate::Flows,
            Some(Protocol::Http1) if !is_http => Fate::Fails(CLOSED),
            Some(Protocol::Http1 | Protocol::Http2 | Protocol::Grpc) => Fate::Unknown,
        }
    }
}

/// How the proxies treat the port, and the result for traffic of one kind.
fn in_full(how: String, fates: &[(Traffic, Fate)], calls: &Calls) -> String {
    let seconds = calls.detection_seconds;
    let mut says = how;
    for (one, fate) in fates {
        let clause = one.clause();
        match fate {
            Fate::Delayed => says.push_str(&format!("; if {clause}, it begins after {seconds} seconds")),
            Fate::Fails(how) => {
                let after = format!("after {seconds} seconds");
                let how = how.replace("after protocol detection", &after);
                says.push_str(&format!("; if {clause}, the connection is {how}"));
            }
            Fate::Unknown => says.push_str(&format!("; the result if {clause} is not known")),
            Fate::Flows => {}
        }
    }
    says
}

/// The protocols that work, if others fail. The effect of a server that speaks first is stated only for ports
/// of such protocols.
fn in_short(how: String, fates: &[(Traffic, Fate)], called: CalledPort<'_>, calls: &Calls) -> String {
    let of = |holds: fn(Fate) -> bool| -> Vec<Traffic> {
        fates.iter().filter(|(_, fate)| holds(*fate)).map(|(traffic, _)| *traffic).collect()
    };
    let works = of(|fate| matches!(fate, Fate::Flows | Fate::Delayed));
    let fails = of(|fate| matches!(fate, Fate::Fails(_)));
    let unknown = of(|fate| fate == Fate::Unknown);
    let names = |list: &[Traffic]| list.iter().map(|one| one.name()).collect::<Vec<_>>().join(" and ");
    let mut says = if fails.is_empty() || fails == [Traffic::ServerFirst] || works.is_empty() {
        how
    } else {
        let by = called.server.map_or(how, |server| format!("Server {server}"));
        format!("{} ({by}); other protocols fail", names(&works))
    };
    if !unknown.is_empty() {
        says.push_str(&format!("; not known: {}", names(&unknown)));
    }
    if let Some(protocol) = called.server_first {
        let delayed = fates.contains(&(Traffic::ServerFirst, Fate::Delayed));
        if delayed {
            let seconds = calls.detection_seconds;
            says.push_str(&format!("; {protocol}, in which the server speaks first, begins after {seconds} seconds"));
        } else if fails.contains(&Traffic::ServerFirst) {
            says.push_str(&format!("; {protocol} fails, since the server speaks first"));
        }
    }
    says
}

/// The result of the client's proxy alone.
fn by_client(client: Spoken, traffic: Traffic) -> Fate {
    match (client, traffic) {
        (Spoken::Opaque, _) => Fate::Flows,
        (Spoken::Detect, Traffic::ServerFirst) => Fate::Delayed,
        (Spoken::Detect, _) => Fate::Flows,
        (Spoken::Http1, Traffic::Http1) => Fate::Flows,
        (Spoken::Http1, Traffic::ClientFirst) => Fate::Fails(BAD_REQUEST),
        (Spoken::Http1, Traffic::ServerFirst) => Fate::Fails("held without a byte"),
        (Spoken::Http2 | Spoken::Grpc, Traffic::Http2) => Fate::Flows,
        (Spoken::Http2, Traffic::Http1) => Fate::Fails("reset"),
        (Spoken::Http2, Traffic::ClientFirst | Traffic::ServerFirst) => Fate::Fails("answered with frames of HTTP/2"),
        (Spoken::Refused, _) => Fate::Fails("reset"),
        (Spoken::Http1 | Spoken::Grpc | Spoken::Tls, _) => Fate::Unknown,
    }
}

/// The result of the server's proxy for a connection without a client proxy: it looks for TLS first.
fn unmeshed(server: Option<Protocol>, traffic: Traffic) -> Fate {
    match (server, traffic) {
        (None | Some(Protocol::Opaque), _) => Fate::Flows,
        (Some(Protocol::Detect | Protocol::Http1), Traffic::ServerFirst) => Fate::Fails(CLOSED),
        (Some(Protocol::Detect), _) | (Some(Protocol::Http1), Traffic::Http1) => Fate::Flows,
        (Some(Protocol::Http1), Traffic::ClientFirst) => Fate::Fails(BAD_REQUEST),
        (Some(Protocol::Http2 | Protocol::Grpc), Traffic::Http2) => Fate::Flows,
        (Some(_), _) => Fate::Unknown,
    }
}

/// The condition on the traffic if some of it fails: the shorter list of working or failing kinds. If the
/// result of some is not known, the working ones.
fn condition(fates: &[(Traffic, Fate)]) -> Option<Condition> {
    let of = |holds: fn(&Fate) -> bool| {
        let those = fates.iter().filter(|(_, fate)| holds(fate));
        those.map(|(traffic, _)| traffic.clause()).collect::<Vec<_>>()
    };
    let fails = of(|fate| matches!(fate, Fate::Fails(_)));
    let works = of(|fate| matches!(fate, Fate::Flows | Fate::Delayed));
    if works.len() + fails.len() < fates.len() && !works.is_empty() {
        return Some(Condition::If(works.join(" or ")));
    }
    match (fails.is_empty(), fails.len() <= works.len()) {
        (true, _) => None,
        (false, true) => Some(Condition::Unless(fails.join(" or "))),
        (false, false) => Some(Condition::If(works.join(" or "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::Knowledge;

    /// Outcomes that were measured with proxies of edge-26.8.3.
    #[test]
    fn measured_outcomes() {
        use Protocol as S;
        use Spoken as C;
        use Traffic::{ClientFirst, Http1, ServerFirst};
        for (client, server, traffic, fate) in [
            (Some(C::Detect), Some(S::Detect), ServerFirst, Fate::Delayed),
            (None, Some(S::Detect), ServerFirst, Fate::Fails(CLOSED)),
            (Some(C::Opaque), Some(S::Detect), ServerFirst, Fate::Flows),
            (Some(C::Detect), Some(S::Http1), ServerFirst, Fate::Fails(CLOSED)),
            (None, Some(S::Http1), ClientFirst, Fate::Fails(BAD_REQUEST)),
            (Some(C::Http1), Some(S::Detect), ServerFirst, Fate::Fails("held without a byte")),
            (Some(C::Http2), Some(S::Detect), Http1, Fate::Fails("reset")),
            (Some(C::Detect), Some(S::Opaque), Http1, Fate::Flows),
            (Some(C::Detect), None, ServerFirst, Fate::Delayed),
            (None, Some(S::Opaque), ServerFirst, Fate::Flows),
        ] {
            assert_eq!(
                Ends { client, server, unannounced: false }.fate(traffic),
                fate,
                "{client:?} {server:?} {traffic:?}"
            );
        }
    }

    /// By `check_authorized` in the proxy's `inbound/src/policy/tcp.rs`.
    #[test]
    fn servers_of_http_deny_what_is_not_announced() {
        for server in [Protocol::Http1, Protocol::Http2, Protocol::Grpc] {
            for client in [Some(Spoken::Detect), Some(Spoken::Opaque), None] {
                let ends = Ends { client, server: Some(server), unannounced: true };
                let denied = Fate::Fails(DENIED);
                assert_eq!(ends.fate(Traffic::Http2) == denied, client.is_some(), "{client:?} {server:?}");
            }
        }
        let ends = Ends { client: Some(Spoken::Detect), server: Some(Protocol::Opaque), unannounced: true };
        assert_eq!(ends.fate(Traffic::Http1), Fate::Flows);
    }

    #[test]
    fn condition_names_the_shorter_side() {
        let calls = Knowledge::embedded().calls();
        let said =
            |client, server| Ends { client, server, unannounced: false }.evaluate(None, CalledPort::default(), calls);
        let condition = |client, server| said(client, server).and_then(|said| said.condition);
        assert_eq!(said(None, None), None);
        assert_eq!(condition(Some(Spoken::Detect), Some(Protocol::Detect)), None);
        let plain = condition(None, Some(Protocol::Detect));
        assert_eq!(plain, Some(Condition::Unless("the server speaks first".to_owned())));
        let h2c = condition(Some(Spoken::Http2), Some(Protocol::Detect));
        assert_eq!(h2c, Some(Condition::If("it is HTTP/2".to_owned())));
        // The result of other protocols is not known.
        let hinted = condition(Some(Spoken::Detect), Some(Protocol::Http2));
        assert_eq!(hinted, Some(Condition::If("it is HTTP/1 or it is HTTP/2".to_owned())));
    }

    #[test]
    fn row_names_the_protocols_that_work() {
        let calls = Knowledge::embedded().calls();
        let says = |client, server, called| {
            Ends { client, server, unannounced: false }
                .evaluate(None, called, calls)
                .map(|said| said.says)
                .unwrap_or_default()
        };
        let called = CalledPort { server: Some("api-http"), server_first: None };
        assert_eq!(
            says(None, Some(Protocol::Http1), called),
            "HTTP/1 (Server api-http); other protocols fail; not known: HTTP/2"
        );
        assert_eq!(
            says(Some(Spoken::Detect), Some(Protocol::Http1), called),
            "HTTP/1 and HTTP/2 (Server api-http); other protocols fail"
        );
        let detect = says(None, Some(Protocol::Detect), CalledPort::default());
        assert_eq!(detect, "the server's proxy detects the protocol");
        let mysql = CalledPort { server: None, server_first: Some("MySQL") };
        assert!(says(None, Some(Protocol::Detect), mysql).ends_with("MySQL fails, since the server speaks first"));
        let both = says(Some(Spoken::Detect), Some(Protocol::Detect), mysql);
        assert!(both.ends_with("MySQL, in which the server speaks first, begins after 10 seconds"), "{both}");
    }
}
