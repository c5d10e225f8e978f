import { clientContract } from "../../suites/client.js";

clientContract("valkey-glide");
