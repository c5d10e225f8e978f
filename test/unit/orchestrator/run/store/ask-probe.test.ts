import { expect, test } from "vitest";
import type { ProbeRequest } from "../../../../../src/contract/probe-env.js";
import { askProbe } from "../../../../../src/orchestrator/run/store/ask-probe.js";
import type { Exit, RunningPart } from "../../../../../src/runtimes/runtime-types.js";

const request: ProbeRequest = {
  actions: ["ready"],
  nodes: [{ host: "127.0.0.1", port: 1 }],
  timeout_s: 1,
};

/** A probe that gives this answer to whatever it is asked, and has ended so if it gives none. */
function probe(
  answer: string | undefined,
  exit: Exit,
  lines: string[],
): { part: RunningPart; asked: string[] } {
  const asked: string[] = [];
  const part: RunningPart = {
    role: "probe",
    address: { host: "", port: 0 },
    exited: Promise.resolve(exit),
    onThisMachine: false,
    onLine: () => {},
    ask: async (line) => {
      asked.push(line);
      return answer;
    },
    output: async () => "",
    lastLines: () => lines,
    counters: async () => ({ cpu_us: 0, resident_bytes: 0 }),
    runDelays: async () => undefined,
    stop: async () => {},
  };
  return { part, asked };
}

test("a request is one line, and its answer is a report", async () => {
  const { part, asked } = probe('{"ready_in_s":0.5}', { code: 0, signal: null }, []);
  expect(await askProbe(part, request)).toEqual({ ready_in_s: 0.5 });
  expect(asked).toEqual([JSON.stringify(request)]);
});

test("an answer that does not fit is reported in one line with its member [R-unfit-1]", async () => {
  const { part } = probe(
    '{"readings":[{"version":"7.2","keys":-1}]}',
    { code: 0, signal: null },
    [],
  );
  await expect(askProbe(part, request)).rejects.toThrow(/^readings\.0\.keys is -1: .*$/);
});

test.each<[string, Exit, string[], string]>([
  [
    "says why on its last line",
    { code: 3, signal: null },
    ["first", "the store took too long to be ready"],
    "the store took too long to be ready",
  ],
  // What it answered before is no reason.
  [
    "was killed",
    { code: null, signal: "SIGKILL" },
    ['{"flushed":true}'],
    "the probe ended with SIGKILL",
  ],
  [
    "ended without a reason",
    { code: 0, signal: null },
    ['{"flushed":true}'],
    "the probe ended with 0",
  ],
])("a probe that gives no answer and %s is reported", async (_what, exit, lines, message) => {
  await expect(askProbe(probe(undefined, exit, lines).part, request)).rejects.toThrow(message);
});
