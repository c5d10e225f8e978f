import { readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { z } from "zod";
import { type Configuration, RATE_RANGE } from "../../contract/configuration.js";
import { BenchError, EXIT, type ExitCode, messageOf } from "../../contract/errors.js";
import type { Threshold } from "../../contract/manifest.js";
import { planSchema } from "../../contract/plan.js";
import { type MeasuredResult, resultSchema } from "../../contract/result.js";
import type { CampaignEnd } from "../campaign/campaign.js";
import { writeAtomically } from "../files/results-folder.js";
import { selectConfigurations } from "../plan/plan.js";
import type { Request } from "../request/request.js";
import { missReason } from "./objective.js";
import { type MaxRate, RateSearch, type SearchRange, type Trial } from "./search.js";

/** How near the confirmed and the missed rate come to each other. */
const RESOLUTION = 0.02;
/** Seconds for which a rate is held before it is accepted, unless a fixed duration was asked for. */
const CONFIRMATION_S = 30;
/** A probe is so much shorter. */
const PROBE_SHARE = 1 / 3;
const LEAST_PROBE_S = 2;

/** What was found for one configuration. */
export interface MaxRateResult extends MaxRate {
  label: string;
  workload: string;
  traffic: string;
  connections: number;
  objectives: string[];
  /** What kept the lowest missed rate from being met; absent where none was missed. */
  limited_by?: { resource: string; text: string };
  /** Why it ended before the rates were found; absent where they were. */
  stopped?: string;
}

/** Runs a campaign, as the command line does. */
export type RunCampaign = (request: Request) => Promise<CampaignEnd>;

/** As much of a manifest as is needed here. */
const manifestSchema = z.object({ plan: planSchema });

/** The rates that a search tries. */
export function searchRange({ rates }: Pick<Request, "rates">): SearchRange {
  const [from = RATE_RANGE.min] = rates;
  return { ...RATE_RANGE, from, resolution: RESOLUTION };
}

/** Seconds for which a trial of each kind measures. */
export function trialSeconds({ duration }: Pick<Request, "duration">): Record<Trial["kind"], number> {
  const confirmation = duration.mode === "fixed" ? duration.seconds : CONFIRMATION_S;
  return { probe: Math.max(LEAST_PROBE_S, Math.round(confirmation * PROBE_SHARE)), confirmation };
}

/** The request of one trial: one run of one configuration at one rate. */
function trialRequest(
  request: Request,
  { target, workload, traffic, load }: Configuration,
  trial: Pick<Trial, "rate_per_second" | "kind">,
): Request {
  return {
    ...request,
    clients: [target.text],
    workloads: [workload.id],
    traffic: [traffic],
    connections: [load.connections],
    rates: [trial.rate_per_second],
    runs: 1,
    duration: { mode: "fixed", seconds: trialSeconds(request)[trial.kind] },
    trial: true,
    outputMode: { ...request.outputMode, format: "text", detail: "quiet" },
    // Of all trials of a search the first one alone needs to say what the request itself is worth.
    notices: [],
  };
}

/** The result of the campaign's only run. @throws BenchError when it gave no figures */
async function readTrialResult(folder: string): Promise<MeasuredResult> {
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
class TrialFailed extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode) {
    super(`ended with ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/** @returns what was found, or is known by now, and what stopped the search */
async function searchConfiguration(
  request: Request,
  objectives: readonly Threshold[],
  configuration: Configuration,
  campaign: RunCampaign,
  say: (text: string) => void,
): Promise<{ found: MaxRateResult; cause?: unknown }> {
  const { target, workload, traffic, load } = configuration;
  const limits = new Map<number, MeasuredResult["limited_by"]>();
  const search = new RateSearch(searchRange(request), async (rate_per_second, kind) => {
    const { exitCode, folder } = await campaign(
      trialRequest(request, configuration, { rate_per_second, kind }),
    );
    // A rate that is too high gives an invalid run: the schedule was not kept.
    const isMeasured = exitCode === EXIT.done || exitCode === EXIT.runsInvalid;
    if (!isMeasured || folder === undefined) throw new TrialFailed(exitCode);
    const result = await readTrialResult(folder);
    const reason = missReason(result, objectives);
    if (reason) limits.set(rate_per_second, result.limited_by);
    say(`${target.label}: ${kind} of ${rate_per_second}/s: ${reason === "" ? "met" : `missed (${reason})`}`);
    return { isMet: reason === "", reason, campaign: basename(folder) };
  });
  const ended = await search.run().then(
    () => ({}),
    (cause: unknown) => ({ cause, stopped: messageOf(cause) }),
  );
  const { result } = search;
  const limited_by =
    result.missed_per_second === undefined ? undefined : limits.get(result.missed_per_second);
  return {
    found: {
      label: target.label,
      workload: workload.id,
      traffic,
      connections: load.connections,
      objectives: objectives.map(({ text }) => text),
      ...result,
      ...(limited_by ? { limited_by } : {}),
      ...("stopped" in ended ? { stopped: ended.stopped } : {}),
    },
    ...("cause" in ended ? { cause: ended.cause } : {}),
  };
}

/** Why the lowest missed rate was missed. */
const lastMissReason = ({ trials, missed_per_second: missed }: MaxRate): string | undefined =>
  trials.findLast(({ rate_per_second }) => rate_per_second === missed)?.reason;

/** What is known of a search that was stopped. */
function partialResultText({ label, objectives, ...found }: MaxRateResult): string {
  const { confirmed_per_second: held, probed_per_second: probed, missed_per_second: missed } = found;
  const asked = objectives.join(", ");
  const known = [
    ...(held === undefined ? [] : [`${held}/s keeps ${asked}`]),
    ...(probed === undefined ? [] : [`${probed}/s keeps ${asked} in a probe, which is not confirmed`]),
    ...(missed === undefined ? [] : [`${missed}/s does not keep ${asked} (${lastMissReason(found)})`]),
  ];
  return `${label}: so far: ${known.join("; ") || "nothing is known"}`;
}

/** One line a configuration: the rate, how sure it is, and what the limit was. */
export function resultText(one: MaxRateResult): string {
  const { label, objectives, limited_by, stopped, ...found } = one;
  if (stopped !== undefined) return partialResultText(one);
  const { confirmed_per_second: held, missed_per_second: missed } = found;
  const asked = objectives.join(", ");
  if (held === undefined) return `${label}: not even ${missed}/s keeps ${asked}`;
  const bound =
    missed === undefined ? "no higher rate was tried" : `${missed}/s does not (${lastMissReason(found)})`;
  return `${label}: ${held}/s keeps ${asked}; ${bound}${limited_by ? `; limited by: ${limited_by.resource} (${limited_by.text})` : ""}`;
}

/**
 * Finds the highest rate that each configuration of a request can keep under the objectives, one after the other; each
 * trial is a campaign of one run with a folder of its own. Writes `max-rate.json` into the results root. A search that
 * stops early tells and keeps what is known.
 * @returns the exit code; that of the first trial that failed
 * @throws BenchError for what a campaign throws
 */
export async function findMaxRates(
  request: Request,
  objectives: readonly Threshold[],
  campaign: RunCampaign,
  print: (text: string) => void,
): Promise<ExitCode> {
  const isJson = request.outputMode.format === "json";
  const say = isJson ? () => {} : print;
  const { configurations } = selectConfigurations(request);
  const all: MaxRateResult[] = [];
  let cause: unknown;
  for (const { configuration } of configurations) {
    const one = await searchConfiguration(request, objectives, configuration, campaign, say);
    all.push(one.found);
    cause = one.cause;
    if (all.some(({ trials }) => trials.length > 0))
      await writeAtomically(
        resolve(request.output, "max-rate.json"),
        `${JSON.stringify({ command: request.command, found: all }, null, 2)}\n`,
      );
    if (cause !== undefined) break;
  }
  if (isJson) print(JSON.stringify(all));
  for (const found of all) say(resultText(found));
  if (cause === undefined) return EXIT.done;
  if (cause instanceof TrialFailed) return cause.exitCode;
  throw cause;
}
