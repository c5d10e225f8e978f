import { definedOnly } from "../../../kit/defined-only.js";
import { messageOf } from "../../../kit/errors.js";
import { rounded } from "../../../kit/numbers.js";
import { ClockComparison } from "../../../kit/system-clock.js";
import type { RunningPart, Runtime } from "../../../runtimes/runtime-types.js";
import type { Lease } from "../../ownership/lease.js";
import type { RunListener } from "../execute-run.js";
import { GENERATOR } from "../layout.js";
import { PartFailed, placementOf } from "../part-supervisor.js";
import type { RequestedRun, RunSettings } from "../run-settings.js";
import { type RunStore, storeOf } from "../store/run-store.js";
import { LimiterLoad } from "./limiter-load.js";
import type { ProgramFigures, ProgramLoad, RawPrintedRun } from "./program-load.js";
import { watchProgram } from "./program-resources.js";
import { warmUpProgram } from "./program-warmup.js";
import {
  type ProgramEnd,
  type ProgramParts,
  runProgram,
  withProgramParts,
} from "./start-load-program.js";
import { StoreLayerLoad } from "./store-layer-load.js";

/** The most characters of a program's output that a result keeps. */
const MAX_OUTPUT_LENGTH = 10_000;

/** Makes one run with a fresh store whose load comes from a load program. */
export async function executeLoadProgramRun(
  request: RequestedRun,
  runtime: Runtime,
  lease: Lease,
  listener: RunListener,
): Promise<RawPrintedRun> {
  const clocks = new ClockComparison();
  listener.phase("starting");
  try {
    const place = { runtime, lease, log: listener.log };
    return await withProgramParts(request, place, async (parts) => {
      const raw = await measure(parts, runtime, listener);
      return { ...raw, clock_change: clocks.change() };
    });
  } finally {
    listener.phase("stopped");
  }
}

async function measure(
  parts: ProgramParts,
  runtime: Runtime,
  listener: RunListener,
): Promise<RawPrintedRun> {
  const { settings, supervisor, started } = parts;
  const { extent } = settings.configuration;
  if (!("duration_s" in extent)) throw new Error("a load program runs for a time");
  const { duration_s } = extent;
  const started_at = new Date().toISOString();

  const store = storeOf(settings, supervisor);
  await store.open();
  listener.phase("store ready");
  const load = await loadOf(settings, store);
  const figuresIn = (output: string) => figuresOf(load, output);
  const run = (amount: number, expected_s: number, onStarted?: (part: RunningPart) => void) =>
    runProgram(parts, { program: load.program, expected_s, ...load.command(amount) }, onStarted);

  listener.phase("warmup");
  const { amount, warmup_s } = await warmUpProgram(load, settings, duration_s, run, figuresIn);

  await load.readBefore();
  listener.phase("measure");
  const { end, useOf } = await watchProgram(store.nodes, runtime.counterSource, (onStarted) =>
    run(amount, duration_s, onStarted),
  );
  listener.phase("finished");
  const figures = figuresIn(end.output);
  await load.readAfter();
  listener.phase("read");

  const evidence = load.evidence(figures);
  const total = figures.calls ?? amount;
  const duration = rounded(total / figures.per_second, 6);
  return {
    started_at,
    finished_at: new Date().toISOString(),
    warmup_s,
    duration,
    program_s: rounded(end.program_s, 6),
    operations: {
      total,
      per_second: figures.per_second,
      ...definedOnly({ more_at_most: load.moreAtMost }),
    },
    latency: figures.latency,
    ...placementOf(started),
    program: programRecord(load.program, end),
    ...evidence,
    ...(await useOf(duration, total)),
  };
}

async function loadOf(settings: RunSettings, store: RunStore): Promise<ProgramLoad> {
  return settings.configuration.target.program === undefined
    ? StoreLayerLoad.open(settings, store)
    : new LimiterLoad(settings, store);
}

/** The figures that a program printed. @throws PartFailed where its output cannot be read */
function figuresOf(load: ProgramLoad, output: string): ProgramFigures {
  try {
    return load.figuresIn(output);
  } catch (error) {
    throw new PartFailed(GENERATOR, messageOf(error));
  }
}

const programRecord = (
  id: string,
  { arguments: programArguments, output }: ProgramEnd,
): RawPrintedRun["program"] => ({
  id,
  arguments: [...programArguments],
  output: output.slice(0, MAX_OUTPUT_LENGTH),
});
