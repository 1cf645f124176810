//! The path of calls as a page: each step from the client to the destination, up to the one at which the call
//! stops.

use std::fmt::Write as _;

use super::{escaped, script, whole};
use crate::checks::words::sentence;
use crate::inspect::reach::{Outcome, Walk};
use crate::render::finding::check_name;
use crate::render::reach::{outcome_label, quoted, result};

/// The page for the walks of `meshdoctor reach`.
pub fn calls(walks: &[&Walk], gaps: &[String]) -> String {
    let title = match walks {
        [walk] => format!("meshdoctor: {} to {}", walk.from, walk.to),
        _ => "meshdoctor: connections between workloads".to_owned(),
    };
    let mut body = format!("<header><h1>{}</h1></header><main>", escaped(&title));
    let in_full = gaps.is_empty();
    let several = walks.len() > 1;
    if several {
        table(walks, in_full, &mut body);
    }
    // Of several calls, the table suffices for those without a known failure.
    for walk in walks.iter().filter(|walk| !several || walk.outcome() >= Outcome::Partly) {
        call(walk, in_full, &mut body);
    }
    body.push_str("</main>");
    if !gaps.is_empty() {
        body.push_str("<section><h2>Not checked</h2><ul>");
        gaps.iter().for_each(|gap| _ = write!(body, "<li>{}</li>", escaped(gap)));
        body.push_str("</ul></section>");
    }
    whole(&title, &body)
}

/// The calls as a table: a row for each client, a column for each destination.
fn table(walks: &[&Walk], in_full: bool, body: &mut String) {
    let (mut clients, mut called): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for walk in walks {
        if !clients.contains(&walk.from.as_str()) {
            clients.push(&walk.from);
        }
        if !called.contains(&walk.to.as_str()) {
            called.push(&walk.to);
        }
    }
    body.push_str("<article><table><thead><tr><th scope=\"col\">From</th>");
    called.iter().for_each(|to| _ = write!(body, "<th scope=\"col\">{}</th>", escaped(to)));
    body.push_str("</tr></thead><tbody>");
    for from in clients {
        _ = write!(body, "<tr><th scope=\"row\">{}</th>", escaped(from));
        for to in &called {
            match walks.iter().find(|walk| walk.from == from && walk.to == *to) {
                Some(walk) => {
                    let outcome = shown(walk, in_full);
                    let place = walk.steps.iter().find(|step| step.outcome == Outcome::Stops);
                    let place = place.filter(|_| outcome == Outcome::Stops);
                    let place = place.map_or_else(String::new, |step| format!(": {}", step.part.name()));
                    let cell = format!("{}{place}", answer(outcome));
                    _ = write!(body, "<td class=\"{}\">{}</td>", class(outcome), escaped(&cell));
                }
                None => body.push_str("<td></td>"),
            }
        }
        body.push_str("</tr>");
    }
    body.push_str("</tbody></table></article>");
}

/// Whether a call succeeds, as a cell.
fn answer(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passes => "yes",
        Outcome::NotJudged => "yes?",
        Outcome::Partly => "partly",
        Outcome::Stops => "no",
    }
}

/// The outcome of a call. Without all evidence, none is known to succeed.
fn shown(walk: &Walk, in_full: bool) -> Outcome {
    match walk.outcome() {
        Outcome::Passes if !in_full => Outcome::NotJudged,
        outcome => outcome,
    }
}

/// A call. It is only shown as successful if all steps were checked.
fn call(walk: &Walk, in_full: bool, body: &mut String) {
    let outcome = shown(walk, in_full);
    let partly =
        if outcome == Outcome::NotJudged && !in_full { "; some evidence is missing: see Not checked" } else { "" };
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
            outcome_label(step.outcome),
            escaped(step.part.name()),
            escaped(&step.in_full()),
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
    body.push_str("</ol>");
    for finding in &walk.causes {
        let (name, message) = (check_name(finding), escaped(&finding.message));
        _ = write!(body, "<p><strong>Cause:</strong> {}: {message}</p>", escaped(&name));
    }
    body.push_str("</article>");
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
            lacks: None,
            numbered: Vec::new(),
        };
        let walk =
            Walk { from: "shop/web".to_owned(), to: "shop/api:80".to_owned(), steps: vec![step], causes: Vec::new() };
        let plain = calls(&[&walk], &[]);
        assert!(
            plain.contains("<p class=\"good\">the call succeeds, as far as the cluster&#39;s objects show</p>"),
            "{plain}"
        );
        assert!(plain.contains("no &lt;Server&gt; takes"), "{plain}");
        let partly = calls(&[&walk], &["servers: not provided".to_owned()]);
        assert!(
            partly.contains("<p class=\"warning\">the call succeeds") && partly.contains("some evidence is missing"),
            "{partly}"
        );
    }
}
