"""The page that answers an organiser."""

from __future__ import annotations

import re

import numpy as np
import pytest
from bs4 import BeautifulSoup

from callers import RANGES, SHARES, SMALL, TARGETS
from committees import simulate
from committees.beyond import Foresight
from organiser import page
from organiser.files import read_assembly
from organiser.strategies import choose


@pytest.fixture
def few(monkeypatch):
    """Few recruitments, to be quick."""
    monkeypatch.setattr(page, "RUNS", 30)
    monkeypatch.setattr(page, "OTHER_RUNS", 5)


def write(folder, targets, volunteers=SHARES):
    (folder / "targets.csv").write_text(targets)
    (folder / "volunteers.csv").write_text(volunteers)
    return [str(folder / "targets.csv"), str(folder / "volunteers.csv")]


def test_rehearse_has_the_law_of_the_simulator(fresh_seed):
    """300 recruitments each way: means within 4 standard errors, 1 false alarm in 15,000."""
    found = page.rehearse(Foresight(0.05), SMALL, 20, 300)
    frame = simulate(Foresight(0.05), SMALL, 20, 300, fresh_seed)
    error = np.hypot(found.people.std(), frame["screened"].std()) / 300**0.5
    assert abs(found.people.mean() - frame["screened"].mean()) < 4 * error


def test_rehearse_knows_everybody_s_chance():
    """Chance times volunteers is seats: by type, over all the people seen."""
    found = page.rehearse(Foresight(0.05), SMALL, 20, 60)
    assert (found.chance <= 1 + 1e-12).all()
    rate = SMALL.p @ found.chance
    assert 20 / rate == pytest.approx(found.people.mean(), rel=0.2)


@pytest.mark.parametrize("targets", [TARGETS, RANGES], ids=["shares", "ranges"])
def test_page_says_what_the_library_computes(tmp_path, few, capsys, targets):
    files = write(tmp_path, targets)
    assert page.main([*files, "--size", "20", "--calls", "40"]) == 0
    assembly = read_assembly(*files, 20)
    own = page.rehearse(choose("foresight", assembly), assembly.problem, 20, 30)
    plan = int(np.quantile(own.people, 0.9))
    assert f"Plan for {plan} people; in 1 of 10 cases more." in capsys.readouterr().out
    found = BeautifulSoup((tmp_path / "targets.html").read_text(), "html.parser")
    assert found.h1.get_text() == f"Plan for {plan} people; in 1 of 10 cases more."
    text = " ".join(found.get_text().split())
    assert "Can you wait until all volunteers are known?" in text
    assert "call people in an order drawn by lot" in text
    assert f"With 40 calls the committee is full in {(own.people <= 40).mean():.0%}" in text
    assert f"On average {page._mean(own.people)} volunteers are met" in text
    assert ("within its min and max" in text) == (targets is RANGES)
    assert assembly.summary in text
    loads = re.findall(
        r"""(?:src|href)=|url\(|@import|<script""", (tmp_path / "targets.html").read_text()
    )
    assert loads == []  # nothing from elsewhere, and no code


def test_page_shows_the_band_of_each_group(tmp_path, few):
    files = write(tmp_path, RANGES)
    facts = page.answers(read_assembly(*files, 20), 20, None, None)
    assert [(low, high) for _, low, high, *_ in facts["groups"]] == [
        (9, 11),
        (9, 11),
        (5, 7),
        (5, 7),
        (7, 9),
    ]
    words = [words for words, *_ in facts["bands"]]
    assert words == [
        "as it is",
        "every min and max 1 seat further",
        "every min and max 2 seats further",
    ]
    shares = page.answers(read_assembly(*write(tmp_path, TARGETS), 20), 20, 0.03, None)
    assert [words for words, *_ in shares["bands"]][1:] == [
        "tolerance 0.05: 1.0 seats",
        "tolerance 0.1: 2.0 seats",
    ]


def test_page_has_no_chance_for_a_group_that_nobody_has(tmp_path, few):
    targets = RANGES.replace("gender,male,9,11\n", "gender,male,9,11\ngender,other,0,0\n")
    volunteers = SHARES.replace("gender,male,0.6\n", "gender,male,0.6\ngender,other,0\n")
    files = write(tmp_path, targets, volunteers)
    assert page.main([*files, "--size", "20"]) == 0
    text = (tmp_path / "targets.html").read_text()
    assert "nan" not in text
    assert ">–</td>" in text


def test_page_shows_how_far_the_file_may_be_relaxed(tmp_path, few):
    head, *rows = RANGES.splitlines()
    lines = [f"{head},min_flex,max_flex"]
    for row in rows:
        *_, low, high = row.split(",")
        lines.append(f"{row},{int(low) - 2},{int(high) + 3}")
    files = write(tmp_path, "\n".join(lines) + "\n")
    facts = page.answers(read_assembly(*files, 20), 20, None, None)
    assert [words for words, *_ in facts["bands"]][1] == "as far as the file's flex allows"


def test_page_says_the_smallest_chance_and_how_sure_the_plan_is(tmp_path, few):
    files = write(tmp_path, TARGETS)
    facts = page.answers(assembly := read_assembly(*files, 20), 20, 0.05, None)
    own = page.rehearse(choose("foresight", assembly, 0.05), assembly.problem, 20, 30)
    assert facts["rarest"][1] == own.chance.min()
    below, above = facts["plan_between"]
    assert below <= facts["plan"] <= above
    # The band, not what was seen in trials: 0.3 of 20 may be 5 to 7.
    assert facts["off"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--size", "0"], "size: expected"),
        (["--size", "20", "--calls", "0"], "calls: expected"),
        (["--size", "500"], "min and max allow from 18 to 22 seats in all, expected 500"),
        (["--size", "20", "--tolerance", "0.1"], "tolerance: the file has min and max"),
    ],
)
def test_page_refuses_with_a_sentence_and_writes_nothing(tmp_path, few, capsys, argv, sentence):
    assert page.main([*write(tmp_path, RANGES), *argv]) == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "targets.html").exists()
