// Wallets: books payments and corrections, and shows what an account has.

import { randomBytes } from 'node:crypto';
import { InvalidInputError, OperatorError } from '../../base/operator-error.ts';
import { bookOperation } from '../../ledger/booking.ts';
import { FIRST_TOPUP_MINIMUM, type Operation, type Outcome, type Wallet } from '../../money/decide.ts';
import { type Micro, toRub } from '../../money/money.ts';
import { type Answer, formatMoney } from '../answer.ts';
import type { Session } from '../session.ts';
import { findWallet, unknownAccount, walletJson, walletText } from './wallet-answer.ts';

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
  if (!convert && !writeOff) throw new InvalidInputError('Use --convert or --write-off.');
  const how = convert ? 'convert' : 'write_off';
  const { settlePlayMoney } = await import('../../payments/play-money.ts');
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
