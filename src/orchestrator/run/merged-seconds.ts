import { rounded, sum } from "../../contract/numbers.js";
import type { Progress } from "../../contract/progress.js";

export type Second = Extract<Progress, { event: "second" }>;

/** Merges the live figures of several generators; one alone passes unchanged. A second is complete once all have reported it. */
export class MergedSeconds {
  readonly #pending: Second[][];

  constructor(generators: number) {
    this.#pending = Array.from({ length: generators }, () => []);
  }

  add(generator: number, second: Second): Second | undefined {
    this.#pending[generator]?.push(second);
    if (this.#pending.some((seconds) => seconds.length === 0)) return undefined;
    return merged(this.#pending.flatMap((seconds) => seconds.shift() ?? []));
  }
}

function merged(seconds: readonly Second[]): Second {
  const [first, ...others] = seconds;
  if (!first || others.length === 0) return first as Second;
  const requests_per_second = sum(seconds.map((second) => second.requests_per_second));
  const limited = sum(
    seconds.map(({ requests_per_second: rate, limited_share = 0 }) => rate * limited_share),
  );
  const p99 = seconds.flatMap(({ p99_ms }) => p99_ms ?? []);
  const busy = seconds.flatMap(({ generator_event_loop_utilisation: share }) => share ?? []);
  return {
    // The first generator reads the servers.
    ...first,
    t_s: Math.max(...seconds.map(({ t_s }) => t_s)),
    requests_per_second,
    ...(requests_per_second > 0 ? { limited_share: rounded(limited / requests_per_second, 6) } : {}),
    // The result's percentiles are those of merged histograms; a screen gets the slowest generator's.
    ...(p99.length > 0 ? { p99_ms: Math.max(...p99) } : {}),
    ...(busy.length > 0 ? { generator_event_loop_utilisation: Math.max(...busy) } : {}),
  };
}
