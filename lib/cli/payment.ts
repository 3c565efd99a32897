// `tollgate payment`: orders and payments, and the decisions of operators about them. Refunds are sent to the provider by
// a gateway that runs on the store.
import { type Command, Option } from 'commander';
import { paymentActions } from '../manage/actions/payment.ts';
import { readCount, readId, readPayment, readText } from '../manage/arguments.ts';
import { PAYMENT_PHASES } from '../money/payment-rules.ts';
import { addCheckCommand } from './checks.ts';
import { ID_OR_NAME, onStore } from './session.ts';

const PAYMENTS_BY_DEFAULT = 50;

const ID = 'the payment: pay_…';

const RUB = 'RUB, with at most 6 decimals';
const RUB_AND_KOPECKS = 'RUB, with at most 2 decimals';

export function addPaymentCommands(program: Command): void {
  const payment = program
    .command('payment')
    .description('orders and payments: list, show, refund, decide, dispute; payment plugins: check');
  payment
    .command('list')
    .description('Lists payments, newest first.')
    .option('--account <account>', `only of ${ID_OR_NAME}`)
    .addOption(new Option('--phase <phase>', 'only in this phase').choices(PAYMENT_PHASES))
    .option('--limit <count>', 'show at most this many', readCount, PAYMENTS_BY_DEFAULT)
    .option('--before <id>', 'only payments older than this one')
    .addHelpText('after', '\nExample:\n  tollgate payment list --phase review')
    .action(onStore(paymentActions.list));
  payment
    .command('show')
    .description('Shows a payment, what its provider said about it, and its refunds.')
    .argument('<id>', ID)
    .addHelpText('after', '\nExample:\n  tollgate payment show pay_019a…')
    .action(onStore(paymentActions.show));
  payment
    .command('refund')
    .description(
      'Requests a refund from the provider: it leaves the balance at once, and is given back if the provider refuses. ' +
        'A running gateway sends the request.',
    )
    .argument('<id>', ID)
    .argument('<rub>', RUB_AND_KOPECKS, readPayment)
    .requiredOption('--reason <text>', 'the reason', readText)
    .option('--refund-id <id>', 'your own id, which makes a repeat idempotent', readId)
    .addHelpText('after', '\nExample:\n  tollgate payment refund pay_019a… 300 --reason "requested by the owner"')
    .action(onStore(paymentActions.refund));
  payment
    .command('decide')
    .description('Decides, once, on a payment that does not match its order: give --credit or --reject.')
    .argument('<id>', ID)
    .addOption(
      new Option('--credit <rub>', `credits this much: ${RUB_AND_KOPECKS}`).argParser(readPayment).conflicts('reject'),
    )
    .option('--reject', 'credits nothing; give the money back at the provider')
    .requiredOption('--reason <text>', 'the reason', readText)
    .addHelpText(
      'after',
      '\nExample:\n  tollgate payment decide pay_019a… --credit 990 --reason "the provider confirms 990 RUB"',
    )
    .action(onStore(paymentActions.decide));
  payment
    .command('dispute')
    .description("Records that a payer's bank reclaims a payment (--open), or how the dispute ended (--won, --lost).")
    .argument('<id>', ID)
    .addOption(
      new Option('--open <number>', "the bank's reference for it").argParser(readId).conflicts(['won', 'lost']),
    )
    .option('--amount <rub>', `with --open: ${RUB}; by default all that is left`, readPayment)
    .addOption(new Option('--won', 'the money stays').conflicts('lost'))
    .option('--lost', 'all of it leaves the balance, which may fall below zero')
    .option('--suspend', 'with --lost: suspends the account if the wallet has less; by default as set in the catalog')
    .option('--no-suspend', 'with --lost: does not suspend it')
    .addHelpText('after', '\nExample:\n  tollgate payment dispute pay_019a… --open CB-7741')
    .action(onStore(paymentActions.dispute));
  addCheckCommand(payment, {
    description: "Runs the contract suite on a payment plugin's folder, against its fixture, on this machine only.",
    example: 'tollgate payment check /srv/my-payments/acme',
    suite: 'payment',
  });
}
