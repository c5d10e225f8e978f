import { isClientLayer } from "../../../contract/layers.js";
import { encodeRunSpec, groupSpec, type RunSpec } from "../../../contract/run-spec.js";
import type { TurnsSpec } from "../../../contract/turns.js";
import { definedOnly } from "../../../kit/defined-only.js";
import { grouped } from "../../../kit/grouped.js";
import type {
  Part,
  PartAllocation,
  RunningPart,
  Runtime,
} from "../../../runtimes/runtime-types.js";
import type { Lease } from "../../ownership/lease.js";
import { curveTargetKey } from "../../plan/curve-groups.js";
import {
  type Completed,
  measure,
  type ReadyRun,
  type RunListener,
  withOpenTarget,
} from "../execute-run.js";
import { GENERATOR, layoutOf } from "../layout.js";
import { parseProgress } from "../run-generators.js";
import { CurveLoad } from "./curve-load.js";
import { measureCurve } from "./measure-curve.js";
import { RoundLoad } from "./round-load.js";
import {
  type RoundEnd,
  type RoundMember,
  type RoundTarget,
  type RunOfTarget,
  runsOfTargets,
  type StartedGenerator,
} from "./round-types.js";

/**
 * Makes the runs of a round at the same time. All stores, services and servers are up at once, and
 * one generator, or one for each target at the limiter layer, loads them by turns. A run that fails
 * alone leaves the others. In a load curve the runs of a target share its parts.
 * @param showLine shows a line that a generator prints on the screen
 */
export async function executeRound(
  members: readonly RoundMember[],
  turns: TurnsSpec,
  runtime: Runtime,
  lease: Lease,
  showLine: (role: string, line: string) => void,
): Promise<RoundEnd[]> {
  const indexed = members.map((member, index) => ({ ...member, index }));
  const targets = turns.curve ? grouped(indexed, curveKeyOf) : indexed.map((member) => [member]);
  const round = new Round(targets, turns, (part) => lease.start(runtime, part), showLine);
  const ends: RoundEnd[] = [];
  const measureTarget = async (runs: readonly IndexedMember[], target: number): Promise<void> => {
    const endsOfRuns = await endsOf(round, runs, target, runtime, lease);
    for (const [place, { index }] of runs.entries()) {
      const end = endsOfRuns[place];
      if (end) ends[index] = end;
    }
  };
  try {
    await Promise.all(targets.map(measureTarget));
    return ends;
  } finally {
    await lease.release(round.parts);
  }
}

type IndexedMember = RoundMember & { index: number };

const curveKeyOf = ({ request }: RoundMember): string => curveTargetKey(request.configuration);

/** The ends of the runs of one target, in their order. */
async function endsOf(
  round: Round,
  runs: readonly RoundMember[],
  target: number,
  runtime: Runtime,
  lease: Lease,
): Promise<RoundEnd[]> {
  const [first] = runs;
  if (!first) return [];
  const listener = listenerOf(runs.map((run) => run.listener));
  const options = { machines: undefined, run: runName(target) };
  try {
    return await withOpenTarget(
      first.request,
      runtime,
      lease,
      listener,
      options,
      async (ready, complete) => {
        const measure = await round.join(target, ready);
        return measure(complete, runtime.counterSource);
      },
    );
  } catch (error) {
    round.drop(target);
    return runs.map(() => ({ error }));
  } finally {
    round.finished(target);
  }
}

/** The listener of parts that serve several runs. A line is in the log of each, and shown once. */
function listenerOf(listeners: readonly RunListener[]): RunListener {
  const [first, ...others] = listeners;
  if (!first) throw new Error("a target has no runs");
  return {
    ...first,
    log(role, line) {
      first.log(role, line);
      for (const listener of others) listener.record(role, line);
    },
  };
}

/** Measures the runs of a target whose load has begun. */
type Measure = (complete: Completed, counterSource: string) => Promise<RoundEnd[]>;

interface JoinedTarget extends RoundTarget {
  resolve(measure: Measure): void;
  reject(error: unknown): void;
}

