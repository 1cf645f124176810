//! A step of a remedy on a card: a command whose words are literals or values of expressions.

use crate::card::ExpressedFix;
use crate::checks::prelude::*;
use crate::command::{Call, helm, linkerd, meshdoctor};
use crate::expression::{Expression, Scope};

#[derive(Debug)]
pub(super) struct ExpressedStep {
    text: String,
    run: Vec<CommandWord>,
}

/// A word of a command: a literal, or a value.
#[derive(Debug)]
enum CommandWord {
    Fixed(&'static str),
    Made(Expression),
    /// A word that begins with an option and its `=`, as written on the card: the rest is a value.
    Option(&'static str, Expression),
}

impl ExpressedStep {
    /// Parses a step of a card; `parse` compiles the text of a word.
    ///
    /// # Errors
    /// The command runs no allowed program, or a word of it is not a valid expression; as text.
    pub(super) fn parse(
        fix: &ExpressedFix,
        parse: &dyn Fn(&str) -> Result<Expression, String>,
    ) -> Result<ExpressedStep, String> {
        const PROGRAMS: [&str; 4] = ["kubectl", "linkerd", "helm", "meshdoctor"];
        if let Some(program) = fix.run.first()
            && !PROGRAMS.contains(&program.as_str())
        {
            return Err(format!("a command begins with one of {}", PROGRAMS.join(", ")));
        }
        // It lives as long as the rule, which is the lifetime of the process.
        let kept = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
        let word = |word: &String| match word.strip_prefix('=') {
            Some(expression) => {
                let parsed = parse(expression)?;
                Ok::<_, String>(match option(expression) {
                    Some(begins) => CommandWord::Option(kept(begins), parsed),
                    None => CommandWord::Made(parsed),
                })
            }
            None => Ok(CommandWord::Fixed(kept(word))),
        };
        Ok(ExpressedStep { text: fix.text.clone(), run: fix.run.iter().map(word).collect::<Result<_, _>>()? })
    }

    /// Adds the step; as a note if a word of its command has no value.
    pub(super) fn add_to(&self, remedy: Remedy, scope: &Scope<'_>) -> Remedy {
        match self.call(scope) {
            Some(call) => remedy.command(&self.text, call),
            None => remedy.note(&self.text),
        }
    }

    pub(super) fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.run.iter().filter_map(|word| match word {
            CommandWord::Made(expression) | CommandWord::Option(_, expression) => Some(expression),
            CommandWord::Fixed(_) => None,
        })
    }

    fn call(&self, scope: &Scope<'_>) -> Option<Call> {
        let mut words = self.run.iter();
        let mut call = match words.next()? {
            CommandWord::Fixed("linkerd") => linkerd(),
            CommandWord::Fixed("helm") => helm(),
            CommandWord::Fixed("meshdoctor") => meshdoctor(),
            _ => kubectl(),
        };
        for word in words {
            call = match word {
                CommandWord::Fixed(word) => call.arg(Arg::known(word)),
                CommandWord::Made(expression) => call.arg(expression.text(scope).ok()?),
                CommandWord::Option(begins, expression) => {
                    let text = expression.text(scope).ok()?;
                    call.arg(Arg::known(begins).then(text.strip_prefix(begins)?))
                }
            };
        }
        Some(call)
    }
}

/// The option that an expression begins with, as a string literal: `--replicas=` of `'--replicas=' +
/// string(params.least)`.
fn option(expression: &str) -> Option<&str> {
    let quoted = expression.trim_start();
    let quote = quoted.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let (text, rest) = quoted[1..].split_once(quote)?;
    let is_whole = rest.trim_start().starts_with('+') || rest.trim().is_empty();
    let is_option = text.starts_with('-') && text.contains('=') && !text.contains('\\');
    (is_whole && is_option).then_some(text)
}
