// The audit log page: newest first, with links.
import { expect } from 'chai';
import { newId } from '../../contract/store/context.ts';
import { openPages, type Pages } from '../stage.ts';

const PATH = '/admin/audit';

describe('the audit log', () => {
  let pages: Pages;
  let operator: Awaited<ReturnType<Pages['operator']>>;

  before(async () => {
    pages = await openPages();
    operator = await pages.operator();
  });
  after(() => pages.close());

  it('shows a hundred entries per page, newest first, with a link to older ones', async () => {
    const user = (await pages.faults.real.users.find(operator.email))?.id ?? '';
    const { auditLog } = pages.faults.real;
    for (let number = 1; number <= 101; number += 1) {
      const deed = { at: number * 1000, user, action: 'user.invite', account: null, address: '' };
      await auditLog.append({ ...deed, target: `number-${number}`, detail: '{}' });
    }
    const numbersIn = (text: string) => [...text.matchAll(/>number-(\d+)</g)].map(([, number]) => Number(number));
    const first = await operator.get(PATH);
    expect(numbersIn(first.text)).to.deep.equal(Array.from({ length: 100 }, (_, at) => 101 - at));
    expect(first.text).to.contain(operator.email);
    const [, older = ''] = /href="([^"]+)" rel="next"/.exec(first.text) ?? [];
    const second = await operator.get(older);
    expect(numbersIn(second.text)).to.deep.equal([1]);
    expect(second.text).not.to.contain('rel="next"');
    expect(numbersIn((await operator.get(`${PATH}?before=x`)).text)).to.have.length(100);
  });

  it('links to accounts, payments and webhooks, and shortens other ids', async () => {
    const [account, payment, notice, key] = (['acc', 'pay', 'ntc', 'key'] as const).map(newId) as [string, ...string[]];
    for (const target of [account, payment, notice, key]) {
      const deed = { at: Date.now(), user: 'usr_gone', action: 'test', account, target: target ?? '' };
      await pages.faults.real.auditLog.append({ ...deed, detail: '{}', address: '192.0.2.7' });
    }
    const { text } = await operator.get(PATH);
    for (const path of [`accounts/${account}`, `payments/${payment}`, `notices/${notice}`]) {
      expect(text).to.contain(`<a href="/admin/${path}">`);
    }
    expect(text).to.contain(`<code title="${key}">key_…${key?.slice(-8)}</code>`);
    expect(text).to.contain('usr_gone').and.to.contain('192.0.2.7');
  });

  it('names accounts', async () => {
    const { account } = await pages.owner();
    const deed = { at: Date.now(), user: 'usr_gone', action: 'test', account, target: 'key_1', address: '' };
    await pages.faults.real.auditLog.append({ ...deed, detail: '{}' });
    const name = (await pages.faults.real.accounts.get(account))?.name;
    expect((await operator.get(PATH)).text).to.contain(
      `<a href="/admin/accounts/${account}" title="${account}">${name}</a>`,
    );
  });

  it('says in both languages what the limits of a key are', async () => {
    const detail = JSON.stringify({ reset: 'week', zone: 'Europe/Moscow', userReset: 'day' });
    const deed = { at: Date.now(), user: 'usr_gone', action: 'key.issue', account: null, address: '' };
    await pages.faults.real.auditLog.append({ ...deed, target: 'key', detail });
    expect((await operator.get(PATH)).text).to.contain(
      'resets: every week, time zone: Europe/Moscow, their budgets reset: every day',
    );
    expect((await operator.get(`${PATH}?lang=ru`)).text).to.contain(
      'обновляется: каждую неделю, часовой пояс: Europe/Moscow, обновление бюджетов пользователей: каждый день',
    );
  });
});
