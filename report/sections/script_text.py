"""The limiter's scripts in words: what a group ran, and by which commands (rule M12)."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from report.analysis.cells import Cell
from report.analysis.rankings import Ranking
from report.analysis.summary import Summary
from report.base.format import ABSENT, count, joined
from report.results.model import script_text, short_script_name

#: The class whose script `+same-script` has every client run.
COMMON_CLASS = "RateLimiterRedis"

#: The limiter of every client that no option gave another.
USUAL_LIMITER = "rate-limiter-flexible"

_EVAL_IS_LONGER = "EVAL sends the script’s text with every call."


def script_names(summary: Summary) -> str:
    """`EVALSHA a1de965f`; a dash where none is on record."""
    return ", ".join(script_text(script) for script in summary.scripts) or ABSENT


def calls_text(calls: Mapping[str, int]) -> str:
    """Script calls by command, the most first: `evalsha 123,456; eval 1`."""
    ordered = sorted(calls.items(), key=lambda entry: (-entry[1], entry[0]))
    return "; ".join(f"{command} {count(number)}" for command, number in ordered)


def _by_client(summaries: Iterable[Summary], kinds_only: bool) -> dict[str, list[str]]:
    """Clients with versions as asked, and limiters where they differ, by what they ran: its command alone, or
    the script's short name too."""
    rows = sorted(summaries, key=lambda row: row.identity.libraries)
    limiters = {row.identity.limiter for row in rows}
    found: dict[str, list[str]] = {}
    for summary in rows:
        identity = summary.identity
        usual = len(limiters) == 1 or identity.limiter in (None, USUAL_LIMITER)
        who = identity.libraries if usual else f"{identity.client}+{identity.limiter}"
        texts = [script.kind.upper() if kinds_only else script_text(script) for script in summary.scripts]
        for text in texts or ["no script on record"]:
            clients = found.setdefault(text, [])
            if who not in clients:
                clients.append(who)
    return found


def _commands(ranking: Ranking) -> str:
    """`EVALSHA.`, or `EVALSHA (iovalkey) and EVAL (node-redis). …` with what that means, of rows that ran."""
    found = _by_client((row for row in ranking.summaries if row.scripts), kinds_only=True)
    if len(found) == 1:
        return f"{next(iter(found))}."
    commands = joined([f"{command} ({', '.join(clients)})" for command, clients in found.items()])
    return f"{commands}. {_EVAL_IS_LONGER if 'EVAL' in found else ''}".strip()


#: Where the settings of clients come from, by `Group.settings`.
_SETTINGS = {
    "": "",
    "defaults": "each library's default settings",
    "tuned": "the settings that each library's maintainers recommend",
}


def mode_text(ranking: Ranking) -> str:
    """Which script the rows of a ranking should run, and which settings and framework they have unless they
    are the usual ones; empty where there is nothing to say."""
    group = ranking.group
    named = {"encryption": "with TLS and without"}
    varying = joined([named.get(name, f"in several {name}s") for name in _varying_conditions(ranking)])
    versions = f"{group.client} {varying}" if group.client else ""
    framework = f"on {group.framework}" if group.framework else ""
    texts = (versions, _script_mode(ranking), _SETTINGS[group.settings], framework)
    return ", ".join(filter(None, texts))


def _script_mode(ranking: Ranking) -> str:
    """Empty for an address whose store is not known, and where rows ran without a script on record: the store
    may have none, as memcached."""
    if ranking.store is None:
        return ""
    if any(limiter != USUAL_LIMITER for limiter in ranking.limiters):
        limiters = joined(list(ranking.limiters))
        return f"the limiter {limiters}" if len(ranking.limiters) == 1 else f"the limiters {limiters}"
    if ranking.group.same_script:
        return "one script for all"
    ran = any(run.measured for row in ranking.summaries for run in row.runs)
    return "" if ran and not ranking.scripts else "each client's own script"


def _protocols(ranking: Ranking) -> str:
    found: dict[str, list[str]] = {}
    for row in ranking.summaries:
        spoken = row.figures.client_settings.get("protocol") if row.figures else None
        if isinstance(spoken, str):
            found.setdefault(spoken, []).append(row.identity.libraries)
    if len(found) < 2:
        return ""
    texts = [f"{protocol} ({', '.join(dict.fromkeys(found[protocol]))})" for protocol in sorted(found)]
    return f"The protocols differ: {joined(texts)}."


