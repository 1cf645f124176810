//! The debug container's image as requested by annotations, compared with the image that runs.

use crate::chart::values::Values;
use crate::checks::upgrade::Options;
use crate::finding::Evidence;
use crate::objects::Meta;
use crate::version::ImageRef;

/// Enables the debug container.
pub(super) const SWITCH: &str = "config.linkerd.io/enable-debug-sidecar";
/// Name of its image.
const NAME: &str = "config.linkerd.io/debug-image";
/// Tag of its image.
const TAG: &str = "config.linkerd.io/debug-image-version";

/// The image that annotations request; a part that they do not set is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) tag: Option<&'a str>,
}

/// How an image compares with the requested one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runs {
    /// The requested image, possibly from a mirror.
    Wanted,
    /// Another image.
    Another,
    /// Only the registry differs, which a mirror would also explain.
    PerhapsAnother,
}

/// The image that the chart sets, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ChartImage {
    pub(super) name: Option<String>,
    pub(super) tag: Option<String>,
}

impl ChartImage {
    pub(super) fn from_values(values: Option<&Values>) -> ChartImage {
        let text = |path: &str| values.and_then(|values| values.text(path)).map(str::to_owned);
        ChartImage {
            name: text("debugContainer.image.name"),
            tag: text("debugContainer.image.version").or_else(|| text("linkerdVersion")),
        }
    }
}

impl<'a> Wanted<'a> {
    /// The image that the annotations of a pod or template request, if any.
    pub(super) fn from_annotations(meta: &'a Meta) -> Option<Wanted<'a>> {
        let wanted = Wanted { name: meta.annotation(NAME), tag: meta.annotation(TAG) };
        (wanted.name.is_some() || wanted.tag.is_some()).then_some(wanted)
    }

    /// Compares the image of a debug container.
    pub(super) fn compare(&self, image: &str, default: &ChartImage) -> Runs {
        let Ok(image) = image.parse::<ImageRef>() else { return Runs::Wanted };
        // An image with only a digest has no tag to compare.
        if let (Some(wanted), Some(tag)) = (self.tag, &image.tag)
            && wanted != tag
        {
            return Runs::Another;
        }
        let Some(wanted) = self.name.and_then(|name| name.parse::<ImageRef>().ok()) else {
            return Runs::Wanted;
        };
        match &default.name {
            _ if wanted.path() == image.path() => Runs::Wanted,
            _ if wanted.name() != image.name() => Runs::Another,
            Some(default) if *default == image.path() => Runs::Another,
            // Neither the requested image's path nor the chart's: a mirror changed it.
            Some(_) => Runs::Wanted,
            None => Runs::PerhapsAnother,
        }
    }

    /// Whether the chart sets the same image, so that it runs in any case.
    pub(super) fn is_default(&self, default: &ChartImage) -> bool {
        let same = |wanted: Option<&str>, default: &Option<String>| {
            wanted.is_none_or(|wanted| default.as_deref() == Some(wanted))
        };
        same(self.name, &default.name) && same(self.tag, &default.tag)
    }

    /// The annotations, quoted.
    pub(super) fn evidence(&self, object: &str, path: &str) -> Vec<Evidence> {
        [(NAME, self.name), (TAG, self.tag)]
            .into_iter()
            .filter_map(|(key, value)| Some(Evidence::field(object, format!("{path}.annotations[{key}]"), value?)))
            .collect()
    }

    /// Options that set the same image in the chart.
    pub(super) fn options(&self) -> Options<'_> {
        let values = [("debugContainer.image.name", self.name), ("debugContainer.image.version", self.tag)];
        let set = values.into_iter().filter_map(|(path, text)| Some((path, text?)));
        set.fold(Options::none(), |options, (path, text)| options.set(path, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrored_image_matches_and_chart_image_differs() {
        let chart =
            ChartImage { name: Some("cr.l5d.io/linkerd/debug".to_owned()), tag: Some("edge-24.2.4".to_owned()) };
        let wanted = Wanted { name: Some("registry.corp/linkerd/debug"), tag: Some("edge-25.1.1") };
        let name = Wanted { name: wanted.name, tag: None };
        for (wanted, image, runs) in [
            (wanted, "registry.corp/linkerd/debug:edge-25.1.1", Runs::Wanted),
            (wanted, "cr.l5d.io/linkerd/debug:edge-24.2.4", Runs::Another),
            (wanted, "cr.l5d.io/linkerd/debug:edge-25.1.1", Runs::Another),
            (wanted, "mirror.corp/registry.corp/linkerd/debug:edge-25.1.1", Runs::Wanted),
            (name, "mirror.corp/x/debug:whatever", Runs::Wanted),
            (name, "cr.l5d.io/linkerd/debug@sha256:00", Runs::Another),
            (name, "mirror.corp/x/netshoot:1", Runs::Another),
        ] {
            assert_eq!(wanted.compare(image, &chart), runs, "{wanted:?} {image}");
        }
        let unknown = ChartImage::default();
        assert_eq!(name.compare("cr.l5d.io/linkerd/debug:x", &unknown), Runs::PerhapsAnother);
        assert!(Wanted { name: Some("cr.l5d.io/linkerd/debug"), tag: None }.is_default(&chart));
        assert!(!wanted.is_default(&chart));
    }
}
