import { isClientLayer } from "../../../contract/layers.js";
import { encodeRunSpec, groupSpec, type RunSpec } from "../../../contract/run-spec.js";
import type { TurnsSpec } from "../../../contract/turns.js";
import { definedOnly } from "../../../kit/defined-only.js";
import type {
  Part,
  PartAllocation,
  RunningPart,
  Runtime,
} from "../../../runtimes/runtime-types.js";
import type { Lease } from "../../ownership/lease.js";
import {
  executeRun,
  type RawRun,
  type ReadyRun,
  type RunListener,
  type RunLoad,
} from "../execute-run.js";
import { GENERATOR, layoutOf } from "../layout.js";
import { parseProgress } from "../run-generators.js";
import type { RequestedRun } from "../run-settings.js";
import { RoundLoad, type RoundRun, type StartedGenerator } from "./round-load.js";

export type RoundMember = { request: RequestedRun; listener: RunListener };

export type RoundEnd = { raw: RawRun } | { error: unknown };

/**
 * Makes the runs of a round at the same time. All stores, services and servers are up at once, and
 * one generator, or one for each target at the limiter layer, loads them by turns. A run that fails
 * alone leaves the others.
 * @param showLine shows a line that a generator prints on the screen
 */
export async function executeRound(
  members: readonly RoundMember[],
  turns: TurnsSpec,
  runtime: Runtime,
  lease: Lease,
  showLine: (role: string, line: string) => void,
): Promise<RoundEnd[]> {
  const round = new Round(members, turns, (part) => lease.start(runtime, part), showLine);
  const endOf = async ({ request, listener }: RoundMember, index: number): Promise<RoundEnd> => {
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
  };
  try {
    return await Promise.all(members.map(endOf));
  } finally {
    await lease.release(round.parts);
  }
}

interface JoinedRun extends RoundRun {
  resolve(load: RunLoad): void;
  reject(error: unknown): void;
}

/** The generators of a round, which start when all runs are ready or have failed. */
class Round {
  readonly parts: RunningPart[] = [];
  readonly #members: readonly RoundMember[];
  readonly #turns: TurnsSpec;
  readonly #start: (part: Part) => Promise<RunningPart>;
  readonly #showLine: (role: string, line: string) => void;
  readonly #joined = new Map<number, JoinedRun>();
  readonly #dropped = new Set<number>();
  readonly #finished = new Set<number>();
  /** The generators that load only one target, by the index of its run. */
  readonly #ownGenerators = new Map<number, RunningPart>();
  #load: RoundLoad | undefined;
  #hasBegun = false;

  constructor(
    members: readonly RoundMember[],
    turns: TurnsSpec,
    start: (part: Part) => Promise<RunningPart>,
    showLine: (role: string, line: string) => void,
  ) {
    this.#members = members;
    this.#turns = turns;
    this.#start = start;
    this.#showLine = showLine;
  }

  join(index: number, ready: ReadyRun): Promise<RunLoad> {
    return new Promise((resolve, reject) => {
      this.#joined.set(index, { ...ready, index, resolve, reject });
      this.#beginWhenReady();
    });
  }

  /**
   * Takes that a run failed, and stops its own generator, which would load a target that is gone in
   * the turns that it still has.
   */
  drop(index: number): void {
    this.#dropped.add(index);
    const generator = this.#ownGenerators.get(index);
    generator?.stop().catch(() => {});
    this.#beginWhenReady();
  }

  finished(index: number): void {
    this.#finished.add(index);
    if (this.#finished.size === this.#members.length) this.#load?.stop();
  }

  #beginWhenReady(): void {
    const isReady = this.#members.every(
      (_, index) => this.#joined.has(index) || this.#dropped.has(index),
    );
    if (this.#hasBegun || !isReady) return;
    this.#hasBegun = true;
    const runs = [...this.#joined.values()].toSorted((a, b) => a.index - b.index);
    this.#begin(runs).catch((error) => {
      for (const { reject } of runs) reject(error);
    });
  }

  async #begin(joined: readonly JoinedRun[]): Promise<void> {
    const [first] = joined;
    if (!first) return;

    // At the limiter layer the worker is the client, and each target has its own generator.
    const hasOwnGenerators = isClientLayer(first.settings.configuration.layer);
    const groups = hasOwnGenerators ? joined.map((run) => [run]) : [joined];
    const started = await this.#startGenerators(groups, hasOwnGenerators);
    if (started.length === 0) return;

    const load = new RoundLoad(started, this.#turns, hasOwnGenerators);
    this.#load = load;
    for (const { runs } of started) {
      for (const run of runs) run.resolve(load.loadOf(run));
    }
  }

  /** Starts a generator for each group of runs. One that does not start fails only its own runs. */
  async #startGenerators(
    groups: readonly (readonly JoinedRun[])[],
    hasOwnGenerators: boolean,
  ): Promise<StartedGenerator<JoinedRun>[]> {
    const starting = groups.map(async (runs): Promise<StartedGenerator<JoinedRun>[]> => {
      try {
        const part = await this.#startGenerator(runs, hasOwnGenerators);
        if (hasOwnGenerators) {
          for (const { index } of runs) this.#ownGenerators.set(index, part);
        }
        return [{ part, runs }];
      } catch (error) {
        for (const { reject } of runs) reject(error);
        return [];
      }
    });
    return (await Promise.all(starting)).flat();
  }

  async #startGenerator(
    runs: readonly JoinedRun[],
    hasOwnGenerators: boolean,
  ): Promise<RunningPart> {
    const roles = runs.map(generatorRoleOf);
    const [first] = runs;
    const [role] = roles;
    if (!first || !role) throw new Error("a round has no runs");

    const specsOf = (allocation: PartAllocation): RunSpec[] =>
      runs.flatMap(
        ({ supervisor }, index) => roles[index]?.runSpec?.(supervisor.places, allocation) ?? [],
      );
    const run = hasOwnGenerators ? runName(first.index) : undefined;
    const turns: TurnsSpec = { ...this.#turns };
    if (hasOwnGenerators) turns.given = true;
    const part = await this.#start({
      ...role.part(first.supervisor.places),
      kind: role.kind,
      ...definedOnly({ run }),
      environment: (allocation) => encodeRunSpec(groupSpec({ runs: specsOf(allocation), turns })),
    });
    this.parts.push(part);

    const id = run === undefined ? GENERATOR : `${run} ${GENERATOR}`;
    part.onLine((line) => {
      this.#showLine(id, line);
      for (const { listener } of runsOfLine(line, runs)) listener.record(GENERATOR, line);
    });
    return part;
  }
}

function generatorRoleOf({ settings }: JoinedRun) {
  const role = layoutOf(settings).find(({ id }) => id === GENERATOR);
  if (!role?.runSpec) throw new Error("the layout has no load generator");
  return role;
}

/** The runs that a line of their generator is about, which may name one of them. */
export function runsOfLine<Run>(line: string, runs: readonly Run[]): readonly Run[] {
  const progress = parseProgress(line);
  if (progress?.event !== "second" || progress.run === undefined) return runs;
  return runs.slice(progress.run, progress.run + 1);
}

const runName = (index: number): string => `run-${index + 1}`;
