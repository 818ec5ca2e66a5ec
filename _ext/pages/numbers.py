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
    appendices = [page for page in pages if "/appendix/" in page]
    own = {page: page.split("/")[-1][0].upper() for page in appendices}
    free = (letter for letter in _names() if letter not in own.values())
    return {page: own.get(page) or next(free) for page in pages}


def _names() -> Iterator[str]:
    """A to Z without I and O, which look like digits; then AA, AB and so on."""
    clear = [letter for letter in ascii_uppercase if letter not in "IO"]
    yield from clear
    yield from map("".join, product(clear, repeat=2))


def number_pages(app: Any, env: Any) -> list[str]:
    """Number figures and formulas of pages without a number from 1, after their letter."""
    numbers_of = env.toc_fignumbers  # by page, then by kind
    bare = []
    for page in _in_order(env.toctree_includes, app.config.root_doc):
        kinds = numbers_of.get(page, {})
        if any(_is_bare(numbers) for numbers in kinds.values()):
            bare.append(page)
    for page, letter in letters(bare).items():
        for numbers in numbers_of[page].values():
            for count, name in enumerate(numbers, 1):
                numbers[name] = (letter, count)
    return bare


def _in_order(children: dict[str, list[str]], root: str) -> list[str]:
    """The pages from a root on, as the contents have them."""
    pages: list[str] = []
    waiting = [root]
    while waiting:
        page = waiting.pop(0)
        if page not in pages:
            pages.append(page)
            waiting = [*children.get(page, []), *waiting]
    return pages


def _is_bare(numbers: dict[str, tuple[Any, ...]]) -> bool:
    """Whether these numbers are those of a page without one."""
    return any(len(number) == 1 for number in numbers.values())


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("env-get-updated", number_pages, priority=900)  # after Sphinx has numbered
    return {"parallel_read_safe": True, "parallel_write_safe": True}
