"""Says which scripts and limiters the rows of a ranking ran (rule M12), and how the rankings of a
cell differ."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from report.analysis.cells import Cell
from report.analysis.rankings import Ranking
from report.analysis.summary import Summary
from report.base.contract import CONSTANTS
from report.base.format import ABSENT, count, joined
from report.results.catalog import SEPARATIONS, Separation, separations_of
from report.results.limiter_scripts import script_text, short_script_name

#: The class whose script `+same-script` has every client run.
COMMON_CLASS = "RateLimiterRedis"

#: The limiter of a client without an option that names another one.
DEFAULT_LIMITER: str = CONSTANTS["default_limiter"]

_EVAL_IS_LONGER = "EVAL sends the script’s text with every call."


def script_names(summary: Summary) -> str:
    """The scripts of a row, such as `EVALSHA a1de965f`; a dash where none is on record."""
    return ", ".join(script_text(script) for script in summary.scripts) or ABSENT


def calls_text(calls: Mapping[str, int]) -> str:
    """The numbers of script calls by command, the largest first: `evalsha 123,456; eval 1`."""
    ordered = sorted(calls.items(), key=lambda entry: (-entry[1], entry[0]))
    return "; ".join(f"{command} {count(number)}" for command, number in ordered)


def _by_client(summaries: Iterable[Summary], kinds_only: bool) -> dict[str, list[str]]:
    """The clients by what they ran: by the command alone, or also by the short name of the script.

    A client stands with its requested version, or with its limiter where limiters differ."""
    rows = sorted(summaries, key=lambda row: row.identity.libraries)
    has_one_limiter = len({row.identity.limiter for row in rows}) == 1
    clients_of: dict[str, list[str]] = {}
    for row in rows:
        identity = row.identity
        client = identity.libraries
        if not has_one_limiter and identity.limiter not in (None, DEFAULT_LIMITER):
            client = f"{identity.client}+{identity.limiter}"
        for text in _script_texts(row, kinds_only) or ["no script on record"]:
            clients = clients_of.setdefault(text, [])
            if client not in clients:
                clients.append(client)
    return clients_of


def _script_texts(row: Summary, kinds_only: bool) -> list[str]:
    if kinds_only:
        return [script.kind.upper() for script in row.scripts]
    return [script_text(script) for script in row.scripts]


def _commands(ranking: Ranking) -> str:
    """The commands of the rows that ran: `EVALSHA.`, or `EVALSHA (iovalkey) and EVAL (node-redis).
    …` with what the difference means."""
    rows = (row for row in ranking.summaries if row.scripts)
    clients_of = _by_client(rows, kinds_only=True)
    if len(clients_of) == 1:
        return f"{next(iter(clients_of))}."
    commands = joined(
        [f"{command} ({', '.join(clients)})" for command, clients in clients_of.items()]
    )
    return f"{commands}. {_EVAL_IS_LONGER}" if "EVAL" in clients_of else f"{commands}."


def mode_text(ranking: Ranking) -> str:
    """Says which script the rows of a ranking should run, and under which conditions they ran where
    these are not the default ones; empty where there is nothing to say."""
    properties = ranking.properties
    words_of = {separation.what: separation.words for separation in SEPARATIONS}
    varying = joined([words_of.get(name, f"in several {name}s") for name in properties.varies])
    versions = f"{properties.client} {varying}" if properties.client else ""
    conditions = [
        separation.words for _, separation in separations_of(properties.conditions, "others")
    ]
    return ", ".join(filter(None, [versions, _script_mode(ranking), *conditions]))


def _script_mode(ranking: Ranking) -> str:
    """Says which script or limiter the rows should run.

    It is empty for an unknown store, and where rows ran without a script on record: a store such as
    memcached has none."""
    if ranking.properties.store is None or ranking.base.identity.app:
        return ""
    if any(limiter != DEFAULT_LIMITER for limiter in ranking.limiters):
        limiters = joined(list(ranking.limiters))
        word = "limiter" if len(ranking.limiters) == 1 else "limiters"
        return f"the {word} {limiters}"
    if ranking.properties.same_script:
        return "one script for all"
    has_run = any(run.measured for row in ranking.summaries for run in row.runs)
    return "" if has_run and not ranking.scripts else "each client's own script"


def disclosure(ranking: Ranking) -> str:
    """Says which command each client used, whether the scripts are the same, and which protocols
    were spoken where they differ; empty where there is nothing to say."""
    return " ".join(filter(None, (_scripts_disclosure(ranking), _protocols(ranking))))


def _scripts_disclosure(ranking: Ranking) -> str:
    """Empty where no script is on record."""
    if not ranking.scripts:
        return "The script was not recorded." if ranking.properties.same_script else ""

    if ranking.properties.same_script and ranking.properties.rankable:
        script = next(script for row in ranking.summaries for script in row.scripts)
        return f"The script of {COMMON_CLASS}, {short_script_name(script)}, by {_commands(ranking)}"

    clients = {row.identity.libraries for row in ranking.summaries if row.scripts}
    if ranking.one_script and len(clients) > 1:
        return f"All run the same script, {ranking.one_script[:8]}, by {_commands(ranking)}"

    clients_of = _by_client(ranking.summaries, kinds_only=False)
    scripts = "; ".join(f"{', '.join(clients)}: {text}" for text, clients in clients_of.items())
    if len(clients_of) <= 1:
        return f"{scripts}."
    return f"{scripts}. A difference is one of {what_varies(ranking)} and script together."


def _protocols(ranking: Ranking) -> str:
    clients_of: dict[str, list[str]] = {}
    for row in ranking.summaries:
        selected = row.selected_figures
        protocol = selected.client_settings.get("protocol") if selected else None
        if isinstance(protocol, str):
            clients_of.setdefault(protocol, []).append(row.identity.libraries)
    if len(clients_of) < 2:
        return ""
    texts = [
        f"{protocol} ({', '.join(dict.fromkeys(clients))})"
        for protocol, clients in sorted(clients_of.items())
    ]
    return f"The protocols differ: {joined(texts)}."


def scripts_differ(ranking: Ranking) -> bool:
    """Whether each row ran a script of its own choice, and these differ."""
    names = {script.name_or_sha1 for row in ranking.summaries for script in row.scripts}
    return not ranking.properties.same_script and len(names) > 1


def what_varies(ranking: Ranking) -> str:
    """What differs between the rows besides the script: `client`, `limiter`, `limiter version`, or
    several of them."""
    rows = [row.identity for row in ranking.summaries if row.scripts]
    varying = []
    if len({(row.client, row.client_version) for row in rows}) > 1:
        varying.append("client")
    if len({row.limiter for row in rows}) > 1:
        varying.append("limiter")
    elif len({row.limiter_version for row in rows}) > 1:
        varying.append("limiter version")
    return ", ".join([*varying, *ranking.properties.varies]) or "client"


def store_name(ranking: Ranking) -> str:
    """The store of the rows, with its version unless the versions differ between them."""
    if not ranking.properties.store:
        return "an unknown one"
    identity = ranking.summaries[0].identity
    if "store version" in ranking.properties.varies:
        identity = replace(identity, store_version=None)
    return identity.store_text


def difference(cell: Cell) -> str:
    """Says how the rankings of a cell differ, so that nobody compares across them; empty for one
    ranking."""
    if len(cell.rankings) < 2:
        return ""
    texts = list(_differences(cell))
    if not texts:
        texts = ["All ran the same script, as their own or because of +same-script."]
    return " ".join([*texts, "Rows are compared within a group only."])


def _differences(cell: Cell) -> Iterator[str]:
    """A sentence for each property in which the rankings differ."""
    rankings = cell.rankings
    if cell.stores_differ:
        yield _listed("The stores differ", map(store_name, rankings))
    if (
        len({(ranking.properties.decided_by, ranking.properties.algorithm) for ranking in rankings})
        > 1
    ):
        deciders = (ranking.decider_text.removeprefix("decided by ") for ranking in rankings)
        yield _listed("What decides differs", filter(None, deciders))
    if len({ranking.limiters for ranking in rankings}) > 1:
        limiters = [
            limiter for ranking in rankings for limiter in ranking.limiters or ("an unknown one",)
        ]
        yield _listed("The limiters differ", limiters)
    yield from _condition_differences(rankings)
    if cell.scripts_differ:
        modes = list(dict.fromkeys(filter(None, map(_script_mode, rankings))))
        scripts = joined(modes) if len(modes) > 1 else "each group names its own"
        yield f"The scripts differ: {scripts}."
    clients = list(
        dict.fromkeys(
            ranking.properties.client for ranking in rankings if ranking.properties.client
        )
    )
    if len(clients) > 1:
        itself = "Each is compared with itself in other versions alone."
        yield f"{_listed('The clients differ', clients)} {itself}"


def _condition_differences(rankings: Sequence[Ranking]) -> Iterator[str]:
    families = {
        separation.what: separation for separation in SEPARATIONS if separation.compares == "others"
    }
    for family in families.values():
        values = dict.fromkeys(_condition_text(ranking, family) for ranking in rankings)
        if len(values) > 1:
            yield _listed(f"The {family.what} differ", values)


def _condition_text(ranking: Ranking, family: Separation) -> str:
    """The option of a family that separates the ranking, or the default for rows without one."""
    for _, separation in separations_of(ranking.properties.conditions, "others"):
        if separation.what == family.what:
            return separation.value or separation.words
    return family.default_words


def _listed(statement: str, values: Iterable[str]) -> str:
    return f"{statement}: {joined(list(dict.fromkeys(values)))}."
