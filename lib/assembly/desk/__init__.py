"""The desk: volunteers call, and each is told at once; `python -m assembly.desk` is its prompt."""

from assembly.desk.desk import Decision, Desk, Refused
from assembly.desk.journal import JournalError

__all__ = ["Decision", "Desk", "JournalError", "Refused"]
