import type { z } from "zod";
import { type GeneratorOutput, generatorOutputSchema } from "../../contract/generator-output.js";
import {
  ALL_STEADY_LINE,
  BEFORE_LONG_TURNS,
  BETWEEN_TURNS,
  type Progress,
  progressSchema,
  STEADY,
  TURN_BEGINS,
  TURN_ENDED,
  type TurnPhase,
  WAITING,
} from "../../contract/progress.js";
import { judged } from "../../judge/judged.js";
import { mergeGenerators, mergeRequestCounts } from "../../judge/merging/merge-generators.js";
import { parseAnswer } from "../../kit/answers.js";
import { definedOnly } from "../../kit/defined-only.js";
import { EXIT, environmentError, messageOf } from "../../kit/errors.js";
import { rounded, sum } from "../../kit/numbers.js";
import { failure } from "../../runtimes/deferred.js";
import { predictionFor } from "../../traffic/outcome-mix.js";
import { parseJson } from "../files/own-files.js";
import type { DrainedReadings } from "./drained-readings.js";
import { PartFailed, type PartSupervisor, type RunningRole } from "./part-supervisor.js";

/**
 * A generator that prints nothing for so long hangs, because it reports each second, and takes less
 * to connect, drain and write. Generators wait longer for each other, so that the one that hangs is
 * named.
 */
export const SILENCE_S = 60;

/**
 * The time for the first line of a generator, which may wait for CPU time while many others start.
 * Generators that are ready wait a little longer.
 */
export const START_S = 110;

/** The time to read lines that this process missed while it was stopped, before a timer counts. */
const GRACE_MS = 1000;

/** Notices a generator that hangs, e.g. because its machine is frozen, and would never end. */
export class SilenceWatch {
  readonly #roles: readonly Pick<RunningRole, "id">[];
  readonly #warmup_s: number;
  readonly #timers = new Map<number, NodeJS.Timeout>();
  #isOver = false;
  readonly #failure = failure();
  /** Rejects with PartFailed where a generator hangs, and never resolves. */
  readonly failed = this.#failure.promise;

  /** @param warmup_s the warm-up, in which a generator works without printing a line */
  constructor(roles: readonly Pick<RunningRole, "id">[], warmup_s: number) {
    this.#roles = roles;
    this.#warmup_s = warmup_s;
    for (const index of roles.keys()) this.#expect(index, START_S);
  }

