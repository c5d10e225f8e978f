import "reflect-metadata";
import { pathToFileURL } from "node:url";
import { keyOfClient, settings } from "./http-api.mjs";

/** LOADER is the module of the folder in which NestJS is installed on demand. */
const { default: load } = await import(pathToFileURL(process.env.LOADER).href);
const exportsOf = async (name) => {
  const loaded = await load(name);
  return loaded.default ?? loaded;
};
const { NestFactory } = await exportsOf("@nestjs/core");
const { Controller, Get, Module, UseGuards } = await exportsOf("@nestjs/common");
const { ThrottlerGuard, ThrottlerModule } = await exportsOf("@nestjs/throttler");

/** Decorators by hand: Node does not run their syntax. */
class Items {
  list() {
    return { items: [] };
  }
}
const method = Object.getOwnPropertyDescriptor(Items.prototype, "list");
Get("api/items")(Items.prototype, "list", method);
UseGuards(ThrottlerGuard)(Items);
Controller()(Items);

class Root {}
Module({
  imports: [
    ThrottlerModule.forRoot({
      throttlers: [{ ttl: settings.window_ms, limit: settings.quota }],
      getTracker: keyOfClient,
    }),
  ],
  controllers: [Items],
})(Root);

const app = await NestFactory.create(Root, { logger: ["error"] });
await app.listen(settings.port, "127.0.0.1");
