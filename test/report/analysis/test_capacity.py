"""What a rate takes: by CPU per request, and by the law only where the runs show how servers scale."""

import math

import pytest

from builder import Document
from capacity_documents import CPU_US, capacity_runs
from conftest import summaries_of
from report.analysis.capacity import CapacityPlan, plan_capacity
from report.analysis.role_needs import Demand
from report.statistics.resampling import Estimate
from report.statistics.scalability import ScalingLaw

LAW = ScalingLaw(14_000, 0.05, 0.002)
DEMAND = Demand(60_000, 0.7)


def plans_of(*documents: Document, demand: Demand = DEMAND) -> tuple[CapacityPlan, ...]:
    return plan_capacity(summaries_of(*documents), demand)


def plan_of(*documents: Document, demand: Demand = DEMAND) -> CapacityPlan:
    (plan,) = plans_of(*documents, demand=demand)
    return plan


def units(plan: CapacityPlan, kind: str) -> Estimate:
    found = plan.needs[kind].units
    assert found is not None
    return found


def by_law(*numbers: int, law: ScalingLaw = LAW) -> list[Document]:
    return [each for servers in numbers for each in capacity_runs(servers, law.throughput(servers))]


def test_cpu_per_request_times_the_rate() -> None:
    plan = plan_of(*capacity_runs(1, 14_000))
    need = plan.needs["server"]
    # 60,000 requests of 40 µs are 2.4 s a second.
    assert need.cpu_us_per_request.value == pytest.approx(40, rel=0.001)
    assert need.cpus.value == pytest.approx(2.4, rel=0.001)
    assert need.cpus.low == pytest.approx(2.4 / 1.015, rel=0.01)
    assert need.cpus.high == pytest.approx(2.4 / 0.985, rel=0.01)
    # Of 0.7 CPUs each: 3.43 servers, 1.71 generators, 0.86 store nodes.
    assert [units(plan, kind).value for kind in ("server", "generator", "store")] == [4, 2, 1]
    assert units(plan, "server") == Estimate(4, 4, 4)


def test_the_role_with_the_least_room_is_the_first_limit() -> None:
    # Four servers and two generators carry 70,000 each, one store node 700,000 ÷ 11.5.
    plan = plan_of(*capacity_runs(1, 14_000, cpu_us={**CPU_US, "store": 11.5}))
    kind, carried = plan.first_limit or ("", 0)
    assert (kind, round(carried)) == ("store", 60_870)


def test_servers_follow_the_law_where_three_numbers_show_it() -> None:
    plan = plan_of(*by_law(1, 2, 4))
    assert plan.law is not None and plan.law.numbers == (1, 2, 4)
    wanted = LAW.servers_for(60_000 / 0.7)
    servers = units(plan, "server")
    assert wanted is not None and wanted > 4
    assert servers.low is not None and servers.high is not None
    assert servers.low <= wanted <= servers.high
    contention = plan.law.contention
    assert contention.low is not None and contention.high is not None
    assert contention.low <= LAW.contention <= contention.high
    assert "beyond 4 servers the law extrapolates" in plan.notes
    # CPUs are those that are busy: waiting takes none.
    assert plan.needs["server"].cpus.value == pytest.approx(2.4, rel=0.001)


def test_a_rate_beyond_the_peak_is_not_reached() -> None:
    peaked = ScalingLaw(14_000, 0.05, 0.02)
    plan = plan_of(*by_law(1, 2, 4, 8, law=peaked), demand=Demand(100_000, 0.7))
    servers = units(plan, "server")
    assert (servers.value, servers.high) == (math.inf, math.inf)
    assert plan.first_limit is None
    assert any(note.startswith("by the law the most is ") for note in plan.notes)


@pytest.mark.parametrize("numbers", [(1,), (1, 2), (2, 4)])
def test_two_numbers_of_servers_are_no_law(numbers: tuple[int, ...]) -> None:
    plan = plan_of(*by_law(*numbers))
    assert plan.law is None
    assert units(plan, "server").value == 4
    assert any(note.startswith("the law takes the throughput of 3 numbers of servers") for note in plan.notes)


