"""Documents with something hostile in any field of manifest and result: the field is named, or
reported."""

import copy
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from builder import Document, configuration, result
from campaign_writer import manifest, write_campaign
from report.base.errors import FieldError
from report.base.paths import ROOT
from report.cli.generate_command import main
from report.results.validate import parse_json, validate_manifest, validate_result

Schema = Mapping[str, Any]
Place = tuple[str | int, ...]

DEEP: Any = json.loads("[" * 60 + "]" * 60)
#: Of every type; many are what the schema of some field admits.
HOSTILE: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    -0.0,
    1,
    0.5,
    2,
    100,
    1e-300,
    1e300,
    10**15,
    float("nan"),
    float("inf"),
    "",
    " ",
    "banana",
    "0",
    "-1",
    "0-",
    "9-1",
    "0-99999999",
    "1,,2",
    "\x00",
    "\u202e",
    "é" * 100_000,
    "../../x",
    "<script>",
    "2026-13-45T99:99:99Z",
    "9999-12-31T23:59:59.999Z",
    "0001-01-01T00:00:00Z",
    [],
    [[]],
    [None],
    [{}],
    [""],
    ["banana"],
    [0],
    [0, 0, 0],
    [-1.5],
    DEEP,
    {},
    {"": ""},
    {"banana": "banana"},
    {"server-1": {}},
    {"server-1": 0},
    {"0": [0]},
)
#: What patterns in the schemas admit.
TEXTS = (
    "a",
    "0" * 16,
    "0" * 64,
    "p1_0",
    "2026-01-02T03:04:05.678Z",
    "20260102_030405",
    "server-1",
    "0",
)


