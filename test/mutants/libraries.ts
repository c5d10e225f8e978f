import type { Mutant } from "./mutant.js";

/** Bugs in contract, targets, traffic, plugins, judge. */
export const libraries: readonly Mutant[] = [
  // src/contract
  {
    what: "the hash of a configuration depends on the order of its members",
    file: "src/contract/configuration.ts",
    find: ".sort(([a], [b]) => (a < b ? -1 : 1)))",
    replace: ")",
    test: "test/unit/contract/configuration.test.ts",
  },
  {
    what: "two targets share a file name",
    file: "src/contract/target.ts",
    find: 'label.replaceAll(/[~@:+/]/g, "-")',
    replace: 'label.replace(/[~@:+/].*/, "")',
    test: "test/unit/contract/target.test.ts",
  },
  {
    what: "a duration of 0 is accepted",
    file: "src/contract/generator-env.ts",
    find: "DURATION: decimalNumber(0.1, 86_400)",
    replace: "DURATION: decimalNumber(0, 86_400)",
    test: "test/unit/contract/env.test.ts",
  },
  {
    what: "a probe accepts a request with an unknown action",
    file: "src/contract/probe-env.ts",
    find: "actions: z.array(z.enum(probeActions)).min(1)",
    replace: "actions: z.array(z.any()).min(1)",
    test: "test/unit/contract/env.test.ts",
  },
  // src/targets
  {
    what: "the suggestion for a misspelt word is the least similar word",
    file: "src/targets/did-you-mean.ts",
    find: ".sort((a, b) => a.edits - b.edits)[0];",
    replace: ".sort((a, b) => b.edits - a.edits)[0];",
    test: "test/unit/targets/did-you-mean.test.ts",
  },
  {
    what: "a denial of ThrottleCrab, which has status 200, is an admission",
    file: "src/targets/limiters/throttlecrab.ts",
    find: "          allowed\n            ? ALLOWED",
    replace: "          allowed !== undefined\n            ? ALLOWED",
    test: "test/unit/targets/throttlecrab.test.ts",
  },
  {
    what: "a limiter without denials at equal cost runs on exhausted keys",
    file: "src/orchestrator/plan/plan.ts",
    find: "unequalDenials(target, traffic, limits) ??",
    replace: "",
    test: "test/unit/orchestrator/plan/plan.test.ts",
  },
  // src/traffic
  {
    what: "all connections send the same sequence",
    file: "src/traffic/streams.ts",
    find: "    origin.jump();\n    const uniform",
    replace: "    const uniform",
    test: "test/unit/traffic/streams.test.ts",
  },
  {
    what: "the seed of the traffic has no effect",
    file: "src/traffic/streams.ts",
    find: "const origin = xoroshiro128plus(seed);",
    replace: "const origin = xoroshiro128plus(1);",
    test: "test/unit/traffic/streams.test.ts",
  },
  {
    what: "the predicted quota is one request too large",
    file: "src/traffic/admission.ts",
    find: "const admitted = after <= points;",
    replace: "const admitted = after <= points + 1;",
    test: "test/unit/traffic/prediction.test.ts",
  },
  {
    what: "the prediction counts the warm-up in the window",
    file: "src/traffic/prediction.ts",
    find: "if (n >= opens && !admitted) limited++;",
    replace: "if (!admitted) limited++;",
    test: "test/unit/traffic/prediction.test.ts",
  },
  // src/plugins
  {
    what: "the checksum of a plugin's folder ignores file names",
    file: "src/plugins/source.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is text of the source
    find: "return `${sha256(await readFile(path))}  ${name}`;",
    replace: "return sha256(await readFile(path));",
    test: "test/unit/plugins/load.test.ts",
  },
  // src/judge
  {
    what: "any planned fault explains a restart of any node",
    file: "src/judge/rules/fresh-state.ts",
    find: "if (wasEnded(evidence, role)) continue;",
    replace: "if (evidence.faults) continue;",
    test: "test/unit/judge/faults.test.ts",
  },
  {
    what: "failures after a fault say nothing about the target, also when it does not recover",
    file: "src/judge/outcome.ts",
    find: "  if (late)\n",
    replace: "  if (late && early)\n",
    test: "test/unit/judge/faults.test.ts",
  },
  {
    what: "a rejection by the limiter does not count as an answer",
    file: "src/judge/counts.ts",
    find: "  allowed + limited;",
    replace: "  allowed;",
    test: "test/unit/judge/rules.test.ts",
  },
  {
    what: "only the histogram of the last worker counts",
    file: "src/judge/histogram.ts",
    find: "if (part.count > 0) merged.add(decodeHistogram(part));",
    replace: "if (part.count > 0 && part === encoded.at(-1)) merged.add(decodeHistogram(part));",
    test: "test/unit/judge/histogram.test.ts",
  },
  {
    what: "p99 is the value at 99.9 %",
    file: "src/judge/latency.ts",
    find: "p99: 990,",
    replace: "p99: 999,",
    test: "test/unit/judge/latency.test.ts",
  },
  {
    what: "requests that timed out are not in the percentiles",
    file: "src/judge/latency.ts",
    find: "({ failed, censored }) => [failed, censored]",
    replace: "({ failed }) => [failed]",
    test: "test/unit/judge/latency.test.ts",
  },
  {
    what: "a percentile that failures could move has no bounds",
    file: "src/judge/latency.ts",
    find: "bounds[name] = between;",
    replace: "void between;",
    test: "test/unit/judge/latency.test.ts",
  },
  {
    what: "evicted keys make a run invalid instead of suspect",
    file: "src/judge/rules/fresh-state.ts",
    find: '{ severity: "suspect", text: evicted.join(", ") }',
    replace: '{ severity: "invalid", text: evicted.join(", ") }',
    test: "test/unit/judge/rules.test.ts",
  },
  {
    what: "failed script calls count as decisions",
    file: "src/targets/stores/resp/readings.ts",
    find: "total + calls - failed, 0),",
    replace: "total + calls, 0),",
    test: "test/unit/targets/stores/store-answers.test.ts",
  },
  {
    what: "an invalid run that also has a suspect reason is called suspect",
    file: "src/judge/rules.ts",
    find: 'reasons.some(({ severity }) => severity === "invalid")',
    replace: 'reasons.every(({ severity }) => severity === "invalid")',
    test: "test/unit/judge/verdict.test.ts",
  },
  {
    what: "decisions without the store count as missing in it",
    file: "src/judge/rules/counting.ts",
    find: ": { least: decided - withoutStore, most };",
    replace: ": { least: decided, most };",
    test: "test/unit/judge/rules.test.ts",
  },
  {
    what: "a request that waits for its decision for ever is never admitted by +fail-open",
    file: "src/targets/fail-open.ts",
    find: "setTimeout(open, FAIL_OPEN_AFTER_MS)",
    replace: "setTimeout(open, 100 * FAIL_OPEN_AFTER_MS)",
    test: "test/unit/targets/fail-open.test.ts",
  },
];
