import { clientContract } from "../../suites/client.js";

clientContract("node-redis");
