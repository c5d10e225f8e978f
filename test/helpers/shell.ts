import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolders } from "./folders.js";
import { ROOT } from "./programs.js";

export const CI = join(ROOT, "scripts/ci");

type Env = Readonly<Record<string, string>>;

/** How steps and scripts of workflows are run in a test file. */
export function runner() {
  const newFolder = temporaryFolders();

  /** Runs text as a runner does: `bash -eo pipefail` on a file. */
  function shell(text: string, cwd: string, env: Env = {}) {
    const home = newFolder();
    const file = join(home, "step.sh");
    writeFileSync(file, text);
    const output = join(home, "output");
    const ended = spawnSync("bash", ["--noprofile", "--norc", "-eo", "pipefail", file], {
      cwd,
      encoding: "utf8",
      env: {
        PATH: process.env.PATH,
        HOME: home,
        GITHUB_OUTPUT: output,
        XDG_STATE_HOME: home,
        ...env,
      },
    });
    const lines = existsSync(output) ? readFileSync(output, "utf8").trim().split("\n") : [];
    return {
      code: ended.status,
      stdout: ended.stdout,
      stderr: ended.stderr,
      outputs: Object.fromEntries(lines.map((line) => line.split("=") as [string, string])),
    };
  }
  const script = (name: string, parameters: readonly string[], env: Env = {}, cwd = newFolder()) =>
    shell(
      `exec ${JSON.stringify(join(CI, name))} ${parameters.map((parameter) => JSON.stringify(parameter)).join(" ")}`,
      cwd,
      env,
    );

  /** A program that notes how it was called. */
  function recorder(name: string, answer = ""): { PATH: string; calls: () => string } {
    const folder = newFolder();
    const text = `#!/bin/sh\nprintf '%s\\n' "$*" >>'${folder}/calls'\n${answer}\n`;
    writeFileSync(join(folder, name), text, { mode: 0o755 });
    return {
      PATH: `${folder}:${process.env.PATH}`,
      calls: () =>
        existsSync(join(folder, "calls")) ? readFileSync(join(folder, "calls"), "utf8") : "",
    };
  }

  return { newFolder, shell, script, recorder };
}
