// The API as a hapi plugin: all endpoints behind an API key, and fallback routes.
import type { Plugin } from '@hapi/hapi';
import { createManagementKeys } from '../accounts/management-keys.ts';
import { addRoutesLate } from '../http/late-routes.ts';
import { registerAuth } from './auth.ts';
import { notFoundRoute, preflights, refuseOtherMethods, withStyles } from './fallback-routes.ts';
import { registerManagementAuth } from './management/auth.ts';
import { isManagementPath, managementRoutes } from './management/routes.ts';
import { balanceRoute } from './routes/balance.ts';
import { embeddingRoute } from './routes/embeddings.ts';
import { healthRoutes } from './routes/health.ts';
import { imageRoutes } from './routes/images.ts';
import { mediaRoute } from './routes/media.ts';
import { modelsRoutes } from './routes/models.ts';
import { openapiRoute } from './routes/openapi.ts';
import { textRoutes } from './routes/text.ts';
import { videoRoutes } from './routes/videos.ts';
import type { Services } from './services.ts';

export const apiPlugin: Plugin<Services> = {
  name: 'api',
  register(server, services) {
    registerAuth(server, services);
    const { store, limiter, throttle, config, limits } = services;
    const keys = createManagementKeys({ store, keyPrefix: config.keyPrefix });
    registerManagementAuth(server, { store, keys, limiter, throttle, rule: limits.management });
    const routes = [
      ...textRoutes(services),
      embeddingRoute(services),
      ...imageRoutes(services),
      ...videoRoutes(services),
      ...modelsRoutes(services),
      balanceRoute(services),
      ...healthRoutes(services),
      openapiRoute(services),
      mediaRoute(services),
    ];
    const others = [...refuseOtherMethods(routes), ...preflights, notFoundRoute(services.publicUrl, routes)];
    server.route(withStyles([...routes, ...others]));
    addRoutesLate(server, isManagementPath, () => {
      const management = managementRoutes(services);
      return withStyles([...management, ...refuseOtherMethods(management)]);
    });
  },
};
