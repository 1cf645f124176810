#!/usr/bin/env python3
"""Reads a git checkout of linkerd2 and prints what checks/knowledge would have to learn of a release.

    scripts/release-facts.py CHECKOUT [--tag edge-26.9.1]   what differs from checks/knowledge, file by file
    scripts/release-facts.py CHECKOUT --write               writes the table of chart values anew, through the newest edge tag

Exit status: 0 nothing to learn, 1 something, 2 usage. Needs git and PyYAML. docs/knowledge.md says what to do with each line.
"""

import argparse
import re
import sys
from pathlib import Path

import yaml

import charts

KNOWLEDGE = Path(__file__).resolve().parent.parent / "checks" / "knowledge"
# The first edge of the table of chart values: the one that opened 2.12.
FIRST = "edge-22.8.3"


def known(name):
    """A knowledge file, parsed."""
    return yaml.safe_load((KNOWLEDGE / name).read_text())


def annotations(checkout, tree):
    """Keys that the code names and annotations.yaml does not."""
    text = checkout.blob(tree["pkg/k8s/labels.go"])
    prefix = dict(re.findall(r'(\w*Prefix)\s*=\s*"([^"]+)"', text))
    found = set()
    for name, base, rest in re.findall(r'(\w+)\s*=\s*(?:(\w*Prefix)\s*\+\s*)?"([^"]*)"', text):
        key = prefix.get(base, "") + rest
        if "linkerd.io/" in key and not name.endswith("Prefix") and not key.endswith("/"):
            found.add(key)
    ours = (KNOWLEDGE / "annotations.yaml").read_text() + (KNOWLEDGE / "native-sidecar.yaml").read_text()
    for key in sorted(found):
        if key not in ours:
            yield f"the key {key}"


def rows(checkout, tree):
    """Rows of linkerd check, by their anchors."""
    anchors = set()
    for path, blob in tree.items():
        if path.endswith(".go") and "_test" not in path:
            for anchor in re.findall(r'(?i)hintAnchor:\s*"([^"]+)"', checkout.blob(blob)):
                anchors.add(anchor)
    ours = (KNOWLEDGE / "linkerd-check.yaml").read_text()
    for anchor in sorted(anchors):
        if not re.search(rf"\b{re.escape(anchor)}\b", ours):
            yield f"the row {anchor}"


def minimums(checkout, tree, tag):
    """The Kubernetes that the chart asks for, and the images that it pins."""
    chart = yaml.safe_load(checkout.blob(tree["charts/linkerd-control-plane/Chart.yaml"]))
    asks = re.search(r"(\d+\.\d+)", chart.get("kubeVersion", ""))
    facts = known("releases.yaml")
    held = [row["minimum"] for row in facts["kubernetes-minimums"] if charts.edge(row["from"]) <= charts.edge(tag)]
    if asks and (not held or str(held[-1]) != asks[1]):
        yield f"Kubernetes {asks[1]} is the minimum from {tag} on (known: {held[-1] if held else 'nothing'})"
    cni = yaml.safe_load(checkout.blob(tree["charts/linkerd2-cni/values.yaml"]))
    plugin = str(cni["image"]["version"]).removeprefix("v")
    row = [row for row in facts["releases"] if charts.edge(row["opened-by"]) <= charts.edge(tag)][-1]
    if plugin not in (KNOWLEDGE / "cni-plugin.yaml").read_text():
        yield f"linkerd-cni v{plugin} is what the chart installs, and cni-plugin.yaml does not know it"
    elif row["opened-by"] == tag and str(row["cni-plugin"]) != plugin:
        yield f"linkerd-cni v{plugin} is what the chart of {tag} installs; for {row['minor']} v{row['cni-plugin']} is known"


def definitions(checkout, tree):
    """Versions of custom resources that the crds chart defines."""
    ours = (KNOWLEDGE / "control-plane.yaml").read_text()
    for path, blob in sorted(tree.items()):
        if not path.startswith("charts/linkerd-crds/templates/") or not path.endswith(".yaml"):
            continue
        text = checkout.blob(blob)
        name = re.search(r"(?m)^  name: (\S+\.linkerd\.io)\s*$", text)
        if not name:
            continue
        if name[1] not in ours:
            yield f"the definition {name[1]}"


