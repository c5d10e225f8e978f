import type { GeneratorPart } from "../../contract/generator-part.js";
import { isClientLayer } from "../../contract/layers.js";
import type { MeasuredResult } from "../../contract/result.js";
import { usesStore } from "../../contract/target.js";
import { sum } from "../../kit/numbers.js";
import { answeredRequests, ends, failedRequests } from "../counts.js";
import { type Evidence, notApplicable, notChecked, type Rule, suspect } from "../evidence.js";
import { decodeHistogram } from "../histogram.js";
import { SLICE_MS } from "../merging/slices.js";

/**
 * In a closed loop a slow generator answers less than this share of what the others do, for each of
 * its connections.
 */
const LEAST_SHARE = 0.75;
/**
 * In an open loop a generator is slow whose p99 of send lateness is above this time, and above that
 * of the others by this factor.
 */
const LATENESS = { ms: 1, factor: 2 } as const;
/** Fewer requests tell nothing about the speed of a generator. */
const FEWEST_REQUESTS = 100;

/** The middle value, or the lower one of two. */
const medianOf = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0;

type Speed = { id: string; value: number };

/** The generators that stand out from the median of the others, as texts. */
const outliers = (
  speeds: readonly Speed[],
  standsOut: (value: number, others: number) => boolean,
  textOf: (speed: Speed, others: number) => string,
): string[] =>
  speeds.flatMap((speed) => {
    const others = medianOf(speeds.flatMap(({ id, value }) => (id === speed.id ? [] : [value])));
    return standsOut(speed.value, others) ? [textOf(speed, others)] : [];
  });

const perConnection = ({ id, counts, window_s, workers }: GeneratorPart): Speed => ({
  id,
  value: answeredRequests(counts) / window_s / sum(workers.map(({ connections }) => connections)),
});

const slowClosedLoops = (generators: readonly GeneratorPart[]): string[] =>
  outliers(
    generators.map(perConnection),
    (rate, others) => rate < LEAST_SHARE * others,
    ({ id, value }, others) =>
      `${id} is slower than the others: ${value.toFixed(0)} answers/s for each of its connections, theirs ${others.toFixed(0)}`,
  );

const lateOpenLoops = (generators: readonly GeneratorPart[]): string[] =>
  outliers(
    generators.flatMap(({ id, schedule }) =>
      schedule && schedule.lateness.count > 0
        ? [{ id, value: decodeHistogram(schedule.lateness).getValueAtPercentile(99) / 1000 }]
        : [],
    ),
    (late_ms, others) => late_ms > Math.max(LATENESS.ms, LATENESS.factor * others),
    ({ id, value }, others) =>
      `${id} sends later than the others: its p99 of send lateness is ${value.toFixed(2)} ms, theirs ${others.toFixed(2)} ms`,
  );

/** The windows that did not open in the same slice as the first one, as texts. */
const lateWindows = (generators: readonly GeneratorPart[]): string[] =>
  generators.flatMap(({ id, opened_after_ms = 0 }) =>
    opened_after_ms > SLICE_MS
      ? [`the window of ${id} opened ${(opened_after_ms / 1000).toFixed(2)} s after the first`]
      : [],
  );

/** M6: none of several generators lags behind, since its delay is in the latencies of all. */
export const generatorsAlike: Rule = {
  id: "M6",
  check({ generators, request, faults }) {
    if (generators.length < 2) return undefined;
    // A fault may hit the connections of some generators more than those of others, which makes
    // them differ.
    const isComparable =
      !faults && generators.every(({ counts }) => counts.sent >= FEWEST_REQUESTS);
    const slowTexts = request.load.model === "closed" ? slowClosedLoops : lateOpenLoops;
    const texts = lateWindows(generators);
    if (isComparable) texts.push(...slowTexts(generators));
    return texts.length > 0 ? suspect(texts.join("; ")) : undefined;
  },
};

/** From this utilisation on the generator's event loop may be the bottleneck (M6). */
const SATURATED = 0.9;

/**
 * A worker starves that waits for a CPU for this share of the window. It only counts where the host
 * load is not known (M25).
 */
export const STARVED_SHARE = 0.5;

/** The utilisation of the busiest event loop of a generator, from 0 to 1. */
export const busiestLoop = ({ workers }: GeneratorPart): number =>
  Math.max(0, ...workers.map((worker) => worker.event_loop_utilisation));

