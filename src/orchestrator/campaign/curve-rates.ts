import type { Configuration } from "../../contract/configuration.js";
import type { Plan } from "../../contract/plan.js";
import { RANGES } from "../../contract/ranges.js";
import { CAMPAIGN_COMMAND } from "../../kit/command-text.js";
import { toTwoDigits } from "../../kit/numbers.js";
import { CURVE_SHARES } from "../request/load-curve.js";
import type { Request } from "../request/request.js";
import { counted } from "../ui/text.js";
import {
  type Calibration,
  calibrated,
  MEASURED_S,
  measureThroughputs,
  slowestOf,
} from "./calibration.js";

/** The least rate that is chosen, because a turn at a lower one has few requests. */
const LEAST_CHOSEN_PER_SECOND = 100;

export const pendingShares = (): Calibration => ({
  shares: [...CURVE_SHARES],
  window_s: MEASURED_S,
  measured: [],
});

const sharesText = (): string =>
  `${CURVE_SHARES.map((share) => Math.round(100 * share)).join(", ")} %`;

export function pendingSharesText(plan: Pick<Plan, "configurations">): string {
  const targets = counted(calibrated(plan).length, "target");
  return `the rates are found before the first run: ${sharesText()} of the slowest throughput of ${targets}, each measured for ${MEASURED_S} s at full load; --rates gives them instead`;
}

/** The rates of a curve, each once, of which the first is the lowest. */
export function ratesFor(slowestPerSecond: number): number[] {
  const rates = CURVE_SHARES.map((share) => {
    const rate = Math.max(LEAST_CHOSEN_PER_SECOND, toTwoDigits(share * slowestPerSecond));
    return Math.min(RANGES.rate.max, rate);
  });
  return [...new Set(rates)];
}

export interface ChosenRates {
  rates: number[];
  calibration: Calibration;
}

/**
 * Measures each configuration once at full load, and chooses the rates of the curve.
 * @throws environmentError where none could be measured
 */
export async function chooseRates(
  configurations: readonly Configuration[],
  throughputOf: (configuration: Configuration) => Promise<number>,
  tell: (text: string) => void,
): Promise<ChosenRates> {
  const measured = await measureThroughputs(configurations, throughputOf, tell, "--rates");
  const rates = ratesFor(slowestOf(measured).requests_per_second);
  return { rates, calibration: { ...pendingShares(), measured } };
}

/** The request with the rates that were chosen, and with a command that repeats it. */
export function atRates(request: Request, rates: readonly number[]): Request {
  const { command, settings } = request.record;
  const { choosesRates: _, ...curve } = request.load.curve ?? {};
  const list = rates.join(",");
  const isCampaign = command.includes(CAMPAIGN_COMMAND);
  return {
    ...request,
    load: { ...request.load, rates: [...rates], curve },
    record: {
      ...request.record,
      settings: { ...settings, rates: list },
      command: isCampaign ? `${command} --rates ${list}` : command,
    },
  };
}

export function withChosenRates(plan: Plan, { rates, calibration }: ChosenRates): Plan {
  const { name, requests_per_second } = slowestOf(calibration.measured);
  const note = `the rates are ${sharesText()} of the slowest throughput at full load (${name}: ${Math.round(requests_per_second)}/s), at least ${LEAST_CHOSEN_PER_SECOND}/s; --rates ${rates.join(",")} repeats them`;
  return {
    ...plan,
    calibration,
    load_curve: { rates, saturation: true, chosen: true },
    notes: [...plan.notes, note],
  };
}
