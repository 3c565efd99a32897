// The conversation of the playground: its turns travel in the form, are sent with the next message, and stay bounded.
import { expect } from 'chai';
import { parseChatRequest } from '../../lib/api/dialects/chat/request.ts';
import {
  addTurn,
  CONVERSATION_BYTES_MAX,
  listMessages,
  NO_CONVERSATION,
  readConversation,
  type Turn,
  writeConversation,
} from '../../lib/console/playground/conversation.ts';
import { attachImages } from '../../lib/console/playground/images.ts';
import type { RequestImage } from '../../lib/media/reference.ts';
import { parseEvents, type Reply } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { expectLinear } from '../../testkit/growth.ts';
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

  it('takes time in proportion to its turns and the new answer', () => {
    expectLinear((times) => {
      const turns = Array.from({ length: times / 20 }, () => TURN);
      const turn = { ...TURN, answered: 'ж'.repeat(times * 20) };
      return () => expect(addTurn({ ...NO_CONVERSATION, turns }, turn).turns).to.have.lengthOf(0);
    });
  });

  it('sends no empty answer back', () => {
    const conversation = { turns: [{ ...TURN, answered: ' ' }, TURN], forgotten: 0, spent: '1' };
    expect(listMessages(conversation)).to.deep.equal([
      { role: 'user', content: 'Кто ты?' },
      { role: 'assistant', content: '<b>Модель</b>' },
    ]);
  });
});

describe('the images of a conversation', () => {
  it('are each attached to the turn that they came with', () => {
    const quiet = { ...TURN, answered: '', call: 'req_2', images: 1 };
    const turns = [{ ...TURN, images: 1 }, quiet, { ...TURN, call: 'req_3', images: 2 }, { ...TURN, call: 'req_4' }];
    const input = { conversation: { turns, forgotten: 0, spent: '1' }, keptCalls: ['req_3', 'req_2'] };
    const messages = [{ role: 'system', content: 'Be brief' }, ...listMessages(input.conversation)];
    const request = parseChatRequest({ model: 'm', messages: [...messages, { role: 'user', content: 'Now' }] });
    const images = ['a', 'b', 'c'].map((source): RequestImage => ({ type: 'image', field: 'image', source }));
    const attached = attachImages(request, images, input);
    const sources = attached.messages.map(({ content }) =>
      content.flatMap((part) => (part.type === 'image' && 'source' in part ? [part.source] : [])),
    );
    expect(sources).to.deep.equal([[], [], ['a', 'b'], [], [], [], ['c']]);
    expect([attached.images, attachImages(request, [], input)]).to.deep.equal([3, request]);
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
    expect(failed?.data.html).to.contain('provider failed. The delivered part is charged.');
    const unpaid = parseEvents((await post({ prompt: '[[fail]]', turns }, `${PAGE}/text`)).text).at(-1);
    expect(unpaid?.data.html).to.contain('Charge refunded.').and.not.to.contain('part is charged');
  });

  it('counts in the price before sending', async () => {
    const turns = writeConversation(addTurn(NO_CONVERSATION, { ...TURN, answered: 'word '.repeat(4000) }));
    const price = async (fields: Readonly<Record<string, string>>) => {
      const { text } = await post({ do: 'price', model: 'sandbox-heavy', prompt: 'Hi', ...fields });
      return Number(/<section id="price"[\s\S]*?<strong class="big">₽([^<]+)</.exec(text)?.[1]);
    };
    expect(await price({ turns })).to.be.above((await price({})) + 1);
  });

  it('has a system prompt, which is sent and quoted with each message, and stays in the form', async () => {
    const turns = writeConversation(addTurn(NO_CONVERSATION, TURN));
    const system = `You are <Pirate>. ${'Speak like one. '.repeat(100)}`;
    const held = ({ text }: Reply) =>
      Number(/<section id="price"[\s\S]*?<strong class="big">₽([^<]+)</.exec(text)?.[1]);
    const fields = { model: 'sandbox-heavy', prompt: 'Hi', turns };
    const [without, shown] = [await post({ ...fields, do: 'price' }), await post({ ...fields, do: 'price', system })];
    expect(held(shown)).to.be.above(held(without));
    expect(shown.text).to.contain('You are &lt;Pirate&gt;.').and.to.contain('&quot;role&quot;:&quot;system&quot;');
    const reply = await post({ ...fields, system });
    const [first, second] = (readConversation(hidden(reply)) ?? NO_CONVERSATION).turns;
    expect(second?.input).to.be.above((first?.input ?? 0) + 300);
    expect(reply.text).to.match(/<textarea id="system"[^>]*>\nYou are &lt;Pirate/);
    const file = await post({ do: 'download', turns, system: 'Be brief' });
    expect(file.text).to.match(/^## System prompt\n\nBe brief\n\n## You\n/);
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
