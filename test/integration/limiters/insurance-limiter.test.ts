import { limiterContract } from "../../suites/limiter.js";

limiterContract("insurance-limiter", ["ioredis", "iovalkey", "node-redis"], { decidesAlone: true });
