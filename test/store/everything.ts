// A store with rows in every table. Each release leaves one behind as a fixture: see `fixtures/README.md`.
import { hashKey } from '../../lib/accounts/key.ts';
import { verifyChanges } from '../../lib/ledger/audit-changes.ts';
import { NO_LIMITS } from '../../lib/money/key-limits.ts';
import type { LinkPurpose } from '../../lib/store/ports/sessions.ts';
import type { Store } from '../../lib/store/store.ts';
import { hashPassword } from '../../lib/users/password.ts';
import { AT, applied, RUB, topup } from '../contract/store/context.ts';
import { piecesOf } from '../contract/store/media.ts';
import { newWebhook } from '../contract/store/payments.ts';
import { makeUser } from '../contract/store/people.ts';
import { fillStore } from '../ledger/filled-store.ts';
import { ATTEMPTS, LINKS } from './contents.ts';

/** An account without limits; `KEY` is its key. */
export const CALLER = 'acc_caller';
/** What cannot be read back from a store, because only its hash is there. */
export const PASSWORD = 'the password of the fixture';
export const KEY = 'tg-sk-GxSqGvwMlUxpcYDhkEDcGdZwYfAiyT91bDWjHXA0Jmb2WdSRs';

export const PICTURE = { id: 'A'.repeat(43), bytes: Buffer.from('a picture of the fixture\n') };

/** Rows do not expire before this: 1 January 2100. */
const LATE = Date.UTC(2100, 0, 1);

export async function fillEveryTable(store: Store): Promise<void> {
  await fillStore(store);
  await store.accounts.create({ id: CALLER, name: 'n', createdAt: AT });
  await applied(store, topup(CALLER, 2000n * RUB, { paymentId: 'pay_caller' }));
  const key = {
    id: 'key_fixture',
    account: CALLER,
    name: 'n',
    hash: hashKey(KEY),
    last4: KEY.slice(-4),
    createdAt: AT,
  };
  await store.keys.add({ ...key, limits: NO_LIMITS }, 100);
  await addPeople(store);
  await addAlerts(store);
  const media = { id: PICTURE.id, account: 'acc_a', kind: 'image', mediaType: 'image/png' } as const;
  await store.media.write({ ...media, createdAt: AT, expiresAt: LATE }, piecesOf(PICTURE.bytes));
  await store.payments.addWebhook(newWebhook({ id: 'ntc_done', verdict: 'done', detail: 'credited' }));
  await store.payments.addWebhook(newWebhook({ id: 'ntc_rejected', verdict: 'rejected', body: '' }));
  // Writes checkpoints.
  await verifyChanges(store);
}

async function addPeople({ users, sessions, auditLog }: Store): Promise<void> {
  const password = await hashPassword(PASSWORD);
  const owner = makeUser({ id: 'usr_owner', email: 'owner@example.com', password });
  const member = makeUser({ id: 'usr_member', email: 'member@example.com', password: null, totpSecret: null });
  const operator = makeUser({ id: 'usr_operator', email: 'operator@example.com', password, operator: true });
  const former = makeUser({ id: 'usr_former', email: 'former@example.com' });
  for (const user of [owner, member, operator, former]) await users.add(user);
  await users.join({ user: owner.id, account: 'acc_a', role: 'owner' });
  await users.join({ user: owner.id, account: 'acc_b', role: 'accountant' });
  const cap = { limit: 5n * RUB, reset: 'week', zone: 'Asia/Omsk' } as const;
  await users.join({ user: member.id, account: 'acc_a', role: 'member', cap });
  await users.remove(former, AT + 1);
  const seen = { createdAt: AT, seenAt: AT, expiresAt: LATE, idleMs: LATE, provenAt: null };
  await sessions.add({ hash: 'session_1', user: owner.id, ...seen, address: '192.0.2.1', agent: 'Mozilla/5.0' });
  await sessions.putDevice({ hash: 'device_1', user: owner.id, expiresAt: LATE });
  for (const hash of LINKS) {
    const purpose = hash.replace('link_', '') as LinkPurpose;
    await sessions.addLink({ hash, purpose, user: null, account: 'acc_a', email: 'new@example.com', expiresAt: LATE });
  }
  for (const name of ATTEMPTS) await sessions.count(name, { now: AT, since: 0, waitsMs: [0] });
  const row = { at: AT, user: operator.id, action: 'key.issue', account: 'acc_a', target: 'key_a', detail: '{}' };
  await auditLog.append({ ...row, address: '192.0.2.1' });
}

async function addAlerts({ alerts }: Store): Promise<void> {
  const webhook = { url: 'https://example.com/hook', secret: 'whsec_1' };
  await alerts.change({ account: 'acc_a', balanceBelow: 5n * RUB, budgets: true, webhook, version: 0 });
  await alerts.changeAlarm({ account: 'acc_a', subject: 'balance', state: '{"mark":null}', version: 0 });
}
