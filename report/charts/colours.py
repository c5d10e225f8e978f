"""The colours of charts, in the light palette and in the dark one."""

from collections.abc import Iterable

from report.analysis.summary import Summary

#: Maps light colours to dark ones. They follow the colours of Okabe and Ito, which the colour-blind
#: can tell apart, with the lightness of each theme.
CATEGORICAL = {
    "#0072b2": "#56a8e0",
    "#d0560a": "#f08a4b",
    "#00795a": "#3fc6a0",
    "#a24f86": "#dc92c2",
    "#6a4c93": "#b39ddb",
    "#3a86a8": "#8fd0ea",
    "#8c3b3b": "#e08a8a",
}
CONTROL_COLOUR = "#868c94"

#: These clients have the first colours in every campaign. Any other client has one of the further
#: colours.
_FIRST = ("valkey-glide", "iovalkey", "ioredis", "node-redis")

INK = "#1c1e21"
MUTED = "#5b6067"
RULE = "#dfe2e6"

SERVER = "#43536a"
SERVER_LIGHT = "#9fb0c6"
STORE = "#a98600"
SERVICE = "#8a4f7d"

#: Maps the light colours of roles to dark ones.
ROLE_COLOURS = {SERVER: "#9db2d0", SERVER_LIGHT: "#5a6d8a", STORE: "#e3bd3f", SERVICE: "#cf93c2"}

#: The colours of how requests ended, and of the time of a fault.
SERVED = "#7ba9c9"
LIMITED = "#d9b44a"
FAILED = "#b3362b"
BAND = "#ece4d6"
OUTCOME_COLOURS = {SERVED: "#4c7fa3", LIMITED: "#c79a2a", FAILED: "#ff8a7a", BAND: "#3b3428"}
GREYS = {INK: "#e8e9eb", MUTED: "#a3a9b1", RULE: "#33373d", CONTROL_COLOUR: "#8d949d"}
DARK = {**CATEGORICAL, **ROLE_COLOURS, **OUTCOME_COLOURS, **GREYS}


def client_colours(summaries: Iterable[Summary]) -> dict[str, str]:
    """The colour of each client, without controls."""
    clients = {summary.identity.client for summary in summaries if not summary.identity.control}
    palette = list(CATEGORICAL)
    colours = dict(zip(_FIRST, palette, strict=False))
    further_colours = palette[len(_FIRST) :]
    for number, client in enumerate(sorted(clients.difference(_FIRST))):
        colours[client] = further_colours[number % len(further_colours)]
    return colours
