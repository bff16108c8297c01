"""Holds outputs against the schemas of docs/schema; called by `proof/tests/readers.rs`.

    schemas.py NAME FILE...      NAME is that of a schema without its version: `summary`, `list`, `line`
"""

import json
import sys
from pathlib import Path

import jsonschema

kind, files = sys.argv[1], sys.argv[2:]
folder = Path(__file__).parents[2] / "docs/schema"
[path] = [path for path in folder.glob("*.json") if path.stem.rpartition("-")[0] == kind]
schema = json.loads(path.read_text())
jsonschema.Draft202012Validator.check_schema(schema)
judge = jsonschema.Draft202012Validator(schema)
held = 0
for file in files:
    text = Path(file).read_text()
    for value in map(json.loads, text.splitlines() if kind == "line" else [text]):
        judge.validate(value)
        # What is required is really asked for.
        for name in schema["required"]:
            assert not judge.is_valid({key: value[key] for key in value if key != name}), name
        held += 1
print(held)
