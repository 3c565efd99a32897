// Every way in which an SDK lets a caller leave: the upstream connection closes, what was produced is charged, the rest
// of the hold is back.
import { expect } from 'chai';
import type { TestAccount } from '../../testkit/gateway.ts';
import { itTimed } from '../../testkit/timed.ts';
import { chatStall } from '../../testkit/upstream.ts';
import { catchRejection, MESSAGE_SDKS, MODEL, OPENAI_SDKS, openStage, type Stage } from './stage.ts';

/** Leaving takes the client itself a moment. */
const CLOSED_WITHIN_MS = 200;

const FRAGMENTS = [' word'.repeat(250), ' word'.repeat(250)];
const CHARACTERS = FRAGMENTS.join('').length;
// The fragments are 500 tokens at 5000 RUB, and 5 tokens of input at 1000 RUB, per million.
const CHARGED = 2_505_000n;

interface Leaving {
  readonly account: TestAccount;
  /** Calls this the moment it leaves. */
  readonly onLeave: () => void;
}

interface Subject {
  readonly name: string;
  readonly UserAbortError: unknown;
  /** Leaves once the two fragments are there, in the way of the name. */
  readonly ways: Readonly<Record<string, (leaving: Leaving) => Promise<void>>>;
  /** Starts a call that does not stream. */
  readonly ask: (account: TestAccount, signal: AbortSignal) => PromiseLike<unknown>;
}

let stage: Stage;

const params = { model: MODEL, max_tokens: 1000, messages: [{ role: 'user' as const, content: 'hi' }] };

/** Reads fragments until both are there, then leaves; what the loop does then is the caller's. */
async function readThenLeave(texts: AsyncIterable<string>, leave: () => 'break' | 'go on'): Promise<number> {
  let length = 0;
  for await (const text of texts) {
    length += text.length;
    if (length === CHARACTERS && leave() === 'break') break;
  }
  return length;
}

interface TextStream {
  readonly controller: AbortController;
  readonly texts: AsyncIterable<string>;
}

type OpenStream = (account: TestAccount, signal?: AbortSignal) => Promise<TextStream>;

/** What any iterable stream with a controller can do. */
function listWays(open: OpenStream): Subject['ways'] {
  return {
    'break out of the loop': async ({ account, onLeave }) => {
      const { texts } = await open(account);
      await readThenLeave(texts, () => {
        onLeave();
        return 'break';
      });
    },
    'abort the controller of the stream': async ({ account, onLeave }) => {
      const { texts, controller } = await open(account);
      await readThenLeave(texts, () => {
        onLeave();
        controller.abort();
        return 'go on';
      });
    },
    'abort the signal that was passed in': async ({ account, onLeave }) => {
      const caller = new AbortController();
      const { texts } = await open(account, caller.signal);
      await readThenLeave(texts, () => {
        onLeave();
        caller.abort();
        return 'go on';
      });
    },
  };
}

async function* textsOf<T>(events: AsyncIterable<T>, readText: (event: T) => string | null | undefined) {
  for await (const event of events) {
    const text = readText(event);
    if (text) yield text;
  }
}

function messageSubject(sdk: (typeof MESSAGE_SDKS)[number]): Subject {
  const messages = (account: TestAccount) => sdk.open(stage.gateway, account).messages;
  return {
    name: sdk.name,
    UserAbortError: sdk.Client.APIUserAbortError,
    ways: {
      ...listWays(async (account, signal) => {
        const options = signal ? { signal } : {};
        const stream = await messages(account).create({ ...params, stream: true }, options);
        const readText = (event: typeof stream extends AsyncIterable<infer E> ? E : never) =>
          event.type === 'content_block_delta' && event.delta.type === 'text_delta' ? event.delta.text : '';
        return { controller: stream.controller, texts: textsOf(stream, readText) };
      }),
      'abort the stream helper': async ({ account, onLeave }) => {
        const stream = messages(account).stream(params);
        stream.on('text', (_text, all) => {
          if (all.length !== CHARACTERS) return;
          onLeave();
          stream.abort();
        });
        expect(await catchRejection(stream.finalMessage())).to.be.instanceOf(sdk.Client.APIUserAbortError);
      },
    },
    ask: (account, signal) => messages(account).create(params, { signal }),
  };
}

