"""The CPUs that stand beside figures (rule M12): how many, whether roles share them, and their
caps."""

from typing import Any

from builder import configuration, result
from conftest import analysis_of_results
from report.analysis.host_cpus import cpus_sentence

LOAD = {"cpus": 4, "busy_cpu_percent": 100, "foreign_cpu_percent": 1}


def sentence(cpusets: dict[str, str], *labels: str) -> str:
    caps = {kind: {"cpuset": cpuset} for kind, cpuset in cpusets.items()}
    runtime: Any = {"id": "docker", "embedded_store": False, "caps_applied": True, "caps": caps}
    documents = []
    for label in labels or ("iovalkey",):
        target_caps = {
            kind: cap for kind, cap in caps.items() if kind != "store" or label != "memory"
        }
        document = result(configuration(label, caps=target_caps), host_load=LOAD, runtime=runtime)
        document["resources"] = {
            role: resource
            for role, resource in document["resources"].items()
            if resource["kind"] in target_caps
        }
        documents.append(document)
    return cpus_sentence(analysis_of_results(*documents).summaries)


def test_roles_share_cpus_unless_each_kind_has_its_own() -> None:
    apart = {"server": "0", "store": "1", "generator": "2-3"}
    assert sentence(apart) == (
        "4 CPUs, each kind of role on its own; caps: server CPUs 0; store CPUs 1; generator CPUs 2-3."
    )
    assert sentence({**apart, "store": "0-1"}).startswith("4 CPUs, shared by the roles; caps: ")


def test_a_row_without_a_store_has_no_sentence_of_its_own() -> None:
    assert (
        sentence({"server": "0", "store": "0", "generator": "0"}, "iovalkey", "memory").count(
            "4 CPUs"
        )
        == 1
    )
