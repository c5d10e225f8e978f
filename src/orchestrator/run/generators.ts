import type { z } from "zod";
import { EXIT, environmentError, messageOf } from "../../contract/errors.js";
import {
  ALL_STEADY_LINE,
  BETWEEN_TURNS,
  type Progress,
  progressSchema,
  STEADY,
  WAITING,
} from "../../contract/progress.js";
import { type GeneratorOutput, generatorOutputSchema } from "../../contract/result.js";
import { judged } from "../../judge/judged.js";
import { mergeGenerators, mergeRequestCounts } from "../../judge/merging/generators.js";
import { predictionFor } from "../../traffic/outcome-mix.js";
import { parseJson } from "../files/json.js";
import type { DrainedReadings } from "./drained-readings.js";
import { MergedSeconds, type Second } from "./merged-seconds.js";
import { PartFailed, type PartSupervisor, type RunningRole } from "./part-supervisor.js";
import { SilenceWatch } from "./silence.js";

type Announcement = Extract<Progress, { event: "phase" }>;
type RunPhase = Exclude<Announcement["phase"], typeof WAITING | typeof BETWEEN_TURNS | typeof STEADY>;

export type TurnEvent = Extract<Progress, { event: "turn" }>;

export interface GeneratorListener {
  phase(phase: RunPhase, opens_in_ms: number | undefined): void;
  second(second: Second, generator: number): void;
  turn?(generator: number, turn: TurnEvent): void;
}

/** The load generators of one run. They go on from moment to moment together, and their outputs are merged to one. */
export class Generators {
  readonly roles: readonly RunningRole[];
  /** When the window of each opens, by this process's clock; absent before it has announced that. */
  readonly #opens_ms: (number | undefined)[] = [];
  readonly #steady = new Set<number>();
  readonly #begun = new Set<RunPhase>();
  readonly #silence: SilenceWatch;

  constructor(roles: readonly RunningRole[], warmup_s: number) {
    if (roles.length === 0) throw new Error("the layout has no load generator");
    this.roles = roles;
    this.#silence = new SilenceWatch(roles, warmup_s);
    this.parts.forEach(({ exited }, index) => {
      exited.then(() => this.#silence.expectNothing(index));
    });
  }

  /** Rejects when one of them hangs, and never resolves. */
  get failed(): Promise<never> {
    return this.#silence.failed;
  }

  goOn(): void {
    this.#silence.expectAll();
  }

  leave(): void {
    this.#silence.stop();
  }

  get parts() {
    return this.roles.map(({ part }) => part);
  }

  /** Takes the readings at the moments that they announce, and reports their progress. */
  follow(readings: DrainedReadings, listener: GeneratorListener): void {
    const seconds = new MergedSeconds(this.roles.length);
    this.parts.forEach((part, index) => {
      part.onLine((line) => {
        this.#silence.heard(index);
        const progress = parseProgress(line);
        if (progress?.event === "phase") this.#announced(index, progress, readings, listener);
        else if (progress?.event === "turn") listener.turn?.(index, progress);
        else if (progress) {
          // By turns each second is of one run, whichever generator reports it.
          const second = progress.run === undefined ? seconds.add(index, progress) : progress;
          if (second) listener.second(second, index);
        }
      });
    });
  }

  #announced(
    index: number,
    { phase, opens_in_ms }: Announcement,
    readings: DrainedReadings,
    listener: GeneratorListener,
  ): void {
    switch (phase) {
      case WAITING:
      case BETWEEN_TURNS:
        this.#silence.expectNothing(index);
        readings.take(index, phase);
        return;
      case STEADY:
        this.#endWarmup(index);
        return;
      case "warmup":
      case "measure": {
        if (opens_in_ms !== undefined) this.#opens_ms[index] = performance.now() + opens_in_ms;
        // The others follow at once.
        if (this.#begun.has(phase)) return;
        this.#begun.add(phase);
        listener.phase(phase, opens_in_ms);
        return;
      }
      default:
        this.#silence.expectNothing(index);
        if (readings.take(index, phase)) listener.phase(phase, undefined);
    }
  }

  /** Ends the warm-up of all when the last of them is steady. */
  #endWarmup(index: number): void {
    this.#steady.add(index);
    if (this.#steady.size < this.roles.length) return;
    for (const part of this.parts) part.write?.(ALL_STEADY_LINE);
  }

  /** What all measured together. @throws PartFailed naming the first that fails; environmentError */
  async output(supervisor: PartSupervisor, mayEnd: (role: RunningRole) => boolean): Promise<GeneratorOutput> {
    const printed = this.roles.map((role) => outputOfGenerator(role, generatorOutputSchema));
    const outputs = await supervisor.waitFor(Promise.all(printed), mayEnd);
    const [first] = outputs;
    if (first && outputs.length === 1) return first;
    return mergedOutput(outputs, this.#opens_ms);
  }
}

function mergedOutput(
  outputs: readonly GeneratorOutput[],
  opens_ms: readonly (number | undefined)[],
): GeneratorOutput {
  const opened = outputs.map(({ share }, index) => {
    const ms = opens_ms[index];
    return ms === undefined ? undefined : ms + (share?.opened_late_ms ?? 0);
  });
  const first_ms = Math.min(...opened.map((ms) => ms ?? Number.POSITIVE_INFINITY));
  const evidence = mergeGenerators(
    outputs.map((output, index) => ({
      output,
      opened_after_ms: Math.max(0, (opened[index] ?? first_ms) - first_ms),
    })),
  );
  const { share } = outputs[0] ?? {};
  const { consumers, request, warmup, counts, slices } = evidence;
  const prediction =
    share &&
    predictionFor(
      request,
      warmup,
      {
        limits: share.limits,
        algorithm: share.algorithm,
        at_start: consumers.map(({ at_start }) => at_start),
        at_end: consumers.map(({ at_end }) => at_end),
      },
      counts,
      { opened_at: new Date(share.opened_at), opens_s: share.opens_s, slices },
    );
  const request_counts = mergeRequestCounts(outputs);
  return {
    ...judged({ ...evidence, ...(prediction ? { prediction } : {}) }),
    ...(request_counts ? { request_counts } : {}),
  };
}

export async function outputOfGenerator<Schema extends z.ZodType>(
  { id, part }: RunningRole,
  schema: Schema,
): Promise<z.infer<Schema>> {
  const exit = await part.exited;
  const last = part.lastLines().findLast((line) => !parseProgress(line));
  if (exit.code === EXIT.environment) throw environmentError(`${id}: ${last ?? "it printed nothing"}`);
  if (exit.code !== 0)
    throw new PartFailed(id, `ended with ${exit.code ?? exit.signal}${last ? `: ${last}` : ""}`);
  try {
    return schema.parse(JSON.parse(await part.output()));
  } catch (error) {
    throw new PartFailed(id, `printed no valid result: ${messageOf(error).slice(0, 300)}`);
  }
}

const parseProgress = (line: string): Progress | undefined =>
  line.startsWith("{") ? parseJson(line, progressSchema) : undefined;
