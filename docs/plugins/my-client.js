import { createHash } from "node:crypto";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

const VERSION = "1.0.0";

/** The settings that all clients share, so that a difference between two clients is not a difference of settings. */
const SETTINGS = {
  protocol: "RESP2",
  auto_pipelining: false,
  offline_queue: false,
  auto_resend_unfulfilled_commands: false,
  request_timeout_ms: 5000,
  connect_timeout_ms: 3000,
  reconnect_delay_ms: 200,
  tcp_no_delay: true,
  tcp_keep_alive_ms: 30000,
  read_from: "primary",
};
const OPEN_DEADLINE_MS = 5000;

/** Encodes a command as an array of bulk strings. */
const encode = (words) =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`;

/** Decodes the reply at `from`; undefined when it is not complete yet. */
function decode(bytes, from) {
  const end = bytes.indexOf("\r\n", from);
  if (end < 0) return undefined;
  const text = bytes.toString("utf8", from + 1, end);
  const next = end + 2;
  const size = Number(text);
  switch (String.fromCharCode(bytes[from])) {
    case "+":
      return { value: text, next };
    case "-":
      return { value: new Error(text), next };
    case ":":
      return { value: size, next };
    case "$":
      if (size < 0) return { value: null, next };
      if (bytes.length < next + size + 2) return undefined;
      return { value: bytes.toString("utf8", next, next + size), next: next + size + 2 };
    default: {
      const value = [];
      let position = next;
      while (value.length < size) {
        const item = decode(bytes, position);
        if (!item) return undefined;
        value.push(item.value);
        position = item.next;
      }
      return { value, next: position };
    }
  }
}

/** One connection. Replies come in the order of the commands. */
class Connection {
  #node;
  #socket;
  #ready = false;
  #closed = false;
  #waiting = [];
  #rest = Buffer.alloc(0);
  #retry;
  last = new Error("no answer");

  constructor(node) {
    this.#node = node;
    this.#connect();
  }

  #connect() {
    const socket = connect({
      ...this.#node,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 30000,
    });
    this.#socket = socket;
    socket.setTimeout(SETTINGS.connect_timeout_ms, () =>
      socket.destroy(new Error("connecting takes too long")),
    );
    socket.on("connect", () => {
      socket.setTimeout(0);
      this.#ready = true;
    });
    socket.on("data", (bytes) => this.#read(bytes));
    socket.on("error", (error) => {
      this.last = error;
    });
    socket.on("close", () => this.#lost());
  }

  /** Pending commands fail. They may have counted already, so they are not sent again. */
  #lost() {
    this.#ready = false;
    this.#rest = Buffer.alloc(0);
    for (const { settle } of this.#waiting.splice(0)) settle(new Error("the connection was lost"));
    if (!this.#closed) this.#retry = setTimeout(() => this.#connect(), SETTINGS.reconnect_delay_ms);
  }

  #read(bytes) {
    const all = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes;
    let position = 0;
    for (let reply = decode(all, 0); reply; reply = decode(all, position)) {
      position = reply.next;
      this.#waiting.shift()?.settle(reply.value);
    }
    this.#rest = all.subarray(position);
  }

  call(...words) {
    if (!this.#ready) return Promise.reject(this.last);
    return new Promise((resolve, reject) => {
      // A command that timed out stays in the queue, so that its late reply is not taken for the next command's.
      const timer = setTimeout(
        () => reject(new Error("no reply in time")),
        SETTINGS.request_timeout_ms,
      );
      const settle = (value) => {
        clearTimeout(timer);
        if (value instanceof Error) reject(value);
        else resolve(value);
      };
      this.#waiting.push({ settle });
      this.#socket.write(encode(words.map(String)));
    });
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#socket.destroy();
  }
}

/** The methods of a client that RateLimiterRedis of rate-limiter-flexible calls. */
function handleOf(connection) {
  const handle = {
    defineCommand(name, { lua, numberOfKeys }) {
      const sha1 = createHash("sha1").update(lua).digest("hex");
      handle[name] = (words) =>
        connection.call("EVALSHA", sha1, numberOfKeys, ...words).catch((error) => {
          // The store did not run the script, so it may be sent again, with its text.
          if (error.message.startsWith("NOSCRIPT"))
            return connection.call("EVAL", lua, numberOfKeys, ...words);
          throw error;
        });
    },
    del: (key) => connection.call("DEL", key),
    multi() {
      const commands = [];
      const written = {
        set: (...words) => commands.push(["SET", ...words]) && written,
        pttl: (key) => commands.push(["PTTL", key]) && written,
        async exec() {
          const calls = [["MULTI"], ...commands, ["EXEC"]].map((words) =>
            connection.call(...words),
          );
          const replies = (await Promise.all(calls)).at(-1);
          return replies.map((reply) => [null, reply]);
        },
      };
      return written;
    },
  };
  return handle;
}

/** The version of the requested store. Valkey reports both versions. */
async function versionOf(connection, store) {
  const info = await connection.call("INFO", "server");
  const field = (name) => new RegExp(`^${name}:(\\S+)`, "m").exec(info)?.[1];
  const found = field("valkey_version") ? "valkey" : "redis";
  if (found !== store) throw new Error(`it is ${found}, but ${store} was requested`);
  return field(`${store}_version`);
}

/** Tries again until the deadline, because a store may still be starting. */
async function open({ store, nodes: [node], access }) {
  if (access) throw new Error("my-client knows neither passwords nor encryption");
  const connection = new Connection(node);
  const deadline = performance.now() + OPEN_DEADLINE_MS;
  while (!(await connection.call("PING").catch(() => undefined))) {
    if (performance.now() > deadline) {
      connection.close();
      throw connection.last;
    }
    await delay(50);
  }
  return {
    handle: handleOf(connection),
    version: VERSION,
    settings: SETTINGS,
    storeVersion: () => versionOf(connection, store),
    shardKeys: async () => ["preload"],
    close: async () => connection.close(),
  };
}

/** @type {import("ratelimit-bench/plugin").Plugin} */
export default {
  clients: [
    {
      id: "my-client",
      // The first is the default.
      stores: ["valkey", "redis"],
      topologies: ["standalone"],
      control: false,
      survivesStoreRestart: true,
      survivesScriptFlush: true,
      limiter: "rate-limiter-flexible",
      flexible: { className: "RateLimiterRedis", script: { kind: "evalsha" } },
      autoPipelining: () => "it writes each command by itself",
      open,
    },
  ],
};
