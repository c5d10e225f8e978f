import type {
  Batch,
  ClusterBatch,
  GlideClient,
  GlideClusterClient,
  GlideReturnType,
  Script,
  TimeUnit,
} from "@valkey/valkey-glide";

/** An answer in a transaction, as ioredis gives it. */
type Replied = [error: null, reply: unknown];

/** A transaction as RateLimiterRedis writes one: commands are chained, `exec` answers pairs of error and reply. */
export interface Transaction {
  set(key: string, value: number, unit?: "EX", seconds?: number): Transaction;
  incrby(key: string, by: number): Transaction;
  get(key: string): Transaction;
  pttl(key: string): Transaction;
  exec(): Promise<Replied[]>;
}

/** All that RateLimiterRedis asks of an ioredis client, on a glide client. */
export interface GlideAsIoredis {
  /** Adds a method `name` that runs the script: EVALSHA, and SCRIPT LOAD where the store does not have it. */
  defineCommand(name: string, definition: { numberOfKeys: number; lua: string }): void;
  multi(): Transaction;
  /** @returns how many keys there were */
  del(key: string): Promise<number>;
  /** Gives the scripts back to the library. */
  release(): void;
}

/** What of the library is needed, as the client's own file loaded it. */
export interface GlideClasses {
  Script: new (code: string) => Script;
  /** An atomic batch of the kind that the client takes. */
  batch(): Batch | ClusterBatch;
}

/** Both kinds of client, each with the batch of its kind. */
type Client = Pick<GlideClient | GlideClusterClient, "invokeScript" | "del"> & {
  exec(batch: Batch | ClusterBatch, raiseOnError: boolean): Promise<GlideReturnType[] | null>;
};

/**
 * Lets rate-limiter-flexible's RateLimiterRedis run on glide. It costs the client an object and an array for each
 * consume, which is less than glide's own class takes.
 */
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
      return replies.map((reply): Replied => [null, reply]);
    },
  };
  return written;
}
