"""The file that lists the complete snapshots, in a lake that others may write to as well.

A row takes a bit in a Parquet file, and half a kilobyte in memory. So only contents of bounded size are read: uncompressed pages, rows that
are counted while they arrive, and names of which each is held once.
"""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from own_files import ForeignFile

LIST_SCHEMA = pa.schema(
    [
        ("snapshot_id", pa.string()),
        ("taken_at", pa.timestamp("us", tz="UTC")),
        ("table_name", pa.string()),
        ("iceberg_snapshot_id", pa.int64()),
        ("rows", pa.int64()),
    ]
)
NAMES = [field.name for field in LIST_SCHEMA if pa.types.is_string(field.type)]

# As pyiceberg is configured to write it: a compressed page may have any size.
UNPACKED = "uncompressed"

# Thirty tables of ten thousand snapshots are 300,000 rows, of some 20 bytes each.
MOST_BYTES = 16 << 20
MOST_ROWS = 1_000_000
MOST_CHARACTERS = 255


def rows_of(file: pa.NativeFile) -> Iterator[dict]:
    """Raises the errors of pyarrow if it is not a Parquet file, or ForeignFile."""
    if file.size() > MOST_BYTES:
        raise ForeignFile("a list that is too large")
    # Names are read as a dictionary: pyarrow then refuses pages with delta encoding.
    parquet = pq.ParquetFile(file, read_dictionary=NAMES)
    require_own(parquet)
    count = 0
    for batch in parquet.iter_batches(batch_size=10_000):
        count += batch.num_rows
        if count > MOST_ROWS:
            raise ForeignFile("more rows than a list has")
        for name in NAMES:
            if (pc.max(pc.binary_length(batch[name].dictionary)).as_py() or 0) > MOST_CHARACTERS:
                raise ForeignFile("a name that is too long")
        yield from batch.to_pylist()


def require_own(parquet: pq.ParquetFile) -> None:
    """Checks the footer's columns and compression, which the reader relies on; its rows and page sizes need not be true."""
    schema = parquet.schema_arrow.remove_metadata()
    if [(field.name, type_of(field)) for field in schema] != [(field.name, field.type) for field in LIST_SCHEMA]:
        raise ForeignFile("a list of other columns")
    metadata = parquet.metadata
    groups = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
    if any(group.column(place).compression != "UNCOMPRESSED" for group in groups for place in range(group.num_columns)):
        raise ForeignFile("a list that is packed")


def type_of(field: pa.Field) -> pa.DataType:
    return field.type.value_type if pa.types.is_dictionary(field.type) else field.type
