/** The parts of autocannon 9 that the closed loop uses; its published types lag behind. */
declare module "autocannon" {
  import type { EventEmitter } from "node:events";
  import type { Socket } from "node:net";

  namespace autocannon {
    interface Request {
      requestBuffer: Buffer;
    }
    interface Client extends EventEmitter {
      conn: Socket;
      destroyed: boolean;
      parser: { initialize(type: "RESPONSE"): void };
      /**
       * The requests in flight, of which there is at most one. `startTime` is `process.hrtime()` at
       * the send.
       */
      pipelinedRequests: {
        size(): number;
        clear(): void;
        toArray(): readonly { startTime: [seconds: number, nanoseconds: number] }[];
      };
      on(event: "headers", listener: (headers: { shouldKeepAlive: boolean }) => void): this;
      on(event: "connError", listener: () => void): this;
      requestIterator: { currentRequest: Request; nextRequest(): Request };
      _connect(): void;
      _destroyConnection(): void;
      _doRequest(): void;
      destroy(): void;
    }
    interface Options {
      url: string;
      connections: number;
      duration?: number;
      /** The number of requests that ends the load in place of a duration. */
      amount?: number;
      timeout?: number;
      sampleInt?: number;
      skipAggregateResult?: boolean;
      setupClient?(client: Client): void;
    }
    interface Instance extends EventEmitter, PromiseLike<unknown> {
      stop(): void;
    }
  }
  function autocannon(options: autocannon.Options): autocannon.Instance;
  export = autocannon;
}
