import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { EXIT } from "../../../src/kit/errors.js";
import type { CampaignEnd } from "../../../src/orchestrator/campaign/campaign.js";
import { registerPlugins } from "../../../src/orchestrator/campaign/used-plugins.js";
import { planOf } from "../../../src/orchestrator/max-rate/searched-rates.js";
import type { Request } from "../../../src/orchestrator/request/request.js";
import { type DocumentedCommand, documentedCommands } from "../../helpers/documented-commands.js";
import { createCampaign } from "../../helpers/existing-campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { copyPackage } from "../../helpers/package-folder.js";
import { type Invocation, type PlannedCommand, planCommand } from "../../helpers/plan-commands.js";
import { programOnPath, ROOT } from "../../helpers/programs.js";
import { everything } from "../../helpers/request.js";
import { writeAccessLog } from "../../helpers/trace-logs.js";

const newFolder = temporaryFolders();

/** The commands of the package that these scripts call with their own words. */
const COMMAND_OF_SCRIPT: Readonly<Record<string, string>> = {
  "scripts/run-all.sh": "run",
  "scripts/run-benchmark.sh": "single",
};

const LOG = "/var/log/nginx/access.log";

/** Without any word it is the menu, which needs a terminal. */
const isMenu = ({ script, words }: DocumentedCommand): boolean =>
  script === "scripts/run-all.sh" && words.length === 0;

/** A command as that of the package; undefined where it is a script of its own. */
function invocationOf({ script, words, env }: DocumentedCommand): Invocation | undefined {
  const ofReader = words.map((word) => (word === LOG ? "access.log" : word));
  if (script === undefined) return { words: ofReader, env };
  const name = COMMAND_OF_SCRIPT[script];
  return name === undefined ? undefined : { words: [name, ...ofReader], env };
}

const blockOf = (page: string, language: string): string => {
  const text = readFileSync(join(ROOT, page), "utf8");
  const [, block = ""] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "ms").exec(text) ?? [];
  return block;
};

/** A folder with the files of a reader that the pages name. */
async function readersFolder(): Promise<string> {
  const folder = newFolder();
  for (const name of ["docs", "claims"]) symlinkSync(join(ROOT, name), join(folder, name));
  cpSync(join(ROOT, "docs/plugins"), folder, { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  cpSync(join(ROOT, "test/fixtures/tls"), join(folder, "certs"), { recursive: true });
  cpSync(join(ROOT, "test/fixtures/tls/ca.pem"), join(folder, "ca.pem"));
  writeFileSync(join(folder, "hosts.yaml"), blockOf("docs/hosts.md", "yaml"));
  writeAccessLog(join(folder, "access.log"), 1000);
  // The pages write an ellipsis for the path of a program or a library. A shell is both.
  symlinkSync(programOnPath("bash") ?? "", join(folder, "…"));
  for (const results of ["results", "results/claims/original-matrix"])
    await createCampaign(join(folder, results), "20261121_101500");
  return folder;
}

/** Works in a folder until the end of the test, without a home. */
function enter(folder: string): void {
  const before = process.cwd();
  onTestFinished(() => process.chdir(before));
  process.chdir(folder);
  vi.stubEnv("HOME", "/nonexistent");
  vi.stubEnv("XDG_STATE_HOME", "/nonexistent");
}

/** Plans a campaign of a machine that has everything. */
async function planHere(request: Request): Promise<CampaignEnd> {
  await registerPlugins(request.place.plugins, request.load.trace);
  if (request.start.resume === undefined) planOf(request, everything);
  return { exitCode: EXIT.done };
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();

/** The pages print each dry run beside the run that it shows, which is planned here. */
const isDryRun = ({ words }: Invocation): boolean => words.includes("--dry-run");

/** Vitest cannot load a plugin, because Node.js itself finds the loader's hooks. */
const hasPlugin = ({ words }: Invocation): boolean => words.includes("--plugin");

const invocations = (): Invocation[] =>
  documentedCommands(newFolder()).flatMap((command) => {
    const invocation = isMenu(command) ? undefined : invocationOf(command);
    return invocation ? [invocation] : [];
  });

test("every command that a page prints can be planned, and plans leave nothing behind", async () => {
  const folder = await readersFolder();
  const commands = invocations().filter(
    (invocation) => !hasPlugin(invocation) && !isDryRun(invocation),
  );
  expect(commands.length).toBeGreaterThan(55);
  enter(folder);
  const filesBefore = filesIn(folder);

  const ended: PlannedCommand[] = [];
  for (const command of commands) ended.push(await planCommand(command, ROOT, planHere));
  expect(ended.filter(({ code }) => code !== EXIT.done)).toEqual([]);
  expect(filesIn(folder)).toEqual(filesBefore);
});

const NOBODY = 65_534;

/** The user of a container without a name and a home. Root alone can become another user. */
function nobody(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const user = { uid: NOBODY, gid: NOBODY };
  const { status } = spawnSync("test", ["-r", join(ROOT, "package.json")], user);
  return status === 0 ? user : undefined;
}

/**
 * Commands whose dry runs ask this machine for different things. A process registers a plugin once,
 * so that of two commands with the same one the longer is here.
 */
const ASKING_MOST = [
  /--plugin .*--plugin/,
  /--find-max-rate.*--budget/,
  /^audit --clients ioredis iovalkey$/,
];

test("a user without a home, who can write into the results alone, can plan the same", async () => {
  const folder = await readersFolder();
  const packageFolder = newFolder();
  copyPackage(packageFolder);
  const temporary = newFolder();
  const user = nobody();
  if (user) {
    chmodSync(packageFolder, 0o755);
    for (const path of [folder, join(folder, "results"), temporary])
      chownSync(path, user.uid, user.gid);
  }
  const filesBefore = filesIn(folder);
  const commands = invocations().filter(({ words }) =>
    ASKING_MOST.some((pattern) => pattern.test(words.join(" "))),
  );
  const program = join(ROOT, "test/helpers/preview-commands.ts");
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", "tsx", program, packageFolder],
    {
      ...user,
      cwd: folder,
      input: JSON.stringify(commands),
      encoding: "utf8",
      env: {
        PATH: process.env.PATH,
        HOME: "/nonexistent",
        TMPDIR: temporary,
        TSX_DISABLE_CACHE: "1",
      },
    },
  );
  expect(stdout, stderr).not.toBe("");
  const ended: PlannedCommand[] = JSON.parse(stdout);
  expect(ended).toHaveLength(ASKING_MOST.length);
  expect(ended.filter(({ code }) => code !== EXIT.done)).toEqual([]);
  expect(filesIn(folder)).toEqual(filesBefore);
  // What stands for the home that this user lacks is empty, and not every machine needs it.
  const standIn = `.ratelimit-bench-home-${user?.uid ?? process.getuid?.()}`;
  expect(filesIn(temporary).filter((file) => file !== standIn)).toEqual([]);
});
