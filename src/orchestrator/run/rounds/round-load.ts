import { longestWarmupS } from "../../../contract/configuration.js";
import {
  type GeneratorOutput,
  type GroupOutput,
  groupOutputSchema,
} from "../../../contract/generator-output.js";
import type { TurnsSpec } from "../../../contract/turns.js";
import { within } from "../../../kit/deadline.js";
import { messageOf } from "../../../kit/errors.js";
import type { RunningPart } from "../../../runtimes/runtime-types.js";
import type { CounterWatch } from "../counter-watch.js";
import { DrainedReadings } from "../drained-readings.js";
import type { RunLoad } from "../execute-run.js";
import { GENERATOR } from "../layout.js";
import { PartFailed, type RunningRole } from "../part-supervisor.js";
import { Generators, outputOfGenerator } from "../run-generators.js";
import type { RoundTarget, StartedGenerator } from "./round-types.js";
import { generatorRoles, loadedRole, watchOfAll, watchOfTarget } from "./target-roles.js";
import { TurnsOfRound, withLongestGap } from "./turns-of-round.js";

/** The time for the reading of a store. One that hangs must not use up the time of the others. */
export const READ_WITHIN_MS = 8_000;

export const notReadText = (): string =>
  `the store could not be read within ${READ_WITHIN_MS / 1000} s`;

type MayEnd = (role: RunningRole) => boolean;

/** The load of a round, whose generators work together, and from which each run gets its share. */
export class RoundLoad {
  readonly #started: readonly StartedGenerator[];
  readonly #runs: readonly RoundTarget[];
  /** The turns; present where each target has its own generator. */
  readonly #turns: TurnsOfRound | undefined;
  readonly #generators: Generators;
  readonly #watch: CounterWatch;
  readonly #readings: DrainedReadings;
  /** The outputs that each generator prints, which are those of its runs in their order. */
  readonly #outputs: readonly Promise<GroupOutput>[];
  readonly #failedReadings = new Map<number, PartFailed>();

  /** @param hasOwnGenerators whether each target has its own generator */
  constructor(started: readonly StartedGenerator[], turns: TurnsSpec, hasOwnGenerators: boolean) {
    const runs = started.flatMap(({ targets }) => targets);
    const [first] = runs;
    if (!first) throw new Error("a round has no runs");
    const { configuration, warmupS } = first.settings;
    const parts = started.map(({ part }) => part);
    const roles = generatorRoles(started);

    this.#started = started;
    this.#runs = runs;
    this.#turns = hasOwnGenerators
      ? new TurnsOfRound(parts, turns, configuration, warmupS)
      : undefined;
    this.#generators = new Generators(
      roles,
      runs.length * longestWarmupS(warmupS, configuration.load.model),
    );
    this.#watch = watchOfAll(started, hasOwnGenerators);
    this.#readings = this.#newReadings(parts);
    this.#outputs = roles.map((role) => outputOfGenerator(role, groupOutputSchema));
    this.#follow(parts);
  }

  /** Takes that nobody waits for the generators any more. */
  stop(): void {
    this.#generators.silence.stop();
  }

  loadOf(run: RoundTarget): RunLoad {
    return {
      watch: watchOfTarget(run.index, this.#watch),
      failures: [this.#generators.silence.failed, this.#readings.failed],
      output: (mayEnd) => this.#outputOf(run, mayEnd),
      done: () => this.#readings.done(),
      // The other runs may still need the generators.
      leave: () => {},
    };
  }

  #newReadings(parts: readonly RunningPart[]): DrainedReadings {
    const stores = { readBefore: () => this.#readStores() };
    const watch = {
      start: () => this.#watch.startByTurns(),
      readBetweenTurns: () => this.#watch.readBetweenTurns(),
      readBeforeLongTurns: () => this.#watch.readBeforeLongTurns(),
      stop: () => this.#watch.stop(),
    };
    return new DrainedReadings(parts, stores, watch, () => {
      this.#generators.silence.expectAll();
      this.#turns?.goOn();
    });
  }

  /** Reads all stores. One that cannot be read fails only its own run. */
  async #readStores(): Promise<void> {
    const reading = this.#runs.map(async ({ index, store }) => {
      try {
        await within(store.readBefore(), READ_WITHIN_MS, notReadText);
      } catch (error) {
        this.#failedReadings.set(index, new PartFailed("store", messageOf(error)));
      }
    });
    await Promise.all(reading);
  }

  #follow(parts: readonly RunningPart[]): void {
    this.#generators.follow(this.#readings, {
      phase: (phase) => {
        for (const { listener } of this.#runs) listener.phase(phase);
      },
      second: ({ run = 0, ...second }, generator) => {
        const position = this.#turns ? generator : run;
        this.#runs[position]?.listener.second(second);
      },
      turn: (generator, turn) => this.#turns?.ended(generator, turn),
    });

    for (const [generator, { exited }] of parts.entries())
      exited.then(() => this.#readings.leave(generator));
    Promise.all(parts.map(({ exited }) => exited)).then(() => this.#watch.stop());
    // Runs that need an output learn of its failure. If all have failed before, nobody does.
    for (const outputs of this.#outputs) outputs.catch(() => {});
  }

  async #outputOf(run: RoundTarget, mayEnd: MayEnd): Promise<GeneratorOutput> {
    const generator = this.#started.findIndex(({ targets }) => targets.includes(run));
    const position = this.#started[generator]?.targets.indexOf(run) ?? 0;
    const outputs = this.#outputs[generator];
    if (!outputs) throw new Error("a run has no generator");
    const output = (await run.supervisor.waitFor(outputs, mayEnd))[position];

    const failedReading = this.#failedReadings.get(run.index);
    if (failedReading) throw failedReading;
    if (!output) throw new PartFailed(GENERATOR, "printed no result of this run");
    if ("failed" in output) throw new PartFailed(loadedRole(run), output.failed);
    if (!this.#turns) return output;

    const ended = await run.supervisor.waitFor(Promise.allSettled(this.#outputs), mayEnd);
    const group = ended.flatMap((end) => (end.status === "fulfilled" ? end.value : []));
    return withLongestGap(this.#turns.complete(generator, output), group);
  }
}
