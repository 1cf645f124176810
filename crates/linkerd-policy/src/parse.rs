//! Objects that the policy controller cannot read although they pass the API server's schema. The
//! consequence depends on the release.

use crate::objects::{LabelSelector, Server, ServerPort};

/// Why an object cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Broken(pub(super) String);

impl Broken {
    pub(super) fn new(why: impl Into<String>) -> Broken {
        Broken(why.into())
    }
}

/// The port of a Server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Port<'a> {
    Number(u16),
    Name(&'a str),
}

/// Reads the port of a Server.
pub(super) fn port(server: &Server) -> Result<Port<'_>, Broken> {
    match &server.spec.port {
        Some(ServerPort::Number(number)) => match u16::try_from(*number) {
            Ok(port) if port > 0 => Ok(Port::Number(port)),
            _ => Err(Broken::new(format!("{number} is not a port number"))),
        },
        Some(ServerPort::Name(name)) => Ok(Port::Name(name)),
        None => Err(Broken::new("it has no port")),
    }
}

/// Whether the controller accepts a label selector.
pub(super) fn selector(selector: &LabelSelector) -> Result<(), Broken> {
    match &selector.match_labels.no_text {
        Some(label) => Err(Broken::new(format!("the value of {label} in matchLabels must be a string, in quotes"))),
        None => Ok(()),
    }
}

/// Parses the ports of an annotation: `25,100-200`. One invalid part empties the list.
pub(super) fn ports(text: &str) -> Option<Vec<(u16, u16)>> {
    let one = |text: &str| text.trim().parse::<u16>().ok().filter(|port| *port > 0);
    let mut ranges = Vec::new();
    for part in text.split(',') {
        match part.split_once('-') {
            None if part.trim().is_empty() => {}
            None => {
                let port = one(part)?;
                ranges.push((port, port));
            }
            Some((first, last)) => {
                let (first, last) = (one(first)?, one(last)?);
                if first > last {
                    return None;
                }
                ranges.push((first, last));
            }
        }
    }
    Some(ranges)
}
