"""Turns bytes into a document that the contract's JSON Schemas admit, or names the field that is wrong."""

import json
import math
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

import jsonschema_rs

from report.base.errors import FieldError, one_line
from report.base.paths import CONTRACT_SCHEMAS
from report.results.upgrade import SCHEMA_VERSION, upgraded

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

Document = Mapping[str, Any]
Schema = dict[str, Any]

MAX_DOCUMENT_BYTES = 64 * 1024 * 1024

#: A day of samples holds a million values. Each costs some 60 bytes once it is parsed.
MAX_VALUES = 4_000_000

_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


def _reject_constant(name: str) -> NoReturn:
    raise FieldError("$", f"holds {name}, which is not a number in JSON")


#: No figure has more digits: a double could not represent it.
_MAX_DIGITS = 16
_LONG_NUMBER = re.compile(rb"\d{%d}" % (_MAX_DIGITS + 1))


def _integer(text: str) -> int:
    if len(text.lstrip("-")) > _MAX_DIGITS:
        raise FieldError("$", f"holds {one_line(text, 40)}, which is too large for a number")
    return int(text)


def _finite(text: str) -> float:
    """A whole number such as `2.0` is an integer to JSON Schema, so it becomes one here."""
    value = float(text)
    if not math.isfinite(value):
        raise FieldError("$", f"holds {one_line(text, 40)}, which is too large for a number")
    return int(value) if value.is_integer() and abs(value) < 10**_MAX_DIGITS else value


def parse_json(data: bytes) -> object:
    """Parses strict JSON.

    Args:
        data: the whole file, UTF-8.
    Raises:
        FieldError: it is truncated, too large, or nested too deeply, or holds NaN, an infinity or half
            a character.
    """
    if len(data) > MAX_DOCUMENT_BYTES:
        raise FieldError("$", f"is larger than {MAX_DOCUMENT_BYTES // 1024**2} MiB")
    if sum(data.count(mark) for mark in (b",", b"[", b"{")) > MAX_VALUES:
        raise FieldError("$", f"holds more than {MAX_VALUES:,} values")
    try:
        document: object = json.loads(
            data.decode("utf-8"),
            parse_constant=_reject_constant,
            parse_float=_finite,
            # Called for each number, so only where there may be one.
            parse_int=_integer if _LONG_NUMBER.search(data) else None,
        )
        if _SURROGATE_ESCAPE.search(data):
            json.dumps(document, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        raise FieldError(
            "$", f"is not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        ) from error
    except RecursionError as error:
        raise FieldError("$", "is nested too deeply") from error
    except UnicodeError as error:
        raise FieldError("$", f"is not UTF-8: {one_line(error, 80)}") from error
    except ValueError as error:
        raise FieldError("$", f"is not JSON: {one_line(error)}") from error
    return document


@cache
def _schema(name: str) -> Schema:
    schema: Schema = json.loads((CONTRACT_SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    return schema


class _SchemaCheck:
    """Admits documents of one schema: compiled for the many that fit, in Python to name what does not."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._compiled = jsonschema_rs.validator_for(schema)

    def check(self, document: object) -> None:
        try:
            if self._compiled.is_valid(document):
                return
        except ValueError:  # A number beyond its reach, or a depth: the other one says which field.
            pass
        raise FieldError(*self._first_fault(document))

    def _first_fault(self, document: object) -> tuple[str, str]:
        # It takes 0.1 s to load, and a sound campaign never needs it.
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import best_match

        try:
            error = best_match(Draft202012Validator(self._schema).iter_errors(document))
        except RecursionError:
            return "$", "is nested too deeply"
        # They read `$` in a pattern differently: before a last line feed it ends the text in Python alone.
        return _field_and_text(error) if error else ("$", "holds a text or number that the format excludes")


@cache
def _result_checks() -> dict[str, _SchemaCheck]:
    """One check a status, so that an error names the field and not the alternative."""
    checks = {}
    schema = _schema("result")
    for alternative in schema["oneOf"]:
        status = alternative["properties"]["status"]
        for value in status.get("enum", [status.get("const")]):
            checks[value] = _SchemaCheck({**alternative, "$defs": schema["$defs"]})
    return checks


@cache
def _manifest_check() -> _SchemaCheck:
    return _SchemaCheck(_schema("manifest"))


def _field_and_text(error: "ValidationError") -> tuple[str, str]:
    path = error.json_path
    match error.validator:
        case "required":
            present = error.instance if isinstance(error.instance, Mapping) else {}
            required: Any = error.validator_value
            missing = next(name for name in required if name not in present)
            return f"{path}.{missing}", "is missing"
        case "additionalProperties":
            known = error.schema.get("properties", {}) if isinstance(error.schema, Mapping) else {}
            instance: Any = error.instance
            extra = next((name for name in instance if name not in known), "?")
            return f"{path}.{one_line(extra, 60)}", "is not a field of this format"
        case "minimum" | "exclusiveMinimum":
            return path, f"is {one_line(error.instance, 40)}, below what is possible"
        case "type":
            return path, f"is {one_line(json.dumps(error.instance), 40)}, not of type {error.validator_value}"
        case "const" | "enum":
            wanted = one_line(json.dumps(error.validator_value), 80)
            return path, f"is {one_line(json.dumps(error.instance), 40)}, must be {wanted}"
        case _:
            return path, one_line(error.message, 120)


def _check_format(document: object, schema: str) -> Document:
    if not isinstance(document, Mapping):
        raise FieldError("$", "is not a JSON object")
    if document.get("schema") != schema:
        found = one_line(json.dumps(document.get("schema")), 60) if "schema" in document else "missing"
        raise FieldError("$.schema", f"is {found}, must be {json.dumps(schema)}")
    document = upgraded(document)
    if document.get("schema_version") != SCHEMA_VERSION:
        version = document.get("schema_version")
        found = one_line(json.dumps(version), 40)
        newer = isinstance(version, int) and version > SCHEMA_VERSION
        remedy = "report it with the ratelimit-bench that wrote it" if newer else "measure again"
        raise FieldError(
            "$.schema_version", f"is {found}; this report reads version {SCHEMA_VERSION}: {remedy}"
        )
    return document


def validate_result(document: object) -> Document:
    """Admits the JSON of one run.

    Raises:
        FieldError: the first field that the schema does not admit.
    """
    result = _check_format(document, "ratelimit-bench/result")
    checks = _result_checks()
    check = checks.get(str(result.get("status")))
    if check is None:
        found = one_line(json.dumps(result.get("status")), 40)
        raise FieldError("$.status", f"is {found}, must be one of {', '.join(sorted(checks))}")
    check.check(result)
    return result


def validate_manifest(document: object) -> Document:
    """Admits a campaign's manifest.

    Raises:
        FieldError: the first field that the schema does not admit.
    """
    manifest = _check_format(document, "ratelimit-bench/manifest")
    _manifest_check().check(manifest)
    return manifest


@cache
def _audit_check() -> _SchemaCheck:
    return _SchemaCheck(_schema("audit"))


def validate_audit(document: object) -> Document:
    """Admits what `ratelimit-bench audit` wrote.

    Raises:
        FieldError: the first field that the schema does not admit.
    """
    if not isinstance(document, Mapping):
        raise FieldError("$", "is not a JSON object")
    _audit_check().check(document)
    return document
