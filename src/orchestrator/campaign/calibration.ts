import { type Configuration, configurationHash, RATE_RANGE } from "../../contract/configuration.js";
import { environmentError, messageOf } from "../../contract/errors.js";
import { toTwoDigits } from "../../contract/numbers.js";
import type { Plan } from "../../contract/plan.js";
import { describeClient } from "../../targets/resolve.js";
import type { Request } from "../request/request.js";
import { PartFailed } from "../run/part-supervisor.js";
import { CAMPAIGN_COMMAND } from "../ui/command-text.js";
import { configurationText, rateUnit } from "../ui/event-text.js";
import { counted } from "../ui/text.js";

/** Share of the slowest target's throughput: the rest lets every target work off what piled up during a fault. */
const SHARE = 0.6;
/** Measured seconds of each target, and of its warm-up. */
const WINDOW_S = 5;
export const CALIBRATION_WARMUP_S = 2;
/** Enough to use up a server, few enough that none of them waits long. */
const CONNECTIONS = 50;

type Calibration = NonNullable<Plan["calibration"]>;

/** What is measured to find the rate: each target in a closed loop, without faults. Controls only where there is nothing else. */
export function calibrated({ configurations }: Pick<Plan, "configurations">): Configuration[] {
  const closed = configurations.map(
    ({ configuration: { faults: _, ...rest } }): Configuration => ({
      ...rest,
      load: { model: "closed", connections: Math.min(CONNECTIONS, rest.load.connections) },
      extent: { duration_s: WINDOW_S },
    }),
  );
  const each = [...new Map(closed.map((found) => [configurationHash(found), found])).values()];
  const targets = each.filter(({ target }) => !describeClient(target).control);
  return targets.length > 0 ? targets : each;
}

export const pendingCalibration = (): Calibration => ({ share: SHARE, window_s: WINDOW_S, measured: [] });

export function pendingCalibrationText(plan: Pick<Plan, "configurations">): string {
  const targets = counted(calibrated(plan).length, "target");
  return `the rate is found by calibration before the first run: ${percent(SHARE)} of the slowest throughput of ${targets}, each measured for ${WINDOW_S} s in a closed loop; --rate gives one instead`;
}

const percent = (share: number): string => `${Math.round(100 * share)} %`;

export function calibrationText({ rate_per_second, share, window_s, measured }: Calibration): string {
  const slowest = measured.toSorted((a, b) => a.requests_per_second - b.requests_per_second)[0];
  const found = slowest ? ` (${slowest.name}: ${Math.round(slowest.requests_per_second)}/s)` : "";
  return `the rate of ${rate_per_second}/s was found by calibration: ${percent(share)} of the slowest throughput in ${window_s} s of a closed loop${found}; --rate ${rate_per_second} repeats it`;
}

/** Measures each configuration once. @throws environmentError where none could be measured */
export async function calibrate(
  configurations: readonly Configuration[],
  throughputOf: (configuration: Configuration) => Promise<number>,
  tell: (text: string) => void,
): Promise<Calibration & { rate_per_second: number }> {
  const measured: Calibration["measured"] = [];
  const failed: string[] = [];
  for (const configuration of configurations) {
    const name = configurationText(configuration);
    try {
      const requests_per_second = await throughputOf(configuration);
      if (!(requests_per_second > 0)) throw new PartFailed("target", "answered nothing");
      measured.push({ name, requests_per_second });
      tell(`calibration: ${name}: ${Math.round(requests_per_second)} ${rateUnit(configuration.layer)}`);
    } catch (error) {
      // Its runs will fail in the same way, and say so.
      if (!(error instanceof PartFailed)) throw error;
      failed.push(`${name}: ${error.role} ${messageOf(error)}`);
      tell(`calibration: left out ${failed.at(-1)}`);
    }
  }
  if (measured.length === 0)
    throw environmentError(`no target could be calibrated: give --rate (${failed.join("; ")})`);
  const slowest = Math.min(...measured.map((each) => each.requests_per_second));
  const rate_per_second = Math.min(RATE_RANGE.max, Math.max(RATE_RANGE.min, toTwoDigits(SHARE * slowest)));
  return { ...pendingCalibration(), rate_per_second, measured };
}

export function atRate(request: Request, rate: number): Request {
  const { command, settings } = request;
  const isCampaign = command.includes(CAMPAIGN_COMMAND);
  return {
    ...request,
    rates: [rate],
    settings: { ...settings, rate: String(rate) },
    command: isCampaign ? `${command} --rate ${rate}` : `RATE=${rate} ${command}`,
  };
}

export const withCalibration = (plan: Plan, calibration: Calibration): Plan => ({
  ...plan,
  calibration,
  notes: [...plan.notes, calibrationText(calibration)],
});
