// Checks of a payment plugin's smaller promises: saving a card only with consent, ids escaped in URLs, a signature over
// the body, and no timer that outlives its call.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostClock } from '../contract/host.ts';
import type { Order, PaymentProvider, PaymentState } from '../contract/payment.ts';
import { show } from './payment-asking.ts';
import { findLast4, noneSaved, returnsNoNumber } from './payment-cards.ts';
import { type CallName, says, writeNotice } from './payment-fixture.ts';
import { withOtherSecrets } from './payment-secret.ts';
import { listCallNames, ORDER, onStage, type PaymentStage, type PaymentSubject } from './payment-stage.ts';
import type { Vendor } from './payment-vendor.ts';
import { FIXED_CLOCK } from './stage.ts';
import type { Check } from './subject.ts';
import { watchTimers } from './timer-watch.ts';

const METHOD_KINDS: readonly string[] = ['card', 'sbp', 'wallet', 'bank'];
/** What an id may hold, if it is somebody else's. */
const ODD_ID = 'odd/id?of&the=check#5';
const LATER_CLOCK: HostClock = { ...FIXED_CLOCK, now: () => FIXED_CLOCK.now() + 61_000 };

export function traceChecks(subject: PaymentSubject, provider: PaymentProvider): readonly Check[] {
  const calls = listCallNames(provider);
  const checks: [group: string, name: string, run: () => Promise<void>][] = [
    ['start', 'signs the body, if it signs a request', () => bodySigned(subject)],
    ...calls.map((call): (typeof checks)[number] => [
      call,
      'leaves no timer behind',
      () => timersEnd(subject, (stage) => callTwice(stage, call)),
    ]),
    ['webhook', 'leaves no timer behind', () => timersEnd(subject, async (stage) => receiveAll(stage, subject))],
    ...calls
      .filter((call) => call !== 'start' && call !== 'refund')
      .map((call): (typeof checks)[number] => [
        call,
        'returns no number of a card',
        () => onStage(subject, (stage) => returnsNoNumber(stage, call)),
      ]),
    ...calls
      .filter((call) => call === 'fetch' || call === 'charge' || call === 'refund')
      .map((call): (typeof checks)[number] => [
        call,
        'escapes ids in URLs',
        () => onStage(subject, (stage) => idsEscaped(stage, call)),
      ]),
  ];
  if (provider.charge) {
    checks.push(
      ['start', 'saves a method only with consent', () => savesWithConsent(subject)],
      ['fetch', 'says which method was saved', () => onStage(subject, (stage) => savedRead(stage, subject))],
      ['fetch', 'says of no method that it was saved where none was', () => noneSaved(subject)],
    );
  }
  return checks.map(([group, name, run]) => ({ group, name, run }));
}

async function timersEnd(subject: PaymentSubject, play: (stage: PaymentStage) => Promise<void>): Promise<void> {
  const watch = watchTimers(subject.folder);
  try {
    await onStage(subject, async (stage) => {
      await play(stage);
      await sleep(1);
      const [left] = watch.left();
      assert(left === undefined, `a timer is still running after the call: it was set ${left}`);
    });
  } finally {
    watch.end();
  }
}

async function callTwice(stage: PaymentStage, call: CallName): Promise<void> {
  await stage.call(call).catch(noop);
  stage.vendor.mishap = { status: 500, body: '{}' };
  await stage.call(call).catch(noop);
}

function receiveAll({ provider, vendor }: PaymentStage, { fixture }: PaymentSubject): void {
  for (const notice of fixture.notices) {
    provider.notice({ ...writeNotice(fixture, notice, vendor.facts), address: '127.0.0.1' });
  }
}

async function idsEscaped(stage: PaymentStage, call: CallName): Promise<void> {
  const { vendor } = stage;
  vendor.facts = { ...vendor.facts, id: ODD_ID, saved: ODD_ID };
  await stage.call(call).catch(() => undefined);
  const astray = vendor.received.find(({ route }) => route === undefined);
  assert(!astray, `an id is not escaped: ${astray?.method} ${astray?.path} for the id ${ODD_ID}`);
}

