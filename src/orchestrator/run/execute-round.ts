import { AUTO_WARMUP, type Configuration } from "../../contract/configuration.js";
import { isClientLayer } from "../../contract/layers.js";
import {
  type GeneratorOutput,
  type GroupOutput,
  groupOutputSchema,
} from "../../contract/result.js";
import { encodeRunSpec, groupSpec, type RunSpec } from "../../contract/run-spec.js";
import {
  LAST_TURN_LINE,
  type TurnLengths,
  type TurnsSpec,
  turnLine,
} from "../../contract/turns.js";
import { halvesOf } from "../../judge/steadiness.js";
import { within } from "../../kit/deadline.js";
import { messageOf } from "../../kit/errors.js";
import { sum } from "../../kit/numbers.js";
import type { Part, PartAllocation, RunningPart, Runtime } from "../../runtimes/runtime-types.js";
import {
  drawnCycles,
  lengthsFor,
  SEPARATE_SLICE_MS,
  secondsOfSlices,
  type TurnOrder,
} from "../../traffic/turn-order.js";
import type { Lease } from "../ownership/lease.js";
import { CounterWatch } from "./counter-watch.js";
import { DrainedReadings } from "./drained-readings.js";
import {
  executeRun,
  type RawRun,
  type ReadyRun,
  type RunListener,
  type RunLoad,
  type RunWatch,
} from "./execute-run.js";
import { GENERATOR, layoutOf } from "./layout.js";
import { PartFailed } from "./part-supervisor.js";
import { Generators, outputOfGenerator, parseProgress, type TurnEvent } from "./run-generators.js";
import type { RequestedRun, RunSettings } from "./run-settings.js";

/**
 * A turn that has not ended by so long after its slice never does. The others are silent meanwhile,
 * and not given up yet.
 */
const HANGS_MS = 30_000;

/**
 * Gives turns to generators that have one target each, one after another, and never two at a time.
 */
export class GivenTurns {
  readonly #generators: readonly Pick<RunningPart, "write" | "exited" | "stop">[];
  readonly #gone = new Set<number>();
  /** Resolves the turn that is under way. */
  #ended: (turn: TurnEvent | undefined) => void = () => {};
  #taking: number | undefined;