def test_growth_on_shared_cpus_is_no_law() -> None:
    documents = [each for n in (1, 2, 4) for each in capacity_runs(n, LAW.throughput(n), cpus=2)]
    plan = plan_of(*documents)
    assert plan.law is None
    assert plan.notes[0].startswith("with 1, 2 and 4 servers all roles shared 2 CPUs: ")
    # Four CPUs carry two servers, a store and a generator; CPU per request is read there.
    documents = [each for n in (1, 2, 4) for each in capacity_runs(n, LAW.throughput(n), cpus=4)]
    plan = plan_of(*documents)
    assert plan.cpu_from_servers == 2
    assert plan.notes[0].startswith("with 4 servers all roles shared 4 CPUs: ")


def test_growth_that_something_else_limited_is_no_law() -> None:
    documents = [*by_law(1, 2), *capacity_runs(4, LAW.throughput(4), limited_by="store CPU")]
    plan = plan_of(*documents)
    assert plan.law is None
    assert plan.notes[0].startswith("with 4 servers the limit was store CPU: ")


def test_roles_pinned_to_few_cpus_share_them() -> None:
    runtime = {"id": "docker", "embedded_store": False, "caps_applied": True}
    caps = {kind: {"cpuset": "0-1"} for kind in ("generator", "server", "store")}
    documents = [
        each
        for n in (1, 2, 4)
        for each in capacity_runs(n, LAW.throughput(n), configured={"caps": caps}, runtime=runtime)
    ]
    assert "all roles shared 2 CPUs" in plan_of(*documents).notes[0]


def test_more_requests_never_take_less() -> None:
    documents = by_law(1, 2, 4)
    before = [0.0] * 3
    for rate in range(2_000, 120_000, 6_000):
        plan = plan_of(*documents, demand=Demand(rate, 0.7))
        now = [units(plan, kind).value for kind in ("generator", "server", "store")]
        assert all(less <= more for less, more in zip(before, now, strict=True))
        before = now
    assert before[1] == math.inf


def test_a_cluster_is_planned_by_its_busiest_node() -> None:
    documents = capacity_runs(
        1,
        14_000,
        label="iovalkey:cluster",
        store_shares=(0.4, 0.2, 0.2, 0.1, 0.05, 0.05),
        cpu_us={**CPU_US, "store": 30},
    )
    plan = plan_of(*documents, demand=Demand(100_000, 0.5))
    # If each of the six took 12 µs as the busiest does, that were 7.2 CPUs, or 14.4 nodes at half of each. A
    # primary comes with its replica.
    assert units(plan, "store").value == 16
    assert plan.needs["store"].cpus.value == pytest.approx(3, rel=0.001)
    # None has fewer nodes than were measured.
    assert units(plan_of(*documents, demand=Demand(100, 0.5)), "store").value == 6


def test_several_nodes_of_a_single_store_are_named_as_not_measured() -> None:
    documents = capacity_runs(1, 14_000)
    (note,) = (note for note in plan_of(*documents, demand=Demand(200_000, 0.7)).notes if "store" in note)
    assert note.startswith("one store node carries 70,000 requests/s")
    assert not any("one store node" in note for note in plan_of(*documents).notes)


def test_a_node_with_several_threads_carries_more() -> None:
    documents = capacity_runs(1, 14_000)
    for document in documents:
        document["store"]["command_threads"] = 2
    assert units(plan_of(*documents, demand=Demand(140_000, 0.7)), "store").value == 1


def test_a_cap_below_one_cpu_counts() -> None:
    runtime = {"id": "docker", "embedded_store": False, "caps_applied": True}
    configured = {"caps": {"server": {"cpus": 0.5}}}
    assert (
        units(plan_of(*capacity_runs(1, 7_000, configured=configured, runtime=runtime)), "server").value == 7
    )
    # A runtime that applies no caps leaves the whole CPU.
    assert units(plan_of(*capacity_runs(1, 7_000, configured=configured)), "server").value == 4


def test_few_runs_say_so() -> None:
    documents = by_law(1, 2, 4)
    few = [document for document in documents if document["run"] <= 3]
    assert "3 runs of a number of servers are few: the intervals hold less than 95 %" in plan_of(*few).notes
    assert not any("runs of a number" in note for note in plan_of(*documents).notes)
    one = plan_of(*(document for document in documents if document["run"] == 1))
    assert units(one, "server").low is None
    assert "one run of a number of servers has no interval" in one.notes


