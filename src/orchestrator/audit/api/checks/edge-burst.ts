import { NotChecked } from "../../audited-system.js";
import { largestWithin } from "../../expected.js";
import { type Answered, answersText, withFate } from "../api-answers.js";
import { type ApiCheck, broken, holding, reported } from "../api-check.js";
import type { AuditedApi } from "../audited-api.js";
import { TRACE_WINDOWS, type Trace, tracesOf } from "../traces.js";

/** How far from the end of a window its bursts are at the first try, in windows. */
const MARGIN = 0.1;
/** The spans of time in which admissions are counted, in windows. */
const SPANS = [0.25, 1];
/** An end of a window that comes sooner leaves no time for the bursts, in windows. */
const SOONEST = 0.3;
/** The times at which a key's windows may end, which are tried. */
const KEYS = 2;

/** The worst client of fixed windows, and what it got. */
interface Edge {
  before: Answered[];
  after: Answered[];
  /** Whether the first burst was held up, so that it may have come after the end. */
  isMissed: boolean;
}

/** Between which two moments a window ends, in ms since the epoch. */
interface EndOfWindow {
  earliest_ms: number;
  latest_ms: number;
}

/**
 * An edge that was missed is tried again, on another key and from further away, so often in all.
 */
const MOST_TRIES = 3;

const epochMs = (): number => performance.timeOrigin + performance.now();

/**
 * Opens a window with one request, uses the rest up just before its end, and the next quota just after
 * it.
 * @param endOf the end of the window, told from its first request
 * @param margin_ms how long before the end the first burst begins
 */
async function acrossEdge(
  api: AuditedApi,
  endOf: (opening: Answered) => EndOfWindow,
  margin_ms: number,
): Promise<Edge> {
  const key = await api.freshKey();
  const connection = api.connect();
  const until = (moment_ms: number) => api.pause(Math.max(0, moment_ms - epochMs()));
  try {
    const opening = await api.send(key, { connection });
    const { earliest_ms, latest_ms } = endOf(opening);
    await until(earliest_ms - margin_ms);
    const count = api.limits.points;
    const before = await api.oneByOne(key, count, { connection });
    const isMissed = (before.at(-1) ?? opening).answered_ms > earliest_ms;
    await until(latest_ms + margin_ms / 2);
    const after = await api.oneByOne(key, count, { connection });
    return { before: [opening, ...before], after, isMissed };
  } finally {
    connection.close();
  }
}

const afterFirstRequest =
  (api: AuditedApi) =>
  ({ sent_ms, answered_ms }: Answered): EndOfWindow => ({
    earliest_ms: sent_ms + api.window_ms,
    latest_ms: answered_ms + api.window_ms,
  });

/** The shortest time within which a key came back; undefined where none did. */
function endInTraces(traces: readonly Trace[]): EndOfWindow | undefined {
  const ends = traces.flatMap(({ denied, later, readmitted }) => {
    if (!readmitted) return [];
    const lastDenied = later.at(later.indexOf(readmitted) - 1);
    const { sent_ms } = lastDenied && lastDenied !== readmitted ? lastDenied : denied;
    return [{ earliest_ms: sent_ms, latest_ms: readmitted.answered_ms }];
  });
  const lengthMs = ({ earliest_ms, latest_ms }: EndOfWindow) => latest_ms - earliest_ms;
  return ends.toSorted((a, b) => lengthMs(a) - lengthMs(b))[0];
}

/**
 * When windows end: a window that begins with a key's first request ends a window later. Where the
 * windows are those of a clock, the moment at which another key came back tells it.
 */
async function endsOfWindows(api: AuditedApi): Promise<((opening: Answered) => EndOfWindow)[]> {
  const end = endInTraces(await tracesOf(api));
  if (!end) return [afterFirstRequest(api)];
  return [
    afterFirstRequest(api),
    ({ answered_ms }) => {
      const soonest_ms = answered_ms + SOONEST * api.window_ms;
      const windows = Math.ceil((soonest_ms - end.earliest_ms) / api.window_ms);
      const passed_ms = Math.max(0, windows) * api.window_ms;
      return { earliest_ms: end.earliest_ms + passed_ms, latest_ms: end.latest_ms + passed_ms };
    },
  ];
}

/** The bursts around the end of a window, tried again where they missed it. */
async function edgeOf(api: AuditedApi, endOf: (opening: Answered) => EndOfWindow): Promise<Edge> {
  for (let tries = 1; ; tries++) {
    const edge = await acrossEdge(api, endOf, tries * MARGIN * api.window_ms);
    if (!edge.isMissed || tries === MOST_TRIES) return edge;
  }
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
    for (const endOf of await endsOfWindows(api)) edges.push(await edgeOf(api, endOf));

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
    if (!edge && edges.some(({ isMissed }) => isMissed))
      throw new NotChecked("its requests took so long that the end of a window was missed");
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
