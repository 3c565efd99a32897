// Paid routes: the checks before the body is read, the log lines, and calls that end without a reply.
import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request } from '@hapi/hapi';
import { expect } from 'chai';
import { admitBody, refuseTooExpensive } from '../../lib/api/balance-check.ts';
import { createCallContext } from '../../lib/api/call-context.ts';
import {
  answerEvents,
  answerJson,
  endUnanswered,
  type PaidHandler,
  type PaidRequest,
  paidRoute,
} from '../../lib/api/paid-route.ts';
import { createRecentBalanceCache } from '../../lib/api/recent-balance-cache.ts';
import { messageStyle } from '../../lib/api/response-styles.ts';
import type { Services } from '../../lib/api/services.ts';
import { fault, isFault } from '../../lib/base/faults.ts';
import { GONE } from '../../lib/calls/context.ts';
import { BODY_BYTES_MAX } from '../../lib/http/body.ts';
import { securityHeaders } from '../../lib/http/headers.ts';
import { createLiveCalls } from '../../lib/http/live-calls.ts';
import { createMemoryQuota, SMALL_BYTES } from '../../lib/http/memory-quota.ts';
import { commonHeaders } from '../../lib/http/reply.ts';
import { createRequestState, getRequestState } from '../../lib/http/request-state.ts';
import { NO_LIMITS } from '../../lib/money/key-limits.ts';
import type { KeyHolder } from '../../lib/store/ports/keys.ts';
import { until } from '../../testkit/client.ts';
import { type FaultyStore, makeGate, openFaultyStore, refuse } from '../../testkit/faulty-store.ts';

const LEAST = { kind: 'text', amount: 500_000n } as const;

