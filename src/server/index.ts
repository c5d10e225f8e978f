import type { RunSpec, ServerSpec } from "../contract/run-spec.js";
import type { Target } from "../contract/target.js";
import {
  BenchError,
  EXIT,
  environmentError,
  inOneLine,
  messageOf,
  usageError,
} from "../kit/errors.js";
import { withErrorLocation } from "../plugins/error-location.js";
import { loadPlugins } from "../plugins/load.js";
import { registerTargets } from "../plugins/register-targets.js";
import { DEFAULT_FRAMEWORK } from "../targets/frameworks.js";
import { librariesOnDemand } from "../targets/libraries.js";
import { type OpenTarget, openTarget } from "../targets/open-target.js";
import { findFramework, otherFramework } from "../targets/resolve.js";
import { buildApp } from "./app.js";
import { pluginPaths, readConfig } from "./config/index.js";
import type { WebServer } from "./frameworks/framework.js";
import { shiftClock } from "./lib/clock-shift.js";

const GRACE_MS = 3_000;
/**
 * How long a library may keep the process alive after its client is closed, e.g. by the timer of a
 * lost command.
 */
const LINGER_MS = 500;

let loadedPlugins: readonly string[] = [];

/**
 * Runs program 1, the server. It reads the run spec or its variables, prints one JSON line with its
 * address once it listens, and ends with 0 on a signal.
 */
async function main(): Promise<void> {
  // On Node.js 24 `nextTick` can stay slow for the life of a process that served no connection
  // before its load. These turns of the event loop prevent that, which would add 2 to 3 µs to each
  // request.
  for (let turn = 0; turn < 200; turn++)
    await new Promise((done) => process.nextTick(setImmediate, done));

  const plugins = await loadPlugins(pluginPaths(process.env));
  loadedPlugins = plugins.map(({ path }) => path);
  registerTargets(plugins);
  const { spec, access } = readConfig(process.env);
  shiftClock(spec.server.clock_shift_ms);
  const opened = await openTarget(spec, access);

  let app: WebServer;
  let url: string;
  try {
    const reason = otherFramework(opened.target);
    if (reason) throw usageError(reason);
    const { load, version } = frameworkPackages(opened.target, spec);
    const identities = plugins.map((plugin) => plugin.identity);
    app = await buildApp({ spec, ...opened, framework: { version }, plugins: identities }, load);
    url = await listen(app, spec.server);
  } catch (error) {
    await opened.close();
    throw error;
  }

  stopOnSignals(app, opened);
  process.stdout.write(`${JSON.stringify({ event: "listening", url, pid: process.pid })}\n`);
}

/**
 * Returns the version of the target's framework, and how to import it.
 * @throws environmentError when it is not installed
 */
function frameworkPackages(
  { framework = DEFAULT_FRAMEWORK }: Target,
  { versions_folder: folder }: RunSpec,
) {
  const { id, package: requiredPackage } = findFramework(framework);
  const libraries = librariesOnDemand(requiredPackage, folder);
  return { version: libraries.version(requiredPackage?.name ?? id), load: libraries.fromFolder };
}

async function listen(app: WebServer, { host, port }: ServerSpec): Promise<string> {
  try {
    // A benchmark opens all its connections at once, and none should need a second attempt.
    return await app.listen({ host, port, backlog: 4_096 });
  } catch (error) {
    throw environmentError(`cannot listen on ${host}:${port}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function stopOnSignals(app: WebServer, opened: OpenTarget): void {
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    // The second signal ends the process at once, with the conventional exit code.
    if (stopping) process.exit(signal === "SIGINT" ? EXIT.interrupted : EXIT.terminated);
    stopping = true;
    setTimeout(() => app.server.closeAllConnections(), GRACE_MS).unref();
    app
      .close()
      .then(() => opened.close())
      .then(leave, fail);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}

/** Returns the text of an error, with its place in a plugin. */
const located = (text: string, error: unknown): string =>
  withErrorLocation(text, error, loadedPlugins);

/**
 * Ends the process after an error that nothing caught, e.g. of a library in the background. The
 * harness only reports the last line on standard error, so the message comes after the stack.
 */
function failUncaught(error: unknown): void {
  const frames =
    error instanceof Error
      ? (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line))
      : [];
  process.stderr.write(
    [
      ...frames,
      `ratelimit-bench server: not caught: ${located(inOneLine(messageOf(error)), error)}\n`,
    ].join("\n"),
  );
  process.exit(EXIT.defect);
}

/** Returns the message of an expected failure, or the stack of an unexpected one. */
function failureText(error: unknown): string {
  if (error instanceof BenchError) return located(inOneLine(messageOf(error)), error);
  return error instanceof Error ? (error.stack ?? String(error)) : String(error);
}

/** Ends the process after a failure, with its text on standard error. */
function fail(error: unknown): void {
  process.stderr.write(`ratelimit-bench server: ${failureText(error)}\n`);
  process.exitCode = error instanceof BenchError ? error.exitCode : EXIT.defect;
  leave();
}

/** Ends the process when a library left something open. Otherwise it ends by itself. */
function leave(): void {
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

// This includes unhandled rejections.
process.on("uncaughtException", failUncaught);
main().catch(fail);
