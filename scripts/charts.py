"""The keys of Linkerd's charts at a tag of a checkout: what values.yaml and values-ha.yaml hold, and what templates read."""

import re
import subprocess

import yaml

# Where each chart has been, newest place first.
PLACES = {
    "linkerd-crds": ["charts/linkerd-crds"],
    "linkerd-control-plane": ["charts/linkerd-control-plane"],
    "linkerd2-cni": ["charts/linkerd2-cni"],
    "linkerd-viz": ["viz/charts/linkerd-viz"],
    "linkerd-multicluster": ["multicluster/charts/linkerd-multicluster"],
    "linkerd-jaeger": ["jaeger/charts/linkerd-jaeger"],
}
PARTIALS = "charts/partials"
REFERENCE = re.compile(r"(?<![\w.])(?:\$\w*)?\.Values((?:\.[A-Za-z_]\w*)+)")
# `((.Values.a).b).c` is `.Values.a.b.c` that minds no missing map.
GUARDED = re.compile(r"\((\$?\w*\.Values[.\w]*)\)\.")
# A map that is printed as it is, or walked over: it takes any key.
PRINTED = re.compile(r"(?:toYaml|toJson|range (?:\$\w+, *\$\w+ *:= *)?)\(?\s*\$?\w*\.Values((?:\.[A-Za-z_]\w*)+)")
PIPED = re.compile(r"\.Values((?:\.[A-Za-z_]\w*)+) *\| *(?:toYaml|toJson)")
WALKED = re.compile(r"with \$?\w*\.Values((?:\.[A-Za-z_]\w*)+) *-?}}\s*{{-? *toYaml \.")
RESOURCES = re.compile(r'include "partials\.resources" \$?\w*\.Values((?:\.[A-Za-z_]\w*)+)')
# What is given to a template that reads `.Values.nodeSelector` and `.Values.tolerations` of it.
PLACED = re.compile(r'include "linkerd\.(node-selector|tolerations)" \(dict "Values" \.Values((?:\.[A-Za-z_]\w*)+)\)')
DEFINED = re.compile(r'{{-? *define +"([^"]+)"')
INCLUDED = re.compile(r'(?:include|template) +"([^"]+)"')
# Maps that a template walks over at every depth.
DEEP = {"proxy.inbound", "proxy.outbound"}


class Checkout:
    """A git folder of linkerd2, read at tags."""

    def __init__(self, folder):
        self.folder = folder
        self.files = {}

    def git(self, *words):
        return subprocess.run(
            ["git", "-C", self.folder, *words], check=True, capture_output=True, text=True
        ).stdout

    def tree(self, tag):
        """Every file of a tag, as path to blob."""
        listed = {}
        for line in self.git("ls-tree", "-r", tag).splitlines():
            meta, path = line.split("\t", 1)
            listed[path] = meta.split()[2]
        return listed

    def blob(self, name):
        if name not in self.files:
            self.files[name] = self.git("cat-file", "blob", name)
        return self.files[name]

    def edges(self):
        """Its edge tags, oldest first."""
        tags = [tag for tag in self.git("tag", "-l", "edge-*").split() if re.fullmatch(r"edge-\d+\.\d+\.\d+", tag)]
        return sorted(tags, key=edge)


def edge(tag):
    """An edge tag as numbers."""
    return tuple(int(part) for part in tag.removeprefix("edge-").split("."))


def kind_of(value):
    """What a default has to be kept as."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, list):
        return "list"
    if isinstance(value, dict):
        return "map"
    return "any"


def leaves(value, path=""):
    """The ends of a tree, with what they are. A map that is empty, or whose keys are no words, takes anything."""
    if isinstance(value, dict) and value and all(re.fullmatch(r"[\w-]+", str(key)) for key in value):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else str(key))
    elif path:
        yield path, "open" if isinstance(value, dict) else kind_of(value)


def templates(checkout, tree, home):
    """The texts of a chart's templates, with those of the partials that they include, and theirs."""
    def under(place):
        return [checkout.blob(blob) for path, blob in tree.items() if path.startswith(f"{place}/templates/")]
    texts = under(home)
    partials = {}
    for text in under(PARTIALS):
        for part in re.split(r"(?={{-? *define )", text):
            if named := DEFINED.match(part):
                partials[named[1]] = part
    wanted = [name for text in texts for name in INCLUDED.findall(text)]
    while wanted:
        part = partials.pop(wanted.pop(), None)
        if part:
            texts.append(part)
            wanted.extend(INCLUDED.findall(part))
    return [flat(text) for text in texts]


