// Checks of how a payment plugin proves to its vendor who asks: every request has something made from the secret that the
// operator set, and no URL has the secret itself.
import assert from 'node:assert/strict';
import type { PaymentProvider } from '../contract/payment.ts';
import { spellSecret } from './output-watch.ts';
import type { CallName } from './payment-fixture.ts';
import { listCallNames, onStage, type PaymentStage, type PaymentSubject } from './payment-stage.ts';
import type { Received, Vendor } from './payment-vendor.ts';
import { FIXED_CLOCK } from './stage.ts';
import type { Check } from './subject.ts';

export function secretChecks(subject: PaymentSubject, provider: PaymentProvider): readonly Check[] {
  return listCallNames(provider).flatMap((group) => [
    { group, name: 'keeps the secret out of URLs', run: () => onStage(subject, (stage) => hidden(stage, group)) },
    { group, name: 'proves who asks, by the secret of the settings', run: () => proved(subject, group) },
  ]);
}

async function hidden(stage: PaymentStage, call: CallName): Promise<void> {
  await stage.call(call);
  for (const { path } of stage.vendor.received) {
    const isInUrl = expectSecrets(stage).some((secret) =>
      spellSecret(secret).some((spelling) => path.includes(spelling)),
    );
    assert(!isInUrl, 'the secret is in the URL, which proxies write into their logs');
  }
}

function expectSecrets({ open: { secrets } }: PaymentStage): readonly string[] {
  assert(secrets.length > 0, 'no setting is marked as a secret');
  return secrets;
}

/**
 * What is the same for one secret and another for another is made from it, be it the secret itself or a signature. That
 * may depend on time, address and body too, so these stay the same.
 */
async function proved(subject: PaymentSubject, call: CallName): Promise<void> {
  const settings = await withOtherSecrets(subject);
  const seen: (readonly Received[])[] = [];
  await onStage(subject, async ({ vendor }) => {
    const changed = { ...subject, fixture: { ...subject.fixture, settings } };
    for (const each of [subject, subject, changed]) seen.push(await collectRequests(each, call, vendor));
  });
  const [one = [], again = [], other = []] = seen;
  let isProved = false;
  for (const [at, request] of one.entries()) {
    const has: boolean = differs(request, again[at], other[at]);
    // A token that was asked for with the secret is the vendor's word, whatever the secret.
    const hasToken: boolean = isProved && request.headers.authorization !== undefined;
    assert(has || hasToken, `nothing in ${request.method} ${request.path} is made from the secret, the same each time`);
    isProved ||= has;
  }
  assert(isProved, 'it asked nothing');
}

function differs(request: Received, again: Received | undefined, other: Received | undefined): boolean {
  const listRequestTexts = ({ headers, body }: Received) => new Map([...Object.entries(headers), ['', body] as const]);
  if (!again || !other) return false;
  const [mine, same, changed] = [request, again, other].map(listRequestTexts);
  return [...(mine ?? [])].some(([name, value]) => {
    return name !== 'host' && value === same?.get(name) && value !== changed?.get(name);
  });
}

async function collectRequests(subject: PaymentSubject, call: CallName, vendor: Vendor): Promise<readonly Received[]> {
  vendor.received.length = 0;
  // It may refuse what the fixture says to another secret.
  const askOnce = async (stage: PaymentStage) => void (await stage.call(call).catch(() => undefined));
  await onStage(subject, askOnce, { vendor, clock: FIXED_CLOCK });
  return [...vendor.received];
}

/** The settings of the fixture with other secrets of the same form. */
export async function withOtherSecrets(subject: PaymentSubject): Promise<Readonly<Record<string, unknown>>> {
  let known: readonly string[] = [];
  await onStage(subject, async (stage) => {
    known = expectSecrets(stage);
  });
  const text = JSON.stringify(subject.fixture.settings, (_name, value: unknown) =>
    typeof value === 'string' && known.includes(value) ? otherThan(value) : value,
  );
  const isChanged = text !== JSON.stringify(subject.fixture.settings);
  assert(isChanged, "the fixture's settings have no secret: it cannot be seen whether it is sent");
  return JSON.parse(text);
}

/** Its last letters or digits are others: what it begins with may tell a test shop from a real one. */
function otherThan(secret: string): string {
  const half = Math.ceil(secret.length / 2);
  const rest = secret.slice(half).replace(/[0-9a-z]/gi, (char) => OTHERS.get(char) ?? (char === 'a' ? 'b' : 'a'));
  return secret.slice(0, half) + rest;
}

const OTHERS = new Map([...'0123456789'].map((digit) => [digit, digit === '1' ? '2' : '1']));
