import { createInterface } from "node:readline";
import type { NodePlace } from "../kit/env.js";
import { environmentError, messageOf, usageError } from "../kit/errors.js";

/** Handles each line of standard input in turn, until the input ends. @throws the first failure */
export function handleLines(handle: (line: string) => unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    let previous: Promise<unknown> = Promise.resolve();
    createInterface({ input: process.stdin })
      .on("line", (line) => {
        previous = previous.then(() => handle(line));
        previous.catch(reject);
      })
      .once("close", resolve);
  });
}

/** Writes one line to standard error, where helpers that hold no document answer. */
export const printLine = (line: string): boolean => process.stderr.write(`${line}\n`);

/** Reads a host and a port for each name from the arguments of a program. @throws usageError */
export function placesIn<const Names extends readonly string[]>(
  words: readonly string[],
  names: Names,
) {
  const places = names.map((_, index) => ({
    host: words[2 * index] ?? "",
    port: Number(words[2 * index + 1]),
  }));
  if (words.length !== 2 * names.length || places.some(({ host, port }) => !host || !(port > 0)))
    throw usageError(`give the host and port ${names.join(", and those ")}`);
  return places as { [Name in keyof Names]: NodePlace };
}

/** A server that listens. @throws environmentError where it cannot */
export async function listening<Server>(
  program: string,
  { host, port }: NodePlace,
  started: Promise<Server>,
): Promise<Server> {
  return started.catch((error: unknown) => {
    throw environmentError(`the ${program} cannot listen at ${host}:${port}: ${messageOf(error)}`);
  });
}
