// Routes that a server adds for the first request to their paths.
import { expect } from 'chai';
import { isManagementPath, managementRoutes } from '../../lib/api/management/routes.ts';
import type { Services } from '../../lib/api/services.ts';
import { PAGES } from '../../lib/console/plugin.ts';
import { isPagePath } from '../../lib/console/response-style.ts';
import type { ConsoleServices } from '../../lib/console/services.ts';
import { addRoutesLate, listRoutes } from '../../lib/http/late-routes.ts';
import { openTestHttp, type TestHttp } from '../../testkit/http.ts';

describe('late routes', () => {
  let http: TestHttp;
  let made: number;

  beforeEach(async () => {
    http = openTestHttp();
    made = 0;
    http.server.route({ method: 'GET', path: '/early', handler: () => 'early' });
    await http.server.register({
      name: 'later',
      register: (server) =>
        addRoutesLate(
          server,
          (path) => path.startsWith('/late/'),
          () => {
            made += 1;
            return [{ method: ['GET', 'POST'], path: '/late/{name}', handler: ({ params }) => params.name }];
          },
        ),
    });
    await http.start();
  });
  afterEach(() => http.close(async () => undefined));

  const ask = async (path: string, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${http.server.info.port}${path}`, { method });
    return [response.status, await response.text()];
  };

  it('are added once, for the first requests that they may serve', async () => {
    expect(await ask('/early')).to.deep.equal([200, 'early']);
    expect(made).to.equal(0);
    const all = await Promise.all([ask('/late/a'), ask('/late/b', 'POST'), ask('/l%61te/c')]);
    expect(all).to.deep.equal([
      [200, 'a'],
      [200, 'b'],
      [200, 'c'],
    ]);
    expect(made).to.equal(1);
  });

  it('are listed with the others before a request has needed them', async () => {
    for (let times = 0; times < 2; times++) {
      const routes = listRoutes(http.server).map(({ method, path }) => `${method} ${path}`);
      expect(routes).to.have.members(['get /early', 'get /late/{name}', 'post /late/{name}']);
    }
    expect(await ask('/late/a')).to.deep.equal([200, 'a']);
    expect(made).to.equal(1);
  });

  it('of the pages and of management lie where they are looked for', () => {
    for (const { path } of PAGES.flatMap((routes) => routes({} as ConsoleServices)))
      expect(isPagePath(path), path).to.equal(true);
    for (const { path } of managementRoutes({} as Services)) expect(isManagementPath(path), path).to.equal(true);
  });
});
