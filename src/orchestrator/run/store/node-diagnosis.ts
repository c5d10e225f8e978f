import type { NodeCounters, NodeDiagnosis } from "../../../contract/diagnosis.js";
import { definedOnly } from "../../../kit/defined-only.js";

type CommandCounters = NodeCounters["commands"][string];

/**
 * The commands and traffic of a node between two readings. Its percentiles only count where its
 * statistics were reset at the first one.
 */
export function diagnosisOf(
  role: string,
  from: NodeCounters,
  to: NodeCounters,
  wasReset: boolean,
): NodeDiagnosis {
  const commands = Object.entries(to.commands).map(([command, counters]) => {
    const used = usedSince(from.commands[command], counters);
    return [command, wasReset ? used : { calls: used.calls, us: used.us }] as const;
  });
  return {
    role,
    commands: Object.fromEntries(commands),
    ...definedOnly({
      received_bytes: grown(from.received_bytes, to.received_bytes),
      sent_bytes: grown(from.sent_bytes, to.sent_bytes),
    }),
  };
}

function usedSince(before: CommandCounters | undefined, after: CommandCounters): CommandCounters {
  const { calls, us, ...percentiles } = after;
  return {
    calls: Math.max(0, calls - (before?.calls ?? 0)),
    us: Math.max(0, us - (before?.us ?? 0)),
    ...percentiles,
  };
}

/** The growth of a counter; undefined where one of the readings has none. */
function grown(before: number | undefined, after: number | undefined): number | undefined {
  if (before === undefined || after === undefined) return undefined;
  return Math.max(0, after - before);
}
