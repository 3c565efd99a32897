// Answers to requests that no endpoint handles: wrong methods, unknown paths and preflights.
import type { ServerRoute } from '@hapi/hapi';
import { fault } from '../faults.ts';
import { MEDIA_PATH } from '../media/results.ts';
import { faceAt } from './face.ts';

/** Every path refuses methods it does not support. */
export function refuseOtherMethods(routes: readonly ServerRoute[]): readonly ServerRoute[] {
  const methods = new Map<string, string[]>();
  for (const { path, method } of routes) methods.set(path, [...(methods.get(path) ?? []), String(method)]);
  return [...methods].map(([path, allowed]) => ({
    method: '*',
    path,
    options: { auth: false },
    handler: () => {
      throw fault('method_not_allowed', { hint: allowed.join(', ') });
    },
  }));
}

/** hapi's own not-found route would read the whole body first. */
export function nothingHere(publicUrl: () => string): ServerRoute {
  return {
    method: '*',
    path: '/{p*}',
    options: { auth: false },
    handler: ({ path }) => {
      const base = baseFor(path);
      throw fault('not_found', base === undefined ? {} : { hint: adviceOf(path, `${publicUrl()}${base}`) });
    },
  };
}

/** Answered without a key and outside the rate limit. */
export const preflights: readonly ServerRoute[] = [
  preflight('/api', 'GET, POST, OPTIONS'),
  preflight(MEDIA_PATH, 'GET, HEAD, OPTIONS'),
];

function preflight(under: string, methods: string): ServerRoute {
  return {
    method: 'OPTIONS',
    path: `${under}/{p*}`,
    options: { auth: false },
    handler: (request, h) => {
      const asked = request.raw.req.headers['access-control-request-headers'];
      return h
        .response()
        .code(204)
        .header('access-control-allow-methods', methods)
        .header('access-control-max-age', '600')
        .header('vary', 'access-control-request-headers')
        .header('access-control-allow-headers', asked === undefined ? '*' : printable(asked));
    },
  };
}

function printable(header: string): string {
  return header.replace(/[^\x20-\x7e]/g, '');
}

/** Paths that a wrong base address leads to, and the right base. */
const WRONG_BASES: readonly (readonly [path: RegExp, base: string])[] = [
  [/^(?:\/v1|\/api|\/api\/v1\/v1|\/v1\/v1)?\/chat\/completions$/, '/api/v1'],
  [/^(?:\/v1|\/api\/v1\/v1|\/v1\/v1|\/api)?\/messages(?:\/count_tokens)?$/, '/api'],
  [/^(?:\/v1|\/api\/v1\/v1|\/v1\/v1|\/api)?\/(?:models(?:\/[^/]+)?|balance|images\/\w+|videos)$/, '/api/v1'],
];

const PATH_SHOWN_MAX = 100;

function baseFor(path: string): string | undefined {
  return WRONG_BASES.find(([pattern]) => pattern.test(path))?.[1];
}

function adviceOf(path: string, base: string): string {
  return `${path.slice(0, PATH_SHOWN_MAX)} was called: set the base URL of your client to ${base}`;
}

/** Gives each route the face of its path, unless it names one. */
export function withFaces(routes: readonly ServerRoute[]): ServerRoute[] {
  return routes.map((route) => {
    const options = typeof route.options === 'object' ? route.options : {};
    // A catch-all route answers by the path requested.
    const face = route.path.includes('{') ? {} : { face: faceAt(route.path) };
    return { ...route, options: { ...options, plugins: { ...face, ...options.plugins } } };
  });
}
