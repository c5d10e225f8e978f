import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { EXIT } from "../../../src/kit/errors.js";
import { contactStore } from "../../../src/orchestrator/run/store/contact-store.js";
import { discoverStore } from "../../../src/orchestrator/run/store/discover-store.js";
import { freePort } from "../../../src/runtimes/local/ports.js";
import { Campaign } from "../../helpers/campaign.js";
import { envoyProgram } from "../../helpers/envoy.js";
import { expectFailure, failureOf } from "../../helpers/errors.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { openLocalRuntime } from "../../helpers/local-runtime.js";
import { endsOnBusyMachine, ownInvalidity } from "../../helpers/measured-campaign.js";
import { needs } from "../../helpers/needs.js";
import { ROOT } from "../../helpers/programs.js";
import { TestStore } from "../../helpers/store.js";

const newFolder = temporaryFolders();

const SHORT = ["--duration-mode", "requests:1000", "--warmup", "0.1"];
const PASSWORD = "s3cret-p4ssw0rd";
const tls = (file: string) => join(ROOT, "test/fixtures/tls", file);

/** Every file below a folder. */
const filesBelow = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });

const holding = (folder: string, text: string): string[] =>
  filesBelow(folder).filter((file) => readFileSync(file, "latin1").includes(text));

/** @param asks whether its clients must present a certificate */
async function encryptedStore(port: number, asks = false): Promise<TestStore> {
  return TestStore.start(
    [
      "--tls-port",
      String(port),
      "--tls-cert-file",
      tls("cert.pem"),
      "--tls-key-file",
      tls("key.pem"),
      "--tls-ca-cert-file",
      tls("ca.pem"),
      "--tls-auth-clients",
      asks ? "yes" : "no",
      // The test's own connection stays in the clear, as a user who needs no password.
      ..."--user default on nopass ~* &* +@all".split(" "),
      ...`--user bench on >${PASSWORD} ~* &* +@all`.split(" "),
    ],
    "redis",
  );
}

