// Pages as a hapi plugin beside the API: routes of their own, answered with the face of pages and without its keys.
import type { Plugin, ServerRoute } from '@hapi/hapi';
import { pageFace } from './face.ts';

export interface WebOptions {
  readonly routes: readonly ServerRoute[];
}

export const webPlugin: Plugin<WebOptions> = {
  name: 'web',
  register(server, { routes }) {
    server.route(routes.map(asPage));
  },
};

function asPage(route: ServerRoute): ServerRoute {
  const options = typeof route.options === 'object' ? route.options : {};
  return { ...route, options: { auth: false, ...options, plugins: { ...options.plugins, face: pageFace } } };
}
