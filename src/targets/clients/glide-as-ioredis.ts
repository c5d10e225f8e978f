import type {
  Batch,
  ClusterBatch,
  GlideClient,
  GlideClusterClient,
  GlideReturnType,
  Script,
  TimeUnit,
} from "@valkey/valkey-glide";

/** A reply in a transaction, in the form of ioredis. */
type TransactionReply = [error: null, reply: unknown];

/** A transaction as RateLimiterRedis uses it: chained commands, and `exec` resolves with pairs of error and reply. */
interface Transaction {
  set(key: string, value: number, unit?: "EX", seconds?: number): Transaction;
  incrby(key: string, by: number): Transaction;
  get(key: string): Transaction;
  pttl(key: string): Transaction;
  exec(): Promise<TransactionReply[]>;
}

/** The methods of an ioredis client that RateLimiterRedis calls, on a glide client. */
export interface GlideAsIoredis {
  /** Adds a method `name` that runs the script by EVALSHA, after a SCRIPT LOAD where the store does not have it. */
  defineCommand(name: string, definition: { numberOfKeys: number; lua: string }): void;
  multi(): Transaction;
  del(key: string): Promise<number>;
  release(): void;
}

/** Classes of the library, as the client's file loaded it. */
export interface GlideClasses {
  Script: new (code: string) => Script;
  /** Creates an atomic batch of the kind that the client takes. */
  batch(): Batch | ClusterBatch;
}

/** Standalone or cluster client. */
type Client = Pick<GlideClient | GlideClusterClient, "invokeScript" | "del"> & {
  exec(batch: Batch | ClusterBatch, raiseOnError: boolean): Promise<GlideReturnType[] | null>;
};

/** rate-limiter-flexible's RateLimiterRedis on glide, at the cost of an object and an array per consume. */
export function glideAsIoredis(client: Client, { Script, batch }: GlideClasses): GlideAsIoredis {
  const scripts = new Map<string, Script>();
  const shim: GlideAsIoredis & Record<string, unknown> = {
    defineCommand(name, { numberOfKeys, lua }) {
      scripts.get(name)?.release();
      const script = new Script(lua);
      scripts.set(name, script);
      shim[name] = (words: string[]) =>
        client.invokeScript(script, { keys: words.slice(0, numberOfKeys), args: words.slice(numberOfKeys) });
    },
    multi: () => transaction(client, batch()),
    del: (key) => client.del([key]),
    release() {
      for (const script of scripts.values()) script.release();
      scripts.clear();
    },
  };
  return shim;
}

function transaction(client: Client, batch: Batch | ClusterBatch): Transaction {
  const written: Transaction = {
    set(key, value, unit, seconds) {
      const expiry = unit && seconds ? { type: unit as TimeUnit, count: seconds } : undefined;
      batch.set(key, String(value), expiry && { expiry });
      return written;
    },
    incrby(key, by) {
      batch.incrBy(key, by);
      return written;
    },
    get(key) {
      batch.get(key);
      return written;
    },
    pttl(key) {
      batch.pttl(key);
      return written;
    },
    async exec() {
      const replies = await client.exec(batch, true);
      if (!replies) throw new Error("the transaction was not executed");
      return replies.map((reply): TransactionReply => [null, reply]);
    },
  };
  return written;
}
