// Finds permanent errors if the first connection fails: no such host, TLS on one side only, an untrusted certificate.

import { lookup } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

/** Time limit in milliseconds for the other side to show its protocol. */
const PATIENCE = 3_000;
/** The beginning of HTTP/2 with an empty settings frame; a server without TLS answers with its own settings. */
const PREFACE = Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])]);
const SETTINGS = 4;

/** Describe a permanent obstacle in a sentence with its remedy; empty if another try may succeed. */
export async function obstacle(address: string, tls: boolean | string): Promise<string> {
  const parts = /^(?:\[([^[\]]+)\]|([^:/]+)):(\d+)$/.exec(address);
  if (parts === null) return ""; // another kind of address, which gRPC handles
  const [host, port] = [parts[1] ?? parts[2], Number(parts[3])];
  try {
    await lookup(host);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOTFOUND" ? `there is no host '${host}': check the address ${address}` : "";
  }
  if (!tls) {
    const secured = (await handshake(host, port, false, true)) === "";
    return secured ? `the server at ${address} wants TLS: --tls or tls: true, and --tls-roots for its authority` : "";
  }
  if (await speaksPlainly(host, port)) return `the server at ${address} has no TLS: leave --tls, --tls-roots and tls out`;
  const refused = await handshake(host, port, tls, false);
  const trust = ["CERT", "SIGNED", "ISSUER", "ALTNAME"].some((word) => refused.includes(word));
  return trust ? `the certificate of ${address} is not trusted (${refused}): --tls-roots or tls names the authority to trust` : "";
}

/** Wait a limited time for a socket's outcome. */
function outcome<T>(socket: Socket, otherwise: T, listen: (settle: (value: T) => void) => void): Promise<T> {
  return new Promise((resolve) => {
    const settle = (value: T) => {
      socket.destroy();
      resolve(value);
    };
    socket.setTimeout(PATIENCE, () => settle(otherwise));
    socket.on("error", () => settle(otherwise));
    socket.on("close", () => settle(otherwise));
    listen(settle);
  });
}

/** Return the error of a TLS handshake; empty if there is none. */
function handshake(host: string, port: number, roots: boolean | string, anybody: boolean): Promise<string> {
  const ca = typeof roots === "string" ? readFileSync(roots) : undefined;
  const servername = isIP(host) ? undefined : host;
  const socket = connectTls({ host, port, servername, ca, rejectUnauthorized: !anybody, ALPNProtocols: ["h2"] });
  return outcome(socket, "nothing was said", (settle) => {
    socket.prependListener("error", (error: NodeJS.ErrnoException) => settle(error.code ?? error.message));
    socket.on("secureConnect", () => settle(""));
  });
}

/** Return true if the other side answers HTTP/2 without TLS. */
function speaksPlainly(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  let heard = Buffer.alloc(0);
  return outcome(socket, false, (settle) => {
    socket.on("connect", () => socket.write(PREFACE));
    socket.on("data", (chunk) => {
      heard = Buffer.concat([heard, chunk]);
      if (heard.length >= 9) settle(heard[3] === SETTINGS);
    });
  });
}
