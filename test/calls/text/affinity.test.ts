import { expect } from 'chai';
import { nameConversation, orderRoutes, preferStateMaker } from '../../../lib/calls/text/affinity.ts';
import type { RequestMessage, TextRequest } from '../../../lib/calls/text/request.ts';
import type { Route, TextModel } from '../../../lib/catalog/model.ts';
import type { BlockState } from '../../../lib/stream/provider-part.ts';
import { NO_ABILITIES } from './stage.ts';

const route = (upstream: string, more: Partial<Route> = {}): Route => ({
  upstream,
  key: `text ${upstream} m`,
  provider: {},
  origin: undefined,
  model: 'm',
  options: {},
  rank: 0,
  keys: 1,
  ...more,
});

const ROUTES = [route('one'), route('two'), route('three')];

const MODEL: TextModel = {
  ...NO_ABILITIES,
  id: 'model-a',
  aliases: [],
  type: 'text',
  provider: 'Test',
  order: 'latency',
  delivery: 'stream',
  price: { input: 40n, output: 240n, cacheRead: 4n },
  prices: '',
  routes: ROUTES,
};

const says = (role: RequestMessage['role'], text: string): RequestMessage => ({
  role,
  content: [{ type: 'text', text }],
});

const REQUEST: TextRequest = {
  model: 'model-a',
  system: [{ type: 'text', text: 'Be brief.' }],
  messages: [says('user', 'one'), says('assistant', 'two'), says('user', 'three')],
  messageCount: 3,
  images: 0,
  maxTokens: 9,
  stream: false,
};

const CALLER = { accountId: 'acc' };
const name = (request: Partial<TextRequest> = {}, caller: object = {}, model: Partial<TextModel> = {}) =>
  nameConversation({ ...MODEL, ...model }, { ...REQUEST, ...request }, { ...CALLER, ...caller });

describe('the name of a conversation', () => {
  it('is that of its key, else of its header, else of its user, else of its opening', () => {
    const all = { cacheKey: 'k', userId: 'u' };
    const byKey = name(all, { session: 's' });
    const byHeader = name({ userId: 'u' }, { session: 's' });
    const byUser = name({ userId: 'u' });
    const byOpening = name();
    expect(new Set([byKey, byHeader, byUser, byOpening]).size).to.equal(4);
    expect(name({ cacheKey: 'k' })).to.equal(byKey);
    expect(name({}, { session: 's' })).to.equal(byHeader);
    // The rest of a request does not matter then.
    expect(name({ userId: 'u', system: undefined, messages: [says('user', 'other')] })).to.equal(byUser);
  });

  it('stays the same while the conversation goes on, and differs by system prompt and first message', () => {
    expect(name({ messages: [says('user', 'one')] })).to.equal(name());
    expect(name({ messages: [...REQUEST.messages, says('assistant', 'four')], maxTokens: 1 })).to.equal(name());
    expect(name({ messages: [...REQUEST.messages, says('system', 'four')] })).to.equal(name());
    expect(name({ messages: [says('user', 'two')] })).not.to.equal(name());
    expect(name({ system: undefined })).not.to.equal(name());
  });

  it('differs by account and model, and tells nothing', () => {
    const given = { cacheKey: 'secret' };
    const names = [name(given), name(given, { accountId: 'acd' }), name(given, {}, { id: 'model-b' })];
    expect(new Set(names).size).to.equal(3);
    for (const each of names) expect(each).to.match(/^[0-9a-f]{16}$/);
  });

  it('is not made where nothing depends on it', () => {
    const { input, output } = MODEL.price;
    expect(name({}, {}, { price: { input, output } })).to.equal(undefined);
    expect(name({}, {}, { routes: [route('one')] })).to.equal(undefined);
    expect(name({}, {}, { routes: [] })).to.equal(undefined);
    expect(name({ cacheKey: 'k' }, {}, { price: { input, output } })).to.equal(undefined);
    // A reload may bring another route.
    expect(name({ cacheKey: 'k' }, {}, { routes: [route('one')] })).to.equal(name({ cacheKey: 'k' }));
    expect(name({}, {}, { routes: [route('one', { keys: 2 })] })).to.be.a('string');
    for (const price of [
      { input, output, cacheWrite: 50n },
      { input, output, cacheWrite1h: 80n },
      { input, output, bands: [{ above: 9, input, output, cacheRead: 4n }] },
    ])
      expect(name({}, {}, { price })).to.be.a('string');
  });
});

