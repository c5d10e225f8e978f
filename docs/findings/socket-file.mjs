import { readdirSync } from "node:fs";
import { GlideClient, Logger } from "@valkey/valkey-glide";

Logger.init("off");
const client = await GlideClient.createClient({
  addresses: [{ host: "127.0.0.1", port: Number(process.env.PORT) }],
});
client.close();
const left = readdirSync("/tmp").filter((name) => name.startsWith(`glide-socket-${process.pid}-`));
console.log("left:", left.length);
