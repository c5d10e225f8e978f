import { clientContract } from "../../suites/client.js";

clientContract("memcached");