async function savedRead(stage: PaymentStage, { fixture }: PaymentSubject): Promise<void> {
  assert(
    says(fixture, 'fetch', 'saved'),
    'no answer to `fetch` in the fixture has {{saved}}: the id of a saved method',
  );
  const { saved } = (await stage.call('fetch')) as PaymentState;
  assert(saved, 'it says that no method was saved, but the answer has one');
  const { id, kind, brand, last4, expiry } = saved;
  assert.equal(id, stage.vendor.facts.saved, 'another id of the method than the vendor gave');
  assert(METHOD_KINDS.includes(kind), `its kind is ${show(kind)}`);
  assert(brand === null || brand !== '', 'its brand is empty: null says that there is none');
  assert(last4 === null || /^\d{4}$/.test(last4), `its last4 is ${show(last4)}: four digits, or null`);
  const shown = findLast4(stage.vendor.received.flatMap(({ route }) => route ?? []));
  const isLast = last4 === null || shown.length === 0 || shown.includes(last4);
  assert(isLast, `its last4 is ${show(last4)}, but the number in the answer ends in ${shown.join(' or ')}`);
  assert(expiry === null || /^\d{4}-(0[1-9]|1[0-2])$/.test(expiry), `its expiry is ${show(expiry)}, not like 2027-05`);
}

async function savesWithConsent(subject: PaymentSubject): Promise<void> {
  await onStage(subject, async ({ vendor }) => {
    const collect = (saveMethod: boolean) => collectTexts(subject, 'start', { vendor, order: { saveMethod } });
    const [agreed, again, refused] = [await collect(true), await collect(true), await collect(false)];
    const isTold = [...new Set([...agreed.keys(), ...refused.keys()])].some((name) => {
      return agreed.get(name) === again.get(name) && agreed.get(name) !== refused.get(name);
    });
    assert(isTold, 'the requests are the same with `saveMethod` and without: a card would be saved without consent');
  });
}

/**
 * What depends on the secret, and on the time or the path too, is a signature: if it leaves out the body, whoever can
 * change a request chooses the sum.
 */
async function bodySigned(subject: PaymentSubject): Promise<void> {
  if (subject.fixture.bodyUnsigned !== undefined) return;
  const settings = await withOtherSecrets(subject);
  const changed = { ...subject, fixture: { ...subject.fixture, settings } };
  await onStage(subject, async ({ vendor }) => {
    const one = await collectTexts(subject, 'start', { vendor });
    const again = await collectTexts(subject, 'start', { vendor });
    const other = await collectTexts(changed, 'start', { vendor });
    const later = await collectTexts(subject, 'start', { vendor, clock: LATER_CLOCK });
    const elsewhere = await collectTexts(subject, 'fetch', { vendor });
    const dearer = await collectTexts(subject, 'start', { vendor, order: { amount: ORDER.amount * 2n } });
    for (const [name, value] of one) {
      const isSecrets = value === again.get(name) && value !== other.get(name);
      const isSignature = isSecrets && (value !== later.get(name) || value !== (elsewhere.get(name) ?? value));
      assert(
        !isSignature || value !== dearer.get(name),
        `${name} is a signature, and stays the same with another sum: it does not cover the body. ` +
          'If the vendor asks for none that does, say so in `bodyUnsigned` of the fixture',
      );
    }
  });
}

/** The headers of all requests with a body, and the fields of their bodies. */
async function collectTexts(
  subject: PaymentSubject,
  call: CallName,
  { vendor, clock = FIXED_CLOCK, order = {} }: { vendor: Vendor; clock?: HostClock; order?: Partial<Order> },
): Promise<ReadonlyMap<string, string>> {
  vendor.received.length = 0;
  const askOnce = (stage: PaymentStage) => stage.call(call, undefined, order).then(noop, noop);
  await onStage(subject, askOnce, { vendor, clock });
  const texts = new Map<string, string>();
  for (const [at, { headers, body }] of vendor.received.entries()) {
    const place = at === 0 ? '' : ` of request ${at + 1}`;
    for (const [name, value] of Object.entries(headers)) texts.set(`the header ${name}${place}`, String(value));
    for (const [name, value] of readFields(body)) texts.set(`the field ${name}${place}`, value);
  }
  return texts;
}

function noop(): void {}

/** Those of JSON at its root, and those of a form. */
function readFields(body: string): readonly (readonly [name: string, value: string])[] {
  try {
    return Object.entries(JSON.parse(body) ?? {}).map(([name, value]) => [name, JSON.stringify(value)]);
  } catch {
    return [...new URLSearchParams(body)];
  }
}
