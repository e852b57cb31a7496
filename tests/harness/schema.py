# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The published schemas of JSON: docs/schema."""

import json
import pathlib

import jsonschema

DIRECTORY = pathlib.Path(__file__).resolve().parents[2] / "docs/schema"


def check_schema(name, value):
    """Returns the value, which must be as the schema says and have its name."""
    schema = json.loads((DIRECTORY / f"{name}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(value)
    assert value["schema"] == name
    return value
