import { clientContract } from "../../contract/client.js";

clientContract("valkey-glide");
