import { clientContract } from "../../contract/client.js";

clientContract("iovalkey");
