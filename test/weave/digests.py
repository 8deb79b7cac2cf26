"""Writes digests.json: digests of values as Weave's Python SDK computes them.

    python3 -m venv .venv && .venv/bin/pip install weave==0.54.0
    .venv/bin/python test/weave/digests.py
"""

import json
import pathlib

from weave.trace.serialization.digest import (
    compute_file_digest,
    compute_object_digest,
    compute_row_digest,
    compute_table_digest,
)

VALUES = [
    "{}",
    "[]",
    "null",
    "true",
    '""',
    '"text"',
    '{"b":1,"a":2,"aa":3,"B":4,"":5}',
    '{"a":[1,2.5,-3,{"b":[]}]}',
    "[0,-0,0.0,-0.0,1,1.0,-1.0,1.50,10,100]",
    "[1e0,1E5,1e15,1e16,1e17,1e21,1e22,1e-4,1e-5,1e-6,1e-7,1.5e-9,1.5e300,123456789.125,5e-324]",
    "[9007199254740991,9007199254740993,12345678901234567890,-98765432109876543210987654321]",
    "[0.1,0.30000000000000004,3.141592653589793,1234567890123456.7,12345678901234567.8,0.0001,0.00012345]",
    "[1.7976931348623157e308,100000000000000000000,1e20,123456789012345680000.0]",
    '["\\u007f","\\u0080","\\u00e9","\\u65e5\\u672c","\\ud83d\\ude00","\\u2028","\\uffff"]',
    '["\\"","\\\\","/","\\b","\\f","\\n","\\r","\\t","\\u0001","\\u001f"]',
    '{"\\ud83d\\ude00":1,"\\uffff":2,"\\ue000":3,"z":4,"\\u00e9":5}',
    '{"_type":"Dataset","name":"d","rows":"weave:///e/p/table/0"}',
    '{"__proto__":1,"constructor":2,"10":3,"9":4}',
]
FILES = ["", "hello", "{}", "\u65e5\u672c"]

rows = [json.dumps({"n": n, "text": f"row {n}", "score": n / 4}) for n in range(20)]
row_digests = [compute_row_digest(json.loads(row)) for row in rows]
vectors = {
    "values": [[text, compute_object_digest(json.loads(text))] for text in VALUES],
    "rows": [list(pair) for pair in zip(rows, row_digests)],
    "tables": [[count, compute_table_digest(row_digests[:count])] for count in (0, 1, 2, 20)],
    "files": [[text, compute_file_digest(text.encode())] for text in FILES],
}
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps(vectors, indent=2) + "\n")
