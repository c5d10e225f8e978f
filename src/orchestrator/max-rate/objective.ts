import type { Threshold } from "../../contract/manifest.js";
import type { MeasuredResult } from "../../contract/result.js";
import { failed } from "../../judge/counts.js";

type Metric = Threshold["metric"];

/** The figure of a run that an objective is about; undefined where the run has none. */
const figures: Readonly<Record<Metric, (result: MeasuredResult) => number | undefined>> = {
  throughput: ({ requests }) => requests.average,
  p50: ({ latency }) => latency?.p50,
  p90: ({ latency }) => latency?.p90,
  p95: ({ latency }) => latency?.p95,
  p99: ({ latency }) => latency?.p99,
  p99_9: ({ latency }) => latency?.p99_9,
  errors: ({ counts }) => (counts.sent > 0 ? failed(counts) / counts.sent : undefined),
  limited_share: ({ counts, requests }) => (requests.total > 0 ? counts.limited / requests.total : undefined),
  cpu: ({ resources }) => resources.server?.cpu_us_per_request,
};

function isHeld({ op, value, tolerance = 0 }: Threshold, figure: number): boolean {
  switch (op) {
    case "<":
      return figure < value;
    case "<=":
      return figure <= value;
    case ">":
      return figure > value;
    case ">=":
      return figure >= value;
    case "=":
      return Math.abs(figure - value) <= tolerance;
  }
}

/**
 * Whether a run of an open loop kept its schedule and met every objective. Other rules that it broke do not count, but
 * for those that make all its figures worthless.
 * @returns why not; empty where it did
 */
export function missedBy(result: MeasuredResult, objectives: readonly Threshold[]): string {
  const invalid = result.verdict.reasons.find(
    ({ severity, rule }) => severity === "invalid" && rule !== "M9",
  );
  if (invalid) return `${invalid.rule} ${invalid.text}`;
  const missed = objectives.flatMap((objective) => {
    const figure = figures[objective.metric](result);
    if (figure === undefined) return [`${objective.text}: no figure`];
    return isHeld(objective, figure) ? [] : [`${objective.text}: ${Number(figure.toPrecision(4))}`];
  });
  return missed.join(", ");
}
