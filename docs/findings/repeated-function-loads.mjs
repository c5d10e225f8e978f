import { GlideClient, Logger } from "@valkey/valkey-glide";
import { RateLimiterValkeyGlide } from "rate-limiter-flexible";

Logger.init("off");
const storeClient = await GlideClient.createClient({
  addresses: [{ host: "127.0.0.1", port: Number(process.env.PORT) }],
});
const limiter = new RateLimiterValkeyGlide({ storeClient, points: 1000, duration: 60 });
await storeClient.configResetStat();
await Promise.all(Array.from({ length: 300 }, () => limiter.consume("a")));
console.log(/cmdstat_(function.load:calls=\d+)/.exec(await storeClient.info(["COMMANDSTATS"]))[1]);
storeClient.close();
