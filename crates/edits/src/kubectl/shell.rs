//! The shell syntax of printed commands: words, pipes and lists. Commands with other syntax, such as loops, are not
//! read.

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Its text without quotes.
    pub text: String,
    /// Whether the shell replaces a part of it when it runs: a variable or the output of a command.
    pub is_expanded: bool,
}

/// How a pipeline follows the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// Always: a new line or `;`.
    Always,
    /// On success: `&&`.
    OnSuccess,
    /// On failure: `||`.
    OnFailure,
}

/// Programs that are connected by pipes, each with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipeline {
    /// How it follows the one before it.
    pub join: Join,
    /// The programs.
    pub calls: Vec<Vec<Word>>,
    /// Whether its output goes to a file, or its input comes from one.
    pub redirects: bool,
}

/// Words that begin a compound command.
const KEYWORDS: [&str; 13] =
    ["if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "{"];

enum Token {
    Word(Word, bool),
    Operator(&'static str),
    Redirect,
}

/// The pipelines of a command; `None` if it has other syntax.
pub fn pipelines(text: &str) -> Option<Vec<Pipeline>> {
    let mut pipelines: Vec<Pipeline> = Vec::new();
    let fresh = |join| Pipeline { join, calls: vec![Vec::new()], redirects: false };
    let mut current = fresh(Join::Always);
    let mut target_follows = false;
    for token in tokens(text)? {
        match token {
            Token::Word(word, is_plain) => {
                if std::mem::take(&mut target_follows) {
                    // Messages for the reader go to standard error.
                    current.redirects |= word.text != "&2" && word.text != "/dev/null";
                    continue;
                }
                let call = current.calls.last_mut()?;
                if call.is_empty() && is_plain && KEYWORDS.contains(&word.text.as_str()) {
                    return None;
                }
                // Negation only changes the status.
                if !(call.is_empty() && is_plain && word.text == "!") {
                    call.push(word);
                }
            }
            Token::Redirect => target_follows = true,
            Token::Operator("|") => {
                if current.calls.last()?.is_empty() {
                    return None;
                }
                current.calls.push(Vec::new());
            }
            Token::Operator(operator) => {
                let join = match operator {
                    "&&" => Join::OnSuccess,
                    "||" => Join::OnFailure,
                    _ => Join::Always,
                };
                let done = std::mem::replace(&mut current, fresh(join));
                match done.calls.iter().all(Vec::is_empty) {
                    true if operator == "\n" => current.join = Join::Always,
                    true => return None,
                    false => pipelines.push(done),
                }
            }
        }
    }
    if target_follows {
        return None;
    }
    if current.calls.iter().any(|call| !call.is_empty()) {
        pipelines.push(current);
    } else if current.join != Join::Always {
        return None;
    }
    let is_complete = |pipeline: &Pipeline| pipeline.calls.iter().all(|call| !call.is_empty());
    pipelines.iter().all(is_complete).then_some(pipelines)
}

/// A word that is being read.
#[derive(Default)]
struct Open {
    text: String,
    is_expanded: bool,
    is_quoted: bool,
    is_begun: bool,
}

impl Open {
    fn push(&mut self, letter: char) {
        self.text.push(letter);
        self.is_begun = true;
    }

    fn take(&mut self) -> Option<Token> {
        let word = std::mem::take(self);
        let read = Word { text: word.text, is_expanded: word.is_expanded };
        word.is_begun.then_some(Token::Word(read, !word.is_quoted))
    }
}

/// The rest of a text.
type Letters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut open = Open::default();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => single_quoted(&mut letters, &mut open)?,
            '"' => double_quoted(&mut letters, &mut open)?,
            '\\' => match letters.next()? {
                '\n' => {}
                other => {
                    open.is_quoted = true;
                    open.push(other);
                }
            },
            expanding @ ('$' | '`') => {
                open.is_expanded = true;
                open.push(expanding);
                nested(expanding, &mut letters, &mut open)?;
            }
            '#' if !open.is_begun => while letters.next_if(|next| *next != '\n').is_some() {},
            '*' | '?' | '[' => {
                open.is_expanded |= letter != '[';
                open.push(letter);
            }
            '(' | ')' => return None,
            ' ' | '\t' => tokens.extend(open.take()),
            '\n' | ';' | '|' | '&' => {
                let is_target = matches!(tokens.last(), Some(Token::Redirect)) && !open.is_begun;
                if letter == '&' && is_target {
                    open.push('&');
                    continue;
                }
                tokens.extend(open.take());
                let doubled = letter != '\n' && letters.next_if_eq(&letter).is_some();
                tokens.push(Token::Operator(match (letter, doubled) {
                    ('\n', _) => "\n",
                    (';', false) => ";",
                    ('|', false) => "|",
                    ('|', true) => "||",
                    ('&', true) => "&&",
                    _ => return None,
                }));
            }
            '<' | '>' => {
                // The number of a stream before it is not a word.
                if open.is_begun && open.text.chars().all(|one| one.is_ascii_digit()) {
                    open = Open::default();
                }
                tokens.extend(open.take());
                if letters.next_if_eq(&letter).is_some() && letter == '<' {
                    return None;
                }
                tokens.push(Token::Redirect);
            }
            other => open.push(other),
        }
    }
    tokens.extend(open.take());
    Some(tokens)
}

