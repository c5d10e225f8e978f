import { longestWarmupS } from "../../../contract/configuration.js";
import {
  type GeneratorOutput,
  type GroupOutput,
  groupOutputSchema,
} from "../../../contract/generator-output.js";
import { READ_LINE, TURN_BEGINS, type TurnPhase } from "../../../contract/progress.js";
import type { TurnsSpec } from "../../../contract/turns.js";
import { within } from "../../../kit/deadline.js";
import { messageOf } from "../../../kit/errors.js";
import type { CounterWatch } from "../counter-watch.js";
import { DrainedReadings } from "../drained-readings.js";
import type { RunLoad } from "../execute-run.js";
import { GENERATOR } from "../layout.js";
import { PartFailed, type RunningRole } from "../part-supervisor.js";
import { Generators, outputOfGenerator } from "../run-generators.js";
import type { StoreMoment, StoreSide } from "../store/run-store.js";
import { notReadText, READ_WITHIN_MS } from "./round-load.js";
import type { RoundTarget, RunOfTarget, StartedGenerator } from "./round-types.js";
import { generatorRoles, loadedRole, watchOfAll, watchOfTarget } from "./target-roles.js";
import { TurnsOfRound } from "./turns-of-round.js";

type MayEnd = (role: RunningRole) => boolean;

/** A run of a load curve, with what was read before and after its turn. */
interface CurveTurn {
  target: RoundTarget;
  run: RunOfTarget;
  generator: number;
  /** The index of the run among those of its generator. */
  position: number;
  watch: CounterWatch;
  before?: StoreMoment;
  after?: StoreMoment;
  /** Why its store could not be read. */
  failure?: PartFailed;
}

/** The load of one run of a curve, with the readings of the store around its turn. */
export interface CurveRunLoad extends RunLoad {
  run: RunOfTarget;
  storeSide(): Promise<StoreSide>;
}

const NO_WATCH = { start: async () => {}, stop: async () => {} };

/**
 * The load of a round of a load curve. Each run has one turn, and its counters are read just before
 * and just after it, while nothing is in flight.
 */
export class CurveLoad {
  readonly #turns: readonly CurveTurn[];
  readonly #targets: readonly RoundTarget[];
  readonly #generators: Generators;
  readonly #readings: DrainedReadings;
  readonly #outputs: readonly Promise<GroupOutput>[];
  /** The turns; present where each target has its own generator. */
  readonly #given: TurnsOfRound | undefined;
  /** The last reading of a queue, because one turn follows the other. */
  #pending = Promise.resolve();

