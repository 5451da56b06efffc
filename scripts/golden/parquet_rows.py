"""Reads a Parquet file of ours with pyarrow and compares it with the JSON lines it was made from.

    python3 -m venv VENV && VENV/bin/pip install pyarrow==26.0.1
    VENV/bin/python scripts/golden/parquet_rows.py tests/golden/parquet/rows.jsonl tests/golden/parquet/rows.parquet

tests/golden/parquet/rows.parquet was written by rows/parquet.cc and has passed this; the test of
rows/parquet.cc compares bytes with it. Any other pair of files that path_collect --parquet 1 writes
can be compared in the same way.
"""

import json
import math
import sys

import pyarrow.parquet


def wanted(value, kind):
    """What a value of the JSON has to be in a column of this type."""
    if pyarrow.types.is_list(kind):
        return [wanted(item, kind.value_type) for item in value] if isinstance(value, list) else None
    if pyarrow.types.is_struct(kind):
        if not isinstance(value, dict):
            return None
        return {field.name: wanted(value.get(field.name), field.type) for field in kind}
    if pyarrow.types.is_string(kind) and value is not None and not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return value


def same(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-6)  # a column of 32 bits
    return a == b


def main():
    lines, file = sys.argv[1:]
    table = pyarrow.parquet.read_table(file)
    rows = [json.loads(line) for line in open(lines, encoding="utf-8")]
    assert len(rows) == table.num_rows, (len(rows), table.num_rows)
    for number, (row, got) in enumerate(zip(rows, table.to_pylist())):
        want = {field.name: wanted(row.get(field.name), field.type) for field in table.schema}
        assert same(want, got), (number, want, got)
    print(f"{len(rows)} rows are equal, columns {', '.join(table.column_names)}")


main()
