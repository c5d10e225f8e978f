import { expect, test } from "vitest";
import type { StoreEvidence } from "../../../../../src/contract/store.js";
import { makePlan } from "../../../../../src/orchestrator/plan/make-plan.js";
import { LimiterLoad } from "../../../../../src/orchestrator/run/load-programs/limiter-load.js";
import { PartFailed } from "../../../../../src/orchestrator/run/part-supervisor.js";
import type { RunStore } from "../../../../../src/orchestrator/run/store/run-store.js";
import { everything, requestOf } from "../../../../helpers/request.js";

const FIGURES = {
  per_second: 20,
  latency: { average: 1, min: 1, p50: 1, p95: 1, p99: 1, max: 1 },
  refused: 0,
  failures: "",
};

/** The load of wrk on a store that decides, which counts from 5 decisions to 25. */
function openLoad(): LimiterLoad {
  const flags = ["--layer", "limiter", "--concurrency", "10", "--traffic", "random"];
  const request = requestOf("--clients", "throttlecrab-http+wrk", ...flags);
  const configurations = makePlan(request, everything).configurations;
  const wrk = configurations.find(({ configuration }) => configuration.target.program);
  if (!wrk) throw new Error("the plan has no load program");
  const reading = (decisions: number) => ({ decisions });
  const evidence = {
    nodes: [{ role: "store-1", at_start: reading(5), at_end: reading(25) }],
    settings: {},
    external: false,
  } as unknown as StoreEvidence;
  const store = {
    nodes: [
      {
        id: "store-1",
        kind: "store",
        part: { address: { host: "crab", port: 1, ports: { http: 80 } } },
      },
    ],
    readBefore: async () => {},
    readAfter: async () => ({ store: evidence }),
  } as unknown as RunStore;
  const settings = { configuration: wrk.configuration, runNonce: "n", seed: 1 };
  return new LimiterLoad({ ...settings, warmupS: 1, workers: 1, caps: {} }, store);
}

/** Its 50 000 calls are drawn once for all tests. */
const load = openLoad();

test("a load program is given the calls of its client, and where the limiter listens", () => {
  const { files = {}, arguments: argumentsIn } = load.command(3);
  expect(Object.keys(files).length).toBeGreaterThan(0);
  const words = argumentsIn("/files").join(" ");
  expect(words).toContain("http://crab:80");
  expect(words).toContain("3s");
  // Ten connections may each have a call under way when the time is over.
  expect(load.moreAtMost).toBe(10);
});

test("the decisions that the store counted are the calls of the run", async () => {
  await load.readBefore();
  await load.readAfter();
  expect(load.evidence(FIGURES).calls).toEqual({ before: 5, after: 25 });
});

test("calls without a decision fail the run, since the program's throughput counts them", async () => {
  await load.readAfter();
  expect(() => load.evidence({ ...FIGURES, failures: "3 time-outs" })).toThrow(PartFailed);
  expect(() => load.evidence({ ...FIGURES, refused: 1 })).toThrow(/of which 0 can be denials/);
});
