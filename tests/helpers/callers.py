"""An organiser's files and callers, for the tests of the application."""

from __future__ import annotations

import os

import numpy as np

from committees import datasets
from organiser.desk import Desk

EXAMPLES = datasets.DATA / "examples"
TARGETS = """\
feature,value,target
gender,female,0.5
gender,male,0.5
age,18-34,0.3
age,35-54,0.3
age,55+,0.4
"""
RANGES = """\
feature,value,min,max
gender,female,9,11
gender,male,9,11
age,18-34,5,7
age,35-54,5,7
age,55+,7,9
"""
SHARES = """\
feature,value,share
gender,female,0.4
gender,male,0.6
age,18-34,0.2
age,35-54,0.3
age,55+,0.5
"""
PEOPLE = """\
name,gender,age
Ann,female,18-34
Bob,male,55+
Cem,male,35-54
Dee,female,55+
Eva,female,35-54
"""

SMALL = datasets.brexit(["gender", "age", "vote"])


def person(problem, type_id):
    return dict(zip(problem.features, problem.index[type_id], strict=True))


def callers(problem, number, seed=3):
    type_ids = np.random.default_rng(seed).choice(len(problem.p), number, p=problem.p)
    return [person(problem, type_id) for type_id in type_ids]


def fill(desk, people):
    """Offer people until the desk is full; what was announced."""
    said = []
    for one in people:
        if desk.state.seated == desk.state.size:
            break
        said.append(desk.offer(one))
    return said


def work(strategy, journal, people, pipe):
    """Run a desk in a process of its own; what it announces goes through the pipe."""
    with Desk(strategy, SMALL, 60, journal=journal, seed=11) as desk:
        for one in people[desk.state.seen :]:
            if desk.state.seated == desk.state.size:
                break
            decision = desk.offer(one)
            os.write(pipe.fileno(), f"{decision.number} {int(decision.accepted)}\n".encode())
    os.write(pipe.fileno(), b"done\n")
