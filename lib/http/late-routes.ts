// Routes that a server adds for the first request to their paths: hapi takes 0.3 ms to check one, and there are hundreds.
import type { RequestRoute, Server, ServerRoute } from '@hapi/hapi';

declare module '@hapi/hapi' {
  interface ServerApplicationState {
    lateRoutes?: Set<LateRoutes>;
  }
}

interface LateRoutes {
  /** Whether one of the routes may serve this path. */
  readonly mayServe: (path: string) => boolean;
  readonly add: () => void;
}

/** `server` may be that of a plugin; `makeRoutes` is called at most once. */
export function addRoutesLate(
  server: Server,
  mayServe: LateRoutes['mayServe'],
  makeRoutes: () => readonly ServerRoute[],
): void {
  server.app.lateRoutes ??= new Set();
  server.app.lateRoutes.add({ mayServe, add: () => server.route([...makeRoutes()]) });
}

/** Call it before a request is routed. */
export function addRoutesFor(path: string, { app: { lateRoutes } }: Server): void {
  if (lateRoutes === undefined) return;
  for (const late of lateRoutes) {
    if (!late.mayServe(path)) continue;
    lateRoutes.delete(late);
    late.add();
  }
}

/** For a service, before its first call: added during one, they would hold up the streams of all others. */
export function addAllRoutes({ app: { lateRoutes } }: Server): void {
  for (const late of lateRoutes ?? []) late.add();
  lateRoutes?.clear();
}

/** All routes, also those that no request has needed. */
export function listRoutes(server: Server): readonly RequestRoute[] {
  addAllRoutes(server);
  return server.table();
}
