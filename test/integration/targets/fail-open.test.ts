import { describe, expect, onTestFinished, test } from "vitest";
import { openTarget } from "../../../src/targets/open-target.js";
import { needs } from "../../helpers/needs.js";
import { until } from "../../helpers/store.js";
import { targetOf } from "../../helpers/target.js";
import { LIMITS } from "../../suites/open-target.js";
import { storeForSuite } from "../../suites/shared.js";

describe("+fail-open and +insurance-limiter", needs(["valkey"]), () => {
  const setupOf = storeForSuite("valkey", "standalone");

  async function opened(text: string) {
    const target = targetOf(text);
    const { store, topology, nodes } = setupOf().place;
    const place = { id: store, topology, nodes: [...nodes] };
    const open = await openTarget({ target, limits: LIMITS, store: place, key_prefix: "rl" });
    if (!open.limiter) throw new Error("it limits nothing");
    return { ...open, limiter: open.limiter };
  }

  test.each([
    "iovalkey+fail-open",
    "node-redis@valkey+same-script+fail-open",
    "iovalkey+fastify-rate-limit+fail-open",
    "iovalkey+redis-gcra+fail-open",
  ])("%s denies while the store decides, and admits while it hangs or is gone", async (text) => {
    const setup = setupOf();
    const { limiter, client, close } = await opened(text);
    onTestFinished(() => close());
    const ask = async (times: number): Promise<string[]> => {
      const decisions = await Promise.all(
        Array.from({ length: times }, () => limiter.consume("ada")),
      );
      return decisions.map(({ outcome }) => outcome);
    };
    const beyond = LIMITS.points + 5;
    expect((await ask(beyond)).filter((outcome) => outcome === "limited")).toHaveLength(5);
    expect(limiter.consumes.without_store).toBe(0);
    setup.pause();
    expect(await ask(3)).toEqual(["allowed", "allowed", "allowed"]);
    expect(limiter.consumes.without_store).toBe(3);
    setup.resume();
    await setup.kill();
    expect(await ask(3)).toEqual(["allowed", "allowed", "allowed"]);
    expect(limiter.consumes.without_store).toBe(6);
    await setup.run();
    await until(() => client.storeVersion().then(Boolean, () => false));
    // The quota binds again.
    await until(async () => (await ask(beyond)).includes("limited"));
  });

  test("the insurance limiter keeps the quota by itself, and says how often", async () => {
    const setup = setupOf();
    const { limiter, close } = await opened("iovalkey+insurance-limiter");
    onTestFinished(() => close());
    for (let n = 0; n < 3; n++) await limiter.consume("ada");
    expect(limiter.consumes).toMatchObject({ calls: 3, allowed: 3, without_store: 0 });
    await setup.kill();
    const decisions = await Promise.all(
      Array.from({ length: LIMITS.points + 5 }, () => limiter.consume("ada")),
    );
    expect(decisions.filter(({ outcome }) => outcome === "limited")).toHaveLength(5);
    expect(limiter.consumes).toMatchObject({ failed: 0, without_store: LIMITS.points + 5 });
    await setup.run();
  });
});
