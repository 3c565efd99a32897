// The words of the page for bank statements.
import type { OutcomeStatus } from '../../money/decide.ts';
import type { StatementProblem } from '../../payments/papers/bank-statement.ts';
import type { MatchReason } from '../../payments/papers/matching.ts';
import { defineWords } from '../language.ts';

type Problem = (at: { readonly line: string; readonly field: string }) => string;

interface BankWords {
  readonly title: string;
  readonly off: string;
  readonly upload: string;
  readonly file: string;
  readonly fileHint: string;
  readonly importButton: string;
  readonly noFile: string;
  readonly problems: Readonly<Record<StatementProblem, Problem>>;
  readonly imported: (added: string, known: string) => string;
  readonly nothing: string;
  readonly certain: string;
  readonly certainHint: string;
  readonly creditAll: (sum: string) => string;
  readonly unsure: string;
  readonly unsureHint: string;
  readonly none: string;
  readonly payment: (number: string, date: string) => string;
  readonly columns: {
    readonly payment: string;
    readonly payer: string;
    readonly invoice: string;
    readonly account: string;
    readonly amount: string;
    readonly purpose: string;
    readonly reason: string;
  };
  readonly inn: (inn: string) => string;
  readonly begun: string;
  readonly reasons: Readonly<Record<MatchReason, string>>;
  readonly target: string;
  readonly targetHint: string;
  readonly credit: string;
  readonly dismiss: string;
  readonly credited: string;
  readonly dismissed: string;
  readonly reopen: string;
  readonly more: string;
  readonly done: {
    readonly credited: (count: string) => string;
    readonly dismissed: string;
    readonly reopened: string;
  };
  readonly left: (count: string) => string;
  readonly refusals: {
    readonly stale: string;
    readonly unsure: string;
    readonly unknown_target: string;
    readonly refused: (reason: string) => string;
    /** The ledger's statuses that a credit can end with. */
    readonly ledger: Readonly<Partial<Record<OutcomeStatus, string>>>;
  };
}

