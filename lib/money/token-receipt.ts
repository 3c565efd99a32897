// The calculation behind the charge of a call that is billed by tokens, line by line, from what the charge keeps.
import type { Charge } from './decide.ts';
import type { Micro } from './money.ts';
import {
  countPrompt,
  findRates,
  getRate,
  roundPerUnit,
  type TextPrice,
  TOKEN_RATES,
  type Tokens,
  textCost,
} from './price.ts';
import { readTextPrice } from './stored-price.ts';
import { readTokens } from './token-usage.ts';

interface ReceiptLine {
  readonly kind: (typeof TOKEN_RATES)[number];
  readonly count: number;
  /** The price per 1M tokens. */
  readonly rate: Micro;
  /** Rounded; the total is rounded once, so that the lines may add up to a micro-rouble more or less. */
  readonly cost: Micro;
}

interface TokenReceipt {
  /** Input always, output of a text always, audio and cached tokens if there are any. */
  readonly lines: readonly ReceiptLine[];
  /** The part of the output that is reasoning. */
  readonly reasoning: number;
  /** The band begins above this many prompt tokens; undefined for the model's own prices. */
  readonly above: number | undefined;
  /** Before the minimum. */
  readonly total: Micro;
  /** How much less was charged than if cached tokens had cost the input price; negative if it was more. */
  readonly saved: Micro;
}

/** Undefined for a call that is not billed by tokens, has no usage yet, or lacks readable prices or counts. */
export function itemizeTokens({
  kind,
  prices,
  usage,
}: Pick<Charge, 'kind' | 'prices' | 'usage'>): TokenReceipt | undefined {
  if ((kind !== 'text' && kind !== 'embedding') || usage === null) return undefined;
  if (kind === 'text') return itemizeStored(JSON.parse(prices), JSON.parse(usage));
  const receipt = itemizeStored({ output: '0', ...JSON.parse(prices) }, { tokens_output: 0, ...JSON.parse(usage) });
  return receipt && { ...receipt, lines: receipt.lines.filter((line) => line.kind !== 'output') };
}

type Stored = Readonly<Record<string, unknown>>;

function itemizeStored(prices: Stored, usage: Stored): TokenReceipt | undefined {
  const price = readTextPrice(prices);
  const tokens = readTokens(usage);
  return price && tokens && itemize(price, tokens);
}

function itemize(price: TextPrice, tokens: Tokens): TokenReceipt {
  const prompt = countPrompt(tokens);
  const rates = findRates(price, prompt);
  const used = TOKEN_RATES.filter((kind) => kind === 'input' || kind === 'output' || tokens[kind]);
  const parts = used.map((kind) => ({ kind, count: tokens[kind] ?? 0, rate: getRate(rates, kind) }));
  const exact = parts.map(({ count, rate }) => BigInt(count) * rate);
  const { audio = 0, output } = tokens;
  const uncached = textCost(price, { input: prompt - audio, audio, output });
  return {
    lines: parts.map((part, at) => ({ ...part, cost: roundPerUnit(exact[at] ?? 0n) })),
    reasoning: tokens.reasoning ?? 0,
    above: 'above' in rates ? rates.above : undefined,
    total: roundPerUnit(exact.reduce((sum, cost) => sum + cost, 0n)),
    saved: uncached - textCost(price, tokens),
  };
}