def schema_of(name: str) -> Schema:
    schema: Schema = json.loads(
        (ROOT / "src/contract/schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
    )
    return schema


class Places:
    """All places of a document that its schema knows, also those that the document leaves out."""

    def __init__(self, root: Schema) -> None:
        self._root = root

    def alternatives(self, schema: Schema) -> list[Schema]:
        while "$ref" in schema:
            found: Any = self._root
            for name in schema["$ref"].removeprefix("#/").split("/"):
                found = found[name]
            schema = found
        inner = [each for word in ("oneOf", "anyOf", "allOf") for each in schema.get(word, [])]
        return [each for other in inner for each in self.alternatives(other)] or [schema]

    def sample(self, schema: Schema) -> Any:
        """Something small that fits, as far as types and patterns go."""
        found = self.alternatives(schema)[0]
        if "const" in found or "enum" in found:
            return found.get("const", found.get("enum", [None])[0])
        match found.get("type"):
            case "object":
                names = found.get("required", [])
                return {
                    name: self.sample(found.get("properties", {}).get(name, {})) for name in names
                }
            case "array":
                if "prefixItems" in found:
                    return [self.sample(each) for each in found["prefixItems"]]
                return [self.sample(found.get("items", {}))] * max(1, found.get("minItems", 0))
            case "integer" | "number":
                return max(found.get("minimum", 0), found.get("exclusiveMinimum", -1) + 1)
            case "string":
                fitting = (text for text in TEXTS if re.search(found.get("pattern", ""), text))
                return next(fitting, "a")
            case "boolean":
                return True
        return None

    def of(self, schema: Schema, value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
        """Each place with what stands there; what is left out gets a sample."""
        yield place, value
        for found in self.alternatives(schema):
            if isinstance(value, dict):
                properties = found.get("properties", {})
                more = found.get("additionalProperties", {})
                names = {**dict.fromkeys(value), **properties}
                for name in names:
                    inner = properties.get(name, more if isinstance(more, dict) else {})
                    there = value[name] if name in value else self.sample(inner)
                    yield from self.of(inner, there, (*place, name))
            elif isinstance(value, list) and isinstance(found.get("items"), dict):
                for index, there in enumerate(value[:2]):
                    yield from self.of(found["items"], there, (*place, index))


def fill(document: Any, values: Mapping[Place, Any], place: Place, value: Any) -> None:
    """Puts it there; parents that are missing get their samples."""
    for depth, name in enumerate(place[:-1], 1):
        if isinstance(document, dict) and name not in document:
            document[name] = copy.deepcopy(values[place[:depth]])
        document = document[name]
    document[place[-1]] = value


class Hostile:
    """Makes hostile documents from two sound ones, by a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311
        self._configuration = configuration()
        self._sound = {
            "manifest": manifest([self._configuration], 2),
            "result": result(self._configuration),
        }
        self._values: dict[str, dict[Place, Any]] = {}
        for name, document in self._sound.items():
            schema = schema_of(name)
            places = Places(schema)
            self._values[name] = {
                place: value for place, value in places.of(schema, document) if place
            }

    def next(self) -> tuple[str, Document, list[Document]]:
        """What was changed, the manifest, and the results."""
        name = self._random.choice(["manifest", "result"])
        values = self._values[name]
        documents = copy.deepcopy(self._sound)
        changed = []
        for _ in range(self._random.choice([1, 1, 1, 2])):
            place = self._random.choice(list(values))
            value = copy.deepcopy(self._random.choice(HOSTILE))
            try:
                fill(documents[name], values, place, value)
            except (KeyError, IndexError, TypeError):
                continue  # An earlier change took its parent.
            changed.append(f"{name}.{'.'.join(map(str, place))} = {str(value)[:60]!r}")
        others = [result(self._configuration, 2)] if name == "result" else []
        return "; ".join(changed), documents["manifest"], [documents["result"], *others]


def check(folder: Path, seed: int, count: int) -> None:
    hostile = Hostile(seed)
    broken = []
    for _ in range(count):
        changed, described, results = hostile.next()
        write_campaign(folder, described, results)
        try:
            code = main([str(folder), "--output-format", "all"])
        except Exception as error:
            broken.append(f"{changed}: {error!r}")
            continue
        if code not in (0, 2):
            broken.append(f"{changed}: exit code {code}")
    assert broken == []


def test_a_cache_of_no_cpus_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    described = manifest([configuration()], 1)
    described["machine"]["caches"] = [
        {"level": 1, "type": "Data", "size_bytes": 1, "cpus": "banana"}
    ]
    assert (
        main([str(write_campaign(tmp_path / "campaign", described, [result(configuration())]))])
        == 2
    )
    assert "$.machine.caches[0].cpus" in capsys.readouterr().err


def test_a_whole_number_written_with_a_point_is_an_integer() -> None:
    assert str(parse_json(b"[-0.0, 2.0, 2.5, 1e300]")) == "[0, 2, 2.5, 1e+300]"


@pytest.mark.parametrize("document", [b"[2.0]", b'{"a":2.0}', b"[2.00\n]", b"[2.0e0]", b"[2.0E0]"])
def test_a_fraction_of_zeros_counts_before_whatever_ends_a_number(document: bytes) -> None:
    assert "2.0" not in str(parse_json(document))


def admitted(check: Callable[[object], object], document: object) -> bool:
    try:
        check(document)
    except FieldError:
        return False
    return True


def test_the_records_admit_what_the_schemas_admit() -> None:
    checks = {"manifest": validate_manifest, "result": validate_result}
    schemas = {name: Draft202012Validator(schema_of(name)) for name in checks}
    hostile = Hostile(seed=7)
    differing = []
    for _ in range(300):
        changed, described, results = hostile.next()
        documents = {"manifest": described, "result": results[0]}
        for name, text in {
            name: json.dumps(document_) for name, document_ in documents.items()
        }.items():
            try:
                document = parse_json(text.encode())
            except FieldError:
                continue
            if admitted(checks[name], document) != schemas[name].is_valid(document):
                differing.append(changed)
    assert differing == []


@pytest.mark.parametrize(
    ("place", "value", "field"),
    [
        (("resources", "server-1", "cpu_us"), -1, "$.resources['server-1'].cpu_us"),
        (("counts", "by_code", "429"), "many", "$.counts.by_code['429']"),
        (
            ("generators", 0, "histograms", "allowed", "unit"),
            "s",
            "$.generators[0].histograms.allowed.unit",
        ),
        (("configuration", "extent", "requests"), 5, "$.configuration.extent.requests"),
        (("configuration", "external_store"), False, "$.configuration.external_store"),
        (("configuration", "load", "model"), "ajar", "$.configuration.load.model"),
        (("configuration_hash",), "0" * 64 + "\n", "$.configuration_hash"),
        (("started_at",), None, "$.started_at"),
    ],
)
def test_the_path_of_a_wrong_field_is_named(place: Place, value: Any, field: str) -> None:
    document = copy.deepcopy(result(configuration()))
    fill(document, {}, place, value)
    with pytest.raises(FieldError) as caught:
        validate_result(document)
    assert caught.value.field == field


def test_no_hostile_field_is_a_traceback(tmp_path: Path) -> None:
    check(tmp_path / "campaign", seed=35, count=40)


@pytest.mark.long
def test_no_hostile_field_is_a_traceback_in_5000_documents(tmp_path: Path) -> None:
    check(tmp_path / "campaign", seed=1, count=5000)
