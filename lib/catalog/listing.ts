// The entries of `GET /api/v1/models`: what a key can use now, with current prices.
import { toRub } from '../money/money.ts';
import { TEXT_MINIMUM } from '../money/price.ts';
import { type Catalog, SMART_ALIASES, SMART_ID, type TextModel } from './catalog.ts';

/** One element of `data`. */
export type ModelListing = TextListing | SmartListing;

interface ListingBase {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly type: 'text';
  readonly endpoint: string;
  readonly unit: string;
  readonly min_rub: number;
  readonly provider: string;
}

/** Prices in RUB per 1M tokens. */
export interface TextListing extends ListingBase {
  readonly price_rub: number;
  readonly input_price_rub: number;
  readonly output_price_rub: number;
}

/** A call has the prices of the model that it is routed to: there is none to list. */
export interface SmartListing extends ListingBase {
  readonly price_rub: null;
  readonly description: string;
}

export function listModels(catalog: Catalog): readonly ModelListing[] {
  const models = catalog.models.flatMap((model) =>
    model.type === 'text' && model.routes.length > 0 ? [listTextModel(model)] : [],
  );
  return catalog.smart ? [...models, SMART_LISTING] : models;
}

const SMART_LISTING: SmartListing = {
  id: SMART_ID,
  aliases: SMART_ALIASES,
  type: 'text',
  endpoint: '/v1/messages',
  unit: '1M_tokens',
  price_rub: null,
  min_rub: toRub(TEXT_MINIMUM),
  provider: 'Tollgate',
  description: "Automatic selection by complexity (lite/standard/heavy), billed at the routed model's price.",
};

function listTextModel({ id, aliases, provider, price }: TextModel): TextListing {
  return {
    id,
    aliases,
    type: 'text',
    endpoint: '/v1/messages',
    unit: '1M_tokens',
    price_rub: toRub(price.input),
    input_price_rub: toRub(price.input),
    output_price_rub: toRub(price.output),
    min_rub: toRub(TEXT_MINIMUM),
    provider,
  };
}
