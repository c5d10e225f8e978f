import type { ProbeRequest } from "../../contract/probe-env.js";
import { type ProbeReport, probeReportSchema } from "../../contract/store.js";
import type { RunningPart } from "../../runtimes/types.js";

/** The probe ended instead of answering: the store is not as it must be, or the probe itself died. */
export class ProbeEnded extends Error {
  override readonly name = "ProbeEnded";
}

/**
 * Has a probe that runs do something, and waits for its report.
 * @throws ProbeEnded with the last line that it printed
 */
export async function askProbe(probe: RunningPart, request: ProbeRequest): Promise<ProbeReport> {
  const answer = await probe.ask?.(JSON.stringify(request));
  if (answer !== undefined) return probeReportSchema.parse(JSON.parse(answer));
  const { code, signal } = await probe.exited;
  const last = code ? probe.lastLines().at(-1) : undefined;
  throw new ProbeEnded(last ?? `the probe ended with ${code ?? signal}`);
}
