// A vendor on loopback that answers as a fixture says, or as badly as a check wants.
import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CALLS, type CallName, type Facts, type Fixture, fill, type Route } from './payment-fixture.ts';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** What answers it; undefined for a mishap, or where the fixture has nothing. */
  readonly route: Route | undefined;
  /** Resolves when its connection is closed. */
  readonly closed: Promise<unknown>;
}

/** Instead of every answer: a status with a body, no answer at all, or a connection that is cut. */
type Mishap = { readonly status: number; readonly body: string } | 'hang' | 'reset';

export interface Vendor {
  readonly origin: string;
  readonly received: Received[];
  /** The call that is being checked, and what the vendor knows. */
  call: CallName;
  facts: Facts;
  mishap: Mishap | undefined;
  close(): Promise<void>;
}

/** `base` is the path of `baseUrl`. */
export async function startVendor({ routes }: Fixture, base: string, facts: Facts): Promise<Vendor> {
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url: path = '', headers } = request;
    const closed = once(response, 'close');
    const { mishap } = vendor;
    const found = mishap ? undefined : findVendorRoute(method, path);
    const body = Buffer.concat(chunks).toString('utf8');
    vendor.received.push({ method, path, headers, body, route: found, closed });
    if (mishap === 'hang') return;
    if (mishap === 'reset') return void request.socket.destroy();
    if (mishap) return send(response, mishap.status, mishap.body);
    if (!found) {
      const [place] = path.split('?');
      const error = `the fixture has no answer of ${vendor.call} to ${method} ${place}`;
      return send(response, 404, JSON.stringify({ error }));
    }
    const reply = fill(found.reply, vendor.facts);
    send(response, found.status, typeof reply === 'string' ? reply : JSON.stringify(reply));
  }

  function findVendorRoute(method: string, path: string): Route | undefined {
    const [place = ''] = path.split('?');
    return routes.find(
      (route) =>
        route.method === method &&
        (route.on ?? CALLS).includes(vendor.call) &&
        (route.when?.includes(vendor.facts.status) ?? true) &&
        isPathEqual(place, base + route.path),
    );
  }

  /** Segment by segment, as an id may have a slash that its URL has to escape. */
  function isPathEqual(path: string, template: string): boolean {
    const segments = path.split('/');
    const wanted = template.split('/');
    return (
      segments.length === wanted.length &&
      wanted.every((each, at) => fill(each, vendor.facts) === decodeSegment(segments[at] ?? ''))
    );
  }

  const vendor: Vendor = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    call: 'start',
    facts,
    mishap: undefined,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return vendor;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}
