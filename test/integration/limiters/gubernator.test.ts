import { describe, expect, test } from "vitest";
import { TestDecidingServer } from "../../helpers/deciding-server.js";
import { needs } from "../../helpers/needs.js";
import { targetOf } from "../../helpers/target.js";
import { AT_ONCE, decidingServerContract } from "../../suites/deciding-server.js";
import { LIMITS, openRequestLimiter } from "../../suites/open-target.js";

const CLIENTS = ["gubernator-http", "gubernator-grpc"].flatMap((id) => [
  id,
  `${id}+gubernator-leaky`,
]);

/** A number of its metrics; 0 before its first event. */
async function metric({ place }: TestDecidingServer, name: string): Promise<number> {
  const [node] = place.nodes;
  const text = await (await fetch(`http://${node?.host}:${node?.ports?.http}/metrics`)).text();
  const line = text.split("\n").find((candidate) => candidate.startsWith(`${name} `));
  return Number(line?.slice(name.length) ?? 0);
}
const DENIED = "gubernator_over_limit_counter";
const ERRORS = 'gubernator_check_error_counter{error="Invalid request"}';

decidingServerContract(
  "gubernator",
  CLIENTS,
  ["gubernator-http", "gubernator-grpc+gubernator-leaky"],
  () => LIMITS.window_s,
  ({ text, server, opened }) => {
    test("its counters of decisions and denials agree with ours, several keys of a request included", async () => {
      const { limiter } = opened();
      const [decisions, denied] = [await server().decisions(), await metric(server(), DENIED)];
      const keys = [`${text}-a`, `${text}-b`, "exhausted-c"];
      const asked = Array.from({ length: AT_ONCE }, () => limiter.consume(keys));
      await Promise.all(asked);
      const { consumes } = limiter;
      expect(consumes).toMatchObject({ calls: AT_ONCE, allowed: 2 * LIMITS.points, failed: 0 });
      expect((await server().decisions()) - decisions).toBe(3 * AT_ONCE);
      expect((await metric(server(), DENIED)) - denied).toBe(consumes.limited);
    });

    test("a check that it answers with an error, and UNDER_LIMIT, is a failure, and so are the others of its call", async () => {
      const { limiter } = opened();
      const errors = await metric(server(), ERRORS);
      // It refuses an empty key.
      const decision = await limiter.consume("");
      expect(decision.outcome).toBe("failed");
      expect(decision.outcome === "failed" && decision.error.message).toContain("unique_key");
      expect((await limiter.consume(["", "good"])).outcome).toBe("failed");
      expect({ ...limiter.consumes }).toEqual({ calls: 2, allowed: 0, limited: 0, failed: 3 });
      expect((await metric(server(), ERRORS)) - errors).toBe(2);
    });
  },
);

describe("gubernator without a peer", needs(["gubernator"]), () => {
  test("decides nothing: each check is a failure, and it is never ready", async () => {
    const server = await TestDecidingServer.start("gubernator");
    try {
      const { client, limiter } = await openRequestLimiter(
        targetOf("gubernator-grpc"),
        server.place,
      );
      try {
        await server.kill();
        await server.run({ GUBER_PEER_DISCOVERY_TYPE: "none" });
        await expect
          .poll(async () => JSON.stringify(await limiter.consume("ada"), errorText), POLL)
          .toContain("pool is empty");
        expect(limiter.consumes).toMatchObject({ allowed: 0, limited: 0 });
        await expect(openRequestLimiter(targetOf("gubernator-http"), server.place)).rejects.toThrow(
          "503",
        );
      } finally {
        await client.close();
      }
    } finally {
      await server.kill();
    }
  });
});

const POLL = { timeout: 60_000, interval: 100 };
const errorText = (_name: string, value: unknown): unknown =>
  value instanceof Error ? value.message : value;
