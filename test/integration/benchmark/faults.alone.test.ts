import { beforeAll, describe, expect, test } from "vitest";
import { expectConsistent } from "../../helpers/expectations.js";
import { build, measured } from "../../helpers/programs.js";
import { StubServer } from "../../helpers/stub-server.js";

beforeAll(build);

describe("a server that cuts connections in the middle of answers", () => {
  test("costs those requests alone: they are counted as connection errors, and no later answer is older for it", async () => {
    const stub = await StubServer.start({ cut: 50, delay_us: 300 });
    const result = await measured({ TARGET_URL: stub.url, DURATION: "2", CONNECTIONS: "3" });
    const { counts } = result;
    const done = await stub.counts();
    expect(counts.connection_errors).toBeGreaterThan(5);
    expect(result.errors).toBe(done.cut);
    expect(counts.allowed + counts.after_window.allowed).toBe(done.answered);
    expectConsistent(result);
    // A lost request that stayed in the queue would give its age, up to seconds, to all later answers.
    const { p90, bounds } = result.latency ?? {};
    expect(p90 ?? bounds?.p90?.high).toBeLessThan(20);
    expect(result.latency?.min).toBeGreaterThanOrEqual(0.3);
    expect(result.outcome).toBe("failed");
  });
});
