import { messageOf, usageError } from "../contract/errors.js";
import { readUserFile } from "../contract/user-files.js";
import { decodeTrace, traceProfile } from "../traffic/trace.js";
import { MAX_BYTES, type PluginSource } from "./source.js";

/** The traffic of a trace that a campaign wrote for its programs. @throws usageError where the file is something else */
export function tracePlugin(source: PluginSource) {
  try {
    const trace = decodeTrace(readUserFile(source.entry, MAX_BYTES));
    const facts = { ...source.facts, trace: trace.facts };
    return { ...source, facts, members: { traffic: [{ ...traceProfile(trace) }] } };
  } catch (error) {
    throw usageError(
      `plugin ${source.displayName} cannot be loaded: ${messageOf(error)}; give a log with --trace`,
      { cause: error },
    );
  }
}
