import { limiterContract } from "../../suites/limiter.js";

limiterContract("redis-shield", ["valkey-glide", "iovalkey", "ioredis", "node-redis"]);
