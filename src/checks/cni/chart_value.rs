//! Values of linkerd-cni's chart, by their paths.

/// A value of the chart, by its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChartValue {
    pub(super) key: &'static str,
    pub(super) value: String,
    /// The chart expects a string even if the value looks like a number.
    pub(super) text: bool,
}

impl ChartValue {
    pub(super) fn new(key: &'static str, value: impl Into<String>) -> ChartValue {
        ChartValue { key, value: value.into(), text: false }
    }

    /// A value that the chart expects as a string, such as a list of ports.
    pub(super) fn text(key: &'static str, value: impl Into<String>) -> ChartValue {
        ChartValue { key, value: value.into(), text: true }
    }
}

/// The tag of the image.
pub(super) fn image_version(version: impl ToString) -> ChartValue {
    ChartValue::new("image.version", version.to_string())
}

impl std::fmt::Display for ChartValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}
