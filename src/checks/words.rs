//! Words that many findings use.

use std::fmt::Display;

use crate::objects::Meta;

/// The first of many: `a, b, c and 4 more`.
pub(super) fn some<T: Display>(all: impl IntoIterator<Item = T>, most: usize) -> String {
    let mut all = all.into_iter();
    let shown: Vec<String> = all.by_ref().take(most).map(|one| one.to_string()).collect();
    format!("{}{}", shown.join(", "), and_more(all.count()))
}

/// What follows the first of many: ` and 4 more`, and nothing where none is left.
pub(super) fn and_more(left: usize) -> String {
    if left > 0 { format!(" and {left} more") } else { String::new() }
}

/// A number of things, of which `one` is the word for one: `1 request`, `3 requests`.
pub(super) fn counted(number: u64, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

/// The text with a capital first letter.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The steps of a remedy in release data, which semicolons separate.
pub(super) fn each_step(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split("; ").filter(|step| !step.is_empty()).map(sentence)
}

/// The name of a pod's Deployment or other owner, or of the pod, with its namespace. Read from the pod alone.
pub(super) fn workload_of(meta: &Meta) -> String {
    let owner = meta.owner_references.iter().find(|owner| owner.controller == Some(true));
    let name = owner.map_or(meta.name.as_str(), |owner| owner.name.as_str());
    let hash = meta.label("pod-template-hash").map(|hash| format!("-{hash}"));
    let name = hash.and_then(|hash| name.strip_suffix(&hash)).unwrap_or(name);
    format!("{}/{name}", meta.namespace)
}

/// Words of messages about one proxy, and those for several.
const OF_PROXIES: [(&str, &str); 25] = [
    ("The proxy's certificate has expired and was", "The proxies' certificates have expired and were"),
    ("other proxies reject it", "other proxies reject them"),
    ("no other proxy accepts it", "no other proxy accepts them"),
    ("never had a certificate", "never had certificates"),
    ("The proxy has", "The proxies have"),
    ("The proxy is", "The proxies are"),
    ("The proxy was", "The proxies were"),
    ("The proxy lacks its identity token, so it gets", "The proxies lack their identity tokens, so they get"),
    ("The proxy belongs", "The proxies belong"),
    ("The proxy looks up", "The proxies look up"),
    ("The proxy expects", "The proxies expect"),
    ("control plane, and rejects its", "control plane, and reject its"),
    ("The proxy", "The proxies"),
    ("it gets no new", "they get no new"),
    ("and its certificate is not renewed", "and their certificates are not renewed"),
    ("it works while", "they work while"),
    ("it rejects certificates", "they reject certificates"),
    ("its own is rejected", "their own are rejected"),
    ("it is upgraded when its pod is created again", "they are upgraded when their pods are created again"),
    ("it may request", "they may request"),
    ("it discovers no endpoints, so its calls hang", "they discover no endpoints, so their calls hang"),
    ("it gets no policies, so its calls hang", "they get no policies, so their calls hang"),
    ("it gets no certificate, and its pod does not become", "they get no certificate, and their pods do not become"),
    ("of its pod: its anchors", "of their pods: their anchors"),
    ("The proxies's", "The proxies'"),
];

/// A message about one proxy in the words for several.
pub(super) fn of_proxies(message: &str) -> String {
    let message = sentence(message);
    OF_PROXIES.iter().fold(message, |text, (one, several)| text.replace(one, several))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_about_a_proxy_have_a_plural() {
        let one = "the proxy belongs to a control plane that no longer exists: it gets no new endpoints and policies, \
            and its certificate is not renewed";
        let several = "The proxies belong to a control plane that no longer exists: they get no new endpoints and \
            policies, and their certificates are not renewed";
        assert_eq!(of_proxies(one), several);
        let one = "the proxy has an outdated bundle of trust anchors: it works while other proxies' certificates chain";
        let several = "The proxies have an outdated bundle of trust anchors: they work while other proxies' \
         certificates chain";
        assert_eq!(of_proxies(one), several);
    }
}
