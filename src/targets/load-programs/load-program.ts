import type { NodePlace } from "../../kit/env.js";
import type { NativeProtocol } from "../target-types.js";
import type { PrintedFigures } from "./index.js";

export interface LoadWork {
  protocol: NativeProtocol;
  /** Where the service, or the store that decides, listens. */
  place: NodePlace;
  /**
   * What it sends, one after the other, round and round. A program that draws its own keys gets one
   * call, with `RANDOM_KEY`.
   */
  calls: readonly object[];
  keys: number;
  connections: number;
}

export interface PrintedLoad extends PrintedFigures {
  calls?: number;
  /** Answers with an HTTP status of 400 or more: denials of a service that uses 429, and errors. */
  refused: number;
  /** The calls without a decision in words, e.g. `3 time-outs`. The text is empty without any. */
  failures: string;
}

/** A program without Node that makes the calls of a client: one entry in this list. */
export interface LoadProgram {
  id: string;
  program: string;
  summary: string;
  protocol: NativeProtocol["kind"];
  /** The store whose image contains it. */
  imageOf?: string;
  /**
   * The program's version is read from its file, because what it prints depends on how it was
   * built.
   */
  withoutVersionFlag?: true;
  /**
   * Whether it goes through a list of calls, or draws from that many keys, each as likely as any
   * other.
   */
  sends: "a list" | "even draws";
  runsFor: "time" | "calls";
  /** Commands with which it begins, which a server may count. */
  opensWith: number;
  files(work: LoadWork): Readonly<Record<string, string>>;
  /** @param amount seconds, or calls, see `runsFor` @param folder that holds its files */
  arguments(work: LoadWork, amount: number, folder: string): string[];
  /** @throws Error that quotes the line which is not what it should be */
  figuresIn(output: string): PrintedLoad;
}

/**
 * In an argument of a program that draws its own keys: 12 random digits below the number of keys,
 * drawn for each command.
 */
export const RANDOM_KEY = "__rand_int__";

/**
 * A call without an answer is given up after this time, as by our own clients of the same services.
 */
export const CALL_TIMEOUT_S = 10;

/** Name of the file with the calls. */
export const CALLS_FILE = "calls";

/** Where the calls go, as `host:port`. */
export function addressOf({ place, protocol }: LoadWork): string {
  const portName = protocol.kind === "resp" ? undefined : protocol.port;
  const port = portName === undefined ? place.port : place.ports?.[portName];
  if (port === undefined) throw new Error(`the service has no port ${portName}`);
  return `${place.host}:${port}`;
}
