"""The desk: volunteers call, and each is told at once; `assembly-desk` opens one."""

from organiser.desk.desk import Decision, Desk, Refused
from organiser.desk.journal import JournalError
from organiser.desk.plan import Plan

__all__ = ["Decision", "Desk", "JournalError", "Plan", "Refused"]
