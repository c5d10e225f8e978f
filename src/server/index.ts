import type { FastifyInstance } from "fastify";
import { BenchError, EXIT, environmentError, messageOf } from "../contract/errors.js";
import { decodePlugins } from "../contract/plugins.js";
import { addTargets } from "../plugins/add-targets.js";
import { loadPlugins } from "../plugins/load.js";
import { withPlace } from "../plugins/place.js";
import type { OpenClient } from "../targets/types.js";
import { buildApp } from "./app.js";
import { readConfig, type ServerConfig } from "./config/index.js";
import { openClient } from "./lib/clientFactory.js";
import { createRateLimiters } from "./lib/rateLimiterFactory.js";

/** How long open requests may take to finish once we are asked to stop. */
const GRACE_MS = 3_000;
/** How long a library may keep the process alive once its client is closed, e.g. with the timer of a lost command. */
const LINGER_MS = 500;

let pluginPaths: readonly string[] = [];

/** Program 1: environment in; one JSON line with its address once it listens; ends on SIGTERM or SIGINT with 0. */
async function main(): Promise<void> {
  const plugins = await loadPlugins(decodePlugins(process.env));
  pluginPaths = plugins.map(({ path }) => path);
  addTargets(plugins);
  const config = readConfig(process.env);
  const client = await openClient(config);
  let app: FastifyInstance;
  let url: string;
  try {
    const limiters = await createRateLimiters(config, client);
    app = buildApp({ config, client, limiters, plugins: plugins.map(({ facts }) => facts) });
    url = await listen(app, config);
  } catch (error) {
    await client.close();
    throw error;
  }
  stopOnSignals(app, client);
  process.stdout.write(`${JSON.stringify({ event: "listening", url, pid: process.pid })}\n`);
}

/** @throws environmentError when the address cannot be had */
async function listen(app: FastifyInstance, { host, port }: ServerConfig): Promise<string> {
  try {
    // A benchmark opens all its connections at once: none may wait for a second attempt.
    return await app.listen({ host, port, backlog: 4_096 });
  } catch (error) {
    throw environmentError(`cannot listen on ${host}:${port}: ${messageOf(error)}`, { cause: error });
  }
}

function stopOnSignals(app: FastifyInstance, client: OpenClient): void {
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    // Asked twice: at once, with what a signal's end is called by convention.
    if (stopping) process.exit(signal === "SIGINT" ? EXIT.interrupted : EXIT.terminated);
    stopping = true;
    setTimeout(() => app.server.closeAllConnections(), GRACE_MS).unref();
    app
      .close()
      .then(() => client.close())
      .then(leave, fail);
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}

/** With the line of the plugin that it comes from. */
const placed = (text: string, error: unknown): string => withPlace(text, error, pluginPaths);

/** What nobody caught, as in a library that does not go with its client. Of a part's words the last line is told. */
function failUncaught(error: unknown): void {
  const frames =
    error instanceof Error ? (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line)) : [];
  process.stderr.write(
    [...frames, `ratelimit-bench server: not caught: ${placed(messageOf(error), error)}\n`].join("\n"),
  );
  process.exit(EXIT.defect);
}

/** The message of an expected failure, the stack of an unexpected one. */
function fail(error: unknown): void {
  const expected = error instanceof BenchError;
  const text = expected ? placed(error.message, error) : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`ratelimit-bench server: ${text}\n`);
  process.exitCode = expected ? error.exitCode : EXIT.defect;
  leave();
}

/** The process ends by itself when nothing is open; this is for what a library left. */
function leave(): void {
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

// Rejections that nobody handles come here, too.
process.on("uncaughtException", failUncaught);
main().catch(fail);
