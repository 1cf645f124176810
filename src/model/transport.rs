//! How proxies come to each other: at the port of the other proxy, or at that of its application.

use crate::chart::values::Values;

/// Where a proxy takes connections unless it is told otherwise.
pub const INBOUND: u16 = 4143;
/// Where the chart's values say in which mode proxies connect.
pub const MODE: &str = "proxy.outboundTransportMode";
/// The mode in which they connect to the port of the other proxy, and name the application's in a header.
pub const HEADER: &str = "transport-header";

/// What the chart's values say of the mode; `None` where they leave it to the release.
pub fn written(values: &Values) -> Option<&str> {
    values.text(MODE)
}

/// Whether the chart's values say that proxies always come to each other's own port.
pub fn by_header(values: &Values) -> bool {
    written(values) == Some(HEADER)
}
