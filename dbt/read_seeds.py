"""Seeds as people and Daybook write them, the same for every database.

dbt takes `null` for no value, however it is spelled and whatever is around it, though a vendor's ID or name may be that; it makes one line
end of all kinds, and takes no text of more than 131,072 characters. dbt-duckdb has DuckDB guess how the file is written.
"""

import csv

import agate
from dbt_common.clients import agate_helper

# As long as any text that the service sends: the file holds no more.
LONGEST_TEXT = 2**31 - 1


class AsWritten(agate.Text):
    def cast(self, d):
        return d or None


def from_csv(path, text_columns, delimiter=","):
    csv.field_size_limit(LONGEST_TEXT)
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter)
        names = next(reader, [])
        rows = [row for row in reader if row]
    types = agate_helper.build_type_tester(text_columns).run(rows, names)
    as_written = [AsWritten() if name.endswith(("_id", "_name")) else kind for name, kind in zip(names, types)]
    return agate.Table(rows, names, as_written)


def read_as_written() -> None:
    agate_helper.from_csv = from_csv
