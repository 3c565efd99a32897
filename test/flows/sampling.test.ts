// Sampling parameters: models that the catalog marks get them, under their vendor's names, and wrong ones are refused;
// other models get none, whatever a client sends.
import { expect } from 'chai';
import { CHAT, DIALECTS, MESSAGES, RESPONSES, send } from '../../testkit/client.ts';
import { FORMATS, type Json, type RequestStage, startRequestStage, user } from './request-stage.ts';

const WISH = {
  temperature: 1.5,
  top_p: 0.9,
  top_k: 40,
  seed: -7,
  presence_penalty: -2,
  frequency_penalty: 0.5,
};
const NAMES = [
  ...['temperature', 'top_p', 'top_k', 'seed', 'presence_penalty', 'frequency_penalty'],
  ...['topP', 'topK', 'presencePenalty', 'frequencyPenalty'],
];
const TOLD: Readonly<Record<(typeof FORMATS)[number], object>> = {
  chat: WISH,
  // Its temperatures end at 1, and it refuses a top_p beside one.
  message: { temperature: 1, top_k: 40 },
  // It refuses penalties.
  contents: { temperature: 1.5, topP: 0.9, topK: 40, seed: -7 },
  responses: { temperature: 1.5, top_p: 0.9 },
};
const WRONG: Readonly<Record<string, { readonly values: readonly unknown[]; readonly hint: string }>> = {
  temperature: { values: [-0.1, 2.1, '1', true, [], {}], hint: 'a number from 0 to 2' },
  top_p: { values: [-0.1, 1.1, '0.5'], hint: 'a number from 0 to 1' },
  top_k: { values: [-2, 1.5, '40'], hint: 'a whole number, 0 or above' },
  seed: { values: [1.5, 'x', 1e300], hint: 'a whole number' },
  presence_penalty: { values: [-2.1, 2.1, '0'], hint: 'a number from -2 to 2' },
  frequency_penalty: { values: [-3, 3, false], hint: 'a number from -2 to 2' },
};

describe('sampling parameters', () => {
  let stage: RequestStage;

  before(async () => {
    stage = await startRequestStage();
  });
  after(() => stage.stop());

  const ask = (path: string, model: string, more: object) =>
    stage.ask(path, path === RESPONSES ? { model, input: 'x', ...more } : { model, messages: [user()], ...more });

  function pickTold(body: Json): object {
    const at = body.generationConfig ?? body;
    return Object.fromEntries(NAMES.filter((name) => at[name] !== undefined).map((name) => [name, at[name]]));
  }

  for (const format of FORMATS) {
    for (const path of DIALECTS) {
      it(`reach a model that is marked: ${format} from ${path}`, async () => {
        expect(pickTold(await ask(path, `${format}-sampling`, WISH))).to.deep.equal(TOLD[format]);
        expect(pickTold(await ask(path, `${format}-sampling`, {}))).to.deep.equal({});
        const nulls = Object.fromEntries(Object.keys(WISH).map((name) => [name, null]));
        expect(pickTold(await ask(path, `${format}-sampling`, nulls))).to.deep.equal({});
      });
    }

    it(`reach no other model, whatever their values: ${format}`, async () => {
      for (const more of [WISH, { temperature: 'hot', top_p: [], top_k: {}, seed: 'x', presence_penalty: 9 }]) {
        expect(pickTold(await ask(CHAT, format, more))).to.deep.equal({});
      }
    });
  }

  it('reach a model one by one', async () => {
    for (const [field, value] of Object.entries(WISH)) {
      expect(pickTold(await ask(CHAT, 'chat-sampling', { [field]: value }))).to.deep.equal({ [field]: value });
    }
  });

  it('are absent where -1 says so', async () => {
    for (const path of DIALECTS) {
      const unset = { top_p: -1, top_k: -1 };
      expect(pickTold(await ask(path, 'chat-sampling', { temperature: 1, ...unset }))).to.deep.equal({
        temperature: 1,
      });
    }
  });

  it('of long bodies reach the model', async () => {
    const messages = [user('long '.repeat(60_000))];
    expect(pickTold(await ask(CHAT, 'chat-sampling', { ...WISH, messages }))).to.deep.equal(TOLD.chat);
  });

  it('may be at their bounds', async () => {
    const bounds = [
      { temperature: 0, top_p: 0, top_k: 0, seed: 0, presence_penalty: -2, frequency_penalty: -2 },
      { temperature: 2, top_p: 1, top_k: 1, seed: 1, presence_penalty: 2, frequency_penalty: 2 },
    ];
    for (const wish of bounds) expect(pickTold(await ask(CHAT, 'chat-sampling', wish))).to.deep.equal(wish);
  });

  it('are left out where a vendor of the messages format refuses them', async () => {
    expect(pickTold(await ask(CHAT, 'message-sampling', { top_p: 0.5 }))).to.deep.equal({ top_p: 0.5 });
    const thinking = { type: 'enabled', budget_tokens: 2000 };
    expect(pickTold(await ask(MESSAGES, 'message-sampling', { ...WISH, thinking }))).to.deep.equal({});
    const off = { thinking: { type: 'disabled' } };
    expect(pickTold(await ask(MESSAGES, 'message-sampling', { ...WISH, ...off }))).to.deep.equal(TOLD.message);
  });

  for (const [field, { values, hint }] of Object.entries(WRONG)) {
    it(`are refused with a wrong ${field}, and nothing is charged`, async () => {
      const { gateway, account, upstream } = stage;
      const { avail } = await gateway.wallet(account);
      const calls = upstream.calls.length;
      for (const path of DIALECTS) {
        for (const value of values) {
          const body = {
            model: 'chat-sampling',
            [field]: value,
            [path === RESPONSES ? 'input' : 'messages']: [user()],
          };
          const { status, json } = await send(gateway.url + path, { key: account.key, body });
          expect(status, JSON.stringify(value)).to.equal(400);
          expect(json.error.message).to.equal(`Invalid \`${field}\`: must be ${hint}.`);
        }
      }
      expect(upstream.calls.length).to.equal(calls);
      expect((await gateway.wallet(account)).avail).to.equal(avail);
    });
  }
});
