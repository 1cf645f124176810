//! The path of calls as a page: each step from the client to the destination, up to the one at which the call
//! stops.

use std::fmt::Write as _;

use super::{escaped, script, whole};
use crate::checks::words::sentence;
use crate::inspect::reach::{Outcome, Walk};
use crate::render::reach::{quoted, result, word};

/// The page for the walks of `meshdoctor reach`.
pub fn calls(walks: &[&Walk], gaps: &[String]) -> String {
    let title = match walks {
        [walk] => format!("meshdoctor: {} to {}", walk.from, walk.to),
        _ => "meshdoctor: connections between workloads".to_owned(),
    };
    let mut body = format!("<header><h1>{}</h1></header><main>", escaped(&title));
    for walk in walks {
        call(walk, gaps.is_empty(), &mut body);
    }
    body.push_str("</main>");
    if !gaps.is_empty() {
        body.push_str("<section><h2>Not checked</h2><ul>");
        gaps.iter().for_each(|gap| _ = write!(body, "<li>{}</li>", escaped(gap)));
        body.push_str("</ul></section>");
    }
    whole(&title, &body)
}

/// A call. It is only shown as successful if all steps were checked.
fn call(walk: &Walk, in_full: bool, body: &mut String) {
    let outcome = match walk.outcome() {
        Outcome::Passes if !in_full => Outcome::NotJudged,
        outcome => outcome,
    };
    let partly = if outcome == Outcome::NotJudged && !in_full {
        ", as far as the evidence shows: see Not checked"
    } else {
        ""
    };
    _ = write!(
        body,
        "<article class=\"{}\"><h2>{} to {}</h2><p class=\"{}\">{}{partly}</p><ol class=\"path\">",
        if outcome == Outcome::Stops { "error" } else { "" },
        escaped(&walk.from),
        escaped(&walk.to),
        class(outcome),
        escaped(&result(walk)),
    );
    for step in &walk.steps {
        _ = write!(
            body,
            "<li><span class=\"{}\">{}</span> <strong>{}</strong> {}",
            class(step.outcome),
            word(step.outcome),
            escaped(step.part.name()),
            escaped(&step.says),
        );
        if !step.evidence.is_empty() {
            let open = if step.outcome == Outcome::Passes { "" } else { " open" };
            _ = write!(body, "<details{open}><summary>Evidence</summary><ul>");
            for evidence in &step.evidence {
                _ = write!(body, "<li><code>{}</code></li>", escaped(&quoted(evidence)));
            }
            body.push_str("</ul></details>");
        }
        if let Some(fix) = &step.fix {
            _ = write!(body, "<p><strong>What to do:</strong> {}</p>", escaped(&sentence(fix)));
        }
        script(&step.paste, None, body);
        body.push_str("</li>");
    }
    body.push_str("</ol></article>");
}

fn class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passes => "good",
        Outcome::NotJudged | Outcome::Partly => "warning",
        Outcome::Stops => "error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::reach::{Part, Step};

    #[test]
    fn what_was_not_looked_at_is_no_plain_way_through() {
        let step = Step {
            part: Part::Policy,
            outcome: Outcome::Passes,
            says: "no <Server> takes the port".to_owned(),
            evidence: Vec::new(),
            condition: None,
            fix: None,
            paste: Vec::new(),
            counted: false,
        };
        let walk = Walk { from: "shop/web".to_owned(), to: "shop/api:80".to_owned(), steps: vec![step] };
        let plain = calls(&[&walk], &[]);
        assert!(plain.contains("<p class=\"good\">the call succeeds</p>"), "{plain}");
        assert!(plain.contains("no &lt;Server&gt; takes"), "{plain}");
        let partly = calls(&[&walk], &["servers: not provided".to_owned()]);
        assert!(
            partly.contains("<p class=\"warning\">the call succeeds, as far as the evidence shows"),
            "{partly}"
        );
    }
}