  constructor(generators: readonly Pick<RunningPart, "write" | "exited" | "stop">[]) {
    this.#generators = generators;
    for (const [index, { exited }] of generators.entries()) exited.then(() => this.#leave(index));
  }

  ended(generator: number, turn: TurnEvent): void {
    if (generator === this.#taking) this.#ended(turn);
  }

  /**
   * @returns what each generator answered in each of its turns; one that ends, or is stopped
   *   because it hangs, gets no further turn
   */
  async give(order: TurnOrder): Promise<TurnEvent[][]> {
    const taken: TurnEvent[][] = this.#generators.map(() => []);
    for (const cycle of drawnCycles([...this.#generators.keys()], order))
      for (const { target, ...turn } of cycle) {
        const answers = await this.#turn(target, turn);
        if (answers) taken[target]?.push(answers);
      }
    for (const [index, generator] of this.#generators.entries())
      if (!this.#gone.has(index)) generator.write?.(LAST_TURN_LINE);
    return taken;
  }

  async #turn(generator: number, turn: TurnLengths): Promise<TurnEvent | undefined> {
    if (this.#gone.has(generator)) return undefined;
    const part = this.#generators[generator];
    const ended = new Promise<TurnEvent | undefined>((resolve) => {
      this.#taking = generator;
      this.#ended = resolve;
    });
    part?.write?.(turnLine(turn));
    try {
      return await within(ended, turn.lead_in_ms + turn.slice_ms + HANGS_MS, () => "it hangs");
    } catch {
      part?.stop().catch(() => {});
      this.#leave(generator);
      return undefined;
    }
  }

  #leave(generator: number): void {
    this.#gone.add(generator);
    if (generator === this.#taking) this.#ended(undefined);
  }
}

/** One store that hangs must not use up the time of the others' reading. */
const READ_WITHIN_MS = 8_000;
const unread = (): string => `the store could not be read within ${READ_WITHIN_MS / 1000} s`;

export type RoundMember = { request: RequestedRun; listener: RunListener };

export type RoundEnd = { raw: RawRun } | { error: unknown };

/**
 * All stores, services and servers are up at once; one generator, or one of each at the limiter
 * layer, loads them by turns. A run that fails alone leaves the others. @param show gets what the
 * generators print, for the screen
 */
export async function executeRound(
  members: readonly RoundMember[],
  turns: TurnsSpec,
  runtime: Runtime,
  lease: Lease,
  show: (role: string, line: string) => void,
): Promise<RoundEnd[]> {
  const round = new Round(members, turns, (part) => lease.start(runtime, part), show);
  try {
    return await Promise.all(
      members.map(async ({ request, listener }, index): Promise<RoundEnd> => {
        try {
          const raw = await executeRun(request, runtime, lease, listener, {
            run: runName(index),
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

/**
 * The generators of a round. They start when all runs are ready, but for those that failed before.
 */
class Round {
  readonly parts: RunningPart[] = [];
  readonly #members: readonly RoundMember[];
  readonly #turns: TurnsSpec;
  readonly #start: (part: Part) => Promise<RunningPart>;
  readonly #show: (role: string, line: string) => void;
  readonly #joined = new Map<number, Joined>();
  readonly #dropped = new Set<number>();
  readonly #own = new Map<number, RunningPart>();
  #hasBegun = false;

  constructor(
    members: readonly RoundMember[],
    turns: TurnsSpec,
    start: (part: Part) => Promise<RunningPart>,
    show: (role: string, line: string) => void,
  ) {
    this.#members = members;
    this.#turns = turns;
    this.#start = start;
    this.#show = show;
  }

  join(index: number, ready: ReadyRun): Promise<RunLoad> {
    return new Promise((resolve, reject) => {
      this.#joined.set(index, { ...ready, index, resolve, reject });
      this.#beginWhenReady();
    });
  }

  /**
   * A run failed. A generator of its own would load what is gone in the turns that it still has.
   */
  drop(index: number): void {
    this.#dropped.add(index);
    this.#own
      .get(index)
      ?.stop()
      .catch(() => {});
    this.#beginWhenReady();
  }

  #finished = new Set<number>();
  #whenFinished: () => void = () => {};

  finished(index: number): void {
    this.#finished.add(index);
    if (this.#finished.size === this.#members.length) this.#whenFinished();
  }

  #beginWhenReady(): void {
    const isReady = this.#members.every(
      (_, index) => this.#joined.has(index) || this.#dropped.has(index),
    );
    if (this.#hasBegun || !isReady) return;
    this.#hasBegun = true;
    const runs = [...this.#joined.values()].toSorted((a, b) => a.index - b.index);
    if (runs.length === 0) return;
    this.#begin(runs).catch((error) => {
      for (const { reject } of runs) reject(error);
    });
  }

  async #begin(joined: readonly Joined[]): Promise<void> {
    const [first] = joined;
    if (!first) return;
    const { configuration, warmupS } = first.settings;
    // At the limiter layer the worker is the client, and each target has a generator of its own.
    const hasOwn = isClientLayer(configuration.layer);
    const loads = await this.#startGenerators(
      hasOwn ? joined.map((run) => [run]) : [joined],
      hasOwn,
    );
    const runs = loads.flatMap((load) => load.runs);
    const parts = loads.map(({ part }) => part);
    if (parts.length === 0) return;
    const warmup_s = warmupS === "auto" ? AUTO_WARMUP.max_s : warmupS;
    const roles = parts.map((part) => ({ id: GENERATOR, kind: "generator" as const, part }));
    const generators = new Generators(roles, runs.length * warmup_s);
    const watch = new CounterWatch([
      ...runs.flatMap(({ index, store, servers }) =>
        [...store.nodes, ...servers].map((each) => ({ ...each, id: idIn(index, each.id) })),
      ),
      ...roles.map((role, at) =>
        hasOwn ? { ...role, id: idIn(runs[at]?.index ?? at, GENERATOR) } : role,
      ),
    ]);
    const failedReadings = new Map<number, PartFailed>();
    const given = hasOwn ? new TurnsOfRound(parts, this.#turns, configuration, warmupS) : undefined;
    const readings = new DrainedReadings(
      parts,
      {
        // A store that cannot be read fails its run alone.
        readBefore: async () => {
          await Promise.all(
            runs.map(({ index, store }) =>
              within(store.readBefore(), READ_WITHIN_MS, unread).catch(
                (error) =>
                  void failedReadings.set(index, new PartFailed("store", messageOf(error))),
              ),
            ),
          );
        },
      },
      {
        start: () => watch.startByTurns(),
        readBetweenTurns: () => watch.readBetweenTurns(),
        stop: () => watch.stop(),
      },
      () => {
        generators.silence.expectAll();
        given?.goOn();
      },
    );
    generators.follow(readings, {
      phase: (phase) => {
        for (const { listener } of runs) listener.phase(phase);
      },
      second: ({ run = 0, ...second }, generator) =>
        runs[hasOwn ? generator : run]?.listener.second(second),
      turn: (generator, turn) => given?.ended(generator, turn),
    });
    for (const [at, { exited }] of parts.entries()) exited.then(() => readings.leave(at));
    Promise.all(parts.map(({ exited }) => exited)).then(() => watch.stop());
    const outputsOf = roles.map((role) => outputOfGenerator(role, groupOutputSchema));
    for (const outputs of outputsOf) outputs.catch(() => {});
    for (const [at, { runs: own }] of loads.entries()) {
      const outputs = outputsOf[at] as Promise<GroupOutput>;
      for (const [position, run] of own.entries()) {
        run.resolve({
          watch: watchOf(run.index, watch),
          failures: [generators.silence.failed, readings.failed],
          output: async (mayEnd) => {
            const output = (await run.supervisor.waitFor(outputs, mayEnd))[position];
            const failed = failedReadings.get(run.index);
            if (failed) throw failed;
            if (!output) throw new PartFailed(GENERATOR, "printed no result of this run");
            const [server, ...others] = run.servers;
            if ("failed" in output)
              throw new PartFailed(
                server && others.length === 0 ? server.id : "server",
                output.failed,
              );
            if (!given) return output;
            const ended = await run.supervisor.waitFor(Promise.allSettled(outputsOf), mayEnd);
            const group = ended.flatMap((end) => (end.status === "fulfilled" ? end.value : []));
            return withLongestGap(given.complete(runs.indexOf(run), output), group);
          },
          done: () => readings.done(),
          // The others may need it still.
          leave: () => {},
        });
      }
    }
    this.#whenFinished = () => generators.silence.stop();
  }

  async #startGenerators(
    groups: readonly (readonly Joined[])[],
    given: boolean,
  ): Promise<{ part: RunningPart; runs: readonly Joined[] }[]> {
    const started = await Promise.all(
      groups.map(async (runs) => {
        try {
          const part = await this.#startGenerator(runs, given);
          for (const { index } of given ? runs : []) this.#own.set(index, part);
          return [{ part, runs }];
        } catch (error) {
          for (const { reject } of runs) reject(error);
          return [];
        }
      }),
    );
    return started.flat();
  }

  async #startGenerator(runs: readonly Joined[], given: boolean): Promise<RunningPart> {
    const roles = runs.map(({ settings }) => {
      const role = layoutOf(settings).find(({ id }) => id === GENERATOR);
      if (!role?.runSpec) throw new Error("the layout has no load generator");
      return role;
    });
    const [first] = runs;
    const [role] = roles;
    if (!first || !role) throw new Error("a round has no runs");
    const specs = (allocation: PartAllocation): RunSpec[] =>
      runs.flatMap(
        ({ supervisor }, index) => roles[index]?.runSpec?.(supervisor.places, allocation) ?? [],
      );
    const turns: TurnsSpec = { ...this.#turns, ...(given ? { given } : {}) };
    const part = await this.#start({
      ...role.part(first.supervisor.places),
      kind: role.kind,
      ...(given ? { run: runName(first.index) } : {}),
      environment: (allocation) => encodeRunSpec(groupSpec({ runs: specs(allocation), turns })),
    });
    this.parts.push(part);
    const id = given ? `${runName(first.index)} ${GENERATOR}` : GENERATOR;
    part.onLine((line) => {
      this.#show(id, line);
      for (const { listener } of runsOfLine(line, runs)) listener.record(GENERATOR, line);
    });
    return part;
  }
}

/** The runs that a line of their generator is about: the one that it names, or all of them. */
export function runsOfLine<Run>(line: string, runs: readonly Run[]): readonly Run[] {
  const progress = parseProgress(line);
  if (progress?.event !== "second" || progress.run === undefined) return runs;
  return runs.slice(progress.run, progress.run + 1);
}

/**
 * The turns of a round whose targets have generators of their own, and what only all of them
 * together tell.
 */
class TurnsOfRound extends GivenTurns {
  readonly #spec: TurnsSpec;
  readonly #planned_s: number;
  readonly #warmup_s: number;
  #lengths: TurnLengths;
  #measured: readonly (readonly TurnEvent[])[] = [];
  /** How often all have gone on from a drained moment. */
  #moments = 0;

  constructor(
    parts: readonly RunningPart[],
    spec: TurnsSpec,
    { extent }: Configuration,
    warmupS: RunSettings["warmupS"],
  ) {
    super(parts);
    this.#spec = spec;
    this.#planned_s = "duration_s" in extent ? extent.duration_s : 0;
    this.#warmup_s = warmupS === "auto" ? AUTO_WARMUP.min_by_turns_s : warmupS;
    this.#lengths = spec.lengths ?? lengthsFor(0, SEPARATE_SLICE_MS);
  }

  /** After the readings before the warm-up, and those before the window, the turns begin. */
  async goOn(): Promise<void> {
    const { seed, lengths } = this.#spec;
    this.#moments++;
    if (this.#moments === 1) {
      const warm = await this.give({ lengths: this.#lengths, seconds: this.#warmup_s, seed });
      this.#lengths =
        lengths ?? lengthsFor(Math.max(0, ...warm.map(meanLatencyMs)), SEPARATE_SLICE_MS);
    } else if (this.#moments === 2) {
      const seconds = secondsOfSlices(this.#planned_s, this.#lengths);
      this.#measured = await this.give({ lengths: this.#lengths, seconds, seed: ~seed >>> 0 });
    }
  }

  /** The result of a generator, with what it does not know. */
  complete(generator: number, output: GeneratorOutput): GeneratorOutput {
    if (!output.turns) return output;
    const halves = halvesOf(this.#measured.map((turns) => turns.map(({ answers }) => answers)))[
      generator
    ];
    const turns = { ...output.turns, ...this.#lengths, group: this.#measured.length };
    return { ...output, turns: { ...turns, ...(halves ? { halves } : {}) } };
  }
}

/**
 * What one generator of a group stood still, all others waited for: each has the longest gap of
 * them all (M36).
 */
export function withLongestGap(output: GeneratorOutput, group: GroupOutput): GeneratorOutput {
  const generators = group.flatMap((each) => ("failed" in each ? [] : each.generators));
  const gaps_ms = generators.flatMap(({ longest_gap_ms }) => longest_gap_ms ?? []);
  if (gaps_ms.length === 0) return output;
  const longest_gap_ms = Math.max(...gaps_ms);
  return { ...output, generators: output.generators.map((part) => ({ ...part, longest_gap_ms })) };
}

function meanLatencyMs(turns: readonly TurnEvent[]): number {
  const answers = sum(turns.map((turn) => turn.answers + turn.followed));
  return answers > 0 ? sum(turns.map((turn) => turn.latency_sum_us)) / answers / 1000 : 0;
}

const runName = (index: number): string => `run-${index + 1}`;

const idIn = (index: number, id: string): string => `${index}/${id}`;

/**
 * The counters of one run among those of its group; how busy the machine was is a figure of the
 * group.
 */
function watchOf(index: number, watch: CounterWatch): RunWatch {
  return {
    failures: watch.failures,
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
    ownThrottling: () => watch.ownThrottling(),
    machineLoads: async () => ({}),
  };
}
