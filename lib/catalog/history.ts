// What the store remembers of catalogs: the prices in force, which a start takes over, and the rates since when.
import { HOME_CURRENCY, readCost, serializeCost } from '../money/cost.ts';
import type { RateStore } from '../store/ports/rates.ts';
import type { SettingStore } from '../store/ports/settings.ts';
import type { Catalog } from './catalog.ts';
import type { PricesBefore, StatedPrice } from './markup.ts';

export interface CatalogHistory {
  /** The prices that were last in force in any process of this store, by id of the model. */
  readPrices(): Promise<ReadonlyMap<string, StatedPrice>>;
  /** Remembers the prices and rates of a catalog that takes effect. */
  record(catalog: Pick<Catalog, 'prices' | 'rates'>): Promise<void>;
}

interface HistoryStore {
  readonly settings: Pick<SettingStore, 'get' | 'set'>;
  readonly rates: Pick<RateStore, 'record'>;
}

const PRICES_SETTING = 'catalog/prices';

export function createCatalogHistory({ settings, rates }: HistoryStore, now: () => number = Date.now): CatalogHistory {
  return {
    async readPrices() {
      return parsePrices(await settings.get(PRICES_SETTING));
    },
    async record(catalog) {
      const at = now();
      const inForce = [...catalog.rates].filter(([currency]) => currency !== HOME_CURRENCY);
      await rates.record(inForce.map(([currency, { rub, from }]) => ({ currency, rub, from, at })));
      const before = await settings.get(PRICES_SETTING);
      // Another gateway of the store may have a catalog with other models.
      const text = serializePrices(new Map([...parsePrices(before), ...catalog.prices]));
      if (before !== text) await settings.set(PRICES_SETTING, text);
    },
  };
}

/** The prices of this process; for a statement that it does not know, what the store remembers of other gateways. */
export function joinPrices(own: Catalog['prices'], remembered: Catalog['prices']): PricesBefore {
  return {
    get(name, statement) {
      const known = own.get(name);
      return known?.statement === statement ? known : (remembered.get(name) ?? known);
    },
  };
}

function serializePrices(prices: Catalog['prices']): string {
  return JSON.stringify([...prices].map(([id, { statement, price }]) => [id, statement, serializeCost(price)]));
}

/** What cannot be read was written by another version: it counts as unknown. */
function parsePrices(text = '[]'): ReadonlyMap<string, StatedPrice> {
  const rows = JSON.parse(text) as readonly (readonly [id: string, statement: string, price: string])[];
  const read = rows.flatMap(([id, statement, stored]) => {
    const price = readCost(JSON.parse(stored));
    return price ? [[id, { statement, price }] as const] : [];
  });
  return new Map(read);
}
