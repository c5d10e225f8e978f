import { limiterContract } from "../../suites/limiter.js";

// A key is denied by the store once, and then by the process.
limiterContract("in-memory-block", ["ioredis", "iovalkey", "node-redis"], { denialsInStore: 1 });
