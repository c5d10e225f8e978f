import { limiterContract } from "../../suites/limiter.js";

limiterContract("upstash-token-bucket");
