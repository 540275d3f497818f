#===- schema.py - check JSON against a schema -----------------------------===#
"""The keywords of JSON Schema (2020-12) that the schemas of docs/schemas use.

A schema with another keyword is refused: nothing goes unchecked in silence.
"""

import re

TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool,
    "integer": int, "number": (int, float), "null": type(None),
}
NOTES = {"$schema", "$defs", "title", "description"}
KEYWORDS = {
    "type", "enum", "const", "required", "properties", "additionalProperties",
    "propertyNames", "items", "minItems", "minLength", "minimum", "pattern", "oneOf", "$ref",
}


def has_type(value, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def same(a, b) -> bool:
    """Equality that tells true from 1."""
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def check(value, schema, root=None, place="$") -> list[str]:
    """What is wrong with `value`, each with its place; empty if it fits."""
    root = schema if root is None else root
    if schema is True:
        return []
    if schema is False:
        return [f"{place}: nothing may stand here"]
    unknown = set(schema) - NOTES - KEYWORDS
    if unknown:
        raise ValueError(f"unsupported keyword {sorted(unknown)[0]}")
    wrong = []
    if "$ref" in schema:
        target = root
        for step in schema["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        wrong += check(value, target, root, place)
    if "type" in schema and not has_type(value, schema["type"]):
        return wrong + [f"{place}: expected {schema['type']}, got {value!r:.60}"]
    if "enum" in schema and not any(same(value, choice) for choice in schema["enum"]):
        wrong.append(f"{place}: expected one of {schema['enum']}, got {value!r:.60}")
    if "const" in schema and not same(value, schema["const"]):
        wrong.append(f"{place}: expected {schema['const']!r}, got {value!r:.60}")
    if "oneOf" in schema:
        fits = sum(not check(value, choice, root, place) for choice in schema["oneOf"])
        if fits != 1:
            wrong.append(f"{place}: fits {fits} of {len(schema['oneOf'])} forms")
    if isinstance(value, dict):
        wrong += [f"{place}: no member {name!r}"
                  for name in schema.get("required", []) if name not in value]
        for name, member in value.items():
            if "propertyNames" in schema:
                wrong += check(name, schema["propertyNames"], root, f"{place}.{name}")
            inner = schema.get("properties", {}).get(name, schema.get("additionalProperties", True))
            wrong += check(member, inner, root, f"{place}.{name}")
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            wrong.append(f"{place}: expected at least {schema['minItems']} elements")
        for index, element in enumerate(value):
            wrong += check(element, schema.get("items", True), root, f"{place}[{index}]")
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            wrong.append(f"{place}: expected at least {schema['minLength']} characters")
        if "pattern" in schema and not re.search(schema["pattern"], value):
            wrong.append(f"{place}: expected {schema['pattern']}, got {value!r:.60}")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if value < schema.get("minimum", value):
            wrong.append(f"{place}: expected at least {schema['minimum']}, got {value}")
    return wrong
