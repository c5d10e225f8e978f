import { Option } from "commander";
import { z } from "zod";
import { EXIT, messageOf, usageError } from "../../contract/errors.js";
import type { HostSpeed } from "../../contract/host-speed.js";
import { rounded } from "../../contract/numbers.js";
import { FOREIGN_CPU_PERCENT } from "../../contract/result.js";
import { HostSpeedProbe, hostSpeedProbeFacts } from "../../machine/host-speed.js";
import { findPythonEnvironment } from "../../runtimes/local/python-environment.js";
import { runChecks } from "../host/doctor.js";
import { ForeignCpu } from "../host/foreign-load.js";
import { type HostSeries, hostSeriesOf, measureFor } from "../host/host-series.js";
import { askStatistics } from "../host/python.js";
import { overheadsOf, ROUND_WINDOW_S, roundOfTwoS } from "../plan/estimate.js";
import { createCommand, parseCommandLine } from "../request/command-line.js";
import { durationText, textTable } from "../ui/text.js";
import type { CliCommand } from "./types.js";

export const DOCTOR_SCHEMA = "ratelimit-bench/doctor";
/** History: 1 — first format. */
export const DOCTOR_SCHEMA_VERSION = 1;

const DEFAULT_SECONDS = "30";
const MAX_SECONDS = 600;
/** Differences for which the rounds are told, in percent. */
const DIFFERENCES = [3, 5, 10] as const;

/** Fewer measurements do not tell how far they lie apart. */
export const MIN_MEASUREMENTS = 10;

/** @param piece the noisiest one */
const computedFrom = (piece: string): string =>
  `the spread of the noisiest piece of work (${piece}) in this time. A run averages fast changes out; what the host does over minutes, and the target's own spread, are not in it: \`ratelimit-bench noise\` measures a target`;

const AFTER = `
The checks are those of scripts/check-config.sh. The host is measured by a fixed piece of work on all CPUs at once: a loop
of integer operations, dependent reads in 32 MiB, and round trips over loopback. Nothing else should run meanwhile.

Exit codes: 0 a campaign could start, 2 bad usage, 3 it could not start (then the host is not measured)`;

const definition = () =>
  createCommand("ratelimit-bench doctor")
    .description("Checks this machine, measures how steady it is, and says which differences it can show.")
    .addOption(
      new Option(
        "--seconds <number>",
        `how long the host is measured; 0: the checks alone (default: ${DEFAULT_SECONDS})`,
      ),
    )
    .addOption(
      new Option("--runtime <runtime>", "what must work (default: auto)").choices([
        "auto",
        "docker",
        "podman",
        "local",
      ]),
    )
    .option("--json", "print one JSON document")
    .addHelpText("after", AFTER);

type Check = Awaited<ReturnType<typeof runChecks>>[number];

/** What comparisons on this host take. */
export interface Outlook {
  /** Standard deviation of the logarithms of the noisiest piece's time, in %. */
  deviation_percent: number;
  computed_from: string;
  /** `rounds` and `minutes` are null where more than 1000 rounds would be needed. */
  differences: { percent: number; rounds: number | null; minutes: number | null }[];
}

const powerSchema = z.object({
  deviation: z.number().min(0),
  rounds_needed: z.array(z.int().min(1).nullable()),
});

type Power = z.infer<typeof powerSchema>;

/** @param power deviation as a share, and the rounds for each of `DIFFERENCES` */
export function outlookOf(power: Power, piece: string, round_s: number): Outlook {
  return {
    deviation_percent: 100 * power.deviation,
    computed_from: computedFrom(piece),
    differences: DIFFERENCES.map((percent, index) => {
      const rounds = power.rounds_needed[index] ?? null;
      return { percent, rounds, minutes: rounds === null ? null : (rounds * round_s) / 60 };
    }),
  };
}

/** @throws usageError */
function secondsOf(text: string): number {
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= MAX_SECONDS) return seconds;
  throw usageError(`--seconds ${text.slice(0, 60)}: give a whole number from 0 to ${MAX_SECONDS}`);
}

/** Why measurements tell nothing about what this machine can show; undefined where they do. */
export function unusableReason(
  measurements: number,
  foreign_cpu_percent: number | undefined,
): string | undefined {
  if (foreign_cpu_percent !== undefined && foreign_cpu_percent >= FOREIGN_CPU_PERCENT)
    return `other programs used ${Math.round(foreign_cpu_percent)} % of one CPU meanwhile: stop them, then measure again`;
  if (measurements >= MIN_MEASUREMENTS) return undefined;
  return `${measurements} measurements are too few, it takes ${MIN_MEASUREMENTS}: give more --seconds`;
}

/** The texts of the pieces of work, by which the outlook names the noisiest. */
const PIECES: Readonly<Record<string, (speed: HostSpeed) => number | undefined>> = {
  "integer loop": ({ integer_us }) => integer_us,
  memory: ({ chase_us }) => chase_us,
  loopback: ({ ping_pong_us }) => ping_pong_us,
};

