import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { describe, expect, test } from "vitest";
import { referencesIn } from "../../../src/orchestrator/plan/rankings.js";
import { Campaign } from "../../helpers/campaign.js";
import { expectReconciled } from "../../helpers/expectations.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { validCampaign } from "../../helpers/measured-campaign.js";
import { needs } from "../../helpers/needs.js";

const newFolder = temporaryFolders();

/** Files below a folder whose text has a certificate or a key. */
function pemFiles(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return pemFiles(path);
    return readFileSync(path, "latin1").includes("-----BEGIN ") ? [path] : [];
  });
}

/** Why a client that trusts the system's authorities alone does not connect. */
const refusal = (port: number): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port }, () => {
      socket.destroy();
      resolve("connected");
    });
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });

describe("an encrypted store of the campaign", needs(["redis"]), () => {
  test("every client by turns, one of them also in the clear: all decisions are counted, no certificate or key stays", async () => {
    const home = newFolder();
    const encrypted = [
      "ioredis+tls",
      "node-redis+tls",
      "iovalkey@redis+same-script+tls",
      "valkey-glide@redis+same-script+tls",
    ];
    const clients = ["ioredis", ...encrypted].join(",");
    const campaign = await validCampaign(home, clients, ["--warmup", "0.1"]);
    const [pair] = referencesIn(campaign.manifest.plan);
    expect(pair).toBe(
      campaign.measured.find(({ configuration }) => configuration?.target.label === "ioredis")
        ?.configuration_hash,
    );
    expect(campaign.measured).toHaveLength(5);
    for (const result of campaign.measured) {
      expectReconciled(result);
      expect(result.turns).toBeDefined();
    }
    expect(pemFiles(home)).toEqual([]);
    const summary = campaign.report("summary.csv");
    for (const client of encrypted) expect(summary).toContain(client);
  });

  test("a client without its authority is refused; nothing of it stays after Ctrl-C", async () => {
    const home = newFolder();
    const campaign = Campaign.run(home, "ioredis+tls", ["--warmup", "30", "--layer", "limiter"]);
    await campaign.waitForLog("  warmup");
    const store = await campaign.part("store-1");
    const [, port] =
      /127\.0\.0\.1:(\d+)/.exec(readFileSync(`/proc/${store}/cmdline`, "utf8")) ?? [];
    const [key = ""] = pemFiles(campaign.temporary).filter((path) => path.endsWith("key.pem"));
    expect(statSync(key).mode & 0o077).toBe(0);
    expect(await refusal(Number(port))).toBe("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
    await campaign.interrupted();
    expect(pemFiles(home)).toEqual([]);
  });
});

test("a program that was built without TLS ends the campaign with 3 and the flag that names another", async () => {
  const home = newFolder();
  const program = join(home, "valkey-server");
  const script =
    '[ "$1" = --version ] && echo v=9.0.0 && exit\necho "# Failed finding TLS support."\nexit 1';
  writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const campaign = Campaign.run(home, "iovalkey+tls", ["--program", `valkey=${program}`]);
  const { stderr } = await campaign.ends(3);
  expect(stderr).toMatch(/^[^\n]*--program valkey=PATH[^\n]*\n$/);
});
