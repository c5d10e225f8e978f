"""Parses documents and validates them by the records of the contract, or names the field that is
wrong."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any, TypeVar, cast

import msgspec

from report.base.contract import CONSTANTS
from report.base.errors import FieldError, one_line
from report.results.generated import records
from report.results.older_documents import (
    MANIFEST,
    OLDEST_VERSION,
    RESULT,
    SCHEMA_VERSION,
    converted,
)
from report.results.record import Record

Document = Mapping[str, Any]
Result = records.MeasuredResult | records.PrintedResult | records.FailedOrAbortedResult

MAX_DOCUMENT_BYTES: int = CONSTANTS["max_document_bytes"]

#: The most values of a document. A day of samples holds a million, and each takes some 60 bytes
#: after parsing.
MAX_VALUES = 4_000_000

#: The most digits of a figure, because a double could not represent more of them.
_MAX_DIGITS = 16
_DIGITS_AS_0 = bytes.maketrans(b"123456789", b"000000000")

#: A fraction of nothing but zeros, and what can follow a number. The contract's programs write no
#: such number. Addresses and versions do not match.
_EMPTY_FRACTION = re.compile(rb"\.0+[eE,\]}\s]")


def _may_hold_long_number(data: bytes) -> bool:
    """Whether some number may be too long. A regular expression would take as long as the
    parsing."""
    return b"0" * (_MAX_DIGITS + 1) in data.translate(_DIGITS_AS_0)


def _integer(text: str) -> int:
    if len(text.lstrip("-")) > _MAX_DIGITS:
        raise FieldError("$", f"holds {one_line(text, 40)}, which is too large for a number")
    return int(text)


def _whole_as_integer(text: str) -> int | float:
    """A whole number such as `2.0` is an integer to JSON Schema, so it becomes one here."""
    value = float(text)
    if not math.isfinite(value):
        raise FieldError("$", f"holds {one_line(text, 40)}, which is too large for a number")
    return int(value) if value.is_integer() and abs(value) < 10**_MAX_DIGITS else value


#: A function would be called for each number with a fraction, so only the second one has it.
_DECODER = msgspec.json.Decoder()
_DECODER_OF_WHOLE_NUMBERS = msgspec.json.Decoder(float_hook=_whole_as_integer)


def parse_json(data: bytes) -> object:
    """Parses a whole file of strict JSON in UTF-8.

    Raises FieldError for one that is truncated, too large, nested too deeply, or that holds NaN, an
    infinity, a number that is too large, or half a character."""
    if len(data) > MAX_DOCUMENT_BYTES:
        raise FieldError("$", f"is larger than {MAX_DOCUMENT_BYTES // 1024**2} MiB")
    if sum(data.count(mark) for mark in (b",", b"[", b"{")) > MAX_VALUES:
        raise FieldError("$", f"holds more than {MAX_VALUES:,} values")
    decoder = _DECODER_OF_WHOLE_NUMBERS if _EMPTY_FRACTION.search(data) else _DECODER
    try:
        document: object = decoder.decode(data)
        if _may_hold_long_number(data):
            json.loads(data, parse_int=_integer)
    except RecursionError as error:
        raise FieldError("$", "is nested too deeply") from error
    except UnicodeError as error:
        raise FieldError("$", f"is not UTF-8: {one_line(error, 80)}") from error
    except msgspec.MsgspecError as error:
        problem = str(error).removeprefix("JSON is malformed: ")
        raise FieldError("$", f"is not JSON: {one_line(problem)}") from error
    return document


Kind = TypeVar("Kind", bound=Record)


def _decoded(document: Document, kind: type[Kind]) -> Kind:
    try:
        return msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        raise FieldError(*_field_and_text(document, kind, str(error))) from error
    except RecursionError as error:
        raise FieldError("$", "is nested too deeply") from error


#: A message of msgspec such as `Expected … - at $.a[0].b[...]`, where `[...]` stands for some name.
_MESSAGE = re.compile(r"(.*?)(?: - at (`key` in )?`(\$[^`]*)`)?", re.DOTALL)
_STEP = re.compile(r"\.([A-Za-z0-9_]+)|\[(\d+|\.\.\.)\]")
_MEMBER = re.compile(
    r"(?:Object (?:missing required|contains unknown) field )?`(.*)`(.*)", re.DOTALL
)


def _field_and_text(document: Document, kind: type[Record], message: str) -> tuple[str, str]:
    match = _MESSAGE.fullmatch(message)
    text, key, place = match.groups() if match else (message, None, None)
    path, value = _located(document, kind, message, place or "$")

    if member := _MEMBER.fullmatch(text):
        problem = (
            "is not a field of this format"
            if text.startswith("Object contains")
            else member[2].strip()
        )
        return f"{path}.{one_line(member[1], 60)}", problem or "is missing"

    problem = text.removeprefix("Expected ").replace("`", "")
    if key:
        return path, f"has a name that is wrong: {one_line(problem, 120)}"
    requirement = (
        f"must be {problem}" if text.startswith("Expected") else f"which is wrong: {problem}"
    )
    return path, f"is {one_line(json.dumps(value), 40)}, {one_line(requirement, 120)}"


def _located(document: Document, kind: type[Record], message: str, place: str) -> tuple[str, Any]:
    """Returns the path with all names, and the value at that path.

    The message does not contain the names of a mapping. The wrong name is found by validating the
    mapping with each name alone, of which one fails with the same message."""
    root: Any = json.loads(json.dumps(document))
    path = "$"
    value = root
    for member, index in _STEP.findall(place):
        if index == "...":
            for name, inner in list(value.items()):
                value.clear()
                value[name] = inner
                if _fails(root, kind, message):
                    break
            shown_name = one_line(name, 60)
            path = (
                f"{path}.{shown_name}" if shown_name.isidentifier() else f"{path}['{shown_name}']"
            )
            value = inner
        elif index:
            path = f"{path}[{index}]"
            value = value[int(index)]
        else:
            path = f"{path}.{member}"
            value = value[member]
    return path, value


def _fails(document: Document, kind: type[Record], message: str) -> bool:
    try:
        msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        return str(error) == message
    return False


def _check_format(document: object, schema: str) -> Document:
    if not isinstance(document, Mapping):
        raise FieldError("$", "is not a JSON object")
    if document.get("schema") != schema:
        stated_schema = (
            one_line(json.dumps(document.get("schema")), 60) if "schema" in document else "missing"
        )
        raise FieldError("$.schema", f"is {stated_schema}, must be {json.dumps(schema)}")

    document = converted(document)
    if (version := document.get("schema_version")) != SCHEMA_VERSION:
        stated_version = one_line(json.dumps(version), 40)
        is_newer = isinstance(version, int) and version > SCHEMA_VERSION
        remedy = "report it with the ratelimit-bench that wrote it" if is_newer else "measure again"
        versions = f"this report reads versions {OLDEST_VERSION} to {SCHEMA_VERSION}"
        raise FieldError("$.schema_version", f"is {stated_version}; {versions}: {remedy}")
    return document


def validate_result(document: object) -> Result:
    """Validates the JSON of one run. Raises FieldError for the first field that the schema does not
    admit."""
    result = _check_format(document, RESULT)
    kind = records.RESULTS.get(str(result.get("status")))
    if kind is None:
        stated_status = one_line(json.dumps(result.get("status")), 40)
        raise FieldError(
            "$.status", f"is {stated_status}, must be one of {', '.join(sorted(records.RESULTS))}"
        )
    return cast(Result, _decoded(result, kind))


def validate_manifest(document: object) -> Document:
    """Validates the manifest of a campaign as `validate_result` does."""
    manifest = _check_format(document, MANIFEST)
    _decoded(manifest, records.Manifest)
    return manifest


def validate_verdicts(document: object) -> records.Verdicts:
    return _decoded(document if isinstance(document, Mapping) else {}, records.Verdicts)


def validate_audit(document: object) -> records.Audit:
    if not isinstance(document, Mapping):
        raise FieldError("$", "is not a JSON object")
    return _decoded(converted(document), records.Audit)
