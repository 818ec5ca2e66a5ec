"""The book's Sphinx extensions, each a module; `_config.yml` names this package alone."""

from typing import Any

from myst_nb.core.render import load_mime_renders

from pages.figures import Picture
from pages.ledger import ClaimData
from pages.pictures import LivePicture

MODULES = (
    "api",
    "downloads",
    "figures",
    "footer",
    "head",
    "ledger",
    "numbers",
    "pictures",
    "site",
)


def setup(app: Any) -> dict[str, bool]:
    """Register them all."""
    # myst-nb looks for these among the entry points of installed packages, and this is none.
    load_mime_renders().extend([ClaimData, LivePicture, Picture])
    for module in MODULES:
        app.setup_extension(f"pages.{module}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
