#!/usr/bin/env python3
"""Print the words of checks/knowledge/free-text.yaml from source trees.

Usage: scripts/vocabulary.py DIRECTORY... [+FILE...]

Reads the string literals of Go and Rust sources on lines that log, raise an error, record an event or set a
condition, and prints every word that occurs in at least two of them. Each +FILE is a plain text, all words of which
are kept. Words are letters only, lower case, at least three letters long; CamelCase names count as their parts.
"""

import collections
import os
import re
import sys
import textwrap

CALL = re.compile(
    r"(Errorf?|errors\.New|Eventf?|klog|[lL]og(ger)?|Wrapf?|Msg|Info|Warn|Debug|Fatal|bail!|anyhow!|warn!|info!"
    r"|debug!|error!|#\[error|panic!|context\(|expect\(|[rR]eason|[mM]essage|status\.|NewForbidden|field\.|Sprintf)"
)
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"|`([^`\n]*)`')
HOLES = re.compile(r'\\[ntr"\\]|%[-+#0-9.]*[a-zA-Z]|\{[^}]*\}')
CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
LEAST = 2


def words(text):
    found = []
    for word in re.findall(r"[A-Za-z]+", text):
        found += [word] if word.islower() else CAMEL.findall(word)
    return {word.lower() for word in found if len(word) >= 3}


def sources(root):
    for folder, _, files in os.walk(root):
        if "/vendor/" in folder or "/test" in folder:
            continue
        for name in files:
            if name.endswith((".go", ".rs")) and not name.endswith("_test.go") and "generated" not in name:
                yield os.path.join(folder, name)


def main():
    counts = collections.Counter()
    for argument in sys.argv[1:]:
        if argument.startswith("+"):
            with open(argument[1:], errors="replace") as file:
                counts.update({word: LEAST for word in words(file.read())})
            continue
        for path in sources(argument):
            with open(path, errors="replace") as file:
                for line in file:
                    if len(line) > 600 or not CALL.search(line):
                        continue
                    for match in LITERAL.finditer(line):
                        text = HOLES.sub(" ", match.group(1) or match.group(2) or "").strip()
                        if " " in text or re.fullmatch("[A-Za-z]+", text):
                            counts.update(words(text))
    kept = sorted(word for word, count in counts.items() if count >= LEAST)
    for line in textwrap.wrap(" ".join(kept), 106):
        print("  " + line)


if __name__ == "__main__":
    main()
