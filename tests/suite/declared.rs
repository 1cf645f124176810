//! Each card declares the evidence that its rule can read: also through the shared surveys, and on paths that no case
//! takes. The calls are read from the code. A call that is not recognized is only missing from this test, so
//! `absences` remains the test of the behavior.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use meshdoctor::checks;
use meshdoctor::item::{Item, Kind, Scope};

use crate::layers;

/// The folder of the rules.
const FOLDER: &str = "src/checks/";
/// The methods of the context that read a list.
const LISTS: [&str; 4] = ["optional_list", "partial_list", "complete_list", "seen_or_gap"];
/// Functions whose caller selects the kinds that they read.
const BY_PARAMETER: [&str; 1] = ["from_kinds"];

/// The place of a function in [`Code::functions`].
type Id = usize;

/// Identifiers, `::`, and other characters, each without the spaces around it.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let length = if is_word(first) {
            rest.find(|letter| !is_word(letter)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else if first == '"' {
            rest[1..].find('"').map_or(rest.len(), |end| end + 2)
        } else {
            first.len_utf8()
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

fn is_type(name: &str) -> bool {
    name.starts_with(|first: char| first.is_uppercase())
}

/// A function of a file; `of` is the type of its `impl` block.
struct Function<'a> {
    file: &'a str,
    of: &'a str,
    name: &'a str,
    tokens: Vec<&'a str>,
}

impl Function<'_> {
    fn takes_self(&self) -> bool {
        let end = self.tokens.iter().position(|token| *token == ")" || *token == ",");
        let open = self.tokens.iter().position(|token| *token == self.name).unwrap_or_default();
        let end = end.map_or(self.tokens.len(), |end| end.max(open));
        self.tokens[open..].iter().take(end + 10 - open).take_while(|token| **token != ":").any(|t| *t == "self")
    }
}

/// The functions of a file. A function ends at the next closing brace in its own column.
fn functions<'a>(file: &'a str, code: &'a str) -> Vec<Function<'a>> {
    let mut found = Vec::new();
    let (mut of, mut from) = ("", 0);
    let lines: Vec<&str> = code.split_inclusive('\n').collect();
    let starts: Vec<usize> = lines
        .iter()
        .map(|line| {
            let start = from;
            from += line.len();
            start
        })
        .collect();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at].trim_end();
        let words = tokens(line);
        if line.starts_with("impl") {
            let block = words.iter().position(|word| *word == "for").map_or(0, |after| after);
            of = words[block + 1..].iter().find(|word| is_type(word)).copied().unwrap_or_default();
        } else if line == "}" {
            of = "";
        }
        let name = words.iter().position(|word| *word == "fn").and_then(|word| words.get(word + 1));
        let head = words.iter().take_while(|word| **word != "fn");
        let is_function = head.copied().all(|word| is_name(word) || matches!(word, "(" | ")" | "::"));
        if let Some(name) = name.filter(|name| is_function && is_name(name)) {
            let indent = line.len() - line.trim_start().len();
            let closes = |line: &str| line.len() - line.trim_start().len() == indent && line.trim().starts_with('}');
            let one_line = line.ends_with('}') && line.contains('{');
            let length = if one_line { Some(0) } else { lines[at..].iter().position(|line| closes(line)) };
            let end = at + length.unwrap_or(lines.len() - 1 - at);
            let text = &code[starts[at]..starts[end] + lines[end].len()];
            found.push(Function { file, of, name, tokens: tokens(text) });
            at = end;
        }
        at += 1;
    }
    found
}

/// The names that a file imports, with their paths.
fn imports(code: &str) -> HashMap<String, Vec<String>> {
    let mut found = HashMap::new();
    let all = code.split('\n').enumerate().filter(|(_, line)| {
        line.starts_with("use ") || (line.starts_with("pub") && line.contains(" use ") && !line.contains(" fn "))
    });
    for (number, _) in all {
        let statement: Vec<&str> = code.splitn(number + 1, '\n').nth(number).into_iter().collect();
        let statement = statement[0].split(';').next().unwrap_or_default();
        let words = tokens(statement);
        let begin = words.iter().position(|word| *word == "use").expect("a use");
        tree(&words[begin + 1..], &[], &mut found);
    }
    found
}