  /** Takes that all generators continue from a moment at which they waited. */
  expectAll(): void {
    for (const index of this.#roles.keys()) this.heard(index);
  }

  /** Takes that a generator printed a line, and continues. */
  heard(index: number): void {
    this.#expect(index, SILENCE_S + this.#warmup_s);
  }

  #expect(index: number, within_s: number): void {
    this.expectNothing(index);
    if (this.#isOver) return;
    const { id } = this.#roles[index] ?? {};
    const text = `said nothing for ${within_s} s: it hangs, or its machine does`;
    const fail = () => this.#failure.reject(new PartFailed(id ?? "generator", text));
    const waitForMissedLines = () => {
      this.#timers.set(index, setTimeout(fail, GRACE_MS).unref());
    };
    this.#timers.set(index, setTimeout(waitForMissedLines, 1000 * within_s).unref());
  }

  /** Takes that a generator waits until it may continue, or has ended. */
  expectNothing(index: number): void {
    clearTimeout(this.#timers.get(index));
    this.#timers.delete(index);
  }

  stop(): void {
    this.#isOver = true;
    for (const index of this.#roles.keys()) this.expectNothing(index);
  }
}

export type Second = Extract<Progress, { event: "second" }>;

/**
 * Merges the live figures of several generators, and passes those of a single one unchanged. A
 * second is complete once all have reported it.
 */
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
  const limited_share =
    requests_per_second > 0 ? rounded(limited / requests_per_second, 6) : undefined;
  // The result has percentiles of merged histograms, while a screen gets the slowest generator's.
  const p99_ms = greatest(seconds.map((second) => second.p99_ms));
  const utilisation = greatest(seconds.map((second) => second.generator_event_loop_utilisation));
  return {
    // Only the first generator reads the servers.
    ...first,
    t_s: Math.max(...seconds.map(({ t_s }) => t_s)),
    requests_per_second,
    ...definedOnly({
      limited_share,
      p99_ms,
      generator_event_loop_utilisation: utilisation,
    }),
  };
}

/** The greatest of the known values; undefined where none is known. */
function greatest(values: readonly (number | null | undefined)[]): number | undefined {
  const knownValues = values.flatMap((value) => value ?? []);
  return knownValues.length > 0 ? Math.max(...knownValues) : undefined;
}

type Announcement = Extract<Progress, { event: "phase" }>;
type RunPhase = Exclude<
  Announcement["phase"],
  typeof WAITING | typeof BETWEEN_TURNS | typeof BEFORE_LONG_TURNS | TurnPhase | typeof STEADY
>;

export type TurnEvent = Extract<Progress, { event: "turn" }>;

interface GeneratorListener {
  phase(phase: RunPhase, opens_in_ms: number | undefined): void;
  second(second: Second, generator: number): void;
  turn?(generator: number, turn: TurnEvent): void;
  /** Takes that a generator waits, because the turn of one of its runs begins or has ended. */
  turnPhase?(generator: number, phase: TurnPhase, run: number): void;
}

/**
 * The load generators of one run. They continue from each drained moment together, and their outputs
 * are merged into one.
 */
export class Generators {
  readonly roles: readonly RunningRole[];
  /** When the window of each generator opens, by this process's clock; absent before it says so. */
  readonly #opens_ms: (number | undefined)[] = [];
  readonly #steady = new Set<number>();
  readonly #begun = new Set<RunPhase>();
  readonly silence: SilenceWatch;

  constructor(roles: readonly RunningRole[], warmup_s: number) {
    if (roles.length === 0) throw new Error("the layout has no load generator");
    this.roles = roles;
    this.silence = new SilenceWatch(roles, warmup_s);
    for (const [index, { exited }] of this.parts.entries())
      exited.then(() => this.silence.expectNothing(index));
  }

  get parts() {
    return this.roles.map(({ part }) => part);
  }

  /** Takes the readings at the moments that generators announce, and reports their progress. */
  follow(readings: DrainedReadings, listener: GeneratorListener): void {
    const seconds = new MergedSeconds(this.roles.length);
    for (const [index, part] of this.parts.entries()) {
      part.onLine((line) => {
        this.silence.heard(index);
        const progress = parseProgress(line);
        switch (progress?.event) {
          case "phase":
            this.#announced(index, progress, readings, listener);
            break;
          case "turn":
            listener.turn?.(index, progress);
            break;
          case "second": {
            // By turns each second is of one run, whichever generator reports it.
            const second = progress.run === undefined ? seconds.add(index, progress) : progress;
            if (second) listener.second(second, index);
          }
        }
      });
    }
  }

  #announced(
    index: number,
    { phase, opens_in_ms, run = 0 }: Announcement,
    readings: DrainedReadings,
    listener: GeneratorListener,
  ): void {
    switch (phase) {
      case WAITING:
      case BETWEEN_TURNS:
      case BEFORE_LONG_TURNS:
        this.silence.expectNothing(index);
        readings.take(index, phase);
        return;
      case TURN_BEGINS:
      case TURN_ENDED:
        this.silence.expectNothing(index);
        listener.turnPhase?.(index, phase, run);
        return;
      case STEADY:
        this.#endWarmup(index);
        return;
      case "warmup":
      case "measure": {
        if (opens_in_ms !== undefined) this.#opens_ms[index] = performance.now() + opens_in_ms;
        // The first generator announces the phase for the others, which follow at once.
        if (this.#begun.has(phase)) return;
        this.#begun.add(phase);
        listener.phase(phase, opens_in_ms);
        return;
      }
      default:
        this.silence.expectNothing(index);
        if (readings.take(index, phase)) listener.phase(phase, undefined);
    }
  }

  /** Ends the warm-up of all generators, or a part of it, when the last of them is steady. */
  #endWarmup(index: number): void {
    this.#steady.add(index);
    if (this.#steady.size < this.roles.length) return;
    this.#steady.clear();
    for (const part of this.parts) part.write?.(ALL_STEADY_LINE);
  }

  /**
   * The output of all generators together.
   * @throws PartFailed that names the first which fails; environmentError
   */
  async output(
    supervisor: PartSupervisor,
    mayEnd: (role: RunningRole) => boolean,
  ): Promise<GeneratorOutput> {
    const pending = this.roles.map((role) => outputOfGenerator(role, generatorOutputSchema));
    const outputs = await supervisor.waitFor(Promise.all(pending), mayEnd);
    const [first] = outputs;
    if (first && outputs.length === 1) return first;
    return mergedOutput(outputs, this.#opens_ms);
  }
}

/** @param opens_ms when each generator was to open its window, by this process's clock */
function mergedOutput(
  outputs: readonly GeneratorOutput[],
  opens_ms: readonly (number | undefined)[],
) {
  const opened_ms = outputs.map(({ share }, index) => {
    const planned_ms = opens_ms[index];
    return planned_ms === undefined ? undefined : planned_ms + (share?.opened_late_ms ?? 0);
  });
  const first_ms = Math.min(...opened_ms.map((ms) => ms ?? Number.POSITIVE_INFINITY));
  const evidence = mergeGenerators(
    outputs.map((output, index) => ({
      output,
      opened_after_ms: Math.max(0, (opened_ms[index] ?? first_ms) - first_ms),
    })),
  );

  const share = outputs[0]?.share;
  const prediction = share && mergedPrediction(evidence, share);
  const request_counts = mergeRequestCounts(outputs);
  return {
    ...judged({ ...evidence, ...definedOnly({ prediction }) }),
    ...definedOnly({ request_counts }),
  };
}

function mergedPrediction(
  { consumers, request, warmup, counts, slices }: ReturnType<typeof mergeGenerators>,
  share: NonNullable<GeneratorOutput["share"]>,
) {
  const limiter = {
    limits: share.limits,
    algorithm: share.algorithm,
    at_start: consumers.map(({ at_start }) => at_start),
    at_end: consumers.map(({ at_end }) => at_end),
  };
  const window = { opened_at: new Date(share.opened_at), opens_s: share.opens_s, slices };
  return predictionFor(request, warmup, limiter, counts, window);
}

/** The output of a generator when it has ended. @throws PartFailed; environmentError */
export async function outputOfGenerator<Output>(
  { id, part }: RunningRole,
  schema: z.ZodType<Output>,
): Promise<Output> {
  const exit = await part.exited;
  const lastLine = part.lastLines().findLast((line) => !parseProgress(line));
  if (exit.code === EXIT.environment)
    throw environmentError(`${id}: ${lastLine ?? "it printed nothing"}`);
  if (exit.code !== 0) {
    const reason = lastLine ? `: ${lastLine}` : "";
    throw new PartFailed(id, `ended with ${exit.code ?? exit.signal}${reason}`);
  }

  try {
    return parseAnswer(schema, await part.output());
  } catch (error) {
    throw new PartFailed(id, `printed no valid result: ${messageOf(error).slice(0, 300)}`);
  }
}

export const parseProgress = (line: string): Progress | undefined =>
  line.startsWith("{") ? parseJson(line, progressSchema) : undefined;
