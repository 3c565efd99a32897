// Loops of agents as customers run them: the official clients call tools ten times in a row, streaming and not, and pay
// exactly for what they used.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import {
  defaultSettingsMiddleware,
  generateText,
  type LanguageModel,
  stepCountIs,
  streamText,
  tool,
  wrapProvider,
} from 'ai';
import { expect } from 'chai';
import OpenAI from 'openai';
import { z } from 'zod';
import type { TestAccount } from '../../testkit/gateway.ts';
import { catchRejection, openStage, SANDBOX_MODEL, type Stage } from './stage.ts';

const STEPS = 10;
const TASK = `Go up, and say where you are. [[tool:climb*${STEPS} {"floors":2,"words":"up, up"}]]`;
const SCHEMA = {
  type: 'object',
  properties: { floors: { type: 'number' }, words: { type: 'string' } },
  required: ['floors', 'words'],
} as const;

/** A tool that remembers how often it was called. */
function climber() {
  let floor = 0;
  return {
    get floor() {
      return floor;
    },
    climb({ floors, words }: { floors: number; words: string }): string {
      expect(words).to.equal('up, up');
      floor += floors;
      return `floor ${floor}`;
    },
  };
}

const INPUT_PRICE = 1000n;
const OUTPUT_PRICE = 5000n;
const MINIMUM = 500_000n;

/** In micro-roubles: each call by its usage, and at least the minimum. */
function computeCost(usages: readonly { readonly input: number; readonly output: number }[]): bigint {
  return usages.reduce((sum, { input, output }) => {
    const cost = BigInt(input) * INPUT_PRICE + BigInt(output) * OUTPUT_PRICE;
    return sum + (cost > MINIMUM ? cost : MINIMUM);
  }, 0n);
}

