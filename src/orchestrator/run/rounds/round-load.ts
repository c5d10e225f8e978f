import { longestWarmupS } from "../../../contract/configuration.js";
import {
  type GeneratorOutput,
  type GroupOutput,
  groupOutputSchema,
} from "../../../contract/generator-output.js";
import type { RoleResources } from "../../../contract/role-resources.js";
import type { TurnsSpec } from "../../../contract/turns.js";
import { within } from "../../../kit/deadline.js";
import { messageOf } from "../../../kit/errors.js";
import type { RunningPart } from "../../../runtimes/runtime-types.js";
import { CounterWatch } from "../counter-watch.js";
import { DrainedReadings } from "../drained-readings.js";
import type { ReadyRun, RunLoad, RunWatch } from "../execute-run.js";
import { GENERATOR } from "../layout.js";
import { PartFailed, type RunningRole } from "../part-supervisor.js";
import { Generators, outputOfGenerator } from "../run-generators.js";
import { TurnsOfRound, withLongestGap } from "./turns-of-round.js";

/** A run whose parts are up, with its place among the runs of the round, from 0. */
export interface RoundRun extends ReadyRun {
  index: number;
}

/** A generator of a round, with the runs whose targets it loads. */
export interface StartedGenerator<Run extends RoundRun = RoundRun> {
  part: RunningPart;
  runs: readonly Run[];
}

/** The time for the reading of a store. One that hangs must not use up the time of the others. */
const READ_WITHIN_MS = 8_000;

const notReadText = (): string => `the store could not be read within ${READ_WITHIN_MS / 1000} s`;

type MayEnd = (role: RunningRole) => boolean;

/** The load of a round, whose generators work together, and from which each run gets its share. */
export class RoundLoad {
  readonly #started: readonly StartedGenerator[];
  readonly #runs: readonly RoundRun[];
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
    const runs = started.flatMap((generator) => generator.runs);
    const [first] = runs;
    if (!first) throw new Error("a round has no runs");
    const { configuration, warmupS } = first.settings;
    const parts = started.map(({ part }) => part);
    const roles = parts.map((part) => ({ id: GENERATOR, kind: "generator" as const, part }));

    this.#started = started;
    this.#runs = runs;
    this.#turns = hasOwnGenerators
      ? new TurnsOfRound(parts, turns, configuration, warmupS)
      : undefined;
    this.#generators = new Generators(
      roles,
      runs.length * longestWarmupS(warmupS, configuration.load.model),
    );
    this.#watch = new CounterWatch([
      ...runs.flatMap(rolesBehind),
      ...roles.map((role, position) => (hasOwnGenerators ? ofRun(runs[position], role) : role)),
    ]);
    this.#readings = this.#newReadings(parts);
    this.#outputs = roles.map((role) => outputOfGenerator(role, groupOutputSchema));
    this.#follow(parts);
  }

  /** Takes that nobody waits for the generators any more. */
  stop(): void {
    this.#generators.silence.stop();
  }

  loadOf(run: RoundRun): RunLoad {
    return {
      watch: watchOf(run.index, this.#watch),
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

  async #outputOf(run: RoundRun, mayEnd: MayEnd): Promise<GeneratorOutput> {
    const generator = this.#started.findIndex(({ runs }) => runs.includes(run));
    const position = this.#started[generator]?.runs.indexOf(run) ?? 0;
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

/** The role that a failed load is about, which is the only server or all of them. */
function loadedRole({ servers }: RoundRun): string {
  const [server, ...others] = servers;
  return server && others.length === 0 ? server.id : "server";
}

const rolesBehind = (run: RoundRun): RunningRole[] =>
  [...run.store.nodes, ...run.servers].map((role) => ofRun(run, role));

/** A role with an id that tells it from the roles of other runs, which have the same ids. */
function ofRun(run: RoundRun | undefined, role: RunningRole): RunningRole {
  return run ? { ...role, id: idIn(run.index, role.id) } : role;
}

const idIn = (index: number, id: string): string => `${index}/${id}`;

/** A generator of several targets has no CPU time in the long turns of one of them. */
const withoutLongTurns = ({ long_turns_cpu_us: _, ...resources }: RoleResources): RoleResources =>
  resources;

/** The watch of one run of a group. The load of the machine is a figure of the whole group. */
function watchOf(index: number, watch: CounterWatch): RunWatch {
  return {
    failures: watch.failures,
    async resources(source, loaded_s, requests, in_long_turns_s) {
      const groupResources = await watch.resources(source, loaded_s, requests, in_long_turns_s);
      const prefix = idIn(index, "");
      const runResources = Object.entries(groupResources).flatMap(([id, resources]) => {
        if (id === GENERATOR) return [[id, withoutLongTurns(resources)] as const];
        return id.startsWith(prefix) ? [[id.slice(prefix.length), resources] as const] : [];
      });
      return Object.fromEntries(runResources);
    },
    hostLoad: () => watch.hostLoad(watch.elapsedS, {}),
    ownThrottling: () => watch.ownThrottling(),
    machineLoads: async () => ({}),
  };
}