/** The generators of a round, which start when all runs are ready or have failed. */
class Round {
  readonly parts: RunningPart[] = [];
  readonly #members: readonly (readonly RoundMember[])[];
  readonly #turns: TurnsSpec;
  readonly #start: (part: Part) => Promise<RunningPart>;
  readonly #showLine: (role: string, line: string) => void;
  readonly #joined = new Map<number, JoinedTarget>();
  readonly #dropped = new Set<number>();
  readonly #finished = new Set<number>();
  /** The generators that load only one target, by its index. */
  readonly #ownGenerators = new Map<number, RunningPart>();
  #load: RoundLoad | CurveLoad | undefined;
  #hasBegun = false;

  constructor(
    members: readonly (readonly RoundMember[])[],
    turns: TurnsSpec,
    start: (part: Part) => Promise<RunningPart>,
    showLine: (role: string, line: string) => void,
  ) {
    this.#members = members;
    this.#turns = turns;
    this.#start = start;
    this.#showLine = showLine;
  }

  join(index: number, ready: ReadyRun): Promise<Measure> {
    const runs = (this.#members[index] ?? []).map(({ request, listener }) => ({
      settings: { ...ready.settings, ...request },
      listener,
    }));
    return new Promise((resolve, reject) => {
      this.#joined.set(index, { ...ready, index, runs, resolve, reject });
      this.#beginWhenReady();
    });
  }

  /**
   * Takes that a target failed, and stops its own generator, which would load a target that is gone in
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
    const targets = [...this.#joined.values()].toSorted((a, b) => a.index - b.index);
    this.#begin(targets).catch((error) => {
      for (const { reject } of targets) reject(error);
    });
  }

  async #begin(joined: readonly JoinedTarget[]): Promise<void> {
    const [first] = joined;
    if (!first) return;

    // At the limiter layer the worker is the client, and each target has its own generator.
    const hasOwnGenerators = isClientLayer(first.settings.configuration.layer);
    const groups = hasOwnGenerators ? joined.map((target) => [target]) : [joined];
    const started = await this.#startGenerators(groups, hasOwnGenerators);
    if (started.length === 0) return;

    const measureOf = this.#turns.curve
      ? this.#loadCurve(started, hasOwnGenerators)
      : this.#loadByTurns(started, hasOwnGenerators);
    for (const target of started.flatMap(({ targets }) => targets))
      target.resolve(measureOf(target));
  }

  #loadByTurns(started: readonly StartedGenerator[], hasOwnGenerators: boolean) {
    const load = new RoundLoad(started, this.#turns, hasOwnGenerators);
    this.#load = load;
    return (target: RoundTarget): Measure =>
      async (complete, counterSource) => [
        { raw: complete(await measure(target, load.loadOf(target), counterSource)) },
      ];
  }

  #loadCurve(started: readonly StartedGenerator[], hasOwnGenerators: boolean) {
    const load = new CurveLoad(started, this.#turns, hasOwnGenerators);
    this.#load = load;
    return (target: RoundTarget): Measure =>
      (complete, counterSource) =>
        measureCurve(target, load.loadsOf(target), complete, counterSource);
  }

  /**
   * Starts a generator for each group of targets. One that does not start fails only its own
   * targets.
   */
  async #startGenerators(
    groups: readonly (readonly JoinedTarget[])[],
    hasOwnGenerators: boolean,
  ): Promise<StartedGenerator<JoinedTarget>[]> {
    const starting = groups.map(async (targets): Promise<StartedGenerator<JoinedTarget>[]> => {
      try {
        const part = await this.#startGenerator(targets, hasOwnGenerators);
        if (hasOwnGenerators) {
          for (const { index } of targets) this.#ownGenerators.set(index, part);
        }
        return [{ part, targets }];
      } catch (error) {
        for (const { reject } of targets) reject(error);
        return [];
      }
    });
    return (await Promise.all(starting)).flat();
  }

  async #startGenerator(
    targets: readonly JoinedTarget[],
    hasOwnGenerators: boolean,
  ): Promise<RunningPart> {
    const [first] = targets;
    const [firstRun] = first?.runs ?? [];
    if (!first || !firstRun) throw new Error("a round has no runs");

    const role = generatorRoleOf(firstRun);
    const specsOf = (allocation: PartAllocation): RunSpec[] =>
      targets.flatMap(({ supervisor, runs }) =>
        runs.flatMap((run) => generatorRoleOf(run).runSpec?.(supervisor.places, allocation) ?? []),
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
      for (const { listener } of runsOfLine(line, runsOfTargets(targets)))
        listener.record(GENERATOR, line);
    });
    return part;
  }
}

function generatorRoleOf({ settings }: RunOfTarget) {
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
