"""The sections of a campaign's page, in its order. A new one is a file in this folder and a line here."""

from collections.abc import Callable

from report.analysis.campaign_analysis import Analysis
from report.sections import topics
from report.sections.adaptive import adaptive
from report.sections.all_figures import all_figures
from report.sections.best_performers import best_section
from report.sections.client_vs_script import client_vs_script_section
from report.sections.diagnosis import diagnosis
from report.sections.environment import environment
from report.sections.failures import failures
from report.sections.faults import fault_runs, faults
from report.sections.latency_at_rate import latency_at_rate
from report.sections.limiter_cost import limiter_cost
from report.sections.max_rate import max_rate
from report.sections.memory_per_key import memory_per_key_section
from report.sections.printed_programs import load_programs, store_operations
from report.sections.resources import resources
from report.sections.runs import all_runs, problems
from report.sections.section import Section
from report.sections.several_servers import several_servers
from report.sections.thresholds import thresholds

SECTIONS: tuple[Callable[[Analysis], Section | None], ...] = (
    thresholds,
    max_rate,
    best_section,
    client_vs_script_section,
    topics.throughput_topic,
    topics.latency_topic,
    latency_at_rate,
    topics.cpu_topic,
    limiter_cost,
    topics.memory_topic,
    memory_per_key_section,
    topics.correctness_topic,
    faults,
    topics.over_time_topic,
    several_servers,
    load_programs,
    store_operations,
    all_figures,
    resources,
    diagnosis,
    adaptive,
    failures,
    problems,
    all_runs,
    fault_runs,
    environment,
)


def sections_of(analysis: Analysis) -> list[Section]:
    return [section for build in SECTIONS if (section := build(analysis))]