describe('agent loops', () => {
  let stage: Stage;
  let account: TestAccount;

  before(async () => {
    stage = await openStage();
  });
  beforeEach(async () => {
    account = await stage.gateway.account();
  });
  afterEach(() => stage.gateway.checkMoney());
  after(() => stage.close());

  const base = () => `${stage.gateway.url}/api`;

  for (const stream of [false, true]) {
    const how = stream ? 'streaming' : 'not streaming';

    it(`end with runTools of openai, ${how}`, async () => {
      const client = new OpenAI({ baseURL: `${base()}/v1`, apiKey: account.key, maxRetries: 0 });
      const state = climber();
      const usages: { input: number; output: number }[] = [];
      const take = (usage: OpenAI.CompletionUsage) =>
        usages.push({ input: usage.prompt_tokens, output: usage.completion_tokens });
      const body = {
        model: SANDBOX_MODEL,
        max_tokens: 500,
        messages: [{ role: 'user' as const, content: TASK }],
        tools: [
          {
            type: 'function' as const,
            function: {
              name: 'climb',
              description: 'Goes up.',
              parameters: SCHEMA as unknown as Record<string, unknown>,
              parse: JSON.parse,
              function: state.climb,
            },
          },
        ],
      };
      const options = { maxChatCompletions: STEPS + 2 };
      const onReply = ({ usage }: OpenAI.ChatCompletion) => void (usage && take(usage));
      const content = await (stream
        ? client.chat.completions.runTools({ ...body, stream: true }, options).on('chatCompletion', onReply)
        : client.chat.completions.runTools({ ...body, stream: false }, options).on('chatCompletion', onReply)
      ).finalContent();
      expect(content).to.contain('The tool climb said: “floor 20”.');
      expect(state.floor).to.equal(2 * STEPS);
      expect(usages).to.have.length(STEPS + 1);
      expect(await stage.charged(account)).to.equal(computeCost(usages));
    });

    it(`end with the tool runner of @anthropic-ai/sdk, ${how}`, async () => {
      const client = new Anthropic({ baseURL: base(), apiKey: account.key, authToken: null, maxRetries: 0 });
      const state = climber();
      const usages: { input: number; output: number }[] = [];
      const body = {
        model: SANDBOX_MODEL,
        max_tokens: 500,
        messages: [{ role: 'user' as const, content: TASK }],
        tools: [betaTool({ name: 'climb', description: 'Goes up.', inputSchema: SCHEMA, run: state.climb })],
      };
      let last = '';
      const take = (message: Anthropic.Beta.BetaMessage) => {
        usages.push({ input: message.usage.input_tokens, output: message.usage.output_tokens });
        last = message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
        return message.stop_reason;
      };
      const reasons: unknown[] = [];
      if (stream) {
        for await (const turn of client.beta.messages.toolRunner({ ...body, stream: true })) {
          reasons.push(take(await turn.finalMessage()));
        }
      } else for await (const message of client.beta.messages.toolRunner(body)) reasons.push(take(message));
      expect(reasons).to.deep.equal([...Array(STEPS).fill('tool_use'), 'end_turn']);
      expect(last).to.contain('The tool climb said: “floor 20”.');
      expect(state.floor).to.equal(2 * STEPS);
      expect(await stage.charged(account)).to.equal(computeCost(usages));
    });

    const models: Readonly<Record<string, () => LanguageModel>> = {
      '@ai-sdk/openai-compatible': () =>
        createOpenAICompatible({ name: 'gate', baseURL: `${base()}/v1`, apiKey: account.key, includeUsage: true })(
          SANDBOX_MODEL,
        ),
      '@ai-sdk/anthropic': () => createAnthropic({ baseURL: `${base()}/v1`, apiKey: account.key })(SANDBOX_MODEL),
      // As docs/clients.md says it.
      '@ai-sdk/openai': () =>
        wrapProvider({
          provider: createOpenAI({ baseURL: `${base()}/v1`, apiKey: account.key }),
          languageModelMiddleware: defaultSettingsMiddleware({
            settings: { providerOptions: { openai: { store: false } } },
          }),
        }).languageModel(SANDBOX_MODEL),
    };

    for (const [name, open] of Object.entries(models)) {
      it(`end with ai over ${name}, ${how}`, async () => {
        const state = climber();
        const input = z.object({ floors: z.number(), words: z.string() });
        const run = {
          model: open(),
          prompt: TASK,
          maxRetries: 0,
          maxOutputTokens: 500,
          stopWhen: stepCountIs(STEPS + 2),
          tools: {
            climb: tool({ description: 'Goes up.', inputSchema: input, execute: async (given) => state.climb(given) }),
          },
        };
        // This client of messages reports the event of the bill, which it does not know, and goes on.
        const onError = ({ error }: { error: unknown }) => {
          expect(error).to.have.nested.property('value.charged_rub');
        };
        const ended = stream ? streamText({ ...run, onError }) : await generateText(run);
        const steps = await ended.steps;
        expect(await ended.text).to.contain('floor 20');
        expect(steps.map(({ finishReason }) => finishReason)).to.deep.equal([
          ...Array(STEPS).fill('tool-calls'),
          'stop',
        ]);
        expect(state.floor).to.equal(2 * STEPS);
        const usages = steps.map(({ usage }) => ({ input: usage.inputTokens ?? 0, output: usage.outputTokens ?? 0 }));
        expect(await stage.charged(account)).to.equal(computeCost(usages));
      });
    }
  }

  it('need `store: false` with @ai-sdk/openai, which else refers to stored texts, and are told so', async () => {
    const state = climber();
    const run = {
      model: createOpenAI({ baseURL: `${base()}/v1`, apiKey: account.key })(SANDBOX_MODEL),
      prompt: `${TASK} [[words:3]]`,
      maxRetries: 0,
      stopWhen: stepCountIs(STEPS + 2),
      tools: {
        climb: tool({
          inputSchema: z.object({ floors: z.number(), words: z.string() }),
          execute: async (given) => state.climb(given),
        }),
      },
    };
    const refused = await catchRejection(generateText(run));
    expect(refused.statusCode).to.equal(400);
    expect(refused.message).to.equal(
      'Invalid `input[1].type`: refers to a stored item, but nothing is stored here; send the item itself, as clients do ' +
        'with `store: false` (in the AI SDK: `providerOptions: { openai: { store: false } }`).',
    );
    expect(state.floor).to.equal(2);
    await generateText({ ...run, providerOptions: { openai: { store: false } } });
    expect(state.floor).to.equal(2 + 2 * STEPS);
  });

  it('need no option of @ai-sdk/openai for one step', async () => {
    const model = createOpenAI({ baseURL: `${base()}/v1`, apiKey: account.key })(SANDBOX_MODEL);
    const { text } = await generateText({ model, prompt: '[[words:3]]', maxRetries: 0 });
    expect(text.trim().split(' ')).to.have.length(3);
  });

  it('continue without a thread where a client would keep one', async () => {
    const client = new Anthropic({ baseURL: base(), apiKey: account.key, authToken: null, maxRetries: 0 });
    const threaded = { model: SANDBOX_MODEL, max_tokens: 50, messages: [{ role: 'user' as const, content: 'hi' }] };
    const refused = await client
      .post('/v1/messages', { body: { ...threaded, thread: { type: 'create' } } })
      .then(() => undefined)
      .catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(Anthropic.BadRequestError);
    expect(refused).to.have.nested.property('error.error.details.error_code', 'thread_unsupported_request');
    expect(await stage.charged(account)).to.equal(0n);
  });
});
