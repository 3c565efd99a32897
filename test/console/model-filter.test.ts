// The filter by model of lists of calls.
import { expect } from 'chai';
import { ask, CHAT, send } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { setUpOperator, setUpOwner, type Visitor } from '../../testkit/pages.ts';
import { chatAnswer, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

describe('the filter by model', () => {
  let upstream: TestUpstream;
  let test: TestGateway;
  let owner: Visitor;
  let operator: Visitor;

  before(async () => {
    upstream = await startUpstream(chatAnswer('Hello', { input: 10, output: 20 }));
    const catalog = chatCatalog(upstream.url) as { readonly models: readonly { readonly id: string }[] };
    const models = catalog.models.map((model) => (model.id === 'model-a' ? { ...model, aliases: ['sonnet'] } : model));
    test = await startGateway({ catalog: { ...catalog, models } });
    const account = await test.account();
    owner = await setUpOwner(test, account.id);
    operator = await setUpOperator(test);
    await send(test.url + CHAT, { key: account.key, body: ask('hi', { model: 'sonnet' }) });
  });
  after(async () => {
    await test.stop();
    await upstream.close();
  });

  it('suggests the models on sale by ids and aliases, and no other', async () => {
    const [calls, usage, all] = await Promise.all([
      ...['/account/calls', '/account/usage'].map((path) => owner.get(path)),
      operator.get('/admin/calls'),
    ]);
    for (const { text } of [calls, usage, all] as { text: string }[]) {
      expect(text).to.contain('<input id="model" name="model" type="text" autocomplete="off" list="models">');
      const list = /<datalist id="models">(.*?)<\/datalist>/s.exec(text)?.[1];
      expect(list).to.equal('<option value="model-a"><option value="model-a">sonnet</option>');
    }
  });

  it('leads from an alias to its model, with the other filters', async () => {
    const { text } = await owner.get('/account/calls?model=sonnet&kind=text&lang=en');
    expect(text).to.contain('No calls match.').and.to.contain('sonnet is another name of model-a.');
    const there = /<a href="([^"]+)">Show its calls</.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(there).to.equal('/account/calls?model=model-a&kind=text');
    expect((await owner.get(there)).text)
      .to.contain('<td')
      .and.not.to.contain('is another name of');
    const russian = (await owner.get('/account/usage?model=sonnet&lang=ru')).text;
    expect(russian).to.contain('sonnet — другое название модели model-a.');
    const everywhere = (await operator.get('/admin/calls?model=sonnet&lang=en')).text;
    expect(everywhere).to.contain('<a href="/admin/calls?model=model-a">Show its calls</a>');
  });
});
