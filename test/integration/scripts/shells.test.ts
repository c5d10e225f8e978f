import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EXIT } from "../../../src/kit/errors.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { ROOT } from "../../helpers/programs.js";

const newFolder = temporaryFolders();

/** A checkout that needs no set-up. @param cli the program, in place of the campaign's */
function checkout(cli?: string): string {
  const root = newFolder();
  cpSync(join(ROOT, "scripts"), join(root, "scripts"), { recursive: true });
  const setup = join(root, "scripts/setup.sh");
  writeFileSync(setup, "#!/bin/sh\necho set up >&2\n");
  chmodSync(setup, 0o755);
  if (cli !== undefined) {
    mkdirSync(join(root, "dist/orchestrator"), { recursive: true });
    writeFileSync(join(root, "dist/orchestrator/cli.js"), cli);
  }
  return root;
}

function call(command: string, parameters: readonly string[] = [], options = {}) {
  const { status, stdout, stderr } = spawnSync(command, parameters, {
    encoding: "utf8",
    ...options,
  });
  return { code: status, stdout, stderr };
}

test("a link on PATH to a script finds its checkout", () => {
  const links = newFolder();
  for (const name of [
    "run-all.sh",
    "run-benchmark.sh",
    "check-config.sh",
    "containers.sh",
    "test-plugin.sh",
  ]) {
    symlinkSync(join(ROOT, "scripts", name), join(links, name));
    const { code, stderr } = call(join(links, name), ["--help"]);
    expect({ name, code, stderr }).toEqual({ name, code: 0, stderr: "" });
  }
  const scripts = readdirSync(join(ROOT, "scripts")).filter((name) => name.endsWith(".sh"));
  const direct = call("grep", ["-l", 'dirname.*"\\${BASH_SOURCE', ...scripts], {
    cwd: join(ROOT, "scripts"),
  });
  const resolved = call("grep", ["-l", "readlink -f.*BASH_SOURCE", ...scripts], {
    cwd: join(ROOT, "scripts"),
  });
  expect(direct.stdout).toBe(resolved.stdout);
});

test("nohup is passed on: Node.js itself would listen to a hang-up again", () => {
  const root = checkout("console.log(process.env.IGNORE_HANGUP ?? 'hangs up')");
  for (const script of ["run-all.sh", "run-benchmark.sh"]) {
    const path = join(root, "scripts", script);
    expect(call("nohup", [path]).stdout).toBe("true\n");
    expect(call(path).stdout).toBe("hangs up\n");
  }
});

test("a campaign under nohup outlives a hang-up", () => {
  const main = JSON.stringify(join(ROOT, "dist/orchestrator/main.js"));
  const code = `const { main } = await import(${main}); await main(); process.kill(process.pid, "SIGHUP"); setTimeout(() => console.log("alive"), 50)`;
  const outcome = (env: NodeJS.ProcessEnv) =>
    call(process.execPath, ["--input-type=module", "-e", code, "cli", "--version"], {
      env: { ...process.env, ...env },
    }).stdout.includes("alive");
  expect(outcome({ IGNORE_HANGUP: "true" })).toBe(true);
  expect(outcome({ _: "/usr/bin/nohup" })).toBe(true);
  expect(outcome({ _: "/usr/bin/node" })).toBe(false);
});

test("before a set-up a flag that does not exist is refused, and nothing is installed", () => {
  const root = checkout();
  for (const [script, known] of [
    ["run-all.sh", "--trace-speed=1"],
    ["run-benchmark.sh", "--limiters=valkey-glide"],
  ] as const) {
    const path = join(root, "scripts", script);
    const refused = call(path, ["--cleints", "iovalkey"]);
    expect(refused).toMatchObject({ code: EXIT.usage, stdout: "" });
    expect(refused.stderr).toMatch(/^[^\n]*--cleints[^\n]*--help\n$/);
    expect(call(path, [known]).stderr).toContain("set up");
  }
});

test("in a working folder that was removed, an old Node.js: one line and code 3", () => {
  const cli = join(ROOT, "dist/orchestrator/cli.js");
  const folder = newFolder();
  const gone = call("bash", [
    "-c",
    `cd ${JSON.stringify(folder)} && rmdir . 2>/dev/null; rm -r ${JSON.stringify(folder)}; exec ${JSON.stringify(process.execPath)} ${JSON.stringify(cli)} report`,
  ]);
  mkdirSync(folder);
  expect(gone.code).toBe(EXIT.environment);
  expect(gone.stderr).toMatch(/^[^\n]*folder[^\n]*\n$/);

  const old = `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"18.20.8"}})`;
  for (const flag of ["--help", "--version"]) {
    const { code, stderr } = call(process.execPath, ["--import", old, cli, flag]);
    expect({ flag, code }).toEqual({ flag, code: EXIT.environment });
    expect(stderr).toMatch(/^[^\n]*18\.20\.8[^\n]*\n$/);
  }
});

test("a report whose output nobody reads is built, with code 0", () => {
  const folder = newFolder();
  call("tar", ["-xf", join(ROOT, "results/example.tar.xz"), "-C", folder]);
  const [campaign = ""] = readdirSync(folder);
  const python = join(ROOT, ".venv/bin/python");
  const command = `${JSON.stringify(python)} ${JSON.stringify(join(ROOT, "report"))} generate ${JSON.stringify(join(folder, campaign))} | true; exit \${PIPESTATUS[0]}`;
  expect(call("bash", ["-c", command]).code).toBe(0);
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
});
