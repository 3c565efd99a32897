// What a server may send before its reply: hints, and a `100 Continue` that nobody asked for.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { expect } from 'chai';
import type { ProviderPart } from '../../../lib/upstream/contract/provider.ts';
import { createHost } from '../../../lib/upstream/host/host.ts';
import { createAuthority } from '../../../testkit/certificates.ts';

const EVENTS = 'data: {"choices":[{"delta":{"content":"yes"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
const REPLY = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${EVENTS.length}\r\n\r\n${EVENTS}`;

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';

/** In pieces that are sent one after the other. */
const WAYS: Readonly<Record<string, readonly string[]>> = {
  'a hint': [HINTS, REPLY],
  'a hint in the same packet': [HINTS + REPLY],
  'a word of progress': ['HTTP/1.1 102 Processing\r\n\r\n', REPLY],
  'a permission': [CONTINUE, REPLY],
  'a permission in the same packet': [CONTINUE + REPLY],
  'a permission with headers': ['HTTP/1.1 100 \r\ndate: x\r\nserver: y\r\n\r\n', REPLY],
  'two permissions and a hint': [CONTINUE + CONTINUE, HINTS, REPLY],
  'a hint and a permission in the same packet': [HINTS + CONTINUE + REPLY],
};

/** Cut right before each. */
const QUOTES = [CONTINUE, HINTS + CONTINUE, 'HTTP/1.1 100 \r\n', CONTINUE];

describe('an upstream that quotes what could come before a reply', () => {
  it('is read as it is, whatever packets begin with, also on a connection that is used again', async () => {
    const said = `It said: ${QUOTES.join('')}`;
    const head = `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${said.length}\r\n\r\nIt said: `;
    let connections = 0;
    const server = createServer({ noDelay: true }, (socket) => {
      connections += 1;
      socket.on('data', async () => {
        for (const piece of [CONTINUE, head, ...QUOTES]) {
          socket.write(piece);
          await sleep(5);
        }
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const host = createHost({ upstream: 'acme', allowedOrigins: [origin], log: { warn() {} } });
    const { signal } = new AbortController();
    try {
      for (let times = 0; times < 2; times += 1) {
        const { body } = await host.request(origin, { method: 'POST', body: '{}', signal });
        expect(await body.text()).to.equal(said);
        await sleep(30);
      }
      expect(connections).to.equal(1);
    } finally {
      await host.close();
      server.close();
    }
  });
});

describe('an upstream that sends something before its reply', () => {
  const authority = createAuthority();
  const signal = new AbortController().signal;

  for (const scheme of ['http', 'https']) {
    for (const [what, pieces] of Object.entries(WAYS)) {
      it(`is read past ${what} over ${scheme}, also on a connection that is used again`, async () => {
        let connections = 0;
        const listener = (socket: Socket) => {
          connections += 1;
          socket.on('data', async () => {
            for (const piece of pieces) {
              socket.write(piece);
              await sleep(5);
            }
          });
        };
        const server =
          scheme === 'http' ? createServer(listener) : createTlsServer(authority.issue('127.0.0.1'), listener);
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
        const origin = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
        const host = createHost({ upstream: 'acme', allowedOrigins: [origin], ca: authority.ca, log: { warn() {} } });
        const answer = async () => {
          const parts: ProviderPart[] = [];
          const request = { method: 'POST', body: '{}', signal } as const;
          for await (const some of host.answer(origin, request, host.chat.reader())) parts.push(...some);
          return parts.map((part) => (part.type === 'block-delta' ? part.text : '')).join('');
        };
        try {
          expect(await answer()).to.equal('yes');
          await sleep(30);
          expect(await answer()).to.equal('yes');
          expect(connections).to.equal(1);
        } finally {
          await host.close();
          server.close();
        }
      });
    }
  }
});
