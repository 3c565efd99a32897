// Names of ledger entries.
import type { Entry } from '../../money/decide.ts';
import { defineWords, type Language } from '../language.ts';

const WORDS = defineWords<Readonly<Record<Entry['kind'], string>>>({
  en: {
    topup: 'payment',
    adjust: 'correction by the operator',
    reserve: 'hold',
    charge: 'charge',
    settle: 'charge from the hold',
    release: 'hold returned',
    expire: 'hold returned after a failure on our side',
    refund: 'refund',
    pay: 'payment',
    payback: 'payment refunded',
    dispute: 'payment taken back by the bank',
    suspend: 'account suspended',
    resume: 'suspension of the account lifted',
    grant: 'bonus',
    grant_end: 'bonus ended, the remainder taken back',
  },
  ru: {
    topup: 'платёж',
    adjust: 'корректировка оператора',
    reserve: 'резерв',
    charge: 'оплата запроса',
    settle: 'оплата запроса из резерва',
    release: 'возврат резерва',
    expire: 'возврат резерва после нашего сбоя',
    refund: 'возврат',
    pay: 'платёж',
    payback: 'возврат платежа',
    dispute: 'платёж отозван банком',
    suspend: 'аккаунт приостановлен',
    resume: 'приостановка аккаунта снята',
    grant: 'бонус',
    grant_end: 'бонус закончился, остаток списан',
  },
});

export function entryWords(language: Language): Readonly<Record<Entry['kind'], string>> {
  return WORDS[language];
}
