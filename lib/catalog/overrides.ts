// What a catalog says of models that another of its files defines: another price or other aliases, further routes, or that
// one is off.
import Joi from 'joi';
import { OperatorError } from '../base/operator-error.ts';
import type { CostEntry } from './cost.ts';
import type { ModelPriceEntry } from './markup.ts';
import type { PriceEntry } from './price.ts';

/** A route of a model that another file defines. */
export interface AddedRoute {
  readonly upstream: string;
  /** The vendor's own name for the model. */
  readonly model: string;
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  readonly cost?: CostEntry;
}

/** What is absent stays. */
export interface OverrideEntry {
  /** True: it has no routes, so that it is neither listed nor sold. */
  readonly off?: boolean;
  readonly price?: ModelPriceEntry<PriceEntry>;
  readonly aliases?: readonly string[];
  /** Behind the model's own. */
  readonly routes?: readonly AddedRoute[];
}

/** By id of the model. */
export type OverridesEntry = Readonly<Record<string, OverrideEntry>>;

const name = Joi.string().max(200);

export const overridesEntry = Joi.object().pattern(
  name,
  // Price and routes depend on the type of the model.
  Joi.object({
    off: Joi.boolean(),
    price: Joi.object().unknown(),
    aliases: Joi.array().items(name),
    routes: Joi.array().items(Joi.object().unknown()).min(1),
  }).min(1),
);

interface Overridable {
  readonly id: string;
  readonly type: string;
  readonly routes: readonly object[];
}

/** `describe` names the file of an override; `prices` and `routes` have the schemas by type. */
export function applyOverrides<Model extends Overridable>(
  models: readonly Model[],
  overrides: OverridesEntry,
  {
    prices,
    routes,
    describe,
  }: {
    readonly prices: (type: Model['type']) => Joi.Schema;
    readonly routes: (type: Model['type']) => Joi.Schema;
    readonly describe: (id: string, mistake: string) => string;
  },
): readonly Model[] {
  return models.map((model) => {
    const override = Object.hasOwn(overrides, model.id) ? overrides[model.id] : undefined;
    if (!override) return model;
    const check = (schema: Joi.Schema, field: 'price' | 'routes') => {
      const { error, value } = schema.validate(override[field]);
      const words = error?.details
        .map(({ message, path }) =>
          path.length === 0
            ? message.replace('value', field)
            : `${field}${message.startsWith('[') ? '' : '.'}${message}`,
        )
        .join('; ');
      if (words !== undefined) throw new OperatorError(describe(model.id, words));
      return value;
    };
    if (override.price) check(prices(model.type), 'price');
    const added = override.routes ? check(routes(model.type), 'routes') : [];
    return { ...model, ...override, routes: [...model.routes, ...added] };
  });
}
