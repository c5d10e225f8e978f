import { limiterContract } from "../../suites/limiter.js";

limiterContract("non-atomic", ["ioredis", "iovalkey", "node-redis"]);
