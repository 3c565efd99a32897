// Pages as a hapi plugin beside the API: routes of their own, answered with the face of pages and without its keys.
import type { Plugin } from '@hapi/hapi';
import inert from '@hapi/inert';
import type { PageRoutes } from './page.ts';
import { adminOverview } from './pages/admin-overview.ts';
import { keys, revokeKey } from './pages/keys.ts';
import { login, logout } from './pages/login.ts';
import { overview } from './pages/overview.ts';
import { reset, setup } from './pages/setup.ts';
import type { WebServices } from './services.ts';
import { staticFiles } from './static-files.ts';

/** Every page; one that is not here does not exist. */
const PAGES: readonly PageRoutes[] = [login, logout, setup, reset, overview, keys, revokeKey, adminOverview];

export const webPlugin: Plugin<WebServices> = {
  name: 'web',
  async register(server, services) {
    await server.register(inert);
    server.route([...PAGES.flatMap((routes) => routes(services)), staticFiles]);
  },
};
