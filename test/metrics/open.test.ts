// Who has metrics, and who has a port for them: nobody without a setting, and a worker leaves it to its primary.
import { expect } from 'chai';
import { buildCatalog } from '../../lib/catalog/catalog.ts';
import { readCatalogFiles } from '../../lib/catalog/files.ts';
import { createLog } from '../../lib/http/log.ts';
import { openMetrics } from '../../lib/metrics/open.ts';
import { send } from '../../testkit/client.ts';

const none = buildCatalog(readCatalogFiles([], []), new Map());
const series = { catalog: () => none, routes: () => [] };

describe('metrics of a process', () => {
  const log = createLog({ level: 'silent', keyPrefix: 'tg-' });
  const openWith = (port: number | undefined, isMember: boolean) =>
    openMetrics({ host: '127.0.0.1', port, log, isMember, series });

  it('do not exist without a port', async () => {
    for (const isMember of [false, true]) expect(await openWith(undefined, isMember)).to.equal(undefined);
  });

  it('are served by a single process, but not by a worker', async () => {
    const metrics = await openWith(0, false);
    const url = await metrics?.start();
    expect((await send(url ?? '')).text).to.match(/^# HELP tollgate_requests_total /m);
    await metrics?.close();
    const member = await openWith(0, true);
    const nowhere = await member?.start();
    await member?.close();
    expect(nowhere).to.equal(undefined);
    expect(await member?.scrape()).to.match(/^# HELP tollgate_requests_total /m);
  });
});
