"""Holds outputs against the schemas of docs/schema; called by `proof/tests/readers.rs`.

    schemas.py summary FILE... | list FILE | line FILE
"""

import json
import sys
from pathlib import Path

import jsonschema

kind, files = sys.argv[1], sys.argv[2:]
path = Path(__file__).parents[2] / f"docs/schema/{kind}-1.json"
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
