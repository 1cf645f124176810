//! How proxies connect to each other: at the other proxy's port, or at the application's port.

use crate::chart::values::Values;

/// The default port on which a proxy accepts connections.
pub const INBOUND: u16 = 4143;
/// The chart value with the mode in which proxies connect.
pub const MODE: &str = "proxy.outboundTransportMode";
/// The mode in which they connect to the other proxy's port and name the application's port in a header.
pub const HEADER: &str = "transport-header";

/// The mode in the chart's values; `None` if the release's default applies.
pub fn written(values: &Values) -> Option<&str> {
    values.text(MODE)
}

/// Whether the chart's values make proxies always connect to each other's own port.
pub fn by_header(values: &Values) -> bool {
    written(values) == Some(HEADER)
}