function chatSubject(sdk: (typeof OPENAI_SDKS)[number]): Subject {
  const open = (account: TestAccount) => sdk.open(stage.gateway, account);
  return {
    name: sdk.name,
    UserAbortError: sdk.Client.APIUserAbortError,
    ways: {
      ...listWays(async (account, signal) => {
        const options = signal ? { signal } : {};
        const stream = await open(account).chat.completions.create({ ...params, stream: true }, options);
        return {
          controller: stream.controller,
          texts: textsOf(stream, ({ choices }) => choices[0]?.delta.content),
        };
      }),
      'abort the stream helper': async ({ account, onLeave }) => {
        const stream = sdk.streamOf(open(account))(params);
        stream.on('content', (_text, all) => {
          if (all.length !== CHARACTERS) return;
          onLeave();
          stream.abort();
        });
        expect(await catchRejection(stream.finalChatCompletion())).to.be.instanceOf(sdk.Client.APIUserAbortError);
      },
    },
    ask: (account, signal) => open(account).chat.completions.create(params, { signal }),
  };
}

function responsesSubject(sdk: (typeof OPENAI_SDKS)[number]): Subject {
  const responses = (account: TestAccount) => sdk.open(stage.gateway, account).responses;
  const body = { model: MODEL, max_output_tokens: 1000, input: 'hi' };
  return {
    name: `${sdk.name}, responses`,
    UserAbortError: sdk.Client.APIUserAbortError,
    ways: {
      ...listWays(async (account, signal) => {
        const options = signal ? { signal } : {};
        const stream = await responses(account).create({ ...body, stream: true }, options);
        const readText = (event: typeof stream extends AsyncIterable<infer E> ? E : never) =>
          event.type === 'response.output_text.delta' ? event.delta : '';
        return { controller: stream.controller, texts: textsOf(stream, readText) };
      }),
      'abort the stream helper': async ({ account, onLeave }) => {
        const stream = responses(account).stream(body);
        stream.on('response.output_text.delta', ({ snapshot }) => {
          if (snapshot.length !== CHARACTERS) return;
          onLeave();
          stream.abort();
        });
        expect(await catchRejection(stream.finalResponse())).to.be.instanceOf(sdk.Client.APIUserAbortError);
      },
      'break out of the loop over the stream helper': async ({ account, onLeave }) => {
        const stream = responses(account).stream(body);
        const texts = textsOf(stream, (event) => (event.type === 'response.output_text.delta' ? event.delta : ''));
        await readThenLeave(texts, () => {
          onLeave();
          return 'break';
        });
      },
    },
    ask: (account, signal) => responses(account).create(body, { signal }),
  };
}

const SUBJECTS: readonly Subject[] = [
  ...MESSAGE_SDKS.map(messageSubject),
  ...OPENAI_SDKS.map(chatSubject),
  ...OPENAI_SDKS.map(responsesSubject),
];

describe('clients that leave', () => {
  before(async () => {
    stage = await openStage();
  });
  beforeEach(() => stage.upstream.behave(chatStall(FRAGMENTS)));
  afterEach(() => stage.gateway.checkMoney());
  after(() => stage.close());

  for (const subject of SUBJECTS) {
    describe(subject.name, () => {
      for (const [name, leave] of Object.entries(subject.ways)) {
        itTimed(name, async () => {
          const account = await stage.gateway.account();
          const arrived = stage.upstream.nextCall();
          let leftAt = Number.NaN;
          await leave({
            account,
            onLeave: () => {
              leftAt = performance.now();
            },
          });
          const { closed } = await arrived;
          expect((await closed) - leftAt).to.be.within(0, CLOSED_WITHIN_MS);
          expect(await stage.charged(account)).to.equal(CHARGED);
          expect((await stage.gateway.wallet(account)).avail).to.equal(1_000_000_000n - CHARGED);
        });
      }

      itTimed('abort a call that does not stream', async () => {
        const account = await stage.gateway.account();
        const arrived = stage.upstream.nextCall();
        const caller = new AbortController();
        const asking = catchRejection(subject.ask(account, caller.signal));
        const { closed } = await arrived;
        await new Promise((resolve) => setTimeout(resolve, 50));
        const leftAt = performance.now();
        caller.abort();
        expect(await asking).to.be.instanceOf(subject.UserAbortError as ErrorConstructor);
        expect((await closed) - leftAt).to.be.within(0, CLOSED_WITHIN_MS);
        expect(await stage.charged(account)).to.equal(CHARGED);
      });
    });
  }
});
