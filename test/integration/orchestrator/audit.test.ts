import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { auditSchema } from "../../../src/contract/audit.js";
import { EXIT } from "../../../src/contract/errors.js";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";

const newFolder = temporaryFolders();

const audit = (home: string, ...flags: string[]) => Campaign.command(home, ["audit", ...flags]);

describe("ratelimit-bench audit", () => {
  test("ends with 6 when a promise is broken, prints its document, and writes the page", async () => {
    const home = newFolder();
    // Its settings come from a file as those of a campaign do.
    writeFileSync(join(home, "audit.yaml"), "clients: [memory, none]\nruntime: local\n");
    const started = audit(
      home,
      ..."--config audit.yaml --checks exact-burst,exact-burst-4-servers,expiry --format json".split(" "),
    );
    const { stdout } = await started.ends(EXIT.regression);
    const document = auditSchema.parse(JSON.parse(stdout));
    expect(document.skips.map(({ asked }) => asked)).toEqual(["none"]);
    const [memory] = document.targets;
    // Each of four servers counts for itself.
    expect(memory?.findings.map(({ check, status }) => [check, status])).toEqual([
      ["exact-burst", "holds"],
      ["exact-burst-4-servers", "broken"],
      ["expiry", "skipped"],
    ]);
    expect(memory?.findings[1]?.seen).toContain("80");
    const folder = join(home, "results/audits", document.audit);
    expect(readdirSync(folder).sort()).toEqual(["audit.json", "audit.log", "audit.md", "index.html"]);
    expect(JSON.parse(readFileSync(join(folder, "audit.json"), "utf8"))).toEqual(document);
    expect(await started.runningProcesses()).toEqual([]);
  });

  test("ends with 0 when all promises hold, and keeps the command as a shell takes it", async () => {
    const home = newFolder();
    const { code, stderr } = await audit(
      home,
      ...["--clients", "ioredis@valkey none", "--checks", "exact-burst-4-servers"],
    ).ended;
    expect(code, stderr).toBe(EXIT.done);
    const [name = ""] = readdirSync(join(home, "results/audits"));
    expect(readFileSync(join(home, "results/audits", name, "audit.json"), "utf8")).toContain(
      "audit --clients 'ioredis@valkey none' --checks exact-burst-4-servers",
    );
  });

  test("refuses what it cannot do in one line, before anything is started", async () => {
    const home = newFolder();
    const refusals: [flags: string[], words: string, env?: Record<string, string>][] = [
      [["--clients", "memory", "--checks", "exact-brust"], "exact-burst"],
      [["--clients", "no-such-client"], "no-such-client"],
      [["--clients", "none"], "nothing"],
      [[], "--clients"],
      [["--clients", "ioredis"], "STORE_URL", { STORE_URL: "redis://127.0.0.1:1" }],
    ];
    for (const [flags, words, env] of refusals) {
      const { code, stdout, stderr } = await Campaign.command(home, ["audit", ...flags], env).ended;
      expect({ code, stdout }).toEqual({ code: EXIT.usage, stdout: "" });
      expect(stderr).toContain(words);
    }
    expect(existsSync(join(home, "results/audits"))).toBe(false);
  });
});
