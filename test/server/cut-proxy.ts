// Owns a TCP proxy that cuts: the n-th piece of data that passes, in either direction, is not passed
// on, and its connection dies with it. One cut; afterwards everything passes.

import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface CutProxy {
  readonly address: string;
  /** True once it has cut. */
  readonly hasCut: () => boolean;
  close(): Promise<void>;
}

/** `cutAt` counts pieces from 1; 0 = never. */
export async function cutProxy(target: string, cutAt: number): Promise<CutProxy> {
  const [host, port] = target.split(":");
  const sockets = new Set<Socket>();
  let pieces = 0;
  let cut = false;
  const server = createServer((near) => {
    const far = connect(Number(port), host);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    const pass = (to: Socket) => (data: Buffer) => {
      pieces += 1;
      if (!cut && pieces === cutAt) {
        cut = true;
        near.destroy();
        far.destroy();
      } else to.write(data);
    };
    near.on("data", pass(far));
    far.on("data", pass(near));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port: own } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${own}`,
    hasCut: () => cut,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
