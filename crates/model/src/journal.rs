//! The journals of nodes: failed CNI ADDs of linkerd-cni, and iptables errors at the same time. Journals
//! contain lines of every plugin and the runtime, so this file also decides which lines belong to
//! linkerd-cni. Signatures interpret the lines.

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp, civil};

use crate::finding::Evidence;
use crate::knowledge::{Knowledge, Signature, SignatureScope};

/// Maximum time between a failed ADD and the iptables error that caused it.
const TOGETHER: SignedDuration = SignedDuration::from_mins(2);
/// Maximum number of quoted characters of a line.
const QUOTED: usize = 300;

/// Signatures of the runtime, as opposed to calls of linkerd-cni.
pub const OF_RUNTIME: [&str; 2] = ["no-network-config", "config-skipped"];

/// The lines of one journal.
#[derive(Debug, Clone, Copy)]
pub struct Journal<'a> {
    pub node: &'a str,
    /// Its lines, oldest first.
    pub lines: &'a [String],
}

/// A line of a journal.
#[derive(Debug, Clone, Copy)]
pub struct JournalLine<'a> {
    pub node: &'a str,
    /// The line as written.
    pub line: &'a str,
    /// Its time, if it has one.
    pub at: Option<Timestamp>,
}

impl JournalLine<'_> {
    /// The line as evidence.
    pub fn evidence(&self) -> Evidence {
        let line = self.line.trim();
        let cut = line.char_indices().nth(QUOTED).map(|(at, _)| at);
        let said = cut.map_or_else(|| line.to_owned(), |at| format!("{}…", &line[..at]));
        Evidence::other(format!("node {}, journal", self.node), said)
    }
}

/// A failed CNI ADD of linkerd-cni.
#[derive(Debug, Clone)]
pub struct JournalAddFailure<'a> {
    /// The line with the error.
    pub line: JournalLine<'a>,
    /// Namespace, name and uid of the pod; the uid is empty if the line has none.
    pub pod: (String, String, String),
    /// The plugin's error.
    pub error: String,
    /// The meaning of the error.
    pub signature: Option<&'a Signature>,
}

impl<'a> Journal<'a> {
    fn read(&self, now: Timestamp) -> impl Iterator<Item = JournalLine<'a>> {
        let node = self.node;
        self.lines.iter().map(move |line| JournalLine { node, line, at: time_of(line, now) })
    }

    /// The failed ADDs of pods that the lines name. `now` supplies the year of times without one.
    pub fn add_failures(&self, knowledge: &'a Knowledge, now: Timestamp) -> Vec<JournalAddFailure<'a>> {
        let candidates = self.read(now).filter(|read| read.line.contains("linkerd-cni"));
        candidates
            .filter_map(|line| {
                let text = plain(line.line);
                let failure = knowledge.signatures().match_add_failure(&text)?;
                let error = without_rest_of_line(failure.answer).to_owned();
                Some(JournalAddFailure { line, pod: pod_of(&text)?, signature: failure.signature, error })
            })
            .collect()
    }

    /// The last line with a signature that `wanted` accepts.
    pub fn last(
        &self,
        knowledge: &'a Knowledge,
        now: Timestamp,
        wanted: impl Fn(&Signature, Option<Timestamp>) -> bool,
    ) -> Option<(JournalLine<'a>, &'a Signature)> {
        let mut lines: Vec<JournalLine<'a>> = self.read(now).collect();
        lines.reverse();
        lines.into_iter().find_map(|line| {
            let text = plain(line.line);
            let row = knowledge.signatures().matching(SignatureScope::Journal, &text)?;
            (!names_another_plugin(&text) && wanted(row, line.at)).then_some((line, row))
        })
    }

    /// The iptables error that caused an ADD to fail: the last such line, close in time if both have times.
    pub fn iptables_error_near(
        &self,
        knowledge: &'a Knowledge,
        now: Timestamp,
        failed: Option<Timestamp>,
    ) -> Option<(JournalLine<'a>, &'a Signature)> {
        self.last(knowledge, now, |row, at| {
            let near = match (at, failed) {
                (Some(at), Some(failed)) => failed.duration_since(at).abs() <= TOGETHER,
                _ => true,
            };
            near && !OF_RUNTIME.contains(&row.id.as_str())
        })
    }
}

