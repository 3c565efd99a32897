// Grants: gives an account money that it has not paid, lists such grants, and takes back what is left of one.
import { InvalidInputError, OperatorError, UnknownError } from '../../base/operator-error.ts';
import type { Outcome, Wallet } from '../../money/decide.ts';
import { GRANTS_MAX, isReservedGrantId } from '../../money/grants.ts';
import { type Micro, toRub } from '../../money/money.ts';
import { type Answer, allowanceJson, formatMoney, formatTable, toTime } from '../answer.ts';
import { recordAction, recordFirst } from '../audited-action.ts';
import { NONE } from '../removed.ts';
import type { Session } from '../session.ts';
import { findWallet, unknownAccount, walletJson, walletText } from './wallet-answer.ts';

export const grantActions = { give, setMonthly, list, revoke };

export const MONTHLY_REASON = 'monthly allowance';

/** In a path, these are steps: every client takes them out, even encoded. */
const STEPS: ReadonlySet<string> = new Set(['.', '..']);

interface GiveFlags {
  readonly id: string;
  readonly reason: string;
  readonly expires?: number;
  readonly opensWallet?: boolean;
}

async function give(session: Session, id: string, amount: Micro, flags: GiveFlags): Promise<Answer> {
  const at = Date.now();
  const { id: grantId, reason, expires = null, opensWallet } = flags;
  if (isReservedGrantId(grantId))
    throw new InvalidInputError(
      'Ids that begin with "promo:" or "monthly:" are those of grants that the service gives itself.',
    );
  if (STEPS.has(grantId)) throw new InvalidInputError('An id of dots alone is lost on the way to the management API.');
  if (expires !== null && expires <= at) throw new InvalidInputError('The end of the grant has passed.');
  const { giveGrant } = await import('../../accounts/grants.ts');
  const terms = { wallet: id, at, amount, grantId, reason, until: expires };
  const outcome = await giveGrant(session.store, { ...terms, ...(opensWallet && { opens: true }) });
  const wallet = await expectAccepted(id, outcome);
  const repeated = outcome.status === 'exists';
  const detail = { grant: grantId, rub_micro: `${amount}`, reason, until: expires, opens: opensWallet === true };
  await recordFirst(session, { repeated, action: 'grant.give', target: id, account: id, detail });
  const line = repeated ? `Grant ${grantId} was already given; nothing changed.` : `Gave ${formatMoney(amount)}.`;
  return { json: { ...walletJson(wallet), grant_id: grantId, repeated }, text: `${line}\n${walletText(wallet)}` };
}

async function setMonthly(
  session: Session,
  id: string,
  amount: Micro | typeof NONE,
  { reason = MONTHLY_REASON }: { reason?: string },
): Promise<Answer> {
  const { store } = session;
  const allowance = amount === NONE ? undefined : { amount, reason };
  if (!(await store.accounts.setAllowance(id, allowance))) throw await unknownAccount(id);
  const detail = { rub_micro: allowance ? `${allowance.amount}` : NONE, reason: allowance?.reason };
  await recordAction(session, { action: 'grant.monthly', target: id, account: id, detail });
  if (!allowance) {
    const text = 'No more grants are given each month; the one of this month stays.';
    return { json: { account_id: id, monthly_grant: null, grant_id: null, repeated: false }, text };
  }
  const { giveMonthlyGrant, isMonthGiven } = await import('../../accounts/allowances.ts');
  const { status, grantId, until } = await giveMonthlyGrant(store, id, allowance, Date.now());
  if (!isMonthGiven(status)) await expectAccepted(id, { status, wallet: await store.ledger.wallet(id) });
  const repeated = status !== 'done';
  const given = repeated
    ? 'This month was given before'
    : `Gave ${formatMoney(allowance.amount)} until ${toTime(until)}`;
  return {
    json: { account_id: id, monthly_grant: allowanceJson(allowance), grant_id: grantId, repeated },
    text: `${given}; from the next month on the account gets ${formatMoney(allowance.amount)} each month.`,
  };
}

async function list(session: Session, account: string): Promise<Answer> {
  const wallet = await findWallet(session, account);
  const { listGrants } = await import('../../accounts/grants.ts');
  const grants = await listGrants(session.store, wallet);
  const rows = grants.map(({ id, amount, left, until, at, reason }) => [
    id,
    formatMoney(amount),
    formatMoney(left),
    toTime(at),
    until === null ? 'never' : toTime(until),
    reason,
  ]);
  return {
    json: {
      account_id: wallet.id,
      grants: grants.map(({ id, amount, left, until, at, reason }) => ({
        grant_id: id,
        amount_rub: toRub(amount),
        left_rub: toRub(left),
        given_at: toTime(at),
        expires_at: until === null ? null : toTime(until),
        reason,
      })),
    },
    text: rows.length === 0 ? 'No grants.' : formatTable(['grant', 'given', 'left', 'at', 'expires', 'reason'], rows),
  };
}

async function revoke(session: Session, id: string, grantId: string, { reason }: { reason: string }): Promise<Answer> {
  const { revokeGrant } = await import('../../accounts/grants.ts');
  const outcome = await revokeGrant(session.store, { wallet: id, grantId, reason, at: Date.now() });
  const wallet = await expectAccepted(id, outcome);
  const repeated = outcome.status === 'exists';
  const detail = { grant: grantId, rub_micro: `${outcome.taken}`, reason };
  await recordFirst(session, { repeated, action: 'grant.revoke', target: id, account: id, detail });
  const line = repeated ? `Grant ${grantId} was over; nothing changed.` : `Took back ${formatMoney(outcome.taken)}.`;
  const json = { ...walletJson(wallet), grant_id: grantId, taken_rub: repeated ? 0 : toRub(outcome.taken), repeated };
  return { json, text: `${line}\n${walletText(wallet)}` };
}

/** Returns the wallet after the operation; throws if it was refused. */
async function expectAccepted(id: string, { status, wallet }: Outcome): Promise<Wallet> {
  if (!wallet) throw await unknownAccount(id);
  if (status === 'done' || status === 'exists') return wallet;
  switch (status) {
    case 'id_taken':
      throw new OperatorError('This id was used for a grant of another amount, end or account.');
    case 'no_grant':
      throw new UnknownError('The account has no such grant: see "tollgate grant list".');
    case 'too_many_grants':
      throw new OperatorError(`An account has at most ${GRANTS_MAX} grants that are not over.`);
    default:
      throw new OperatorError(`The ledger refused the operation: ${status}.`);
  }
}
