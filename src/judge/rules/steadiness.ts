import type { Evidence, Finding, Rule } from "../evidence.js";
import { firstFaultS } from "../faults.js";
import { firstSlices, RAMP_WINDOW_S, rampIn } from "../steadiness.js";

function figure(value: number, { load }: Evidence["request"]): string {
  return load.model === "open" ? `mean latency ${value.toFixed(2)} ms` : `${Math.round(value)} answers/s`;
}

/** The remedy is a longer warm-up. */
function rampFinding(evidence: Evidence): Finding | undefined {
  const { slices, request, warmup } = evidence;
  const ramp = rampIn(firstSlices(slices, firstFaultS(evidence)), request.load.model);
  if (!ramp) return undefined;
  const took = `${Number(warmup.took_s.toFixed(1))} s${warmup.steady === false ? " and ended unsteady" : ""}`;
  return {
    severity: "suspect",
    text: `the window began slower than it went on: ${figure(ramp.first_second, request)} in its first second, ${figure(ramp.second_half, request)} in its second half; the warm-up took ${took} (longer --warmup)`,
  };
}

/** M26: the window is steady. */
export const windowIsSteady: Rule = {
  id: "M26",
  check(evidence) {
    if (evidence.duration < RAMP_WINDOW_S)
      return { severity: "not applicable", text: `the window is shorter than ${RAMP_WINDOW_S} s` };
    if (firstFaultS(evidence) < RAMP_WINDOW_S)
      return {
        severity: "not applicable",
        text: `a fault was planned within the first ${RAMP_WINDOW_S} s`,
      };
    return rampFinding(evidence);
  },
};
