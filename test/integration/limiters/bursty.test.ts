import { limiterContract } from "../../suites/limiter.js";

limiterContract("bursty", ["ioredis", "iovalkey", "node-redis"]);
