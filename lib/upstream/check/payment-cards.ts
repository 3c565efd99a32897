// Checks of what a payment plugin says of cards: never their numbers, and none as saved that the vendor has not saved.
import assert from 'node:assert/strict';
import type { PaymentState } from '../contract/payment.ts';
import { isUpstreamFault } from '../host/fault.ts';
import { show } from './payment-asking.ts';
import type { CallName, Route } from './payment-fixture.ts';
import { onStage, type PaymentStage, type PaymentSubject } from './payment-stage.ts';

const NUMBER = /(?<![\w-])\d(?:[ -]?\d){11,18}(?![\w-])/g;
/** As vendors show it: the first and the last digits. */
const MASKED = /(?<!\d)\d{4,8}[ -]?[*xX•.]{2,}[* xX•.-]*(\d{4})(?!\d)/;

/** The number of a card may be kept by nobody but those who are certified for it, and is shown to nobody. */
export async function returnsNoNumber(stage: PaymentStage, call: CallName): Promise<void> {
  const state = await stage.call(call);
  const ours: readonly unknown[] = Object.values(stage.vendor.facts);
  for (const [name, text] of listTexts(state, 'the state')) {
    if (ours.includes(text)) continue;
    const isWhole = [...text.matchAll(NUMBER)].some(([number]) => passesLuhn(number.replace(/\D/g, '')));
    assert(!isWhole, `${name} is what looks like the whole number of a card: ${text.slice(0, 6)}…`);
    assert(!MASKED.test(text), `${name} is the masked number of a card, of which only \`last4\` is kept: ${text}`);
  }
}

function listTexts(value: unknown, path: string): readonly (readonly [name: string, text: string])[] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) => listTexts(field, `${path}.${name}`));
}

function passesLuhn(digits: string): boolean {
  const sum = [...digits].toReversed().reduce((total, digit, at) => {
    const doubled = at % 2 === 0 ? Number(digit) : Number(digit) * 2;
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}

/** The last digits of the masked numbers in an answer. */
export function findLast4(routes: readonly Route[]): readonly string[] {
  return routes.flatMap(({ reply }) =>
    listTexts(reply, '').flatMap(([, text]) => {
      const last4 = MASKED.exec(text)?.[1];
      return last4 === undefined ? [] : [last4];
    }),
  );
}

/** An object of an answer in which the vendor names a saved method, changed so that none was saved. */
type Unsave = (holder: Readonly<Record<string, unknown>>) => Record<string, unknown>;

const SAVED_FLAG = /sav|stor|recur|reus|bind|bound|attach/i;

const UNSAVED: readonly (readonly [what: string, unsave: Unsave])[] = [
  ['lacks its id', (holder) => Object.fromEntries(Object.entries(holder).filter(([, field]) => !isSavedGap(field)))],
  ['has null for its id', (holder) => mapFields(holder, (_, field) => (isSavedGap(field) ? null : field))],
  [
    'says of it that it was not',
    (holder) => mapFields(holder, (name, field) => (field === true && SAVED_FLAG.test(name) ? false : field)),
  ],
];

/** Where nobody agreed, the answer lacks the id of a method, or has a flag that says so. */
export async function noneSaved(subject: PaymentSubject): Promise<void> {
  const { fixture } = subject;
  for (const [what, unsave] of UNSAVED) {
    const routes = fixture.routes.map((route) => ({ ...route, reply: unsaveIn(route.reply, unsave) }));
    if (JSON.stringify(routes) === JSON.stringify(fixture.routes)) continue;
    await onStage({ ...subject, fixture: { ...fixture, routes } }, async (stage) => {
      const found = await stage.call('fetch').catch((error: unknown) => error);
      if (found instanceof Error) return assert(isUpstreamFault(found), `it threw ${found.name}: ${found.message}`);
      const { saved } = found as PaymentState;
      assert.equal(saved, null, `where the answer ${what} it says that one was saved: ${show(saved)}`);
    });
  }
}

function isSavedGap(field: unknown): boolean {
  return field === '{{saved}}';
}

function mapFields(
  holder: Readonly<Record<string, unknown>>,
  map: (name: string, field: unknown) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(holder).map(([name, field]) => [name, map(name, field)]));
}

function unsaveIn(value: unknown, unsave: Unsave): unknown {
  if (Array.isArray(value)) return value.map((each) => unsaveIn(each, unsave));
  if (typeof value !== 'object' || value === null) return value;
  const holder = value as Readonly<Record<string, unknown>>;
  const own = Object.values(holder).some(isSavedGap) ? unsave(holder) : holder;
  return mapFields(own, (_, field) => unsaveIn(field, unsave));
}
