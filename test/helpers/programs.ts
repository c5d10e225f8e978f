import { execFileSync, spawn } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { generatorOutputSchema } from "../../src/contract/generator-output.js";
import type { MeasuredResult } from "../../src/contract/result.js";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Whether this file can be run. */
export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Where a program of this name is on PATH. */
export const programOnPath = (name: string): string | undefined =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(isProgram);

/** The browser of the browser tests: $CHROMIUM, else the one on PATH. */
export const browserProgram = (): string | undefined =>
  process.env.CHROMIUM ||
  ["chromium", "chromium-browser", "google-chrome"]
    .map(programOnPath)
    .find((path) => path !== undefined);

/** Makes dist/ current: the programs run from there, because worker threads need built files. */
export function build(): void {
  execFileSync(join(ROOT, "scripts/build.sh"), { stdio: ["ignore", "ignore", "inherit"] });
}

/**
 * Whether the scripts find the packages of tests set up: a test must not install any under the
 * other tests.
 */
export function isSetUp(): boolean {
  const checksum = execFileSync("bash", ["-c", "cat package-lock.json <(node --version) | cksum"], {
    cwd: ROOT,
  });
  const stamp = join(ROOT, "node_modules/.setup-stamp");
  return existsSync(stamp) && readFileSync(stamp, "utf8") === `dev: ${checksum.toString().trim()}`;
}

/** How a program ended. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A program of dist/ that runs, with nothing but this environment. */
export function runProgram(
  name: string,
  parameters: readonly string[],
  env: Readonly<Record<string, string>>,
): {
  pid: number;
  ended: Promise<Ended>;
  stderr: () => string;
  kill: (signal: NodeJS.Signals) => void;
} {
  const child = spawn(process.execPath, [join(ROOT, "dist", name), ...parameters], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (text) => {
    output.stdout += text;
  });
  child.stderr.on("data", (text) => {
    output.stderr += text;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.once("close", (code) => resolve({ code, ...output }));
  });
  return {
    pid: child.pid ?? 0,
    ended,
    stderr: () => output.stderr,
    kill: (signal) => void child.kill(signal),
  };
}

/** Runs the load generator; short time-outs, so that a lost answer costs no ten seconds. */
export const generate = (env: Readonly<Record<string, string>>) =>
  runProgram("benchmark/index.js", [], { TIMEOUT: "2", PROGRESS: "json", ...env });

/** The result of a generator that must end well. It passes the schema, and says what was asked. */
export async function measured(env: Readonly<Record<string, string>>): Promise<MeasuredResult> {
  const { code, stdout, stderr } = await generate(env).ended;
  if (code !== 0) throw new Error(`the generator ended with ${code}: ${stderr}`);
  const { request_counts: _, ...result } = generatorOutputSchema.parse(JSON.parse(stdout));
  return result;
}
