// What a catalog says of models that another of its files defines: another price or other aliases, or that one is off.
import Joi from 'joi';
import { OperatorError } from '../base/operator-error.ts';
import type { PriceEntry } from './price.ts';
import type { ModelPriceEntry } from './pricing.ts';

/** What is absent stays. */
export interface OverrideEntry {
  /** True: it has no routes, so that it is neither listed nor sold. */
  readonly off?: boolean;
  readonly price?: ModelPriceEntry<PriceEntry>;
  readonly aliases?: readonly string[];
}

/** By id of the model. */
export type OverridesEntry = Readonly<Record<string, OverrideEntry>>;

const name = Joi.string().max(200);

export const overridesEntry = Joi.object().pattern(
  name,
  // The price depends on the type of the model.
  Joi.object({ off: Joi.boolean(), price: Joi.object().unknown(), aliases: Joi.array().items(name) }).min(1),
);

interface Overridable {
  readonly id: string;
  readonly type: string;
}

/** `describe` names the file of an override; `prices` has the schema of the price by type. */
export function applyOverrides<Model extends Overridable>(
  models: readonly Model[],
  overrides: OverridesEntry,
  {
    prices,
    describe,
  }: {
    readonly prices: (type: Model['type']) => Joi.Schema;
    readonly describe: (id: string, mistake: string) => string;
  },
): readonly Model[] {
  return models.map((model) => {
    const override = Object.hasOwn(overrides, model.id) ? overrides[model.id] : undefined;
    if (!override) return model;
    if (override.price) {
      const { error } = prices(model.type).validate(override.price);
      const words = error?.details
        .map(({ message, path }) => (path.length === 0 ? message.replace('value', 'price') : `price.${message}`))
        .join('; ');
      if (words !== undefined) throw new OperatorError(describe(model.id, words));
    }
    return { ...model, ...override };
  });
}
