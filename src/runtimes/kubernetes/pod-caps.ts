import type { V1Node } from "@kubernetes/client-node";
import type { Caps } from "../runtime-types.js";
import { DEFAULT_CAPS } from "./pod.js";

/**
 * The caps of a pod, which are those of the user or else a default. The kubelet chooses the numbers
 * of CPUs.
 * @param mostCpus the most CPUs that a node has; undefined where that is not known
 */
export function podCaps({ cpus, memory_bytes }: Caps, mostCpus: number | undefined): Caps {
  const requestedCpus = cpus ?? DEFAULT_CAPS.cpus;
  return {
    cpus: mostCpus === undefined ? requestedCpus : Math.min(requestedCpus, mostCpus),
    memory_bytes: memory_bytes ?? DEFAULT_CAPS.memory_bytes,
  };
}

const cpusOf = (text = ""): number =>
  text.endsWith("m") ? Number(text.slice(0, -1)) / 1000 : Number(text);

/** The most CPUs that one of the nodes has; undefined where no node reports them. */
export function mostCpus(nodes: readonly V1Node[]): number | undefined {
  const cpuCounts = nodes
    .map(({ status }) => cpusOf(status?.allocatable?.cpu))
    .filter((cpus) => cpus > 0);
  return cpuCounts.length > 0 ? Math.max(...cpuCounts) : undefined;
}
