import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Option } from "commander";
import { z } from "zod";
import { manifestSchema } from "../../contract/manifest.js";
import { roundOf } from "../../contract/plan.js";
import { type MeasuredResult, resultSchema } from "../../contract/result.js";
import { EXIT, type ExitCode, environmentError, usageError } from "../../kit/errors.js";
import { isCopy } from "../../targets/options.js";
import { previewCampaign } from "../campaign/dry-run.js";
import { parseJson } from "../files/own-files.js";
import { runChecks } from "../host/machine-checks.js";
import { askStatistics } from "../host/python.js";
import { REPORT_S } from "../plan/estimate.js";
import { createCommand } from "../request/command-line.js";
import { CUSTOM_DURATION } from "../request/durations.js";
import { parseCampaign } from "../request/parse-request.js";
import type { Request } from "../request/request.js";
import { durationText, textTable } from "../ui/text.js";
import { type CliContext, parsedCommand } from "./command-types.js";

export const DOCTOR_SCHEMA = "ratelimit-bench/doctor";
/** History: 1 — first format; 2 — a target and its copy by turns. */
export const DOCTOR_SCHEMA_VERSION = 2;

const DEFAULT_SECONDS = "60";
const MAX_SECONDS = 600;
/** The number of rounds from which on slices get longer. Fewer rounds say little about deviations. */
const DEFAULT_ROUNDS = 8;

/** The fewest rounds, because a single pair says nothing about deviations. */
const FEWEST_ROUNDS = 2;
const WARMUP_S = 0.5;

/** The longest slices. Longer ones would leave fewer rounds, which are the sample. */
const MOST_SLICES_S = 3;
const CONNECTIONS = "50";

const TARGET = "ioredis@valkey";
/** The number of rounds for which the smallest difference is estimated. */
const ROUNDS = 7;

/** The differences for which the number of rounds is estimated, in percent. */
const DIFFERENCES = [3, 5, 10] as const;

const AFTER = `
The checks are those of scripts/check-config.sh. Then ${TARGET} and its copy have the load by turns, as in a campaign, in
as many rounds as fit into the time with all else, at least ${FEWEST_ROUNDS}: whatever makes them differ is not the target. Other work
on this machine may go on, if it goes on during campaigns, too. Its results are in a temporary folder.

Exit codes: 0 a campaign could start, 2 bad usage, 3 it could not start (then nothing is measured), else those of run`;

const RUNTIMES = ["auto", "docker", "podman", "local"];

const definition = () =>
  createCommand("ratelimit-bench doctor")
    .description("Checks this machine, and measures which differences it can show.")
    .option(
      "--seconds <number>",
      `about how long it takes in all; 0: the checks alone (default: ${DEFAULT_SECONDS})`,
    )
    .addOption(
      new Option("--runtime <runtime>", "what must work (default: auto)").choices(RUNTIMES),
    )
    .option("--json", "print one JSON document")
    .addHelpText("after", AFTER);

type Check = Awaited<ReturnType<typeof runChecks>>[number];

const powerSchema = z.object({
  deviation: z.number().min(0),
  ratio: z.number().positive(),
  interval: z.object({ low: z.number().nullable(), high: z.number().nullable() }).nullable(),
  detectable: z.number().min(0).nullable(),
  rounds_needed: z.array(z.int().min(1).nullable()),
});

/** The differences that this machine can show, by pairs of equal targets. */
export interface Resolution {
  target: string;
  rounds: number;
  slices_s: number;
  /** The copy's throughput divided by the target's, with its interval of 95 %. */
  ratio: number;
  interval: { low: number | null; high: number | null } | null;
  deviation_percent: number;
  /**
   * The smallest difference of two targets that seven rounds find in four of five cases, in %; null
   * where they find none.
   */
  found_in_7_rounds_percent: number | null;
  /** `rounds` and `minutes` are null where more than 1000 rounds would be needed. */
  differences: { percent: number; rounds: number | null; minutes: number | null }[];
}

export function resolutionOf(
  power: z.infer<typeof powerSchema>,
  measured: Pick<Resolution, "rounds" | "slices_s"> & { seconds: number },
): Resolution {
  const { rounds, slices_s, seconds } = measured;
  const { ratio, interval, deviation, detectable, rounds_needed } = power;
  const round_s = seconds / rounds;

  return {
    target: TARGET,
    rounds,
    slices_s,
    ratio,
    interval,
    deviation_percent: 100 * deviation,
    found_in_7_rounds_percent: detectable === null ? null : 100 * detectable,
    differences: DIFFERENCES.map((percent, index) => {
      const neededRounds = rounds_needed[index] ?? null;
      const minutes = neededRounds === null ? null : (neededRounds * round_s) / 60;
      return { percent, rounds: neededRounds, minutes };
    }),
  };
}

