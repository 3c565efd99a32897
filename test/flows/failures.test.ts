// The store does not answer while calls run: another process holds the write lock for longer than the service waits.
import { expect } from 'chai';
import {
  ask,
  DIALECTS,
  findBilling,
  joinText,
  open,
  parseEvents,
  type Reply,
  readHead,
  send,
  until,
} from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { lockDatabase } from '../../testkit/process.ts';
import { describeOnSqlite } from '../../testkit/test-store.ts';
import {
  type Behaviour,
  chatAnswer,
  chatChunk,
  chatEnd,
  chatStall,
  SSE,
  startUpstream,
  type TestUpstream,
} from '../../testkit/upstream.ts';

/** Longer than the 4.8 s that a call waits. */
const LOCKED_MS = 5400;
const ANSWERED_WITHIN_MS = 6000;
const SHORT_LOCK_MS = 1500;

interface Form {
  readonly path: string;
  readonly stream: boolean;
  readonly account: TestAccount;
}

interface Answer extends Form {
  readonly reply: Reply;
  /** When it was answered, on the clock of `performance.now()`. */
  readonly at: number;
  readonly charge: string;
}

/** Said of a call that failed before its hold was asked for, as when its key cannot be looked at, and of one after. */
const NOTHING_HELD = 'Nothing was charged.';
const MAYBE_HELD = 'Anything reserved for this call will be returned automatically.';

