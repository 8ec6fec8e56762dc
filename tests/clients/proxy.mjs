// A way to the service that can be cut; it reads nothing of what passes.
import { connect, createServer } from "node:net";
import { once } from "node:events";

export async function proxied(url) {
  const open = new Set();
  const { hostname, port } = new URL(url);
  const server = createServer((inward) => {
    const outward = connect(Number(port), hostname);
    for (const [socket, other] of [[inward, outward], [outward, inward]]) {
      open.add(socket);
      socket.on("error", () => {}).on("close", () => open.delete(socket) && other.destroy());
      socket.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => open.forEach((socket) => socket.destroy());
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    cut,
    close() {
      server.close();
      cut();
    },
  };
}
