"""What the harness knows: layers, kinds of roles, dimensions, and options that separate rankings.

The lists are generated from its sources."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from report.base.contract import CONSTANTS, generated
from report.results.generated import records


def _generated(name: str) -> tuple[Any, ...]:
    return tuple(generated(name))


#: The clients that measure the harness, which are the server without a limiter and the one with
#: counters in its process.
CONTROL_CLIENTS: frozenset[str] = frozenset(_generated("controls"))


#: The kinds of roles whose resources are measured, in the order in which a report lists them.
MEASURED_KINDS: tuple[str, ...] = _generated("measured-kinds")


#: The layers in the order of the page, with the words of each.
LAYER_WORDS: tuple[Mapping[str, str], ...] = _generated("layers")


LAYERS = tuple(words["layer"] for words in LAYER_WORDS)


#: The deciders in the order of the page.
DECIDERS: tuple[str, ...] = _generated("deciders")


#: The algorithms in the order of the page.
ALGORITHMS: tuple[str, ...] = _generated("algorithms")


#: The layer of load programs that measure a store. Its rows are in no ranking with others.
STORE_LAYER = "store"


#: The option with which all clients run one script, so that a difference is due to the client.
SAME_SCRIPT: str = CONSTANTS["same_script"]


#: The option of a copy, which changes the label and nothing else (rule M31).
COPY: str = CONSTANTS["copy"]


#: What differs between rankings on several web frameworks.
FRAMEWORK: str = CONSTANTS["framework"]


class Dimension(Struct, frozen=True):
    """A number by which configurations differ, e.g. of servers, at layers that have it."""

    key: str
    one: str
    other: str
    layers: tuple[str, ...]

    def count(self, configuration: records.Configuration) -> int:
        """The count of a configuration. It is 1 if the configuration does not name it, and 0 at a
        layer without this dimension."""
        count: int | None = getattr(configuration, self.key)
        return int(configuration.layer in self.layers) if count is None else count


#: The dimensions, which columns, filters, texts and exports follow.
DIMENSIONS = tuple(
    Dimension(**{**members, "layers": tuple(members["layers"])})
    for members in _generated("dimensions")
)


class Separation(Struct, frozen=True, kw_only=True):
    """An option that separates rankings, with its words. It is an entry in
    `src/targets/options.ts`."""

    option: str
    """The option, or the common form of a family of options such as `node-<version>`."""
    pattern: str | None = None
    what: str
    """What differs between the rows, e.g. `encryption`."""
    compares: str
    """`others` if rows with the option are compared with each other, and `itself` if a client with
    it is compared with the same client without it."""
    words: str
    value: str | None = None
    """The text for lists of differences, which replaces `words` there."""
    default_words: str = "without it"
    """The text of such lists for rows without an option of the family."""

    def has(self, option: str) -> bool:
        return bool(re.fullmatch(self.pattern, option)) if self.pattern else option == self.option


#: The options by which plans separate rankings.
SEPARATIONS: tuple[Separation, ...] = tuple(
    Separation(**members) for members in _generated("separations")
)


def separations_of(options: Iterable[str], compares: str) -> list[tuple[str, Separation]]:
    """The separating options among these, in the order of the list."""
    option_ids = tuple(options)
    return [
        (option, separation)
        for separation in SEPARATIONS
        if separation.compares == compares
        for option in option_ids
        if separation.has(option)
    ]