describeOnSqlite('a store that does not answer', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;

  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({ catalog: chatCatalog(upstream.url) });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  /** Every form of a call, each with an account of its own. */
  const makeForms = (): Promise<Form[]> =>
    Promise.all(
      DIALECTS.flatMap((path) =>
        [true, false].map(async (stream) => ({ path, stream, account: await gateway.account() })),
      ),
    );

  async function call(form: Form): Promise<Answer> {
    const { path, stream, account } = form;
    const reply = await send(gateway.url + path, { key: account.key, body: ask('hi', { stream }) });
    return { ...form, reply, at: performance.now(), charge: String(reply.headers['x-request-id']) };
  }

  /** Calls in every form that have reached the upstream. */
  async function begin(behaviour: Behaviour): Promise<Promise<Answer>[]> {
    const before = upstream.calls.length;
    upstream.behave(behaviour);
    const calls = (await makeForms()).map(call);
    await until(() => upstream.calls.length === before + calls.length);
    return calls;
  }

  /** A client in mid-stream; resolves to how it leaves. */
  async function beginLeaver(account: TestAccount, path: string): Promise<() => void> {
    const sent = open(gateway.url + path, { key: account.key, body: ask('hi', { stream: true }) });
    sent.on('error', () => undefined);
    const response = await readHead(sent);
    response.on('error', () => undefined);
    await new Promise((resolve) => response.once('data', resolve));
    return () => sent.destroy();
  }

  const lock = () => lockDatabase(gateway.databaseUrl.slice('sqlite:'.length));
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const readState = async ({ charge }: Answer) => (await gateway.store.ledger.charge(charge))?.state;
  const describeForm = ({ path, stream }: Form) => `${path}${stream ? ', streaming' : ''}`;

  describe('for longer than a call waits', () => {
    let lockedAt = 0;
    let finished: Answer[];
    let failed: Answer[];
    let late: Answer[];
    let leavers: TestAccount[];
    let reads: number[];
    let asked: number;

    before(async function () {
      this.timeout(30_000);
      let openGate: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => {
        openGate = resolve;
      });
      const finishing = await begin(async ({ response }) => {
        response.writeHead(200, SSE);
        response.write(chatChunk('first '));
        await gate;
        response.end(chatChunk('last.') + chatEnd({ input: 7, output: 400 }));
      });
      const failing = await begin(async ({ response }) => {
        await gate;
        response.writeHead(500).end();
      });
      upstream.behave(chatStall([' word'.repeat(500)]));
      leavers = await Promise.all([gateway.account(), gateway.account()]);
      const leave = await Promise.all(leavers.map((account, index) => beginLeaver(account, DIALECTS[index] as string)));
      const lateForms = await makeForms();
      const reader = await gateway.account();

      const { release } = await lock();
      lockedAt = performance.now();
      const before = upstream.calls.length;
      openGate();
      for (const go of leave) go();
      const answering = [finishing, failing, lateForms.map(call)].map((calls) => Promise.all(calls));
      const paths = ['/api/v1/balance', '/api/v1/models'];
      const replies = paths.map((path) => send(gateway.url + path, { key: reader.key }));
      reads = (await Promise.all(replies)).map(({ status }) => status);
      await sleep(LOCKED_MS);
      await release();
      [finished, failed, late] = (await Promise.all(answering)) as [Answer[], Answer[], Answer[]];
      asked = upstream.calls.length - before;
      // What was under way is decided once a later call has been.
      upstream.behave(chatAnswer('Hello.'));
      await call({ path: DIALECTS[0], stream: false, account: reader });
    });

    it('answers a new call 503 within 6 s, asks no upstream and leaves no ghost', async () => {
      expect(asked).to.equal(0);
      for (const answer of late) {
        const { status, json } = answer.reply;
        expect(status, describeForm(answer)).to.equal(503);
        expect(json.error.type).to.equal('api_error');
        const [, words] = /^The service is temporarily unavailable\. (.*)$/.exec(json.error.message) ?? [];
        expect(words).to.be.oneOf([NOTHING_HELD, MAYBE_HELD]);
        expect(answer.at - lockedAt).to.be.within(4000, ANSWERED_WITHIN_MS);
        await until(async () => [undefined, 'released'].includes(await readState(answer)));
        if (words === NOTHING_HELD) expect(await readState(answer), describeForm(answer)).to.equal(undefined);
        expect(await gateway.wallet(answer.account)).to.include({ avail: 1_000_000_000n, held: 0n, charged: 0n });
      }
    });

    it('delivers the answer of a running call, and books its charge when it can', async () => {
      for (const answer of finished) {
        const { status, text, json } = answer.reply;
        expect(status, describeForm(answer)).to.equal(200);
        expect(answer.at - lockedAt).to.be.within(4000, ANSWERED_WITHIN_MS);
        if (answer.stream) {
          const events = parseEvents(text);
          expect(joinText(events)).to.equal('first last.');
          expect(findBilling(events)).to.include({ charged_rub: 2.007, balance_rub: 997.993 });
        } else expect(JSON.stringify(json)).to.contain('first last.');
        await until(async () => (await readState(answer)) === 'settled');
        expect(await gateway.wallet(answer.account)).to.include({ avail: 997_993_000n, held: 0n, charged: 2_007_000n });
      }
    });

    it('says that a failed call is refunded, and returns its hold when it can', async () => {
      for (const answer of failed) {
        const { status, text } = answer.reply;
        expect(status, describeForm(answer)).to.equal(answer.stream ? 200 : 502);
        expect(text).to.contain('The upstream provider failed. Charge refunded.');
        expect(answer.at - lockedAt).to.be.below(ANSWERED_WITHIN_MS);
        await until(async () => (await readState(answer)) === 'released');
        expect(await gateway.wallet(answer.account)).to.include({ avail: 1_000_000_000n, held: 0n, charged: 0n });
      }
    });

    it('charges a client that left meanwhile for what was produced', async () => {
      for (const account of leavers) {
        await until(async () => (await gateway.wallet(account)).held === 0n);
        expect((await gateway.wallet(account)).charged).to.equal(2_505_000n);
      }
    });

    it('goes on reading, and works again at once', async () => {
      expect(reads).to.deep.equal([200, 200]);
      upstream.behave(chatAnswer('Hello.'));
      const again = await Promise.all((await makeForms()).map(call));
      expect(again.map(({ reply }) => reply.status)).to.deep.equal(Array(2 * DIALECTS.length).fill(200));
      await gateway.checkMoney();
    });
  });

  it('only waits when it is back in time', async () => {
    upstream.behave(chatAnswer('Hello.', { input: 7, output: 400 }));
    const forms = await makeForms();
    const { release } = await lock();
    const lockedAt = performance.now();
    const calls = Promise.all(forms.map(call));
    await sleep(SHORT_LOCK_MS);
    await release();
    for (const { reply, at, account } of await calls) {
      expect(reply.status).to.equal(200);
      expect(at - lockedAt).to.be.within(SHORT_LOCK_MS - 100, ANSWERED_WITHIN_MS);
      expect((await gateway.wallet(account)).charged).to.equal(2_007_000n);
    }
    await gateway.checkMoney();
  });
});
