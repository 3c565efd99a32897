// Checks of what a payment plugin asks its vendor: the sum and the order, once, with the key; and of what a lost or refused
// request says.
import assert from 'node:assert/strict';
import type { UpstreamFault } from '../contract/fault.ts';
import type { PaymentProvider, Started } from '../contract/payment.ts';
import { isUpstreamFault } from '../host/fault.ts';
import { pauseOften, withIdleLimit } from './patience.ts';
import { type CallName, fill } from './payment-fixture.ts';
import { listCallNames, ORDER, onStage, type PaymentStage, type PaymentSubject, REFUND } from './payment-stage.ts';
import type { Received } from './payment-vendor.ts';
import type { Check } from './subject.ts';

/** Nobody knows whether it began. */
const UNKNOWN: readonly UpstreamFault['kind'][] = ['network', 'timeout', 'server', 'overloaded', 'protocol'];
const STATUSES: readonly (readonly [status: number, kinds: readonly UpstreamFault['kind'][]])[] = [
  [401, ['auth']],
  [403, ['auth', 'quota', 'request']],
  [429, ['rate', 'quota']],
  [500, UNKNOWN],
  [502, UNKNOWN],
  [503, UNKNOWN],
];
const CLOSED_WITHIN_MS = 1000;
/** Until its request has arrived. */
const ARRIVED_MS_MAX = 5000;
/** Times in seconds are below, in microseconds above. */
const EXPIRES_MS_MIN = 1e12;
const EXPIRES_MS_MAX = 1e14;
export const RUBBISH: readonly string[] = [
  ...['', 'null', '[]', '{}', '"text"', '5', 'true', '<html>maintenance</html>', '{"id":', '{"error":null}'],
  ...['{"id":5,"status":7,"amount":"much"}', '{"id":"x","status":"succeeded"}', '{"items":[null]}', '[[[[]]]]'],
];

type Play = (stage: PaymentStage) => Promise<void>;

export function askingChecks(subject: PaymentSubject, provider: PaymentProvider): readonly Check[] {
  return listCallNames(provider).flatMap((call) => {
    const checks: [name: string, play: Play][] = [
      ['is done once when the answer is lost, and nobody knows what came of it', (stage) => askedOnce(stage, call)],
      ['takes no rubbish for an answer', (stage) => refusesRubbish(stage, call)],
      ...STATUSES.map(([status, kinds]): [string, Play] => [
        `takes status ${status} for ${kinds.join(' or ')}`,
        (stage) => failsAs(stage, call, { status, kinds }),
      ]),
      ['ends at its abort, and its connection with it', (stage) => aborts(stage, call)],
    ];
    if (isPost(call)) {
      checks.push(
        ['sends the key of the order, the same in a repeat', (stage) => keySent(stage, call, subject)],
        ['asks for the sum of the order, and names it', (stage) => orderSent(stage, call)],
      );
    }
    if (call === 'start') {
      checks.push(
        ['resolves to a link that the payer may follow', linkAllowed],
        ['sends payers to no hosts but those of its vendor', (stage) => hostsKnown(stage, subject)],
      );
    }
    return checks.map(([name, play]) => ({ group: call, name, run: () => onStage(subject, play) }));
  });
}

function isPost(call: CallName): boolean {
  return call === 'start' || call === 'charge' || call === 'refund';
}

async function askedOnce(stage: PaymentStage, call: CallName): Promise<void> {
  stage.vendor.mishap = 'reset';
  const error = await expectUpstreamFault(stage, call);
  assert(UNKNOWN.includes(error.kind), `a lost answer is ${error.kind}: it must be one of ${UNKNOWN.join(', ')}`);
  assert.equal(
    stage.vendor.received.length,
    1,
    'the request was sent again: the gateway repeats it, with the same key',
  );
}

async function refusesRubbish(stage: PaymentStage, call: CallName): Promise<void> {
  for (const body of RUBBISH) {
    stage.vendor.mishap = { status: 200, body };
    const found = await stage.call(call).catch((error: unknown) => error);
    // A list without a payment is an answer to `find`.
    if (found === undefined && call === 'find') continue;
    assert(found instanceof Error, `it resolved although the answer was ${body || 'empty'}: ${show(found)}`);
    assert(isUpstreamFault(found), `it threw ${found.name}, not a fault of the host, at the answer ${body || 'empty'}`);
    const isUnknown = UNKNOWN.includes(found.kind);
    assert(isUnknown, `the answer ${body || 'empty'} is ${found.kind}: nobody knows what came of it`);
  }
}

async function failsAs(
  stage: PaymentStage,
  call: CallName,
  { status, kinds }: { readonly status: number; readonly kinds: readonly UpstreamFault['kind'][] },
): Promise<void> {
  stage.vendor.mishap = { status, body: '{"error":"refused by the check"}' };
  const { kind } = await expectUpstreamFault(stage, call);
  assert(kinds.includes(kind), `it is ${kind}`);
  if (status < 500) return;
  const { length } = stage.vendor.received;
  assert.equal(length, 1, 'the request was sent again: the gateway repeats it, with the same key');
}

async function expectUpstreamFault(stage: PaymentStage, call: CallName): Promise<UpstreamFault> {
  const found = await stage.call(call).catch((error: unknown) => error);
  assert(found instanceof Error, `it resolved to ${show(found)}`);
  assert(isUpstreamFault(found), `it threw ${found.name}: ${found.message}, not a fault of the host`);
  return found;
}

