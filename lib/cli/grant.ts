// `tollgate grant`: gives an account money that it has not paid, lists such grants, and takes back what is left of one.
import { type Command, InvalidArgumentError } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import type { Outcome, Wallet } from '../money/decide.ts';
import { GRANTS_MAX } from '../money/grants.ts';
import { type Micro, toRub } from '../money/money.ts';
import { readPayment, readText, readTime } from './arguments.ts';
import { recordAction } from './audited-action.ts';
import { findWallet, unknownAccount, walletJson, walletText } from './money.ts';
import { type Answer, allowanceJson, formatMoney, formatTable, toTime } from './output.ts';
import { NONE } from './removed.ts';
import { ID_OR_NAME, onStore, type Session } from './session.ts';

export function addGrantCommands(program: Command): void {
  const grant = program
    .command('grant')
    .description(
      'money that is given, not paid: calls spend it first, and it never leaves as money: give, monthly, list, revoke',
    );
  grant
    .command('give')
    .description(
      'Gives money to an account. The id is unique across all accounts: repeating the command changes nothing. ' +
        'Unless --opens-wallet is given, it can be spent after the first top-up.',
    )
    .argument('<id>', 'the account')
    .argument('<rub>', 'RUB, with at most 6 decimals', readPayment)
    .requiredOption('--id <id>', 'your own id of the grant', readText)
    .requiredOption('--reason <text>', 'the reason; the owner sees it', readText)
    .option('--expires <time>', 'when what is left of it is taken back: a day in UTC, or a time', readTime)
    .option('--opens-wallet', 'it counts as the first top-up')
    .addHelpText(
      'after',
      '\nExample:\n  tollgate grant give acc_5f0c… 300 --id trial-17 --expires 2027-01-31 --reason "a trial"',
    )
    .action(onStore(give));
  grant
    .command('monthly')
    .description(
      'Gives an account an amount each month, which ends with the month in the time zone of the account. The whole ' +
        'amount is given at once; another amount counts from the next month on, "none" gives no more.',
    )
    .argument('<id>', 'the account')
    .argument('<rub>', 'RUB a month, or "none"', (text) => (text === NONE ? NONE : readPayment(text)))
    .option('--reason <text>', 'the reason; the owner sees it', readText, MONTHLY_REASON)
    .addHelpText('after', '\nExample:\n  tollgate grant monthly acc_5f0c… 500 --reason "for staff"')
    .action(onStore(setMonthly));
  grant
    .command('list')
    .description('Lists the grants of an account that are not over, in the order in which calls spend them.')
    .argument('<account>', ID_OR_NAME)
    .addHelpText('after', '\nExample:\n  tollgate grant list acc_5f0c…')
    .action(onStore(list));
  grant
    .command('revoke')
    .description('Takes back what is left of a grant. What running calls hold of it stays theirs until they end.')
    .argument('<id>', 'the account')
    .argument('<grant>', 'the id of the grant', readText)
    .requiredOption('--reason <text>', 'the reason; it stays in the ledger', readText)
    .addHelpText('after', '\nExample:\n  tollgate grant revoke acc_5f0c… trial-17 --reason "given by mistake"')
    .action(onStore(revoke));
}

/** Also what the management API does: lib/manage/verbs.ts. */
export const grantActions = { give, setMonthly, list, revoke };

const MONTHLY_REASON = 'monthly allowance';

interface GiveFlags {
  readonly id: string;
  readonly reason: string;
  readonly expires?: number;
  readonly opensWallet?: boolean;
}

async function give(session: Session, id: string, amount: Micro, flags: GiveFlags): Promise<Answer> {
  const at = Date.now();
  const { id: grantId, reason, expires = null, opensWallet } = flags;
  if (expires !== null && expires <= at) throw new InvalidArgumentError('The end of the grant has passed.');
  const { giveGrant } = await import('../accounts/grants.ts');
  const terms = { wallet: id, at, amount, grantId, reason, until: expires };
  const outcome = await giveGrant(session.store, { ...terms, ...(opensWallet && { opens: true }) });
  const wallet = await expectAccepted(id, outcome);
  const repeated = outcome.status === 'exists';
  if (!repeated) {
    const detail = { grant: grantId, rub_micro: `${amount}`, reason, until: expires, opens: opensWallet === true };
    await recordAction(session, { action: 'grant.give', target: id, account: id, detail });
  }
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
  const { giveMonthlyGrant, isMonthGiven } = await import('../accounts/allowances.ts');
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
  const { listGrants } = await import('../accounts/grants.ts');
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
  const { revokeGrant } = await import('../accounts/grants.ts');
  const outcome = await revokeGrant(session.store, { wallet: id, grantId, reason, at: Date.now() });
  const wallet = await expectAccepted(id, outcome);
  const repeated = outcome.status === 'exists';
  if (!repeated) {
    const detail = { grant: grantId, rub_micro: `${outcome.taken}`, reason };
    await recordAction(session, { action: 'grant.revoke', target: id, account: id, detail });
  }
  const line = repeated ? `Grant ${grantId} was over; nothing changed.` : `Took back ${formatMoney(outcome.taken)}.`;
  const json = { ...walletJson(wallet), grant_id: grantId, taken_rub: toRub(outcome.taken), repeated };
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
      throw new OperatorError('The account has no such grant: see "tollgate grant list".');
    case 'too_many_grants':
      throw new OperatorError(`An account has at most ${GRANTS_MAX} grants that are not over.`);
    default:
      throw new OperatorError(`The ledger refused the operation: ${status}.`);
  }
}
