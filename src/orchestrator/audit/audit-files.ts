import { join } from "node:path";
import { BenchError, EXIT } from "../../kit/errors.js";
import { type PythonContext, PythonFailed, pythonOutput } from "../host/python.js";
import type { EventLog } from "../ui/event-log.js";

/** The folder of audits in the results root, which keeps them apart from campaigns. */
export const AUDITS = "audits";
export const AUDIT_FILE = "audit.json";
export const AUDIT_MARKDOWN = "audit.md";

/** Lets the report make the page and the tables, which it does from audit.json alone. */
export async function makeReport(
  python: PythonContext,
  folder: string,
  eventLog: EventLog,
  junit: string | undefined,
): Promise<void> {
  const junitFlags = junit === undefined ? [] : [`--junit=${junit}`];
  try {
    const printed = await pythonOutput(python, "audit", [folder, ...junitFlags]);
    eventLog.info(`report: ${printed.trim()}`);
  } catch (error) {
    if (!(error instanceof PythonFailed)) throw error;
    throw new BenchError(
      `the page could not be made: ${error.message}; ${join(folder, AUDIT_FILE)} is whole`,
      EXIT.configurationFailed,
    );
  }
}
