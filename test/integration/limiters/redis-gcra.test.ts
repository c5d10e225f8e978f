import { limiterContract } from "../../suites/limiter.js";

limiterContract("redis-gcra");