function secondsOf(text: string): number {
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= MAX_SECONDS) return seconds;
  throw usageError(`--seconds ${text.slice(0, 60)}: give a whole number from 0 to ${MAX_SECONDS}`);
}

/** The time that measuring takes on this machine. */
interface MeasuringTime {
  /** The seconds that it takes once. */
  once_s: number;
  /** The seconds of each round besides its slices. */
  round_s: number;
}

/** The rounds that fit, with slices of whole seconds. @throws usageError where too few do */
export function roundsIn(
  seconds: number,
  { once_s, round_s }: MeasuringTime,
): { rounds: number; slices_s: number } {
  const room_s = seconds - once_s;
  const longestSlices_s = Math.floor((room_s / DEFAULT_ROUNDS - round_s) / 2);
  const slices_s = Math.min(MOST_SLICES_S, Math.max(1, longestSlices_s));
  const rounds = Math.floor(room_s / (2 * slices_s + round_s));
  if (rounds >= FEWEST_ROUNDS) return { rounds, slices_s };

  const least_s = Math.ceil(once_s + FEWEST_ROUNDS * (2 + round_s));
  throw usageError(
    `--seconds ${seconds}: ${FEWEST_ROUNDS} rounds take ${least_s} s here: give as many or more`,
  );
}

/** The settings of a campaign that the doctor chooses. */
interface Measurement {
  rounds: number;
  slices_s: number;
  runtime: string;
  output: string;
}

function requestFor({ rounds, slices_s, runtime, output }: Measurement): Request {
  const values: Readonly<Record<string, string>> = {
    clients: `${TARGET},${TARGET}+copy`,
    order: "turns",
    runs: String(rounds),
    "duration-mode": `${CUSTOM_DURATION}${slices_s}`,
    warmup: String(WARMUP_S),
    cooldown: "0",
    concurrency: CONNECTIONS,
    runtime,
    output,
  };
  const flags = Object.entries(values).flatMap(([key, value]) => [`--${key}`, value]);

  // The variables of a campaign would make it another one.
  const request = parseCampaign([...flags, "--no-copy", "--quiet"], {});
  if (!request) throw new Error("the doctor's flags ask for help");
  return request;
}

/**
 * The request with the time that is left after the start of the command, less that for the report.
 * The estimate of a round knows neither the load of this machine nor how long slices get.
 */
const withinTime = (request: Request, command: { began_ms: number; seconds: number }): Request => ({
  ...request,
  rounds: {
    ...request.rounds,
    timeLimit: {
      end_ms: command.began_ms + 1000 * (command.seconds - REPORT_S),
      fewest: FEWEST_ROUNDS,
    },
  },
  output: { ...request.output, ownResult: true },
});

/** The measuring time by the estimates of plans, which know how long earlier campaigns took. */
async function measuringTime(runtime: string, packageFolder: string): Promise<MeasuringTime> {
  const estimatedSeconds = async (rounds: number) => {
    const request = requestFor({ rounds, slices_s: 1, runtime, output: tmpdir() });
    const { estimate } = await previewCampaign(request, packageFolder);
    return estimate.seconds;
  };

  const oneRound_s = await estimatedSeconds(1);
  const twoRounds_s = await estimatedSeconds(2);
  const bothSlices_s = 2;
  return {
    once_s: 2 * oneRound_s - twoRounds_s,
    round_s: twoRounds_s - oneRound_s - bothSlices_s,
  };
}

/**
 * The throughputs of the copy and the target in each round that has both, and how many seconds the
 * campaign took.
 */
async function roundsOf(folder: string): Promise<{ pairs: [number, number][]; seconds: number }> {
  const manifest = parseJson(await readFile(join(folder, "manifest.json"), "utf8"), manifestSchema);
  const rounds = new Map<number, { copy?: number; target?: number }>();
  for (const run of manifest?.plan.runs ?? []) {
    const text = await readFile(join(folder, run.file), "utf8").catch(() => "");
    const result = parseJson(text, resultSchema);
    if (result?.status !== "measured" || !result.configuration || !isSound(result)) continue;

    const member = isCopy(result.configuration.target) ? "copy" : "target";
    const round = rounds.get(roundOf(run));
    rounds.set(roundOf(run), { ...round, [member]: result.requests.average });
  }

  const pairs: [number, number][] = [];
  for (const { copy, target } of rounds.values()) {
    if (copy && target) pairs.push([copy, target]);
  }
  const started_ms = Date.parse(manifest?.started_at ?? "");
  const finished_ms = Date.parse(manifest?.finished_at ?? "");
  return { pairs, seconds: (finished_ms - started_ms) / 1000 };
}

