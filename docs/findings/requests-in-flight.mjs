import { GlideClient, Logger } from "@valkey/valkey-glide";

Logger.init("off");
const client = await GlideClient.createClient({
  addresses: [{ host: "127.0.0.1", port: Number(process.env.PORT) }],
  requestTimeout: 5000,
});
await client.customCommand(["CLIENT", "PAUSE", "300"]);
const outcomes = await Promise.allSettled(Array.from({ length: 1500 }, () => client.get("a")));
console.log("rejected:", outcomes.filter(({ status }) => status === "rejected").length);
client.close();
