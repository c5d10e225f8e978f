import { limiterContract } from "../../suites/limiter.js";

limiterContract("redis-cell", ["valkey-glide", "iovalkey", "ioredis", "node-redis"]);
