import { type Answered, admittedOf } from "./api-answers.js";
import type { Connection } from "./api-client.js";
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

/** Keys that are used up at most until one is used up within one window. */
const MOST_TRIES = 3;

/**
 * Whether more was admitted than one window holds, because another one began meanwhile. A window
 * that is aligned to a clock may end at any request.
 */
export function holdsTwoWindows(
  api: Pick<AuditedApi, "limits" | "refilledIn" | "mayRefill">,
  usedUp: readonly Answered[],
): boolean {
  const [first, last] = [usedUp[0], usedUp.at(-1)];
  if (!first || !last) return false;
  const refilled = api.refilledIn(last.answered_ms - first.sent_ms) + (api.mayRefill ? 1 : 0);
  return admittedOf(usedUp) > api.limits.points + refilled;
}

interface UsedUp {
  key: string;
  usedUp: readonly Answered[];
}

/** Uses up a fresh key at once, and another one where a window began meanwhile. */
async function usedUpAtOnce(api: AuditedApi, connection: Connection): Promise<UsedUp> {
  for (let tries = 1; ; tries++) {
    const key = await api.freshKey();
    const usedUp = await api.useUp(key, { connection });
    if (tries === MOST_TRIES || !holdsTwoWindows(api, usedUp)) return { key, usedUp };
  }
}

/** Uses up a key late in the window that its first request began. */
async function usedUpLate(
  api: AuditedApi,
  connection: Connection,
  late_ms: number,
): Promise<UsedUp> {
  const key = await api.freshKey();
  const first = await api.send(key, { connection });
  await api.pause(late_ms);
  return { key, usedUp: [first, ...(await api.useUp(key, { connection }))] };
}

async function trace(api: AuditedApi, when: string, late_ms: number): Promise<Trace> {
  const connection = api.connect();
  try {
    const { key, usedUp } =
      late_ms > 0
        ? await usedUpLate(api, connection, late_ms)
        : await usedUpAtOnce(api, connection);
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
