import { readFileSync } from "node:fs";
import { join } from "node:path";
import { MANIFEST_SCHEMA, MANIFEST_SCHEMA_VERSION, type Manifest } from "../contract/manifest.js";
import type { Plan } from "../contract/plan.js";
import type { Discovery } from "../contract/store.js";
import type { Runtime } from "../runtimes/types.js";
import { stores } from "../targets/stores/index.js";
import { conditionsOf, describeMachine, gitRevision } from "./machine.js";
import { runtimeFacts } from "./records.js";
import type { Request } from "./request.js";

/** The manifest as it stands before the first run. */
export async function startManifest(
  campaign: string,
  request: Request,
  plan: Plan,
  runtime: Runtime,
  external: Discovery | undefined,
  packageFolder: string,
): Promise<Manifest> {
  const machine = await describeMachine();
  const { version } = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")) as {
    version: string;
  };
  const revision = await gitRevision(packageFolder);
  const used = new Set(plan.configurations.map(({ configuration }) => configuration.target.store));
  const programs = stores.flatMap(({ id, program }) => {
    if (!used.has(id) || !program) return [];
    const facts = external
      ? { path: "already running", version: external.version, embedded: false }
      : runtime.program(program);
    if (typeof facts === "string") return [];
    const { path, version, embedded } = facts;
    return [[id, { path, version, embedded }] as const];
  });
  return {
    schema: MANIFEST_SCHEMA,
    schema_version: MANIFEST_SCHEMA_VERSION,
    campaign,
    status: "running",
    started_at: new Date().toISOString(),
    command: request.command,
    settings: request.settings,
    ...(request.thresholds.length > 0 ? { thresholds: request.thresholds } : {}),
    harness: { version, node: process.versions.node, ...(revision ? { git_revision: revision } : {}) },
    machine,
    runtime: runtimeFacts(
      runtime,
      request.caps,
      programs.some(([, facts]) => facts.embedded),
    ),
    ...(runtime.engine ? { engine: runtime.engine } : {}),
    ...(runtime.images ? { images: { ...runtime.images } } : {}),
    stores: Object.fromEntries(programs),
    generator: { workers: request.workers },
    conditions: conditionsOf(machine, runtime, request.caps),
    plan,
  };
}
