import { largestWithin } from "../../expected.js";
import { type Answered, answersText, withFate } from "../api-answers.js";
import { type ApiCheck, broken, holding, reported } from "../api-check.js";
import type { AuditedApi } from "../audited-api.js";
import { TRACE_WINDOWS, tracesOf } from "../traces.js";

/** How far from the end of a window its bursts are, in windows. */
const MARGIN = 0.1;
/** The spans of time in which admissions are counted, in windows. */
const SPANS = [0.25, 1];
/** The times at which a key's windows may end, which are tried. */
const KEYS = 2;

/** The worst client of fixed windows, and what it got. */
interface Edge {
  before: Answered[];
  after: Answered[];
}

/**
 * Opens a window with one request, uses the rest up just before its end, and the next quota just after
 * it.
 * @param end_ms the end of the window, from the first request on
 */
async function acrossEdge(api: AuditedApi, end_ms: number): Promise<Edge> {
  const key = await api.freshKey();
  const connection = api.connect();
  const margin_ms = MARGIN * api.window_ms;
  const began = performance.now();
  const until = (moment_ms: number) =>
    api.pause(Math.max(0, began + moment_ms - performance.now()));
  try {
    const opening = await api.send(key, { connection });
    await until(end_ms - margin_ms);
    const count = api.limits.points;
    const before = await api.oneByOne(key, count, { connection });
    await until(end_ms + margin_ms / 2);
    const after = await api.oneByOne(key, count, { connection });
    return { before: [opening, ...before], after };
  } finally {
    connection.close();
  }
}

/**
 * A window that begins with a key's first request ends a window later. Where the windows are those of
 * a clock, the moment at which another key came back tells when they end.
 */
async function endsOfWindows(api: AuditedApi): Promise<number[]> {
  const traces = await tracesOf(api);
  const returns = traces.flatMap(({ readmitted }) => (readmitted ? [readmitted.sent_ms] : []));
  const [first] = returns;
  if (first === undefined) return [api.window_ms];
  const now = performance.timeOrigin + performance.now();
  const passed_ms = (now - first) % api.window_ms;
  const left_ms = api.window_ms - passed_ms;
  return [api.window_ms, left_ms < 0.3 * api.window_ms ? left_ms + api.window_ms : left_ms];
}

/** The most that was admitted in each span of time. */
function largestOf(api: AuditedApi, { before, after }: Edge): number[] {
  const admitted = withFate([...before, ...after], "admitted");
  const spans = admitted.map(({ sent_ms, answered_ms }) => [sent_ms, answered_ms] as const);
  return SPANS.map((share) => largestWithin(spans, share * api.window_ms));
}

const spansText = (api: AuditedApi, counts: readonly number[]): string =>
  SPANS.map((share, index) => `${counts[index]} in ${(share * api.window_ms) / 1000} s`).join(", ");

export const edgeBurst: ApiCheck = {
  id: "edge-burst",
  title: "Burst at a window's end",
  promise: "No span of time gets more than the declared algorithm admits in it at worst.",
  matters: "What stands behind the limiter must bear its worst burst, not its mean rate.",
  cost: ({ points }) => ({ requests: KEYS * (2 * points + 1), windows: TRACE_WINDOWS + 2 * KEYS }),
  async run(api) {
    const bounds = SPANS.map((share) => api.mostWithin(share * api.window_ms));
    const edges: Edge[] = [];
    // The ends of the clock's windows are told from now on, so each is found when it is needed.
    for (let number = 0; number < KEYS; number++) {
      const ends = await endsOfWindows(api);
      edges.push(await acrossEdge(api, ends[number] as number));
    }

    const counts = edges.map((edge) => largestOf(api, edge));
    const isOver = (largest: readonly number[]) =>
      largest.some((count, index) => count > (bounds[index] as number));
    const worst = SPANS.map((_, index) => Math.max(...counts.map((count) => count[index] ?? 0)));
    const promised = `at most ${spansText(api, bounds)}`;
    const factor = ((worst.at(-1) ?? 0) / api.limits.points).toFixed(2);
    const seen = `${spansText(api, worst)}: ${factor} times the quota in a window`;
    if (api.settings.algorithm === "unknown") return reported(!isOver(worst), promised, seen);

    const place = counts.findIndex(isOver);
    const edge = edges[place];
    if (!edge) return holding(promised, seen);
    return broken("double-at-edge", promised, seen, [
      {
        sent: "a request on a fresh key, and more just before its window ends",
        answered: answersText(edge.before),
      },
      { sent: "as many just after it", answered: answersText(edge.after), promised },
    ]);
  },
};
