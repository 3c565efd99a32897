// Plugin for upstreams with the responses API, the newer one beside chat completions.
import type { Host, Provider, ProviderPart, ProviderPlugin } from '../../lib/upstream/contract/provider.ts';
import { asksForSummary, buildResponsesBody, type Settings } from './request.ts';

const plugin: ProviderPlugin<Settings> = {
  contract: 2,
  name: 'openai-responses',
  settings: (joi, account) =>
    account.keyOptional('https://api.openai.com/v1', {
      off: joi.valid('none', 'low').default('none'),
      cacheKey: joi.valid('send', 'omit').default('send'),
      verbosity: joi.valid('send', 'omit').default('send'),
      summary: joi.valid('send', 'omit').default('send'),
      customTools: joi.valid('send', 'function').default('send'),
      parallelCalls: joi.valid('send', 'omit').default('send'),
      systemMessages: joi.valid('in_place', 'prompt').default('in_place'),
    }),
  create: createProvider,
};

export default plugin;

/** An image of an answer comes in one event. */
const EVENT_CHARS_MAX = 32 * 1024 * 1024;

function createProvider(settings: Settings, host: Host): Provider {
  const resolveWire = host.perRoute(settings, (wire) => ({ wire, url: host.urlBelow(wire.baseUrl, 'responses') }));
  const headers = { accept: 'text/event-stream, application/json' };
  const request = { method: 'POST', headers, auth: host.bearer } as const;
  /** Of the account, so it holds for all models. */
  let isSummaryRefused = false;
  return {
    tools: true,
    documents: true,
    systemMessages: true,
    stateFormat: 'responses',
    models(signal) {
      const { baseUrl } = resolveWire({ model: '', options: {} }).wire;
      return host.models(host.urlBelow(baseUrl, 'models'), { auth: host.bearer, signal });
    },
    text(call, signal) {
      const { wire, url } = resolveWire(call);
      const { conversation } = call;
      const answer = (settings: Settings) => {
        const body = buildResponsesBody(call, settings, host);
        const init = { ...request, conversation, body, signal, eventCharsMax: EVENT_CHARS_MAX };
        return host.answer(url, init, host.responses.reader());
      };
      const plain: Settings = { ...wire, summary: 'omit' };
      if (!asksForSummary(call, wire) || isSummaryRefused) return answer(plain);
      return answerWithSummary({
        answer: answer(wire),
        answerWithout: () => answer(plain),
        onAnswerWithout: () => {
          isSummaryRefused = true;
        },
      });
    },
  };
}

type Answer = AsyncIterable<readonly ProviderPart[]>;

interface Answers {
  readonly answer: Answer;
  readonly answerWithout: () => Answer;
  /** The summary was what had been wrong: a refusal may also quote a client that says the same words. */
  readonly onAnswerWithout: () => void;
}

/** OpenAI refuses the whole request if it has not verified the organization. */
async function* answerWithSummary({ answer, answerWithout, onAnswerWithout }: Answers): Answer {
  try {
    yield* answer;
    return;
  } catch (error) {
    if (!isSummaryRefusal(error)) throw error;
  }
  for await (const parts of answerWithout()) {
    onAnswerWithout();
    yield parts;
  }
}

function isSummaryRefusal(error: unknown): boolean {
  const { status, detail } = error as { readonly status?: unknown; readonly detail?: unknown };
  return status === 400 && /reasoning[ ._]+summar/i.test(String(detail));
}
