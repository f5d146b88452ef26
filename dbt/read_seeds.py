"""Reads seeds as people and Daybook write them, the same for every database.

dbt reads `null` as no value, in any case and with anything around it, although a vendor's ID or name may be that text. It turns all
line ends into one kind, and takes no text of more than 131,072 characters. dbt-duckdb has DuckDB guess the file's format. Each
database decides for itself what 05/10/2026 means.
"""

import csv
import os
import re

import agate
from dbt_common.clients import agate_helper
from dbt_common.exceptions import DbtRuntimeError

# As long as any text that the service sends: the file holds no longer one.
LONGEST_TEXT = 2**31 - 1

DAY = re.compile(r"\d{4}-\d\d-\d\d")


class AsWritten(agate.Text):
    def cast(self, d):
        return d or None


def from_csv(path, text_columns, delimiter=","):
    csv.field_size_limit(LONGEST_TEXT)
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter)
        names = next(reader, [])
        rows = []
        for row in reader:
            if row:
                require_days(dict(zip(names, row)), f"{os.path.basename(path)}, line {reader.line_num}")
                rows.append(row)
    types = agate_helper.build_type_tester(text_columns).run(rows, names)
    as_written = [AsWritten() if name.endswith(("_id", "_name")) else kind for name, kind in zip(names, types)]
    return agate.Table(rows, names, as_written)


def require_days(row, place):
    day = row.get("valid_from", "")
    if day != "" and DAY.fullmatch(day) is None:
        raise DbtRuntimeError(f"{place}: valid_from is {day!r}, which is no day. Write it as 2026-10-05.")


def read_as_written() -> None:
    agate_helper.from_csv = from_csv
