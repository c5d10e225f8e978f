import { isClientLayer, layerOf } from "../../contract/layers.js";
import type { MaxRateState, Threshold } from "../../contract/manifest.js";
import { type MeasuredResult, movableFigures } from "../../contract/result.js";
import { failedShare } from "../../judge/counts.js";
import { atLeast } from "../../judge/latency.js";
import { isSpoiled } from "../../judge/outcome.js";
import { cpuUsPerRequest } from "../run/result-documents.js";

type Metric = Threshold["metric"];

/** The figure of a run for each metric; null where requests without an answer could move it, undefined where the run has none. */
const FIGURES: Readonly<Record<Metric, (result: MeasuredResult) => number | null | undefined>> = {
  throughput: ({ requests }) => requests.average,
  p50: ({ latency }) => latency?.p50,
  p90: ({ latency }) => latency?.p90,
  p95: ({ latency }) => latency?.p95,
  p99: ({ latency }) => latency?.p99,
  p99_9: ({ latency }) => latency?.p99_9,
  errors: ({ counts }) => failedShare(counts),
  limited_share: ({ counts, requests }) => (requests.total > 0 ? counts.limited / requests.total : undefined),
  // CPU time of what calls the limiter.
  cpu: (result) => cpuUsPerRequest(result, isClientLayer(result.request.layer) ? "generator" : "server"),
};

/** Shares come out of divisions: a value on the edge of its tolerance is within it. */
const SLACK = 1e-9;

function isMet({ op, value, tolerance = 0 }: Threshold, figure: number): boolean {
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
      return Math.abs(figure - value) <= tolerance + SLACK;
  }
}

/** `> 30.1`: what a percentile without a figure is at least. */
function leastText({ latency }: MeasuredResult, metric: Metric): string {
  const name = movableFigures.find((figure) => figure === metric);
  return latency && name ? `> ${Number(atLeast(latency, name).toPrecision(4))}` : "no figure";
}

/** A run that sent less of its schedule than this share measured another rate than the requested one. */
const MIN_SENT_SHARE = 0.99;
/** The rule of the verdict that the objectives replace: the latency includes late sends. */
const REPLACED_RULE = "M5";

/** Why the measurement of a run is broken, so that it says nothing about the rate; empty where it is sound. */
function brokenText({ verdict }: MeasuredResult): string {
  const broken = verdict.reasons.find(
    ({ severity, rule }) => severity === "invalid" && rule !== REPLACED_RULE,
  );
  return broken ? `${broken.rule} ${broken.text}` : "";
}

/** Why a run missed the objectives; empty where it met them. One for errors replaces M24's share. */
function missReason(result: MeasuredResult, objectives: readonly Threshold[]): string {
  const { offered = 0, sent = 0 } = result.schedule ?? {};
  if (offered === 0 || sent < MIN_SENT_SHARE * offered)
    return `${sent} of ${offered} ${layerOf(result.request.layer).request}s were sent`;
  const errorsAreJudged = objectives.some(({ metric }) => metric === "errors");
  if (isSpoiled(result) && !(result.outcome === "failed" && errorsAreJudged))
    return `${result.outcome}: ${result.outcome_text}`;
  const missed = objectives.flatMap((objective) => {
    const figure = FIGURES[objective.metric](result);
    if (figure === undefined) return [`${objective.text}: no figure`];
    if (figure === null) return [`${objective.text}: ${leastText(result, objective.metric)}`];
    return isMet(objective, figure) ? [] : [`${objective.text}: ${Number(figure.toPrecision(4))}`];
  });
  return missed.join(", ");
}

/** What a run says about its rate; `void` where its measurement is broken. */
export function judgeTrial(
  result: MeasuredResult,
  objectives: readonly Threshold[],
): Omit<MaxRateState["trials"][number], "file"> {
  const broken = brokenText(result);
  if (broken) return { status: "void", reason: broken };
  const reason = missReason(result, objectives);
  return { status: reason ? "missed" : "kept", reason };
}
