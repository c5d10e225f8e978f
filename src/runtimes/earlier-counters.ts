import { definedOnly } from "../kit/defined-only.js";
import { totals } from "../kit/numbers.js";
import type { PartCounters } from "./runtime-types.js";

const THROTTLING = ["periods", "throttled_periods", "throttled_us"] as const;
const NETWORK = ["received_bytes", "sent_bytes"] as const;

/** The sums of two readings, with the memory of the later one. */
function added(earlier: PartCounters, later: PartCounters): PartCounters {
  const readings = [earlier, later];
  const throttling = readings.flatMap((counters) => counters.throttling ?? []);
  const network = readings.flatMap((counters) => counters.network ?? []);
  return definedOnly({
    cpu_us: earlier.cpu_us + later.cpu_us,
    resident_bytes: later.resident_bytes,
    throttling: throttling.length > 0 ? totals(THROTTLING, throttling) : undefined,
    network: network.length > 0 ? totals(NETWORK, network) : undefined,
  });
}

/**
 * Keeps the counters of a part cumulative although a restart, or a new network link, begins at 0
 * again.
 */
export class EarlierCounters {
  #earlier: PartCounters | undefined;

  /**
   * Keeps counters that begin at 0 next, while they can be read.
   * @param only the only counters that begin at 0 next; absent where all do
   */
  keep(counters: PartCounters, only?: "network"): void {
    const { network } = counters;
    const networkAlone = definedOnly({ cpu_us: 0, resident_bytes: 0, network });
    const endedCounters = only === undefined ? counters : networkAlone;
    this.#earlier = this.#earlier ? added(this.#earlier, endedCounters) : endedCounters;
  }

  /** The counters since the part was first started. */
  plus(counters: PartCounters): PartCounters {
    return this.#earlier ? added(this.#earlier, counters) : counters;
  }
}
