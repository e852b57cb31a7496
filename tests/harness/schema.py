# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The published schemas of JSON: docs/schema."""

import json
import pathlib

import jsonschema

DIRECTORY = pathlib.Path(__file__).resolve().parents[2] / "docs/schema"


def load(name):
    return json.loads((DIRECTORY / f"{name}.json").read_text(encoding="utf-8"))


def strict(schema):
    """The schema without permission for properties that it does not name. Conditions stay as they are."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: value if key in ("if", "then", "else", "oneOf") else strict(value) for key, value in schema.items()}
    if isinstance(made.get("properties"), dict) and "type" in made:
        made.setdefault("additionalProperties", False)
    return made


def check_schema(name, value):
    """Returns the value, which must be as the schema says, have no other properties, and have its name."""
    jsonschema.Draft202012Validator(strict(load(name))).validate(value)
    assert "schema" not in load(name)["properties"] or value["schema"] == name
    return value
