// Notices of payment providers on their pages: the newest first, shown without what could charge a card, and taken again.
import { expect } from 'chai';
import { newNotice } from '../../contract/store/payments.ts';
import { openPages, type Pages } from '../stage.ts';

const PATH = '/admin/notices';

describe('the pages of notices', () => {
  let pages: Pages;
  let operator: Awaited<ReturnType<Pages['operator']>>;

  before(async () => {
    pages = await openPages();
    operator = await pages.operator();
  });
  after(() => pages.close());

  const add = async (more: Parameters<typeof newNotice>[0] = {}) => {
    const notice = newNotice(more);
    await pages.faults.real.payments.addNotice(notice);
    return notice;
  };

  it('have fifty on a page, and lead to those before', async () => {
    const ids = Array.from({ length: 51 }, (_, number) => `ntc_${String(number).padStart(24, '0')}`);
    for (const id of ids) await add({ id });
    const idsIn = (text: string) => [...text.matchAll(/href="\/admin\/notices\/(ntc_\w+)"/g)].map(([, id]) => id);
    const first = await operator.get(PATH);
    expect(idsIn(first.text)).to.deep.equal(ids.slice(1).reverse());
    const [, older = ''] = /href="([^"]+)" rel="next"/.exec(first.text) ?? [];
    const second = await operator.get(older);
    expect(idsIn(second.text)).to.deep.equal([ids[0]]);
    expect(second.text).not.to.contain('rel="next"');
  });

  it('show what came, but neither card numbers nor secrets', async () => {
    const body = JSON.stringify({ event: 'payment.succeeded', card: { number: '4111111111111111', last4: '1111' } });
    const { id } = await add({ body, headers: '{"authorization":"Basic secret-words"}', address: '192.0.2.9' });
    const { text } = await operator.get(`${PATH}/${id}`);
    expect(text).to.contain('payment.succeeded').and.to.contain('192.0.2.9').and.to.contain('1111');
    expect(text).not.to.contain('4111111111111111').and.not.to.contain('secret-words');
  });

  for (const [provider, end, words] of [
    ['till', 'done', 'was taken again'],
    ['gone', 'gone', 'not switched on'],
  ] as const) {
    it(`say of a notice of ${provider} that is taken again: ${end}`, async () => {
      const { id } = await add({ provider });
      const { headers } = await operator.submit(`${PATH}/${id}`, {});
      expect(headers.location).to.equal(`${PATH}?done=${end}`);
      expect((await operator.get(`${PATH}?done=${end}`)).text).to.contain(words);
      const [deed] = await pages.faults.real.auditLog.page({ limit: 1 });
      expect([deed?.action, deed?.target, deed?.detail]).to.deep.equal(['notice.retry', id, `{"end":"${end}"}`]);
    });
  }
});
