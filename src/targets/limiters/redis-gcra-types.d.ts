/** The members of the untyped package that we use. */
declare module "redis-gcra" {
  interface Options {
    /** A client with the methods of ioredis. */
    redis: unknown;
    keyPrefix?: string;
    /** Points that can be used at once. */
    burst?: number;
    /** Points that are refilled in each period. */
    rate?: number;
    /** The length of the limiter window in milliseconds. */
    period?: number;
  }
  interface Answer {
    limited: boolean;
    remaining: number;
    /** Milliseconds; infinite for a cost that is beyond the burst. */
    retryIn: number;
    resetIn: number;
  }
  export default function create(options: Options): {
    limit(request: { key: string; cost: number }): Promise<Answer>;
  };
}
