import { moduleContract } from "../../suites/module.js";

moduleContract("redis-cell", ["valkey-glide", "iovalkey", "ioredis", "node-redis"]);
