// Checks of what a payment plugin makes of webhooks: which payment they name, that one without its signature is not
// believed, and that none settles anything by what it says.
import assert from 'node:assert/strict';
import type { PaymentState, RawNotice } from '../contract/payment.ts';
import { RUBBISH, show } from './payment-asking.ts';
import { type Facts, fill, type Notice, writeNotice } from './payment-fixture.ts';
import { withOtherSecrets } from './payment-secret.ts';
import { onStage, type PaymentStage, type PaymentSubject } from './payment-stage.ts';
import type { Check } from './subject.ts';

/** Of a payment that the webhook is not of. */
const OTHER_ID = '2d0cbe1a-000f-5000-9000-145f6df21d60';

type Play = (stage: PaymentStage, subject: PaymentSubject) => Promise<void>;

export function webhookChecks(subject: PaymentSubject): readonly Check[] {
  const checks: [name: string, play: Play][] = [
    ['names the payment that it is of, and nothing it says changes that', named],
    ['settles nothing: the state is what the vendor answers', settlesNothing],
    ['is rejected, not thrown at, where it is rubbish', rejects],
  ];
  if (subject.fixture.sign) {
    checks.push(
      ['is rejected without the signature of its vendor', rejectsForged],
      ['is rejected, not thrown at, where it is signed and names no payment', rejectsSignedRubbish],
    );
  }
  return checks.map(([name, play]) => ({
    group: 'webhook',
    name,
    run: () => onStage(subject, (stage) => play(stage, subject)),
  }));
}

function receive({ provider }: PaymentStage, notice: Pick<RawNotice, 'headers' | 'body'>): unknown {
  return provider.notice({ ...notice, address: '127.0.0.1' });
}

async function named(stage: PaymentStage, { fixture }: PaymentSubject): Promise<void> {
  const { facts, received } = stage.vendor;
  for (const notice of fixture.notices) {
    for (const change of [{}, { amount: 1n, currency: 'USD', order: 'pay_another', test: !facts.test }]) {
      const raw = writeNotice(fixture, notice, { ...facts, ...change });
      assert.deepEqual(receive(stage, raw), { fetch: [facts.id] }, `of ${raw.body}`);
    }
  }
  assert.equal(received.length, 0, 'it asked the vendor: the gateway does that');
}

/** Anybody can send one, so money follows only from an answer to our own request. */
async function settlesNothing(stage: PaymentStage, { fixture }: PaymentSubject): Promise<void> {
  const { vendor } = stage;
  const [pending = ''] = Object.entries(fixture.states).find(([, means]) => means === 'pending') ?? [];
  for (const notice of fixture.notices) {
    receive(stage, writeNotice(fixture, notice, vendor.facts));
    const before = vendor.received.length;
    const paid = vendor.facts;
    vendor.facts = { ...paid, status: pending };
    const { status } = (await stage.call('fetch')) as PaymentState;
    vendor.facts = paid;
    assert(vendor.received.length > before, 'after a webhook it does not ask the vendor for the state');
    assert.equal(status, 'pending', 'the state is that of a webhook, not that of the answer');
  }
}

async function rejectsForged(stage: PaymentStage, { fixture, ...subject }: PaymentSubject): Promise<void> {
  const { facts } = stage.vendor;
  const settings = await withOtherSecrets({ ...subject, fixture });
  for (const notice of fixture.notices) {
    const signed = writeNotice(fixture, notice, facts);
    const forged: readonly (readonly [what: string, raw: Pick<RawNotice, 'headers' | 'body'>])[] = [
      ['without a signature', writeUnsigned(notice, facts)],
      ['signed with another secret', writeNotice({ ...fixture, settings }, notice, facts)],
      // Where the body is a token as a whole, the id cannot be changed in it.
      ...(signed.body.includes(facts.id)
        ? [['with the signature of another', { ...signed, body: signed.body.replaceAll(facts.id, OTHER_ID) }] as const]
        : []),
    ];
    for (const [what, raw] of forged) {
      assert.notDeepEqual(raw, signed, '`sign` of the fixture adds nothing that depends on the secret');
      assert.equal(receive(stage, raw), 'rejected', `it believes a webhook ${what}: ${show(raw)}`);
    }
  }
}

function writeUnsigned(notice: Notice, facts: Facts): Pick<RawNotice, 'headers' | 'body'> {
  const { headers, body } = fill(notice, facts);
  return { headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

async function rejects(stage: PaymentStage): Promise<void> {
  const long = 'x'.repeat(65_536);
  for (const body of [...RUBBISH, long, '{"object":{"id":{}}}', '\u0000', '{"__proto__":{"id":"x"}}']) {
    assertVerdict(stage, { headers: {}, body });
  }
}

/** Only a vendor can sign, and it may write to us about other things than payments. */
async function rejectsSignedRubbish(stage: PaymentStage, { fixture }: PaymentSubject): Promise<void> {
  const { facts } = stage.vendor;
  for (const notice of fixture.notices) {
    if (typeof notice.body !== 'object' || notice.body === null) continue;
    const filled = fill(notice.body, facts);
    const numbered: unknown = JSON.parse(JSON.stringify(filled), (_, value) => (value === facts.id ? 5 : value));
    const bare: unknown = JSON.parse(JSON.stringify(filled), (_, value) => (value === facts.id ? undefined : value));
    for (const body of [numbered, bare]) assertVerdict(stage, writeNotice(fixture, { ...notice, body }, facts));
  }
}

function assertVerdict(stage: PaymentStage, raw: Pick<RawNotice, 'headers' | 'body'>): void {
  const verdict = attempt(() => receive(stage, raw));
  const ids = (verdict as { fetch?: unknown } | null)?.fetch;
  const isVerdict =
    verdict === 'rejected' || (Array.isArray(ids) && ids.every((id) => typeof id === 'string' && id !== ''));
  assert(isVerdict, `${raw.body.slice(0, 200) || 'an empty body'} is ${show(verdict)}: ids of payments are texts`);
}

function attempt(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    assert.fail(`it threw: ${String(error)}`);
  }
}
