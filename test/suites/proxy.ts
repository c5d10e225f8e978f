import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/**
 * What a store answers to a decision: an array for a script, array or number for a module, or what
 * memcached says.
 */
const DECISION_REPLY = /^(\*[25]|:-?\d+|STORED|\d+)\r\n/;

/** Stands between a client and a store of one node, and can lose a reply. */
export class LossyProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #loses = false;

  private constructor(port: number) {
    this.#server = createServer((client) => {
      const store = connect(port, "127.0.0.1");
      for (const socket of [client, store]) {
        this.#sockets.add(socket);
        socket.on("error", () => undefined);
        socket.on("close", () => {
          this.#sockets.delete(socket);
          client.destroy();
          store.destroy();
        });
      }
      client.pipe(store);
      store.on("data", (reply) => {
        if (!this.#loses || !DECISION_REPLY.test(reply.toString("latin1")))
          return client.write(reply);
        this.#loses = false;
        return client.destroy();
      });
    });
  }

  static async start(port: number): Promise<LossyProxy> {
    const proxy = new LossyProxy(port);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /**
   * The connection of the next decision's reply is cut instead: the store has run it, and the
   * client does not know.
   */
  loseNextReply(): void {
    this.#loses = true;
  }

  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
