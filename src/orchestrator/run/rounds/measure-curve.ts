import type { Admissions } from "../../../contract/admissions.js";
import type { GeneratorOutput } from "../../../contract/generator-output.js";
import { dirtyNode } from "../../../judge/rules/fresh-state.js";
import { sum } from "../../../kit/numbers.js";
import {
  admissionsOf,
  type Completed,
  outputOf,
  type RawRun,
  type ReadyRun,
  rawRunOf,
  storeSideOf,
} from "../execute-run.js";
import { PartFailed } from "../part-supervisor.js";
import type { StoreSide } from "../store/run-store.js";
import type { CurveRunLoad } from "./curve-load.js";
import type { RoundEnd } from "./round-types.js";

/** The turn of a run, after which all that belongs to it alone is read. */
interface EndedTurn {
  run: ReadyRun;
  load: CurveRunLoad;
  output: GeneratorOutput;
  storeSide: StoreSide;
  notes: string[];
}

type Ended = { turn: EndedTurn } | { error: unknown };

/**
 * Measures the runs of a target of a load curve, which have one turn each.
 * @returns the end of each run, in order
 * @throws the failure of all runs, if none has a result
 */
export async function measureCurve(
  target: ReadyRun,
  loads: readonly CurveRunLoad[],
  complete: Completed,
  counterSource: string,
): Promise<RoundEnd[]> {
  const ends = await Promise.all(loads.map((load) => endOf(target, load)));
  const turns = ends.flatMap((end) => ("turn" in end ? [end.turn] : []));
  if (turns.length === 0) {
    for (const end of ends) if ("error" in end) throw end.error;
  }
  const admissions = await admissionsOfCurve(target, turns, turns.length < loads.length);
  target.listener.phase("read");

  return Promise.all(
    ends.map(async (end): Promise<RoundEnd> => {
      if ("error" in end) return end;
      return { raw: complete({ ...(await rawRunOfTurn(end.turn, counterSource)), admissions }) };
    }),
  );
}

async function endOf(target: ReadyRun, load: CurveRunLoad): Promise<Ended> {
  // The counters of the store are read around each turn, so they have the load of this run alone.
  const run = { ...target, ...load.run, isByTurns: false };
  try {
    const output = await outputOf(run, load);
    await load.done();
    requireCleanStart(run);
    const notes: string[] = [];
    const storeSide = await storeSideOf(run, notes, () => load.storeSide());
    return { turn: { run, load, output, storeSide, notes } };
  } catch (error) {
    return { error };
  }
}

/** The first turn of a target finds a fresh store, which the later ones share (M13). */
function requireCleanStart({ store, settings }: ReadyRun): void {
  const readings = settings.external ? [] : (store.first.report.readings ?? []);
  const dirt = readings.map(dirtyNode).find((text) => text !== undefined);
  if (dirt !== undefined) throw new PartFailed("store", `${dirt} before the first load`);
}

const withoutStoreAt = ({ consumers }: GeneratorOutput, moment: "at_start" | "at_end"): number =>
  sum(consumers.map((consumer) => consumer[moment].consumes?.without_store ?? 0));

/**
 * The admissions of a target, which its runs share: the store counts by key over the whole round, and
 * so does the generator (M27).
 */
async function admissionsOfCurve(
  target: ReadyRun,
  turns: readonly EndedTurn[],
  isIncomplete: boolean,
): Promise<Admissions> {
  const last = turns.at(-1);
  if (!last || isIncomplete)
    return { status: "not known", reason: "a run of the target failed, whose load is not counted" };
  const withoutStore = Math.max(...turns.map(({ output }) => withoutStoreAt(output, "at_end")));
  const { store } = last.storeSide;
  return admissionsOf(target, store, last.output.request_counts, withoutStore);
}

async function rawRunOfTurn(
  { run, load, output, storeSide, notes }: EndedTurn,
  counterSource: string,
): Promise<RawRun> {
  const { request_counts: _, ...result } = output;
  const withoutStore = withoutStoreAt(output, "at_end") - withoutStoreAt(output, "at_start");
  if (withoutStore > 0) notes.push(`${withoutStore} consumes were decided without the store`);
  return rawRunOf(run, load.watch, counterSource, { result, storeSide, notes });
}
