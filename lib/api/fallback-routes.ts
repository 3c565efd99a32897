// Routes for requests that no endpoint handles: wrong methods, unknown paths and preflights.
import type { ServerRoute } from '@hapi/hapi';
import { fault } from '../base/faults.ts';
import { MEDIA_PATH } from '../media/results.ts';
import { styleAt } from './response-styles.ts';
import { findUnserved } from './unserved-paths.ts';

/** A route per path that refuses all other methods. */
export function refuseOtherMethods(routes: readonly ServerRoute[]): readonly ServerRoute[] {
  const methods = new Map<string, string[]>();
  for (const { path, method } of routes) methods.set(path, [...(methods.get(path) ?? []), String(method)]);
  return [...methods].map(([path, allowed]) => ({
    method: '*',
    path,
    options: { auth: false },
    handler: ({ raw }) => {
      if (/^websocket$/i.test(raw.req.headers.upgrade ?? ''))
        throw fault('no_websockets', { hint: `${allowed.join(', ')} ${path}` });
      throw fault('method_not_allowed', { hint: allowed.join(', ') });
    },
  }));
}

/** hapi's own not-found route would read the whole body first. `routes` are the endpoints to suggest. */
export function notFoundRoute(publicUrl: () => string, routes: readonly ServerRoute[]): ServerRoute {
  const readPath = createPathReader(routes.map(({ path }) => path));
  return {
    method: '*',
    path: '/{p*}',
    options: { auth: false },
    handler: ({ path }) => {
      const read = readPath(path);
      const hint = read ? describeBases(path, read, publicUrl()) : findUnserved(path.slice(0, PATH_READ_MAX));
      // Below an endpoint, its own envelope.
      const isBelow = routes.some((route) => path.startsWith(`${route.path}/`));
      throw fault('not_found', { ...(hint !== undefined && { hint }), ...(!isBelow && { everyDialect: true }) });
    },
  };
}

/** CORS preflights: no key, no rate limit. */
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
      const requestedHeaders = request.raw.req.headers['access-control-request-headers'];
      return h
        .response()
        .code(204)
        .header('access-control-allow-methods', methods)
        .header('access-control-max-age', '600')
        .header('vary', 'access-control-request-headers')
        .header(
          'access-control-allow-headers',
          requestedHeaders === undefined ? '*' : dropUnprintable(requestedHeaders),
        );
    },
  };
}

function dropUnprintable(header: string): string {
  return header.replace(/[^\x20-\x7e]/g, '');
}

/** The paths that clients append to their base URL, each with the base it needs. */
const SUFFIXES = [
  { adds: '/api/v1', base: '' },
  { adds: '/v1', base: '/api' },
  { adds: '', base: '/api/v1' },
] as const;

type Suffix = (typeof SUFFIXES)[number];

interface WrongBase {
  readonly endpoint: string;
  /** The paths that may have been appended; the likeliest is last. */
  readonly suffixes: readonly Suffix[];
}

const API = '/api/v1';
const PATH_SHOWN_MAX = 100;
const PATH_READ_MAX = 1000;

/**
 * Finds out what a client may have appended to a wrong base URL. Wrong bases consist of `api`, `v1` and whole endpoints,
 * which people paste.
 */
function createPathReader(paths: readonly string[]): (path: string) => WrongBase | undefined {
  // Without duplicates: ambiguous alternatives would double the time of the expression for each part of a path.
  const unique = [...new Set(paths)];
  const endpoints = unique.filter((path) => path.startsWith(`${API}/`)).map((path) => path.slice(API.length));
  const plain = endpoints.filter((endpoint) => !endpoint.includes('{'));
  const ends = endpoints.map((endpoint) => endpoint.replaceAll(/\{\w+\}/g, '[^/]+'));
  const wrong = new RegExp(`^((?:/?(?:/api|/v1|${plain.join('|')}))*)(/?)(${ends.join('|')})$`);
  return (path) => {
    if (path.length > PATH_READ_MAX) return undefined;
    const [, before, slash, endpoint] = wrong.exec(path) ?? [];
    if (before === undefined || endpoint === undefined) return undefined;
    return { endpoint, suffixes: suffixesIn(before + slash, endpoint) };
  };
}

function suffixesIn(before: string, endpoint: string): readonly Suffix[] {
  const [whole, version, bare] = SUFFIXES;
  // A trailing slash marks the end of the base.
  if (before.endsWith('/')) return [bare];
  const seam = before.lastIndexOf('//');
  const known = seam < 0 ? undefined : SUFFIXES.find(({ adds }) => adds === before.slice(seam + 1));
  if (known) return [known];
  // Clients of the messages format append the version, others do not.
  if (before === '/v1') return endpoint.startsWith('/messages') ? [bare, version] : [version, bare];
  if (before === `/api${API}`) return [whole, version, bare];
  if (before.endsWith(API) && before !== API) return [whole];
  return [before.endsWith('/v1') && before !== API ? version : bare];
}

/** Names a base URL for each path that may have been appended. */
function describeBases(path: string, { endpoint, suffixes }: WrongBase, origin: string): string {
  const cases = suffixes.map(({ adds, base }, at) => {
    if (suffixes.length === 1) return `${origin}${base}`;
    return at < suffixes.length - 1 ? `${origin}${base} if it adds ${adds}${endpoint}` : `else to ${origin}${base}`;
  });
  return `${path.slice(0, PATH_SHOWN_MAX)} was called: set the base URL of your client to ${cases.join(', ')}. Settings for each client: ${origin}/account/connect`;
}

/** Sets the response style of each route by its path, unless the route has one. */
export function withStyles(routes: readonly ServerRoute[]): ServerRoute[] {
  return routes.map((route) => {
    const options = typeof route.options === 'object' ? route.options : {};
    // The style of a catch-all route depends on the requested path.
    const style = route.path.includes('{') ? {} : { style: styleAt(route.path) };
    return { ...route, options: { ...options, plugins: { ...style, ...options.plugins } } };
  });
}
