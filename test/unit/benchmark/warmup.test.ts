import { expect, test } from "vitest";
import { cpuPerRequest, warmUpUntilSteady } from "../../../src/benchmark/warmup.js";
import type { Usage } from "../../../src/contract/server-api.js";
import { WarmupWatch } from "../../../src/judge/warmup-watch.js";
import { usage } from "../../helpers/evidence.js";

/** Two servers whose CPU time per request falls until the 30th slice. */
function coolingServers() {
  const perRequest = (slice: number) => Math.max(100, 400 - 10 * slice);
  let slices = 0;
  let cpu_us = 0;
  return {
    load: async () => {
      cpu_us += 1_000 * perRequest(slices++);
      return { took_s: 0.1, requests: 2_000, answers: 2_000, latency_sum_us: 1e6 };
    },
    read: async (): Promise<Usage[]> =>
      [1, 2].map(() => ({
        ...usage({ requests: 1_000 * slices }),
        cpu_user_us: cpu_us,
        cpu_system_us: 0,
      })),
  };
}

test("goes on in slices until the CPU of all servers per request is flat, and adds them up [M26]", async () => {
  const servers = coolingServers();
  const watch = new WarmupWatch("closed");
  const warmup = await warmUpUntilSteady(servers.load, watch, {
    read: servers.read,
    mayEnd: async (isOver) => isOver,
  });
  expect(watch.isSteady).toBe(true);
  expect(warmup.requests / 2_000).toBeGreaterThan(30);
  expect(warmup.requests / 2_000).toBeLessThan(50);
});

test("one of several generators goes on until the warm-up of all may end", async () => {
  const { load } = coolingServers();
  const watch = new WarmupWatch("closed");
  const announced: boolean[] = [];
  const warmup = await warmUpUntilSteady(load, watch, {
    read: async () => undefined,
    mayEnd: async (isOver) => announced.push(isOver) === 15,
  });
  expect(warmup.requests).toBe(15 * 2_000);
  expect(announced.indexOf(true)).toBe(9);
});

test("CPU per request is not known where nothing was read", () => {
  const before = [{ cpu_user_us: 10, cpu_system_us: 5, requests: 2 }];
  const after = [{ cpu_user_us: 40, cpu_system_us: 15, requests: 6 }];
  expect(cpuPerRequest(before, after)).toBe(10);
  expect(cpuPerRequest(before, before)).toBeNaN();
  expect(cpuPerRequest(undefined, after)).toBeUndefined();
  expect(cpuPerRequest([], [])).toBeUndefined();
});
