"""Make data/adult.csv.gz from UCI's two files: `python tools/make_adult.py FOLDER [OUTPUT]`."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pandas as pd

OUTPUT = Path(__file__).resolve().parents[1] / "data" / "adult.csv.gz"

#: UCI's files, and how many people are in each.
FILES = {"adult.data": 32_561, "adult.test": 16_281}


def read(folder: Path) -> pd.DataFrame:
    """Age, race, sex and income of all 48,842 people."""
    columns = {0: "age", 8: "race", 9: "sex", 14: "income"}
    parts = []
    for name, people in FILES.items():
        part = pd.read_csv(
            folder / name,
            header=None,
            usecols=list(columns),
            skiprows=1 if name == "adult.test" else 0,  # a remark
            skipinitialspace=True,
        ).rename(columns=columns)
        if len(part) != people:
            raise ValueError(f"{name}: has {len(part)} people, expected {people}")
        parts.append(part)
    frame = pd.concat(parts, ignore_index=True)
    frame["income"] = frame["income"].str.rstrip(".")  # a dot ends the lines of adult.test
    return frame


def write(frame: pd.DataFrame, path: Path) -> None:
    """Write the table so that the same people give the same bytes."""
    text = frame.to_csv(index=False, lineterminator="\n").encode()
    path.write_bytes(gzip.compress(text, mtime=0))


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    write(read(Path(sys.argv[1])), Path(sys.argv[2]) if len(sys.argv) == 3 else OUTPUT)
