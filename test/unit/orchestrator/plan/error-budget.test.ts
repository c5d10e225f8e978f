import { expect, test } from "vitest";
import {
  type ErrorBudget,
  pairKind,
  readErrorBudget,
  systematicError,
} from "../../../../src/orchestrator/plan/error-budget.js";
import { targetOf } from "../../../helpers/target.js";

const component = (name: string, at_most: number): ErrorBudget["components"][number] => ({
  component: name,
  layer: "server",
  figure: "throughput",
  pairs: "targets",
  at_most,
});
const throughput = { layer: "server", figure: "throughput", pairs: "targets" } as const;

test("the error is the root of the summed squares of what was measured, and names the rest", () => {
  const budget = {
    components: [
      component("drift", 0.03),
      component("order", 0.04),
      { ...component("group size", 0.5), layer: "limiter" as const },
      { ...component("copies", 0.5), pairs: "one program" as const },
    ],
  };
  const error = systematicError(budget, throughput);
  expect(error.share).toBeCloseTo(0.05, 10);
  expect(error.unmeasured).toEqual(["start of a turn", "group size"]);
  expect(systematicError(budget, { ...throughput, pairs: "one program" })).toEqual({
    share: 0.5,
    unmeasured: [],
  });
});

test("a latency is in no budget, so that nothing of it was measured", () => {
  const error = systematicError(readErrorBudget(), {
    layer: "server",
    figure: "p99",
    pairs: "one program",
  });
  expect(error).toEqual({ share: 0, unmeasured: ["copies"] });
});

// test/report/results/test_build_of.py holds the same pairs against the report.
test.each([
  ["ioredis@valkey", "ioredis@valkey+copy", "one program"],
  ["ioredis@valkey+rate-limiter-flexible~7.1.1", "ioredis@valkey", "one program"],
  ["ioredis~5.6.1", "ioredis", "one program"],
  ["iovalkey", "ioredis@valkey", "targets"],
  ["ioredis@valkey", "ioredis@valkey+autopipelining", "targets"],
  ["ioredis", "ioredis:cluster", "targets"],
  ["ioredis@valkey", "ioredis", "targets"],
])("%s and %s are compared as %s", (target, other, kind) => {
  expect(pairKind(targetOf(target), targetOf(other))).toBe(kind);
});
