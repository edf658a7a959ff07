#!/usr/bin/env python3
"""site.py TOP [SITE] -- checks links. Every link between the Markdown files of the source tree TOP must lead to a file, and an
anchor to a heading, or with SITE the same for the pages of `make html`: each link and image must lead to a file and an anchor of the site,
each document must have a page with a title and text, which index.html reaches, no id may occur twice on a page, no link may
show the name of a file, and what search.js lists must be there. The glossary must have every field and
every compressor. Prints what is wrong, then the number of links.
"""
import html.parser
import pathlib
import re
import sys

top = pathlib.Path(sys.argv[1]).resolve()
site = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
wrong, links = [], 0


def headings(text):
    """The anchors that GitHub gives to the headings of a Markdown text."""
    found, fenced = set(), False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and (m := re.match(r"#+ (.*)", line)):
            name = re.sub(r"[^\w\- ]", "", m.group(1).strip().lower()).replace(" ", "-")
            number = 0
            while (anchor := name + (f"-{number}" if number else "")) in found:
                number += 1
            found.add(anchor)
    return found


def check_sources():
    global links
    pages = [top / "README.md", top / "CHANGELOG.md", top / "lib/README.md", *sorted((top / "docs").rglob("*.md"))]
    for page in pages:
        text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"\w+:", target):
                continue
            links += 1
            file, _, anchor = target.partition("#")
            to = (page.parent / file).resolve() if file else page
            if not to.exists() or anchor and anchor not in headings(to.read_text()):
                wrong.append(f"{page.relative_to(top)}: {target}")


def letters(text):
    return re.sub(r"[^\w|+=]", "", text)


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.ids, self.text, self.twice = [], set(), "", []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key == "id":
                self.twice += [value] if value in self.ids else []
                self.ids.add(value)
            elif key in ("href", "src"):
                self.links.append(value)

    def handle_data(self, data):
        self.text += data


def check_site():
    global links
    pages = {path: Page(path) for path in site.glob("*.html")}
    index = site / "index.html"
    reached, queue = {index}, [index]
    for path, page in pages.items():
        wrong.extend(f"{path.name}: id {name} twice" for name in page.twice)
        if len(page.text) < 500 or not re.search(r"<h1>\w", path.read_text()):
            wrong.append(f"{path.name}: no title or no text")
        wrong.extend(f"{path.name}: a link shows {name}" for name in re.findall(r"<a [^>]*>(?:<code>)?([\w/.-]+\.md)<", path.read_text()))
    while queue:
        path = queue.pop()
        for target in pages[path].links:
            if re.match(r"\w+:", target):
                continue
            links += 1
            file, _, anchor = target.partition("#")
            to = (path.parent / file).resolve() if file else path
            if not to.is_relative_to(site) or not to.is_file() or anchor and anchor not in pages[to].ids:
                wrong.append(f"{path.name}: {target}")
            elif to in pages and to not in reached:
                reached.add(to)
                queue.append(to)
    for target in re.findall(r'^\["([^"]*)"', (site / "search.js").read_text(), re.M):
        file, _, anchor = target.partition("#")
        if anchor and anchor not in pages[site / file].ids:
            wrong.append(f"search.js: {target}")
    for document in (top / "docs").rglob("*.md"):
        path = site / (document.stem + ".html")
        if path not in reached:
            wrong.append(f"{path.name}: not reached from index.html")
    terms = pages[site / "glossary.html"].text
    words = re.findall(r"^\| `(\w+)`", (top / "docs/generated/metrics.md").read_text(), re.M)
    words += re.findall(r"X\((\w+)\)", (top / "lib/compress/all.c").read_text())
    wrong.extend(f"glossary.html: {word} is missing" for word in words if not re.search(rf"\b{word}\b", terms))
    briefs = re.findall(r"^## \w+\n\n(.*)", (top / "docs/generated/compressors.md").read_text(), re.M)
    wrong.extend(f"glossary.html: {brief}" for brief in briefs if letters(brief) not in letters(terms))


check_site() if site else check_sources()
print(*wrong, sep="\n", end="\n" if wrong else "")
print(f"{links} links")
sys.exit(bool(wrong))
