import { type CallToolResult, createServer, type Server } from "portico/server";
import * as z from "zod/v4";

const Weather = { degrees: z.number(), sky: z.enum(["clear", "cloudy"]) };

function answer(degrees: number): CallToolResult {
  const structuredContent = { degrees, sky: "clear" };
  return { structuredContent, content: [{ type: "text", text: JSON.stringify(structuredContent) }] };
}

function addTools(target: Server): void {
  target.tool("weather", {
    input: z.object({ city: z.string() }),
    output: z.object(Weather),
  }, async ({ city }) => answer(city.length));
}

const getServer = () => {
  const made = createServer({
    name: "weather",
    version: "1.0.0",
  });
  addTools(made);
  return made;
};

export const server = getServer();