describe('the routes of a conversation', () => {
  const fastest = { inOrder: () => [ROUTES[2] as Route] as never };
  const order = (routes: readonly Route[], conversation: string | undefined) =>
    orderRoutes({ ...MODEL, routes }, conversation, fastest).map(({ upstream }) => upstream);

  it('begin with its own where all are equal, whatever their speed', () => {
    const firsts = Array.from({ length: 300 }, (_, at) => order(ROUTES, `c${at}`)[0]);
    const counts = Map.groupBy(firsts, (first) => first);
    for (const { upstream } of ROUTES) expect(counts.get(upstream)?.length).to.be.within(70, 130);
    expect(order(ROUTES, 'c1')).to.deep.equal(order([...ROUTES].reverse(), 'c1'));
    expect([...order(ROUTES, 'c1')].sort()).to.deep.equal(['one', 'three', 'two']);
  });

  it('keep the order of the catalog where that prefers some', () => {
    const ranked = [route('one', { rank: 0 }), route('two', { rank: 1 }), route('three', { rank: 1 })];
    const orders = new Set(Array.from({ length: 50 }, (_, at) => order(ranked, `c${at}`).join(' ')));
    expect([...orders].sort()).to.deep.equal(['one three two', 'one two three']);
  });

  it('are those of the model without a name', () => {
    expect(order(ROUTES, undefined)).to.deep.equal(['three']);
  });
});

describe('the routes of a tool loop', () => {
  const ways = ['chat', 'messages', undefined, 'messages'].map((stateFormat, at) => ({
    route: { provider: { ...(stateFormat && { stateFormat }) } },
    at,
  }));
  const RESULT: RequestMessage = {
    role: 'user',
    content: [{ type: 'tool-result', id: 'a', name: 'look', isError: false, content: [] }],
  };
  const calls = (state?: BlockState): RequestMessage => ({
    role: 'assistant',
    content: [{ type: 'tool-call', id: 'a', name: 'look', json: '{}', ...(state && { state }) }],
  });
  const thinks = (state: BlockState): RequestMessage => ({
    role: 'assistant',
    content: [{ type: 'reasoning', text: '', state }, ...calls().content],
  });
  const order = (...messages: readonly RequestMessage[]) => preferStateMaker(ways, { messages }).map(({ at }) => at);
  const of = (format: string): BlockState => ({ format, value: 'x' });

  it('begin with those that take back the state of its reasoning or calls', () => {
    expect(order(says('user', 'a'), thinks(of('messages')), RESULT)).to.deep.equal([1, 3, 0, 2]);
    expect(order(says('user', 'a'), calls(of('messages')), RESULT)).to.deep.equal([1, 3, 0, 2]);
    expect(order(says('user', 'a'), calls(of('messages')), RESULT, says('system', 'b'))).to.deep.equal([1, 3, 0, 2]);
    // States that are strings are read by a plugin without a format.
    expect(order(says('user', 'a'), calls(of('plugin')), RESULT)).to.deep.equal([2, 0, 1, 3]);
    // The last one counts.
    expect(order(thinks(of('messages')), RESULT, thinks(of('chat')), RESULT)).to.deep.equal([0, 1, 2, 3]);
  });

  it('stay as they are without a state, outside a loop, or if none takes it', () => {
    expect(order(says('user', 'a'), calls(), RESULT)).to.deep.equal([0, 1, 2, 3]);
    expect(order(thinks(of('messages')), RESULT, says('user', 'b'))).to.deep.equal([0, 1, 2, 3]);
    expect(order(thinks(of('contents')), RESULT)).to.deep.equal([0, 1, 2, 3]);
  });
});