def values(checkout, tag):
    """Chart values that come, go, or are read otherwise than the table says."""
    table = known("charts.yaml")["charts"]
    for chart in charts.PLACES:
        found = charts.keys(checkout, tag, chart)
        ours = table[chart]["values"]
        if found is None:
            if table[chart].get("until") is None:
                yield f"the chart {chart} is gone"
            continue
        there = {path for path, line in ours.items() if holds(line, tag)}
        for path in sorted(set(found) - there):
            yield f"{chart}: {path} ({found[path][0]}) is new"
        for path in sorted(there - set(found)):
            yield f"{chart}: {path} is gone"


def holds(line, tag):
    """Whether a line of the table says that a value is there at a tag."""
    words = line.split()
    unread = words.index("unread") if "unread" in words else len(words)
    of = dict(zip(words[1:unread:2], words[2:unread:2]))
    since, until = of.get("since"), of.get("until")
    return (since is None or charts.edge(since) <= charts.edge(tag)) and (
        until is None or charts.edge(tag) <= charts.edge(until)
    )


def write(checkout):
    """Writes the table of chart values anew."""
    tags = [tag for tag in checkout.edges() if charts.edge(tag) >= charts.edge(FIRST)]
    path = KNOWLEDGE / "charts.yaml"
    text = path.read_text()
    head = text[: text.index("\ncharts:\n")]
    head = re.sub(r"(?m)^through: .*$", f"through: {tags[-1]}", head)
    out = [head, "charts:"]
    for chart in charts.PLACES:
        lines, there = charts.history(checkout, chart, tags)
        out.append(f"  {chart}:")
        if there[-1] != tags[-1]:
            out.append(f"    until: {there[-1]}")
        out.append("    values:")
        out += [f"      {value}: {line}" for value, line in lines.items()]
    path.write_text("\n".join(out) + "\n")


def last_edges(checkout, tag):
    """The last edges of the months before that of the tag that checks/knowledge lacks."""
    lasts = known("releases.yaml")["last-edges"]
    found = {}
    for edge in checkout.edges():
        year, month, number = charts.edge(edge)
        if (22, 8) <= (year, month) < charts.edge(tag)[:2]:
            found[f"{year}.{month}"] = max(number, found.get(f"{year}.{month}", 0))
    for month, number in found.items():
        if lasts.get(month) != number:
            yield f'last-edges: "{month}": {number} (known: {lasts.get(month)})'


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", help="a git checkout or bare clone of linkerd2")
    parser.add_argument("--tag", help="the edge tag to read; the newest one when not given")
    parser.add_argument("--write", action="store_true", help="write checks/knowledge/charts.yaml anew")
    args = parser.parse_args()
    checkout = charts.Checkout(args.checkout)
    tag = args.tag or (checkout.edges() or [""])[-1]
    if not re.fullmatch(r"edge-\d+\.\d+\.\d+", tag):
        parser.error(f"{args.checkout} has no edge tag; fetch its tags, or name one with --tag")
    if args.write:
        write(checkout)
        return 0
    tree = checkout.tree(tag)
    newest = known("releases.yaml")["newest-edge"]
    sections = {
        "releases.yaml": [*minimums(checkout, tree, tag), *last_edges(checkout, tag)]
        + ([f"newest-edge: {tag} (known: {newest})"] if charts.edge(newest) < charts.edge(tag) else []),
        "annotations.yaml": [*annotations(checkout, tree)],
        "charts.yaml": [*values(checkout, tag)],
        "control-plane.yaml": [*definitions(checkout, tree)],
        "linkerd-check.yaml": [*rows(checkout, tree)],
    }
    for name, lines in sections.items():
        if lines:
            print(f"checks/knowledge/{name}")
            for line in lines:
                print(f"  {line}")
    some = any(sections.values())
    if not some:
        print(f"{tag}: nothing to learn")
    return int(some)


if __name__ == "__main__":
    sys.exit(main())
