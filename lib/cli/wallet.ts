// `tollgate wallet`: books payments and corrections, and shows what an account has.
import { randomBytes } from 'node:crypto';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import { bookOperation } from '../ledger/booking.ts';
import { FIRST_TOPUP_MINIMUM, type Operation, type Outcome, type Wallet } from '../money/decide.ts';
import { type Micro, toRub } from '../money/money.ts';
import { readAmount, readPayment, readText } from './arguments.ts';
import { findWallet, unknownAccount, walletJson, walletText } from './money.ts';
import { type Answer, formatMoney } from './output.ts';
import { ID_OR_NAME, onStore, type Session } from './session.ts';

const RUB = 'RUB, with at most 6 decimals';

export function addWalletCommands(program: Command): void {
  const wallet = program
    .command('wallet')
    .description('the prepaid wallet of an account: topup, adjust, play-money, show');
  wallet
    .command('topup')
    .description(
      'Books a payment. The payment id is unique across all wallets: repeating the command changes nothing. ' +
        `The first payment of a wallet is at least ${formatMoney(FIRST_TOPUP_MINIMUM)}.`,
    )
    .argument('<id>', 'the account')
    .argument('<rub>', RUB, readPayment)
    .requiredOption('--payment-id <id>', 'the id of the payment at the bank or shop', readText)
    .addHelpText('after', '\nExample:\n  tollgate wallet topup acc_5f0c… 1000 --payment-id inv-2041')
    .action(onStore(topup));
  wallet
    .command('adjust')
    .description(
      'Corrects a balance, up or down, with an entry of its own; never takes it below zero. ' +
        'A correction is not a payment: a wallet still needs its first top-up. Repeating the command books it again, ' +
        'unless --adjust-id says that it is the same one.',
    )
    .argument('<id>', 'the account')
    .argument('<rub>', `${RUB}; may be negative`, readAmount)
    .requiredOption('--reason <text>', 'the reason; it stays in the ledger', readText)
    .option('--adjust-id <id>', 'your own id of the correction, unique across all wallets', readText)
    .addHelpText('after', '\nExample:\n  tollgate wallet adjust acc_5f0c… -12.50 --reason "paid back by bank transfer"')
    .action(onStore(adjust));
  wallet
    .command('play-money')
    .description(
      'Decides on the money of test payments in a wallet, which pays for no real model until then: converts it, so that ' +
        'it pays for everything, or writes off what is left of it. An entry of its own keeps the reason.',
    )
    .argument('<id>', 'the account')
    .addOption(new Option('--convert', 'it stays, as if it had been paid').conflicts('writeOff'))
    .option('--write-off', 'what calls have left of it is taken away')
    .requiredOption('--reason <text>', 'the reason; it stays in the ledger', readText)
    .addHelpText('after', '\nExample:\n  tollgate wallet play-money acc_5f0c… --write-off --reason "the trial is over"')
    .action(onStore(playMoney));
  wallet
    .command('show')
    .description('Shows what a wallet can spend, what running calls hold, and the totals.')
    .argument('<account>', ID_OR_NAME)
    .addHelpText('after', '\nExample:\n  tollgate wallet show acc_5f0c…')
    .action(onStore(show));
}

/** Also what the management API does: lib/manage/verbs.ts. */
export const walletActions = { topup, adjust, playMoney, show };

async function topup({ store }: Session, id: string, amount: Micro, options: { paymentId: string }): Promise<Answer> {
  const op: Operation = { kind: 'topup', wallet: id, at: Date.now(), amount, paymentId: options.paymentId };
  const outcome = await bookOperation(store, op);
  const wallet = await expectAccepted(op, outcome);
  const repeated = outcome.status === 'exists';
  const line = repeated
    ? `Payment ${options.paymentId} was already booked; nothing changed.`
    : `Booked ${formatMoney(amount)}.`;
  return { json: { ...walletJson(wallet), repeated }, text: `${line}\n${walletText(wallet)}` };
}

interface AdjustFlags {
  readonly reason: string;
  readonly adjustId?: string;
}

async function adjust({ store }: Session, id: string, amount: Micro, flags: AdjustFlags): Promise<Answer> {
  const { reason, adjustId = `adj_${randomBytes(12).toString('hex')}` } = flags;
  const op: Operation = { kind: 'adjust', wallet: id, at: Date.now(), amount, reason, adjustId };
  const outcome = await bookOperation(store, op);
  const wallet = await expectAccepted(op, outcome);
  const repeated = outcome.status === 'exists';
  const line = repeated
    ? `Correction ${adjustId} was already booked; nothing changed.`
    : `Adjusted by ${formatMoney(amount)}.`;
  return { json: { ...walletJson(wallet), adjust_id: adjustId, repeated }, text: `${line}\n${walletText(wallet)}` };
}

interface PlayOptions {
  readonly convert?: boolean;
  readonly writeOff?: boolean;
  readonly reason: string;
}

async function playMoney({ store }: Session, id: string, options: PlayOptions): Promise<Answer> {
  const { convert, writeOff, reason } = options;
  if (!convert && !writeOff) throw new InvalidArgumentError('Use --convert or --write-off.');
  const how = convert ? 'convert' : 'write_off';
  const { settlePlayMoney } = await import('../payments/play-money.ts');
  const { status, amount, wallet } = await settlePlayMoney(store, id, { how, reason, at: Date.now() });
  if (!wallet) throw await unknownAccount(id);
  if (status === 'none') throw new OperatorError('The wallet holds no play money, or it has been decided on before.');
  if (status === 'running')
    throw new OperatorError(
      'Calls of the wallet are running, and what they return would not be play money any more: wait for them, or suspend the account first.',
    );
  if (status === 'stale') throw new OperatorError('The wallet changed at this very moment: try again.');
  const line = convert ? 'Converted: it pays for everything now.' : `Wrote off ${formatMoney(amount)}.`;
  return { json: { ...walletJson(wallet), written_off_rub: toRub(amount) }, text: `${line}\n${walletText(wallet)}` };
}

async function show(session: Session, account: string): Promise<Answer> {
  const wallet = await findWallet(session, account);
  return { json: walletJson(wallet), text: walletText(wallet) };
}

/** Returns the wallet after the operation; throws if it was refused. */
async function expectAccepted(op: Operation, { status, wallet }: Outcome): Promise<Wallet> {
  if (!wallet) throw await unknownAccount(op.wallet);
  if (status === 'done' || status === 'exists') return wallet;
  switch (status) {
    case 'first_topup_too_small':
      throw new OperatorError(`The first top-up of a wallet is at least ${formatMoney(FIRST_TOPUP_MINIMUM)}.`);
    case 'id_taken':
      throw new OperatorError(
        `This ${op.kind === 'adjust' ? 'correction' : 'payment'} id was booked with another amount or for another account.`,
      );
    case 'insufficient':
      throw new OperatorError(`The balance is ${formatMoney(wallet.avail)}: this would take it below zero.`);
    default:
      throw new OperatorError(`The ledger refused the operation: ${status}.`);
  }
}
