import type { TurnLengths } from "../../contract/turns.js";
import { definedOnly } from "../../kit/defined-only.js";
import type { Window } from "../load-loop.js";
import { cheapMonotonicMs } from "../measurement/clock.js";
import type { WorkerSample } from "../measurement/recorder.js";
import { StandstillWatch } from "../measurement/standstill.js";
import { type TurnFigures, usedBetween, type WorkerUsage } from "../turn-window.js";
import type { OpenLoop } from "./open-loop.js";
import type { OpenLoad } from "./send-schedule.js";

interface OpenTurnPlan extends TurnLengths {
  /** When the slice begins, in monotonic milliseconds. */
  opens_ms: number;
  shared_wakes: boolean;
}

/**
 * One turn of an open loop at a rate: lead-in, slice, and the requests in flight followed to their
 * end.
 * @param sampled is called after each second of the slice, and at its end
 */
export async function openTurn(
  loop: OpenLoop,
  { rate_per_second }: OpenLoad,
  { lead_in_ms, slice_ms, opens_ms, shared_wakes }: OpenTurnPlan,
  readUsage: () => WorkerUsage,
  sampled: (sample: WorkerSample) => void,
): Promise<Window & { turns: TurnFigures; longest_gap_ms: number }> {
  const usageBefore = readUsage();
  const standstill = new StandstillWatch();
  let atOpening = usageBefore;
  let atClosing = usageBefore;
  loop.shareWakes(shared_wakes);
  const extent = { duration_s: slice_ms / 1000 };
  const window = await loop.measure(
    { extent, opens_ms, lead_in_ms, rate_per_second },
    {
      opened: () => {
        atOpening = readUsage();
      },
      sample: sampled,
      closed: () => {
        atClosing = readUsage();
      },
    },
  );
  const longest_gap_ms = standstill.stop();

  const inSlice = usedBetween(atOpening, atClosing);
  const looped_ms = inSlice.loop_active_ms + inSlice.loop_idle_ms;
  const { opened_ms, closed_ms } = window;
  const turns = definedOnly({
    turns: 1,
    counted_ms: closed_ms - opened_ms,
    lead_in_ms,
    drained_ms: cheapMonotonicMs() - closed_ms,
    cpu_us: usedBetween(usageBefore, readUsage()).cpu_us,
    utilisation: looped_ms > 0 ? inSlice.loop_active_ms / looped_ms : 0,
    waited_ms: Number.isNaN(inSlice.waited_ms) ? undefined : inSlice.waited_ms,
  });
  return { ...window, turns, longest_gap_ms };
}
