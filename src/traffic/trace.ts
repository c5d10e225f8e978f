import { traceSummarySchema } from "../contract/plugins.js";
import { GENEROUS } from "./population.js";
import type { Trace, TrafficProfile } from "./traffic-types.js";

export const TRACE = "trace";
/** A file with this extension among the plugins is data, of which nothing is executed. */
export const TRACE_EXTENSION = ".trace";

export const traceColumns = (count: number): Pick<Trace, "times_ms" | "keys"> => ({
  times_ms: new Float64Array(new SharedArrayBuffer(8 * count)),
  keys: new Uint32Array(new SharedArrayBuffer(4 * count)),
});

const bytesOf = (
  column: Float64Array<SharedArrayBuffer> | Uint32Array<SharedArrayBuffer>,
): Buffer => Buffer.from(column.buffer, column.byteOffset, column.byteLength);

/**
 * Returns a trace as the programs of a run get it. It is a line of JSON, then all times, then all
 * keys.
 */
export const encodeTrace = ({ summary, times_ms, keys }: Trace): Buffer =>
  Buffer.concat([Buffer.from(`${JSON.stringify(summary)}\n`), bytesOf(times_ms), bytesOf(keys)]);

export function decodeTrace(bytes: Buffer): Trace {
  const begins = bytes.indexOf("\n") + 1;
  const parsed = traceSummarySchema.safeParse(JSON.parse(bytes.toString("utf8", 0, begins)));
  if (!parsed.success) throw new Error("it does not begin with the facts of a trace");
  const summary = parsed.data;
  const columns = traceColumns(summary.lines);
  const middle = begins + columns.times_ms.byteLength;
  if (bytes.length !== middle + columns.keys.byteLength) throw new Error("it is not a whole trace");
  bytes.copy(bytesOf(columns.times_ms), 0, begins, middle);
  bytes.copy(bytesOf(columns.keys), 0, middle);
  if (columns.keys.some((key) => key >= summary.keys))
    throw new Error("it has more keys than it says");
  return { summary, ...columns };
}

/**
 * Returns how long one pass takes, which is the time to the last request and a mean gap. It is 0
 * where all requests come at once.
 */
const passMs = ({ times_ms }: Pick<Trace, "times_ms">): number => {
  const span = times_ms.at(-1) ?? 0;
  return times_ms.length > 1 ? (span * times_ms.length) / (times_ms.length - 1) : 0;
};

/** Returns the mean number of requests per second. It is 0 where all come at once. */
export const meanRate = (trace: Pick<Trace, "times_ms">): number => {
  const pass = passMs(trace);
  return pass > 0 ? (1000 * trace.times_ms.length) / pass : 0;
};

/** When request `n` of the endless repetition of a trace is due, in ms, at a mean rate. */
export function traceTimes(
  times_ms: Trace["times_ms"],
  rate_per_second: number,
): (n: number) => number {
  const { length } = times_ms;
  const pass = passMs({ times_ms });
  const scale = meanRate({ times_ms }) / rate_per_second;
  return (n) => (Math.floor(n / length) * pass + (times_ms[n % length] ?? 0)) * scale;
}

export function traceProfile(trace: Trace): TrafficProfile {
  const { summary, keys } = trace;
  return {
    id: TRACE,
    summary: `${summary.lines} requests on ${summary.keys} keys from a file, in its order`,
    limits: GENEROUS,
    trace,
    population: () => {
      const shares = new Float64Array(summary.keys);
      for (const key of keys) shares[key] = (shares[key] ?? 0) + 1 / keys.length;
      return {
        requests: Array.from({ length: summary.keys }, (_, key) => [`trace-${key}`] as const),
        shares,
      };
    },
  };
}
