// The TypeScript client of the first generation: node sdk.mjs PLAN http URL | node sdk.mjs PLAN stdio COMMAND ARGUMENT...
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { walk } from "./walk.mjs";

let negotiated;

// The client keeps to itself what it has come to, but tells the transport.
function telling(transport) {
  return class extends transport {
    setProtocolVersion(version) {
      negotiated = version;
      super.setProtocolVersion?.(version);
    }
  };
}

const client = new Client({ name: "interop", version: "1" });
const transports = { stdio: telling(StdioClientTransport), http: telling(StreamableHTTPClientTransport) };
await walk(client, transports, () => negotiated);
