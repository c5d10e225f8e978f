import { AUTO_WARMUP } from "../../contract/configuration.js";
import { within } from "../../contract/deadline.js";
import { messageOf } from "../../contract/errors.js";
import { groupOutputSchema } from "../../contract/result.js";
import { encodeRunSpec, groupSpec, type RunSpec } from "../../contract/run-spec.js";
import type { TurnsSpec } from "../../contract/turns.js";
import type { Part, PartAllocation, RunningPart, Runtime } from "../../runtimes/types.js";
import type { Lease } from "../ownership/lease.js";
import { CounterWatch } from "./counters.js";
import { DrainedReadings } from "./drained-readings.js";
import { Generators, outputOfGenerator } from "./generators.js";
import { GENERATOR, layoutOf, type RunSettings } from "./layout.js";
import { PartFailed, type RunningRole } from "./part-supervisor.js";
import {
  executeRun,
  type RawRun,
  type ReadyRun,
  type RunListener,
  type RunLoad,
  type RunWatch,
} from "./run.js";

/** One store that hangs must not use up the time of the others' reading. */
const READ_WITHIN_MS = 8_000;
const unread = (): string => `the store could not be read within ${READ_WITHIN_MS / 1000} s`;

/** A run of a round. */
export interface RoundMember {
  request: Omit<RunSettings, "runNonce">;
  listener: RunListener;
}

/** How a run of a round ended. */
export type RoundEnd = { raw: RawRun } | { error: unknown };

/**
 * Makes the runs of a round: all their stores, services and servers are up at once, and one generator gives them the load by
 * turns. A run that fails alone leaves the others.
 * @param log gets what the generator prints
 * @returns how each ended, in their order
 */
export async function executeRound(
  members: readonly RoundMember[],
  turns: TurnsSpec,
  runtime: Runtime,
  lease: Lease,
  log: (line: string) => void,
): Promise<RoundEnd[]> {
  const round = new Round(members, turns, (part) => lease.start(runtime, part), log);
  try {
    return await Promise.all(
      members.map(async ({ request, listener }, index): Promise<RoundEnd> => {
        try {
          const raw = await executeRun(request, runtime, lease, listener, {
            run: `run-${index + 1}`,
            startLoad: (ready) => round.join(index, ready),
          });
          return { raw };
        } catch (error) {
          round.drop(index);
          return { error };
        } finally {
          round.finished(index);
        }
      }),
    );
  } finally {
    await lease.release(round.parts);
  }
}

interface Joined extends ReadyRun {
  index: number;
  resolve(load: RunLoad): void;
  reject(error: unknown): void;
}

/** The generator that a round's runs share. It starts when all runs are ready, but for those that failed before. */
class Round {
  readonly parts: RunningPart[] = [];
  readonly #members: readonly RoundMember[];
  readonly #turns: TurnsSpec;
  readonly #start: (part: Part) => Promise<RunningPart>;
  readonly #log: (line: string) => void;
  readonly #joined = new Map<number, Joined>();
  readonly #dropped = new Set<number>();
  #hasBegun = false;

  constructor(
    members: readonly RoundMember[],
    turns: TurnsSpec,
    start: (part: Part) => Promise<RunningPart>,
    log: (line: string) => void,
  ) {
    this.#members = members;
    this.#turns = turns;
    this.#start = start;
    this.#log = log;
  }

  join(index: number, ready: ReadyRun): Promise<RunLoad> {
    return new Promise((resolve, reject) => {
      this.#joined.set(index, { ...ready, index, resolve, reject });
      this.#beginWhenReady();
    });
  }

  /** A run failed. */
  drop(index: number): void {
    this.#dropped.add(index);
    this.#beginWhenReady();
  }

  #finished = new Set<number>();
  #whenFinished: () => void = () => {};

  /** A run needs nothing more. */
  finished(index: number): void {
    this.#finished.add(index);
    if (this.#finished.size === this.#members.length) this.#whenFinished();
  }

  #beginWhenReady(): void {
    const isReady = this.#members.every((_, index) => this.#joined.has(index) || this.#dropped.has(index));
    if (this.#hasBegun || !isReady) return;
    this.#hasBegun = true;
    const runs = [...this.#joined.values()].toSorted((a, b) => a.index - b.index);
    if (runs.length === 0) return;
    this.#begin(runs).catch((error) => {
      for (const { reject } of runs) reject(error);
    });
  }