/// Adds the names of a part of a `use` statement.
fn tree(words: &[&str], prefix: &[&str], found: &mut HashMap<String, Vec<String>>) {
    let open = words.iter().position(|word| *word == "{");
    let own = |words: &[&str]| -> Vec<String> {
        prefix.iter().chain(words.iter().filter(|word| **word != "::")).map(|word| (*word).to_owned()).collect()
    };
    let Some(open) = open else {
        let (path, name) = match words.iter().position(|word| *word == "as") {
            Some(at) => (own(&words[..at]), words[at + 1].to_owned()),
            None => {
                let mut path = own(words);
                _ = path.pop_if(|last| last == "self");
                let name = path.last().cloned().unwrap_or_default();
                (path, name)
            }
        };
        found.insert(name, path);
        return;
    };
    let prefix: Vec<&str> =
        prefix.iter().copied().chain(words[..open].iter().copied().filter(|word| *word != "::")).collect();
    let (mut depth, mut begin) = (0, open + 1);
    for (at, word) in words.iter().enumerate().skip(open + 1) {
        match *word {
            "{" => depth += 1,
            "," | "}" if depth == 0 => {
                if at > begin {
                    tree(&words[begin..at], &prefix, found);
                }
                begin = at + 1;
            }
            "}" => depth -= 1,
            _ => {}
        }
    }
}

/// The code of the rules.
struct Code<'a> {
    functions: Vec<Function<'a>>,
    by_name: HashMap<&'a str, Vec<Id>>,
    imports: HashMap<&'a str, HashMap<String, Vec<String>>>,
    /// The file of a module, by its path below the folder.
    modules: HashMap<Vec<String>, &'a str>,
    text: &'a BTreeMap<String, String>,
    /// The words of each file.
    words: HashMap<&'a str, HashSet<&'a str>>,
}

/// The path of a file's module.
fn module(file: &str) -> Vec<String> {
    let inner = file.trim_start_matches(FOLDER).trim_end_matches(".rs");
    let mut path: Vec<String> = inner.split('/').map(str::to_owned).collect();
    _ = path.pop_if(|last| last == "mod" || last == "lib");
    path
}