describe('paid route', () => {
  let opened: FaultyStore;
  let rich: string;
  let empty: string;
  /** Accounts that the automatic top-up was told of. */
  const refused: string[] = [];
  const topups = { reportRefusal: (account: string) => void refused.push(account) };

  before(async () => {
    opened = await openFaultyStore();
    [rich, empty] = [await opened.wallet(), await opened.wallet()];
    const { avail } = await opened.read(empty);
    const charge = { chargeId: 'all', key: 'key', chargeKind: 'text', model: 'm', prices: '{}', usage: '{}' } as const;
    await opened.apply({ kind: 'charge', wallet: empty, at: Date.now(), amount: avail, ...charge });
  });
  after(() => opened.close());

  function holderOf(account: string): KeyHolder {
    return { id: 'key', name: 'mine', account, limits: NO_LIMITS, budgetKey: null } as Partial<KeyHolder> as KeyHolder;
  }

  function requestOf(account: string, { headers = {}, response = {} }: { headers?: object; response?: object } = {}) {
    const req = { headers, socket: new EventEmitter() };
    const raw = { req, res: Object.assign(new EventEmitter(), { req, ...response }) };
    const route = { settings: { plugins: { style: messageStyle } } };
    const server = { settings: { app: { headers: securityHeaders('https://ai.example') } } };
    const app = { tollgate: createRequestState() };
    return { app, raw, auth: { credentials: { holder: holderOf(account) } }, route, server } as unknown as Request;
  }

  async function codeOf(promise: Promise<unknown>): Promise<unknown> {
    return promise.then(
      () => 'admitted',
      (error: unknown) => (isFault(error) ? error.data?.code : error),
    );
  }

  describe('before the body is read', () => {
    const budget = { bytesMax: 2 * BODY_BYTES_MAX, ownerBytesMax: BODY_BYTES_MAX };

    /** What happens to a body of a length, or of none. */
    function admit(
      account: string,
      bytes: number | undefined,
      { isKnown = false, held = 0, isCrowded = false, recentBalances = createRecentBalanceCache() } = {},
    ) {
      const quota = createMemoryQuota(budget);
      const reservation = quota.reserve('key');
      reservation.take(held);
      const waiting = new AbortController();
      for (let at = 0; isCrowded && at < 50; at += 1) {
        quota
          .reserve('key')
          .takeInTurn(BODY_BYTES_MAX, { signal: waiting.signal, waitMsMax: 1000 })
          ?.catch(() => undefined);
      }
      const idempotency = isKnown ? ({ isKnown: async () => true } as PaidRequest['idempotency']) : undefined;
      const services = { store: opened.store, recentBalances, topups } as Services;
      const payer = { services, state: createRequestState(), holder: { account } };
      return codeOf(admitBody({ ...payer, idempotency, reservation }, bytes, LEAST)).finally(() => waiting.abort());
    }

    it('a short body needs no read of the store', async () => {
      opened.always('ledger.wallet', refuse);
      expect(await admit(empty, SMALL_BYTES)).to.equal('admitted');
      expect(await admit(rich, SMALL_BYTES + 1)).to.equal('store_unavailable');
      expect(await admit(rich, undefined)).to.equal('store_unavailable');
      opened.always('ledger.wallet', undefined);
    });

    it('a long body needs money in the wallet, unless it is a repeat', async () => {
      for (const bytes of [SMALL_BYTES + 1, BODY_BYTES_MAX, BODY_BYTES_MAX + 1, undefined]) {
        expect(await admit(rich, bytes), `${bytes}`).to.equal('admitted');
        expect(await admit(empty, bytes), `${bytes}`).to.equal('insufficient_balance');
        expect(await admit(empty, bytes, { isKnown: true }), `${bytes}`).to.equal('admitted');
      }
      refused.length = 0;
      const bare = await opened.wallet(0n);
      expect(await admit(bare, undefined)).to.equal('never_topped_up');
      expect(await admit(empty, undefined)).to.equal('insufficient_balance');
      expect(refused).to.deep.equal([bare, empty]);
    });

    it('a wallet with money is read once a second, one without each time', async () => {
      const recentBalances = createRecentBalanceCache();
      const outcomes = async () => [
        await admit(rich, undefined, { recentBalances }),
        await admit(empty, undefined, { recentBalances }),
      ];
      expect(await outcomes()).to.deep.equal(['admitted', 'insufficient_balance']);
      opened.always('ledger.wallet', refuse);
      expect(await outcomes()).to.deep.equal(['admitted', 'store_unavailable']);
      opened.always('ledger.wallet', undefined);
    });

    it('a long body needs memory; if too many wait for it, no store is read; one that is too long is refused for its length', async () => {
      const isCrowded = true;
      opened.always('ledger.wallet', refuse);
      expect(await admit(rich, SMALL_BYTES + 1, { held: BODY_BYTES_MAX, isCrowded })).to.equal('no_room');
      expect(await admit(rich, BODY_BYTES_MAX, { held: 1, isCrowded })).to.equal('no_room');
      opened.always('ledger.wallet', undefined);
      // It waits once its wallet has been looked at.
      expect(await admit(rich, BODY_BYTES_MAX, { held: 1 })).to.equal('admitted');
      expect(await admit(empty, BODY_BYTES_MAX, { held: 1 })).to.equal('insufficient_balance');
      expect(await admit(rich, BODY_BYTES_MAX, { held: 0 })).to.equal('admitted');
      expect(await admit(rich, BODY_BYTES_MAX + 1, { held: BODY_BYTES_MAX, isCrowded })).to.equal('admitted');
    });
  });

  it('refuses a price above the balance, but not one equal to it', async () => {
    const { avail } = await opened.read(rich);
    refused.length = 0;
    const pay = (account: string, amount: bigint) => {
      const state = createRequestState();
      const services = { store: opened.store, topups } as Services;
      const outcome = codeOf(refuseTooExpensive({ services, state, holder: { account } }, { kind: 'image', amount }));
      return outcome.then((code) => [code, state.waitedMs > 0]);
    };
    expect(await pay(rich, avail)).to.deep.equal(['admitted', true]);
    expect(await pay(rich, avail + 1n)).to.deep.equal(['insufficient_balance', true]);
    const bare = await opened.wallet(0n);
    expect(await pay(bare, 1n)).to.deep.equal(['never_topped_up', true]);
    expect(refused).to.deep.equal([rich, bare]);
    // Every account has a wallet.
    expect(await pay('nobody', 1n)).to.deep.equal(['internal', true]);
  });

  it('logs with the id of the request, and adds to its log line', () => {
    const lines: unknown[] = [];
    const logs = (level: string) => (fields: object, message: string) => lines.push([level, fields, message]);
    const log = { debug: logs('debug'), warn: logs('warn'), error: logs('error') } as unknown as Services['log'];
    const state = { ...createRequestState(), startedAt: performance.now() - 100_000 };
    const call = { signal: new AbortController().signal };
    const request = { raw: { req: { headers: {} } } };
    const services = { log } as Services;
    const context = createCallContext({ state, holder: holderOf(rich), services, call, request });
    const { id, notes } = state;
    for (const level of ['debug', 'warn', 'error'] as const) context.log[level]({ a: level }, `at ${level}`);
    expect(lines).to.deep.equal(
      ['debug', 'warn', 'error'].map((level) => [level, { request_id: id, a: level }, `at ${level}`]),
    );
    context.log.note({ ending: 'finish' });
    context.onFirst();
    expect(notes).to.include({ ending: 'finish' });
    expect(notes.first_ms).to.be.within(100_000, 110_000);
    expect(context).to.include({ requestId: id, accountId: rich, keyId: 'key', waitedMs: 0, signal: call.signal });
    expect(context).not.to.have.any.keys('budget', 'caps', 'takePlace', 'maxCost');
  });

  it('sends a reply at once, or after it is stored if repeats may request it', async () => {
    for (const isKept of [false, true]) {
      const gate = makeGate();
      const sent: unknown[] = [];
      const response = {
        writeHead: (status: number, headers: object) => void sent.push(status, headers),
        end: (text: string) => void sent.push(text),
      };
      const request = requestOf(rich, { response });
      const h = { abandon: Symbol('abandon') };
      const idempotency = isKept ? { keep: () => gate.opened } : undefined;
      const headers = commonHeaders(request);
      const answered = answerJson({ request, headers, idempotency, h } as unknown as PaidRequest, { text: 'ё' });
      await new Promise((resolve) => setImmediate(resolve));
      if (isKept) expect(sent).to.deep.equal([]);
      gate.open();
      expect(await answered).to.equal(h.abandon);
      const id = request.app.tollgate?.id;
      const expected = {
        'x-content-type-options': 'nosniff',
        'strict-transport-security': 'max-age=31536000',
        ...messageStyle.headers,
        'x-request-id': id,
        'request-id': id,
        'cache-control': 'no-cache',
        'content-type': 'application/json; charset=utf-8',
        'content-length': 13,
      };
      expect(sent).to.deep.equal([200, expected, '{"text":"ё"}']);
    }
  });

  describe('a reply in pieces', () => {
    /** To a client whose connection takes one piece, and the next one only after a drain. */
    function answerSlowly(stallMs: number) {
      const written: string[] = [];
      const left = new AbortController();
      const response = {
        writeHead: () => undefined,
        write: (text: string) => {
          written.push(text);
          return text === '';
        },
        end: () => void written.push('end'),
        destroy: () => void written.push('destroyed'),
      };
      const request = requestOf(rich, { response });
      const services = { clientStallMs: stallMs };
      const paid = { request, headers: {}, services, call: { signal: left.signal }, h: { abandon: 'sent' } };
      const outcome = answerEvents(paid as unknown as PaidRequest, ['a', 'b'].values()).catch(
        (error: unknown) => error,
      );
      return { written, left, outcome, drain: () => request.raw.res.emit('drain') };
    }

    it('is made as fast as the client reads', async () => {
      const { written, outcome, drain } = answerSlowly(60_000);
      for (const taken of ['a', 'ab']) {
        await until(() => written.join('') === taken);
        await sleep(10);
        expect(written.join('')).to.equal(taken);
        drain();
      }
      expect(await outcome).to.equal('sent');
      expect(written).to.deep.equal(['', 'a', 'b', 'end']);
    });

    it('is broken off when the client leaves, or reads nothing for too long', async () => {
      for (const stallMs of [60_000, 20]) {
        const { written, left, outcome } = answerSlowly(stallMs);
        await until(() => written.includes('a'));
        if (stallMs > 20) left.abort(GONE);
        expect(await outcome).to.equal(GONE);
        expect(written).to.deep.equal(['', 'a', 'destroyed']);
      }
    });
  });

  describe('however its handler ends', () => {
    const ends: Readonly<Record<string, () => unknown>> = {
      'with an answer': () => 'answer',
      'with a refusal': () => {
        throw fault('insufficient_balance', { priceRub: '5.00', balanceRub: '1.00' });
      },
      'with a failure': () => {
        throw new Error('ours');
      },
      'after its client left': () => {
        throw GONE;
      },
    };
    const abandon = Symbol('abandon');

    /** Runs a handler as the route does, for a call under a key against repeats. */
    function run(key: string, handle: PaidHandler) {
      const budget = createMemoryQuota({ bytesMax: 1000, ownerBytesMax: 1000 });
      const calls = createLiveCalls();
      const owners: string[] = [];
      const reserve = (owner: string) => {
        owners.push(owner);
        return budget.reserve(owner);
      };
      const reserveAnswer = (owner: string) => {
        owners.push(owner);
        return budget.reserveAnswer(owner);
      };
      const services = {
        store: opened.store,
        memoryQuota: { reserve, reserveAnswer },
        calls,
        publicUrl: () => 'https://gate.example',
        limits: { generate: { name: 'generate', perMinute: 1 } },
        turns: { enter: () => undefined },
      };
      const { handler } = paidRoute('/paid', services as unknown as Services, handle);
      const request = requestOf(rich, { headers: { 'idempotency-key': key } });
      const outcome = Promise.resolve((handler as (...args: unknown[]) => unknown)(request, { abandon }));
      return { budget, owners, calls, outcome: outcome.catch((error: unknown) => error) };
    }

    for (const [name, end] of Object.entries(ends)) {
      it(`${name}, its memory and its running call are released`, async () => {
        const { budget, owners, calls, outcome } = run(name, async ({ reservation, answerMemory }) => {
          reservation.take(600);
          answerMemory.holdImage(200);
          return end() as never;
        });
        expect([budget.used(), calls.count(), owners]).to.deep.equal([800, 1, ['key', 'key']]);
        const result = await outcome;
        expect([budget.used(), calls.count()]).to.deep.equal([0, 0]);
        if (isFault(result)) expect(result.message).to.contain(' at https://gate.example/account/wallet?account=');
        else expect(result instanceof Error ? result.message : result).to.be.oneOf(['answer', 'ours', abandon]);
      });

      it(`${name}, no repeat waits for a reply that was not stored`, async () => {
        const { outcome } = run(name, async ({ idempotency, request }) => {
          await idempotency?.readBody(Buffer.from(name));
          const terms = idempotency?.terms({ awaited: true });
          const charge = {
            chargeId: request.app.tollgate?.id ?? '',
            key: 'key',
            chargeKind: 'text',
            model: 'm',
          } as const;
          const now = { at: Date.now(), owner: 'me', lease: Date.now() + 60_000 };
          const reserve = { kind: 'reserve', wallet: rich, ...charge, prices: '{}', amount: 5n, ...now } as const;
          await opened.apply({ ...reserve, ...(terms && { idempotency: terms }) });
          return end() as never;
        });
        await outcome;
        const waiting = async () => (await opened.real.idempotency.page({ limit: 10 })).map(({ awaited }) => awaited);
        expect(await waiting()).not.to.be.empty;
        await until(async () => !(await waiting()).includes(true));
      });
    }
  });

  describe('without an answer', () => {
    /** Whether it was taken care of, what is noted, and whether the reply was broken off. */
    function end(error: unknown, response: { headersSent: boolean; destroyed: boolean }) {
      let broken = false;
      const destroy = () => {
        broken = true;
      };
      const request = requestOf(rich, { response: { ...response, destroy } });
      const state = getRequestState(request);
      return [endUnanswered(request.raw.res, state, error), state.notes, broken];
    }
    const waiting = { headersSent: false, destroyed: false };
    const begun = { headersSent: true, destroyed: false };
    const left = { headersSent: true, destroyed: true };
    const error = new Error('ours');

    it('is not assumed for a failure that can still be answered', () => {
      expect(end(error, waiting)).to.deep.equal([false, {}, false]);
    });

    it('is noted for a client that left', () => {
      for (const response of [waiting, begun, left])
        expect(end(GONE, response)).to.deep.equal([true, { ending: 'gone' }, false]);
    });

    it('breaks off a reply that fails after its start, and logs why', () => {
      expect(end(error, begun)).to.deep.equal([true, { err: error }, true]);
      expect(end(error, left)).to.deep.equal([true, {}, false]);
      expect(end(error, { headersSent: false, destroyed: true })).to.deep.equal([true, {}, false]);
    });
  });
});
