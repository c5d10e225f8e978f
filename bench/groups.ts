import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { decodeGeneratorEnv } from "../src/contract/generator-env.js";
import { type GeneratorOutput, groupOutputSchema } from "../src/contract/generator-output.js";
import {
  type Progress,
  progressSchema,
  READ_LINE,
  TURN_BEGINS,
  TURN_ENDED,
  type TurnPhase,
} from "../src/contract/progress.js";
import {
  encodeRunSpec,
  type GeneratorSpec,
  type GroupSpec,
  groupSpec,
  type RunSpec,
} from "../src/contract/run-spec.js";
import { CURVE_LEAD_IN_MS } from "../src/contract/turns.js";
import { sum } from "../src/kit/numbers.js";

export type Env = Record<string, string>;

const specOf = (url: string, env: Env): RunSpec & { generator: GeneratorSpec } => {
  const { generator, ...spec } = decodeGeneratorEnv({ TARGET_URL: url, WARMUP: "1.5", ...env });
  return {
    ...spec,
    generator: { ...generator, waits_for_readings: true, progress: "json" as const },
  };
};

type Announcement = Extract<Progress, { event: "phase" }>;

/** @returns the result of each run; undefined for one that failed */
async function generate(
  spec: GroupSpec,
  onDrained: (announcement: Announcement) => Promise<void>,
): Promise<(GeneratorOutput | undefined)[]> {
  const child = spawn(process.execPath, ["dist/benchmark/index.js"], {
    env: { PATH: process.env.PATH, NODE_ENV: "production", ...encodeRunSpec(spec) },
    stdio: ["pipe", "pipe", "pipe"],
  });
  createInterface({ input: child.stderr }).on("line", async (line) => {
    const progress = parsed(line);
    if (progress?.event !== "phase" || ["warmup", "measure"].includes(progress.phase)) return;
    await onDrained(progress);
    child.stdin.write(`${READ_LINE}\n`);
  });
  let text = "";
  child.stdout.on("data", (bytes) => {
    text += bytes;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`the generator ended with ${code}`);
  return groupOutputSchema
    .parse(JSON.parse(text))
    .map((result) => ("failed" in result ? undefined : result));
}

/**
 * One round of a group: one generator gives the load to all targets by turns.
 * @param read called before the window, between turns, and after the window, when nobody has the
 *   load
 * @returns the result of each target; undefined for one that failed
 */
export function byTurns(
  urls: readonly string[],
  env: Env,
  seed: number,
  read: () => Promise<void> = async () => {},
): Promise<(GeneratorOutput | undefined)[]> {
  const runs = urls.map((url) => specOf(url, env));
  return generate(groupSpec({ runs, turns: { seed } }), read);
}

/**
 * One round of a load curve: each target has one turn at each rate.
 * @param onTurn called when the turn of a run begins and has ended, when nobody has the load; the
 *   runs are the rates of the first target, then those of the next
 * @returns the result of each run; undefined for one that failed
 */
export function byRates(
  urls: readonly string[],
  rates: readonly number[],
  { seed, slice_ms }: { seed: number; slice_ms: number },
  onTurn: (phase: TurnPhase, run: number) => Promise<void>,
): Promise<(GeneratorOutput | undefined)[]> {
  const env = { WARMUP: "auto", DURATION: String(slice_ms / 1000) };
  const runs = urls.flatMap((url) =>
    rates.map((rate) => specOf(url, { ...env, RATE: String(rate) })),
  );
  const lengths = { lead_in_ms: CURVE_LEAD_IN_MS, slice_ms };
  const turns = { seed, curve: true, lengths } as const;
  return generate(groupSpec({ runs, turns }), async ({ phase, run }) => {
    if (run !== undefined && (phase === TURN_BEGINS || phase === TURN_ENDED))
      await onTurn(phase, run);
  });
}

function parsed(line: string): Progress | undefined {
  return line.startsWith("{") ? progressSchema.parse(JSON.parse(line)) : undefined;
}

export const rateOf = ({ counts, duration }: GeneratorOutput): number =>
  (counts.allowed + counts.limited) / duration;

/** Of the mean, by t; from 15 values on its quantile is at most 2.15. */
function interval(values: readonly number[]): { mean: number; half: number; deviation: number } {
  const mean = sum(values) / values.length;
  const deviation = Math.sqrt(
    sum(values.map((value) => (value - mean) ** 2)) / (values.length - 1),
  );
  const quantile =
    [12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26][values.length - 2] ?? 2.15;
  return { mean, half: (quantile * deviation) / Math.sqrt(values.length), deviation };
}

/** The quantile of the normal distribution that leaves out 5 % on each side. */
const NINE_OF_TEN = 1.645;

/**
 * The interval of 90 % of the ratio whose logarithms are given, as `report accuracy --bench` reads it.
 */
export function ninetyPercent(logs: readonly number[]): { low: number; high: number } {
  const { mean, deviation } = interval(logs);
  const half = (NINE_OF_TEN * deviation) / Math.sqrt(logs.length);
  return { low: Math.exp(mean - half), high: Math.exp(mean + half) };
}

/** Prints the ratio whose logarithms are given, one a round, with its interval of 95 %. */
export function printRatio(what: string, logs: readonly number[]): void {
  const { mean, half, deviation } = interval(logs);
  const [ratio, low, high] = [mean, mean - half, mean + half].map((log) =>
    Math.exp(log).toFixed(4),
  );
  const spread = (100 * deviation).toFixed(1);
  process.stdout.write(
    `${what}: ${ratio} (${low} to ${high}), ${logs.length} values, ${spread} % each\n`,
  );
}

/** Prints the mean of these values with its interval of 95 %. */
export function printMean(what: string, unit: string, values: readonly number[]): void {
  const { mean, half } = interval(values);
  const [middle, low, high] = [mean, mean - half, mean + half].map((value) => value.toFixed(2));
  process.stdout.write(`${what}: ${middle} ${unit} (${low} to ${high}), ${values.length} values\n`);
}

/**
 * Prints the mean of these differences with its interval of 95 %, its half-width as a share of it and
 * of the `whole` that they are part of, and whether the interval contains the truth.
 */
export function printDifference(
  what: string,
  unit: string,
  { values, truth, whole }: { values: readonly number[]; truth: number; whole: number },
): void {
  const { mean, half } = interval(values);
  const [middle, low, high] = [mean, mean - half, mean + half].map((value) => value.toFixed(2));
  const contains = Math.abs(mean - truth) <= half ? "contains" : "DOES NOT CONTAIN";
  const percentOf = (value: number): string => ((100 * half) / value).toFixed(0);
  const halves = `± ${percentOf(mean)} %, ± ${percentOf(whole)} % of ${whole.toFixed(0)}`;
  const verdict = `${contains} ${truth.toFixed(2)}, ${values.length} values`;
  process.stdout.write(`${what}: ${middle} ${unit} (${low} to ${high}, ${halves}) ${verdict}\n`);
}

/** Servers that exist for `work`. */
export async function withServers<Server extends { url: string; stop(): Promise<void> }, Result>(
  start: readonly (() => Promise<Server>)[],
  work: (urls: string[], servers: Server[]) => Promise<Result>,
): Promise<Result> {
  const started = await Promise.allSettled(start.map((one) => one()));
  const up = started.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []));
  try {
    for (const start of started) {
      if (start.status === "rejected") throw start.reason;
    }
    return await work(
      up.map(({ url }) => url),
      up,
    );
  } finally {
    await Promise.all(up.map((one) => one.stop()));
  }
}
