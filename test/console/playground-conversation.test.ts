// The conversation of the playground: its turns travel in the form, are sent with the next message, and stay bounded.
import { expect } from 'chai';
import {
  addTurn,
  CONVERSATION_BYTES_MAX,
  listMessages,
  NO_CONVERSATION,
  readConversation,
  type Turn,
  writeConversation,
} from '../../lib/console/playground/conversation.ts';
import { parseEvents, type Reply } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { hiddenFields, setUpOwner, unescapeHtml } from '../../testkit/pages.ts';

const PAGE = '/account/playground';
const TURN: Turn = {
  asked: 'Кто ты?',
  images: 0,
  answered: '<b>Модель</b>',
  model: 'sandbox-lite',
  charged: '0.5',
  ms: 1100,
  input: 5,
  output: 30,
  call: 'req_1',
};

describe('a conversation of the playground', () => {
  it('is read as it was written, and nothing else is', () => {
    const written = writeConversation(addTurn(NO_CONVERSATION, TURN));
    expect(readConversation(written)).to.deep.equal({ turns: [TURN], forgotten: 0, spent: '0.50' });
    expect(readConversation('')).to.equal(NO_CONVERSATION);
    const foreign = [
      '{',
      '[]',
      'null',
      '{"turns":[{}],"forgotten":0,"spent":"0"}',
      written.replace('0.5', '-1'),
      written.replace('"forgotten":0', '"forgotten":"0"'),
      `${written}${' '.repeat(CONVERSATION_BYTES_MAX)}`,
    ];
    for (const field of foreign) expect(readConversation(field), field.slice(0, 60)).to.equal(undefined);
  });

  it('leaves out the oldest turns that no longer fit, but not what they cost', () => {
    let conversation = NO_CONVERSATION;
    for (let number = 1; number <= 12; number += 1)
      conversation = addTurn(conversation, { ...TURN, asked: `${number}`, answered: 'ё'.repeat(2000) });
    expect(conversation.turns.map(({ asked }) => asked)).to.deep.equal(['6', '7', '8', '9', '10', '11', '12']);
    expect([conversation.forgotten, conversation.spent]).to.deep.equal([5, '6.00']);
    expect(readConversation(writeConversation(conversation))).to.deep.equal(conversation);
    const huge = addTurn(conversation, { ...TURN, answered: 'x'.repeat(CONVERSATION_BYTES_MAX) });
    expect([huge.turns.length, huge.forgotten, huge.spent]).to.deep.equal([0, 13, '6.50']);
  });

  it('sends no empty answer back', () => {
    const conversation = { turns: [{ ...TURN, answered: ' ' }, TURN], forgotten: 0, spent: '1' };
    expect(listMessages(conversation)).to.deep.equal([
      { role: 'user', content: 'Кто ты?' },
      { role: 'assistant', content: '<b>Модель</b>' },
    ]);
  });
});

describe('a conversation on the page of the playground', function () {
  this.timeout(30_000);
  let test: TestGateway;
  let account: TestAccount;
  let owner: Awaited<ReturnType<typeof setUpOwner>>;

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on' } });
    account = await test.account();
    owner = await setUpOwner(test, account.id);
  });
  after(async () => {
    await test.checkMoney();
    await test.stop();
  });

  const hidden = ({ text }: Reply) => unescapeHtml(/name="turns" value="([^"]*)"/.exec(text)?.[1] ?? '');

  async function post(fields: Readonly<Record<string, string>>, path = PAGE): Promise<Reply> {
    const { csrf = '' } = hiddenFields((await owner.get(PAGE)).text, PAGE);
    const common = { csrf, kind: 'text', model: 'sandbox-lite', max_tokens: '300', key: account.keyId };
    return owner.post(path, { ...common, do: 'send', ...fields });
  }

  it('goes on without a script: earlier turns are shown, sent and paid', async () => {
    const first = await post({ prompt: 'My name is <i>Ira</i>' });
    expect(first.text).to.contain('id="conversation" hidden').and.to.contain('You wrote: “My name is');
    const second = await post({ prompt: 'Second', turns: hidden(first) });
    expect(second.text)
      .to.contain('My name is &lt;i&gt;Ira&lt;/i&gt;')
      .and.to.match(/<dt>Conversation<\/dt><dd>₽1\.00/);
    const { turns = [], spent } = readConversation(hidden(second)) ?? {};
    expect([turns.map(({ asked }) => asked), spent]).to.deep.equal([['My name is <i>Ira</i>', 'Second'], '1.00']);
    expect(turns[1]?.input).to.be.above((turns[0]?.input ?? 0) + (turns[0]?.output ?? 0));
    const charges = await test.store.ledger.charges(account.id, { limit: 2 });
    expect(turns.map(({ call }) => call)).to.have.members(charges.map(({ id }) => id));
  });

  it('is sent with a streamed message too, whose last event carries it on', async () => {
    const turns = writeConversation(addTurn(NO_CONVERSATION, TURN));
    const { data } = parseEvents((await post({ prompt: 'More', turns }, `${PAGE}/text`)).text).at(-1) ?? {};
    const next = readConversation(data.turns);
    expect(next?.turns.map(({ asked }) => asked)).to.deep.equal(['Кто ты?', 'More']);
    expect(next?.turns[1]?.answered).to.contain('You wrote: “More”');
    const failed = parseEvents((await post({ prompt: '[[fail-mid]]', turns }, `${PAGE}/text`)).text).at(-1);
    expect(failed?.data).not.to.have.property('turns');
  });

  it('counts in the price before sending', async () => {
    const turns = writeConversation(addTurn(NO_CONVERSATION, { ...TURN, answered: 'word '.repeat(4000) }));
    const price = async (fields: Readonly<Record<string, string>>) => {
      const { text } = await post({ do: 'price', model: 'sandbox-heavy', prompt: 'Hi', ...fields });
      return Number(/<section id="price"[\s\S]*?<strong class="big">₽([^<]+)</.exec(text)?.[1]);
    };
    expect(await price({ turns })).to.be.above((await price({})) + 1);
  });

  it('is downloaded as a text, and refused when it cannot be read', async () => {
    const turns = writeConversation(addTurn(NO_CONVERSATION, TURN));
    const file = await post({ do: 'download', turns });
    expect(file.headers['content-disposition']).to.equal('attachment; filename="conversation.md"');
    expect(file.text).to.equal('## You\n\nКто ты?\n\n## sandbox-lite\n\n<b>Модель</b>\n');
    expect((await post({ do: 'download' })).status).to.equal(400);
    const before = await test.wallet(account);
    for (const action of ['send', 'download']) {
      const refused = await post({ do: action, prompt: 'Hi', turns: '{"turns":1}' });
      expect([refused.status, refused.text.includes('Start a new one')]).to.deep.equal([400, true]);
    }
    expect((await test.wallet(account)).seq).to.equal(before.seq);
  });
});
