import { limiterContract } from "../../suites/limiter.js";

limiterContract("insurance-limiter", undefined, { decidesAlone: true });
