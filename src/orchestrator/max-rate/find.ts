import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { z } from "zod";
import { type Configuration, RATE_RANGE } from "../../contract/configuration.js";
import { BenchError, EXIT, type ExitCode } from "../../contract/errors.js";
import type { Threshold } from "../../contract/manifest.js";
import { planSchema } from "../../contract/plan.js";
import { type MeasuredResult, resultSchema } from "../../contract/result.js";
import { makePlan } from "../plan.js";
import type { Request } from "../request.js";
import { missedBy } from "./objective.js";
import { findMaxRate, type MaxRate, type Trial } from "./search.js";

/** How near the confirmed and the missed rate come to each other. */
const RESOLUTION = 0.02;
/** Seconds for which a rate is held before it is accepted, unless a fixed duration was asked for. */
const CONFIRMATION_S = 30;
/** A probe is so much shorter. */
const PROBE_SHARE = 1 / 3;
const LEAST_PROBE_S = 2;

/** What was found for one configuration. */
export interface Found extends MaxRate {
  label: string;
  workload: string;
  traffic: string;
  connections: number;
  objectives: string[];
  /** What kept the lowest missed rate from being met; absent where none was missed. */
  limited_by?: { resource: string; text: string };
}

/** Runs a campaign, as the command line does. */
export type Campaign = (request: Request) => Promise<ExitCode>;

/** As much of a manifest as is needed here. */
const manifestSchema = z.object({ plan: planSchema });

/** The request of one trial: one run of one configuration at one rate. */
function trialOf(
  request: Request,
  { target, workload, traffic, load }: Configuration,
  trial: Trial,
): Request {
  const { duration } = request;
  const confirmation_s = duration.mode === "fixed" ? duration.seconds : CONFIRMATION_S;
  const probe_s = Math.max(LEAST_PROBE_S, Math.round(confirmation_s * PROBE_SHARE));
  return {
    ...request,
    clients: [target.text],
    workloads: [workload.id],
    traffic: [traffic],
    connections: [load.connections],
    rates: [trial.rate_per_second],
    runs: 1,
    duration: { mode: "fixed", seconds: trial.kind === "probe" ? probe_s : confirmation_s },
    telling: { ...request.telling, format: "text", detail: "quiet" },
    // Of all trials of a search the first one alone needs to say what the request itself is worth.
    notices: [],
  };
}

/** The result of the campaign's only run. @throws BenchError when it gave no figures */
async function resultOf(folder: string): Promise<MeasuredResult> {
  const read = async (name: string): Promise<unknown> =>
    JSON.parse(await readFile(join(folder, name), "utf8"));
  const { plan } = manifestSchema.parse(await read("manifest.json"));
  const [run] = plan.runs;
  const result = resultSchema.parse(await read(run?.file ?? ""));
  if (result.status === "measured") return result;
  const { role, text } = result.failure;
  throw new BenchError(`the search ends: ${role}: ${text}`, EXIT.configurationFailed);
}

/** A campaign that did not end as one does that has measured, e.g. because it was interrupted. */
class Ended extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode) {
    super(`a trial ended with ${exitCode}`);
    this.exitCode = exitCode;
  }
}

async function findFor(
  request: Request,
  objectives: readonly Threshold[],
  configuration: Configuration,
  campaign: Campaign,
  say: (text: string) => void,
): Promise<Found> {
  const { target, workload, traffic, load } = configuration;
  const limits = new Map<number, MeasuredResult["limited_by"]>();
  const [from = RATE_RANGE.min] = request.rates;
  const range = { ...RATE_RANGE, from, resolution: RESOLUTION };
  const found = await findMaxRate(range, async (rate_per_second, kind) => {
    const trial = { rate_per_second, kind, isMet: false, reason: "" };
    const exitCode = await campaign(trialOf(request, configuration, trial));
    // A rate that is too high gives an invalid run: the schedule was not kept.
    if (exitCode !== EXIT.done && exitCode !== EXIT.runsInvalid) throw new Ended(exitCode);
    const result = await resultOf(resolve(request.output, "latest"));
    const reason = missedBy(result, objectives);
    if (reason) limits.set(rate_per_second, result.limited_by);
    say(`${target.label}: ${kind} of ${rate_per_second}/s: ${reason === "" ? "met" : `missed (${reason})`}`);
    return { isMet: reason === "", reason };
  });
  const limited_by = found.missed_per_second === undefined ? undefined : limits.get(found.missed_per_second);
  return {
    label: target.label,
    workload: workload.id,
    traffic,
    connections: load.connections,
    objectives: objectives.map(({ text }) => text),
    ...found,
    ...(limited_by ? { limited_by } : {}),
  };
}

/** One line a configuration: the rate, how sure it is, and what the limit was. */
export function foundLine({ label, objectives, limited_by, ...found }: Found): string {
  const { confirmed_per_second: held, missed_per_second: missed, trials } = found;
  const asked = objectives.join(", ");
  if (held === undefined) return `${label}: not even ${missed}/s keeps ${asked}`;
  const why = trials.findLast(({ rate_per_second }) => rate_per_second === missed)?.reason;
  const bound = missed === undefined ? "no higher rate was tried" : `${missed}/s does not (${why})`;
  return `${label}: ${held}/s keeps ${asked}; ${bound}${limited_by ? `; limited by: ${limited_by.resource} (${limited_by.text})` : ""}`;
}

/**
 * Finds the highest rate that each configuration of a request can keep under the objectives, one after the other; each
 * trial is a campaign of one run with a folder of its own. Writes `max-rate.json` into the results root.
 * @returns the exit code; that of the first trial that failed
 * @throws BenchError for what a campaign throws
 */
export async function findMaxRates(
  request: Request,
  objectives: readonly Threshold[],
  campaign: Campaign,
  print: (text: string) => void,
): Promise<ExitCode> {
  const isJson = request.telling.format === "json";
  const say = isJson ? () => {} : print;
  const { configurations } = makePlan(request, () => true);
  const all: Found[] = [];
  try {
    for (const { configuration } of configurations) {
      all.push(await findFor(request, objectives, configuration, campaign, say));
      const path = resolve(request.output, "max-rate.json");
      await writeFile(path, `${JSON.stringify({ command: request.command, found: all }, null, 2)}\n`);
    }
  } catch (error) {
    if (error instanceof Ended) return error.exitCode;
    throw error;
  }
  if (isJson) print(JSON.stringify(all));
  for (const found of all) say(foundLine(found));
  return EXIT.done;
}
