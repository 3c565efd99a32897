// The labelled prompts as requests of the router: the sets that its weights are fitted to, and the guard that nothing was fitted to.
import { readFileSync } from 'node:fs';
import type { SmartTier } from '../../../lib/base/smart-tiers.ts';
import type { SmartRequest } from '../../../lib/calls/smart/route.ts';
import payloads from './payloads.json' with { type: 'json' };

export interface Labelled {
  readonly id: string;
  readonly lang: 'ru' | 'en';
  readonly tier: SmartTier;
  /** Tiers that count as right: two neighbours where reasonable people differ. */
  readonly accept: readonly SmartTier[];
  readonly kind: string;
  readonly request: SmartRequest;
}

interface Row {
  readonly id: string;
  readonly lang: 'ru' | 'en';
  readonly tier: SmartTier;
  readonly accept?: readonly SmartTier[];
  readonly kind: string;
  /** The repository, file and licence of somebody else's prompt. */
  readonly source?: string;
  readonly system?: string;
  readonly prompt?: string;
  readonly messages?: readonly { readonly role: 'user' | 'assistant'; readonly text: string }[];
  /** What `{{repeat}}` stands for: a long document, kept short in the file. */
  readonly repeat?: { readonly text: string; readonly times: number };
}

/** Hold-outs that are used up: each was judged once before a change, then learnt from. */
export const HOLDOUTS = [
  'holdout-1',
  'holdout-2',
  'holdout-3',
  'holdout-4',
  'holdout-5',
  'holdout-6',
  'holdout-7',
  'holdout-8',
  'holdout-9',
  'holdout-10',
  'holdout-11',
  'holdout-12',
  'holdout-13',
  'holdout-14',
  'holdout-15',
  'holdout-16',
  'holdout-17',
  'holdout-18',
  'holdout-19',
  'holdout-20',
] as const;

/** Written after the rules were fixed; neither words, rules nor weights have seen them. */
export const GUARD = 'holdout-21';

/** Real prompts of other people, from public collections. */
export const STRANGERS = ['strangers-en', 'strangers-ru'] as const;

/** The third of them by a hash of the text that nothing was fitted to. */
export const HELD = 'strangers-held';

/** Gathered later from other collections, and labelled by others. */
export const LATER = ['strangers-en-2', 'strangers-ru-2'] as const;

/** The part of those that nothing was fitted to. */
export const LATER_HELD = ['strangers-en-3', 'strangers-ru-3'] as const;

export type SetName =
  | 'development'
  | 'added'
  | 'manner'
  | 'payloads'
  | (typeof HOLDOUTS)[number]
  | (typeof STRANGERS)[number]
  | (typeof LATER)[number]
  | (typeof LATER_HELD)[number]
  | typeof GUARD
  | typeof HELD;

export const USED: readonly SetName[] = [
  'development',
  'added',
  'manner',
  ...HOLDOUTS,
  'payloads',
  ...STRANGERS,
  ...LATER,
];

/** All prompts of a set, in the order of the file. */
export function readSet(name: SetName): Labelled[] {
  if (name === 'payloads') return composePayloads();
  const text = readFileSync(new URL(`./${name}.jsonl`, import.meta.url), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => toLabelled(JSON.parse(line) as Row));
}

interface Payloads {
  /** By kind: texts that somebody pastes. */
  readonly documents: Readonly<Record<string, readonly string[]>>;
  /** By kind: what is to be done with them. */
  readonly requests: Readonly<Record<string, readonly (Pick<Row, 'tier' | 'accept'> & { readonly text: string })[]>>;
  /** How the two stand together. */
  readonly forms: readonly string[];
}

const PAYLOADS_EACH = 6;

/** Every request over several documents, each in another form. */
function composePayloads(): Labelled[] {
  const { documents, requests, forms } = payloads as Payloads;
  const all = Object.entries(requests).flatMap(([kind, list]) =>
    list.flatMap(({ text, tier, accept }, index) =>
      Array.from({ length: PAYLOADS_EACH }, (_, round) => {
        const texts = documents[kind]!;
        const form = forms[(index + round * 5) % forms.length]!;
        const request = /\}[:.]/.test(form) ? text.replace(/[.?!]$/, '') : text;
        const document = texts[(index * 5 + round * 2) % texts.length]!;
        const prompt = form.replace('{request}', () => request).replace('{document}', () => document);
        const lang = kind.endsWith('ru') ? 'ru' : 'en';
        const id = `payload-${kind}-${index}-${round}`;
        return toLabelled({ id, lang, tier, kind: 'payload', prompt, ...(accept && { accept }) });
      }),
    ),
  );
  return [...new Map(all.map((prompt) => [JSON.stringify(prompt.request), prompt])).values()];
}

function toLabelled(row: Row): Labelled {
  const expand = (text: string) => text.replace('{{repeat}}', row.repeat?.text.repeat(row.repeat.times) ?? '');
  const messages = row.messages ?? [{ role: 'user' as const, text: row.prompt ?? '' }];
  const content = (text: string) => [{ type: 'text' as const, text: expand(text) }];
  return {
    id: row.id,
    lang: row.lang,
    tier: row.tier,
    accept: row.accept ?? [row.tier],
    kind: row.kind,
    request: {
      ...(row.system !== undefined && { system: row.system }),
      messages: messages.map(({ role, text }) => ({ role, content: content(text) })),
    },
  };
}
