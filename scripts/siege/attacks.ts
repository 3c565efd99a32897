// What a siege does to the gateway: each attack opens its sockets on loopback and closes them at its end.
import { connect, type Socket } from 'node:net';
import type { Keys } from './gateway.ts';

export interface Target {
  readonly port: number;
  readonly keys: Keys;
}

interface Attack {
  readonly title: string;
  /** Starts it; its open sockets are in `sockets`, and `isOver` says when to stop. */
  run(target: Target, siege: Siege): void;
}

interface Siege {
  readonly sockets: Set<Socket>;
  isOver(): boolean;
}

const CHAT = '/api/v1/chat/completions';
const MESSAGES = '/api/v1/messages';
const MIB = 1024 * 1024;
/** A closed socket is reopened after this long: hundreds at once are enough. */
const AGAIN_MS = 50;

const post = (path: string, key: string, lines: string) =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n${lines}\r\n\r\n`;
const whole = (path: string, key: string, body: string) =>
  Buffer.from(post(path, key, `content-length: ${Buffer.byteLength(body)}`) + body);

/** Keeps this many sockets open, each of which starts with `attack`. */
function keepOpen(count: number, { port }: Target, siege: Siege, attack: (socket: Socket) => void): void {
  const open = () => {
    if (siege.isOver()) return;
    const socket = connect(port, '127.0.0.1');
    siege.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('connect', () => attack(socket));
    socket.once('close', () => {
      siege.sockets.delete(socket);
      setTimeout(open, AGAIN_MS);
    });
  };
  for (let at = 0; at < count; at += 1) open();
}

/** Writes the same data over and over, as fast as it is read. */
function pour(socket: Socket, piece: Buffer): void {
  socket.resume();
  const write = () => {
    while (!socket.destroyed && socket.write(piece)) if (socket.writableLength > 0) break;
  };
  socket.on('drain', write);
  write();
}

/** Sends requests one after the other, each once the previous one is answered. */
function repeat(socket: Socket, request: Buffer): void {
  socket.on('data', () => socket.write(request));
  socket.write(request);
}

const hosts = JSON.stringify({
  model: 'call',
  messages: [
    {
      role: 'user',
      content: Array.from({ length: 60 }, (_, at) => ({
        type: 'image_url',
        image_url: { url: `https://${'я'.repeat(8000)}${at}.example/` },
      })),
    },
  ],
});

const long = (unit: string) =>
  JSON.stringify({ model: 'call', messages: [{ role: 'user', content: unit }] }).replace(unit, () =>
    unit.repeat(Math.floor((47 * MIB) / Buffer.byteLength(unit))),
  );

export const ATTACKS: Readonly<Record<string, Attack>> = {
  hosts: {
    title: 'images with long hosts of other letters, 957 KB a request',
    run(target, siege) {
      const request = whole(CHAT, target.keys.paying[0] as string, hosts);
      keepOpen(2, target, siege, (socket) => repeat(socket, request));
    },
  },
  bodies: {
    title: '60 bodies of 47 MB, then a byte now and then, with an empty wallet and with others',
    run(target, siege) {
      const { penniless, paying } = target.keys;
      const piece = Buffer.alloc(MIB, ' ');
      let next = 0;
      keepOpen(60, target, siege, (socket) => {
        next += 1;
        const key = next % 2 === 0 ? penniless : (paying[next % paying.length] as string);
        socket.resume();
        socket.write(post(MESSAGES, key, `content-length: ${47 * MIB}`));
        let left = 46;
        const write = () => {
          while (left > 0 && !socket.destroyed) {
            left -= 1;
            if (!socket.write(piece)) return;
          }
        };
        socket.on('drain', write);
        write();
        const drip = setInterval(() => socket.write(' '), 1000);
        socket.once('close', () => clearInterval(drip));
      });
    },
  },
  pipeline: {
    title: '100 sockets that pipeline 1,700 requests each and read nothing',
    run(target, siege) {
      const requests = Buffer.from('GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(1700));
      keepOpen(100, target, siege, (socket) => {
        socket.pause();
        socket.write(requests);
      });
    },
  },
  unread: {
    title: 'endless bodies to paths that read none',
    run(target, siege) {
      const piece = Buffer.alloc(256 * 1024, 'x');
      let next = 0;
      keepOpen(8, target, siege, (socket) => {
        next += 1;
        const path = ['/nope', '/healthz', '/api/v1/balance'][next % 3];
        socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000000\r\n\r\n`);
        pour(socket, piece);
      });
    },
  },
  leaving: {
    title: 'clients that leave in the middle of a body, and chunks that are none',
    run(target, siege) {
      const begun = `${post(CHAT, target.keys.paying[1] as string, 'transfer-encoding: chunked')}5\r\n{"mod\r\n`;
      let next = 0;
      keepOpen(10, target, siege, (socket) => {
        next += 1;
        socket.resume();
        socket.write(next % 2 === 0 ? `${begun}zz\r\n` : begun);
        setTimeout(() => socket.resetAndDestroy(), 20);
      });
    },
  },
  silent: {
    title: '600 sockets that say nothing',
    run(target, siege) {
      keepOpen(600, target, siege, (socket) => void socket.resume());
    },
  },
  texts: {
    title: 'bodies of 47 MB that are read to the end',
    run(target, siege) {
      const [, , one = '', other = ''] = target.keys.paying;
      const requests = [whole(MESSAGES, one, long('Слово ')), whole(CHAT, other, long('\\"'))];
      let next = 0;
      keepOpen(2, target, siege, (socket) => {
        next += 1;
        repeat(socket, requests[next % 2] as Buffer);
      });
    },
  },
  chunks: {
    title: 'bodies whose every byte is a chunk',
    run(target, siege) {
      const body = [...JSON.stringify({ model: 'nope', messages: [{ role: 'user', content: 'x'.repeat(50_000) }] })];
      const head = post(CHAT, target.keys.paying[0] as string, 'transfer-encoding: chunked');
      const request = Buffer.from(`${head}${body.map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`);
      keepOpen(2, target, siege, (socket) => repeat(socket, request));
    },
  },
};
