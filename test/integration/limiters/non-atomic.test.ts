import { limiterContract } from "../../suites/limiter.js";

limiterContract("non-atomic");
