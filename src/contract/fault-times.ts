import { propertiesOfAction } from "./fault-actions.js";
import type { Fault } from "./fault-schemas.js";
import { findNamedFault } from "./named-faults.js";

/** The default start of a fault. Before it lies the baseline by which recovery is judged. */
export const FAULT_START_S = 10;
/** The least seconds of the window after a fault with default times. */
export const SETTLES_S = 10;
/** The least seconds before a fault whose times the user sets. */
export const LEAST_BASELINE_S = 3;
/** The least seconds after a fault whose times the user sets. */
export const LEAST_SETTLING_S = 3;

/** How long a fault lasts by default. */
export const defaultLengthS = ({
  name,
  action,
}: Pick<Fault, "name" | "action">): number | undefined =>
  findNamedFault(name)?.length_s ?? propertiesOfAction(action).length_s;

/**
 * The end of a fault. A fault that lasts to the end of the window counts as ending at its
 * start.
 */
export const faultEndS = ({ start_s, length_s = 0 }: Fault): number => start_s + length_s;