/// Reads a text in single quotes, after the first, to its end.
fn single_quoted(letters: &mut Letters<'_>, open: &mut Open) -> Option<()> {
    (open.is_quoted, open.is_begun) = (true, true);
    loop {
        match letters.next()? {
            '\'' => return Some(()),
            other => open.push(other),
        }
    }
}

/// Reads a text in double quotes, after the first, to its end.
fn double_quoted(letters: &mut Letters<'_>, open: &mut Open) -> Option<()> {
    (open.is_quoted, open.is_begun) = (true, true);
    loop {
        match letters.next()? {
            '"' => return Some(()),
            '\\' => match letters.next()? {
                escaped @ ('"' | '\\' | '$' | '`') => open.push(escaped),
                '\n' => {}
                other => {
                    open.push('\\');
                    open.push(other);
                }
            },
            expanding @ ('$' | '`') => {
                open.is_expanded = true;
                open.push(expanding);
                nested(expanding, letters, open)?;
            }
            other => open.push(other),
        }
    }
}

/// Reads `$(...)`, `${...}` or a text in backquotes to its end.
fn nested(begun: char, letters: &mut Letters<'_>, open: &mut Open) -> Option<()> {
    let closing = match (begun, letters.peek()) {
        ('`', _) => '`',
        (_, Some('(')) => ')',
        (_, Some('{')) => '}',
        _ => return Some(()),
    };
    let opening = if begun == '`' { None } else { letters.next() };
    let mut depth = 1;
    let mut quote: Option<char> = None;
    loop {
        let letter = letters.next()?;
        open.push(letter);
        match (quote, letter) {
            (Some(begun), letter) if begun == letter => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, letter) if letter == closing => depth -= 1,
            (None, letter) if Some(letter) == opening => depth += 1,
            (None, _) => {}
        }
        if depth == 0 {
            return Some(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Vec<Vec<String>>> {
        let word = |word: &Word| word.text.clone();
        let call = |call: &Vec<Word>| call.iter().map(word).collect();
        pipelines(text).unwrap().iter().map(|one| one.calls.iter().map(call).collect()).collect()
    }

    #[test]
    fn quotes_keep_words_together() {
        assert_eq!(
            words("kubectl patch x -p '{\"a\": \"it'\"'\"'s\"}' \"b c\" d\\ e"),
            [[["kubectl", "patch", "x", "-p", "{\"a\": \"it's\"}", "b c", "d e"]]]
        );
    }

    #[test]
    fn lists_and_pipes_are_split() {
        let read = pipelines("a 1 | b && c; d || ! echo no >&2\n# comment\ne > file").unwrap();
        let joins: Vec<Join> = read.iter().map(|one| one.join).collect();
        assert_eq!(joins, [Join::Always, Join::OnSuccess, Join::Always, Join::OnFailure, Join::Always]);
        assert_eq!(read[0].calls.len(), 2);
        assert!(!read[3].redirects && read[4].redirects);
        assert_eq!(read[3].calls[0][0].text, "echo");
    }

    #[test]
    fn values_of_the_shell_are_marked() {
        let read = pipelines("kubectl get \"$POD\" \"$(date '+%Y )')\" ${A:?}").unwrap();
        let marked: Vec<bool> = read[0].calls[0].iter().map(|word| word.is_expanded).collect();
        assert_eq!(marked, [false, false, true, true, true]);
    }

    #[test]
    fn other_syntax_is_not_read() {
        for text in ["for a in b; do c; done", "a 'b", "(a)", "a &", "a |", "cat <<EOF", "a &&", "if a; then b; fi"] {
            assert_eq!(pipelines(text), None, "{text}");
        }
    }
}
