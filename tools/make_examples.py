"""Draw the volunteers of the invented assembly: `python tools/make_examples.py`.

None of them exists. Older people and people with a degree volunteer more often; education depends
on age, the place to live on both, and concern about the climate on age and education.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

VOLUNTEERS = Path(__file__).resolve().parents[1] / "data/examples/millbrook_volunteers.csv"

SHARES = {
    "age": {"16-29": 0.14, "30-44": 0.21, "45-64": 0.36, "65+": 0.29},
    "gender": {"woman": 0.44, "man": 0.54, "non-binary": 0.02},
}
EDUCATION = {  # by age: school, vocational, degree
    "16-29": [0.30, 0.15, 0.55],
    "30-44": [0.10, 0.25, 0.65],
    "45-64": [0.18, 0.34, 0.48],
    "65+": [0.36, 0.33, 0.31],
}
AREA = {  # by education: centre, suburbs, villages
    "school": [0.28, 0.40, 0.32],
    "vocational": [0.22, 0.43, 0.35],
    "degree": [0.46, 0.38, 0.16],
}
WORRY = {"16-29": 0.9, "30-44": 0.6, "45-64": 0.2, "65+": -0.1}  # added to the odds, as logarithms
KNOWS = {"school": -0.5, "vocational": -0.3, "degree": 0.5}


def draw_people(number: int, seed: int) -> pd.DataFrame:
    """Draw so many volunteers: a row each, a column per feature."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(number):
        row = {
            name: str(rng.choice(list(shares), p=list(shares.values())))
            for name, shares in SHARES.items()
        }
        row["education"] = str(rng.choice(list(AREA), p=EDUCATION[row["age"]]))
        row["area"] = str(rng.choice(["centre", "suburbs", "villages"], p=AREA[row["education"]]))
        odds = np.exp([1.0 + WORRY[row["age"]] + KNOWS[row["education"]], 0.8, 0.0])
        row["concern"] = str(rng.choice(["very", "somewhat", "not"], p=odds / odds.sum()))
        rows.append(row)
    return pd.DataFrame(rows)


if __name__ == "__main__":
    draw_people(900, 2021).to_csv(VOLUNTEERS, index=False, lineterminator="\n")
