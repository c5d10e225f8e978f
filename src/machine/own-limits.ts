import { availableParallelism } from "node:os";
import {
  allowedCpus,
  type OwnGroup,
  ownGroups,
  type Throttling,
  throttlingIn,
} from "../kit/control-groups.js";
import { definedOnly } from "../kit/defined-only.js";
import { rounded, totals } from "../kit/numbers.js";

/**
 * What the system allows this process and all that it starts. A limit that does not exist is
 * absent.
 */
export interface OwnLimits {
  /** The number of CPUs on which it may run, by its affinity and its cpuset. */
  cpus_allowed: number;
  /** The CPU time that its control groups have in a second, in CPUs. */
  cpu_quota?: number | undefined;
  memory_limit_bytes?: number | undefined;
}

/** Version 1 writes a number of this size where there is no limit. */
const NO_LIMIT_BYTES = 2 ** 60;

function quotaOf({ version, read }: OwnGroup): number | undefined {
  const [quota_us, period_us] =
    version === 2
      ? (read("cpu.max") ?? "").split(" ").map(Number)
      : [read("cpu.cfs_quota_us"), read("cpu.cfs_period_us")].map(Number);
  // Without a quota version 2 writes a word, and version 1 a number below zero.
  const quota = (quota_us ?? Number.NaN) / (period_us ?? Number.NaN);
  return quota > 0 ? rounded(quota, 3) : undefined;
}

function memoryLimitOf({ version, read }: OwnGroup): number | undefined {
  const limit = Number(read(version === 2 ? "memory.max" : "memory.limit_in_bytes") ?? Number.NaN);
  return limit > 0 && limit < NO_LIMIT_BYTES ? limit : undefined;
}

/** Returns the tightest limit of all groups that have one. */
function least(
  groups: readonly OwnGroup[],
  limitOf: (group: OwnGroup) => number | undefined,
): number | undefined {
  const limits = groups.flatMap((group) => limitOf(group) ?? []);
  return limits.length > 0 ? Math.min(...limits) : undefined;
}

export function readOwnLimits(root = "/"): OwnLimits {
  const cpu_quota = least(ownGroups("cpu", root), quotaOf);
  const memory_limit_bytes = least(ownGroups("memory", root), memoryLimitOf);
  return definedOnly({
    // Newer versions of Node.js count the quota in, which is told by itself here.
    cpus_allowed: allowedCpus(root).length || availableParallelism(),
    cpu_quota,
    memory_limit_bytes,
  });
}

/** Returns how many CPUs can work for this process at once, on average. Half a CPU is possible. */
export const usableCpus = ({
  cpus_allowed,
  cpu_quota = cpus_allowed,
}: Pick<OwnLimits, "cpus_allowed" | "cpu_quota">): number => Math.min(cpus_allowed, cpu_quota);

/**
 * Returns what all control groups of this process with a quota count. It is undefined where none
 * has one.
 */
export function readOwnThrottling(root = "/"): Throttling | undefined {
  const counted = ownGroups("cpu", root).flatMap(
    ({ read }) => throttlingIn(read("cpu.stat") ?? "") ?? [],
  );
  return counted.length > 0
    ? totals(["periods", "throttled_periods", "throttled_us"], counted)
    : undefined;
}