  async #begin(runs: readonly Joined[]): Promise<void> {
    const roles = runs.map(({ settings }) => {
      const role = layoutOf(settings).find(({ id }) => id === GENERATOR);
      if (!role?.runSpec) throw new Error("the layout has no load generator");
      return role;
    });
    const [first] = runs;
    const [role] = roles;
    if (!first || !role) throw new Error("a round has no runs");
    const specs = (allocation: PartAllocation): RunSpec[] =>
      runs.flatMap(({ supervisor }, index) => roles[index]?.runSpec?.(supervisor.places, allocation) ?? []);
    const part = await this.#start({
      ...role.part(first.supervisor.places),
      kind: role.kind,
      environment: (allocation) => encodeRunSpec(groupSpec({ runs: specs(allocation), turns: this.#turns })),
    });
    this.parts.push(part);
    const generator: RunningRole = { id: GENERATOR, kind: role.kind, part };
    part.onLine(this.#log);
    const { warmupS } = first.settings;
    const warmup_s = runs.length * (warmupS === "auto" ? AUTO_WARMUP.max_s : warmupS);
    const generators = new Generators([generator], warmup_s);
    const watch = new CounterWatch([
      ...runs.flatMap(({ index, store, servers }) =>
        [...store.nodes, ...servers].map((each) => ({ ...each, id: idIn(index, each.id) })),
      ),
      generator,
    ]);
    const failedReadings = new Map<number, PartFailed>();
    const readings = new DrainedReadings(
      [part],
      {
        // A store that cannot be read fails its run alone.
        readBefore: async () => {
          await Promise.all(
            runs.map(({ index, store }) =>
              within(store.readBefore(), READ_WITHIN_MS, unread).catch(
                (error) => void failedReadings.set(index, new PartFailed("store", messageOf(error))),
              ),
            ),
          );
        },
      },
      { start: () => watch.startByTurns(), stop: () => watch.stop() },
      () => generators.goOn(),
    );
    generators.follow(readings, {
      phase: (phase) => {
        for (const { listener } of runs) listener.phase(phase);
      },
      second: ({ run = 0, ...second }) => runs[run]?.listener.second(second),
    });
    part.exited.then(() => watch.stop());
    const outputs = outputOfGenerator(generator, groupOutputSchema);
    outputs.catch(() => {});
    for (const [position, run] of runs.entries()) {
      run.resolve({
        watch: watchOf(run.index, watch),
        failures: [generators.failed, readings.failed],
        output: async (mayEnd) => {
          const output = (await run.supervisor.waitFor(outputs, mayEnd))[position];
          const failed = failedReadings.get(run.index);
          if (failed) throw failed;
          if (!output) throw new PartFailed(GENERATOR, "printed no result of this run");
          const [server, ...others] = run.servers;
          if ("failed" in output)
            throw new PartFailed(server && others.length === 0 ? server.id : "server", output.failed);
          return output;
        },
        done: () => readings.done(),
        // The others may need it still.
        leave: () => {},
      });
    }
    this.#whenFinished = () => generators.leave();
  }
}

const idIn = (index: number, id: string): string => `${index}/${id}`;

/** The counters of one run among those of its group; how busy the machine was is a figure of the group. */
function watchOf(index: number, watch: CounterWatch): RunWatch {
  return {
    get failures() {
      return watch.failures;
    },
    async resources(source, loaded_s, requests) {
      const all = Object.entries(await watch.resources(source, loaded_s, requests));
      const own = idIn(index, "");
      return Object.fromEntries(
        all.flatMap(([id, resources]) => {
          if (id === GENERATOR) return [[id, resources]];
          return id.startsWith(own) ? [[id.slice(own.length), resources]] : [];
        }),
      );
    },
    hostLoad: () => watch.hostLoad(watch.elapsedS, {}),
    machineLoads: async () => ({}),
  };
}
