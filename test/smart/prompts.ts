// The labelled prompts as requests of the router; the development set is cut into a tuning and a reporting half.
import { readFileSync } from 'node:fs';
import type { SmartRequest, SmartTier } from '../../lib/text/smart.ts';

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
  readonly system?: string;
  readonly prompt?: string;
  readonly messages?: readonly { readonly role: 'user' | 'assistant'; readonly text: string }[];
  /** What `{{repeat}}` stands for: a long document, kept short in the file. */
  readonly repeat?: { readonly text: string; readonly times: number };
}

/** Hold-outs, oldest first: each was written before the router was seen to answer it, and judged once before a change. */
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

export type SetName = 'development' | (typeof HOLDOUTS)[number];

/** All prompts of a set, in the order of the file. */
export function readSet(name: SetName): Labelled[] {
  const text = readFileSync(new URL(`./${name}.jsonl`, import.meta.url), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => toLabelled(JSON.parse(line) as Row));
}

/** The half that weights are trained on: of the development set and of the hold-outs that have been used. */
export function readTuningHalf(): Labelled[] {
  return readUsed().filter((prompt) => isTuning(prompt.id));
}

/** The half that is only reported on. */
export function readReportingHalf(): Labelled[] {
  return readUsed().filter((prompt) => !isTuning(prompt.id));
}

function readUsed(): Labelled[] {
  return ['development' as const, ...HOLDOUTS].flatMap(readSet);
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

/** By a hash of the id (FNV-1a), so that a prompt keeps its half when others are added. */
function isTuning(id: string): boolean {
  let hash = 0x811c9dc5;
  for (let index = 0; index < id.length; index++) {
    hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
  }
  return ((hash ^ (hash >>> 11) ^ (hash >>> 22)) & 1) === 0;
}
