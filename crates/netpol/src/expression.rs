//! Calico's label expressions:
//! https://docs.tigera.io/calico/latest/reference/resources/networkpolicy#selectors. An expression that is
//! not understood may match. `||` binds loosest, then `&&`, then `!`.

use super::form::{Label, Match};

#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// `all()`, and the empty expression.
    All,
    /// `global()`: objects without a namespace.
    Global,
    /// `has(key)`.
    Has(String),
    /// A comparison of a label with values.
    Compare(String, Operator, Vec<String>),
    /// `!` before another.
    Not(Box<Expression>),
    /// All of them.
    And(Vec<Expression>),
    /// One of them.
    Or(Vec<Expression>),
}

/// A comparison of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `==` and `in`.
    In,
    /// `!=` and `not in`: also true for a missing label.
    NotIn,
    /// `contains`.
    Contains,
    /// `starts with`.
    StartsWith,
    /// `ends with`.
    EndsWith,
}

/// Maximum nesting of parentheses.
const DEEPEST: usize = 32;

impl Expression {
    /// Parses an expression; `None` if it is not understood.
    pub fn parse(text: &str) -> Option<Expression> {
        let mut rest = Rest { text: text.trim(), depth: 0 };
        if rest.text.is_empty() {
            return Some(Expression::All);
        }
        let expression = rest.or()?;
        rest.text.is_empty().then_some(expression)
    }

    /// Whether labels match it.
    pub fn fits<'l>(&self, label: &impl Fn(&str) -> Label<'l>) -> Match {
        match self {
            Expression::All => Match::Yes,
            // Pods always have a namespace.
            Expression::Global => Match::No,
            Expression::Has(key) => match label(key) {
                Label::Is(_) => Match::Yes,
                Label::Absent => Match::No,
                Label::Unknown(why) => Match::Perhaps(why),
            },
            Expression::Compare(key, operator, values) => match label(key) {
                Label::Is(is) => operator.holds(is, values).into(),
                Label::Absent => (*operator == Operator::NotIn).into(),
                Label::Unknown(why) => Match::Perhaps(why),
            },
            Expression::Not(one) => one.fits(label).opposite(),
            Expression::And(all) => all.iter().fold(Match::Yes, |said, one| said.and(|| one.fits(label))),
            Expression::Or(all) => Match::any(all.iter().map(|one| one.fits(label))),
        }
    }
}

impl Operator {
    fn holds(self, is: &str, values: &[String]) -> bool {
        let mut values = values.iter().map(String::as_str);
        match self {
            Operator::In => values.any(|value| value == is),
            Operator::NotIn => values.all(|value| value != is),
            Operator::Contains => values.any(|value| is.contains(value)),
            Operator::StartsWith => values.any(|value| is.starts_with(value)),
            Operator::EndsWith => values.any(|value| is.ends_with(value)),
        }
    }
}

/// The unparsed rest.
struct Rest<'t> {
    text: &'t str,
    depth: usize,
}

impl<'t> Rest<'t> {
    fn or(&mut self) -> Option<Expression> {
        let mut all = vec![self.and()?];
        while self.consume("||") {
            all.push(self.and()?);
        }
        Some(if all.len() == 1 { all.remove(0) } else { Expression::Or(all) })
    }

    fn and(&mut self) -> Option<Expression> {
        let mut all = vec![self.one()?];
        while self.consume("&&") {
            all.push(self.one()?);
        }
        Some(if all.len() == 1 { all.remove(0) } else { Expression::And(all) })
    }

    fn one(&mut self) -> Option<Expression> {
        let mut negated = false;
        while !self.text.starts_with("!=") && self.consume("!") {
            negated = !negated;
        }
        let one = if self.consume("(") {
            self.depth += 1;
            let inner = (self.depth <= DEEPEST).then(|| self.or())??;
            self.depth -= 1;
            self.consume(")").then_some(inner)?
        } else if self.consume("has(") {
            let key = self.key()?;
            self.consume(")").then_some(Expression::Has(key.to_owned()))?
        } else if self.consume("all(") {
            self.consume(")").then_some(Expression::All)?
        } else if self.consume("global(") {
            self.consume(")").then_some(Expression::Global)?
        } else {
            self.comparison()?
        };
        Some(if negated { Expression::Not(Box::new(one)) } else { one })
    }

