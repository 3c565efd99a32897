// The bare address of the service, which people type: a browser is led to the pages, a program is told what there is.
import type { ServerRoute } from '@hapi/hapi';
import { fault } from '../base/faults.ts';

export const frontDoor: ServerRoute = {
  method: 'GET',
  path: '/',
  options: { auth: false },
  handler({ raw }, h) {
    if (!/\btext\/html\b/.test(raw.req.headers.accept ?? '')) throw fault('not_found', { everyDialect: true });
    return h.redirect('/account').header('cache-control', 'no-store').vary('accept');
  },
};
