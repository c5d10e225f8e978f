import type { V1Node } from "@kubernetes/client-node";
import type { RuntimeMachine } from "../../contract/machines.js";
import { ULIMITS } from "../containers/container-options.js";
import type { EngineProperties } from "../runtime-types.js";
import { mostCpus } from "./pod-caps.js";
import type { PodPart } from "./pod-part.js";

const READ_NODE = [
  "uname -r",
  "grep -c ^processor /proc/cpuinfo",
  "grep MemTotal: /proc/meminfo",
  "ulimit -n",
  "if [ -f /sys/fs/cgroup/cpu.stat ]; then echo 2; else echo 1; fi",
].join("; ");

interface NodeProperties extends RuntimeMachine {
  cgroup_version: string;
  open_files: number;
}

/** The nodes of a cluster: as it lists them, and as pods on them read them. */
export class ClusterNodes {
  readonly #version: string;
  /** Nodes as the cluster lists them, where that is allowed. */
  readonly #listed: ReadonlyMap<string, V1Node>;
  readonly #inspected = new Map<string, NodeProperties>();

  /** @param version that of Kubernetes */
  constructor(version: string, listed: readonly V1Node[]) {
    this.#version = version;
    this.#listed = new Map(listed.map((node) => [node.metadata?.name ?? "", node]));
  }

  /** The nodes on which pods ran. */
  get machines(): readonly RuntimeMachine[] {
    return [...this.#inspected.values()].map(
      ({ cgroup_version: _, open_files: __, ...machine }) => machine,
    );
  }

  /** The first node on which a pod ran stands for the cluster. */
  get engine(): EngineProperties {
    const [node] = this.#inspected.values();
    return {
      name: "Kubernetes",
      version: this.#version,
      api_version: "v1",
      operating_system: node?.operating_system ?? "unknown",
      kernel: node?.kernel ?? "unknown",
      cpus: node?.cpus ?? 0,
      memory_bytes: node?.memory_bytes ?? 0,
      cgroup_version: node?.cgroup_version ?? "unknown",
    };
  }

  /** The limits of nodes that are lower than a campaign asks. */
  get conditions(): readonly string[] {
    return [...this.#inspected.values()]
      .filter(({ open_files }) => open_files < ULIMITS.nofile)
      .map(
        ({ name, open_files }) =>
          `pods on ${name} may open ${open_files} files, not ${ULIMITS.nofile}`,
      );
  }

  /** The most CPUs that one of the nodes has; undefined where no node reports them. */
  get mostCpus(): number | undefined {
    return mostCpus([...this.#listed.values()]);
  }

  /** Reads the properties of a pod's node, once for each node. */
  async inspect(pod: PodPart): Promise<void> {
    const { machine } = pod;
    if (this.#inspected.has(machine)) return;
    const printed = await pod.shell(READ_NODE).catch(() => "");
    if (!printed) return;

    const [kernel = "unknown", cpus, memory = "", open_files, cgroup_version = "unknown"] =
      printed.split("\n");
    const nodeInfo = this.#listed.get(machine)?.status?.nodeInfo;
    const engine = nodeInfo
      ? `kubelet ${nodeInfo.kubeletVersion}, ${nodeInfo.containerRuntimeVersion.replace("://", " ")}`
      : `Kubernetes ${this.#version}`;
    this.#inspected.set(machine, {
      name: machine,
      operating_system: nodeInfo?.osImage ?? "Linux",
      kernel,
      cpus: Number(cpus),
      memory_bytes: Number(/\d+/.exec(memory)?.[0]) * 1024,
      engine,
      open_files: open_files === "unlimited" ? Number.POSITIVE_INFINITY : Number(open_files),
      cgroup_version,
    });
  }
}
