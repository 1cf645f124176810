//! Values of a chart that a step sets in the files of an installation, such as those in Git.

/// The values that a step sets in a chart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChartSettings {
    /// Name of the chart.
    pub chart: String,
    pub settings: Vec<ChartSetting>,
}

/// A change of a chart's values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChartSetting {
    /// Sets the value at a path. With `is_text`, it stays a string even if it looks like a number.
    Value { path: String, value: String, is_text: bool },
    /// Sets the value at a path to a list: these items, and the variable that the reader sets.
    Variable { path: String, value: String, variable: &'static str },
    /// Sets the value at a path to the content of a file.
    File { path: String, file: &'static str },
    /// Adds the values of the chart for high availability.
    HighAvailability,
}

impl ChartSettings {
    /// The settings of a chart; `None` without any.
    pub fn new(chart: impl Into<String>, settings: Vec<ChartSetting>) -> Option<ChartSettings> {
        (!settings.is_empty()).then(|| ChartSettings { chart: chart.into(), settings })
    }
}
