import { afterEach, expect, test, vi } from "vitest";
import { environmentError } from "../../../../src/kit/errors.js";
import { auditTarget } from "../../../../src/orchestrator/audit/audit-target.js";
import {
  AuditedSystem,
  type SystemSettings,
} from "../../../../src/orchestrator/audit/audited-system.js";
import { checks } from "../../../../src/orchestrator/audit/checks/index.js";
import type { PartPlace } from "../../../../src/orchestrator/run/part-supervisor.js";
import { targetOf } from "../../../helpers/target.js";

afterEach(() => vi.restoreAllMocks());

/** The settings of the systems that these checks would share. */
async function systemsFor(...ids: readonly string[]): Promise<SystemSettings[]> {
  const systems: SystemSettings[] = [];
  vi.spyOn(AuditedSystem, "use").mockImplementation(async (settings) => {
    systems.push(settings);
    throw environmentError("this system does not start");
  });
  await auditTarget(
    { target: targetOf("ioredis@valkey"), caps: {}, modules: {}, serviceEnv: undefined },
    { runtime: { id: "local" } } as PartPlace,
    checks.filter(({ id }) => ids.includes(id)),
    { check: () => {}, finding: () => {} },
  );
  return systems;
}

test.each([
  { ids: ["exact-burst", "expiry"], counts: [1] },
  { ids: ["exact-burst", "exact-burst-4-servers"], counts: [4] },
  { ids: ["exact-burst-4-servers", "block-time", "store-restart"], counts: [4, 1, 1] },
  { ids: ["clocks-2-s", "clocks-30-s"], counts: [4] },
])("$ids start as many servers as they compare", async ({ ids, counts }) => {
  const systems = await systemsFor(...ids);
  expect(systems.map(({ serverCount }) => serverCount)).toEqual(counts);
});