const isSound = ({ verdict }: Pick<MeasuredResult, "verdict">): boolean =>
  verdict.status !== "invalid";

/** Exit codes of a campaign whose sound runs can be compared. */
const USABLE: readonly ExitCode[] = [EXIT.done, EXIT.runsInvalid];

/**
 * Measures the target and its copy.
 * @returns the exit code of the campaign instead where it has no results to compare
 */
async function measure(
  command: { began_ms: number; seconds: number },
  runtime: string,
  { campaign, packageFolder }: CliContext,
): Promise<Resolution | ExitCode> {
  const { seconds } = command;
  const { rounds, slices_s } = roundsIn(seconds, await measuringTime(runtime, packageFolder));
  process.stderr.write(`measuring ${TARGET} and its copy in up to ${rounds} rounds by turns\n`);
  const output = await mkdtemp(join(tmpdir(), "ratelimit-bench-doctor-"));
  const request = requestFor({ rounds, slices_s, runtime, output });
  const { exitCode, folder } = await campaign(withinTime(request, command));
  if (folder === undefined || !USABLE.includes(exitCode)) return exitCode;

  const measured = await roundsOf(folder);
  const { pairs } = measured;
  await rm(output, { recursive: true });
  process.stderr.write("the report was removed again; what it showed follows\n");
  if (pairs.length < 2)
    throw environmentError("too few runs were measured soundly: see their reasons above");

  const question = {
    question: "power",
    pairs,
    ratios: DIFFERENCES.map((percent) => 1 + percent / 100),
    rounds: ROUNDS,
  };
  const power = await askStatistics(packageFolder, question, powerSchema);
  return resolutionOf(power, { rounds: pairs.length, slices_s, seconds: measured.seconds });
}

const checkLines = (checks: readonly Check[]): string[] =>
  textTable(
    checks.map(({ check, status, text, fix }) => {
      const remedy = fix ? ` – ${fix}` : "";
      return [status, check, `${text.trim()}${remedy}`];
    }),
  );

function intervalText(interval: Resolution["interval"]): string {
  if (!interval) return "too few rounds for an interval";
  const low = interval.low?.toFixed(3) ?? "0";
  const high = interval.high?.toFixed(3) ?? "∞";
  return `${low}–${high}`;
}

function differenceLine({ percent, rounds, minutes }: Resolution["differences"][number]): string {
  if (rounds === null || minutes === null)
    return `  a difference of ${percent} %: more than 1000 rounds`;
  const duration = durationText(60 * minutes);
  return `  a difference of ${percent} %: about ${rounds} rounds, ${duration} here`;
}

export function resolutionLines(resolution: Resolution): string[] {
  const { target, rounds, slices_s, ratio, deviation_percent, differences } = resolution;
  const interval = intervalText(resolution.interval);
  const smallest = resolution.found_in_7_rounds_percent;
  const difference =
    smallest === null ? "nothing" : `a difference of ${smallest.toFixed(1)} % and more`;

  return [
    `${target} and its copy by turns, ${rounds} rounds, slices of ${slices_s} s each:`,
    `  the copy's throughput is ${ratio.toFixed(3)} (${interval}) times the target's`,
    `  a pair deviates by ${deviation_percent.toPrecision(2)} %`,
    "what this machine can show, of two targets:",
    `  in ${ROUNDS} rounds: ${difference}`,
    ...differences.map(differenceLine),
    "Longer slices and a quiet machine show more; found means in four of five cases.",
  ];
}

export const doctor = parsedCommand("doctor", definition, async (command, context) => {
  const began_ms = performance.now();
  const { packageFolder, print } = context;
  const options = command.opts<{ json?: true; runtime?: string; seconds?: string }>();
  const { json, runtime = "auto", seconds: text = DEFAULT_SECONDS } = options;
  const seconds = secondsOf(text);

  const checks = await runChecks(runtime, packageFolder);
  const fit = checks.every(({ status }) => status !== "fail");
  const document = { schema: DOCTOR_SCHEMA, schema_version: DOCTOR_SCHEMA_VERSION, fit, checks };
  const printDocument = (members: object) => print(JSON.stringify(members, null, 2));
  if (!json) print(checkLines(checks).join("\n"));
  if (!fit || seconds === 0) {
    if (json) printDocument(document);
    return fit ? EXIT.done : EXIT.environment;
  }

  const resolution = await measure({ began_ms, seconds }, runtime, context);
  if (typeof resolution === "number") {
    if (json) printDocument(document);
    return resolution;
  }

  if (json) printDocument({ ...document, resolution });
  else print(resolutionLines(resolution).join("\n"));
  return EXIT.done;
});
