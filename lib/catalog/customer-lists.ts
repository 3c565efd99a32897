// The price lists of customers in catalog files: a rule for all models, others for those of a prefix or a name.
import Joi from 'joi';
import { TOKEN_RATES } from '../money/price.ts';
import { times } from './markup.ts';
import { price } from './price.ts';
import { RESOLUTION_LABEL } from './resolution.ts';

/** By name: what the accounts on the list pay. */
export type PriceListsEntry = Readonly<Record<string, PriceListEntry>>;

interface PriceListEntry extends ListRule {
  /** By id or alias of a model, or by the beginning of an id and `*`. */
  readonly models?: Readonly<Record<string, ListModelEntry>>;
}

interface ListRule {
  /** Times the cost. */
  readonly markup?: string;
  /** Times the model's price. */
  readonly factor?: string;
  /** The step in RUB that a price is rounded up to. */
  readonly round?: string;
  /** True: the prices may be below cost. */
  readonly loss?: boolean;
}

/** A rule, or prices: those that are left out are the model's. */
export type ListModelEntry = ListRule & WrittenPart;

type PartialRates = { readonly [Kind in (typeof TOKEN_RATES)[number]]?: string };

/** Parts of a price, as decimal strings in RUB. */
export interface WrittenPart extends PartialRates {
  readonly bands?: readonly (PartialRates & { readonly above: number })[];
  readonly request?: string;
  readonly second?: string | Readonly<Record<string, string>>;
}

/** Takes the list off an account on the command line, and in the form of its page. */
export const NO_PRICE_LIST = 'none';

const rule = { markup: times, factor: times, round: price, loss: Joi.boolean() };
const rates = Object.fromEntries(TOKEN_RATES.map((kind) => [kind, price]));
const bands = Joi.array().items(Joi.object({ above: Joi.number().integer().min(1).required(), ...rates }));
const second = Joi.alternatives(price, Joi.object().pattern(Joi.string().pattern(RESOLUTION_LABEL), price).min(1));
const written = { ...rates, bands: bands.min(1), request: price, second };

const WRITTEN = Object.keys(written);

const forModels = refuseLoneRound(Joi.object({ ...rule, ...written }))
  .or('markup', 'factor', ...WRITTEN)
  .without('markup', ['factor', ...WRITTEN])
  .without('factor', WRITTEN);

const list = refuseLoneRound(
  Joi.object({
    ...rule,
    models: Joi.object().pattern(
      Joi.string()
        .max(200)
        .pattern(/^[^*]*\*?$/),
      forModels,
    ),
  }),
)
  .or('markup', 'factor', 'models')
  .without('markup', 'factor');

function refuseLoneRound(schema: Joi.ObjectSchema): Joi.ObjectSchema {
  return schema.custom((value: ListRule, helpers) => {
    const isLone = value.round !== undefined && value.markup === undefined && value.factor === undefined;
    return isLone ? helpers.error('round.lone') : value;
  }, 'rounding');
}

/** A name is a word on the command line and in URLs. */
const LIST_NAME = /^[a-z0-9][a-z0-9._-]{0,39}$/;
const listName = Joi.string().pattern(LIST_NAME).invalid(NO_PRICE_LIST);

export function isListName(name: string): boolean {
  return LIST_NAME.test(name) && name !== NO_PRICE_LIST;
}

export const priceListsEntry = Joi.object().pattern(listName, list);

export const PRICE_LIST_MESSAGES = {
  'round.lone': '{{#label}} has "round", but neither "markup" nor "factor" that it could round',
};

/** The parts of a price that an entry writes. */
export function pickWrittenPart({ markup, factor, round, loss, ...part }: ListModelEntry): WrittenPart {
  return part;
}
