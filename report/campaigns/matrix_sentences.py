"""The sentences above the matrix, of which there are at most two."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd
from msgspec import Struct

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.figures import consumer_cpu, node_cpu
from report.analysis.texts import AT_FULL_LOAD
from report.base.format import joined, microseconds
from report.campaigns.matrix_answers import Source
from report.campaigns.matrix_targets import Key
from report.campaigns.questions import BURST
from report.sections.script_text import DEFAULT_LIMITER


class HeadlineSentence(Struct, frozen=True, order=True):
    """A sentence of a campaign. The greatest one is shown, which is about the most targets."""

    target_count: int
    started_at: str
    text: str


def headline_sentences(analysis: Analysis, source: Source) -> Iterator[HeadlineSentence]:
    """The sentence about what clients on a standalone store cost, beside a server without a
    limiter. There is none unless the campaign has several clients and such a server."""
    for cell in analysis.cells[:1]:
        costs = sorted(_node_costs(cell))
        costs_without_limiter = [
            cost
            for row in cell.controls
            if row.identity.client == "none" and (cost := row.figure_of(consumer_cpu).value)
        ]
        if cell.identity.open_loop or not costs_without_limiter:
            continue
        if len({cost.client for cost in costs}) < 2:
            continue

        cheapest = costs[0]
        dearest = costs[-1]
        text = (
            f"{AT_FULL_LOAD.capitalize()} with a standalone store {cheapest.label} costs Node least, "
            f"{microseconds(cheapest.cost_us)} µs of CPU a decision, {dearest.label} most, "
            f"{microseconds(dearest.cost_us)} µs; a server "
            f"without a limiter spends {microseconds(costs_without_limiter[0])} µs a request "
            f"({source.machine}, {source.started_at[:10]})."
        )
        yield HeadlineSentence(len(costs), source.started_at, text)


class _NodeCost(Struct, frozen=True, order=True):
    cost_us: float
    """µs of Node's CPU time per decision."""
    label: str
    client: str


def _node_costs(cell: Cell) -> Iterator[_NodeCost]:
    """The cost of each row of the default limiter on a standalone store."""
    for row in cell.summaries:
        identity = row.identity
        is_default = identity.limiter == DEFAULT_LIMITER and not identity.options
        cost_us = row.figure_of(node_cpu).value
        if identity.topology == "standalone" and is_default and cost_us is not None:
            yield _NodeCost(cost_us, identity.short_label, identity.client)


def first_sentences(
    headlines: Sequence[HeadlineSentence],
    answers: pd.DataFrame,
    target_texts: Mapping[Key, Sequence[str]],
) -> tuple[str, ...]:
    """The headline about the most targets, and how many targets are exact when many ask at once."""
    sentences = [max(headlines).text] if headlines else []
    bursts = answers[answers["question"].eq(BURST)].drop_duplicates(["condition", "key"])
    promised = [answer for answer in bursts["answer"] if answer.good is not None]
    if promised:
        broken = sorted({target_texts[answer.key][0] for answer in promised if not answer.good})
        exceptions = f", not {joined(broken)}" if broken else ""
        kept_count = sum(bool(answer.good) for answer in promised)
        sentences.append(
            f"Exact when many ask at once: {kept_count} of {len(promised)} targets{exceptions}."
        )
    return tuple(sentences)
