"""Figures and formulas have numbers of their own on every page."""

from __future__ import annotations

from types import SimpleNamespace

from pages import numbers


def environment():
    """Four pages: one with a number of its own, an appendix and two without a number."""
    pages = ["chapters/one", "chapters/claims", "chapters/appendix/b_proofs", "chapters/prices"]
    return SimpleNamespace(
        toctree_includes={"index": pages, "chapters/prices": ["index"]},
        toc_fignumbers={
            "chapters/one": {"figure": {"fig-a": (1, 1)}},
            "chapters/appendix/b_proofs": {"figure": {"fig-b": (1,)}, "displaymath": {"e": (4,)}},
            "chapters/prices": {"figure": {"fig-c": (2,), "fig-d": (3,)}},
        },
    )


def test_pages_without_a_number_are_numbered_after_their_letter():
    env, app = environment(), SimpleNamespace(config=SimpleNamespace(root_doc="index"))
    changed = numbers.number_pages(app, env)
    assert changed == ["chapters/appendix/b_proofs", "chapters/prices"]
    assert env.toc_fignumbers == {
        "chapters/one": {"figure": {"fig-a": (1, 1)}},
        "chapters/appendix/b_proofs": {
            "figure": {"fig-b": ("B", 1)},
            "displaymath": {"e": ("B", 1)},
        },
        "chapters/prices": {"figure": {"fig-c": ("A", 1), "fig-d": ("A", 2)}},
    }
    assert numbers.number_pages(app, env) == []  # a page that was not read again keeps its numbers


def test_letters_are_clear_and_never_end():
    pages = ["chapters/appendix/c_bernstein", *(f"page{k}" for k in range(40))]
    found = numbers.letters(pages)
    assert len(set(found.values())) == len(pages)
    assert found["chapters/appendix/c_bernstein"] == "C"
    assert not {"I", "O"} & set(found.values())


def test_setup_numbers_after_sphinx_did():
    connected = []
    app = SimpleNamespace(connect=lambda *what, **when: connected.append((*what, when)))
    assert all(numbers.setup(app).values())
    assert connected == [("env-get-updated", numbers.number_pages, {"priority": 900})]
