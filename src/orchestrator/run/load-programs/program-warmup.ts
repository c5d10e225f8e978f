import { rounded } from "../../../kit/numbers.js";
import type { RunSettings } from "../run-settings.js";
import type { ProgramFigures, ProgramLoad } from "./program-load.js";
import type { ProgramEnd } from "./start-load-program.js";

/**
 * The operations of the first run of a calibration, which are enough to time and few enough for a
 * slow server.
 */
const FIRST_REQUESTS = 1_000;

/** The shortest second run of a calibration. A rate from less time is too inexact. */
const LEAST_CALIBRATION_S = 0.3;

/** The warm-up by `auto`, which cannot look for a trend in slices, because load programs have none. */
const AUTO_WARMUP_S = 3;

/** Runs a load program once. @param amount see `ProgramLoad` */
type RunOnce = (amount: number, expected_s: number) => Promise<ProgramEnd>;

/** Warms up, and finds the amount with which a program runs for `duration_s`. */
export async function warmUpProgram(
  load: Pick<ProgramLoad, "runsFor">,
  { warmupS, configuration }: Pick<RunSettings, "warmupS" | "configuration">,
  duration_s: number,
  run: RunOnce,
  figuresIn: (output: string) => ProgramFigures,
): Promise<{ amount: number; warmup_s: number }> {
  const seconds = warmupSeconds(warmupS);
  if (load.runsFor === "time") {
    const { program_s } = await run(seconds, seconds);
    return { amount: duration_s, warmup_s: rounded(program_s, 3) };
  }
  const { rate, warmup_s } = await calibrateProgram(seconds, run, figuresIn);
  const { connections } = configuration.load;
  return { amount: Math.max(connections, Math.ceil(rate * duration_s)), warmup_s };
}

function warmupSeconds(warmupS: RunSettings["warmupS"]): number {
  const seconds = warmupS === "auto" ? AUTO_WARMUP_S : warmupS;
  return Math.max(LEAST_CALIBRATION_S, seconds);
}

/** The rate of a program that cannot run for a time, from two runs that are also the warm-up. */
async function calibrateProgram(
  seconds: number,
  run: RunOnce,
  figuresIn: (output: string) => ProgramFigures,
): Promise<{ rate: number; warmup_s: number }> {
  const first = await run(FIRST_REQUESTS, 1);
  const firstRate = figuresIn(first.output).per_second;
  const second = await run(Math.ceil(firstRate * seconds), seconds);
  return {
    rate: figuresIn(second.output).per_second,
    warmup_s: rounded(first.program_s + second.program_s, 3),
  };
}
