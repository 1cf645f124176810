//! Edits of chart values where they are set: in values files, and in objects of Flux, Argo CD, k3s and kustomize. After
//! an edit, the charts are read from the edited texts again.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::documents::{documents, number_of_document};
use super::{Repairer, templates};
use crate::chart::gitops::{Installed, Text, ValueKey};
use crate::chart::values_input::{ValuesFile, ValuesInput, values_of};
use crate::cli::chart;
use crate::finding::{Finding, Fingerprint, ValueAction, ValueEdit, ValuesPlace};
use crate::knowledge::Knowledge;
use crate::render::fix::{ObjectEdit, replacements};
use crate::source::evidence::{Charts, installed, value_keys};
use crate::value_edit;
use crate::version::LinkerdVersion;

/// The charts that manifests install, and their values.
#[derive(Default)]
pub(super) struct ChartValues {
    /// Values that the manifests do not set.
    pub(super) given: Vec<ValuesInput>,
    /// The charts that the manifests install.
    pub(super) installed: Vec<Installed>,
    pub(super) texts: Charts,
    /// The release of charts without a version.
    pub(super) release: Option<LinkerdVersion>,
}

impl ChartValues {
    /// The texts with edited files.
    fn texts(&self, edits: &BTreeMap<String, String>) -> Vec<Text> {
        let with_edit = |mut text: Text| {
            if let Some(edited) = edits.get(&text.name) {
                text.text.clone_from(edited);
            }
            text
        };
        self.texts.read().into_iter().map(with_edit).collect()
    }

    /// The keys of Linkerd in the values of edited files.
    pub(super) fn keys(&self, edits: &BTreeMap<String, String>) -> Vec<ValueKey> {
        value_keys(&self.texts(edits))
    }

    /// The values with edited files.
    fn edited(&self, edits: &BTreeMap<String, String>) -> Vec<ValuesInput> {
        let texts = self.texts(edits);
        let release = (false, self.release.as_ref());
        let (values, _) = chart::of_manifests(installed(&texts), release, Knowledge::embedded());
        self.given.iter().map(|one| of_files(one, edits)).chain(values).collect()
    }
}

/// The values of files with edits.
fn of_files(given: &ValuesInput, edits: &BTreeMap<String, String>) -> ValuesInput {
    let files = given.files.iter().filter_map(|file| match edits.get(&file.name) {
        Some(text) => ValuesFile::read(&file.name, text).ok(),
        None => Some(file.clone()),
    });
    ValuesInput { files: files.collect(), ..given.clone() }
}

/// The findings that are the same problem as a finding, also in other places: it is one of them.
fn same<'f>(finding: &Finding, all: &'f [Finding]) -> Vec<&'f Finding> {
    let prints = |finding: &Finding| -> BTreeSet<Fingerprint> {
        finding.subjects.iter().map(|subject| finding.subject_fingerprint(subject)).collect()
    };
    let own = prints(finding);
    all.iter().filter(|other| other.check == finding.check && !prints(other).is_disjoint(&own)).collect()
}

/// The edits of chart values that findings about the same problem need.
fn edits<'f>(findings: &[&'f Finding]) -> BTreeSet<&'f ValueEdit> {
    let steps = findings.iter().flat_map(|finding| &finding.remedy.steps);
    steps.filter_map(|step| step.value.as_ref()).flat_map(|value| &value.edits).collect()
}

/// Whether an installation takes a value from the place of an edit.
fn takes(installed: &Installed, edit: &ValueEdit) -> bool {
    let keys: Vec<&str> = edit.keys.iter().map(String::as_str).collect();
    installed.files.iter().any(|file| {
        let place = file.edit(&keys, ValueAction::Remove).map(|own| own.place);
        place.as_ref() == Some(&edit.place) && file.leaves().iter().any(|leaf| leaf.names.starts_with(&keys))
    })
}

