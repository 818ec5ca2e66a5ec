"""A Sphinx extension: the page on the library, written by Sphinx's own autodoc.

A page says where the modules of a package go. For each there comes what it is for, a table of what
it offers, and, folded, how to call that. Docstrings are Markdown, and autodoc is told so.
"""

import importlib
import inspect
import re
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

from docutils import nodes
from sphinx import addnodes

#: Values of constants that take more letters are not shown.
LONGEST_VALUE = 24
#: The line of a page that is replaced by the modules of a package.
PLACE = re.compile(r"^<!-- modules of ([\w.]+) -->$", re.MULTILINE)

#: What comes there of a module.
FORM = """### {title}

`{module}`: {purpose}

```{{eval-rst}}
.. autosummary::
   :nosignatures:

{names}
```

````{{dropdown}} How to call them
:class-container: calls

```{{eval-rst}}
.. automodule:: {module}
   :members:
```
````

"""
#: What autodoc would misread in Markdown: code, formulas and bars. Examples stay as they are.
EXAMPLE = r"^ *>>>.*$"
DISPLAYED = r"\$\$(?P<displayed>[^$]+)\$\$"
FORMULA = r"\$(?P<formula>[^$]+)\$"
LONG_CODE = r"``(?P<long_code>.+?)``(?!`)"
CODE = r"`(?P<code>[^`]+)`"
BAR = r"(?P<bar>\|)"
MARKDOWN = re.compile(
    "|".join([EXAMPLE, DISPLAYED, FORMULA, LONG_CODE, CODE, BAR]),
    re.MULTILINE,
)
#: What it expects instead.
RST = {
    "displayed": ".. math:: {}\n",
    "formula": ":math:`{}`",
    "long_code": "``{}``",
    "code": "``{}``",
    "bar": r"\{}",
}


def modules(package: str) -> list[ModuleType]:
    """The modules of a package, in alphabetical order; `beyond` is a package of its own."""
    path = importlib.import_module(package).__path__
    names = [module.name for module in walk_packages(path, f"{package}.")]
    own = [name for name in names if not name.startswith(f"{package}.beyond")]
    return [importlib.import_module(name) for name in own if not name.endswith("__main__")]


def public(module: ModuleType) -> list[str]:
    """The names of the functions and classes that a module defines and describes."""
    return [
        name
        for name, thing in vars(module).items()
        if inspect.isclass(thing) or inspect.isfunction(thing)
        if thing.__module__ == module.__name__ and not name.startswith("_") and thing.__doc__
    ]


def reference(package: str) -> str:
    """The text about a package."""
    parts = []
    for module in modules(package):
        path = module.__name__
        names = [f"   ~{path}.{name}" for name in public(module)]
        if names:
            title = path.rpartition(".")[2]
            purpose, _, _ = (inspect.getdoc(module) or "").partition("\n\n")
            text = FORM.format(title=title, module=path, purpose=purpose, names="\n".join(names))
            parts.append(text)
    return "".join(parts)


def fill_page(app: Any, name: str, source: list[str]) -> None:
    """Put the modules in their places when a page is read."""
    source[0] = PLACE.sub(lambda place: reference(place[1]), source[0])


def write_rst(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Give autodoc the formulas, code and bars of a docstring as it expects them."""

    def rewritten(found: re.Match[str]) -> str:
        kind = found.lastgroup
        if kind is None:
            return found[0]
        code_follows = text[found.end() :].startswith("`")
        inside = " ".join(found[kind].split())
        return RST[kind].format(inside) + (r"\ " if code_follows else "")

    text = "\n".join(lines)
    text = MARKDOWN.sub(rewritten, text)
    lines[:] = text.split("\n")
    if what in ("attribute", "data", "property"):
        lines.insert(0, "")  # or what stands before a colon would be taken for a type


def name_rows(app: Any, doctree: nodes.document) -> None:
    """Make the names the headers of their rows, for those who hear a table."""
    for table in doctree.findall(nodes.table):
        if "autosummary" in " ".join(table["classes"]):
            names = next(iter(table.findall(nodes.colspec)))
            names["stub"] = 1


def drop_long_values(app: Any, doctree: nodes.document) -> None:
    """Leave out what a constant is equal to, if that is no number or short word but a whole object.

    Such values are too wide for a phone, and some tell of the machine.
    """
    for note in list(doctree.findall(addnodes.desc_annotation)):
        if note.astext().startswith(" = ") and len(note.astext()) > LONGEST_VALUE:
            note.parent.remove(note)


def setup(app: Any) -> dict[str, bool]:
    """Register the extension, and what it needs of Sphinx."""
    for extension in ("autodoc", "autosummary", "napoleon"):
        app.setup_extension(f"sphinx.ext.{extension}")
    app.connect("source-read", fill_page)
    app.connect("autodoc-process-docstring", write_rst, priority=1)
    app.connect("doctree-read", name_rows)
    app.connect("doctree-read", drop_long_values)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
