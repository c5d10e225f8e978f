import { limiterContract } from "../../suites/limiter.js";

limiterContract("bursty");
