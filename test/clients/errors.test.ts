// Refusals and failures as the SDKs report them: the right class, status, words and ids, in plain replies and streams.
import { expect } from 'chai';
import type { TestAccount } from '../../testkit/gateway.ts';
import { answerStatus, chatAnswer, chatChunk, SSE } from '../../testkit/upstream.ts';
import { catchRejection, MESSAGE_SDKS, MODEL, OPENAI_SDKS, openStage, type Stage } from './stage.ts';

/** One client behind the calls that every SDK has, whatever its dialect. */
interface Subject {
  readonly name: string;
  /** The classes of its errors, by name. */
  readonly errors: Readonly<Record<string, unknown>>;
  readonly hasCodes: boolean;
  /** What a stream that fails is thrown as. */
  readonly StreamError: unknown;
  /** Runs one call, streaming or not; calls `onText` with each fragment. */
  ask(account: TestAccount, call: Call): Promise<unknown>;
  /** Asks for something that is not there, and what the refusal says. */
  lookUp(account: TestAccount): PromiseLike<unknown>;
  readonly missing: string;
}

interface Call {
  readonly text?: string;
  readonly model?: string;
  readonly maxTokens?: number;
  readonly stream?: boolean;
  readonly onText?: (text: string) => void;
}

let stage: Stage;

const buildParams = ({ text = 'hi', model = MODEL, maxTokens = 1000 }: Call) => ({
  model,
  max_tokens: maxTokens,
  messages: [{ role: 'user' as const, content: text }],
});

const subjects: readonly Subject[] = [
  ...MESSAGE_SDKS.map((sdk) => ({
    name: sdk.name,
    errors: sdk.Client as unknown as Record<string, unknown>,
    hasCodes: false,
    StreamError: sdk.Client.APIError,
    async ask(account: TestAccount, call: Call) {
      const { messages } = sdk.open(stage.gateway, account);
      if (!call.stream) return messages.create(buildParams(call));
      for await (const event of await messages.create({ ...buildParams(call), stream: true })) {
        if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') call.onText?.(event.delta.text);
      }
    },
    lookUp: (account: TestAccount) => sdk.open(stage.gateway, account).models.retrieve('model-none'),
    missing: 'model-none',
  })),
  ...OPENAI_SDKS.map((sdk) => ({
    name: sdk.name,
    errors: sdk.Client as unknown as Record<string, unknown>,
    hasCodes: true,
    StreamError: sdk.Client.APIError,
    async ask(account: TestAccount, call: Call) {
      const { completions } = sdk.open(stage.gateway, account).chat;
      if (!call.stream) return completions.create(buildParams(call));
      for await (const chunk of await completions.create({ ...buildParams(call), stream: true })) {
        const text = chunk.choices[0]?.delta.content;
        if (text) call.onText?.(text);
      }
    },
    lookUp: (account: TestAccount) => sdk.open(stage.gateway, account).models.retrieve('model-none'),
    missing: 'model-none',
  })),
  ...OPENAI_SDKS.map((sdk) => ({
    name: `${sdk.name}, responses`,
    errors: sdk.Client as unknown as Record<string, unknown>,
    hasCodes: true,
    StreamError: sdk.Client.APIError,
    async ask(account: TestAccount, { text = 'hi', model = MODEL, maxTokens = 1000, stream, onText }: Call) {
      const { responses } = sdk.open(stage.gateway, account);
      const body = { model, max_output_tokens: maxTokens, input: text };
      if (!stream) return responses.create(body);
      for await (const event of await responses.create({ ...body, stream: true })) {
        if (event.type === 'response.output_text.delta') onText?.(event.delta);
      }
    },
    lookUp: (account: TestAccount) => sdk.open(stage.gateway, account).responses.retrieve('resp_none'),
    missing: 'No response is stored',
  })),
];