/// The line without escapes of the quotes around a message.
fn plain(line: &str) -> Cow<'_, str> {
    if line.contains('\\') { Cow::Owned(line.replace("\\\\", "\\").replace("\\\"", "\"")) } else { line.into() }
}

/// Removes the fields after the message of a structured line.
fn without_rest_of_line(answer: &str) -> &str {
    let ends = ["\" pod=", "\" id=", "\" name=", "\" podUID="].into_iter().filter_map(|end| answer.find(end));
    let answer = ends.min().map_or(answer, |at| &answer[..at]);
    // The closing quote of the message, as opposed to one inside of it.
    let unpaired = answer.matches('"').count() % 2 == 1;
    answer.strip_suffix('"').filter(|_| unpaired).unwrap_or(answer).trim_end()
}

fn names_another_plugin(text: &str) -> bool {
    text.match_indices("plugin type=\"").any(|(at, piece)| {
        let name = text[at + piece.len()..].split('"').next().unwrap_or_default();
        name != "linkerd-cni"
    })
}

/// The pod of a line, as containerd, the kubelet and CRI-O write it.
fn pod_of(text: &str) -> Option<(String, String, String)> {
    let between = |start: &str, end: &[char]| {
        let at = text.find(start)? + start.len();
        let rest = &text[at..];
        Some(rest[..rest.find(end)?].to_owned())
    };
    if text.contains("PodSandboxMetadata{") {
        let uid = between("Uid:", &[',', '}']).unwrap_or_default();
        return Some((between("Namespace:", &[',', '}'])?, between("{Name:", &[',', '}'])?, uid));
    }
    if let Some(pod) = between(" pod=\"", &['"']) {
        let (namespace, name) = pod.split_once('/')?;
        let uid = between("podUID=\"", &['"']).unwrap_or_default();
        return Some((namespace.to_owned(), name.to_owned(), uid));
    }
    let pod = between("error adding pod ", &[' '])?;
    let (namespace, name) = pod.split_once('_')?;
    Some((namespace.to_owned(), name.to_owned(), String::new()))
}

