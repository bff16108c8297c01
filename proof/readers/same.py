"""Compares what the reader says with a table of `blocklab export`; called by `proof/tests/readers.rs`.

    same.py RECORD TABLE totals|series
"""

import csv
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "contrib/python"))
import blocklab


def text(value):
    """As the table writes a value."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def main():
    run = blocklab.load(sys.argv[1])
    ours = getattr(run, sys.argv[3])
    with open(sys.argv[2], newline="") as file:
        table = list(csv.DictReader(file))
    assert len(ours) == len(table) > 0, (len(ours), len(table))
    compared = 0
    for mine, theirs in zip(ours, table):
        for column, value in mine.items():
            found = theirs[column]
            if isinstance(value, float) and found:
                same = float(found) == value
            else:
                same = found == text(value)
            assert same, (column, value, found)
            compared += value is not None
    print(f"{compared} values of {len(ours)} rows are the same")


main()