    fn comparison(&mut self) -> Option<Expression> {
        let key = self.key()?.to_owned();
        let (operator, many) = if self.consume("==") {
            (Operator::In, false)
        } else if self.consume("!=") {
            (Operator::NotIn, false)
        } else if self.keyword(&["contains"]) {
            (Operator::Contains, false)
        } else if self.keyword(&["starts", "with"]) {
            (Operator::StartsWith, false)
        } else if self.keyword(&["ends", "with"]) {
            (Operator::EndsWith, false)
        } else if self.keyword(&["not", "in"]) {
            (Operator::NotIn, true)
        } else if self.keyword(&["in"]) {
            (Operator::In, true)
        } else {
            return None;
        };
        if !many {
            let value = self.value()?;
            return Some(Expression::Compare(key, operator, vec![value]));
        }
        let mut values = Vec::new();
        self.consume("{").then_some(())?;
        while !self.consume("}") {
            values.push(self.value()?);
            if !self.consume(",") {
                self.consume("}").then_some(())?;
                break;
            }
        }
        Some(Expression::Compare(key, operator, values))
    }

    /// Consumes `what` if the rest starts with it.
    fn consume(&mut self, what: &str) -> bool {
        match self.text.strip_prefix(what) {
            Some(rest) => {
                self.text = rest.trim_start();
                true
            }
            None => false,
        }
    }

    /// Consumes these words if the rest starts with them, with or without blanks in between.
    fn keyword(&mut self, words: &[&str]) -> bool {
        let mut rest = self.text;
        for word in words {
            let Some(behind) = rest.trim_start().strip_prefix(word) else { return false };
            rest = behind;
        }
        // The last word ends if no letter follows.
        if rest.starts_with(is_of_key) {
            return false;
        }
        self.text = rest.trim_start();
        true
    }

    fn key(&mut self) -> Option<&'t str> {
        let end = self.text.find(|c: char| !is_of_key(c)).unwrap_or(self.text.len());
        let (key, rest) = self.text.split_at_checked(end)?;
        self.text = rest.trim_start();
        (!key.is_empty()).then_some(key)
    }

    fn value(&mut self) -> Option<String> {
        let quote = self.text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (value, rest) = self.text.get(1..)?.split_once(quote)?;
        self.text = rest.trim_start();
        Some(value.to_owned())
    }
}

fn is_of_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Y`es, `N`o, `?`, and `!` if it is not understood.
    fn symbol(text: &str) -> char {
        let label = |key: &str| match key {
            "app" => Label::Is("web-front"),
            "tier/of" => Label::Is("a"),
            "unknown" => Label::Unknown("nobody knows"),
            _ => Label::Absent,
        };
        match Expression::parse(text).map(|expression| expression.fits(&label)) {
            Some(Match::Yes) => 'Y',
            Some(Match::No) => 'N',
            Some(Match::Perhaps(_)) => '?',
            None => '!',
        }
    }

    #[test]
    fn expressions_evaluate_as_in_calico() {
        for (text, expected) in [
            ("", 'Y'),
            ("all()", 'Y'),
            ("all( )", 'Y'),
            ("global()", 'N'),
            ("app == 'web-front'", 'Y'),
            ("app==\"web\"", 'N'),
            ("gone == 'x'", 'N'),
            ("gone != 'x'", 'Y'),
            ("app != 'web-front'", 'N'),
            ("app in {'x', \"web-front\"}", 'Y'),
            ("app in {}", 'N'),
            ("app not in {'x'}", 'Y'),
            ("app notin {'web-front'}", 'N'),
            ("gone not in {'x'}", 'Y'),
            ("app contains 'b-f'", 'Y'),
            ("app starts with 'web'", 'Y'),
            ("app startswith 'front'", 'N'),
            ("app ends with 'front'", 'Y'),
            ("has(tier/of)", 'Y'),
            ("!has(tier/of)", 'N'),
            ("!!has( app )", 'Y'),
            ("has(gone) || app starts with 'w' && has(gone)", 'N'),
            ("(has(gone) || has(app)) && tier/of == 'a'", 'Y'),
            ("!(has(gone) || has(app))", 'N'),
            ("unknown == 'x'", '?'),
            ("unknown == 'x' || has(app)", 'Y'),
            ("unknown == 'x' && has(gone)", 'N'),
            ("!has(unknown)", '?'),
            ("app = 'x'", '!'),
            ("app", '!'),
            ("app in 'x'", '!'),
            ("has(app) has(app)", '!'),
            ("(has(app)", '!'),
            ("app == 'x", '!'),
            ("app matches 'x'", '!'),
        ] {
            assert_eq!(symbol(text), expected, "{text}");
        }
        assert_eq!(symbol(&"(".repeat(10_000)), '!');
        assert_eq!(symbol(&format!("{}has(app)", "!".repeat(10_000))), 'Y');
    }
}