async function aborts(stage: PaymentStage, call: CallName): Promise<void> {
  stage.vendor.mishap = 'hang';
  const controller = new AbortController();
  const ended = stage.call(call, controller.signal).then(
    () => 'resolved',
    () => 'rejected',
  );
  await withIdleLimit(ARRIVED_MS_MAX, async (late) => {
    while (stage.vendor.received.length === 0 && !late.aborted) await pauseOften(1);
  });
  const request = stage.vendor.received[0];
  assert(request, 'no request arrived');
  controller.abort(new Error('aborted by the check'));
  const late = pauseOften(CLOSED_WITHIN_MS).then(() => 'late');
  assert.equal(await Promise.race([ended, late]), 'rejected', 'the call goes on after its abort');
  assert.notEqual(await Promise.race([request.closed, late]), 'late', 'the connection stays open after the abort');
}

async function keySent(stage: PaymentStage, call: CallName, { fixture: { idIsKey } }: PaymentSubject): Promise<void> {
  const { id, idempotenceKey } = call === 'refund' ? REFUND : ORDER;
  const key = idIsKey === undefined ? idempotenceKey : id;
  for (let attempt = 0; attempt < 2; attempt += 1) {
    stage.vendor.received.length = 0;
    await stage.call(call);
    const requests = posts(stage).map(({ method, path, headers, body }) => {
      return { place: `${method} ${path}`, values: [...Object.values(headers).flat(), ...readValues(body)] };
    });
    const isSent = requests.some(({ values }) => values.includes(key));
    const whose = call === 'refund' ? 'refund' : 'order';
    const hint = idIsKey === undefined ? '. Of a vendor that takes no keys the fixture says so in `idIsKey`' : '';
    const what = idIsKey === undefined ? 'key' : 'id';
    assert(
      isSent,
      `no request has the ${what} of the ${whose} as it is, and nothing else: a repeat would pay twice${hint}`,
    );
    for (const { place, values } of requests) {
      const changed = values.find((value) => value !== undefined && isChangedKey(value, key));
      assert(changed === undefined, `${place} has the ${what} of the ${whose} with something added: ${changed}`);
    }
  }
}

/** Not a text that quotes it, such as a link to return to or JSON within JSON. */
function isChangedKey(value: string, key: string): boolean {
  return value !== key && value.includes(key) && !/["<]|^https?:/.test(value);
}

/** The texts in a body of JSON, or the fields of a form. */
function readValues(body: string): readonly string[] {
  const texts: string[] = [];
  try {
    JSON.parse(body, (_name, value) => {
      if (typeof value === 'string') texts.push(value);
      return value;
    });
  } catch {
    texts.push(...new URLSearchParams(body).values());
  }
  return texts;
}

async function orderSent(stage: PaymentStage, call: CallName): Promise<void> {
  await stage.call(call);
  const { id, amount } = call === 'refund' ? REFUND : ORDER;
  const kopecks = amount / 10_000n;
  const sums = [`${kopecks / 100n}.${String(kopecks % 100n).padStart(2, '0')}`, String(kopecks)];
  const all = posts(stage).map(({ body }) => body);
  assert(
    all.some((body) => sums.some((sum) => new RegExp(`(?<![\\d.])${sum.replace('.', '\\.')}(?![\\d.])`).test(body))),
    `no request asks for ${sums[0]} RUB`,
  );
  assert(
    call === 'refund' || all.some((body) => body.includes(id)),
    'no request names the order: it could not be found again',
  );
}

function posts({ vendor }: PaymentStage): readonly Received[] {
  return vendor.received.filter(({ method }) => method !== 'GET');
}

async function linkAllowed(stage: PaymentStage): Promise<void> {
  const { id, payUrl, expiresAt } = (await stage.call('start')) as Started;
  assert.equal(id, stage.vendor.facts.id, 'another id than the vendor gave');
  const isInMs = expiresAt > EXPIRES_MS_MIN && expiresAt < EXPIRES_MS_MAX;
  assert(isInMs, `the link ends at ${expiresAt}: that is no time in ms since the epoch`);
  const url = URL.parse(payUrl);
  assert(url?.protocol === 'https:', `the link is ${payUrl}, not an https URL`);
  assert(stage.provider.redirectHosts.includes(url.host), `${url.host} is none of the redirectHosts`);
}

/** Whoever speaks for the vendor must not choose where payers type their cards. */
async function hostsKnown(stage: PaymentStage, { fixture }: PaymentSubject): Promise<void> {
  const { payUrl } = (await stage.call('start')) as Started;
  const { host } = new URL(payUrl);
  const known = [host, ...Object.keys(fixture.payHosts)];
  const assertKnown = () => {
    const others = stage.provider.redirectHosts.filter((each) => !known.includes(each));
    const why = 'neither that of the recorded link nor in `payHosts` of the fixture';
    assert(others.length === 0, `${others.join(', ')} of the redirectHosts: ${why}`);
  };
  assertKnown();
  const [reply] = stage.vendor.received.filter(({ route }) => JSON.stringify(route?.reply ?? '').includes(host));
  if (!reply?.route) return;
  const moved = JSON.stringify(fill(reply.route.reply, stage.vendor.facts)).replaceAll(host, ELSEWHERE);
  stage.vendor.mishap = { status: reply.route.status, body: moved };
  await stage.call('start').catch(() => {});
  assertKnown();
}

const ELSEWHERE = 'pay.elsewhere.example';

export function show(value: unknown): string {
  return JSON.stringify(value, (_name, each) => (typeof each === 'bigint' ? `${each}` : each)) ?? String(value);
}
