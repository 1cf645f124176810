//! The causal relations as a picture: roots on the left, the findings that they explain next to them, a line
//! from each cause to its effect. Drawn as SVG in the page; the same relations are listed under each finding.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::super::document::{Document, Finding};
use super::escaped;

/// Sizes in pixels.
const WIDE: usize = 300;
const HIGH: usize = 40;
const GAP: usize = 12;
const ACROSS: usize = 50;
/// Width of the text; a wider picture may extend beyond it.
const TEXT: usize = 1120;
/// Maximum number of drawn findings.
const MOST: usize = 40;

/// A finding with its position: column and row.
struct Placed<'a> {
    finding: &'a Finding,
    column: usize,
    row: usize,
}

/// The picture; `None` without causal relations.
pub(super) fn draw(document: &Document) -> Option<String> {
    let causes: HashSet<&String> = document.findings.iter().flat_map(|finding| &finding.caused_by).collect();
    let explains = |finding: &Finding| causes.contains(&finding.fingerprint);
    let drawn: Vec<&Finding> = document
        .findings
        .iter()
        .filter(|finding| !finding.caused_by.is_empty() || explains(finding))
        .take(MOST)
        .collect();
    if drawn.is_empty() {
        return None;
    }
    let placed = places(&drawn);
    let columns = placed.iter().map(|one| one.column).max().unwrap_or_default() + 1;
    let rows = placed.iter().map(|one| one.row).max().unwrap_or_default() + 1;
    let (width, height) = (columns * (WIDE + ACROSS) - ACROSS + 4, rows * (HIGH + GAP) + 4);
    let class = if width > TEXT { "picture wide" } else { "picture" };
    let mut svg = format!(
        "<div class=\"{class}\" tabindex=\"0\"><svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         role=\"img\" aria-label=\"{} findings, with a line from each cause to what it explains\">",
        placed.len(),
    );
    let spot = |one: &Placed<'_>| (2 + one.column * (WIDE + ACROSS), 2 + one.row * (HIGH + GAP));
    for one in &placed {
        let (x, y) = spot(one);
        for cause in placed.iter().filter(|cause| one.finding.caused_by.contains(&cause.finding.fingerprint)) {
            let (from, at) = spot(cause);
            let (from, at, to) = (from + WIDE, at + HIGH / 2, y + HIGH / 2);
            let middle = from + ACROSS / 2;
            _ = write!(svg, "<path d=\"M{from} {at} C{middle} {at} {middle} {to} {x} {to}\"/>");
        }
    }
    for one in &placed {
        let (x, y) = spot(one);
        let subject = one.finding.subjects.first().map(|about| about.subject().0.to_string()).unwrap_or_default();
        let more = one.finding.subjects.len().saturating_sub(1);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        _ = write!(
            svg,
            "<a href=\"#f-{}\" class=\"{}\"><rect x=\"{x}\" y=\"{y}\" width=\"{WIDE}\" height=\"{HIGH}\" rx=\"5\"/>\
             <text x=\"{}\" y=\"{}\">{}</text><text x=\"{}\" y=\"{}\">{}</text></a>",
            escaped(&one.finding.fingerprint),
            one.finding.severity.label(),
            x + 8,
            y + 16,
            escaped(&short(&one.finding.check)),
            x + 8,
            y + 32,
            escaped(&short(&format!("{subject}{more}"))),
        );
    }
    svg.push_str("</svg></div>");
    Some(svg)
}

/// Places each finding next to the first of its causes, one column further right.
fn places<'a>(drawn: &[&'a Finding]) -> Vec<Placed<'a>> {
    let mut placed: Vec<Placed<'a>> = Vec::new();
    let mut row = 0;
    // Causes are placed before their effects.
    for root in drawn.iter().filter(|finding| finding.caused_by.is_empty()) {
        hang(root, 0, drawn, &mut placed, &mut row);
    }
    // Findings whose cause is not drawn.
    for rest in drawn {
        if !placed.iter().any(|one| one.finding.fingerprint == rest.fingerprint) {
            hang(rest, 0, drawn, &mut placed, &mut row);
        }
    }
    placed
}

fn hang<'a>(finding: &'a Finding, column: usize, drawn: &[&'a Finding], placed: &mut Vec<Placed<'a>>, row: &mut usize) {
    if placed.iter().any(|one| one.finding.fingerprint == finding.fingerprint) {
        return;
    }
    let own = *row;
    placed.push(Placed { finding, column, row: own });
    for symptom in drawn.iter().filter(|other| other.caused_by.contains(&finding.fingerprint)) {
        hang(symptom, column + 1, drawn, placed, row);
    }
    // The next one is placed below the subtree.
    if *row == own {
        *row += 1;
    }
}

/// Truncates a text to the width of a box.
fn short(text: &str) -> String {
    const FITS: usize = 36;
    match text.char_indices().nth(FITS) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}
