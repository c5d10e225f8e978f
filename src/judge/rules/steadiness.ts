import { FOREIGN_CPU_PERCENT } from "../../contract/result.js";
import { type Evidence, type Finding, notApplicable, type Rule, suspect } from "../evidence.js";
import { firstFaultS } from "../faults.js";
import { areApart, firstSlices, RAMP_WINDOW_S, rampIn } from "../steadiness.js";

function figure(value: number, { load }: Evidence["request"]): string {
  return load.model === "open" ? `mean latency ${value.toFixed(2)} ms` : `${Math.round(value)} answers/s`;
}

/** The remedy is a longer warm-up. */
function rampFinding(evidence: Evidence): Finding | undefined {
  const { slices, request, warmup } = evidence;
  const ramp = rampIn(firstSlices(slices, firstFaultS(evidence)), request.load.model);
  if (!ramp) return undefined;
  const took = `${Number(warmup.took_s.toFixed(1))} s${warmup.steady === false ? " and ended unsteady" : ""}`;
  return suspect(
    `not steady: ${figure(ramp.first_second, request)} in its first second, ${figure(ramp.second_half, request)} in its second half; the warm-up took ${took} (longer --warmup)`,
  );
}

/** What all targets of the group have in common cancels. */
function byTurns({ halves }: NonNullable<Evidence["turns"]>): Finding | undefined {
  if (!halves) return notApplicable("too few cycles to compare the halves of the round");
  if (!areApart(halves)) return undefined;
  const change = Math.abs((halves.ratio - 1) * 100).toFixed(0);
  const direction = halves.ratio > 1 ? "faster" : "slower";
  return suspect(
    `not steady: beside the others it was ${change} % ${direction} in the second half of the round than in the first (longer --warmup)`,
  );
}

/** M26: the window is steady. */
export const windowIsSteady: Rule = {
  id: "M26",
  check(evidence) {
    if (evidence.turns) return byTurns(evidence.turns);
    const foreign = evidence.host_load?.foreign_cpu_percent ?? 0;
    if (foreign >= FOREIGN_CPU_PERCENT)
      return notApplicable(`other programs used ${Math.round(foreign)} % of one CPU, which may explain it`);
    if (evidence.duration < RAMP_WINDOW_S)
      return notApplicable(`the window is shorter than ${RAMP_WINDOW_S} s`);
    if (firstFaultS(evidence) < RAMP_WINDOW_S)
      return notApplicable(`a fault was planned within the first ${RAMP_WINDOW_S} s`);
    return rampFinding(evidence);
  },
};
