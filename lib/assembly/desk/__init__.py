"""The desk: volunteers call, and each is told at once; `python -m assembly.desk` opens one."""

from assembly.desk.desk import Decision, Desk, Refused
from assembly.desk.journal import JournalError
from assembly.desk.plan import Plan

__all__ = ["Decision", "Desk", "JournalError", "Plan", "Refused"]
