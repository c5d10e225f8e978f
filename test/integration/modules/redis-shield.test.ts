import { moduleContract } from "../../suites/module.js";

moduleContract("redis-shield", ["valkey-glide", "iovalkey", "ioredis", "node-redis"]);
