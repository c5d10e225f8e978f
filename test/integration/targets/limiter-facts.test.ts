import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, test, vi } from "vitest";
import { findLimiter } from "../../../src/targets/resolve.js";
import { ensureInstalled } from "../../helpers/on-demand.js";
import { ROOT } from "../../helpers/programs.js";
import { missingFor } from "../../helpers/target-system.js";
import { findBehaviour, type LimiterBehaviour, triedTargets } from "../../suites/limiter-facts.js";
import { removeGlideSockets } from "../../suites/open-target.js";

const known = new Map(
  (
    JSON.parse(
      readFileSync(join(ROOT, "test/fixtures/limiter-facts.json"), "utf8"),
    ) as LimiterBehaviour[]
  ).map((behaviour) => [behaviour.target, behaviour]),
);

afterAll(() => removeGlideSockets(process.pid));

// They wait for most of their time, and each has a store of its own.
vi.setConfig({ maxConcurrency: 6 });

describe.concurrent("docs/limiters.md says what limiters do: if it differs, run npm run facts and npm run generate", () => {
  for (const target of triedTargets()) {
    const missing = missingFor(target);
    if (missing)
      process.stderr.write(`facts of ${target.text} are not compared: no ${missing} was found\n`);
    test(target.text, { skip: missing !== undefined }, async ({ expect }) => {
      await ensureInstalled(target);
      const { tried, bytes_per_key: bytes, ...properties } = await findBehaviour(target);
      const {
        tried: triedBefore,
        bytes_per_key: bytesBefore,
        ...before
      } = known.get(target.text) ?? {};
      expect(properties).toEqual(before);
      const { atomic, notAtomicOn = [] } = findLimiter(target.limiter);
      if (atomic !== undefined)
        expect(properties.atomic).toBe(atomic && !notAtomicOn.includes(target.store));
      // Another version has another allocator, or other structures.
      if (tried.store !== triedBefore?.store || bytes === null) return;
      expect(Math.abs(bytes - (bytesBefore ?? 0))).toBeLessThanOrEqual(0.15 * bytes + 10);
    });
  }
});
