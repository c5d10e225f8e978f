import { limiterContract } from "../../suites/limiter.js";

limiterContract("rate-limit-redis");
