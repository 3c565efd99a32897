// The entries of `GET /api/v1/models`: what a key can use now, with current prices.
import { toRub } from '../ledger/money.ts';
import { TEXT_MINIMUM } from '../ledger/price.ts';
import type { Catalog, TextModel } from './catalog.ts';

/** One element of `data`; prices in RUB per 1M tokens. */
export interface ModelListing {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly type: 'text';
  readonly endpoint: string;
  readonly unit: string;
  readonly price_rub: number;
  readonly input_price_rub: number;
  readonly output_price_rub: number;
  readonly min_rub: number;
  readonly provider: string;
}

export function listModels(catalog: Catalog): readonly ModelListing[] {
  return catalog.models.flatMap((model) =>
    model.type === 'text' && model.routes.length > 0 ? [listTextModel(model)] : [],
  );
}

function listTextModel({ id, aliases, provider, price }: TextModel): ModelListing {
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
