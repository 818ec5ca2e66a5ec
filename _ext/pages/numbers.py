"""A Sphinx extension: figures and formulas are numbered page by page.

Sphinx counts through all pages without a number, so that an appendix may have a "Fig. 2" that is
not the paper's. Here an appendix has the letter of its file's name, `a_algorithms`, and every other
page the next letter that is free: Fig. A.1, Fig. F.1, formula (F.1).
"""

from collections.abc import Iterator
from itertools import product
from string import ascii_uppercase
from typing import Any


def letters(pages: list[str]) -> dict[str, str]:
    """The letter of each page, in the order of the contents.

    >>> letters(["chapters/appendix/a_algorithms", "chapters/prices", "chapters/limits"])
    {'chapters/appendix/a_algorithms': 'A', 'chapters/prices': 'B', 'chapters/limits': 'C'}
    """
    own = {page: page.split("/")[-1][0].upper() for page in pages if "/appendix/" in page}
    free = (name for name in _names() if name not in own.values())
    return {page: own.get(page) or next(free) for page in pages}


def _names() -> Iterator[str]:
    """A to Z without I and O, which look like digits; then AA, AB and so on."""
    clear = [letter for letter in ascii_uppercase if letter not in "IO"]
    yield from clear
    yield from map("".join, product(clear, repeat=2))


def number_pages(app: Any, env: Any) -> list[str]:
    """Number figures and formulas of pages without a number from 1, after their letter."""
    order = env.toctree_includes
    found: list[str] = []

    def walk(page: str) -> None:
        if page not in found:
            found.append(page)
            for child in order.get(page, []):
                walk(child)

    walk(app.config.root_doc)
    kinds = env.toc_fignumbers
    bare = [page for page in found if any(map(_is_bare, kinds.get(page, {}).values()))]
    for page, letter in letters(bare).items():
        for numbers in kinds[page].values():
            numbers.update({key: (letter, count) for count, key in enumerate(numbers, 1)})
    return bare


def _is_bare(numbers: dict[str, tuple[Any, ...]]) -> bool:
    """Whether these numbers are those of a page without one."""
    return any(len(number) == 1 for number in numbers.values())


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("env-get-updated", number_pages, priority=900)  # after Sphinx has numbered
    return {"parallel_read_safe": True, "parallel_write_safe": True}
