import type { Mutant } from "./mutant.js";

/** Bugs in server, benchmark, probe, runtimes, orchestrator. */
export const programs: readonly Mutant[] = [
  // src/server
  {
    what: "a duration at the upper bound of a bucket counts in the next bucket",
    file: "src/server/lib/duration-histogram.ts",
    find: "32 - Math.clz32(us - 1)",
    replace: "32 - Math.clz32(us)",
    test: "test/unit/server/duration-histogram.test.ts",
  },
  // src/benchmark
  {
    what: "latencies are recorded in milliseconds instead of microseconds",
    file: "src/benchmark/measurement/recorder.ts",
    find: "Math.max(1, Math.round(ms * 1000))",
    replace: "Math.max(1, Math.round(ms))",
    test: "test/unit/benchmark/measurement/recorder.test.ts",
  },
  {
    what: "failed responses count in the latency of each second",
    file: "src/benchmark/measurement/recorder.ts",
    find: 'if (outcome !== "failed") this.#buffer.push(us);',
    replace: "this.#buffer.push(us);",
    test: "test/unit/benchmark/measurement/recorder.test.ts",
  },
  {
    what: "all connections go to the first server",
    file: "src/benchmark/drivers/http/requests.ts",
    find: "endpoints[connection % endpoints.length]",
    replace: "endpoints[0]",
    test: "test/unit/benchmark/drivers/http/requests.test.ts",
  },
  {
    what: "the decision on an abandoned consume is taken for that on the next one",
    file: "src/benchmark/drivers/limiter/channel.ts",
    find: "if (settle !== this.#settle || this.#isClosed) return;",
    replace: "if (this.#isClosed) return;",
    test: "test/unit/benchmark/drivers/limiter/channel.test.ts",
  },
  // src/probe
  {
    what: "a field of INFO that contains a colon is cut off",
    file: "src/targets/stores/resp/nodes.ts",
    find: 'const colon = line.indexOf(":");',
    replace: 'const colon = line.lastIndexOf(":");',
    test: "test/unit/targets/stores/waiting.test.ts",
  },
  {
    what: "a wait for a store never ends",
    file: "src/targets/stores/wait-until.ts",
    find: "if (Date.now() > deadlineMs)",
    replace: "if (Date.now() < 0)",
    test: "test/unit/targets/stores/waiting.test.ts",
  },
  {
    what: "a probe does not end with its owner",
    file: "src/probe/index.ts",
    find: "resolve(EXIT.done));",
    replace: "setInterval(() => {}, 1000));",
    test: "test/integration/probe/probe.test.ts",
  },
  // src/runtimes
  {
    what: "a request to a part that has ended waits forever",
    file: "src/runtimes/line-client.ts",
    find: "for (const answer of this.#waiting.splice(0)) answer(undefined);",
    replace: "",
    test: "test/unit/runtimes/line-client.test.ts",
  },
  {
    what: "containers keep their capabilities",
    file: "src/runtimes/containers/specification.ts",
    find: 'CapDrop: ["ALL"],',
    replace: "",
    test: "test/unit/runtimes/containers/containers.test.ts",
  },
  // src/orchestrator
  {
    what: "the order of runs does not follow the seed",
    file: "src/orchestrator/plan/plan.ts",
    find: "xoroshiro128plus(spreadSeed(seed))",
    replace: "xoroshiro128plus(spreadSeed(1))",
    test: "test/unit/orchestrator/plan/order.test.ts",
  },
  {
    what: "parts are stopped in the order in which they were started",
    file: "src/orchestrator/ownership/lease.ts",
    find: "of [...parts].reverse()",
    replace: "of [...parts]",
    test: "test/unit/orchestrator/ownership/lease.test.ts",
  },
  {
    what: "a part that starts while everything is being stopped stays",
    file: "src/orchestrator/ownership/lease.ts",
    find: "if (this.#closed) throw",
    replace: "if (this.#closed && role === '') throw",
    test: "test/unit/orchestrator/ownership/lease.test.ts",
  },
  {
    what: "a foreign process that reuses the id of a dead one is ended",
    file: "src/orchestrator/host/leftovers.ts",
    find: "(await startTimeOf(pid)) === started;",
    replace: "(await startTimeOf(pid)) !== undefined && started !== '';",
    test: "test/unit/orchestrator/host/leftovers.test.ts",
  },
  {
    what: "the lock of a dead campaign holds forever",
    file: "src/orchestrator/ownership/state-folder.ts",
    find: "      await removeStaleLock(path, text);",
    replace: "",
    test: "test/unit/orchestrator/ownership/state-folder.test.ts",
  },
  {
    what: "a result counts even if its checksum is wrong",
    file: "src/orchestrator/files/checksums.ts",
    find: "return this.#sums.get(file) === sumOf(content);",
    replace: "return this.#sums.get(file) !== sumOf(Buffer.concat([content, content]));",
    test: "test/unit/orchestrator/campaign/completed-runs.test.ts",
  },
  {
    what: "--resume accepts a folder outside of the results root",
    file: "src/orchestrator/request/existing-campaign.ts",
    find: "if (dirname(folder) !== realpathSync(absolute))",
    replace: "if (dirname(folder) === '')",
    test: "test/unit/orchestrator/request/existing-campaign.test.ts",
  },
  {
    what: "a threshold in microseconds is read as milliseconds",
    file: "src/orchestrator/request/thresholds.ts",
    find: "us: 0.001, µs: 0.001",
    replace: "us: 1, µs: 1",
    test: "test/unit/orchestrator/request/thresholds.test.ts",
  },
  {
    what: "a rate counts as sustained although only half of it was sent",
    file: "src/orchestrator/max-rate/objective.ts",
    find: "const MIN_SENT_SHARE = 0.99;",
    replace: "const MIN_SENT_SHARE = 0.5;",
    test: "test/unit/orchestrator/max-rate/objective.test.ts",
  },
  {
    what: "a killed probe is reported with its last line instead of the signal",
    file: "src/orchestrator/run/store.ts",
    find: "const last = code ? probe.lastLines().at(-1) : undefined;",
    replace: "const last = probe.lastLines().at(-1);",
    test: "test/unit/orchestrator/run/store.test.ts",
  },
  {
    what: "a missed threshold ends the campaign with the exit code of invalid runs",
    file: "src/orchestrator/campaign/final-report.ts",
    find: "return EXIT.regression;",
    replace: "return EXIT.runsInvalid;",
    test: "test/integration/orchestrator/settings.test.ts",
  },
];
