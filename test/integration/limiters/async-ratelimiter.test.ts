import { limiterContract } from "../../suites/limiter.js";

limiterContract("async-ratelimiter");
