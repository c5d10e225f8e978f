import type { TurnsRecord } from "../../contract/turns.js";
import { mean, rounded, sum } from "../../kit/numbers.js";
import type { TurnFigures } from "../turn-window.js";

/** What the record of turns says of the connections and of the time after the slices. */
export function turnsRecordOf(
  figures: readonly TurnFigures[],
): Pick<TurnsRecord, "drained_s"> & { reopened: TurnsRecord["reopened"] | undefined } {
  return {
    drained_s: rounded(mean(figures.map(({ drained_ms }) => drained_ms)) / 1000, 6),
    reopened: reopenedOf(figures),
  };
}

/** Undefined where no worker counts the connections that it opens again. */
function reopenedOf(figures: readonly TurnFigures[]): TurnsRecord["reopened"] {
  const workers = figures.flatMap(({ reopened }) => reopened ?? []);
  if (workers.length === 0) return undefined;
  return {
    all: sum(workers.map(({ all }) => all)),
    without_cause: sum(workers.map(({ without_cause }) => without_cause)),
  };
}

/** The seconds of the lead-ins of a target, which all of its workers have at the same time. */
export const leadInS = (figures: readonly TurnFigures[]): number =>
  rounded(mean(figures.map(({ lead_in_ms }) => lead_in_ms)) / 1000, 6);
