import type Docker from "dockerode";
import { sum } from "../../contract/numbers.js";
import type { PartCounters } from "../types.js";

/** From the engine's statistics of a container. @throws Error when it is not running */
export function countersOf(stats: Docker.ContainerStats): PartCounters {
  const { cpu_stats: cpu, memory_stats: memory, networks } = stats;
  if (!memory.usage) throw new Error("it is not running");
  // The name differs between versions 1 and 2 of control groups. Cached files that can be dropped do not count.
  const droppable = memory.stats?.total_inactive_file ?? memory.stats?.inactive_file ?? 0;
  const links = Object.values(networks ?? {});
  const { periods, throttled_periods, throttled_time } = cpu.throttling_data;
  return {
    cpu_us: Math.round(cpu.cpu_usage.total_usage / 1000),
    resident_bytes: Math.max(0, memory.usage - droppable),
    ...(periods > 0
      ? { throttling: { periods, throttled_periods, throttled_us: Math.round(throttled_time / 1000) } }
      : {}),
    ...(links.length > 0
      ? {
          network: {
            received_bytes: sum(links.map(({ rx_bytes }) => rx_bytes)),
            sent_bytes: sum(links.map(({ tx_bytes }) => tx_bytes)),
          },
        }
      : {}),
  };
}
