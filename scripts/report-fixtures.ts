import { isApp } from "../src/contract/app.js";
import type { Configuration } from "../src/contract/configuration.js";
import { configurationHash, loadText } from "../src/contract/configuration.js";
import type { Verdict } from "../src/contract/judgement.js";
import {
  MANIFEST_SCHEMA,
  MANIFEST_SCHEMA_VERSION,
  type Manifest,
  manifestSchema,
} from "../src/contract/manifest.js";
import { PLAN_SCHEMA, PLAN_SCHEMA_VERSION } from "../src/contract/plan.js";
import {
  type FailedResult,
  failedResultSchema,
  type MeasuredResult,
  measuredResultSchema,
  type PrintedResult,
  printedResultSchema,
  RESULT_SCHEMA,
  RESULT_SCHEMA_VERSION,
} from "../src/contract/result.js";
import type { RoleResources } from "../src/contract/role-resources.js";
import type { Usage } from "../src/contract/server-api.js";
import type { StoreReading } from "../src/contract/store.js";
import type { Target } from "../src/contract/target.js";
import { resolveTarget } from "../src/targets/resolve.js";
import { validEvidence } from "../test/helpers/evidence.js";

/**
 * What the report's tests read and alter (`test/report/builder.py`): targets as they are resolved,
 * and one document of each kind that the schemas admit. To have another target, add its label.
 */
const LABELS = [
  "app.after",
  "app.before",
  "envoy-grpc",
  "envoy-grpc@valkey",
  "envoy-http",
  "ioredis",
  "ioredis+rate-limiter-flexible~11.4.0",
  "ioredis+rate-limiter-flexible~11.4.0+same-script",
  "ioredis+rate-limiter-flexible~7.1.1",
  "ioredis+rate-limiter-flexible~7.1.1+same-script",
  "ioredis+redis-cell",
  "ioredis+redis-gcra",
  "ioredis+redis-shield",
  "ioredis+same-script",
  "ioredis:cluster",
  "ioredis@redis~8.0",
  "ioredis@throttlecrab",
  "ioredis@valkey",
  "ioredis@valkey+autopipelining",
  "ioredis@valkey+autopipelining+same-script",
  "ioredis@valkey+copy",
  "ioredis@valkey+fastify-rate-limit",
  "ioredis@valkey+rate-limiter-flexible~11.4.0",
  "ioredis@valkey+rate-limiter-flexible~11.4.0+same-script",
  "ioredis@valkey+rate-limiter-flexible~7.1.1",
  "ioredis@valkey+rate-limiter-flexible~7.1.1+same-script",
  "ioredis@valkey+same-script",
  "ioredis@valkey+tuned",
  "ioredis@valkey:cluster",
  "ioredis~5.6.1",
  "iovalkey",
  "iovalkey+autopipelining",
  "iovalkey+autopipelining+same-script",
  "iovalkey+copy",
  "iovalkey+copy+same-script",
  "iovalkey+defaults",
  "iovalkey+express",
  "iovalkey+fastify-rate-limit",
  "iovalkey+in-memory-block",
  "iovalkey+node-22",
  "iovalkey+node-22.0.0",
  "iovalkey+node-24",
  "iovalkey+node-24.0.0",
  "iovalkey+same-script",
  "iovalkey+tls",
  "iovalkey+tuned",
  "iovalkey:cluster",
  "iovalkey@redis+rate-limit-redis",
  "iovalkey@valkey~8.1",
  "iovalkey@valkey~9.1",
  "iovalkey~0.3.1+fastify-rate-limit~10.3.0",
  "memcached",
  "memory",
  "node-redis",
  "node-redis:cluster",
  "node-redis@valkey",
  "node-redis@valkey+same-script",
  "none",
  "none+express",
  "none+node-22.0.0",
  "none+node-24.0.0",
  "valkey-glide",
  "valkey-glide+node-22",
  "valkey-glide+same-script",
  "valkey-glide+tls",
  "valkey-glide:cluster",
  "valkey-glide@valkey~8.1",
  "valkey-glide@valkey~9.1",
];

function targetOf(label: string): Target {
  const resolution = resolveTarget(label);
  if ("skip" in resolution) throw new Error(`${label} is no target: ${resolution.skip}`);
  if (resolution.target.label !== label && !isApp(resolution.target))
    throw new Error(`${label} is called ${resolution.target.label}`);
  return resolution.target;
}

const CAMPAIGN = "20260102_030405";
const times = { started_at: "2026-01-02T03:04:05.000Z", finished_at: "2026-01-02T03:04:15.000Z" };
const runtime = { id: "local", embedded_store: true, caps_applied: false };
const verdict: Verdict = { status: "valid", reasons: [], not_applicable: [] };

const configuration: Configuration = {
  layer: "server",
  target: targetOf("iovalkey"),
  servers: 1,
  workload: { id: "light" },
  traffic: "realistic",
  load: { model: "closed", connections: 50 },
  extent: { duration_s: 5 },
  limits: { points: 1_000_000, window_s: 60, block_s: 0 },
  caps: {},
};

type IdentityMember = Extract<keyof MeasuredResult, keyof PrintedResult & keyof FailedResult>;
const identity: Omit<Pick<MeasuredResult, IdentityMember>, "status" | "verdict"> = {
  schema: RESULT_SCHEMA,
  schema_version: RESULT_SCHEMA_VERSION,
  campaign: CAMPAIGN,
  run: 1,
  configuration,
  configuration_hash: configurationHash(configuration),
  load_text: loadText(configuration),
  ...times,
  runtime,
  notes: [],
};

const usage: Usage = {
  run_nonce: "n",
  uptime_s: 5,
  cpu_user_us: 0,
  cpu_system_us: 0,
  heap_used_bytes: 20_000_000,
  resident_bytes: 90_000_000,
  event_loop_active_ms: 1,
  event_loop_idle_ms: 1,
  requests: 0,
  in_flight: 0,
};

