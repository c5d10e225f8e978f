import type { Sample } from "../../contract/generator-part.js";
import { definedOnly } from "../../kit/defined-only.js";
import { rounded, sum, totals } from "../../kit/numbers.js";
import type { ServerSample } from "./monitor.js";
import type { WorkerSample } from "./recorder.js";

/** A reading of the servers belongs to the interval whose end is no further away. */
const MATCH_S = 0.5;

export function concatenated(parts: readonly Uint32Array[]): Uint32Array {
  const joined = new Uint32Array(sum(parts.map(({ length }) => length)));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/**
 * Merges the samples that several workers took of the same interval. Percentiles are computed over
 * the answers of all workers.
 */
function mergeInterval(
  parts: readonly WorkerSample[],
  opened_ms: number,
  previous_s: number,
): Sample {
  const t_s = rounded((Math.max(...parts.map((part) => part.at_ms)) - opened_ms) / 1000, 3);
  const latencies_us = concatenated(parts.map((part) => part.latencies_us)).sort();
  const busy = parts.flatMap(({ event_loop_utilisation }) => event_loop_utilisation ?? []);
  // The lowest value that this percentage of the answers does not exceed.
  const percentileMs = (percentile: number) =>
    (latencies_us[Math.ceil((latencies_us.length * percentile) / 100) - 1] ?? 0) / 1000;
  const hasAnswers = latencies_us.length > 0;
  const counts: Pick<Sample, "allowed" | "limited" | "failed"> = totals(
    ["allowed", "limited", "failed"],
    parts,
  );

  return definedOnly({
    t_s,
    interval_s: rounded(Math.max(t_s - previous_s, 0.001), 3),
    ...counts,
    p50_ms: hasAnswers ? percentileMs(50) : undefined,
    p99_ms: hasAnswers ? percentileMs(99) : undefined,
    generator_event_loop_utilisation: busy.length > 0 ? rounded(Math.max(...busy), 4) : undefined,
  });
}

/**
 * Collects the samples of all workers. An interval is complete once each worker has reported it.
 */
export class SampleMerger {
  /** Samples of incomplete intervals, by worker. */
  readonly #pending: WorkerSample[][];
  /**
   * The samples of the last row. Samples of earlier rows are large, so they are dropped unless all
   * are kept.
   */
  #last: WorkerSample[] = [];
  readonly #rows: Sample[] = [];
  readonly #kept: WorkerSample[][] | undefined;

  constructor(workers: number, keepsLatencies = false) {
    this.#pending = Array.from({ length: workers }, () => []);
    this.#kept = keepsLatencies ? [] : undefined;
  }

  /** @returns the interval, if this sample completed it */
  add(worker: number, sample: WorkerSample, opened_ms: number): Sample | undefined {
    this.#pending[worker]?.push(sample);
    if (this.#pending.some((samples) => samples.length === 0)) return undefined;
    this.#last = this.#pending.flatMap((samples) => samples.shift() ?? []);
    const row = mergeInterval(this.#last, opened_ms, this.#rows.at(-1)?.t_s ?? 0);
    this.#rows.push(row);
    this.#kept?.push(this.#last);
    return row;
  }

  /** The latencies of each of the `rows`, in parts. They are empty unless they are kept. */
  latencies(): Uint32Array[][] {
    const kept = this.#kept ?? [];
    const incomplete = this.#pending.flat();
    const rows =
      incomplete.length > 0
        ? [...kept.slice(0, -1), [...(kept.at(-1) ?? []), ...incomplete]]
        : kept;
    return rows.map((samples) => samples.map(({ latencies_us }) => latencies_us));
  }

  /**
   * All intervals. Samples that a worker sent after the others had ended belong to the last
   * interval.
   */
  #intervals(opened_ms: number): Sample[] {
    const incomplete = this.#pending.flat();
    if (incomplete.length === 0) return this.#rows;
    return [
      ...this.#rows.slice(0, -1),
      mergeInterval([...this.#last, ...incomplete], opened_ms, this.#rows.at(-2)?.t_s ?? 0),
    ];
  }

  rows(server: readonly ServerSample[], opened_ms: number): Sample[] {
    return this.#intervals(opened_ms).map((row) => {
      // A last interval with the rest of the window is longer than the period of the readings.
      const within_s = Math.max(MATCH_S, row.interval_s / 2);
      const serverSample = server.find(
        ({ at_ms }) => Math.abs((at_ms - opened_ms) / 1000 - row.t_s) < within_s,
      );
      if (!serverSample) return row;

      return {
        ...row,
        server_cpu_percent: rounded(serverSample.cpu_percent, 1),
        server_heap_used_bytes: serverSample.heap_used_bytes,
        server_resident_bytes: serverSample.resident_bytes,
        server_event_loop_utilisation: rounded(serverSample.event_loop_utilisation, 4),
      };
    });
  }
}
