import type { Answered } from "./api-answers.js";
import type { AuditedApi } from "./audited-api.js";

/** A key that was used up, and asked for until it came back. */
export interface Trace {
  /** When the key was used up, as a text: `at once` or `late in its window`. */
  when: string;
  /** The requests until the first denial, which is the last of them. */
  usedUp: readonly Answered[];
  denied: Answered;
  /** The requests after it, in their order. The last one may be admitted. */
  later: readonly Answered[];
  readmitted: Answered | undefined;
  /** The time between two of these requests. */
  every_ms: number;
}

/** The share of a window after which the second key is used up. */
const LATE = 0.6;
/** A key that came back is asked for in so many parts of its window. */
const PARTS = 40;
/** It is asked a little longer than any limiter can name: headers round up to whole seconds. */
const LONGER_MS = 1_500;

const moments = (window_ms: number) => {
  const every_ms = Math.max(25, window_ms / PARTS);
  return { every_ms, count: Math.ceil((1.1 * window_ms + LONGER_MS) / every_ms) };
};

/** What the traces of a quota send at most. */
export const traceRequests = (points: number, window_s: number): number =>
  2 * (points + 2 + moments(1000 * window_s).count);

/** How long they take, in windows. */
export const TRACE_WINDOWS = 2;

async function trace(api: AuditedApi, when: string, late_ms: number): Promise<Trace> {
  const key = await api.freshKey();
  const connection = api.connect();
  try {
    const usedUp = late_ms > 0 ? [await api.send(key, { connection })] : [];
    if (late_ms > 0) await api.pause(late_ms);
    usedUp.push(...(await api.useUp(key, { connection })));

    const denied = usedUp.at(-1) as Answered;
    const { every_ms, count } = moments(api.window_ms);
    const later: Answered[] = [];
    while (later.length < count && later.at(-1)?.fate !== "admitted") {
      await api.pause(every_ms);
      later.push(await api.send(key, { connection }));
    }
    const readmitted = later.find(({ fate }) => fate === "admitted");
    return { when, usedUp, denied, later, readmitted, every_ms };
  } finally {
    connection.close();
  }
}

const madeTraces = new WeakMap<AuditedApi, Promise<Trace[]>>();

/** Two keys that were used up and came back. Several checks look at them, so they are made once. */
export function tracesOf(api: AuditedApi): Promise<Trace[]> {
  const made = madeTraces.get(api) ?? makeTraces(api);
  madeTraces.set(api, made);
  return made;
}

async function makeTraces(api: AuditedApi): Promise<Trace[]> {
  const atOnce = await trace(api, "at once", 0);
  return [atOnce, await trace(api, "late in its window", LATE * api.window_ms)];
}
