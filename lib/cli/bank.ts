// `tollgate bank`: imports bank statements, so that payments of invoices are credited.
import { readFile, stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import { type Answer, formatTable } from '../manage/answer.ts';
import { recordAction } from '../manage/audited-action.ts';
import type { Session } from '../manage/session.ts';
import { formatRub, KOPECK, toRub } from '../money/money.ts';
import type { StatedPayment } from '../payments/papers/bank-statement.ts';
import type { Invoice } from '../payments/papers/invoices.ts';
import { onStore } from './session.ts';

export function addBankCommands(program: Command): void {
  const bank = program.command('bank').description('bank statements that pay invoices: import');
  bank
    .command('import')
    .description(
      'Reads a statement in the exchange format of 1C (1CClientBankExchange) and says which invoice each payment pays. ' +
        'With --book, payments are kept, and those whose invoice number, sum and tax number agree are credited, each ' +
        'once however often it is imported; the others are decided on the page /admin/papers/bank.',
    )
    .argument('<file>', 'the statement')
    .option('--book', 'keep the payments and credit those that are certain; without it nothing changes')
    .addHelpText('after', '\nExample:\n  tollgate bank import statement.txt --book')
    .action(onStore(importFile));
}

interface Row {
  readonly payment: StatedPayment;
  readonly result: string;
  readonly invoice: Invoice | undefined;
}

async function importFile(session: Session, file: string, { book = false }: { book?: boolean }): Promise<Answer> {
  const incoming = await readIncoming(session, file);
  const rows = book ? await bookAll(session, file, incoming) : await previewAll(session, incoming);
  const cells = rows.map(({ payment, result, invoice }) => [
    payment.date,
    payment.number,
    formatRub(payment.kopecks * KOPECK),
    payment.payerInn,
    invoice ? String(invoice.number) : '',
    result,
  ]);
  const note = book
    ? 'Decide on the others on /admin/papers/bank.'
    : 'Nothing was changed: repeat the command with --book to credit those that are certain.';
  return {
    json: { booked: book, payments: rows.map(toJson) },
    text: `${formatTable(['date', 'number', 'RUB', 'INN', 'invoice', 'result'], cells)}\n${note}`,
  };
}

function toJson({ payment, result, invoice }: Row) {
  const { date, number, kopecks, payerInn, payerName, purpose } = payment;
  return {
    ...{ date, number, amount_rub: toRub(kopecks * KOPECK), payer_inn: payerInn, payer_name: payerName, purpose },
    ...{ invoice_number: invoice?.number ?? null, account_id: invoice?.account ?? null, result },
  };
}

async function readIncoming({ store }: Session, file: string): Promise<readonly StatedPayment[]> {
  const { parseBankStatement, StatementError, STATEMENT_BYTES_MAX } = await import(
    '../payments/papers/bank-statement.ts'
  );
  const { readSeller } = await import('../payments/papers/details.ts');
  const { listIncoming } = await import('../payments/papers/bank-payments.ts');
  const seller = await readSeller(store);
  if (!seller) throw new OperatorError('Enter the details of the seller on /admin/papers first.');
  const unreadable = (error: Error): never => {
    throw new OperatorError(`The statement cannot be read: ${error.message}.`);
  };
  const { size } = await stat(file).catch(unreadable);
  try {
    if (size > STATEMENT_BYTES_MAX) throw new StatementError('too_large');
    const stated = parseBankStatement(await readFile(file).catch(unreadable));
    const incoming = listIncoming(stated, seller.account);
    if (incoming.length > 0) return incoming;
  } catch (error) {
    if (error instanceof StatementError) throw new OperatorError(error.message);
    throw error;
  }
  throw new OperatorError(`The statement has no payments to the account ${seller.account}.`);
}

async function previewAll(session: Session, incoming: readonly StatedPayment[]): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const payment of incoming) rows.push(await previewOne(session, payment));
  return rows;
}

async function previewOne({ store }: Session, payment: StatedPayment): Promise<Row> {
  const { matchBankPayment } = await import('../payments/papers/matching.ts');
  const { findBankPayment, makeBankPaymentId } = await import('../payments/papers/bank-payments.ts');
  const known = await findBankPayment(store, makeBankPaymentId(payment));
  // As it is kept, which is what is credited.
  const match = await matchBankPayment(store, known?.isReceived ? known : payment);
  const found = match.status === 'certain' ? 'certain' : match.reason;
  return { payment, result: known && known.state !== 'open' ? known.state : found, invoice: match.invoice };
}

async function bookAll(session: Session, file: string, incoming: readonly StatedPayment[]): Promise<readonly Row[]> {
  const { store } = session;
  const { keepBankPayments, makeBankPaymentId } = await import('../payments/papers/bank-payments.ts');
  const { creditCertainPayment } = await import('../payments/papers/crediting.ts');
  const before = await previewAll(session, incoming);
  const { added, known } = await keepBankPayments(store, incoming, Date.now());
  const target = file.split('/').at(-1) ?? file;
  await recordAction(session, { action: 'bank.import', target, detail: { added, known } });
  const rows: Row[] = [];
  for (const row of before) {
    const { payment } = row;
    const result = await creditCertainPayment(store, makeBankPaymentId(payment), {
      at: Date.now(),
      record: async ({ id, account, kopecks }, invoice) => {
        const detail = { rub_micro: `${kopecks * KOPECK}`, ...(invoice && { number: invoice.number }) };
        await recordAction(session, {
          action: 'bank.credit',
          target: id,
          detail,
          ...(account !== null && { account }),
        });
      },
    });
    const status = result.status === 'refused' ? `refused: ${result.refusal}` : result.status;
    const isUndecided = result.status === 'unsure' || result.status === 'stale' || result.status === 'known';
    // Looked up once more: a payment above may have paid its invoice, or somebody else credited it.
    rows.push(isUndecided ? await previewOne(session, payment) : { ...row, result: status });
  }
  return rows;
}
