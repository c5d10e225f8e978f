import { clientContract } from "../../contract/client.js";

clientContract("node-redis");
