import { type Configuration, configurationHash } from "../../contract/configuration.js";
import type { Plan } from "../../contract/plan.js";
import { RANGES } from "../../contract/ranges.js";
import { CAMPAIGN_COMMAND } from "../../kit/command-text.js";
import { environmentError } from "../../kit/errors.js";
import { toTwoDigits } from "../../kit/numbers.js";
import { isCopy } from "../../targets/options.js";
import { describeClient } from "../../targets/resolve.js";
import type { Request } from "../request/request.js";
import { configurationText, rateUnit } from "../ui/event-text.js";
import { counted } from "../ui/text.js";
import { unlessFailed } from "./trial-failures.js";

/**
 * The rate as a share of the slowest target's throughput. What is left of the throughput lets every
 * target work off the requests that pile up during a fault.
 */
const SHARE = 0.6;

/** The measured seconds of each target. */
export const MEASURED_S = 5;

/** The seconds of warm-up of each target. */
export const CALIBRATION_WARMUP_S = 2;

/** The connections of each target, enough to use up a server and too few to make requests wait. */
const CONNECTIONS = 50;

export type Calibration = NonNullable<Plan["calibration"]>;

/**
 * The configurations that are measured to find the rate, or those of a load curve: each target in a
 * closed loop, without faults. Controls are measured only where there is nothing else.
 */
export function calibrated({ configurations }: Pick<Plan, "configurations">): Configuration[] {
  const byHash = new Map<string, Configuration>();
  // A load curve has closed loops of its own, with the connections that were asked for.
  const closed = configurations.filter(({ configuration: { load } }) => load.model === "closed");
  for (const { configuration } of closed.length > 0 ? closed : configurations) {
    if (isCopy(configuration.target)) continue;
    const { faults: _, ...withoutFaults } = configuration;
    const connections = Math.min(CONNECTIONS, configuration.load.connections);
    const trial: Configuration = {
      ...withoutFaults,
      load: { model: "closed", connections },
      extent: { duration_s: MEASURED_S },
    };
    byHash.set(configurationHash(trial), trial);
  }
  const trials = [...byHash.values()];
  const targets = trials.filter(({ target }) => !describeClient(target).control);
  return targets.length > 0 ? targets : trials;
}

export const pendingCalibration = (): Calibration => ({
  share: SHARE,
  window_s: MEASURED_S,
  measured: [],
});

export function pendingCalibrationText(plan: Pick<Plan, "configurations">): string {
  const targets = counted(calibrated(plan).length, "target");
  return `the rate is found by calibration before the first run: ${percent(SHARE)} of the slowest throughput of ${targets}, each measured for ${MEASURED_S} s in a closed loop; --rate gives one instead`;
}

const percent = (share: number): string => `${Math.round(100 * share)} %`;

type Measured = Calibration["measured"];

/** The slowest of several targets, of which there is at least one. */
export function slowestOf(measured: Measured): Measured[number] {
  const [slowest] = measured.toSorted((a, b) => a.requests_per_second - b.requests_per_second);
  if (!slowest) throw new Error("no target was measured");
  return slowest;
}

function calibrationText({ rate_per_second, window_s, measured }: Calibration): string {
  const { name, requests_per_second } = slowestOf(measured);
  const slowestText = ` (${name}: ${Math.round(requests_per_second)}/s)`;
  return `the rate of ${rate_per_second}/s was found by calibration: ${percent(SHARE)} of the slowest throughput in ${window_s} s of a closed loop${slowestText}; --rate ${rate_per_second} repeats it`;
}

/**
 * Measures each configuration once.
 * @param flag the setting that makes the measurement unnecessary
 * @throws environmentError where none could be measured
 */
export async function measureThroughputs(
  configurations: readonly Configuration[],
  throughputOf: (configuration: Configuration) => Promise<number>,
  tell: (text: string) => void,
  flag: string,
): Promise<Measured> {
  const measured: Measured = [];
  const failed: string[] = [];
  for (const configuration of configurations) {
    const name = configurationText(configuration);
    const leaveOut = (reason: string) => {
      failed.push(`${name}: ${reason}`);
      tell(`calibration: left out ${name}: ${reason}`);
    };
    const requests_per_second = await unlessFailed(throughputOf(configuration), leaveOut);
    if (requests_per_second === undefined) continue;
    if (requests_per_second === 0) {
      leaveOut("target answered nothing");
      continue;
    }
    measured.push({ name, requests_per_second });
    tell(
      `calibration: ${name}: ${Math.round(requests_per_second)} ${rateUnit(configuration.layer)}`,
    );
  }
  if (measured.length === 0)
    throw environmentError(`no target could be calibrated: give ${flag} (${failed.join("; ")})`);
  return measured;
}

/** Finds the rate that every target keeps. @throws environmentError like `measureThroughputs` */
export async function calibrate(
  configurations: readonly Configuration[],
  throughputOf: (configuration: Configuration) => Promise<number>,
  tell: (text: string) => void,
): Promise<Calibration & { rate_per_second: number }> {
  const measured = await measureThroughputs(configurations, throughputOf, tell, "--rate");
  const slowest = slowestOf(measured).requests_per_second;
  const { min, max } = RANGES.rate;
  const rate_per_second = Math.min(max, Math.max(min, toTwoDigits(SHARE * slowest)));
  return { ...pendingCalibration(), rate_per_second, measured };
}

export function atRate(request: Request, rate: number): Request {
  const { command, settings } = request.record;
  const isCampaign = command.includes(CAMPAIGN_COMMAND);
  return {
    ...request,
    load: { ...request.load, rates: [rate] },
    record: {
      ...request.record,
      settings: { ...settings, rate: String(rate) },
      command: isCampaign ? `${command} --rate ${rate}` : `RATE=${rate} ${command}`,
    },
  };
}

export const withCalibration = (plan: Plan, calibration: Calibration): Plan => ({
  ...plan,
  calibration,
  notes: [...plan.notes, calibrationText(calibration)],
});
