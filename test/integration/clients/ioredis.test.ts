import { clientContract } from "../../suites/client.js";

clientContract("ioredis");
