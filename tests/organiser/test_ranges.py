"""An organiser's own ranges: kept to, and never dearer than one tolerance for all groups."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callers import EXAMPLES
from committees import Problem, recruit, simulate
from committees.beyond import Foresight
from organiser.csvfile import BadFile
from organiser.files import read_assembly
from organiser.ranges import nearest_ranges
from organiser.strategies import choose

#: Ranges as they are written: wide ones, optional groups, narrow ones.
SOFT = (
    "category,name,min,max\nGender,Female,9,11\nGender,Male,9,11\nAge,16-29,4,6\n"
    "Age,30-59,8,11\nAge,60+,4,7\nColour,red,4,20\nColour,green,4,20\nColour,blue,4,20\n"
)
OPTIONAL = (
    "category,name,min,max\nGender,Female,13,17\nGender,Male,13,17\nGender,Other,0,3\n"
    "Age,16-29,6,10\nAge,30-59,12,18\nAge,60+,6,10\nHome,owned,15,22\nHome,rented,8,15\n"
)
NARROW = (
    "category,name,min,max\nGender,Female,11,11\nGender,Male,11,11\nAge,16-29,5,6\n"
    "Age,30-59,10,11\nAge,60+,5,6\nPlace,town,11,15\nPlace,country,7,11\n"
)
SHARES = {
    "Gender": {"Female": 0.45, "Male": 0.53, "Other": 0.02},
    "Age": {"16-29": 0.12, "30-59": 0.48, "60+": 0.4},
    "Colour": {"red": 0.6, "green": 0.3, "blue": 0.1},
    "Home": {"owned": 0.7, "rented": 0.3},
    "Place": {"town": 0.65, "country": 0.35},
}
FILES = {
    "Millbrook": (None, 60),
    "soft": (SOFT, 20),
    "optional": (OPTIONAL, 30),
    "narrow": (NARROW, 22),
}


def assembly(name, folder):
    """The example, read, and its number of seats."""
    targets, size = FILES[name]
    if targets is None:
        files = [EXAMPLES / f"millbrook_{part}.csv" for part in ("targets", "volunteers")]
        return read_assembly(*files, size), size
    rows = ["feature,value,share"]
    for feature, values in SHARES.items():
        own = {value: share for value, share in values.items() if f"{feature},{value}," in targets}
        rows += [f"{feature},{v},{share / sum(own.values()):.6f}" for v, share in own.items()]
    (folder / "targets.csv").write_text(targets)
    (folder / "volunteers.csv").write_text("\n".join(rows))
    return read_assembly(folder / "targets.csv", folder / "volunteers.csv", size), size


def one_tolerance(found, size):
    """The largest tolerance, up to 0.02, whose band is inside all ranges."""
    low, high = (np.array(part) for part in found.seats)
    exact = found.problem.rho * size
    room = np.minimum(high + 1 - exact, exact - low + 1).min() / size
    return min(0.02, max(0.0, math.floor((room - 1e-6) * 1e4) / 1e4))


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_ranges_of_the_file_need_no_more_people_than_one_tolerance(name, tmp_path):
    """200 recruitments each; the mean is not larger, but for two standard errors."""
    found, size = assembly(name, tmp_path)
    own = simulate(choose("foresight", found), found.problem, size, 200, 19)["screened"]
    single = Foresight(one_tolerance(found, size))
    other = simulate(single, found.problem, size, 200, 19)["screened"]
    print(f"{name}: {own.mean():.1f} against {other.mean():.1f}")
    assert own.mean() <= other.mean() + 2 * np.hypot(own.std(), other.std()) / 200**0.5


@pytest.mark.parametrize("runs", [5, pytest.param(2500, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", FILES)
def test_ranges_of_the_file_are_kept_by_every_committee(name, runs, tmp_path):
    """In `make check` 10,000 committees in all."""
    found, size = assembly(name, tmp_path)
    rule, (low, high) = choose("foresight", found), found.seats
    for run in range(runs):
        recruited = recruit(rule, found.problem, size, np.random.default_rng([23, run]))
        codes = found.problem.codes[recruited.type_ids].ravel()
        counts = np.bincount(codes, minlength=len(low))
        assert (counts >= low).all()
        assert (counts <= high).all()


@pytest.mark.parametrize(
    ("ranges", "sentence"),
    [
        ([(0, 3), (0, 3), (16, 18)], "with the min lower of 'z' by 6 there would be room"),
        ([(0, 2), (0, 2), (0, 4)], "with the max higher of 'x' by 1, 'z' by 1 there would be room"),
    ],
)
def test_smallest_change_makes_room(ranges, sentence, read):
    rows = "".join(f"a,{v},{low},{high}\n" for v, (low, high) in zip("xyz", ranges, strict=True))
    shares = "feature,value,share\na,x,0.3\na,y,0.3\na,z,0.4\n"
    with pytest.raises(BadFile, match=re.escape(sentence)):
        read("feature,value,min,max\n" + rows, shares, size=10)


def test_smallest_change_is_the_flex_of_the_file_where_that_does(read):
    rows = "a,x,0,2,0,2\na,y,0,2,0,4\na,z,0,4,0,4\n"
    shares = "feature,value,share\na,x,0.3\na,y,0.3\na,z,0.4\n"
    with pytest.raises(BadFile, match="with the max higher of 'y' by 2 there would be room"):
        read("feature,value,min,max,min_flex,max_flex\n" + rows, shares, size=10)


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), min_size=4, max_size=4),
    st.integers(0, 99),
)
def test_nearest_ranges_is_the_smallest_change_of_all(ranges, seed):
    """Brute force over all committees of four types, of whom one does not exist."""
    shares = {"a": {"x": 0.5, "y": 0.5}, "b": {"x": 0.5, "y": 0.5}}
    p = np.array([0.5, 0.25, 0.25, 0.0])[np.random.default_rng(seed).permutation(4)]
    problem = Problem(Problem.from_marginals(shares, shares).targets, p)
    low = np.array([least for least, _ in ranges])
    high = np.array([least + more for least, more in ranges])
    fewest = min(
        np.maximum(low - n, 0).sum() + np.maximum(n - high, 0).sum()
        for kinds in itertools.combinations_with_replacement(np.flatnonzero(p), 6)
        if (n := np.bincount(problem.codes[list(kinds)].ravel(), minlength=4)) is not None
    )
    said = nearest_ranges(problem, 6, (tuple(low.tolist()), tuple(high.tolist())))
    assert sum(int(word) for word in re.findall(r" (\d+) (?:lower|higher)", said)) == fewest