/// When a line was written: its own time, else the journal's. A time without a zone counts as UTC, the
/// usual zone of nodes.
fn time_of(line: &str, now: Timestamp) -> Option<Timestamp> {
    let own = line.find("time=\"").map(|at| &line[at + "time=\"".len()..]);
    if let Some(time) = own.and_then(|rest| rest.split('"').next()?.parse().ok()) {
        return Some(time);
    }
    let first = line.split_whitespace().next()?;
    if let Ok(time) = first.parse() {
        return Some(time);
    }
    // `Jan 15 11:58:00` has no year: the last such time that is not in the future.
    let mut words = line.split_whitespace();
    let (month, day, clock) = (words.next()?, words.next()?, words.next()?);
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = i8::try_from(months.iter().position(|name| *name == month)? + 1).ok()?;
    let clock: civil::Time = clock.parse().ok()?;
    let utc = jiff::tz::TimeZone::UTC;
    let year = now.to_zoned(utc.clone()).year();
    let in_year = |year: i16| {
        let date = civil::Date::new(year, month, day.parse().ok()?).ok()?;
        Some(date.to_datetime(clock).to_zoned(utc.clone()).ok()?.timestamp())
    };
    let tomorrow = now.checked_add(SignedDuration::from_hours(24)).ok()?;
    in_year(year).filter(|time| *time <= tomorrow).or_else(|| in_year(year - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-01-15T12:00:00Z";
    const CONTAINERD: &str = r#"Jan 15 11:58:01 n1 containerd[812]: time="2026-01-15T11:58:00.5Z" level=error msg="RunPodSandbox for &PodSandboxMetadata{Name:web-1,Uid:u1,Namespace:shop,Attempt:3,} failed, error" error="failed to setup network for sandbox \"4c1f\": plugin type=\"linkerd-cni\" name=\"aws-cni\" failed (add): Get \"https://10.96.0.1:443/api/v1/namespaces/shop/pods/web-1\": Forbidden""#;
    const KUBELET: &str = r#"Jan 15 11:58:01 n1 kubelet[900]: E0115 11:58:01.1 900 pod_workers.go:1301] "Error syncing pod, skipping" err="failed to \"CreatePodSandbox\" for \"web-1_shop(u1)\" with CreatePodSandboxError: \"Failed to create sandbox for pod: plugin type=\\\"linkerd-cni\\\" name=\\\"x\\\" failed (add): exit status 4\"" pod="shop/web-1" podUID="u1""#;
    const CRIO: &str = r#"Jan 15 11:58:01 n1 crio[7]: time="2026-01-15 11:58:01.2Z" level=error msg="error adding pod shop_web-1 to CNI network \"cilium\": plugin type=\"linkerd-cni\" name=\"cilium\" failed (add): Unauthorized""#;

    fn now() -> Timestamp {
        NOW.parse().expect("a time")
    }

    fn parse(lines: &[&str]) -> Vec<(String, String, Option<String>, bool)> {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let journal = Journal { node: "n1", lines: &lines };
        journal
            .add_failures(Knowledge::embedded(), now())
            .into_iter()
            .map(|r| {
                let (namespace, name, _) = &r.pod;
                (format!("{namespace}/{name}"), r.error, r.signature.map(|s| s.id.clone()), r.line.at.is_some())
            })
            .collect()
    }

    #[test]
    fn failures_of_containerd_kubelet_and_crio_are_parsed() {
        let pod = || "shop/web-1".to_owned();
        let found = parse(&[CONTAINERD, KUBELET, CRIO]);
        let forbidden = "Get \"https://10.96.0.1:443/api/v1/namespaces/shop/pods/web-1\": Forbidden";
        assert_eq!(found[0], (pod(), forbidden.to_owned(), Some("proxy-forbidden".to_owned()), true));
        assert_eq!(found[1].2.as_deref(), Some("exit-4"), "{found:?}");
        assert_eq!(found[2], (pod(), "Unauthorized".to_owned(), Some("unauthorized".to_owned()), true));
    }

    #[test]
    fn lines_of_other_plugins_are_ignored() {
        let aws = CONTAINERD.replace("linkerd-cni", "aws-cni");
        let istio = CRIO.replace("linkerd-cni", "istio-cni");
        assert_eq!(parse(&[&aws, &istio, "linkerd-cni: Unauthorized", ""]), []);
        let lines =
            [r#"plugin type=\"portmap\" failed (add): iptables: No chain/target/match by that name."#.to_owned()];
        let journal = Journal { node: "n1", lines: &lines };
        assert!(journal.iptables_error_near(Knowledge::embedded(), now(), None).is_none());
    }

    #[test]
    fn iptables_error_counts_only_near_the_failure() {
        let lines =
            ["2026-01-15T11:30:00Z n1 containerd[1]: Another app is currently holding the xtables lock.".to_owned()];
        let journal = Journal { node: "n1", lines: &lines };
        let near = |at: &str| {
            let found = journal.iptables_error_near(Knowledge::embedded(), now(), at.parse().ok());
            found.map(|(_, row)| row.id.as_str())
        };
        assert_eq!(near("2026-01-15T11:30:30Z"), Some("lock-held"));
        assert_eq!(near("2026-01-15T11:58:00Z"), None);
    }

    #[test]
    fn times_without_a_year_are_in_the_past() {
        let at = |line: &str| time_of(line, now()).map(|time| time.to_string());
        assert_eq!(at("Jan 15 11:58:00 n1 x").as_deref(), Some("2026-01-15T11:58:00Z"));
        assert_eq!(at("Dec 31 23:00:00 n1 x").as_deref(), Some("2025-12-31T23:00:00Z"));
        assert_eq!(at("2026-01-15T11:58:00+0000 n1 x").as_deref(), Some("2026-01-15T11:58:00Z"));
        assert_eq!(at("nothing here"), None);
    }

    proptest::proptest! {
        #[test]
        fn failures_contain_only_text_of_their_line(line in "(time=\"|plugin type=\\\\?\"linkerd-cni\\\\?\"| failed \\(add\\):|PodSandboxMetadata\\{Name:| pod=\"|Uid:|error adding pod |Jan |é|\\\\|\"|.){0,14}") {
            let lines = [line];
            let journal = Journal { node: "n", lines: &lines };
            for failure in journal.add_failures(Knowledge::embedded(), now()) {
                let (namespace, name, uid) = &failure.pod;
                let named = [namespace, name, uid].iter().all(|part| failure.line.line.contains(part.as_str()));
                proptest::prop_assert!(named && failure.line.line.contains("linkerd-cni"), "{failure:?}");
            }
            let error = journal.iptables_error_near(Knowledge::embedded(), now(), None);
            proptest::prop_assert!(error.is_none_or(|(_, row)| !OF_RUNTIME.contains(&row.id.as_str())));
        }
    }
}
