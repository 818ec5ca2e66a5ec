"""A Sphinx extension: the page on the library is written from the library and the chapters.

The page says where the names of a package go. There come, for each public function and class: what
it is, by the first sentence of its docstring; which chapters use it; and how it is called. Of the
book's own package only what chapters use.
"""

import ast
import importlib
import inspect
import json
import re
from functools import lru_cache
from pathlib import Path
from pkgutil import resolve_name, walk_packages
from types import ModuleType
from typing import Any

ROOMS = ("committees.", "companion.", "organiser.")
TYPES = ("ArrayLike", "FloatArray", "IntArray", "BoolArray", "Shares")

#: The line of a page that is replaced by the names of a package.
PLACE = re.compile(r"^<!-- names of ([\w.]+) -->$", re.MULTILINE)

#: What comes there of a module: title, name, first sentence, a list, and how to call what is in it.
FORM = """### {}

`{}`: {}

{}````{{dropdown}} How to call them
:class-container: calls

```{{eval-rst}}
{}```
````

"""
#: What autodoc would misread in Markdown, and what it expects instead; examples stay.
MARKDOWN = re.compile(
    r"^ *>>>.*$|(\$\$[^$]+\$\$)|(\$[^$]+\$)|(``.+?``(?!`)|`[^`]+`)|(\|)", re.MULTILINE
)
RST = {1: ".. math:: {}\n", 2: ":math:`{}`", 3: "``{}``", 4: r"\{}"}


def public(module: ModuleType) -> dict[str, Any]:
    """The functions and classes that a module defines, by their whole names."""
    own = {n: x for n, x in vars(module).items() if n[0] != "_" and callable(x)}
    mine = {n: x for n, x in own.items() if getattr(x, "__module__", "") == module.__name__}
    return {f"{x.__module__}.{n}": x for n, x in mine.items()}


def used(source: str) -> set[str]:
    """The whole names of the functions and classes of the library that a program mentions."""
    nodes, found = list(ast.walk(ast.parse(source))), set()
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    known = {a.asname or a.name: f"{node.module}.{a.name}" for node in imports for a in node.names}
    mentioned = {ast.unparse(n) for n in nodes if isinstance(n, ast.Attribute | ast.Name)}
    for first, *rest in (text.split(".") for text in mentioned):
        thing = resolve_name(known[first]) if known.get(first, "").startswith(ROOMS) else None
        while rest and not callable(thing):
            thing = getattr(thing, rest.pop(0), None)
        if callable(thing):
            found.add(f"{thing.__module__}.{thing.__name__}")
    return found


@lru_cache
def users(chapters: Path) -> dict[str, list[str]]:
    """For each whole name, links to the notebooks that mention it."""
    links: dict[str, list[str]] = {}
    found = (path for path in chapters.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)
    for path in sorted(found, key=lambda path: (len(path.parts), path)):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        source = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
        short = re.match(r"0(\d)_|([a-z])_", path.stem)
        said = (short[1] or short[2].upper()) if short else path.stem.replace("_", " ")
        for name in used(source):
            links.setdefault(name, []).append(f"[{said}]({path.relative_to(chapters)})")
    return links


def sentence(thing: Any) -> str:
    """The first sentence of a docstring."""
    text = " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())
    return re.sub(r"(?<=[\w)]\.) (?=[A-Z(]).*", "", text)


def modules(package: str) -> list[ModuleType]:
    """The modules of a package, those first whose names the package offers; `beyond` is another."""
    top, beyond = importlib.import_module(package), f"{package}.beyond"
    found = [name for _, name, _ in walk_packages(top.__path__, f"{package}.") if name[-2:] != "__"]
    offered = [getattr(thing, "__module__", "") for thing in vars(top).values()]
    own = [name for name in dict.fromkeys([*offered, *found]) if name in found]
    return [importlib.import_module(name) for name in own if not name.startswith(beyond)]


def reference(package: str, chapters: Path) -> str:
    """The text about a package."""
    links, text = users(chapters), ""
    for module in modules(package):
        rows = full = ""
        for name, thing in public(module).items():
            if package != "companion" or name in links:
                role = f"{{py:obj}}`{name.rpartition('.')[2]} <{name}>`"
                where = f" Used in {', '.join(links[name])}." if name in links else ""
                rows += f"{role}\n: {sentence(thing)}{where}\n\n"
                kind = "class:: {}\n   :members:\n" if inspect.isclass(thing) else "function:: {}\n"
                full += f".. auto{kind.format(name)}\n"
        whole, title = module.__name__, module.__name__.rpartition(".")[2]
        text += FORM.format(title, whole, sentence(module), rows, full) if rows else ""
    return text


def set_options(app: Any, config: Any) -> None:
    """Types are told by the names that the library gives them, and need not lead anywhere."""
    config.nitpick_ignore_regex += [("py:class", ".*")]
    config.autodoc_type_aliases |= {name: name for name in TYPES}
    config.python_maximum_signature_line_length, config.toc_object_entries = 60, False


def fill_page(app: Any, name: str, source: list[str]) -> None:
    """Put the names in their places when a page is read."""
    chapters = Path(app.srcdir, "chapters")
    source[0] = PLACE.sub(lambda place: reference(place[1], chapters), source[0])


def write_rst(app: Any, what: Any, name: Any, thing: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are Markdown: give autodoc their formulas, code and bars as it expects them."""

    def rewritten(found: re.Match[str]) -> str:
        form, inside = RST.get(found.lastindex or 0), " ".join(found[0].strip("`$").split())
        return form.format(inside) if form else found[0]

    text = MARKDOWN.sub(rewritten, "\n".join(lines))
    # Without the empty line, what stands before a colon would be taken for a type.
    lines[:] = [""] * (what in ("attribute", "property")) + text.split("\n")


def setup(app: Any) -> dict[str, bool]:
    """Register the extension, and what it needs of Sphinx."""
    for extension in ("sphinx.ext.autodoc", "sphinx.ext.napoleon"):
        app.setup_extension(extension)
    app.connect("config-inited", set_options)
    app.connect("source-read", fill_page)
    app.connect("autodoc-process-docstring", write_rst, priority=1)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