/**
 * The share of the window in which the most delayed worker waited for a CPU, from 0 to 1.
 */
export const longestWait = ({ workers }: GeneratorPart): number =>
  Math.max(0, ...workers.map((worker) => worker.cpu_wait_share ?? 0));

const namesOf = (all: readonly GeneratorPart[], affected: readonly GeneratorPart[]): string =>
  all.length === 1 ? "generator" : affected.map(({ id }) => id).join(", ");

/**
 * Whether the generator may be the bottleneck. It never is at the limiter layer, where it is
 * the client that is measured.
 */
export const isGeneratorSaturated = (evidence: Pick<Evidence, "generators" | "request">): boolean =>
  !isClientLayer(evidence.request.layer) &&
  evidence.generators.some((generator) => busiestLoop(generator) >= SATURATED);

/** M16: no connection is closed between the turns of a target. */
export const connectionsKept: Rule = {
  id: "M16",
  check({ turns, request }) {
    // At the limiter layer the client keeps its own connections. An open loop opens one again only
    // when the target has closed it, or when a request was given up.
    if (!turns || isClientLayer(request.layer) || isOpenLoop(request)) return undefined;
    if (!turns.reopened) return notChecked("the connections that were opened again");
    const reopened = turns.reopened.without_cause;
    if (reopened === 0) return undefined;
    return suspect(`${reopened} connections were opened again that the target had not closed`);
  },
};

/** M6: the generator was not the bottleneck. */
export const generatorFree: Rule = {
  id: "M6",
  check(evidence) {
    const { generators, request, host_load } = evidence;
    // The worker is the client: how busy it is, is a result.
    if (isClientLayer(request.layer))
      return notApplicable("at the limiter layer the generator is the client");
    const starved = generators.filter((generator) => longestWait(generator) >= STARVED_SHARE);
    if (starved.length > 0 && !host_load) {
      const share = (100 * Math.max(...starved.map(longestWait))).toFixed(0);
      const text = `${namesOf(generators, starved)} starved: it waited for a CPU ${share} % of the window`;
      return suspect(text);
    }
    const saturated = generators.filter((generator) => busiestLoop(generator) >= SATURATED);
    if (saturated.length === 0) return undefined;

    const percent = (100 * Math.max(...saturated.map(busiestLoop))).toFixed(0);
    const remedies = [`more ${generators.length > 1 ? "--generators or " : ""}WORKERS`];
    if (!isOpenLoop(request)) remedies.push("fewer CONNECTIONS");

    return suspect(
      `${namesOf(generators, saturated)} saturated: its event loop was ${percent} % busy (${remedies.join(" or ")})`,
    );
  },
};

const isOpenLoop = ({ load }: MeasuredResult["request"]): boolean => load.model === "open";

/** Largest relative difference between connections and throughput × mean latency (M7). */
const LITTLE_TOLERANCE = 0.05;

/**
 * M7 checks Little's law. A followed request was in flight for a part of the window alone, so the
 * time of all requests in the window lies between the latencies of the answers in it and of all
 * answers.
 */
export const littlesLaw: Rule = {
  id: "M7",
  check({ request, requests, slices, latency, counts, configuration }) {
    if (isOpenLoop(request)) return notApplicable("open loop: connections may be idle");
    if (isClientLayer(request.layer) && configuration && !usesStore(configuration.target))
      return notApplicable("decisions in the client's own process are never in flight");
    const { connections } = request.load;
    const average = latency?.average ?? undefined;
    if (
      average === undefined ||
      answeredRequests(counts) < 20 * connections ||
      failedRequests(counts) > 0
    )
      return notApplicable("too few answers, or failures among them");
    const perAnswer = requests.average / answeredRequests(counts);
    const least = (perAnswer * sum(slices.latency_sum_us)) / 1e6;
    const most = (perAnswer * answeredRequests(ends(counts)) * average) / 1000;
    const isLow = most < connections * (1 - LITTLE_TOLERANCE);
    if (!isLow && least <= connections * (1 + LITTLE_TOLERANCE)) return undefined;

    return suspect(
      `Little's law: throughput × mean latency is ${(isLow ? most : least).toFixed(1)} for ${connections} connections`,
    );
  },
};
