import { describe, expect, test } from "vitest";
import { TestDecidingServer } from "../../helpers/deciding-server.js";
import { needs } from "../../helpers/needs.js";
import { targetOf } from "../../helpers/target.js";
import { AT_ONCE, decidingServerContract } from "../../suites/deciding-server.js";
import { countOutcomes, LIMITS, withOpenTargets } from "../../suites/open-target.js";

const CLIENTS = [
  "ioredis@throttlecrab",
  "ioredis@throttlecrab+autopipelining",
  "iovalkey@throttlecrab",
  "node-redis@throttlecrab",
  "throttlecrab-http",
  "throttlecrab-grpc",
];

const MEASURED = ["ioredis@throttlecrab", "throttlecrab-http", "throttlecrab-grpc"];

decidingServerContract("throttlecrab", CLIENTS, MEASURED, () => LIMITS.window_s / LIMITS.points);

describe("the store of ThrottleCrab", needs(["throttlecrab"]), () => {
  test.each(["periodic", "probabilistic", "adaptive"])(
    "decides with its store +%s",
    async (store) => {
      const target = targetOf(`ioredis@throttlecrab+${store}`);
      const other = await TestDecidingServer.start("throttlecrab", ["--store", store]);
      try {
        await withOpenTargets([target], other.place, async ([opened]) => {
          expect(opened?.description.storeArguments).toEqual(["--store", store]);
          const asked = Array.from({ length: AT_ONCE }, () => opened?.standard.consume("one"));
          const decided = (await Promise.all(asked)).flatMap((decision) => decision ?? []);
          expect(countOutcomes(decided)).toMatchObject({ allowed: LIMITS.points, failed: 0 });
        });
      } finally {
        await other.kill();
      }
    },
  );
});
