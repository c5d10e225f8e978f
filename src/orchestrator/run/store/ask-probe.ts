import type { ProbeRequest } from "../../../contract/probe-env.js";
import { type ProbeReport, probeReportSchema } from "../../../contract/store.js";
import { parseAnswer } from "../../../kit/answers.js";
import { messageOf } from "../../../kit/errors.js";
import type { RunningPart } from "../../../runtimes/runtime-types.js";

/**
 * Says that the probe ended instead of answering, because the store is not in the expected state or
 * the probe itself died.
 */
export class ProbeEnded extends Error {
  override readonly name = "ProbeEnded";
}

/** Says that an answer of the probe does not fit, because a program reports something impossible. */
export class UnfitReport extends Error {
  override readonly name = "UnfitReport";
}

/** Asks a running probe. @throws ProbeEnded with the last line that it printed; UnfitReport */
export async function askProbe(probe: RunningPart, request: ProbeRequest): Promise<ProbeReport> {
  const answer = await probe.ask?.(JSON.stringify(request));
  if (answer !== undefined) return reportIn(answer);

  const { code, signal } = await probe.exited;
  const lastLine = code ? probe.lastLines().at(-1) : undefined;
  throw new ProbeEnded(lastLine ?? `the probe ended with ${code ?? signal}`);
}

function reportIn(answer: string): ProbeReport {
  try {
    return parseAnswer(probeReportSchema, answer);
  } catch (error) {
    throw new UnfitReport(messageOf(error), { cause: error });
  }
}
