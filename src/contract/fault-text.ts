import type { Fault } from "./fault-schemas.js";
import { defaultLengthS, FAULT_START_S } from "./fault-times.js";

/** A fault as flags name it, e.g. `store-restart` or `pause:store-1@5s+2s`. */
export function faultText(fault: Fault): string {
  const { name, action, role, start_s, length_s } = fault;
  const hasDefaultTimes = start_s === FAULT_START_S && length_s === defaultLengthS(fault);
  if (name !== undefined && hasDefaultTimes) return name;

  const length = length_s === undefined ? "" : `+${length_s}s`;
  return `${name ?? `${action}:${role}`}@${start_s}s${length}`;
}

export const FAULT_SEPARATOR = "/";

/** Faults as flags name them, e.g. `pause:store-1@5s+2s/pause:store-2@12s+2s`. */
export const faultsText = (faults: readonly Fault[]): string =>
  faults.map(faultText).join(FAULT_SEPARATOR);

export const faultsFileName = (faults: readonly Fault[]): string =>
  faultsText(faults).replaceAll(/[:@+/]/g, "-");