impl Repairer<'_> {
    /// Edits the values that a finding is about, and returns the charts' values with the edits; `None` if it is not
    /// about values that can be edited.
    pub(super) fn values_of(
        &mut self,
        finding: &Finding,
        texts: &mut BTreeMap<String, String>,
        alone: &mut Vec<ObjectEdit>,
        edited: &mut Vec<String>,
    ) -> Result<Option<Vec<ValuesInput>>, String> {
        let judged = self.judged;
        let findings = same(finding, &judged.report.findings);
        let edits = edits(&findings);
        if edits.is_empty() {
            return Ok(None);
        }
        if let Some(other) = edits.iter().find_map(|edit| self.other_reader(edit, &findings)) {
            return Err(format!("{other} takes the same value without this finding, or in another release"));
        }
        for edit in &edits {
            self.value(edit, texts)?;
        }
        let own = self.value_edits(&edits);
        for ValuesPlace { file, line, .. } in edits.iter().map(|edit| &edit.place) {
            let of_file = own.iter().filter(|edit| edit.file == *file);
            // The first line of the edit, in the file as it is; that of the value if another edit comes first.
            let changed = of_file.flat_map(|edit| &edit.replacements).find_map(|one| one.changed);
            edited.push(format!("{file}:{}", changed.unwrap_or(*line)));
        }
        alone.extend(own);
        let values = judged.charts.edited(texts);
        // Values that can no longer be read would have no finding either.
        let files = |values: &[ValuesInput]| values.iter().map(|one| one.files.len()).collect::<Vec<_>>();
        if files(&values) != files(&self.values) {
            return Err("the values cannot be read after the edit".to_owned());
        }
        Ok(Some(values))
    }

    /// An installation that takes the value of an edit without the same problem, or with another release, for which the
    /// value may be right.
    fn other_reader(&self, edit: &ValueEdit, findings: &[&Finding]) -> Option<&str> {
        let readers: Vec<&Installed> = self.judged.charts.installed.iter().filter(|one| takes(one, edit)).collect();
        let subjects: BTreeSet<String> =
            findings.iter().flat_map(|finding| &finding.subjects).map(ToString::to_string).collect();
        let release = |one: &Installed| (one.chart.clone(), one.version.as_ref().map(|(_, text)| text.clone()));
        let is_same = |one: &&Installed| {
            subjects.contains(&values_of(&one.chart, Some(&one.object)))
                && readers.first().is_some_and(|first| release(first) == release(one))
        };
        readers.iter().copied().find(|one| !is_same(one)).map(|one| one.object.as_str())
    }

    /// The edits of a finding in the files as they are; none if they need the edit of another finding.
    fn value_edits(&mut self, edits: &BTreeSet<&ValueEdit>) -> Vec<ObjectEdit> {
        let mut texts = BTreeMap::new();
        if edits.iter().any(|edit| self.value(edit, &mut texts).is_err()) {
            return Vec::new();
        }
        let of_file = |(file, new): (String, String)| {
            let object = edits.iter().find(|edit| edit.place.file == file)?.place.object.clone();
            let replacements = replacements(&self.repair.files.get(&file)?.old, &new);
            Some(ObjectEdit { object, file, replacements })
        };
        texts.into_iter().filter_map(of_file).collect()
    }

    /// Edits a value in its document.
    fn value(&mut self, edit: &ValueEdit, texts: &mut BTreeMap<String, String>) -> Result<(), String> {
        let ValuesPlace { file, line, .. } = &edit.place;
        let mut text = self.text(file, texts)?;
        let number = self.repair.files.get(file).map_or(0, |read| number_of_document(&read.old, *line));
        let at = |why: String| format!("{file}:{line}: {why}");
        let range: Range<usize> =
            documents(&text).into_iter().nth(number).ok_or_else(|| at("the document is missing".to_owned()))?;
        let document = &text[range.clone()];
        // A values file may have such a comment too.
        let rendered = document.lines().find_map(|line| line.strip_prefix("# Source:"));
        if let Some(source) = rendered.filter(|_| !edit.place.path.is_empty()) {
            return Err(format!("{file}: the file is rendered from {}; edit it there", source.trim()));
        }
        let document = templates::edited(document, |text| value_edit::changed(text, edit)).map_err(at)?;
        text.replace_range(range, &document);
        texts.insert(file.clone(), text);
        Ok(())
    }
}
