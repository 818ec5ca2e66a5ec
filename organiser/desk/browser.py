"""A desk in the browser, served to this machine alone.

Every tab is a phone: decisions are made one after the other, whichever tab asks. Who does not know
the address with its token, comes from another site, or calls this machine by another name, is
refused. Pages load nothing from elsewhere.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, HTTPError, RequestHandler

from organiser.desk import outlook
from organiser.desk.desk import Desk, Refused
from organiser.desk.journal import JournalError
from organiser.desk.state import State

FOLDER = Path(__file__).parent
#: What a page may load and do.
POLICY = (
    "default-src 'self'; img-src data:; frame-ancestors 'none'; form-action 'none'; base-uri 'none'"
)
#: No answer of a caller is longer.
MAX_BODY_BYTES = 100_000
TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css"}


class Handler(RequestHandler):  # type: ignore[misc]
    """Lets in who knows the token, from this machine and from our own page."""

    def initialize(self, desk: Desk, host: str, title: str, answered: dict[str, Any]) -> None:
        """Keep what all requests share."""
        self.desk = desk
        self.host = host
        self.title = title
        self.answered = answered

    def set_default_headers(self) -> None:
        """Forbid whatever the page does not need."""
        self.set_header("Content-Security-Policy", POLICY)
        self.set_header("Cache-Control", "no-store")
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("X-Content-Type-Options", "nosniff")

    def prepare(self) -> None:
        """Refuse requests that other sites may have sent, or that call us by another name."""
        origin = self.request.headers.get("Origin", f"http://{self.host}")
        if self.request.host != self.host or origin != f"http://{self.host}":
            raise HTTPError(403)
        is_json = self.request.headers.get("Content-Type", "") == "application/json"
        if self.request.method == "POST" and not (is_json and "Origin" in self.request.headers):
            raise HTTPError(403)  # a form of another site cannot send these


class Files(Handler):
    """The page, its script and its style."""

    def get(self, name: str) -> None:
        """Send a file."""
        path = FOLDER / (name or "desk.html")
        self.set_header("Content-Type", f"{TYPES[path.suffix[1:]]}; charset=utf-8")
        self.write(path.read_text("utf-8").replace("{title}", self.title))


class Now(Handler):
    """How the recruitment stands."""

    def get(self) -> None:
        """Send all that the page shows."""
        self.write(standing(self.desk))


class Do(Handler):
    """Something happens: a caller, a withdrawal, a correction."""

    def post(self) -> None:
        """Carry it out once, however often a request is sent again, and say what came of it."""
        try:
            asked = json.loads(self.request.body)
            key = str(asked.pop("key"))
        except (ValueError, AttributeError, KeyError, TypeError):
            raise HTTPError(400) from None
        if key not in self.answered:
            try:
                self.answered[key] = {"said": act(self.desk, **asked)}
            except (Refused, ValueError, TypeError, AttributeError) as error:
                self.answered[key] = {"refused": str(error)}
            except JournalError as error:
                self.set_status(507)
                self.write({"refused": str(error)})
                return
        self.write(self.answered[key] | {"now": standing(self.desk)})


def act(desk: Desk, what: str, **asked: Any) -> str:
    """Carry out what a page asks for; what to say."""
    number = asked.pop("number", None)
    if what == "offer":
        decision = desk.offer(**asked)
        word = "ACCEPTED" if decision else "not accepted"
        return f"Caller {decision.number} is {word}: {decision.reason}."
    if what == "correct":
        decision = desk.correct(number, **asked)
        return f"Caller {number} {'has a seat' if decision else 'has no seat'}: {decision.reason}."
    actions: dict[str, Callable[[int], None]] = {
        "withdraw": desk.withdraw,
        "again": desk.seat_again,
        "reserve": desk.keep_in_reserve,
        "decline": desk.decline,
    }
    if what not in actions:
        raise ValueError(f"the desk cannot {what!r}")
    actions[what](number)
    return f"{desk.state.last}."


def standing(desk: Desk) -> dict[str, Any]:
    """All that a page shows, as plain data."""
    state = desk.state
    # JSON has no word for what is not finite.
    until_next, until_last = (n if np.isfinite(n) else None for n in outlook.ahead(state))
    return {
        "words": str(state),
        "strategy": str(state.strategy),
        "size": state.size,
        "seated": state.seated,
        "last": state.last,
        "features": {name: list(values) for name, values in state.problem.features.items()},
        "rows": _groups(state),
        "next": until_next,
        "ahead": until_last,
        "late": outlook.late(state),
        "false": outlook.FALSE_ALARMS,
        "callers": [_caller(state, number) for number in state.callers],
        "reserve": outlook.reserve(state),
    }


def _groups(state: State) -> list[dict[Any, Any]]:
    """A row for each value."""
    table = outlook.progress(state).drop(columns="missing")
    table["room"] = outlook.room(state)
    return table.reset_index().to_dict("records")


def _caller(state: State, number: int) -> dict[str, Any]:
    caller = state.callers[number]
    return {
        "number": number,
        "person": list(caller.person.values()),
        "seated": number in state.seats,
        "id": caller.id,
        "accepted": caller.accepted,
        "reserve": caller.reserve,
    }


def application(desk: Desk, host: str, token: str, title: str = "Desk") -> Application:
    """The server's routes; all of them begin with the token."""
    shared = {"desk": desk, "host": host, "title": title, "answered": {}}
    routes = [("now", Now), ("do", Do), (r"(|desk\.js|desk\.css)", Files)]
    return Application([(f"/{token}/{path}", kind, shared) for path, kind in routes])


def serve(desk: Desk, port: int = 0, is_shown: bool = True, title: str = "Desk") -> None:
    """Serve a desk until Ctrl-C."""
    asyncio.run(_serve(desk, port, is_shown, title))


async def _serve(desk: Desk, port: int, is_shown: bool, title: str) -> None:
    sockets = bind_sockets(port, "127.0.0.1")
    host = f"127.0.0.1:{sockets[0].getsockname()[1]}"
    token = secrets.token_urlsafe(16)
    served = application(desk, host, token, title)
    HTTPServer(served, max_body_size=MAX_BODY_BYTES).add_sockets(sockets)
    address = f"http://{host}/{token}/"
    print(f"The desk is open at {address} (close it with Ctrl-C).", flush=True)
    if is_shown:
        webbrowser.open(address)
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        print("\nThe desk is closed.")
