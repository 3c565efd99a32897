// What the SDKs send again by themselves: a refusal that a retry may help, and never one that it cannot; one charge.
import { expect } from 'chai';
import type { TestAccount } from '../../testkit/gateway.ts';
import { answerStatus, type Behaviour, chatAnswer } from '../../testkit/upstream.ts';
import { catchRejection, countingFetch, MESSAGE_SDKS, MODEL, OPENAI_SDKS, openStage, type Stage } from './stage.ts';

type Fetch = ReturnType<typeof countingFetch>['fetch'];

interface Subject {
  readonly name: string;
  /** One call that does not stream, sent again up to twice. */
  ask(account: TestAccount, options: { readonly fetch: Fetch; readonly model?: string }): Promise<unknown>;
}

let stage: Stage;

const buildParams = (model = MODEL) => ({
  model,
  max_tokens: 1000,
  messages: [{ role: 'user' as const, content: 'hi' }],
});

const subjects: readonly Subject[] = [
  ...MESSAGE_SDKS.map((sdk) => ({
    name: sdk.name,
    ask: async (account: TestAccount, { fetch, model }: { fetch: Fetch; model?: string }) =>
      sdk.open(stage.gateway, account, { fetch: fetch as never, maxRetries: 2 }).messages.create(buildParams(model)),
  })),
  ...OPENAI_SDKS.map((sdk) => ({
    name: sdk.name,
    ask: async (account: TestAccount, { fetch, model }: { fetch: Fetch; model?: string }) =>
      sdk
        .open(stage.gateway, account, { fetch: fetch as never, maxRetries: 2 })
        .chat.completions.create(buildParams(model)),
  })),
  ...OPENAI_SDKS.map((sdk) => ({
    name: `${sdk.name}, responses`,
    ask: async (account: TestAccount, { fetch, model = MODEL }: { fetch: Fetch; model?: string }) =>
      sdk
        .open(stage.gateway, account, { fetch: fetch as never, maxRetries: 2 })
        .responses.create({ model, max_output_tokens: 1000, input: 'hi' }),
  })),
];

/** The reply as it is, but with no need to wait up to a minute. */
function hasten(reply: Response): Response {
  const headers = new Headers(reply.headers);
  if (headers.has('retry-after')) headers.set('retry-after-ms', '1');
  return new Response(reply.body, { status: reply.status, headers });
}

const listStatuses = (sent: readonly Response[]) => sent.map(({ status }) => status);

describe('retries of clients', () => {
  before(async () => {
    stage = await openStage({ RATE_LIMIT_PER_MINUTE: '3' });
  });
  beforeEach(() => stage.upstream.behave(chatAnswer('Hello there.', { input: 7, output: 400 })));
  afterEach(() => stage.gateway.checkMoney());
  after(() => stage.close());

  for (const subject of subjects) {
    describe(subject.name, () => {
      /** Fails the first calls, then answers. */
      const failFirst = (times: number): Behaviour => {
        let left = times;
        return (call) => {
          left -= 1;
          return left >= 0 ? answerStatus(500)(call) : chatAnswer('Hello.', { input: 7, output: 400 })(call);
        };
      };

      it('sends a 502 again, and is charged once', async () => {
        stage.upstream.behave(failFirst(1));
        const account = await stage.gateway.account();
        const { sent, fetch } = countingFetch();
        await subject.ask(account, { fetch });
        expect(listStatuses(sent)).to.deep.equal([502, 200]);
        expect(await stage.charged(account)).to.equal(2_007_000n);
        expect((await stage.gateway.wallet(account)).avail).to.equal(997_993_000n);
      });

      it('does not send a 502 again whose cause is the request', async () => {
        stage.upstream.behave(answerStatus(400));
        const account = await stage.gateway.account();
        const { sent, fetch } = countingFetch();
        await catchRejection(subject.ask(account, { fetch }));
        expect(listStatuses(sent)).to.deep.equal([502]);
        expect(sent[0]?.headers.get('x-should-retry')).to.equal('false');
        expect(await stage.charged(account)).to.equal(0n);
      });

      it('sends a 429 again after the time that was named', async () => {
        const account = await stage.gateway.account();
        for (let at = 0; at < 3; at += 1) await subject.ask(account, { fetch: countingFetch().fetch });
        const { sent, fetch } = countingFetch(hasten);
        await catchRejection(subject.ask(account, { fetch }));
        expect(listStatuses(sent)).to.deep.equal([429, 429, 429]);
        for (const reply of sent) expect(Number(reply.headers.get('retry-after'))).to.be.within(1, 59);
        expect(await stage.charged(account)).to.equal(3n * 2_007_000n);
      });

      it('does not send a 400 or a 402 again', async () => {
        const poor = await stage.gateway.account('0');
        const account = await stage.gateway.account();
        const { sent, fetch } = countingFetch();
        await catchRejection(subject.ask(account, { fetch, model: 'nope' }));
        await catchRejection(subject.ask(poor, { fetch }));
        expect(listStatuses(sent)).to.deep.equal([400, 402]);
        for (const reply of sent) expect(reply.headers.get('x-should-retry')).to.equal('false');
      });
    });
  }
});
