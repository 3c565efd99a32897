// How the latest alerts were delivered, as owners and operators read it.
import { expect } from 'chai';
import type { Arrival, Delivery } from '../../lib/alerts/delivery.ts';
import { alertResults } from '../../lib/console/alert-results.ts';
import { getFormat, LANGUAGES } from '../../lib/console/language.ts';
import type { Visit } from '../../lib/console/visit.ts';

const AT = Date.UTC(2026, 10, 26, 9, 30);

function look(language: (typeof LANGUAGES)[number], arrivals: Readonly<Record<string, Arrival>>): string | undefined {
  const event = { id: 'alr_1', account: 'acc_1', type: 'test', at: AT, data: {} } as const;
  const delivery: Delivery = { event, arrivals, tries: 1, dueAt: null };
  const visit = { language, format: getFormat(language, 'UTC') } as Visit;
  const cells = [...(alertResults(visit, [delivery])?.text ?? '').matchAll(/<td[^>]*>([^<]*)<\/td>/g)];
  return cells
    .map(([, cell]) => cell)
    .slice(-2)
    .join(' ');
}

describe('the latest alerts', () => {
  it('are not there if there were none', () => {
    expect(alertResults({ language: 'en' } as Visit, [])).to.equal(undefined);
  });

  it('name where each went, and why one did not arrive', () => {
    const rows: readonly (readonly [string, Arrival, string, string])[] = [
      ['mail:usr_1', { state: 'sent' }, 'email delivered', 'почта доставлено'],
      ['telegram:usr_1', { state: 'sent', why: 'unreachable' }, 'Telegram delivered', 'Telegram доставлено'],
      ['webhook', { state: 'due' }, 'webhook will be retried', 'вебхук будет повторено'],
      [
        'webhook',
        { state: 'due', why: 'unreachable' },
        'webhook will be retried: no answer',
        'вебхук будет повторено: нет ответа',
      ],
      [
        'webhook',
        { state: 'failed', why: 'status 500' },
        'webhook not delivered: HTTP status 500',
        'вебхук не доставлено: статус HTTP 500',
      ],
      ['webhook', { state: 'failed', why: 'odd' }, 'webhook not delivered: odd', 'вебхук не доставлено: odd'],
    ];
    for (const [name, arrival, english, russian] of rows)
      expect(LANGUAGES.map((language) => look(language, { [name]: arrival }))).to.deep.equal(
        LANGUAGES.map((language) => (language === 'en' ? english : russian)),
      );
    expect(look('en', {})).to.equal('nobody ');
    expect(look('ru', {})).to.equal('никому ');
  });
});
