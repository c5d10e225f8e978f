"""Pairs the runs of two rows of one campaign."""

from collections.abc import Iterator
from itertools import product

from report.analysis.error_budget import systematic_error
from report.analysis.figures import Figure
from report.analysis.summary import Summary
from report.results import model
from report.statistics.samples import Place, Sample, sample_of, upto
from report.statistics.systematic_error import SystematicError


def sample_between(
    new: Summary, base: Summary, figure: Figure, rounds: int | None = None, share: float = 1.0
) -> Sample:
    """The sample of two rows of one campaign. Runs by turns are paired by group if the rows share
    groups, and other runs by round."""
    planned = min(new.planned_rounds, base.planned_rounds)
    last_round = max(new.last_round, base.last_round) if rounds is None else rounds
    together, by_group = _partners(new, base, last_round)
    new_side = upto(new.side(figure), last_round)
    base_side = upto(base.side(figure), last_round)
    systematic = systematic_between(new, base, figure)
    return sample_of(
        new_side, base_side, min(planned, last_round), by_group, share, together, systematic
    )


def systematic_between(new: Summary, base: Summary, figure: Figure) -> SystematicError:
    """The systematic error of the comparison of two rows (rule M34), of one campaign or of two."""
    is_one_program = new.identity.build_of == base.identity.build_of
    return systematic_error(
        new.identity.layer,
        figure.in_budget,
        by_turns=new.by_turns and base.by_turns,
        pairs="one program" if is_one_program else "targets",
    )


def _partners(new: Summary, base: Summary, last_round: int) -> tuple[bool, bool]:
    """Whether the runs of a pair were made at the same time, and whether partners ran in one
    group."""
    new_places = {place for place in new.places if place[0] <= last_round}
    base_places = {place for place in base.places if place[0] <= last_round}
    together = new.by_turns and base.by_turns and not new_places.isdisjoint(base_places)
    return together, together or new_places <= base_places or base_places <= new_places


def runs_between(new: Summary, base: Summary, paired: bool) -> Iterator[tuple[model.Run, ...]]:
    """The runs of each ratio that enters the comparison of two rows. They are those of both sides
    of each pair, and without pairs each run of one side with each of the other."""
    sides = [[run for run in row.runs if run.eligible or run.spoiled] for row in (new, base)]
    if not paired:
        yield from product(*sides)
        return

    _, by_group = _partners(new, base, max(new.last_round, base.last_round))
    places: list[dict[Place, list[model.Run]]] = [{}, {}]
    for side, runs_by_place in zip(sides, places, strict=True):
        for run in side:
            number, group = run.place or (run.run, 1)
            runs_by_place.setdefault((number, group if by_group else 1), []).append(run)

    new_runs, base_runs = places
    for place in sorted(new_runs.keys() & base_runs.keys()):
        yield (*new_runs[place], *base_runs[place])
