// The TypeScript client of the second generation, which takes the newest version that the server has; arguments as for sdk.mjs.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { walk } from "./walk.mjs";

const client = new Client({ name: "interop", version: "1" }, { versionNegotiation: { mode: "auto" } });
await walk(client, { stdio: StdioClientTransport, http: StreamableHTTPClientTransport }, () =>
  client.getNegotiatedProtocolVersion(),
);
