import type { Node } from "../../contract/env.js";
import { messageOf } from "../../contract/errors.js";
import { rounded, sum } from "../../contract/numbers.js";
import { DEFAULT_KEY_PREFIX } from "../../contract/server-env.js";
import type { RunningPart, Runtime } from "../../runtimes/types.js";
import {
  findLoadProgram,
  type LoadProgram,
  type LoadWork,
  type PrintedLoad,
} from "../../targets/benchmarks/load-programs.js";
import { describeClient } from "../../targets/resolve.js";
import { callsOf } from "../plan/load-programs.js";
import { GENERATOR, type RunSettings } from "./layout.js";
import { PartFailed, placementOf } from "./part-supervisor.js";
import {
  calibrate,
  type ProgramEnd,
  type ProgramParts,
  programFacts,
  type RawPrintedRun,
  runProgram,
  runWatched,
  warmupSeconds,
} from "./program-parts.js";
import type { RunListener } from "./run.js";
import { type RunStore, type StoreSide, storeOf } from "./store.js";

function workOf(
  program: LoadProgram,
  { configuration, seed, runNonce }: RunSettings,
  store: RunStore,
): LoadWork {
  const { target, load } = configuration;
  const { native } = describeClient(target);
  const place: Node | undefined = store.nodes.find(
    ({ kind }) => kind === (target.service ? "service" : "store"),
  )?.part.address;
  if (!native || !place) throw new Error(`${target.label} cannot be called by ${program.id}`);
  const run = { nonce: runNonce, keyPrefix: DEFAULT_KEY_PREFIX };
  return {
    protocol: native,
    place,
    ...callsOf(program, configuration, seed, run),
    connections: load.connections,
  };
}

export async function measureLoadProgram(
  parts: ProgramParts,
  runtime: Runtime,
  listener: RunListener,
): Promise<RawPrintedRun> {
  const { settings, supervisor } = parts;
  const { target, load, extent, limits } = settings.configuration;
  if (!("duration_s" in extent)) throw new Error("a load program runs for a time");
  const program = findLoadProgram(target.program ?? "");
  const started_at = new Date().toISOString();
  const store = storeOf(settings, supervisor);
  await store.open();
  listener.phase("store ready");
  const work = workOf(program, settings, store);
  const files = program.files(work);
  const run = (amount: number, expected_s: number, onStarted?: (part: RunningPart) => void) =>
    runProgram(
      parts,
      {
        program: program.id,
        expected_s,
        files,
        arguments: (folder) => program.arguments(work, amount, folder),
      },
      onStarted,
    );

  listener.phase("warmup");
  const { amount, warmup_s } = await warmUp(program, settings, extent.duration_s, run);

  // Keys of the warm-up are not those of the run.
  await store.readBefore();
  listener.phase("measure");
  const { ended, useOf } = await runWatched(store.nodes, runtime.counterSource, (onStarted) =>
    run(amount, extent.duration_s, onStarted),
  );
  listener.phase("finished");
  const figures = figuresIn(program, ended.output);
  const after = await store.readAfter();
  listener.phase("read");
  requireDecisions(figures, after);

  const total = figures.calls ?? amount;
  const duration = rounded(total / figures.per_second, 6);
  if (!after.store) throw new Error("a target of a load program has a store");
  const calls = decisionsOf(after, limits.cost ?? 1);
  return {
    started_at,
    finished_at: new Date().toISOString(),
    warmup_s,
    duration,
    program_s: rounded(ended.program_s, 6),
    operations: {
      total,
      per_second: figures.per_second,
      // What was under way when the program ended had reached the service.
      more_at_most: program.opensWith + (program.runsFor === "time" ? load.connections : 0),
    },
    latency: figures.latency,
    ...placementOf(parts.started),
    program: programFacts(program.id, ended),
    ...(calls ? { calls } : {}),
    store: after.store,
    ...(after.service ? { service: after.service } : {}),
    ...(await useOf(duration, total)),
  };
}

async function warmUp(
  program: LoadProgram,
  settings: RunSettings,
  duration_s: number,
  run: (amount: number, expected_s: number) => Promise<ProgramEnd>,
): Promise<{ amount: number; warmup_s: number }> {
  if (program.runsFor === "time") {
    const seconds = warmupSeconds(settings);
    const { program_s } = await run(seconds, seconds);
    return { amount: duration_s, warmup_s: rounded(program_s, 3) };
  }
  const perSecondIn = (output: string) => figuresIn(program, output).per_second;
  const { rate, warmup_s } = await calibrate(settings, run, perSecondIn);
  const { connections } = settings.configuration.load;
  return { amount: Math.max(connections, Math.ceil(rate * duration_s)), warmup_s };
}

function figuresIn(program: LoadProgram, output: string): PrintedLoad {
  try {
    return program.figuresIn(output);
  } catch (error) {
    throw new PartFailed(GENERATOR, messageOf(error));
  }
}

/** @throws PartFailed where calls had no decision: the program's throughput counts them, too (M9) */
function requireDecisions({ refused, failures }: PrintedLoad, { service }: StoreSide): void {
  if (failures) throw new PartFailed(GENERATOR, `calls failed: ${failures}`);
  // A service that denies with an error status has counted at least as many denials.
  const limited = (service?.at_end.limited ?? 0) - (service?.at_start.limited ?? 0);
  if (refused > limited)
    throw new PartFailed(
      GENERATOR,
      `${refused} answers had an error status, of which ${limited} can be denials`,
    );
}

function decisionsOf({ store, service }: StoreSide, cost: number): RawPrintedRun["calls"] {
  if (service) {
    const { at_start, at_end } = service;
    return { before: Math.round(at_start.decisions / cost), after: Math.round(at_end.decisions / cost) };
  }
  const at = (moment: "at_start" | "at_end") =>
    (store?.nodes ?? []).flatMap((node) => node[moment].decisions ?? []);
  const [before, after] = [at("at_start"), at("at_end")];
  return after.length > 0 ? { before: sum(before), after: sum(after) } : undefined;
}