/** @returns why it could not be computed instead */
async function outlook(measured: readonly HostSpeed[], packageFolder: string): Promise<Outlook | string> {
  try {
    // Only a campaign and the scripts set it up: that takes a minute and a network.
    if (!(await findPythonEnvironment(packageFolder)))
      return "the Python environment of reports is not set up yet; the first campaign does that";
    let noisiest: { power: Power; piece: string } | undefined;
    for (const [piece, read] of Object.entries(PIECES)) {
      const values = measured.flatMap((speed) => read(speed) ?? []);
      if (values.length < MIN_MEASUREMENTS) continue;
      const ratios = DIFFERENCES.map((percent) => 1 + percent / 100);
      const power = await askStatistics(packageFolder, { question: "power", values, ratios }, powerSchema);
      if (!noisiest || power.deviation > noisiest.power.deviation) noisiest = { power, piece };
    }
    if (!noisiest) return "too few measurements";
    return outlookOf(noisiest.power, noisiest.piece, roundOfTwoS(await overheadsOf("local")));
  } catch (error) {
    return messageOf(error);
  }
}

const checkLines = (checks: readonly Check[]): string[] =>
  textTable(
    checks.map(({ check, status, text, fix }) => [status, check, `${text.trim()}${fix ? ` – ${fix}` : ""}`]),
  );

const ms = (us: number): string => `${(us / 1000).toFixed(2)} ms`;
const us = (value: number): string => `${value.toFixed(1)} µs`;

export function seriesLines(series: HostSeries, seconds: number, clock: string): string[] {
  const { integer, chase, ping_pong } = series;
  const rows = [
    ["integer loop", ms(integer.median_us), `${ms(integer.min_us)} to ${ms(integer.max_us)}`],
    ["memory", ms(chase.median_us), `${ms(chase.min_us)} to ${ms(chase.max_us)}`],
    ...(ping_pong
      ? [["loopback", us(ping_pong.median_us), `${us(ping_pong.min_us)} to ${us(ping_pong.max_us)}`]]
      : []),
  ];
  const cpus = series.cpus === 1 ? "one CPU" : `${series.cpus} CPUs at once`;
  return [
    `speed of this machine: ${series.measurements} measurements in ${seconds} s, on ${cpus}, by ${clock} (median, range)`,
    ...textTable(rows).map((line) => `  ${line}`),
  ];
}

export function outlookLines(found: Outlook | string): string[] {
  if (typeof found === "string") return [`what it is good for was not computed: ${found}`];
  return [
    `what it is good for, at a deviation of ${found.deviation_percent.toPrecision(2)} % (two targets, windows of ${ROUND_WINDOW_S} s, local runtime):`,
    ...found.differences.map(({ percent, rounds, minutes }) =>
      rounds === null || minutes === null
        ? `  a difference of ${percent} % takes more than 1000 rounds`
        : `  a difference of ${percent} % takes about ${rounds} rounds, ${durationText(60 * minutes)} here`,
    ),
    `computed from ${found.computed_from}`,
  ];
}

export const doctor: CliCommand = {
  name: "doctor",
  definition,
  async run(argv, { packageFolder, print }) {
    const command = parseCommandLine(definition(), argv);
    if (!command) return EXIT.done;
    const {
      json,
      runtime = "auto",
      seconds: text = DEFAULT_SECONDS,
    } = command.opts<{ json?: true; runtime?: string; seconds?: string }>();
    const seconds = secondsOf(text);
    const checks = await runChecks(runtime, packageFolder);
    const fit = checks.every(({ status }) => status !== "fail");
    const document = { schema: DOCTOR_SCHEMA, schema_version: DOCTOR_SCHEMA_VERSION, fit, checks };
    if (!json) print(checkLines(checks).join("\n"));
    if (!fit || seconds === 0) {
      if (json) print(JSON.stringify(document, null, 2));
      return fit ? EXIT.done : EXIT.environment;
    }
    process.stderr.write(`measuring this machine for ${seconds} s\n`);
    const probe = new HostSpeedProbe();
    const foreign = new ForeignCpu();
    const measured = await measureFor(probe, seconds).finally(() => probe.close());
    const foreign_cpu_percent = foreign.percent();
    const facts = hostSpeedProbeFacts();
    const series = hostSeriesOf(measured);
    const found =
      unusableReason(measured.length, foreign_cpu_percent) ?? (await outlook(measured, packageFolder));
    if (json) {
      const good_for = typeof found === "string" ? { unknown: found } : found;
      const known =
        foreign_cpu_percent === undefined ? {} : { foreign_cpu_percent: rounded(foreign_cpu_percent, 1) };
      const host_speed = { probe: facts, seconds, ...known, ...series };
      print(JSON.stringify({ ...document, host_speed, good_for }, null, 2));
    } else {
      print([...seriesLines(series, seconds, facts.clock), ...outlookLines(found)].join("\n"));
    }
    return EXIT.done;
  },
};
