//! Settings of the control plane that a step changes.

use super::charts::CONTROL_PLANE;
use super::current_certificates::KeptCertificates;
use super::guard::IssuerWritten;
use super::stored;
use crate::command::{Arg, helm_set};
use crate::finding::{ChartSetting, ChartSettings};
use crate::knowledge::Knowledge;
use crate::version::LinkerdVersion;

/// The part of the installation to change.
#[derive(Debug, Clone, Default)]
pub(in crate::checks) struct Options<'a> {
    /// Chart values by their path, and the variable that the reader sets to the rest of one.
    pub(super) values: Vec<(&'a str, String, Option<&'static str>)>,
    /// Chart values that are read from files: the CLI's option, the path, the file.
    pub(super) files: Vec<(&'static str, &'static str, &'static str)>,
    /// Whether the CLI always skips its verification of proxies.
    pub(super) forced: bool,
    /// Whether every proxy has been restarted by then.
    pub(super) after_restarts: bool,
    /// Whether steps before it make the installation store the current certificates.
    pub(super) stores_current: bool,
    /// Whether to pass the chart's values for high availability.
    pub(super) ha: bool,
    /// The file to which a step before it writes the current trust anchors.
    pub(super) bundle: Option<&'static str>,
    /// What it keeps by setting the current certificates.
    pub(super) kept: KeptCertificates,
    /// What to change in the stored values first, because the CLI refuses them before it applies any option.
    pub(super) stored_first: Option<String>,
}

/// The chart values of the issuer.
pub(super) const CERTIFICATE: &str = "identity.issuer.tls.crtPEM";

pub(super) const KEY: &str = "identity.issuer.tls.keyPEM";

/// The CLI's option for the issuer's key.
pub(super) const KEY_OPTION: &str = "--identity-issuer-key-file";

impl<'a> Options<'a> {
    /// Nothing: the manifests are applied again with the current values.
    pub(in crate::checks) fn none() -> Options<'a> {
        Options::default()
    }

    /// Sets a value of the chart.
    pub(in crate::checks) fn set(mut self, path: &'a str, value: impl Into<String>) -> Options<'a> {
        self.values.push((path, value.into(), None));
        self
    }

    /// Sets a value of the chart to a list of these items and the value of a variable that the reader sets.
    pub(in crate::checks) fn set_with(mut self, path: &'a str, these: String, variable: &'static str) -> Options<'a> {
        self.values.push((path, these, Some(variable)));
        self
    }

    /// The values as arguments of `--set`; `within` is the path of the values in the chart.
    pub(super) fn settings<'s>(&'s self, within: impl Fn(&str) -> String + 's) -> impl Iterator<Item = Arg> + 's {
        self.values.iter().map(move |(path, value, more)| {
            let set = helm_set(&within(path), value);
            match more {
                None => Arg::from(set),
                Some(variable) if value.is_empty() => Arg::from(set).then(Arg::placeholder(variable)),
                Some(variable) => Arg::from(format!("{set}\\,")).then(Arg::placeholder(variable)),
            }
        })
    }

    /// Sets a value of the chart to the content of a file; `option` is the CLI's flag for it.
    pub(in crate::checks) fn file(
        mut self,
        option: &'static str,
        path: &'static str,
        file: &'static str,
    ) -> Options<'a> {
        self.files.push((option, path, file));
        self
    }

    /// Sets the issuer to the certificate and key of these files.
    pub(in crate::checks) fn pair(self, certificate: &'static str, key: &'static str) -> Options<'a> {
        self.file("--identity-issuer-certificate-file", CERTIFICATE, certificate).file(KEY_OPTION, KEY, key)
    }

    /// Sets the trust anchors to the bundle of a file.
    pub(in crate::checks) fn anchors(self, bundle: &'static str) -> Options<'a> {
        self.file("--identity-trust-anchors-file", stored::ANCHORS, bundle)
    }

    /// For values that `linkerd upgrade` refuses as it reads the stored ones, before its options: there they are
    /// changed in the stored values (`words`: imperative, without the file).
    pub(in crate::checks) fn stored_first(mut self, words: impl Into<String>) -> Options<'a> {
        self.stored_first = Some(words.into());
        self
    }

    /// For a step after one that writes the current trust anchors to a file.
    pub(in crate::checks) fn with_bundle_in(mut self, file: &'static str) -> Options<'a> {
        self.bundle = Some(file);
        self
    }

    /// Makes the CLI always skip its verification of proxies.
    pub(in crate::checks) fn forced(mut self) -> Options<'a> {
        self.forced = true;
        self
    }

    /// For a step after the restart of every proxy, when none has other trust anchors.
    pub(in crate::checks) fn after_restarts(mut self) -> Options<'a> {
        self.after_restarts = true;
        self
    }

    /// For a step after others of the same remedy that restart every proxy and put the current certificates in place
    /// with the tool that installed Linkerd.
    pub(in crate::checks) fn in_rotation(mut self) -> Options<'a> {
        self.stores_current = true;
        self.after_restarts()
    }

    /// Whether it sets a value to the content of a file.
    pub(super) fn sets(&self, path: &str) -> bool {
        self.files.iter().any(|(_, set, _)| *set == path)
    }

    /// The issuer that it writes.
    pub(super) fn issuer(&self) -> IssuerWritten {
        match self.sets(CERTIFICATE) && !self.kept.issuer {
            true => IssuerWritten::New,
            false => IssuerWritten::Kept,
        }
    }

    /// The values for high availability.
    pub(in crate::checks) fn ha(mut self) -> Options<'a> {
        self.ha = true;
        self
    }

    /// The settings of the control plane's chart of a release, for values files.
    pub(super) fn chart_settings(
        &self,
        knowledge: &Knowledge,
        version: Option<&LinkerdVersion>,
    ) -> Option<ChartSettings> {
        let origin = version.and_then(|version| knowledge.channels().origin(version));
        let chart = origin.and_then(|origin| origin.chart(CONTROL_PLANE.0)).unwrap_or(CONTROL_PLANE.0);
        let within = |path: &str| origin.map_or_else(|| path.to_owned(), |origin| origin.value(CONTROL_PLANE.0, path));
        let values = self.values.iter().map(|(path, value, more)| match more {
            None => ChartSetting::Value { path: within(path), value: value.clone(), is_text: false },
            Some(variable) => ChartSetting::Variable { path: within(path), value: value.clone(), variable },
        });
        let files = self.files.iter().map(|(_, path, file)| ChartSetting::File { path: within(path), file });
        let ha = self.ha.then_some(ChartSetting::HighAvailability);
        ChartSettings::new(chart, values.chain(files).chain(ha).collect())
    }

    /// The settings as text, for changes elsewhere: `clusterNetworks=10.0.0.0/8; identityTrustAnchorsPEM from
    /// bundle.crt`.
    pub(super) fn describe(&self) -> Option<String> {
        let values = self.values.iter().map(|(path, value, more)| match more {
            None => format!("{path}={value}"),
            Some(variable) => format!("{path}={value} and {variable}"),
        });
        let files = self.files.iter().map(|(_, path, file)| format!("{path} from {file}"));
        let ha = self.ha.then(|| "the values of values-ha.yaml".to_owned());
        let all: Vec<String> = values.chain(files).chain(ha).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}
