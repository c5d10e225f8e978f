"""Turns bytes into a document that the contract's JSON Schemas admit, or names the field that is wrong."""

import json
import math
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NoReturn

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match

from .errors import FieldError, one_line
from .paths import CONTRACT_SCHEMAS

Document = Mapping[str, Any]

SCHEMA_VERSION = 1
MAX_DOCUMENT_BYTES = 64 * 1024 * 1024

_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


def _reject_constant(name: str) -> NoReturn:
    raise FieldError("$", f"holds {name}, which is not a number in JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise FieldError("$", f"holds {one_line(text, 40)}, which is too large for a number")
    return value


def parse_json(data: bytes) -> object:
    """Parses strict JSON.

    Args:
        data: the whole file, UTF-8.
    Raises:
        FieldError: it is truncated, too large or nested too deeply, or holds NaN, an infinity or half
            a character.
    """
    if len(data) > MAX_DOCUMENT_BYTES:
        raise FieldError("$", f"is larger than {MAX_DOCUMENT_BYTES // 1024**2} MiB")
    try:
        document: object = json.loads(
            data.decode("utf-8"), parse_constant=_reject_constant, parse_float=_finite
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
def _schema(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(
        (CONTRACT_SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8")
    )
    return schema


@cache
def _result_validators() -> dict[str, Draft202012Validator]:
    """One validator a status, so that an error names the field and not the alternative."""
    validators = {}
    for alternative in _schema("result")["oneOf"]:
        status = alternative["properties"]["status"]
        for value in status.get("enum", [status.get("const")]):
            validators[value] = Draft202012Validator(alternative)
    return validators


@cache
def _manifest_validator() -> Draft202012Validator:
    return Draft202012Validator(_schema("manifest"))


def _field_and_text(error: ValidationError) -> tuple[str, str]:
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


def _check(validator: Draft202012Validator, document: object) -> None:
    if not validator.is_valid(document):
        error = best_match(validator.iter_errors(document))
        raise FieldError(*_field_and_text(error))


def _check_format(document: object, schema: str) -> Document:
    if not isinstance(document, Mapping):
        raise FieldError("$", "is not a JSON object")
    if document.get("schema") != schema:
        found = one_line(json.dumps(document.get("schema")), 60) if "schema" in document else "missing"
        raise FieldError("$.schema", f"is {found}, must be {json.dumps(schema)}")
    if document.get("schema_version") != SCHEMA_VERSION:
        found = one_line(json.dumps(document.get("schema_version")), 40)
        raise FieldError("$.schema_version", f"is {found}; this report reads version {SCHEMA_VERSION}")
    return document


def validate_result(document: object) -> Document:
    """Admits the JSON of one run.

    Raises:
        FieldError: the first field that the schema does not admit.
    """
    result = _check_format(document, "ratelimit-bench/result")
    validators = _result_validators()
    validator = validators.get(str(result.get("status")))
    if validator is None:
        found = one_line(json.dumps(result.get("status")), 40)
        raise FieldError("$.status", f"is {found}, must be one of {', '.join(sorted(validators))}")
    _check(validator, result)
    return result


def validate_manifest(document: object) -> Document:
    """Admits a campaign's manifest.

    Raises:
        FieldError: the first field that the schema does not admit.
    """
    manifest = _check_format(document, "ratelimit-bench/manifest")
    _check(_manifest_validator(), manifest)
    return manifest
