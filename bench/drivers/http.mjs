// Owns JSON calls over one kept-alive HTTP connection.
import { Agent, request } from "node:http";

export function openHttp(port) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    /** Posts and resolves with the parsed answer. Throws unless the status is 200. */
    post: (path, body) => post({ agent, host: "127.0.0.1", port, path }, JSON.stringify(body)),
    close: () => agent.destroy(),
  };
}

function post(target, body) {
  return new Promise((resolve, reject) => {
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    };
    const sent = request({ ...target, method: "POST", headers }, (response) => {
      const parts = [];
      response.on("data", (part) => parts.push(part));
      response.on("end", () => {
        const text = Buffer.concat(parts).toString();
        if (response.statusCode === 200) resolve(JSON.parse(text));
        else reject(new Error(`HTTP ${response.statusCode}: ${text}`));
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
