// A video upstream on a loopback socket: jobs that a test moves along, counted as an upstream would bill them.
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Answers in place of the upstream, which adds nothing. */
export type Answer = (exchange: FilmExchange) => void | Promise<void>;

interface FilmExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: string;
  /** The requested job; for a submission, the one created by it. */
  readonly id: string;
  /** How often this was requested before. */
  readonly before: number;
}

export interface FilmUpstream {
  readonly url: string;
  /** Started jobs, by id, with the bodies of their submissions. */
  readonly begun: Map<string, string>;
  /** Polls of each job. */
  readonly looks: Map<string, number>;
  /** Downloads of each film. */
  readonly downloads: Map<string, number>;
  /** The answers to the next submissions, polls and downloads. */
  behave(answers: { submit?: Answer; look?: Answer; download?: Answer }): void;
  close(): Promise<void>;
}

/** Two seconds that a browser can play. */
export const FILM = readFileSync(new URL('../providers/sandbox/film.mp4', import.meta.url));

/** In the format of one vendor, whose bodies are all JSON. */
export async function startFilmUpstream(): Promise<FilmUpstream> {
  const begun = new Map<string, string>();
  const looks = new Map<string, number>();
  const downloads = new Map<string, number>();
  let answers = byItself();
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const [, path = '', id = ''] =
      /^\/v1\/(videos\/text2video|videos\/image2video|films)\/?([^/?]*)/.exec(request.url ?? '') ?? [];
    response.on('error', () => undefined);
    if (request.method === 'POST') {
      const made = `up_${begun.size + 1}`;
      begun.set(made, body);
      await answers.submit({ request, response, body, id: made, before: begun.size - 1 });
    } else if (path === 'films') await answers.download({ request, response, body, id, before: count(downloads, id) });
    else await answers.look({ request, response, body, id, before: count(looks, id) });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    begun,
    looks,
    downloads,
    behave: (more) => {
      answers = { ...byItself(), ...more };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function byItself() {
  return { submit: accept, look: finished, download: film };
}

function count(counts: Map<string, number>, id: string): number {
  const before = counts.get(id) ?? 0;
  counts.set(id, before + 1);
  return before;
}

export const accept: Answer = ({ response, id }) => json(response, { code: 0, data: { task_id: id } });

/** A poll of a job in this state. */
export function inState(task_status: string, more: object = {}): Answer {
  return ({ response }) => json(response, { code: 0, data: { task_status, ...more } });
}

export const finished: Answer = ({ request, response, id }) => {
  const url = `http://${request.headers.host}/v1/films/${id}`;
  json(response, { code: 0, data: { task_status: 'succeed', task_result: { videos: [{ url }] } } });
};

export const film: Answer = ({ response }) => {
  response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': FILM.length }).end(FILM);
};

/** Another status, with a body in the vendor's format. */
export function status(code: number, body: object = { code, message: 'no' }): Answer {
  return ({ response }) => json(response, body, code);
}

/** Nothing, until the gateway disconnects. */
export const stall: Answer = () => undefined;

export const cut: Answer = ({ request }) => void request.socket.destroy();

export function json(response: ServerResponse, body: object, code = 200): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** A catalog of video models on that upstream, with every kind of price. */
export function filmCatalog(url: string, more: object = {}): object {
  const video = (id: string, rest: object, routes = [{ upstream: 'films', model: 'up-film' }]) => {
    return { id, type: 'video', provider: 'Test', routes, ...rest };
  };
  const settings = { baseUrl: `${url}/v1`, apiKey: 'access:up-secret-key-1' };
  return {
    upstreams: {
      films: { plugin: 'kling', settings },
      spare: { plugin: 'kling', settings },
      chat: { plugin: 'openai-compatible', settings: { baseUrl: `${url}/v1` } },
    },
    models: [
      video('film-a', { aliases: ['f'], price: { second: { '720p': '8', '1080p': '15' } }, seconds: [5, 10] }),
      video('film-flat', { price: { second: '9' } }),
      video('film-each', { price: { request: '90' } }),
      video('film-two', { price: { second: '1' } }, [
        { upstream: 'films', model: 'up-film' },
        { upstream: 'spare', model: 'up-spare' },
      ]),
      video('film-off', { price: { second: '9' } }, []),
      {
        id: 'text-a',
        type: 'text',
        provider: 'Test',
        routes: [{ upstream: 'chat', model: 'x' }],
        price: { input: '1', output: '1' },
      },
    ],
    retired: { 'film-old': 'film-a' },
    ...more,
  };
}
