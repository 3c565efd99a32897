// A catalog of three text models with smart on top, and prompts that clearly belong to one tier.
import type { SmartTier } from '../lib/base/smart-tiers.ts';
import { chatCatalog } from './gateway.ts';

export const TIER_MODELS: Readonly<Record<SmartTier, string>> = { lite: 'small', standard: 'middle', heavy: 'big' };

export const PROMPTS: Readonly<Record<SmartTier, string>> = {
  lite: 'translate: «write a quicksort»',
  standard: 'Напиши письмо поставщику о задержке оплаты',
  heavy: 'write a quicksort',
};

/** RUB per 1M tokens. */
export const PRICES: Readonly<Record<SmartTier, { readonly input: number; readonly output: number }>> = {
  lite: { input: 1000, output: 2000 },
  standard: { input: 2000, output: 5000 },
  heavy: { input: 4000, output: 40_000 },
};

const TIERS = Object.keys(TIER_MODELS) as readonly SmartTier[];

interface SmartCatalogOptions {
  /** Tiers whose models have no usable route. */
  readonly off?: readonly SmartTier[];
  /** Other fields of the models. */
  readonly model?: object;
  /** Fields of `smart`. */
  readonly smart?: object;
}

/** The models `small`, `middle` and `big` on one chat-style upstream, where they are called `up-small` and so on. */
export function smartCatalog(url: string, { off = [], model = {}, smart = {} }: SmartCatalogOptions = {}): object {
  const { upstreams } = chatCatalog(url) as { upstreams: { up: { settings: object } } };
  const apiKey = ['$', '{TOLLGATE_TEST_UNSET_API_KEY}'].join('');
  const down = { ...upstreams.up, settings: { ...upstreams.up.settings, apiKey } };
  const models = TIERS.map((tier) => ({
    id: TIER_MODELS[tier],
    type: 'text',
    provider: 'Test',
    routes: [{ upstream: off.includes(tier) ? 'down' : 'up', model: `up-${TIER_MODELS[tier]}` }],
    price: { input: `${PRICES[tier].input}`, output: `${PRICES[tier].output}` },
    ...model,
  }));
  return { upstreams: { ...upstreams, down }, models, smart: { ...TIER_MODELS, ...smart } };
}