def disclosure(ranking: Ranking) -> str:
    """Which command each client used, whether the scripts are the same, and which protocols were spoken where
    they differ; empty where there is nothing to say."""
    return " ".join(filter(None, (_scripts_disclosure(ranking), _protocols(ranking))))


def _scripts_disclosure(ranking: Ranking) -> str:
    """Empty where no script is on record."""
    if not ranking.scripts:
        return "The script was not recorded." if ranking.group.same_script else ""
    clients = {row.identity.libraries for row in ranking.summaries if row.scripts}
    if ranking.group.same_script and ranking.group.rankable:
        script = next(script for row in ranking.summaries for script in row.scripts)
        return f"The script of {COMMON_CLASS}, {short_script_name(script)}, by {_commands(ranking)}"
    if ranking.one_script and len(clients) > 1:
        short = ranking.one_script[:8]
        return f"All run the same script, {short}, by {_commands(ranking)}"
    used = _by_client(ranking.summaries, kinds_only=False)
    texts = [f"{', '.join(clients)}: {text}" for text, clients in used.items()]
    differ = f" A difference is one of {what_varies(ranking)} and script together." if len(used) > 1 else ""
    return f"{'; '.join(texts)}.{differ}"


def what_varies(ranking: Ranking) -> str:
    """`client`, `limiter`, `limiter version` or several: what differs between the rows besides the script."""
    rows = [row.identity for row in ranking.summaries if row.scripts]
    several_limiters = len({row.limiter for row in rows}) > 1
    differ = {
        "client": len({(row.client, row.client_version) for row in rows}) > 1,
        "limiter": several_limiters,
        "limiter version": not several_limiters and len({row.limiter_version for row in rows}) > 1,
    }
    varying = [*(name for name, several in differ.items() if several), *_varying_conditions(ranking)]
    return ", ".join(varying) or "client"


def _varying_conditions(ranking: Ranking) -> list[str]:
    rows = [row.identity for row in ranking.summaries]
    values: dict[str, set[object]] = {
        "store version": {row.store_version for row in rows},
        "Node version": {row.node for row in rows},
        "encryption": {row.is_encrypted for row in rows},
    }
    return [name for name, found in values.items() if len(found) > 1]


def store_name(ranking: Ranking) -> str:
    identity = ranking.summaries[0].identity
    if "store version" in _varying_conditions(ranking):
        identity = replace(identity, store_version=None)
    return identity.store_text if ranking.store else "an unknown one"


def difference(cell: Cell) -> str:
    """How the groups of a cell differ, so that nobody compares across them; empty for one group."""
    rankings = cell.rankings
    if len(rankings) < 2:
        return ""
    texts: list[str] = []

    def tell(what: str, values: Iterable[str], differ: bool | None = None) -> None:
        """`differ` is None where that is for the values to say."""
        found = list(dict.fromkeys(values))
        if len(found) > 1 if differ is None else differ:
            texts.append(f"{what}: {joined(found)}.")

    limiters = (limiter for ranking in rankings for limiter in ranking.limiters or ("an unknown one",))
    deciders = (ranking.decider_text.removeprefix("decided by ") for ranking in rankings)
    settings = (_SETTINGS[ranking.group.settings] or "those that all clients share" for ranking in rankings)
    tell("The stores differ", map(store_name, rankings), cell.stores_differ)
    tell("What decides differs", filter(None, deciders), cell.deciders_differ)
    tell("The limiters differ", limiters, cell.limiters_differ)
    tell("The clients' settings differ", settings)
    tell("The server's web frameworks differ", (ranking.group.framework or "fastify" for ranking in rankings))
    if cell.scripts_differ:
        modes = list(dict.fromkeys(filter(None, map(_script_mode, rankings))))
        each = f"{joined(modes)}." if len(modes) > 1 else "each group names its own."
        texts.append(f"The scripts differ: {each}")
    clients = dict.fromkeys(ranking.group.client for ranking in rankings if ranking.group.client)
    if len(clients) > 1:
        itself = "Each is compared with itself in other versions alone."
        texts.append(f"The clients differ: {joined(list(clients))}. {itself}")
    if not texts:
        texts.append("All ran the same script, as their own or because of +same-script.")
    return " ".join([*texts, "Rows are compared within a group only."])
