// The model `smart` as customers' own clients ask for it and read how it chose, today's clients and older ones.
import { expect } from 'chai';
import { routeSmart } from '../../lib/calls/smart/route.ts';
import type { TestAccount } from '../../testkit/gateway.ts';
import { chatAnswer } from '../../testkit/upstream.ts';
import { MESSAGE_SDKS, MODEL, OPENAI_SDKS, openStage, SANDBOX_MODEL, type Stage } from './stage.ts';

const HEAVY = 'Докажите, что простых чисел бесконечно много, и напишите на Python решето Эратосфена.';
const ask = (model: string, content = HEAVY) => ({
  model,
  max_tokens: 1000,
  messages: [{ role: 'user' as const, content }],
});
const ROUTING = routeSmart({ messages: [{ role: 'user', content: [{ type: 'text', text: HEAVY }] }] });
// 9 input at 1000 and 400 output at 5000 RUB per million.
const CHARGED = 2_009_000n;

describe('clients of smart', () => {
  let stage: Stage;
  let account: TestAccount;

  before(async () => {
    stage = await openStage({}, { smart: { lite: SANDBOX_MODEL, standard: SANDBOX_MODEL, heavy: MODEL } });
    expect(ROUTING.tier).to.equal('heavy');
  });
  beforeEach(async () => {
    account = await stage.gateway.account();
    stage.upstream.behave(chatAnswer('Ответ готов.', { input: 9, output: 400 }));
  });
  afterEach(() => stage.gateway.checkMoney());
  after(() => stage.close());

  for (const sdk of OPENAI_SDKS) {
    describe(sdk.name, () => {
      it('reads a reply', async () => {
        const completion = await sdk.open(stage.gateway, account).chat.completions.create(ask('smart'));
        expect(completion.model).to.equal(MODEL);
        expect(completion.choices[0]?.message.content).to.equal('Ответ готов.');
        expect(completion).to.have.deep.property('smart_routing', ROUTING);
        expect(completion).to.have.nested.property('billing.charged_rub', 2.009);
        expect(await stage.charged(account)).to.equal(CHARGED);
      });

      it('reads a stream: the routing is on its last chunk', async () => {
        const stream = await sdk.open(stage.gateway, account).chat.completions.create({ ...ask('auto'), stream: true });
        const chunks: object[] = [];
        for await (const chunk of stream) chunks.push(chunk);
        for (const chunk of chunks) expect(chunk).to.have.property('model', MODEL);
        for (const chunk of chunks.slice(0, -1)) expect(chunk).not.to.have.property('smart_routing');
        expect(chunks.at(-1)).to.have.deep.property('smart_routing', ROUTING);
        expect(await stage.charged(account)).to.equal(CHARGED);
      });

      it('runs the stream helper', async () => {
        const stream = sdk.streamOf(sdk.open(stage.gateway, account))(ask('smart'));
        const completion = await stream.finalChatCompletion();
        expect(completion.model).to.equal(MODEL);
        expect(completion.choices[0]?.message.content).to.equal('Ответ готов.');
        expect(completion).to.have.deep.property('smart_routing', ROUTING);
        expect(await stage.charged(account)).to.equal(CHARGED);
      });

      it('finds smart among the models', async () => {
        const models: object[] = [];
        for await (const model of sdk.open(stage.gateway, account).models.list()) models.push(model);
        expect(models).to.have.length(3);
        expect(models[2]).to.deep.include({ id: 'smart', aliases: ['auto'], price_rub: null });
      });
    });
  }

  for (const sdk of MESSAGE_SDKS) {
    describe(sdk.name, () => {
      it('reads a reply', async () => {
        const message = await sdk.open(stage.gateway, account).messages.create(ask('smart'));
        expect(message.model).to.equal(MODEL);
        expect(message.content).to.deep.equal([{ type: 'text', text: 'Ответ готов.' }]);
        expect(message).to.have.deep.property('smart_routing', ROUTING);
        expect(await stage.charged(account)).to.equal(CHARGED);
      });

      it('reads a stream: the routing is in its start', async () => {
        const stream = await sdk.open(stage.gateway, account).messages.create({ ...ask('auto'), stream: true });
        const events: object[] = [];
        for await (const event of stream) events.push(event);
        expect(events[0]).to.have.nested.property('message.model', MODEL);
        expect(events[0]).to.have.deep.nested.property('message.smart_routing', ROUTING);
        expect(JSON.stringify(events.slice(1))).not.to.contain('smart_routing');
        expect(await stage.charged(account)).to.equal(CHARGED);
      });

      it('runs the stream helper', async () => {
        const message = await sdk.open(stage.gateway, account).messages.stream(ask('smart')).finalMessage();
        expect(message.model).to.equal(MODEL);
        expect(message).to.have.deep.property('smart_routing', ROUTING);
        expect(await stage.charged(account)).to.equal(CHARGED);
      });
    });
  }

  for (const sdk of OPENAI_SDKS) {
    describe(`${sdk.name}, responses`, () => {
      const body = (model: string) => ({ model, max_output_tokens: 1000, input: HEAVY });

      it('reads a reply', async () => {
        const response = await sdk.open(stage.gateway, account).responses.create(body('smart'));
        expect(response.model).to.equal(MODEL);
        expect(response.output_text).to.equal('Ответ готов.');
        expect(response).to.have.deep.property('smart_routing', ROUTING);
        expect(response).to.have.nested.property('billing.charged_rub', 2.009);
        expect(await stage.charged(account)).to.equal(CHARGED);
      });

      it('reads a stream: the routing is in each event with the whole response', async () => {
        const stream = await sdk.open(stage.gateway, account).responses.create({ ...body('auto'), stream: true });
        const events: object[] = [];
        for await (const event of stream) events.push(event);
        const whole = events.filter((event) => 'response' in event);
        expect(whole).to.have.length(3);
        for (const event of whole) {
          expect(event).to.have.nested.property('response.model', MODEL);
          expect(event).to.have.deep.nested.property('response.smart_routing', ROUTING);
        }
        expect(await stage.charged(account)).to.equal(CHARGED);
      });

      it('runs the stream helper', async () => {
        const response = await sdk.open(stage.gateway, account).responses.stream(body('smart')).finalResponse();
        expect(response.model).to.equal(MODEL);
        expect(response).to.have.deep.property('smart_routing', ROUTING);
        expect(await stage.charged(account)).to.equal(CHARGED);
      });
    });
  }

  it('sends simple work elsewhere', async () => {
    for (const sdk of OPENAI_SDKS) {
      const client = sdk.open(stage.gateway, account);
      const completion = await client.chat.completions.create(ask('smart', 'Переведи на английский: доброе утро'));
      expect(completion.model).to.equal(SANDBOX_MODEL);
      expect(completion).to.have.nested.property('smart_routing.tier', 'lite');
    }
  });
});