describe("a store that the user already runs", needs(["redis"]), () => {
  test("is detected before a campaign, and nobody at the address is said in one line", async () => {
    const store = await TestStore.start([], "redis");
    onTestFinished(() => store.stop());
    const STORE_URL = `redis://127.0.0.1:${store.port}`;
    expect(await contactStore({ STORE_URL })).toMatchObject({
      store: "redis",
      topology: "standalone",
    });
    await store.stop();
    await expectFailure(
      () => contactStore({ STORE_URL }),
      EXIT.environment,
      `127.0.0.1:${store.port} does not answer`,
    );
  });

  test("with a password, encryption and certificates of clients: every client, nothing of the user's touched, no secret anywhere [R-keys-4]", async () => {
    const port = await freePort();
    const store = await encryptedStore(port, true);
    onTestFinished(() => store.stop());
    await store.ask((client) => client.set("users:own", "precious"));
    await store.ask((client) => client.eval("return 1", 0));
    const home = newFolder();
    const url = `rediss://bench:${PASSWORD}@localhost:${port}`;
    const clients =
      "ioredis,node-redis,iovalkey@redis+same-script,valkey-glide@redis+same-script,iovalkey,ioredis:cluster";
    const campaign = Campaign.run(home, clients, [...SHORT, "--store-url", url], {
      STORE_CA: tls("ca.pem"),
      STORE_CERT: tls("cert.pem"),
      STORE_KEY: tls("key.pem"),
    });
    const { stdout, stderr } = await endsOnBusyMachine(campaign);

    expect(campaign.measured).toHaveLength(4);
    for (const result of campaign.measured) {
      expect(ownInvalidity(result)).toEqual([]);
      expect(result.store?.external).toBe(true);
      const consumes = result.consumers[0]?.at_end.consumes;
      const { at_start, at_end } = result.store?.nodes[0] ?? {};
      expect(Number(at_end?.decisions) - Number(at_start?.decisions)).toBe(
        (consumes?.allowed ?? 0) + (consumes?.limited ?? 0),
      );
    }
    expect(campaign.manifest.plan.skips).toEqual([
      { asked: "iovalkey", reason: expect.stringContaining("redis") },
      { asked: "ioredis:cluster", reason: expect.stringContaining("standalone") },
    ]);
    // Neither emptied nor reset: the user's key and the calls before the campaign are still there.
    expect(await store.ask((client) => client.get("users:own"))).toBe("precious");
    expect((await store.scriptCalls()).eval).toBeGreaterThanOrEqual(1);
    const foreign = await store.ask((client) => client.keys("*"));
    expect(
      foreign.filter((key) => key !== "users:own" && !key.startsWith("ratelimit-bench:")),
    ).toEqual([]);
    for (const key of foreign.filter((name) => name !== "users:own").slice(0, 20))
      expect(await store.ask((client) => client.ttl(key))).not.toBe(-1);
    expect(`${stdout}${stderr}`).not.toContain(PASSWORD);
    expect(holding(home, PASSWORD)).toEqual([]);
  });

  test("has the targets of a group by turns: each has keys of its own, and what one cost the store is not known", async () => {
    const store = await TestStore.start([], "redis");
    onTestFinished(() => store.stop());
    const url = ["--store-url", `redis://127.0.0.1:${store.port}`];
    const clients = "ioredis@redis,node-redis@redis";
    const campaign = Campaign.run(newFolder(), clients, url);
    const { stderr } = await endsOnBusyMachine(campaign);

    expect(campaign.manifest.plan.order, stderr).toBe("turns");
    expect(campaign.measured).toHaveLength(2);
    for (const result of campaign.measured) {
      const { store: evidence, admissions, counts } = result;
      expect(ownInvalidity(result)).toEqual([]);
      expect(counts.allowed).toBeGreaterThan(0);
      expect(evidence?.external).toBe(true);
      expect(Object.keys(evidence?.nodes[0]?.at_end ?? {}).sort()).toEqual([
        "evicted_keys",
        "run_id",
        "uptime_s",
        "version",
      ]);
      expect(result.verdict.not_applicable.map(({ rule }) => rule)).toContain("M8");
      // Its keys are read by their names, which no other target has.
      expect(admissions?.status).toBe("counted");
    }
  });

  test(
    "Envoy's service reaches an encrypted one with the certificate of its authority",
    needs(["redis", "envoy-ratelimit"]),
    async () => {
      const port = await freePort();
      const store = await encryptedStore(port);
      onTestFinished(() => store.stop());
      const url = `rediss://bench:${PASSWORD}@localhost:${port}`;
      const flags = [
        ...SHORT,
        "--store-url",
        url,
        "--program",
        `envoy-ratelimit=${envoyProgram()}`,
      ];
      const env = { STORE_CA: tls("ca.pem") };
      const campaign = Campaign.run(newFolder(), "envoy-http@redis", flags, env);
      const { stdout, stderr } = await endsOnBusyMachine(campaign);
      expect(campaign.measured.flatMap(ownInvalidity)).toEqual([]);
      expect(`${stdout}${stderr}`).not.toContain(PASSWORD);
    },
  );

  test("a wrong password, no certificate where it asks for one, or no encryption ends it with 3 before the first run, and repeats no secret", async () => {
    const [free, asking] = [await freePort(), await freePort()];
    for (const store of [await encryptedStore(free), await encryptedStore(asking, true)])
      onTestFinished(() => store.stop());
    const runtime = await openLocalRuntime(newFolder());
    const STORE_CA = tls("ca.pem");
    const refused = async (access: Record<string, string>, text: string) => {
      const { message, exitCode } = await failureOf(() => discoverStore(access, runtime));
      expect(exitCode).toBe(EXIT.environment);
      expect(message).toContain(text);
      expect(message).not.toContain(PASSWORD);
    };
    const url = `rediss://bench:wrong-${PASSWORD}@localhost:${free}`;
    const campaign = Campaign.run(newFolder(), "ioredis", ["--store-url", url], { STORE_CA });
    await Promise.all([
      refused(
        { STORE_URL: `rediss://bench:${PASSWORD}@localhost:${asking}`, STORE_CA },
        "STORE_CERT",
      ),
      refused({ STORE_URL: `redis://bench:${PASSWORD}@localhost:${free}` }, "STORE_URL"),
    ]);
    const { stdout, stderr } = await campaign.ends(EXIT.environment);
    expect(stderr).toContain("WRONGPASS");
    expect(`${stdout}${stderr}`).not.toContain(PASSWORD);
  });
});
