// Payment webhooks on operator pages: newest first, without secrets, and processed again on request.
import { expect } from 'chai';
import { hiddenFields } from '../../../testkit/pages.ts';
import { newWebhook } from '../../contract/store/payments.ts';
import { openPages, type Pages } from '../stage.ts';

const PATH = '/admin/notices';

describe('the pages of payment webhooks', () => {
  let pages: Pages;
  let operator: Awaited<ReturnType<Pages['operator']>>;

  before(async () => {
    pages = await openPages();
    operator = await pages.operator();
  });
  after(() => pages.close());

  const add = async (more: Parameters<typeof newWebhook>[0] = {}) => {
    const webhook = newWebhook(more);
    await pages.faults.real.payments.addWebhook(webhook);
    return webhook;
  };

  it('show fifty per page, with a link to older ones', async () => {
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

  it('show a webhook as received, without card numbers and secrets', async () => {
    const body = JSON.stringify({ event: 'payment.succeeded', card: { number: '4111111111111111', last4: '1111' } });
    const { id } = await add({ body, headers: '{"authorization":"Basic secret-words"}', address: '192.0.2.9' });
    const { text } = await operator.get(`${PATH}/${id}`);
    expect(text).to.contain('payment.succeeded').and.to.contain('192.0.2.9').and.to.contain('1111');
    expect(text).not.to.contain('4111111111111111').and.not.to.contain('secret-words');
  });

  it('show the stored beginning of a webhook without effect, and do not process it again', async () => {
    const { id } = await add({ headers: '', body: '{"id":"cut', verdict: 'rejected' });
    const { text } = await operator.get(`${PATH}/${id}`);
    expect(text).to.contain('{&quot;id&quot;:&quot;cut').and.to.contain('only its beginning is kept');
    expect(text).not.to.contain('Process again').and.not.to.contain('<h2>Headers');
    const whole = await add({ verdict: 'rejected', headers: '{"old":"one"}' });
    const path = `${PATH}/${whole.id}`;
    const shown = await operator.get(path);
    expect(shown.text).to.contain('Process again').and.to.contain('old');
    expect((await operator.post(`${PATH}/${id}`, hiddenFields(shown.text, path))).status).to.equal(404);
  });

  it('list only webhooks about own payments on request', async () => {
    const vain = await add({ verdict: 'foreign' });
    const ours = await add({ verdict: 'failed' });
    const all = await operator.get(PATH);
    expect(all.text).to.contain(vain.id).and.to.contain(ours.id).and.to.contain(`href="${PATH}?only=ours"`);
    const alone = await operator.get(`${PATH}?only=ours`);
    expect(alone.text).to.contain(ours.id).and.not.to.contain(vain.id);
    expect(alone.text).to.contain(`href="${PATH}?only=ours&amp;before=ntc_`);
  });

  for (const [provider, end, words] of [
    ['till', 'done', 'was processed again'],
    ['gone', 'gone', 'not configured'],
  ] as const) {
    it(`report ${end} for a webhook of ${provider} that is processed again`, async () => {
      const { id } = await add({ provider });
      const { headers } = await operator.submit(`${PATH}/${id}`, {});
      expect(headers.location).to.equal(`${PATH}?done=${end}`);
      expect((await operator.get(`${PATH}?done=${end}`)).text).to.contain(words);
      const [deed] = await pages.faults.real.auditLog.page({ limit: 1 });
      expect([deed?.action, deed?.target, deed?.detail]).to.deep.equal(['notice.retry', id, `{"end":"${end}"}`]);
    });
  }
});
