// Holds for services of the operator that run elsewhere: sets money aside, and charges or returns it.
import { InvalidInputError, OperatorError, UnknownError } from '../../base/operator-error.ts';
import { listKeyCaps, readCallBudget } from '../../ledger/key-caps.ts';
import {
  createServiceHolds,
  SERVICE_HOLD_ID,
  type ServiceHold,
  type ServiceHoldRequest,
} from '../../ledger/service-holds.ts';
import type { Usage } from '../../money/decide.ts';
import { isExpired } from '../../money/key-limits.ts';
import { type Micro, toRub } from '../../money/money.ts';
import type { KeyHolder } from '../../store/ports/keys.ts';
import { type Answer, formatMoney, formatPairs, toTime } from '../answer.ts';
import type { Session } from '../session.ts';

export const holdActions = { create, show, renew, settle, release };

interface CreateOptions {
  readonly reason: string;
  readonly lease: number;
  readonly key?: string | undefined;
  readonly user?: string | undefined;
}

async function create(session: Session, wallet: string, amount: Micro, options: CreateOptions): Promise<Answer> {
  const { reason, lease, user } = options;
  if (user !== undefined && options.key === undefined)
    throw new InvalidInputError('A user needs a key, whose end user it is.');
  const key = options.key === undefined ? undefined : await findKey(session, wallet, options.key);
  const operation = session.caller?.operation;
  const held = await open(session).hold({
    id: operation && `${SERVICE_HOLD_ID}${operation}`,
    wallet,
    key: key?.id ?? session.caller?.id ?? 'command line',
    reason,
    amount,
    leaseMs: lease * 1000,
    ...(key && readTerms(key, user)),
  });
  return describe(held, held.repeated ? 'It had been held before; nothing changed.' : `Held ${formatMoney(amount)}.`);
}

/** What the budget of the key and the caps of its holder and its end user allow. */
function readTerms(key: KeyHolder, endUser = ''): Pick<ServiceHoldRequest, 'budget' | 'caps'> {
  const caps = listKeyCaps(key, endUser);
  return { ...readCallBudget(key), ...(caps.length > 0 && { caps }) };
}

/** Throws unless the key could pay for a call now. */
async function findKey({ store }: Session, account: string, id: string): Promise<KeyHolder> {
  const row = await store.keys.get(id);
  // With the member who owns it, whose cap counts.
  const key = row && (await store.keys.find(row.hash));
  if (key?.account !== account) throw new UnknownError(`The account has no key ${JSON.stringify(id.slice(0, 60))}.`);
  if (key.revokedAt !== null || isExpired(key.limits, Date.now()))
    throw new OperatorError(`The key ${id} is revoked or expired.`);
  if (key.member?.status === 'suspended') throw new OperatorError(`The user who owns the key ${id} is suspended.`);
  return key;
}

async function show(session: Session, id: string): Promise<Answer> {
  return describe(await open(session).get(id));
}

async function renew(session: Session, id: string, { lease }: { readonly lease: number }): Promise<Answer> {
  return describe(await open(session).renew(id, lease * 1000), 'Renewed.');
}

async function settle(
  session: Session,
  id: string,
  amount: Micro,
  { usage = {} }: { readonly usage?: Usage | undefined },
): Promise<Answer> {
  const held = await open(session).settle(id, amount, usage);
  return describe(
    held,
    held.repeated ? 'It had been settled before; nothing changed.' : `Charged ${formatMoney(amount)}.`,
  );
}

async function release(session: Session, id: string): Promise<Answer> {
  const held = await open(session).release(id);
  return describe(held, held.repeated ? 'It had been released before; nothing changed.' : 'Released.');
}

function open({ store, caller }: Session) {
  return createServiceHolds({ store, isReal: caller?.isReal ?? true });
}

function describe({ charge, wallet, repeated }: ServiceHold, line?: string): Answer {
  const { id, state, model: reason, key } = charge;
  const held = state === 'held' ? charge.reserved : 0n;
  const until = toTime(charge.lease);
  const text = formatPairs([
    ['hold', id],
    ['account', charge.wallet],
    ['key id', key],
    ['reason', reason],
    ['state', state],
    ['held', formatMoney(held)],
    ['charged', formatMoney(charge.charged)],
    ['until', until ?? '-'],
    ['balance', formatMoney(wallet.avail)],
  ]);
  const json = {
    hold_id: id,
    account_id: charge.wallet,
    key_id: key,
    reason,
    state,
    held_rub: toRub(held),
    charged_rub: toRub(charge.charged),
    balance_rub: toRub(wallet.avail),
    lease_until: until,
    repeated,
  };
  return { json, text: line === undefined ? text : `${line}\n${text}` };
}
