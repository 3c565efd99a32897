// Linking a chat on the pages of alerts, for an owner and an operator, through a whole gateway.
import { expect } from 'chai';
import { send, until } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { setUpOperator, setUpOwner, type Visitor } from '../../testkit/pages.ts';
import { BOT_TOKEN, startTelegram, type TelegramServer } from '../../testkit/telegram.ts';
import { answerStatus, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const OWN = '/account/settings/alerts';
const ADMIN = '/admin/alerts';

describe('the pages of alerts with a Telegram bot', () => {
  let test: TestGateway;
  let telegram: TelegramServer;
  let upstream: TestUpstream;

  before(async () => {
    [telegram, upstream] = await Promise.all([startTelegram(), startUpstream()]);
    test = await startGateway({
      catalog: chatCatalog(upstream.url),
      env: { TELEGRAM_BOT_TOKEN: BOT_TOKEN, TELEGRAM_API: telegram.url },
      timings: { alertsEveryMs: 20 },
    });
  });
  after(async () => {
    await test?.stop();
    await Promise.all([telegram.stop(), upstream.close()]);
  });

  const textsTo = (chat: number) => telegram.sent.filter((message) => message.chat === `${chat}`);

  async function link(visitor: Visitor, path: string, chat: number): Promise<void> {
    const { text } = await visitor.submit(path, { change: 'telegram-link' });
    const [, token = ''] = /https:\/\/t\.me\/tollgate_test_bot\?start=([\w-]{43})"/.exec(text) ?? [];
    expect(text).to.contain(`data-copy>${token}</code>`);
    telegram.write(chat, `/start ${token}`, { first_name: 'Анна & Ко', username: undefined });
    await until(async () => (await visitor.get(path)).text.includes('arrive in the chat of Анна &amp; Ко'));
    await until(() => textsTo(chat).length > 0);
  }

  it('link a chat of an owner, send a test there, and unlink it', async () => {
    const { id } = await test.account();
    const owner = await setUpOwner(test, id);
    expect((await owner.get(OWN)).text).to.contain('link Telegram or set a webhook first');
    telegram.isDown = true;
    expect((await owner.submit(OWN, { change: 'telegram-link' })).text).to.contain('does not answer right now');
    telegram.isDown = false;
    await link(owner, OWN, 901);
    expect(textsTo(901)[0]?.text).to.contain('Done: alerts for');
    expect((await owner.submit(OWN, { change: 'test' })).headers.location).to.equal(`${OWN}?done=tested`);
    expect(textsTo(901)[1]?.text).to.contain('Test alert');
    const page = (await owner.get(OWN)).text;
    expect(page)
      .to.match(/<td[^>]*>(?:<[^>]*>)*Telegram/)
      .and.not.contain(BOT_TOKEN);
    expect((await owner.get('/account/settings/export')).json.user.telegram).to.deep.include({ id: '901' });
    await owner.submit(OWN, { change: 'telegram-unlink' });
    expect((await owner.get(OWN)).text).to.contain('value="telegram-link"');
    const rows = await test.store.auditLog.page({ limit: 10 });
    const actions = rows.map(({ action }) => action).filter((action) => /telegram|alerts/.test(action));
    expect(actions).to.deep.equal(['telegram.unlink', 'alerts.test', 'telegram.link']);
  });

  it('link a chat of an operator, who then gets what only operators get', async () => {
    const operator = await setUpOperator(test);
    await link(operator, ADMIN, 902);
    await operator.submit(ADMIN, { change: 'test' });
    expect(textsTo(902)[1]?.text).to.contain('alerts to operators arrive here');
    await test.store.settings.set('last_audit', JSON.stringify({ at: 1, problems: 2, drift: '-1500000' }));
    await until(() => textsTo(902).some(({ text }) => text.includes('found problems: 2; drift: \u22121.50 RUB')));
    expect((await operator.get(ADMIN)).text).to.contain('Ledger does not add up');
    const { key } = await test.account();
    const body = { model: 'model-a', messages: [{ role: 'user', content: 'Hi' }] };
    for (const [status, words] of [
      [401, 'refuses our key (keys: 1 of 1)'],
      [402, 'out of money or quota (keys: 1 of 1)'],
    ] as const) {
      upstream.behave(answerStatus(status, { error: { message: 'no' } }));
      await send(`${test.url}/api/v1/chat/completions`, { key, body });
      await until(() => textsTo(902).some(({ text }) => text.includes(words)));
    }
    expect(textsTo(901).some(({ text }) => /problems|upstream/.test(text))).to.equal(false);
  });
});
