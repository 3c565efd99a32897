// Checks an installation from the outside, for `tollgate doctor`: everything is only read, and each finding says what to do.
import { checkCatalog, openSilently } from '../../catalog/check.ts';
import type { Route } from '../../catalog/model.ts';
import { readStoredLayer } from '../../catalog/stored-layer.ts';
import type { Config } from '../../config.ts';
import { describeError, type Finding, failed, ok, warning } from './check.ts';
import { checkClock, checkDisk, checkSettings } from './machine.ts';
import { checkMail, checkPublicAddress, checkTelegram, checkUpstreams, checkWebhooks, type Dates } from './network.ts';
import { checkStore, withStore } from './store.ts';

interface DoctorOptions {
  /** Makes a small call by each upstream that answers text; it costs some tokens. */
  readonly calls: boolean;
}

/** Never rejects: what fails is a finding. */
export async function examine(config: Config, { calls }: DoctorOptions): Promise<readonly Finding[]> {
  const dates: Dates = [];
  const [disk, store, catalog, address, mail, telegram, upstreams] = await Promise.all([
    checkDisk(config),
    withStore(config, async (open) => [...(await checkStore(open, config)), ...(await checkWebhooks(open, config))]),
    examineCatalog(config),
    checkPublicAddress(config),
    checkMail(config),
    checkTelegram(config),
    withRoutes(config, (routes) => checkUpstreams({ routes, calls, dates })),
  ]);
  return [
    ...checkSettings(config),
    ...disk,
    ...store,
    ...catalog,
    ...address,
    ...mail,
    ...telegram,
    ...upstreams,
    checkClock(dates),
  ];
}

async function examineCatalog(config: Config): Promise<readonly Finding[]> {
  try {
    const { usable, upstreams, warnings } = await checkCatalog(config, await readStoredLayer(config));
    const found = warnings.map((text) => warning('catalog', text, 'See "tollgate catalog check".'));
    if (upstreams === 0)
      return [
        warning('catalog', 'no upstream is switched on', 'Set the variable of one, or add one on /admin/upstreams.'),
        ...found,
      ];
    return [ok('catalog', `${usable} models can be used`), ...found];
  } catch (error) {
    return [failed('catalog', describeError(error), 'Correct the catalog: a start refuses it.')];
  }
}

/** What is wrong with the catalog is another check's finding. */
async function withRoutes(
  config: Config,
  work: (routes: readonly Route[]) => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  const layer = await readStoredLayer(config);
  const live = await openSilently(config, layer).catch(() => undefined);
  if (!live) return [];
  try {
    return await work(live.current().models.flatMap(({ routes }) => routes));
  } finally {
    await live.close();
  }
}
