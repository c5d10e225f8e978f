import { createInterface } from "node:readline";
import { EXIT, type ExitCode, usageError } from "../contract/errors.js";
import {
  decodeProbeEnv,
  type ProbeRequest,
  parseProbeRequest,
  probeActions,
  SERVE,
} from "../contract/probe-env.js";
import { printDocument, runProgram } from "../contract/program.js";
import { storeAddressFrom } from "../contract/store-url.js";
import { performAll } from "./actions.js";

/**
 * The probe: forms, empties and reads a store from a place where the store can be reached. Its arguments are the actions,
 * its environment names the store; with `serve`, each line of standard input names both. It prints one JSON document per
 * request.
 */
async function main(): Promise<ExitCode> {
  const words = process.argv.slice(2);
  if (words.length === 1 && words[0] === SERVE) return serve();
  const actions = words.map((word) => {
    const action = probeActions.find((name) => name === word);
    if (action) return action;
    const valid = [...probeActions, SERVE].join(", ");
    throw usageError(`there is no probe action ${JSON.stringify(word)}; valid: ${valid}`);
  });
  const { nodes, store, topology, timeoutS, access } = decodeProbeEnv(process.env);
  const request: ProbeRequest = { actions, nodes, store, topology, timeout_s: timeoutS };
  await printDocument(await performAll(request, access));
  return EXIT.done;
}

/** Answers requests in order. Ends with the first failed request, and at once when its input ends. */
async function serve(): Promise<ExitCode> {
  const address = storeAddressFrom(process.env);
  const named = address ? [{ host: address.host, port: address.port }] : [];
  const answered = async (line: string): Promise<void> => {
    const request = parseProbeRequest(line);
    const nodes = request.nodes.length > 0 ? request.nodes : named;
    await printDocument(await performAll({ ...request, nodes }, address?.access ?? {}));
  };
  return new Promise((resolve, reject) => {
    let before: Promise<void> = Promise.resolve();
    const lines = createInterface({ input: process.stdin });
    lines.on("line", (line) => {
      before = before.then(() => answered(line));
      before.catch(reject);
    });
    // The caller has gone, so nobody waits for an answer.
    lines.once("close", () => resolve(EXIT.done));
  });
}

runProgram(main);