def test_runs_that_do_not_count_are_left_out() -> None:
    slow = capacity_runs(4, 100, factors=(1.0,), outcome="failed", timed_out_us={1_000_000: 50})
    for document in slow:
        document["run"] = 8
    plan = plan_of(*by_law(1, 2, 4), *slow)
    assert plan.runs == 21
    assert units(plan, "server") == units(plan_of(*by_law(1, 2, 4)), "server")


def test_an_unknown_cpu_time_is_not_planned() -> None:
    documents = capacity_runs(1, 14_000)
    for document in documents:
        del document["resources"]["store-1"]
    plan = plan_of(*documents)
    assert plan.unknown_kinds == ("store",) and "store" not in plan.needs
    assert plan.first_limit is None
    assert "the CPU time of the store is not known" in plan.notes


def test_targets_and_loads_are_planned_apart_and_copies_not_at_all() -> None:
    plans = plans_of(
        *capacity_runs(1, 14_000),
        *capacity_runs(2, 26_000),
        *capacity_runs(1, 14_000, configured={"load": {"model": "closed", "connections": 100}}),
        *capacity_runs(1, 12_000, label="ioredis"),
        *capacity_runs(1, 14_000, label="iovalkey+copy"),
    )
    assert [(plan.name, plan.servers) for plan in plans] == [
        ("ioredis, 50 connections", (1,)),
        ("iovalkey, 50 connections", (1, 2)),
        ("iovalkey, 100 connections", (1,)),
    ]


def test_roles_within_caps_that_fit_the_cpus_share_none() -> None:
    runtime = {"id": "docker", "embedded_store": False, "caps_applied": True}

    def plan_with(server_cpus: float) -> CapacityPlan:
        caps = {"server": {"cpus": server_cpus}, "generator": {"cpus": 0.7}, "store": {"cpus": 0.5}}
        documents = [
            each
            for n in (1, 2, 4)
            for each in capacity_runs(
                n, LAW.throughput(n), cpus=2, configured={"caps": caps}, runtime=runtime
            )
        ]
        return plan_of(*documents)

    # 4 · 0.2 + 0.7 + 0.5 are 2 CPUs.
    assert plan_with(0.2).law is not None
    assert plan_with(0.25).notes[0].startswith("with 4 servers all roles shared 2 CPUs: ")


def test_the_most_servers_check_what_fewer_predict() -> None:
    assert plan_of(*capacity_runs(1, 14_000)).check is None
    dearer = {**CPU_US, "server": 50.0}
    check = plan_of(*by_law(1, 2), *capacity_runs(4, 40_000, cpu_us=dearer)).check
    assert check is not None and check.law is None
    assert (check.servers, check.cpu_from_servers, check.requests_per_second.value) == (4, 2, 40_000)
    predicted, measured = check.cpus["server"]
    assert predicted.value == pytest.approx(1.6, rel=0.001)
    assert measured.value == pytest.approx(2, rel=0.001)
    assert predicted.high is not None and measured.low is not None and predicted.high < measured.low
    for kind in ("generator", "store"):
        predicted, measured = check.cpus[kind]
        assert predicted.value == pytest.approx(measured.value, rel=0.001)


def test_a_law_of_fewer_servers_predicts_the_throughput_of_the_most() -> None:
    check = plan_of(*by_law(1, 2, 4, 8)).check
    assert check is not None and check.law is not None and check.law.numbers == (1, 2, 4)
    predicted = check.law.throughput(8)
    assert predicted.low is not None and predicted.high is not None
    assert predicted.low <= LAW.throughput(8) <= predicted.high
    # What the store held up is no prediction's fault.
    held = plan_of(*by_law(1, 2, 4), *capacity_runs(8, 30_000, limited_by="store CPU")).check
    assert held is not None and held.law is None


def test_servers_that_were_not_warm_are_named() -> None:
    documents = [*capacity_runs(1, 14_000), *capacity_runs(4, 40_000, warm_up_requests=12_345)]
    notes = [note for note in plan_of(*documents).notes if "warm-up" in note]
    assert len(notes) == 1
    assert notes[0].startswith("with 4 servers each answered 12,345 requests in its warm-up: ")
