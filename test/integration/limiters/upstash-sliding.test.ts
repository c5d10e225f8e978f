import { limiterContract } from "../../suites/limiter.js";

limiterContract("upstash-sliding", undefined, { notIn: ["cluster-3"] });
