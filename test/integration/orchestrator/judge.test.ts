import { execFileSync } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { VERDICTS_FILE, type Verdicts, verdictsSchema } from "../../../src/contract/verdicts.js";
import { EXIT } from "../../../src/kit/errors.js";
import type { CliContext } from "../../../src/orchestrator/commands/command-types.js";
import { judge } from "../../../src/orchestrator/commands/judge-command.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { ROOT } from "../../helpers/programs.js";

const newFolder = temporaryFolders();
const STAMP = "20261127_023155";
const ARCHIVE = join(ROOT, "results/claims/envoy-stores", `${STAMP}.tar.xz`);

const never = vi.fn<CliContext["campaign"]>();
const context = {
  packageFolder: ROOT,
  env: {},
  commands: [],
  campaign: never,
  audit: never,
  apiAudit: vi.fn<CliContext["apiAudit"]>(),
  print: vi.fn(),
};

async function verdictsOf(folder: string): Promise<Verdicts["campaigns"][number] | undefined> {
  expect(await judge.run([folder], context)).toBe(EXIT.done);
  return verdictsSchema.parse(JSON.parse(readFileSync(join(folder, VERDICTS_FILE), "utf8")))
    .campaigns[0];
}

test("Envoy on memcached, which fell to a third within its rounds, is suspect; results and archive stay", async () => {
  const folder = newFolder();
  const archive = join(folder, `${STAMP}.tar.xz`);
  copyFileSync(ARCHIVE, archive);
  // What an earlier one wrote is never read, so that a damaged file is only written again.
  writeFileSync(join(folder, VERDICTS_FILE), "{");
  const packed = await verdictsOf(folder);
  const unsteady = packed?.changes.filter(({ verdict }) => verdict.status === "suspect") ?? [];
  const files = unsteady.flatMap((change) => change.files);
  expect(files).toHaveLength(9);
  expect(files.filter((file) => !file.startsWith("envoy-grpc-memcached_"))).toEqual([]);
  const rules = unsteady.flatMap(({ verdict }) => verdict.reasons.map(({ rule }) => rule));
  expect(new Set(rules)).toEqual(new Set(["M26"]));
  expect(readFileSync(archive).equals(readFileSync(ARCHIVE))).toBe(true);

  execFileSync("tar", ["-xJf", archive, "-C", folder]);
  const before = readdirSync(join(folder, STAMP));
  const unpacked = await verdictsOf(join(folder, STAMP));
  const { judged, changes, not_checked } = packed ?? {};
  expect(unpacked).toEqual({ folder: ".", judged, changes, not_checked });
  expect(readdirSync(join(folder, STAMP)).filter((name) => !before.includes(name))).toEqual([
    VERDICTS_FILE,
  ]);
});

test("what is no folder is refused by the one line that names it", async () => {
  const missing = join(newFolder(), "missing");
  await expect(judge.run([missing], context)).rejects.toMatchObject({
    exitCode: EXIT.usage,
    message: expect.stringMatching(/^[^:]*missing is not a folder/),
  });
});