export const BANK_WORDS = defineWords<BankWords>({
  en: {
    title: 'Bank statements',
    off: 'Enter the seller details first: only payments to the seller’s account are imported.',
    upload: 'Import a statement',
    file: 'Statement in the 1C exchange format',
    fileHint: 'A text file (1CClientBankExchange), at most 4 MB. Nothing is credited yet.',
    importButton: 'Import',
    noFile: 'Choose a file.',
    problems: {
      too_large: () => 'The file is larger than 4 MB.',
      not_statement: () => 'This is not a statement in the 1C exchange format.',
      encoding: () => 'The encoding is unknown: the file has no line “Кодировка=Windows”, “DOS” or “UTF-8”.',
      cut_off: () => 'The file is cut off: it does not end with “КонецФайла”. Export it again.',
      unfinished_document: ({ line }) => `The document that begins on line ${line} does not end.`,
      field: ({ line, field }) => `The document that begins on line ${line} has no valid “${field}”.`,
      too_many: () => 'The file has more than 5,000 documents. Export a shorter period.',
    },
    imported: (added, known) => `Imported: new payments ${added}, known ones ${known}.`,
    nothing: 'The statement has no payments to the seller’s account.',
    certain: 'Ready to be credited',
    certainHint: 'The number of the invoice, the sum and the payer’s tax number match.',
    creditAll: (sum) => `Credit ${sum}`,
    unsure: 'To be decided',
    unsureHint: 'These payments are credited only to the invoice or customer that you choose.',
    none: 'None.',
    payment: (number, date) => `No. ${number} of ${date}`,
    columns: {
      payment: 'Payment order',
      payer: 'Payer',
      invoice: 'Invoice',
      account: 'Customer',
      amount: 'Amount',
      purpose: 'Purpose',
      reason: 'Why it was not credited',
    },
    inn: (inn) => `ИНН ${inn}`,
    begun: 'crediting was interrupted; it will be finished',
    reasons: {
      no_number: 'the purpose names no invoice',
      several_numbers: 'the purpose names several invoices',
      unknown_number: 'there is no invoice with this number',
      other_inn: 'the payer’s tax number is not that of the invoice',
      other_sum: 'the sum is not that of the invoice',
      paid_already: 'the invoice has already been paid',
      paid_twice: 'an earlier payment above pays the same invoice',
      canceled: 'the invoice was canceled',
      first_too_small: 'the first payment of an account must be at least ₽1,000',
      not_received: 'the statement has no date of receipt (ДатаПоступило)',
      contradiction: 'the file contradicts itself: a field is there twice, or its payments exceed its total',
    },
    target: 'Invoice number or account ID',
    targetHint: 'The whole sum of the payment is credited.',
    credit: 'Credit',
    dismiss: 'Set aside: not from a customer',
    credited: 'Latest credited payments',
    dismissed: 'Latest payments set aside',
    reopen: 'Decide again',
    more: 'Earlier payments',
    done: {
      credited: (count) => `Credited payments: ${count}.`,
      dismissed: 'The payment was set aside.',
      reopened: 'The payment is waiting for a decision again.',
    },
    left: (count) => `Not credited, see below: ${count}.`,
    refusals: {
      stale: 'Somebody else has just decided on this payment.',
      unsure: 'The payment no longer matches its invoice.',
      unknown_target: 'There is no such customer or unpaid invoice.',
      refused: (reason) => `The payment was not credited: ${reason}.`,
      ledger: {
        first_topup_too_small: 'the first payment of an account must be at least ₽1,000',
        id_taken: 'a payment with the same ID but another sum or account has already been credited',
        no_wallet: 'the account has no wallet',
      },
    },
  },
  ru: {
    title: 'Банковские выписки',
    off: 'Сначала укажите реквизиты исполнителя: загружаются только поступления на его расчётный счёт.',
    upload: 'Загрузить выписку',
    file: 'Выписка в формате обмена с 1С',
    fileHint: 'Текстовый файл (1CClientBankExchange), не больше 4\u00a0МБ. При загрузке ничего не зачисляется.',
    importButton: 'Загрузить',
    noFile: 'Выберите файл.',
    problems: {
      too_large: () => 'Файл больше 4\u00a0МБ.',
      not_statement: () => 'Это не выписка в формате обмена с 1С.',
      encoding: () => 'Неизвестная кодировка: в файле нет строки «Кодировка=Windows», «DOS» или «UTF-8».',
      cut_off: () => 'Файл обрезан: в конце нет строки «КонецФайла». Выгрузите его ещё раз.',
      unfinished_document: ({ line }) => `Документ, который начинается в строке ${line}, не закончен.`,
      field: ({ line, field }) =>
        `В документе, который начинается в строке ${line}, поле «${field}» пропущено или заполнено неверно.`,
      too_many: () => 'В файле больше 5000 документов. Выгрузите выписку за меньший период.',
    },
    imported: (added, known) => `Загружено: новых платежей ${added}, уже известных ${known}.`,
    nothing: 'В выписке нет поступлений на расчётный счёт исполнителя.',
    certain: 'Можно зачислить',
    certainHint: 'Номер счёта, сумма и ИНН плательщика совпали.',
    creditAll: (sum) => `Зачислить ${sum}`,
    unsure: 'Требуют решения',
    unsureHint: 'Эти платежи зачисляются только туда, куда вы укажете.',
    none: 'Нет.',
    payment: (number, date) => `№\u00a0${number} от ${date}`,
    columns: {
      payment: 'Платёжное поручение',
      payer: 'Плательщик',
      invoice: 'Счёт',
      account: 'Клиент',
      amount: 'Сумма',
      purpose: 'Назначение платежа',
      reason: 'Почему не зачислен',
    },
    inn: (inn) => `ИНН ${inn}`,
    begun: 'зачисление прервалось и будет завершено',
    reasons: {
      no_number: 'в назначении платежа нет номера счёта',
      several_numbers: 'в назначении платежа несколько номеров счетов',
      unknown_number: 'счёта с таким номером нет',
      other_inn: 'ИНН плательщика не совпадает со счётом',
      other_sum: 'сумма не совпадает со счётом',
      paid_already: 'счёт уже оплачен',
      paid_twice: 'этот счёт уже оплачивает более ранний платёж, он выше в списке',
      canceled: 'счёт отменён',
      first_too_small: 'первый платёж аккаунта — не меньше 1\u00a0000\u00a0₽',
      not_received: 'в выписке не указана дата поступления (ДатаПоступило)',
      contradiction: 'файл противоречит сам себе: поле указано дважды или поступлений больше, чем в его итоге',
    },
    target: 'Номер счёта или ID аккаунта',
    targetHint: 'Зачисляется вся сумма платежа.',
    credit: 'Зачислить',
    dismiss: 'Отложить: не от клиента',
    credited: 'Последние зачисленные платежи',
    dismissed: 'Последние отложенные платежи',
    reopen: 'Вернуть на рассмотрение',
    more: 'Более ранние платежи',
    done: {
      credited: (count) => `Зачислено платежей: ${count}.`,
      dismissed: 'Платёж отложен.',
      reopened: 'Платёж снова ждёт решения.',
    },
    left: (count) => `Не зачислено, см. ниже: ${count}.`,
    refusals: {
      stale: 'По этому платежу только что принял решение кто-то другой.',
      unsure: 'Платёж больше не совпадает со счётом.',
      unknown_target: 'Нет такого клиента или такого неоплаченного счёта.',
      refused: (reason) => `Платёж не зачислен: ${reason}.`,
      ledger: {
        first_topup_too_small: 'первый платёж аккаунта — не меньше 1\u00a0000\u00a0₽',
        id_taken: 'платёж с тем же номером, но с другой суммой или для другого аккаунта уже зачислен',
        no_wallet: 'у аккаунта нет кошелька',
      },
    },
  },
});
