// Texts for the audit log: every action that pages record has one.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { getFormat, LANGUAGES } from '../../../lib/console/language.ts';
import { detailText } from '../../../lib/console/pages/audit-detail.ts';
import { actionText } from '../../../lib/console/pages/audit-words.ts';

const WEB = join(import.meta.dirname, '../../../lib/console');
/** Actions whose names are composed. */
const MADE = ['wallet.topup', 'wallet.adjust', 'account.suspend', 'account.resume'].concat(
  ['credit', 'reject', 'refund', 'dispute', 'dispute_won', 'dispute_lost'].map((name) => `payment.${name}`),
);

describe('an action in the audit log', () => {
  it('has a text in both languages, whichever page recorded it', () => {
    const files = readdirSync(WEB, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const recorded = files.flatMap((name) =>
      [...readFileSync(join(WEB, name), 'utf8').matchAll(/\baction: '(\w+\.\w+)'/g)].map(([, action = '']) => action),
    );
    expect(recorded).to.include.members(['key.issue', 'payment.order', 'auto_topup.on']);
    for (const action of [...MADE, ...recorded]) {
      for (const language of LANGUAGES) expect(actionText(language, action), action).not.to.match(/^\w+\.\w+$/);
      // No code and no English; names of products stay.
      expect(actionText('ru', action).replace('Telegram', '')).to.match(/^[а-яё -]+$/);
    }
  });

  it('has readable details without empty values', () => {
    const budget = { name: 'laptop', budget: '250.00', reset: 'none', expiresAt: 0, models: ['a', 'b'], more: null };
    const en = { language: 'en', format: getFormat('en', 'UTC') } as const;
    expect(detailText(en, JSON.stringify(budget))).to.equal(
      'name: laptop, budget: ₽250.00, expires: 1\u00a0Jan\u00a01970, 00:00:00, models: a, b',
    );
    const ru = { language: 'ru', format: getFormat('ru', 'UTC') } as const;
    expect(detailText(ru, '{"rub_micro":"-500000","save":false,"new":1}')).to.equal(
      'сумма: \u22120,50\u00a0₽, карта сохранена: нет, new: 1',
    );
    expect(detailText(ru, '{"name":"биллинг","scopes":["accounts"]}')).to.equal('название: биллинг, права: accounts');
    expect(detailText(ru, '{"budget":"1250.50","reset":"month","userBudget":"3","amount":"much"}')).to.equal(
      'бюджет: 1\u00a0250,50\u00a0₽, обновляется: каждый месяц, бюджет каждого пользователя: 3,00\u00a0₽, сумма: much',
    );
    expect(detailText(ru, '{"uses":100,"until":0,"days":30,"opens":false}')).to.equal(
      'применений: 100, действует до: 1\u00a0янв.\u00a01970\u00a0г., 00:00:00, срок, дней: 30, можно тратить до первого платежа: нет',
    );
    const terms = '{"markup":"1,3","percent":"7.5","rub":"82.5","from":"2026-11-20"}';
    expect(detailText(en, terms)).to.equal(
      'markup: 1.3, discount, %: 7.5, amount: ₽82.50, from: 20\u00a0Nov\u00a02026',
    );
    expect(detailText(ru, terms)).to.match(
      /^коэффициент: 1,3, скидка, %: 7,5, сумма: 82,50\s₽, действует с: 20\sнояб\.\s2026\sг\.$/,
    );
    expect(detailText(ru, '{}')).to.equal('');
  });

  it('is shown as its code without a text', () => {
    expect([actionText('ru', 'key.new'), actionText('en', 'constructor')]).to.deep.equal(['key.new', 'constructor']);
  });
});
