import { ghz } from "./ghz-program.js";
import { parseRespLoadCsv, respLoadArguments } from "./index.js";
import type { LoadProgram } from "./load-program.js";
import { wrk } from "./wrk-program.js";

/**
 * Describes valkey-benchmark or redis-benchmark, which are also the load generators of the store
 * layer.
 */
const respProgram = (store: "valkey" | "redis"): LoadProgram => ({
  id: `${store}-benchmark`,
  program: `${store}-benchmark`,
  summary: `${store}-benchmark sends the commands over RESP, instead of Node: a control`,
  protocol: "resp",
  imageOf: store,
  sends: "even draws",
  runsFor: "calls",
  // It asks for two settings of the server, which may count the question as a decision.
  opensWith: 2,
  files: () => ({}),
  arguments({ protocol, place, calls: [call], keys, connections }, requests) {
    if (protocol.kind !== "resp" || !call) throw new Error(`${store}-benchmark speaks RESP`);
    return respLoadArguments(place, {
      test: { command: protocol.command(call) },
      connections,
      requests: Math.max(requests, connections),
      keys,
    });
  },
  // It ends with an error at the first answer that is one.
  figuresIn: (output) => ({ ...parseRespLoadCsv(output), refused: 0, failures: "" }),
});

export const loadPrograms: readonly LoadProgram[] = [
  wrk,
  ghz,
  respProgram("valkey"),
  respProgram("redis"),
];

/** @throws Error for an id that is in no list: a target names it only through an option */
export function findLoadProgram(id: string): LoadProgram {
  const program = loadPrograms.find((entry) => entry.id === id);
  if (program) return program;
  throw new Error(`there is no load program ${id}`);
}