impl<'a> Code<'a> {
    fn new(text: &'a BTreeMap<String, String>) -> Code<'a> {
        let functions: Vec<Function<'a>> = text.iter().flat_map(|(file, code)| functions(file, code)).collect();
        let mut by_name: HashMap<&str, Vec<Id>> = HashMap::new();
        for (id, function) in functions.iter().enumerate() {
            by_name.entry(function.name).or_default().push(id);
        }
        let imports = text.iter().map(|(file, code)| (file.as_str(), imports(code))).collect();
        let rooted = text.keys().filter(|file| !file.ends_with("/lib.rs"));
        let modules = rooted.map(|file| (module(file), file.as_str())).collect();
        let words = text.iter().map(|(file, code)| (file.as_str(), tokens(code).into_iter().collect())).collect();
        Code { functions, by_name, imports, modules, text, words }
    }

    /// The path below the folder of a path in a file; `None` outside of the folder.
    fn absolute(file: &str, path: &[String]) -> Option<Vec<String>> {
        let mut own = module(file);
        match path.first().map(String::as_str) {
            Some("crate") => path.get(1).filter(|next| *next == "checks").map(|_| path[2..].to_vec()),
            Some("self") => Some([&own, &path[1..]].concat()),
            _ => {
                let up = path.iter().take_while(|part| *part == "super").count();
                own.truncate(own.len().checked_sub(up)?);
                Some([&own, &path[up..]].concat())
            }
        }
    }

    /// The functions of a name in a module, or where it takes them from.
    fn in_module(&self, module: &[String], of: &str, name: &str, depth: usize) -> Vec<Id> {
        let Some(file) = self.modules.get(module).filter(|_| depth < 5) else { return Vec::new() };
        let own = |id: &&Id| self.functions[**id].file == *file && self.functions[**id].of == of;
        let all = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let found: Vec<Id> = all.iter().filter(own).copied().collect();
        let taken = self.imports[file].get(if of.is_empty() { name } else { of });
        match taken.and_then(|path| Code::absolute(file, path)) {
            Some(path) if found.is_empty() => match path.split_last() {
                Some((last, above)) if of.is_empty() => self.in_module(above, "", last, depth + 1),
                Some((last, above)) => self.in_module(above, last, name, depth + 1),
                None => found,
            },
            _ => found,
        }
    }

    /// The functions that a path of names in a function means.
    fn resolve(&self, caller: &Function<'_>, path: &[&str]) -> Vec<Id> {
        let Some((name, qualifiers)) = path.split_last() else { return Vec::new() };
        let own = module(caller.file);
        let Some((last, above)) = qualifiers.split_last() else {
            return self.in_module(&own, "", name, 0);
        };
        if *last == "Self" {
            return self.in_module(&own, caller.of, name, 0);
        }
        if above.is_empty() && is_type(last) {
            return self.in_module(&own, last, name, 0);
        }
        let mut full: Vec<String> = qualifiers.iter().map(|part| (*part).to_owned()).collect();
        if let Some(taken) = self.imports[caller.file].get(qualifiers[0]) {
            full.splice(..1, taken.iter().cloned());
        }
        let Some(full) = Code::absolute(caller.file, &full) else { return Vec::new() };
        match full.split_last() {
            Some((of, module)) if is_type(of) => self.in_module(module, of, name, 0),
            _ => self.in_module(&full, "", name, 0),
        }
    }

    /// The methods of a name that a call with the context can mean: of the types that the file names.
    fn methods(&self, caller: &Function<'_>, name: &str) -> Vec<Id> {
        let all = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let words = &self.words[caller.file];
        let known = |function: &Function<'_>| function.file == caller.file || words.contains(function.of);
        all.iter()
            .copied()
            .filter(|id| {
                let function = &self.functions[*id];
                !function.of.is_empty() && function.takes_self() && known(function)
            })
            .collect()
    }

    /// The functions that a function calls or passes on.
    fn callees(&self, id: Id) -> BTreeSet<Id> {
        let function = &self.functions[id];
        let tokens = &function.tokens;
        let mut found = BTreeSet::new();
        let mut at = 0;
        while at < tokens.len() {
            let before = at.checked_sub(1).map_or("", |before| tokens[before]);
            if !is_name(tokens[at]) || before == "fn" {
                at += 1;
                continue;
            }
            let mut path = vec![tokens[at]];
            while tokens.get(at + 1) == Some(&"::") && tokens.get(at + 2).is_some_and(|next| is_name(next)) {
                path.push(tokens[at + 2]);
                at += 2;
            }
            let after = tokens.get(at + 1).copied().unwrap_or_default();
            let arguments = tokens.iter().skip(at + 2).take_while(|token| !matches!(**token, "(" | ")"));
            let of_context = at >= 2 && before == "." && matches!(tokens[at - 2], "ctx" | "aside");
            if before != "." {
                let is_value = matches!(before, "(" | ",") && matches!(after, ")" | ",");
                if path.len() > 1 || after == "(" || is_value {
                    found.extend(self.resolve(function, &path));
                }
            } else if of_context {
                found.extend(self.in_module(&["context".to_owned()], "Context", path[0], 0));
            } else if after == "(" && arguments.into_iter().any(|token| *token == "ctx") {
                found.extend(self.methods(function, path[0]));
            }
            at += 1;
        }
        found.remove(&id);
        found
    }

    /// The evidence that a function reads itself.
    fn reads(&self, id: Id) -> BTreeSet<Item> {
        let function = &self.functions[id];
        let mut found = BTreeSet::new();
        if BY_PARAMETER.contains(&function.name) {
            return found;
        }
        let kind = |name: &str| Kind::all().find(|kind| format!("{kind:?}") == name);
        let padded = [function.tokens.as_slice(), &[""; 12]].concat();
        for part in padded.windows(12) {
            let (Some(read), Some(kind)) = (part.get(1), part.get(4).and_then(|name| kind(name))) else {
                continue;
            };
            if part[0] != "." || part[2] != "::" {
                continue;
            }
            if LISTS.contains(read) {
                found.insert(Item::List(kind));
            }
            let scope = match part[9] {
                "ControlPlane" => Scope::ControlPlane,
                "Cni" => Scope::Cni,
                _ => continue,
            };
            let name = match part[11].strip_prefix('"') {
                Some(name) => Some(name.trim_end_matches('"').to_owned()),
                None => self.constant(function.file, part[11]),
            };
            if let (&"object", Some(name)) = (read, name) {
                found.insert(Item::Named { kind, scope, name });
            }
        }
        found
    }

    fn constant(&self, file: &str, name: &str) -> Option<String> {
        let (_, rest) = self.text[file].split_once(&format!("const {name}: &str = \""))?;
        Some(rest.split('"').next()?.to_owned())
    }
}

/// Each function that a rule can reach, with the function that calls it.
fn reachable(calls: &[BTreeSet<Id>], start: Id) -> BTreeMap<Id, Option<Id>> {
    let mut reached = BTreeMap::new();
    let mut left = vec![(start, None)];
    while let Some((id, by)) = left.pop() {
        if let std::collections::btree_map::Entry::Vacant(entry) = reached.entry(id) {
            entry.insert(by);
            left.extend(calls[id].iter().map(|callee| (*callee, Some(id))));
        }
    }
    reached
}

/// The rule of each check, from the tables of the categories.
fn rules(code: &Code<'_>) -> BTreeMap<String, Id> {
    let mut rules = BTreeMap::new();
    for (file, text) in code.text {
        let words = tokens(text);
        for (at, _) in words.iter().enumerate().filter(|(at, word)| **word == "row" && words[at + 1] == "!") {
            let id = words[at + 5].trim_matches('"').to_owned();
            let function = if words[at + 8] == "::" { words[at + 9] } else { "judge" };
            let module = [module(file), vec![words[at + 7].to_owned()]].concat();
            if let Some(start) = code.in_module(&module, "", function, 0).first() {
                rules.insert(id, *start);
            }
        }
    }
    rules
}

#[test]
fn cards_declare_the_evidence_of_all_functions_that_their_rules_reach() {
    let files = layers::files();
    let text = files.into_iter().filter(|(file, _)| file.starts_with(FOLDER) && file != "src/checks/lib.rs");
    let text: BTreeMap<String, String> = text.collect();
    let code = Code::new(&text);
    let calls: Vec<BTreeSet<Id>> = (0..code.functions.len()).map(|id| code.callees(id)).collect();
    let reads: Vec<BTreeSet<Item>> = (0..code.functions.len()).map(|id| code.reads(id)).collect();
    let rules = rules(&code);
    let (mut wrong, mut restarting) = (Vec::new(), 0);
    for check in checks::all().filter(|check| check.rule().is_none()) {
        let start = rules.get(check.id).unwrap_or_else(|| panic!("no rule of {}", check.id));
        let reached = reachable(&calls, *start);
        let front = &check.card().front;
        restarting += usize::from(reached.keys().any(|id| code.functions[*id].name == "restart_method"));
        let mut missing: BTreeMap<&Item, Id> = BTreeMap::new();
        for id in reached.keys() {
            let new = reads[*id].iter().filter(|item| !front.needs.contains(item) && !front.uses.contains(item));
            new.for_each(|item| _ = missing.entry(item).or_insert(*id));
        }
        for (item, reader) in missing {
            let path = std::iter::successors(Some(reader), |id| reached[id]);
            let path: Vec<&str> = path.map(|id| code.functions[id].name).collect();
            wrong.push(format!("{}: {item} ({})", check.id, path.join(" < ")));
        }
    }
    assert!(restarting > 50, "the restart survey is recognized: {restarting}");
    assert!(wrong.is_empty(), "declare under uses, or do not read:\n{}", wrong.join("\n"));
}
