"""Turns bytes into a document that the contract's records admit, or names the field that is wrong."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar, cast

import msgspec

from report.base.contract import CONSTANTS
from report.base.errors import FieldError, one_line
from report.results import audit_history, records
from report.results.record import Record

Document = Mapping[str, Any]
Result = records.MeasuredResult | records.PrintedResult | records.FailedOrAbortedResult

#: Of result, plan and manifest.
SCHEMA_VERSION: int = CONSTANTS["schema_version"]
PREVIOUS = SCHEMA_VERSION - 1

#: Members of a result or manifest that are gone: the load waits for every reading, and by turns the host's
#: speed cancels.
_GONE = ("readings", "host_speed", "machine_speed")

MAX_DOCUMENT_BYTES: int = CONSTANTS["max_document_bytes"]

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
    """Parses a whole file of strict JSON in UTF-8.

    Raises FieldError for one that is truncated, too large, nested too deeply, or that holds NaN, an infinity
    or half a character."""
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
        place = f"line {error.lineno}, column {error.colno}"
        raise FieldError("$", f"is not JSON: {error.msg} ({place})") from error
    except RecursionError as error:
        raise FieldError("$", "is nested too deeply") from error
    except UnicodeError as error:
        raise FieldError("$", f"is not UTF-8: {one_line(error, 80)}") from error
    except ValueError as error:
        raise FieldError("$", f"is not JSON: {one_line(error)}") from error
    return document


Kind = TypeVar("Kind", bound=Record)


def _decoded(document: Document, kind: type[Kind]) -> Kind:
    try:
        return msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        raise FieldError(*_field_and_text(document, kind, str(error))) from error
    except RecursionError as error:
        raise FieldError("$", "is nested too deeply") from error


#: `Expected … - at $.a[0].b[...]`, where `[...]` stands for some name.
_MESSAGE = re.compile(r"(.*?)(?: - at (`key` in )?`(\$[^`]*)`)?", re.DOTALL)
_STEP = re.compile(r"\.([A-Za-z0-9_]+)|\[(\d+|\.\.\.)\]")
_MEMBER = re.compile(r"(?:Object (?:missing required|contains unknown) field )?`(.*)`(.*)", re.DOTALL)


def _field_and_text(document: Document, kind: type[Record], message: str) -> tuple[str, str]:
    found = _MESSAGE.fullmatch(message)
    text, key, place = found.groups() if found else (message, None, None)
    path, value = _located(document, kind, message, place or "$")
    if member := _MEMBER.fullmatch(text):
        told = "is not a field of this format" if text.startswith("Object contains") else member[2].strip()
        return f"{path}.{one_line(member[1], 60)}", told or "is missing"
    wrong = text.removeprefix("Expected ").replace("`", "")
    wanted = f"must be {wrong}" if text.startswith("Expected") else f"which is wrong: {wrong}"
    if key:
        return path, f"has a name that is wrong: {one_line(wrong, 120)}"
    return path, f"is {one_line(json.dumps(value), 40)}, {one_line(wanted, 120)}"


def _located(document: Document, kind: type[Record], message: str, place: str) -> tuple[str, Any]:
    """The path with its names, and what stands there.

    The message leaves the names of a mapping out: the one is wrong that fails alone in the same way."""
    root: Any = json.loads(json.dumps(document))
    path, value = "$", root
    for member, index in _STEP.findall(place):
        if index == "...":
            for name, inner in list(value.items()):
                value.clear()
                value[name] = inner
                if _fails(root, kind, message):
                    break
            told = one_line(name, 60)
            path, value = f"{path}.{told}" if told.isidentifier() else f"{path}['{told}']", inner
        elif index:
            path, value = f"{path}[{index}]", value[int(index)]
        else:
            path, value = f"{path}.{member}", value[member]
    return path, value


def _fails(document: Document, kind: type[Record], message: str) -> bool:
    try:
        msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        return str(error) == message
    return False


def upgraded(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """A document of the previous schema as one of this; any other unchanged."""
    if document.get("schema_version") != PREVIOUS:
        return document
    found = {name: value for name, value in document.items() if name not in _GONE}
    found["schema_version"] = SCHEMA_VERSION
    if found.get("run") == 0:
        found["run"] = 1
    plan = found.get("plan")
    if isinstance(plan, Mapping) and plan.get("schema_version") == PREVIOUS:
        found["plan"] = {**plan, "schema_version": SCHEMA_VERSION, "runs": _runs(plan.get("runs"))}
    if "machines" in found:
        found["machines"] = [
            {name: value for name, value in machine.items() if name not in _GONE}
            for machine in found["machines"]
        ]
    return found


def before_first_round(document: object) -> bool:
    """Whether it is a result of the previous schema that was kept and never counted."""
    if not isinstance(document, Mapping) or document.get("schema_version") != PREVIOUS:
        return False
    return document.get("run") == 0


def _runs(runs: object) -> object:
    """The runs that count, with groups in the place of blocks; as they are where they are no list."""
    if not isinstance(runs, list):
        return runs
    renamed = {"block": "group"}
    return [
        {renamed.get(name, name): value for name, value in run.items()} if isinstance(run, Mapping) else run
        for run in runs
        if not (isinstance(run, Mapping) and run.get("run") == 0)
    ]


def _check_format(document: object, schema: str) -> Document:
    if not isinstance(document, Mapping):
        raise FieldError("$", "is not a JSON object")
    if document.get("schema") != schema:
        found = one_line(json.dumps(document.get("schema")), 60) if "schema" in document else "missing"
        raise FieldError("$.schema", f"is {found}, must be {json.dumps(schema)}")
    document = upgraded(document)
    if (version := document.get("schema_version")) != SCHEMA_VERSION:
        found = one_line(json.dumps(version), 40)
        newer = isinstance(version, int) and version > SCHEMA_VERSION
        remedy = "report it with the ratelimit-bench that wrote it" if newer else "measure again"
        text = f"is {found}; this report reads version {SCHEMA_VERSION}: {remedy}"
        raise FieldError("$.schema_version", text)
    return document


def validate_result(document: object) -> Result:
    """Admits the JSON of one run, or raises FieldError of the first field that the schema does not admit."""
    result = _check_format(document, "ratelimit-bench/result")
    kind = records.RESULTS.get(str(result.get("status")))
    if kind is None:
        found = one_line(json.dumps(result.get("status")), 40)
        raise FieldError("$.status", f"is {found}, must be one of {', '.join(sorted(records.RESULTS))}")
    return cast(Result, _decoded(result, kind))


def validate_manifest(document: object) -> Document:
    """The same of a campaign's manifest."""
    manifest = _without_ids(_check_format(document, "ratelimit-bench/manifest"))
    _decoded(manifest, records.Manifest)
    return manifest


def validate_verdicts(document: object) -> records.Verdicts:
    return _decoded(document if isinstance(document, Mapping) else {}, records.Verdicts)


def _without_ids(manifest: Document) -> Document:
    """Without the id of a machine, which manifests had once: several processors shared it."""
    found = {name: _without_id(value) if name == "machine" else value for name, value in manifest.items()}
    machines = manifest.get("machines")
    if isinstance(machines, list):
        found["machines"] = [
            {**each, "facts": _without_id(each["facts"])}
            if isinstance(each, Mapping) and "facts" in each
            else each
            for each in machines
        ]
    return found


def _without_id(machine: object) -> object:
    if not isinstance(machine, Mapping):
        return machine
    return {name: fact for name, fact in machine.items() if name != "machine_id"}


def validate_audit(document: object) -> records.Audit:
    if not isinstance(document, Mapping):
        raise FieldError("$", "is not a JSON object")
    if document.get("schema_version") != audit_history.FIRST:
        return _decoded(document, records.Audit)
    first = _decoded(audit_history.with_current_members(document), records.Audit)
    return audit_history.with_current_statuses(first)