def flat(text):
    """A template without the brackets that guard against missing maps."""
    while GUARDED.search(text):
        text = GUARDED.sub(r"\1.", text)
    return text


def keys(checkout, tag, chart):
    """The keys of a chart at a tag: path to (kind, whether read). None where there is no such chart."""
    tree = checkout.tree(tag)
    home = next((place for place in PLACES[chart] if f"{place}/Chart.yaml" in tree), None)
    if home is None:
        return None
    found = {}
    for name in ("values.yaml", "values-ha.yaml"):
        if f"{home}/{name}" in tree:
            for path, kind in leaves(yaml.safe_load(checkout.blob(tree[f"{home}/{name}"])) or {}):
                found.setdefault(path, kind)
    texts = templates(checkout, tree, home)
    reads = {match[1:] for text in texts for match in REFERENCE.findall(text)}
    # The injector renders this chart with the values of the control plane, and with more that nobody sets.
    injector = templates(checkout, tree, "charts/patch") if chart == "linkerd-control-plane" else []
    injected = {match[1:] for text in injector for match in REFERENCE.findall(text)}
    whole = {match[1:] for text in texts for which in (PRINTED, PIPED, WALKED) for match in which.findall(text)}
    measured = {match[1:] for text in texts for match in RESOURCES.findall(text)}
    for text in texts:
        for which, of in PLACED.findall(text):
            path = f"{of[1:]}.{'nodeSelector' if which == 'node-selector' else which}"
            reads.add(path)
            found.setdefault(path, "open" if which == "node-selector" else "list")
    # The innermost first: a map that is read for what is in it has ends of its own.
    for path in sorted(reads, key=lambda path: (-path.count("."), path)):
        above = path.split(".")
        inside = any(".".join(above[:count]) in found for count in range(1, len(above)))
        if path not in found and not inside and not any(known.startswith(path + ".") for known in found):
            found[path] = "any"
    for path in list(found):
        if "esources" in path and path.rpartition(".")[2] in ("limit", "request"):
            measured.add(path.rpartition(".")[0].rpartition(".")[0])
        if path.endswith("Resources") and found[path] == "any":
            measured.add(path)
    for path in sorted(whole | DEEP | measured):
        inside = [known for known in found if known == path or known.startswith(path + ".")]
        if not inside or found.get(path) in ("list", "text", "any") and path not in measured:
            continue
        for known in inside:
            del found[known]
        found[path] = "resources" if path in measured else "open"
    return {path: (kind, is_read(path, reads | injected)) for path, kind in found.items()}


def is_read(path, reads):
    """Whether a template reads a path, or a map that it is in, or something in it."""
    parts = path.split(".")
    whole = {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
    return bool(whole & reads) or any(read.startswith(path + ".") for read in reads)


def history(checkout, chart, tags):
    """What a chart's keys were over tags, oldest first: path to a line of the table."""
    there = {}
    ends = []
    for tag in tags:
        found = keys(checkout, tag, chart)
        if found is None:
            continue
        ends.append(tag)
        for path, (kind, read) in found.items():
            there.setdefault(path, []).append((tag, kind, read))
    lines = {}
    for path, seen in sorted(there.items()):
        kinds = {kind for _, kind, _ in seen}
        kind = seen[-1][1] if len(kinds) == 1 else ("open" if "open" in kinds else "any")
        words = [kind]
        if seen[0][0] != ends[0]:
            words.append(f"since {seen[0][0]}")
        if seen[-1][0] != ends[-1]:
            words.append(f"until {seen[-1][0]}")
        unread = [tag for tag, _, read in seen if not read]
        if unread:
            words.append("unread")
            if unread[-1] != seen[-1][0]:
                words.append(f"until {unread[-1]}")
        lines[path] = " ".join(words)
    return lines, ends
