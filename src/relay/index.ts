import { createInterface } from "node:readline";
import type { Node } from "../contract/env.js";
import { EXIT, type ExitCode, environmentError, messageOf, usageError } from "../contract/errors.js";
import { runProgram } from "../contract/program.js";
import { parseRelayLine, RELAY_LISTENS } from "../contract/relay.js";
import { Relay } from "./relay.js";

/**
 * The relay: stands between the servers and a store node. Its arguments are the host and port on which it listens, and those
 * of the node. Each line of standard input sets what it does, and is printed on standard error once that is so. It ends
 * with its input.
 */
async function main(): Promise<ExitCode> {
  const [at, target] = placesIn(process.argv.slice(2));
  const relay = await Relay.start(at, target).catch((error: unknown) => {
    throw environmentError(`the relay cannot listen at ${at.host}:${at.port}: ${messageOf(error)}`);
  });
  process.stderr.write(`${RELAY_LISTENS}\n`);
  return new Promise((resolve) => {
    const lines = createInterface({ input: process.stdin });
    lines.on("line", (line) => {
      const mode = parseRelayLine(line);
      if (mode) relay.setMode(mode);
      process.stderr.write(`${mode ? line : `not a mode: ${line.slice(0, 60)}`}\n`);
    });
    lines.once("close", () => {
      relay.stop();
      resolve(EXIT.done);
    });
  });
}

/** @throws usageError for anything but two places */
function placesIn(words: readonly string[]): [Node, Node] {
  const [host = "", port, targetHost = "", targetPort, ...more] = words;
  const ports = [Number(port), Number(targetPort)] as const;
  if (more.length > 0 || ports.some((each) => !(each > 0)))
    throw usageError("give the host and port to listen at, and those of the store node");
  return [
    { host, port: ports[0] },
    { host: targetHost, port: ports[1] },
  ];
}

runProgram(main);
