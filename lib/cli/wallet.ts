// `tollgate wallet`: books payments and corrections, and shows what an account has.
import { type Command, Option } from 'commander';
import { walletActions } from '../manage/actions/wallet.ts';
import { formatMoney } from '../manage/answer.ts';
import { readAmount, readId, readPayment, readText } from '../manage/arguments.ts';
import { FIRST_TOPUP_MINIMUM } from '../money/decide.ts';
import { ID_OR_NAME, onStore } from './session.ts';

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
    .requiredOption('--payment-id <id>', 'the id of the payment at the bank or shop', readId)
    .addHelpText('after', '\nExample:\n  tollgate wallet topup acc_5f0c… 1000 --payment-id inv-2041')
    .action(onStore(walletActions.topup));
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
    .option('--adjust-id <id>', 'your own id of the correction, unique across all wallets', readId)
    .addHelpText('after', '\nExample:\n  tollgate wallet adjust acc_5f0c… -12.50 --reason "paid back by bank transfer"')
    .action(onStore(walletActions.adjust));
  wallet
    .command('play-money')
    .description(
      'Decides on the money of test payments in a wallet, which pays for no real model until then: converts it, so that ' +
        'it pays for everything, or writes off what is left of it. An entry of its own keeps the reason.',
    )
    .argument('<id>', 'the account')
    .addOption(new Option('--convert', 'it stays, as if it had been paid').conflicts('writeOff'))
    .option('--write-off', 'takes away what calls have not spent of it')
    .requiredOption('--reason <text>', 'the reason; it stays in the ledger', readText)
    .addHelpText('after', '\nExample:\n  tollgate wallet play-money acc_5f0c… --write-off --reason "the trial is over"')
    .action(onStore(walletActions.playMoney));
  wallet
    .command('show')
    .description('Shows what a wallet can spend, what running calls hold, and the totals.')
    .argument('<account>', ID_OR_NAME)
    .addHelpText('after', '\nExample:\n  tollgate wallet show acc_5f0c…')
    .action(onStore(walletActions.show));
}