  /** @param hasOwnGenerators whether each target has its own generator */
  constructor(started: readonly StartedGenerator[], turns: TurnsSpec, hasOwnGenerators: boolean) {
    this.#targets = started.flatMap(({ targets }) => targets);
    const [first] = this.#targets;
    if (!first) throw new Error("a load curve has no targets");
    this.#turns = started.flatMap(({ targets }, generator) =>
      targets
        .flatMap((target) => target.runs.map((run) => ({ target, run })))
        .map((turn, position) => ({
          ...turn,
          generator,
          position,
          watch: watchOfAll(started, hasOwnGenerators),
        })),
    );
    const { configuration, warmupS } = first.settings;
    const parts = started.map(({ part }) => part);
    const roles = generatorRoles(started);
    const loads = this.#turns.map(({ generator, position, run }) => {
      return { generator, run: position, load: run.settings.configuration.load };
    });
    this.#given = hasOwnGenerators
      ? new TurnsOfRound(parts, turns, configuration, warmupS, loads)
      : undefined;
    this.#generators = new Generators(
      roles,
      this.#targets.length * longestWarmupS(warmupS, "closed"),
    );
    const stores = { readBefore: () => this.#readStores() };
    this.#readings = new DrainedReadings(parts, stores, NO_WATCH, () => {
      this.#generators.silence.expectAll();
      this.#given?.goOn();
    });
    this.#outputs = roles.map((role) => outputOfGenerator(role, groupOutputSchema));
    this.#follow(started);
  }

  /** Takes that nobody waits for the generators any more. */
  stop(): void {
    this.#generators.silence.stop();
  }

  loadsOf(target: RoundTarget): CurveRunLoad[] {
    return this.#turns
      .filter((turn) => turn.target === target)
      .map((turn) => ({
        run: turn.run,
        watch: watchOfTarget(target.index, turn.watch),
        failures: [this.#generators.silence.failed, this.#readings.failed],
        output: (mayEnd) => this.#outputOf(turn, mayEnd),
        storeSide: () => storeSideOfTurn(turn),
        done: async () => {
          await this.#readings.done();
          await this.#pending;
        },
        // The other targets may still need the generators.
        leave: () => {},
      }));
  }

  /** Reads all stores before any load. One that cannot be read fails only its own target. */
  async #readStores(): Promise<void> {
    const reading = this.#targets.map(async (target) => {
      try {
        await within(target.store.readBefore(), READ_WITHIN_MS, notReadText);
      } catch (error) {
        const failure = new PartFailed("store", messageOf(error));
        for (const turn of this.#turns) {
          if (turn.target === target) turn.failure ??= failure;
        }
      }
    });
    await Promise.all(reading);
  }

  #follow(started: readonly StartedGenerator[]): void {
    const turnOf = (generator: number, run: number): CurveTurn | undefined =>
      this.#turns.find((turn) => turn.generator === generator && turn.position === run);
    const ownGenerator = started.length > 1 || this.#given !== undefined;
    this.#generators.follow(this.#readings, {
      phase: (phase) => {
        for (const { run } of this.#turns) run.listener.phase(phase);
      },
      second: ({ run = 0, ...second }, generator) =>
        turnOf(ownGenerator ? generator : 0, run)?.run.listener.second(second),
      turn: (generator, event) => this.#given?.ended(generator, event),
      turnPhase: (generator, phase, run) => {
        const turn = turnOf(generator, run);
        this.#pending = this.#pending.then(async () => {
          if (turn) await readAround(turn, phase);
          started[generator]?.part.write?.(READ_LINE);
          this.#generators.silence.expectAll();
        });
      },
    });
    for (const [generator, { part }] of started.entries())
      part.exited.then(() => this.#readings.leave(generator));
    // Runs that need an output learn of its failure. If all have failed before, nobody does.
    for (const outputs of this.#outputs) outputs.catch(() => {});
  }

  async #outputOf(
    { target, generator, position, failure }: CurveTurn,
    mayEnd: MayEnd,
  ): Promise<GeneratorOutput> {
    const outputs = this.#outputs[generator];
    if (!outputs) throw new Error("a run has no generator");
    const output = (await target.supervisor.waitFor(outputs, mayEnd))[position];
    if (failure) throw failure;
    if (!output) throw new PartFailed(GENERATOR, "printed no result of this run");
    if ("failed" in output) throw new PartFailed(loadedRole(target), output.failed);
    if (!this.#given || !output.turns) return output;
    // A generator of one target does not know of the others.
    const group = this.#targets.length;
    return this.#given.withSteadiness(generator, { ...output, turns: { ...output.turns, group } });
  }
}

/**
 * Reads the counters before or after a turn. The CPU time is read last before it, and first after it,
 * so that the readings of the store are not in it.
 */
async function readAround(turn: CurveTurn, phase: TurnPhase): Promise<void> {
  const { store } = turn.target;
  const read = async (): Promise<StoreMoment | undefined> => {
    try {
      return await within(store.readMoment(), READ_WITHIN_MS, notReadText);
    } catch (error) {
      turn.failure ??= new PartFailed("store", messageOf(error));
      return undefined;
    }
  };
  if (phase === TURN_BEGINS) {
    const before = await read();
    if (before) turn.before = before;
    await turn.watch.startTurn();
    return;
  }
  await turn.watch.stop();
  const after = await read();
  if (after) turn.after = after;
}

async function storeSideOfTurn({ target, before, after, failure }: CurveTurn): Promise<StoreSide> {
  if (before && after) return target.store.sideBetween(before, after);
  throw failure ?? new PartFailed("store", "was not read around the turn of this run");
}
