// Checks of what a payment plugin makes of its vendor's answers: everything that is compared before a credit is taken from
// them, and nothing else is taken for paid.
import assert from 'node:assert/strict';
import { KOPECK } from '../../money/money.ts';
import type { PaymentProvider, PaymentState } from '../contract/payment.ts';
import { isUpstreamFault } from '../host/fault.ts';
import { show } from './payment-asking.ts';
import { type CallName, type Facts, says } from './payment-fixture.ts';
import { onStage, type PaymentStage, type PaymentSubject } from './payment-stage.ts';
import type { Check } from './subject.ts';

/** No vendor has such a word. */
export const UNKNOWN_STATE = 'teleported';

const REASONS = ['expired', 'soft', 'hard', 'technical'];

/** The gaps that say the same, each in its own form. */
const GAPS: ReadonlyMap<string, readonly string[]> = new Map([
  ['currency', ['currency', 'currencyCode', 'currencyNumber']],
  ['amount', ['amount', 'kopecks']],
]);

type Play = (stage: PaymentStage) => Promise<void>;

export function readingChecks(subject: PaymentSubject, provider: PaymentProvider): readonly Check[] {
  const calls = ['fetch', 'find', ...(provider.charge ? (['charge'] as const) : [])] as const;
  const checks: [group: string, name: string, play: Play][] = calls.flatMap((call) => listStateChecks(subject, call));
  checks.push(
    ['fetch', 'says `missing` of a payment that the vendor does not have', missing],
    ['find', 'finds no payment of another order', (stage) => findsOwn(stage, subject)],
  );
  return checks.map(([group, name, play]) => ({ group, name, run: () => onStage(subject, play) }));
}

function listStateChecks(subject: PaymentSubject, call: CallName): [string, string, Play][] {
  const { fixture } = subject;
  const has = (gap: string) => (GAPS.get(gap) ?? [gap]).some((each) => says(fixture, call, each));
  const changes: readonly (readonly [gap: keyof Facts, name: keyof PaymentState, value: string | boolean])[] = [
    ['currency', 'currency', 'USD'],
    ['shop', 'shop', 'another-shop'],
    ['test', 'test', true],
    ['test', 'test', false],
    ...(call === 'find' ? [] : [['order', 'order', 'pay_another'] as const]),
  ];
  const told = changes.filter(([gap]) => !Object.hasOwn(fixture.untold, gap));
  return [
    ...Object.entries(fixture.states).map(([word, means]): [string, string, Play] => [
      call,
      `takes \`${word}\` for ${means}`,
      async (stage) => {
        const { status, id, reason } = await read(stage, call, { status: word });
        assert.equal(status, means);
        assert.equal(id, stage.vendor.facts.id, 'it is another payment');
        const isReasoned = reason !== null && REASONS.includes(reason.kind) && reason.code !== '';
        assert.equal(isReasoned, means === 'canceled', `its reason is ${show(reason)}`);
      },
    ]),
    ...(typeof fixture.reasons === 'string'
      ? []
      : [
          [
            call,
            'takes the reason of a decline from the answer',
            (stage: PaymentStage) => reasonRead(stage, call, subject),
          ] as [string, string, Play],
        ]),
    [call, 'takes no unknown state for paid or declined', (stage) => unknownState(stage, call)],
    [call, 'takes the sum from the answer', (stage) => sumRead(stage, call, has('amount'))],
    ...told.map(([gap, name, value]): [string, string, Play] => [
      call,
      `takes ${name} from the answer: ${value}`,
      async (stage) => {
        const hint = gap === 'order' ? '' : `. If the vendor does not say it, \`untold\` says why it is certain`;
        assert(
          has(gap),
          `no answer of the fixture has {{${gap}}}: it is compared with the order before a credit${hint}`,
        );
        assert.equal((await read(stage, call, { [gap]: value }))[name], value);
      },
    ]),
  ];
}

async function read(stage: PaymentStage, call: CallName, change: Partial<Facts>): Promise<PaymentState> {
  stage.vendor.facts = { ...stage.vendor.facts, ...change };
  const state = (await stage.call(call)) as PaymentState | undefined;
  assert(state, 'there is no payment');
  return state;
}

/** A card is charged again after some of them, and never after others. */
async function reasonRead(stage: PaymentStage, call: CallName, { fixture }: PaymentSubject): Promise<void> {
  assert(
    says(fixture, call, 'reason'),
    'no answer of the fixture has {{reason}}: what follows a decline depends on it',
  );
  const [status = ''] = Object.entries(fixture.states).find(([, means]) => means === 'canceled') ?? [];
  for (const [code, kind] of Object.entries(fixture.reasons)) {
    const { reason } = await read(stage, call, { status, reason: code });
    assert.equal(reason?.kind, kind, `the reason ${code} is ${reason?.kind}, not ${kind}`);
    assert.equal(reason?.code, code, 'the reason has another code than the vendor gave');
  }
}

async function unknownState(stage: PaymentStage, call: CallName): Promise<void> {
  stage.vendor.facts = { ...stage.vendor.facts, status: UNKNOWN_STATE };
  const found = await stage.call(call).catch((error: unknown) => error);
  if (found instanceof Error) assert(isUpstreamFault(found), `it threw ${found.name}, not a fault of the host`);
  else assert.equal((found as PaymentState | undefined)?.status, 'pending', `\`${UNKNOWN_STATE}\` is taken for an end`);
}

async function sumRead(stage: PaymentStage, call: CallName, isSaid: boolean): Promise<void> {
  assert(
    isSaid,
    'no answer of the fixture has {{amount}} or {{kopecks}}: it is compared with the order before a credit',
  );
  for (const kopecks of [1n, 100n, 123_405n, 9_007_199_254_740_993n / 1000n]) {
    const { amount } = await read(stage, call, { amount: kopecks });
    assert.equal(typeof amount, 'bigint', 'the sum is no bigint');
    assert.equal(amount, kopecks * KOPECK, `${kopecks} kopecks are ${amount} micro-roubles`);
  }
}

async function missing(stage: PaymentStage): Promise<void> {
  stage.vendor.mishap = { status: 404, body: '{"error":"not found"}' };
  const found = await stage.call('fetch').catch((error: unknown) => error);
  assert(isUpstreamFault(found), `it is ${show(found)}`);
  assert.equal(found.kind, 'missing');
}

async function findsOwn(stage: PaymentStage, { fixture }: PaymentSubject): Promise<void> {
  assert(says(fixture, 'find', 'order'), 'no answer of the fixture has {{order}}');
  stage.vendor.facts = { ...stage.vendor.facts, order: 'pay_another' };
  assert.equal(await stage.call('find'), undefined, 'it takes the payment of another order');
}
