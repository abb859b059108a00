import { createServer, ToolError } from "portico/server";
import { serveStdio } from "portico/stdio";
import { z } from "zod";

export const server = createServer({
  name: "Sums",
  version: "1.0.0",
});

server.tool("add", {
  description: "Add two numbers",
  input: z.object({
    a: z.number(),
    b: z.number(),
  }),
  annotations: { readOnlyHint: true },
}, async (args) => {
    return String(args.a + args.b);
  });

server.tool("download", {
  description: "Download a file",
  input: z.object({ url: z.string() }),
}, async function ({ url }, ctx) {
    ctx.log.info({ message: "Downloading", context: { url } });
    if (!url.startsWith("https:")) throw new ToolError("Only https");
    await ctx.progress(1, 2);
    ctx.log.warning("Slow");
    return { content: [{ type: "text", text: url }, { type: "text", text: "done" }] };
  });

server.tool("ping", { description: "Answers" }, async () => "pong");

export const main = async () => {
  serveStdio(server);
};
