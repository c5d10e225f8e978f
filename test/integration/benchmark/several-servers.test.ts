import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { expectConsistent } from "../../helpers/expectations.js";
import { build, generate, measured } from "../../helpers/programs.js";
import { TestServer } from "../../helpers/server.js";
import { StubServer } from "../../helpers/stub-server.js";

beforeAll(build);

const startStubs = (count: number) => Promise.all(Array.from({ length: count }, () => StubServer.start()));
const addresses = (servers: readonly { url: string }[]): string => servers.map(({ url }) => url).join(",");

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
    const env = { TARGET_URL: addresses(stubs), CONNECTIONS: "8", DURATION: "2", TIMEOUT: "1" };
    const running = generate(env);
    const [dying, living] = stubs;
    await expect.poll(() => running.stderr(), { timeout: 60_000 }).toContain('"second"');
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
    const servers = await Promise.all(environments.map((env) => TestServer.start({ MODE: "none", ...env })));
    onTestFinished(async () => void (await Promise.all(servers.map((server) => server.stop()))));
    return servers;
  };

  test("each give their readings, and together the figures of the result", async () => {
    const servers = await startServers([{}, {}]);
    const env = { TARGET_URL: addresses(servers), CONNECTIONS: "4", DURATION: "1.5", WARMUP: "0.3" };
    const result = await measured(env);
    expectConsistent(result);
    expect(result.consumers.map(({ id }) => id)).toEqual(["server-1", "server-2"]);
    const asked = result.consumers.map(
      ({ at_window_open, at_end }) => at_end.requests - at_window_open.requests,
    );
    expect(Math.min(...asked)).toBeGreaterThan(0);
    expect((asked[0] ?? 0) + (asked[1] ?? 0)).toBe(result.counts.sent + result.warmup.lead_in.requests);
    const { "server-1": first, "server-2": second, "generator-1": generator } = result.resources;
    expect([first?.kind, second?.kind, generator?.kind]).toEqual(["server", "server", "generator"]);
    expect(result.cpu_usage).toBeCloseTo((first?.cpu_percent ?? 0) + (second?.cpu_percent ?? 0), 2);
    expect(result.memory_resident).toBe(
      (first?.resident_bytes_mean ?? 0) + (second?.resident_bytes_mean ?? 0),
    );
    // On a busy machine a reading may come too late for its second.
    const seen = result.samples.map(({ server_resident_bytes }) => server_resident_bytes ?? 0);
    expect(Math.max(...seen)).toBeGreaterThan(first?.resident_bytes_max ?? Number.NaN);
    expect(result.verdict.reasons.filter(({ severity }) => severity === "invalid")).toEqual([]);
  });

  test("that differ are an unfit environment", async () => {
    const servers = await startServers([{ MODE: "memory" }, { MODE: "memory", RATE_LIMIT_POINTS: "7" }]);
    const { code, stderr } = await generate({ TARGET_URL: addresses(servers), DURATION: "1" }).ended;
    expect(code).toBe(3);
    expect(stderr).toMatch(/^the servers differ: \S+ has the limits .*7/);
  });

  test("next to a foreign one are an unfit environment", async () => {
    const servers = [...(await startServers([{}])), await StubServer.start()];
    const { code, stderr } = await generate({ TARGET_URL: addresses(servers), DURATION: "1" }).ended;
    expect(code).toBe(3);
    expect(stderr).toContain("are not servers of the same kind");
  });
});
