import type { Mutant } from "./mutant.js";

/** Bugs in contract, targets, traffic, plugins, judge. */
export const pure: readonly Mutant[] = [
  // src/contract
  {
    what: "the hash of a configuration follows the order in which its members were written",
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
    what: "a duration of 0 is taken",
    file: "src/contract/generator-env.ts",
    find: "DURATION: decimalNumber(0.1, 86_400)",
    replace: "DURATION: decimalNumber(0, 86_400)",
    test: "test/unit/contract/env.test.ts",
  },
  {
    what: "a probe takes a request that names no action it knows",
    file: "src/contract/probe-env.ts",
    find: "actions: z.array(z.enum(probeActions)).min(1)",
    replace: "actions: z.array(z.any()).min(1)",
    test: "test/unit/contract/env.test.ts",
  },
  // src/targets
  {
    what: "what was probably meant is the word that is farthest from it",
    file: "src/targets/did-you-mean.ts",
    find: ".sort((a, b) => a.edits - b.edits)[0];",
    replace: ".sort((a, b) => b.edits - a.edits)[0];",
    test: "test/unit/targets/did-you-mean.test.ts",
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
    file: "src/traffic/prediction.ts",
    find: "return count <= points;",
    replace: "return count <= points + 1;",
    test: "test/unit/traffic/prediction.test.ts",
  },
  {
    what: "the prediction counts the warm-up as part of the window",
    file: "src/traffic/prediction.ts",
    find: "if (n >= opens && !admitted) limited++;",
    replace: "if (!admitted) limited++;",
    test: "test/unit/traffic/prediction.test.ts",
  },
  // src/plugins
  {
    what: "the checksum of a plugin's folder leaves out the files' names",
    file: "src/plugins/source.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the source
    find: "return `${sha256(await readFile(path))}  ${name}`;",
    replace: "return sha256(await readFile(path));",
    test: "test/unit/plugins/load.test.ts",
  },
  // src/judge
  {
    what: "a rejection by the limiter is no answer",
    file: "src/judge/counts.ts",
    find: "counts.allowed + counts.limited;",
    replace: "counts.allowed;",
    test: "test/unit/judge/rules.test.ts",
  },
  {
    what: "histograms of workers are not merged, the last one wins",
    file: "src/judge/histogram.ts",
    find: "if (part.count > 0) merged.add(decodeHistogram(part));",
    replace: "if (part.count > 0 && part === encoded.at(-1)) merged.add(decodeHistogram(part));",
    test: "test/unit/judge/histogram.test.ts",
  },
  {
    what: "p99 is the value at 99.9 %",
    file: "src/judge/latency.ts",
    find: "p99: at(99),",
    replace: "p99: at(99.9),",
    test: "test/unit/judge/histogram.test.ts",
  },
  {
    what: "evicted keys make a run invalid instead of suspect",
    file: "src/judge/rules/clean.ts",
    find: '{ severity: "suspect", text: evicted.join(", ") }',
    replace: '{ severity: "invalid", text: evicted.join(", ") }',
    test: "test/unit/judge/rules.test.ts",
  },
  {
    what: "script calls that failed count as decisions",
    file: "src/judge/rules/counting.ts",
    find: "total + calls - failed, 0);",
    replace: "total + calls, 0);",
    test: "test/unit/judge/rules.test.ts",
  },
  {
    what: "an invalid run with a suspect reason beside it is called suspect",
    file: "src/judge/rules.ts",
    find: 'reasons.some(({ severity }) => severity === "invalid")',
    replace: 'reasons.every(({ severity }) => severity === "invalid")',
    test: "test/unit/judge/verdict.test.ts",
  },
];
