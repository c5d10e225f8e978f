import { totals } from "../kit/numbers.js";
import type { PartCounters } from "./runtime-types.js";

/** The counters of both together; the memory of the later one. */
function added(one: PartCounters, later: PartCounters): PartCounters {
  const both = [one, later];
  const throttling = both.flatMap((counters) => counters.throttling ?? []);
  const network = both.flatMap((counters) => counters.network ?? []);
  return {
    cpu_us: one.cpu_us + later.cpu_us,
    resident_bytes: later.resident_bytes,
    ...(throttling.length > 0
      ? { throttling: totals(["periods", "throttled_periods", "throttled_us"], throttling) }
      : {}),
    ...(network.length > 0 ? { network: totals(["received_bytes", "sent_bytes"], network) } : {}),
  };
}

/**
 * Keeps the counters of a part cumulative although a restart, or a new network link, begins at 0
 * again.
 */
export class EarlierCounters {
  #earlier: PartCounters | undefined;

  /** Call it while the counters can be read. @param only those that begin at 0 next; absent: all */
  keep(counters: PartCounters, only?: "network"): void {
    const kept =
      only === undefined
        ? counters
        : {
            cpu_us: 0,
            resident_bytes: 0,
            ...(counters.network ? { network: counters.network } : {}),
          };
    this.#earlier = this.#earlier ? added(this.#earlier, kept) : kept;
  }

  plus(counters: PartCounters): PartCounters {
    return this.#earlier ? added(this.#earlier, counters) : counters;
  }
}
