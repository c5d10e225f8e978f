import { describe, expect, onTestFinished, test } from "vitest";
import { expectConsistent } from "../../helpers/expectations.js";
import { generate, measured } from "../../helpers/programs.js";
import { TestServer } from "../../helpers/server.js";
import { StubServer } from "../../helpers/stub-server.js";

const startStubs = (count: number) =>
  Promise.all(Array.from({ length: count }, () => StubServer.start()));
const addresses = (servers: readonly { url: string }[]): string =>
  servers.map(({ url }) => url).join(",");

describe("connections to several servers", () => {
  test.each([
    ["closed", { REQUESTS: "700" }],
    ["open", { RATE: "350", DURATION: "2" }],
  ])("are spread evenly in the %s loop, also over workers", async (_loop, load) => {
    const stubs = await startStubs(3);
    const env = { TARGET_URL: addresses(stubs), CONNECTIONS: "7", WORKERS: "2", ...load };
    const result = await measured(env);
    expectConsistent(result);
    expect(result.request.urls).toEqual(stubs.map(({ url }) => url));
    const counts = await Promise.all(stubs.map((stub) => stub.counts()));
    expect(counts.map(({ connections }) => connections)).toEqual([3, 2, 2]);
    expect(counts.reduce((total, { asked }) => total + asked, 0)).toBe(result.counts.sent);
  });

  test("go on when one server dies: what it lost is counted", async () => {
    const stubs = await startStubs(2);
    const env = { TARGET_URL: addresses(stubs), CONNECTIONS: "8", DURATION: "3", TIMEOUT: "1" };
    const running = generate(env);
    const [dying, living] = stubs;
    await expect.poll(() => running.stderr(), { timeout: 240_000 }).toContain('"second"');
    await dying?.kill();
    const before = await living?.counts();
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    const result = JSON.parse(stdout);
    expectConsistent(result);
    expect(result.counts.connection_errors).toBeGreaterThan(0);
    expect((await living?.counts())?.answered).toBeGreaterThan(before?.answered ?? 0);
  });
});

describe("several servers of ours", () => {
  const startServers = async (environments: readonly Record<string, string>[]) => {
    const servers = await Promise.all(
      environments.map((env) => TestServer.start({ MODE: "none", ...env })),
    );
    onTestFinished(async () => void (await Promise.all(servers.map((server) => server.stop()))));
    return servers;
  };

  test("that differ, and one next to a foreign one, are an unfit environment", async () => {
    const ours = { MODE: "memory" };
    const [server, other] = await startServers([ours, { ...ours, RATE_LIMIT_POINTS: "7" }]);
    if (!server || !other) throw new Error("two servers");
    for (const odd of [other, await StubServer.start()]) {
      const env = { TARGET_URL: addresses([server, odd]), DURATION: "1" };
      const { code, stderr } = await generate(env).ended;
      expect(code).toBe(3);
      expect(stderr).toContain(odd.url);
    }
  });
});
