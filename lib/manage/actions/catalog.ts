// The catalog: checks it as a start would, and lists exchange rates.
import type { Config } from '../../config.ts';
import { type Answer, formatPairs, formatTable, toTime } from '../answer.ts';
import type { Session } from '../session.ts';

export const catalogActions = { check, listRates };

async function check(config: Config): Promise<Answer> {
  const { checkCatalog } = await import('../../catalog/check.ts');
  const { readStoredLayer } = await import('../../catalog/stored-layer.ts');
  const { models, usable, upstreams, switched_off, price_lists, warnings } = await checkCatalog(
    config,
    await readStoredLayer(config),
  );
  const pairs = formatPairs([
    ['catalog', 'valid'],
    ['models', String(models)],
    ['usable', describeUsable(usable, upstreams)],
    ['upstreams', String(upstreams)],
    ['switched off', switched_off.join(', ') || 'none'],
    [
      'price lists',
      price_lists.map(({ name, prices }) => `${name} (prices that differ: ${prices})`).join(', ') || 'none',
    ],
  ]);
  const lines = warnings.map((warning) => `warning: ${warning}`);
  return {
    json: { ok: true, models, usable, upstreams, switched_off, price_lists, warnings },
    text: [pairs, ...lines].join('\n'),
  };
}

/** Who has only tried the sandbox so far wonders where its models are. */
function describeUsable(usable: number, upstreams: number): string {
  if (upstreams === 0) return `${usable}: no upstream is switched on, and the models of the sandbox are not counted`;
  return `${usable}, as a start counts them: smart included`;
}

async function listRates({ store }: Session): Promise<Answer> {
  const { formatRub } = await import('../../money/money.ts');
  const rates = (await store.rates.list()).map(({ currency, rub, from, at }) => {
    return { currency, rub: formatRub(rub), from, used_since: toTime(at) };
  });
  const rows = rates.map(({ currency, rub, from, used_since }) => [currency, rub, from, used_since]);
  const text = rows.length === 0 ? 'no rates yet' : formatTable(['Currency', ' RUB', 'From', 'Used since'], rows);
  return { json: { rates }, text };
}
