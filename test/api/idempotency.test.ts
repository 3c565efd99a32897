// Idempotency keys while the store fails: a call is paid once, its reply is sent, and no repeat pays again.
import { expect } from 'chai';
import { openIdempotentCall, Replay } from '../../lib/api/idempotency.ts';
import type { Form } from '../../lib/http/form.ts';
import type { Charge } from '../../lib/money/decide.ts';
import { type IdempotencyRecord, isIdempotencyKeyTaken } from '../../lib/money/idempotency.ts';
import { NO_LIMITS } from '../../lib/money/key-limits.ts';
import { type FaultyStore, lose, openFaultyStore, refuse } from '../../testkit/faulty-store.ts';

describe('idempotency keys and a store that fails', () => {
  let opened: FaultyStore;
  let wallet: string;
  let warnings: object[];
  let calls = 0;

  before(async () => {
    opened = await openFaultyStore();
  });
  beforeEach(async () => {
    wallet = await opened.wallet();
    warnings = [];
  });
  after(() => opened.close());

  /** A request under a key, as the routes open it. */
  function open({ id = 'key', budget = null as bigint | null, key = 'order-1' } = {}) {
    calls += 1;
    const limits = { ...NO_LIMITS, budget };
    const request = { path: '/api/v1/messages' };
    const state = { id: `req_${calls}`, notes: {}, startedAt: 0, waitedMs: 0 };
    const holder = { id, name: 'little', account: wallet, budgetKey: null, limits };
    const log = { warn: (fields: object) => warnings.push(fields) };
    const repeat = openIdempotentCall(
      { request, key, state, holder } as never,
      {
        store: opened.store,
        log,
        holders: { findAgain: (holder: object) => holder },
        catalog: () => ({ byName: new Map() }),
      } as never,
    );
    return { ...repeat, id: `req_${calls}` };
  }

  const BODY = Buffer.from('{"a":1}');

  const read = (call: ReturnType<typeof open>, body: Buffer | Form) =>
    Buffer.isBuffer(body) ? call.readBody(body) : call.readForm(body);

  /** The first call, held and settled. */
  async function pay({ awaited = true, body = BODY as Buffer | Form } = {}): Promise<ReturnType<typeof open>> {
    const call = open();
    await read(call, body);
    const at = Date.now();
    const charge = { chargeId: call.id, key: 'key', chargeKind: 'text', model: 'm', prices: '{}', amount: 5n } as const;
    const start = { kind: 'reserve', wallet, at, owner: 'me', lease: at + 1000, ...charge } as const;
    await opened.apply({ ...start, idempotency: call.terms({ awaited }) });
    await opened.apply({ kind: 'settle', wallet, at, chargeId: call.id, amount: 5n, usage: '{}' });
    return call;
  }

  async function outcomeOf(promise: Promise<unknown>) {
    try {
      await promise;
      return 'new';
    } catch (error) {
      if (error instanceof Replay) return error.reply;
      return (error as { data?: { code: string } }).data?.code;
    }
  }

  it('refuses a call while it is unknown whether its key is new', async () => {
    opened.next('idempotency.get', refuse);
    expect(await outcomeOf(open().readBody(BODY))).to.equal('store_unavailable');
    opened.next('idempotency.get', refuse);
    expect(await outcomeOf(open().isKnown())).to.equal('store_unavailable');
    await pay();
    opened.next('ledger.charge', refuse);
    expect(await outcomeOf(open().readBody(BODY))).to.equal('store_unavailable');
    opened.next('ledger.budgets', refuse);
    expect(await outcomeOf(open({ id: 'other', budget: 5n }).readBody(BODY))).to.equal('store_unavailable');
    expect(await outcomeOf(open({ id: 'other', budget: 4n }).readBody(BODY))).to.equal('key_budget');
  });

  it('sends a reply that cannot be stored; its repeats wait, then get the charge', async () => {
    for (const failure of [refuse, lose]) {
      wallet = await opened.wallet();
      const call = await pay();
      opened.next('idempotency.storeReply', failure);
      await call.keep('the reply');
      expect(warnings).to.have.length(1);
      warnings = [];
      // Lost was only the answer of the store.
      const expected = failure === lose ? 'the reply' : 'idempotency_running';
      expect(await outcomeOf(open().readBody(BODY))).to.equal(expected);
    }
    wallet = await opened.wallet();
    const call = await pay();
    call.close();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await outcomeOf(open().readBody(BODY))).to.equal('idempotency_done');
  });

  it('recognises a used key, whatever the body', async () => {
    expect(await open().isKnown()).to.equal(false);
    await pay();
    expect(await open().isKnown()).to.equal(true);
    expect(await outcomeOf(open().readBody(Buffer.from('{}')))).to.equal('idempotency_mismatch');
    expect(await outcomeOf(open({ key: 'order-2' }).readBody(BODY))).to.equal('new');
  });

  it('forgets an expired key', async () => {
    await pay();
    const expired = async (call: () => Promise<unknown>) => ({
      ...((await call()) as IdempotencyRecord),
      expiresAt: Date.now(),
    });
    opened.next('idempotency.get', expired, expired);
    expect(await open().isKnown()).to.equal(false);
    expect(await outcomeOf(open().readBody(Buffer.from('{}')))).to.equal('new');
  });

  it('compares every byte of a body', async () => {
    const chunk = 4 * 1024 * 1024;
    const bytes = (different?: number) => {
      const body = Buffer.alloc(chunk + 2, 'x');
      if (different !== undefined) body[different] = 0;
      return body;
    };
    const call = await pay({ body: bytes() });
    await call.keep('the reply');
    expect(await outcomeOf(open().readBody(bytes()))).to.equal('the reply');
    for (const at of [0, 1, chunk - 1, chunk, chunk + 1]) {
      expect(await outcomeOf(open().readBody(bytes(at))), `byte ${at}`).to.equal('idempotency_mismatch');
    }
  });

  it('compares the texts and files of a form one by one', async () => {
    const file = (text: string, name = 'image', isCut = false) => ({ name, bytes: Buffer.from(text), isCut });
    const text = (content: string, name = 'prompt') => ({ name, text: content });
    const form = (...[texts, files]: [object[], object[]]) => ({ texts, files }) as unknown as Form;
    const first = form([text('a'), text('b')], [file('c'), file('d')]);
    await (await pay({ body: first })).keep('the reply');
    expect(await outcomeOf(read(open(), first))).to.equal('the reply');
    const joint = 'cfile ["image",false]\nd';
    const others = {
      'a longer file with what separates files': form([text('a'), text('b')], [file(joint)]),
      'the files in one': form([text('a'), text('b')], [file('cd'), file('')]),
      'another name of a file': form([text('a'), text('b')], [file('c'), file('d', 'mask')]),
      'a longer file, cut at its maximum': form([text('a'), text('b')], [file('c'), file('d', 'image', true)]),
      'the texts in one': form([text('ab'), text('')], [file('c'), file('d')]),
      'another name of a text': form([text('a'), text('b', 'model')], [file('c'), file('d')]),
    };
    for (const [what, other] of Object.entries(others)) {
      expect(await outcomeOf(read(open(), other)), what).to.equal('idempotency_mismatch');
    }
  });

  it('checks whether a video that was charged a while ago has started', async () => {
    const call = open();
    await call.readBody(BODY);
    const charge = {
      chargeId: call.id,
      key: 'key',
      chargeKind: 'video',
      model: 'm',
      prices: '{}',
      amount: 5n,
    } as const;
    const repeat = call.terms({ awaited: true });
    await opened.apply({
      kind: 'charge',
      wallet,
      at: Date.now() - 20_000,
      ...charge,
      usage: '{}',
      idempotency: repeat,
    });
    opened.next('jobs.get', refuse);
    expect(await outcomeOf(open().readBody(BODY))).to.equal('store_unavailable');
    for (const phase of ['starting', 'running', 'completed', 'failed']) {
      opened.next('jobs.get', async () => ({ phase }));
      const expected = phase === 'starting' ? 'idempotency_running' : 'idempotency_done';
      expect(await outcomeOf(open().readBody(BODY)), phase).to.equal(expected);
    }
    expect(await outcomeOf(open().readBody(BODY))).to.equal('idempotency_done');
  });

  /** A call that is held, and settled after some time unless that is undefined. */
  async function begin({ ageMs, endedMs }: { ageMs: number; endedMs?: number }): Promise<void> {
    wallet = await opened.wallet();
    const call = open();
    await call.readBody(BODY);
    const at = Date.now() - ageMs;
    const charge = { chargeId: call.id, key: 'key', chargeKind: 'text', model: 'm', prices: '{}', amount: 5n } as const;
    const start = { kind: 'reserve', wallet, at, owner: 'me', lease: Date.now() + 60_000, ...charge } as const;
    await opened.apply({ ...start, idempotency: call.terms({ awaited: true }) });
    if (endedMs === undefined) return;
    const end = { at: Date.now() - endedMs, chargeId: call.id, amount: 5n, usage: '{}' };
    await opened.apply({ kind: 'settle', wallet, ...end });
  }

  it('suggests a longer wait the longer the call has run, up to a minute', async () => {
    for (const [ageMs, least, most] of [
      [0, 1, 1],
      [20_000, 10, 12],
      [600_000, 59, 59],
    ] as const) {
      await begin({ ageMs });
      const error = await open()
        .readBody(BODY)
        .catch((reason: unknown) => reason);
      const { code, detail } = (error as { data: { code: string; detail: { retryAfterS: number } } }).data;
      expect(code).to.equal('idempotency_running');
      expect(detail.retryAfterS).to.be.within(least, most);
    }
  });

  it('waits ten seconds for the reply of an ended call', async () => {
    await begin({ ageMs: 20_000, endedMs: 8000 });
    expect(await outcomeOf(open().readBody(BODY))).to.equal('idempotency_running');
    await begin({ ageMs: 20_000, endedMs: 10_001 });
    expect(await outcomeOf(open().readBody(BODY))).to.equal('idempotency_done');
  });

  it('keeps a key for a day', async () => {
    const { expiresAt } = open().terms({ awaited: true });
    expect(expiresAt - Date.now()).to.be.within(24 * 3_600_000 - 5000, 24 * 3_600_000);
  });

  it('yields to other work while it hashes a long body', async () => {
    const turnsOf = async (bytes: number) => {
      let turns = 0;
      let isOver = false;
      const count = () => {
        turns += 1;
        if (!isOver) setImmediate(count);
      };
      setImmediate(count);
      await open({ key: `order-${bytes}` }).readBody(Buffer.alloc(bytes));
      isOver = true;
      return turns;
    };
    const once = await turnsOf(4 * 1024 * 1024);
    expect((await turnsOf(16 * 1024 * 1024 + 1)) - once).to.be.within(3, 6);
  });

  it('answers the repeat of a stream with its charge at once', async () => {
    await pay({ awaited: false });
    expect(await outcomeOf(open().readBody(BODY))).to.equal('idempotency_done');
  });
});

describe('an idempotency key', () => {
  const repeat: IdempotencyRecord = {
    id: 'r',
    wallet: 'w',
    charge: 'c',
    body: 'b',
    awaited: true,
    reply: null,
    expiresAt: 1000,
  };
  const states: readonly (readonly [Charge['state'], boolean])[] = [
    ['held', true],
    ['settled', true],
    ['released', false],
    ['expired', false],
    ['refunded', false],
  ];
  for (const [state, taken] of states) {
    it(`is ${taken ? 'taken' : 'free'} while its charge is ${state}`, () => {
      expect(isIdempotencyKeyTaken(repeat, { state }, 999)).to.equal(taken);
    });
  }

  it('is free without a charge and after its expiry', () => {
    expect(isIdempotencyKeyTaken(repeat, undefined, 999)).to.equal(false);
    expect(isIdempotencyKeyTaken(repeat, { state: 'settled' }, 1000)).to.equal(false);
    expect(isIdempotencyKeyTaken(undefined, { state: 'settled' }, 999)).to.equal(false);
  });
});
