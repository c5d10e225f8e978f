import { connect, type Socket } from "node:net";
import type { Node } from "../../../contract/env.js";
import { environmentError, messageOf } from "../../../contract/errors.js";

const COMMAND_TIMEOUT_MS = 10_000;

/** The last line of an answer that is not an error. */
const DONE = /^(END|OK|RESET|STORED|TOUCHED|NOT_FOUND|VERSION .*)$/;
/** Errors of memcached, and of a server that speaks RESP. */
const REFUSED = /^(ERROR|CLIENT_ERROR|SERVER_ERROR|BUSY|-)/;

interface Command {
  text: string;
  lines: string[];
  resolve(lines: string[]): void;
  reject(error: Error): void;
}

/** A connection by memcached's text protocol; it opens again with the next command after it was lost. */
export class MemcachedNode {
  readonly place: Node;
  readonly name: string;
  #socket: Socket | undefined;
  #rest = "";
  readonly #pending: Command[] = [];

  constructor(place: Node) {
    this.place = place;
    this.name = `${place.host}:${place.port}`;
  }

  /**
   * @returns the lines of the answer
   * @throws environmentError naming the node and the command, also when no answer comes in time
   */
  call(text: string, timeoutMs = COMMAND_TIMEOUT_MS): Promise<string[]> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#lose(`no answer within ${timeoutMs} ms`), timeoutMs);
      const settled =
        <Value>(then: (value: Value) => void) =>
        (value: Value) => {
          clearTimeout(timer);
          then(value);
        };
      this.#pending.push({ text, lines: [], resolve: settled(resolve), reject: settled(reject) });
      this.#socket ??= this.#open();
      this.#socket.write(`${text}\r\n`);
    });
  }

  /** The `STAT name value` lines of an answer. */
  async stats(group = ""): Promise<Map<string, string>> {
    const lines = await this.call(`stats ${group}`.trim());
    return new Map(
      lines.flatMap((line) => {
        const found = /^STAT (?<name>\S+) (?<value>.*)$/.exec(line)?.groups;
        return found ? [[found.name ?? "", found.value ?? ""] as const] : [];
      }),
    );
  }

  close(): void {
    this.#lose("the connection was closed");
  }

  #open(): Socket {
    const socket = connect(this.place);
    socket.setEncoding("latin1").setNoDelay(true);
    socket.on("data", (data) => this.#read(String(data)));
    socket.on("error", (error) => this.#lose(messageOf(error), socket));
    socket.on("close", () => this.#lose("it closed the connection", socket));
    return socket;
  }

  #read(data: string): void {
    // Some answers end their lines without a carriage return.
    const lines = (this.#rest + data).split(/\r?\n/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const command = this.#pending[0];
      if (!command) return;
      command.lines.push(line);
      if (!DONE.test(line) && !REFUSED.test(line)) continue;
      this.#pending.shift();
      if (DONE.test(line)) command.resolve(command.lines);
      else command.reject(environmentError(`${this.name}: ${command.text}: ${line}`));
    }
  }

  /** @param socket the one that was lost; a later one is kept */
  #lose(why: string, socket = this.#socket): void {
    if (socket !== this.#socket) return;
    this.#socket = undefined;
    this.#rest = "";
    socket?.destroy();
    for (const { text, reject } of this.#pending.splice(0)) {
      reject(environmentError(`${this.name} does not answer: ${text}: ${why}`));
    }
  }
}