describe('errors in clients', () => {
  before(async () => {
    stage = await openStage({ RATE_LIMIT_PER_MINUTE: '20' });
  });
  beforeEach(() => stage.upstream.behave(chatAnswer('Hello there.')));
  afterEach(() => stage.gateway.checkMoney());
  after(() => stage.close());

  for (const subject of subjects) {
    describe(subject.name, () => {
      let account: TestAccount;

      beforeEach(async () => {
        account = await stage.gateway.account();
      });

      interface Expected {
        readonly name: string;
        readonly status: number;
        readonly type: string;
        readonly code: string;
        readonly words: RegExp;
      }

      function check(error: Error & Record<string, unknown>, { name, status, type, code, words }: Expected): void {
        expect(error, error.stack ?? '').to.be.instanceOf(subject.errors[name] as ErrorConstructor);
        expect(error.status).to.equal(status);
        expect(error.message).to.match(words);
        // One keeps the whole envelope, the other only its `error`.
        const envelope = error.error as { error?: object };
        expect(envelope.error ?? envelope).to.include({ type });
        if (subject.hasCodes) expect(error).to.include({ code, type });
        const id = error.requestID ?? error.request_id;
        expect(id).to.match(/^req_/);
      }

      for (const stream of [false, true]) {
        describe(stream ? 'streaming' : 'plain', () => {
          it('401', async () => {
            check(await catchRejection(subject.ask({ ...account, key: 'tg-sk-wrong' }, { stream })), {
              name: 'AuthenticationError',
              status: 401,
              type: 'authentication_error',
              code: 'invalid_api_key',
              words: /malformed, unknown or revoked/,
            });
          });

          it('400', async () => {
            check(await catchRejection(subject.ask(account, { stream, model: 'nope' })), {
              name: 'BadRequestError',
              status: 400,
              type: 'invalid_request_error',
              code: 'invalid_request',
              words: /Unknown model `nope`/,
            });
          });

          it('402', async () => {
            const poor = await stage.gateway.account('0');
            check(await catchRejection(subject.ask(poor, { stream })), {
              name: 'APIError',
              status: 402,
              type: 'billing_error',
              code: 'insufficient_balance',
              words: /1000\.00 RUB/,
            });
          });

          it('403', async () => {
            await stage.gateway.store.accounts.setStatus(account.id, 'suspended');
            check(await catchRejection(subject.ask(account, { stream })), {
              name: 'PermissionDeniedError',
              status: 403,
              type: 'permission_error',
              code: 'account_suspended',
              words: /suspended/,
            });
          });
        });
      }

      it('404', async () => {
        const error = await catchRejection(subject.lookUp(account));
        expect(error).to.be.instanceOf(subject.errors.NotFoundError as ErrorConstructor);
        expect(error.message).to.contain(subject.missing);
      });

      it('429 with the seconds to wait', async () => {
        for (let at = 0; at < 20; at += 1) await catchRejection(subject.ask(account, { model: 'nope' }));
        const error = await catchRejection(subject.ask(account, {}));
        check(error, {
          name: 'RateLimitError',
          status: 429,
          type: 'rate_limit_error',
          code: 'rate_limit_exceeded',
          words: /20 per minute/,
        });
        const headers = error.headers as Headers | Record<string, string>;
        const seconds = headers instanceof Headers ? headers.get('retry-after') : headers['retry-after'];
        expect(Number(seconds)).to.be.within(1, 59);
      });

      it('502, refunded', async () => {
        stage.upstream.behave(answerStatus(500, { error: { message: 'secret of the upstream' } }));
        const error = await catchRejection(subject.ask(account, {}));
        check(error, {
          name: 'InternalServerError',
          status: 502,
          type: 'api_error',
          code: 'upstream_error',
          words: /The upstream provider failed\. Charge refunded\./,
        });
        expect(JSON.stringify(error) + error.message).not.to.contain('secret');
        expect(await stage.charged(account)).to.equal(0n);
      });

      it('a stream that fails before its first fragment, refunded', async () => {
        stage.upstream.behave(answerStatus(500));
        const texts: string[] = [];
        const error = await catchRejection(subject.ask(account, { stream: true, onText: (text) => texts.push(text) }));
        expect(error).to.be.instanceOf(subject.StreamError as ErrorConstructor);
        expect(error.message).to.contain('Charge refunded');
        expect(texts).to.deep.equal([]);
        expect(await stage.charged(account)).to.equal(0n);
      });

      it('a stream that fails in the middle, with its text kept and charged', async () => {
        stage.upstream.behave(async ({ response }) => {
          response.writeHead(200, SSE);
          response.write(chatChunk('x'.repeat(4000)));
          await new Promise((resolve) => setTimeout(resolve, 30));
          response.destroy();
        });
        const texts: string[] = [];
        const error = await catchRejection(subject.ask(account, { stream: true, onText: (text) => texts.push(text) }));
        expect(error).to.be.instanceOf(subject.StreamError as ErrorConstructor);
        expect(error.message).to.contain('The upstream provider').and.not.to.contain('refunded');
        if (subject.hasCodes) expect(error).to.include({ code: 'upstream_error', type: 'api_error' });
        expect(texts.join('')).to.equal('x'.repeat(4000));
        // 1000 tokens of output and 5 of input, estimated.
        expect(await stage.charged(account)).to.equal(5_005_000n);
      });
    });
  }
});
