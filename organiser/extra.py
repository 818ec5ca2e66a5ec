"""What is installed on demand alone, and what to say where it is missing."""

from __future__ import annotations

from importlib import import_module


class MissingExtra(RuntimeError):
    """Something needs an extra of the package; the sentence says how to install it."""


def need_desk(what: str) -> None:
    """Refuse where the extra `desk` is missing; asked before anything is computed or written."""
    try:
        import_module("tornado")
    except ModuleNotFoundError:
        told = f"{what} needs the extra desk: pip install 'committees[desk]'"
        raise MissingExtra(told) from None