const reading: StoreReading = {
  run_id: "r",
  version: "9.1.2",
  uptime_s: 5,
  keys: 0,
  evicted_keys: 0,
  expired_keys: 0,
  used_memory_bytes: 3 * 1024 ** 2,
  script_calls: {},
  cpu_user_us: 1,
  cpu_system_us: 1,
};

const role = (kind: RoleResources["kind"], source: string, cpu_us: number): RoleResources => ({
  kind,
  source,
  cpu_us,
  cpu_percent: cpu_us / 50_000,
  cpu_us_per_request: cpu_us / 10_000,
  resident_bytes_mean: 90_000_000,
  resident_bytes_max: 95_000_000,
  samples: [],
});

/** 10,000 requests in 5 s, a tenth of them limited. Evidence that only rules read is left out. */
function measured(): MeasuredResult {
  const { admissions: _, host_load: _load, clock_change: _clock, ...evidence } = validEvidence();
  const [consumer] = evidence.consumers;
  if (!consumer) throw new Error("the evidence has no server");
  const result: MeasuredResult = {
    ...evidence,
    ...identity,
    unsupported: [],
    cpu_usage: 61.25,
    memory_usage: usage.heap_used_bytes,
    memory_resident: usage.resident_bytes,
    consumers: [
      {
        ...consumer,
        run_nonce: usage.run_nonce,
        workloads: [{ id: "light" }],
        client_settings: {
          protocol: 3,
          request_timeout_ms: 5000,
          offline_queue: false,
          password: null,
        },
        at_start: usage,
        at_window_open: usage,
        at_end: usage,
      },
    ],
    store: {
      nodes: [{ role: "store-1", at_start: reading, at_end: reading }],
      settings: {},
      external: false,
    },
    resources: {
      "server-1": role("server", "process.cpuUsage", 4_000_000),
      "store-1": role("store", "INFO cpu", 120_000),
      "generator-1": role("generator", "process.cpuUsage", 400_000),
    },
    versions: {
      node: "24.11.0",
      fastify: "5.12.8",
      client: "1.2.3",
      limiter: "11.4.0",
      store: "9.1.2",
      autocannon: "9.0.0",
      harness: "0.1.0",
    },
    limited_by: { resource: "server loop", text: "the server's event loop was 97 % busy" },
    verdict,
    outcome: "served",
  };
  return measuredResultSchema.parse(result);
}

const operationReading = { version: "8.1.4", uptime_s: 3, run_id: "abc", keys: 50_000 };

const printed = (): PrintedResult =>
  printedResultSchema.parse({
    ...identity,
    runtime: { ...runtime, embedded_store: false },
    status: "printed",
    operation: configuration.workload,
    load: configuration.load,
    warmup_s: 1.5,
    duration: 2,
    program_s: 2.1,
    operations: { total: 200_000, per_second: 100_000 },
    latency: { average: 0.4, min: 0.05, p50: 0.35, p95: 0.7, p99: 1.1, max: 5.2 },
    program: { id: "valkey-benchmark", version: "8.1.4", arguments: ["-n", "1"], output: "" },
    calls: { before: 5, after: 200_005 },
    memory: { keys: 50_000, used_bytes: 9_000_000, bytes_per_key: 180 },
    store: {
      nodes: [{ role: "store-1", at_start: operationReading, at_end: operationReading }],
      settings: {},
      external: false,
    },
    resources: {},
    store_cpu_us_per_operation: 1,
    host_load: { cpus: 4, busy_cpu_percent: 180, foreign_cpu_percent: 1 },
    versions: { store: "8.1.4", program: "8.1.4" },
    limited_by: { resource: "generator", text: "valkey-benchmark used 98 % of one core" },
    verdict,
    outcome: "served",
  });

const failed = (): FailedResult =>
  failedResultSchema.parse({
    ...identity,
    status: "failed",
    failure: { role: "server-1", text: "exited with code 137" },
    verdict: { ...verdict, status: "invalid" },
  });

/** Its plan has no run: tests add theirs. */
const manifest = (): Manifest =>
  manifestSchema.parse({
    schema: MANIFEST_SCHEMA,
    schema_version: MANIFEST_SCHEMA_VERSION,
    campaign: CAMPAIGN,
    status: "finished",
    started_at: times.started_at,
    finished_at: "2026-01-02T03:14:05.000Z",
    command: "./scripts/run-all.sh --quick --seed 7",
    harness: { version: "0.1.0", git_revision: "0123456789abcdef", node: "24.11.0" },
    machine: {
      platform: "linux",
      kernel: "6.12.0",
      cpu_model: "Example CPU @ 2.50GHz",
      cpus: 2,
      memory_bytes: 8 * 1024 ** 3,
      sysctl: { "net.core.somaxconn": "4096" },
    },
    runtime,
    stores: { valkey: { path: "valkey-server", version: "9.1.2", embedded: true } },
    generator: { workers: 1 },
    conditions: ["Two cores serve three roles: figures are lower than on a larger host."],
    plan: {
      schema: PLAN_SCHEMA,
      schema_version: PLAN_SCHEMA_VERSION,
      seed: 7,
      order: "interleaved",
      runs_per_configuration: 3,
      warmup_s: 1,
      cooldown_s: 0,
      client_cooldown_s: 0,
      configurations: [],
      runs: [],
      skips: [],
      notes: [],
    },
  });

export const reportFixtures = () => ({
  targets: Object.fromEntries(LABELS.map((label) => [label, targetOf(label)])),
  configuration,
  measured: measured(),
  printed: printed(),
  failed: failed(),
  manifest: manifest(),
});
