import type { ProbeAction, ProbeRequest } from "../../../contract/probe-env.js";
import type { ProbeReport } from "../../../contract/store.js";
import type { RunStore } from "./run-store.js";

/** No load waits for these answers, so that a slow store may take its time. */
const PROBE_TIMEOUT_S = 60;

/** Asks the store of a run; empty where there is none. @throws PartFailed */
export async function askStore(
  store: Pick<RunStore, "perform">,
  actions: ProbeAction[],
  more: Partial<ProbeRequest> = {},
): Promise<ProbeReport> {
  const report = await store.perform(actions, { timeout_s: PROBE_TIMEOUT_S, ...more });
  return report ?? {};
}
