// Many calls at one balance, and everything that may happen to a wallet while they run.
import { expect } from 'chai';
import type { Entry } from '../../lib/money/decide.ts';
import {
  ask,
  CHAT,
  DIALECTS,
  findBilling,
  MESSAGES,
  parseEvents,
  type Reply,
  send,
  until,
} from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { itTimed } from '../../testkit/timed.ts';
import { chatAnswer, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { runCommand, spawnCommand } from '../cli/command.ts';
import type { StoreDatabase, StoreKind } from '../contract/store/context.ts';

const PARALLEL = longer(120, 200);
const RUB = 1_000_000n;

for (const kind of longer([SQLITE], STORES)) describe(`races on ${kind.name}`, () => races(kind));

function races(kind: StoreKind): void {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let database: StoreDatabase;

  before(async () => {
    upstream = await startUpstream();
    database = await kind.create();
    gateway = await startGateway({ catalog: chatCatalog(upstream.url), database: database.url });
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
    await database.remove();
  });

  /** Answers wait until `open` is called. */
  function holdAnswers(usage: { input: number; output: number }): { open(): void } {
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    upstream.behave(async (call) => {
      await opened;
      await chatAnswer('Hello.', usage)(call);
    });
    return { open };
  }

  const call = (account: TestAccount, index: number, more: object = {}): Promise<Reply> => {
    const path = DIALECTS[index % DIALECTS.length] as string;
    const stream = index % 4 >= 2;
    return send(gateway.url + path, { key: account.key, body: ask('hi', { max_tokens: 2000, stream, ...more }) });
  };

  /** Every balance the wallet ever had, by its journal. */
  async function readBalances({ id }: TestAccount): Promise<readonly bigint[]> {
    const entries: Entry[] = [];
    for (let before = Number.MAX_SAFE_INTEGER; before > 1; before = entries.at(-1)?.seq ?? 0) {
      entries.push(...(await gateway.store.ledger.entries(id, { before, limit: 500 })));
    }
    let balance = 0n;
    return entries.reverse().map(({ avail }) => {
      balance += avail;
      return balance;
    });
  }

  async function neverBelowZero(account: TestAccount): Promise<void> {
    const balances = await readBalances(account);
    expect(balances.filter((balance) => balance < 0n)).to.deep.equal([]);
    expect(balances.at(-1)).to.equal((await gateway.wallet(account)).avail);
  }

  /** On a connection of its own, as in a process of its own. */
  const command = async (...args: string[]) => {
    const env = { PATH: process.env.PATH, DATABASE_URL: gateway.databaseUrl };
    const { code, stdout, stderr } = await longer(runCommand, spawnCommand)([...args, '--json'], env);
    expect([code, stderr]).to.deep.equal([0, '']);
    return JSON.parse(stdout);
  };

  it(`answers exactly as many of ${PARALLEL} parallel calls as the balance pays for`, async () => {
    // 5 input tokens at 1000 and 2000 output at 5000 per million: 10.005 RUB each.
    const paidFor = 101;
    const account = await gateway.account('1010.505');
    const before = upstream.calls.length;
    const answers = holdAnswers({ input: 5, output: 2000 });
    let refused = 0;
    const replies = Array.from({ length: PARALLEL }, async (_, index) => {
      const reply = await call(account, index);
      if (reply.status === 402) refused += 1;
      return reply;
    });
    await until(() => refused === PARALLEL - paidFor, 15_000);
    expect(await gateway.wallet(account)).to.include({ avail: 0n, held: 1_010_505_000n });
    answers.open();
    const statuses = (await Promise.all(replies)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).to.have.length(paidFor);
    expect(statuses.filter((status) => status === 402)).to.have.length(PARALLEL - paidFor);
    expect(upstream.calls.length - before).to.equal(paidFor);
    expect(await gateway.wallet(account)).to.include({ avail: 0n, held: 0n, charged: 1_010_505_000n });
    await neverBelowZero(account);
  });

  it('never lets a balance below zero while answers give back what they did not use', async () => {
    upstream.behave(chatAnswer('Hello.', { input: 5, output: 400 }));
    const account = await gateway.account('1000');
    const replies = await Promise.all(Array.from({ length: PARALLEL }, (_, index) => call(account, index)));
    const answered = replies.filter(({ status }) => status === 200).length;
    expect(answered).to.be.at.least(99);
    expect(replies.every(({ status }) => status === 200 || status === 402)).to.equal(true);
    const charged = BigInt(answered) * 2_005_000n;
    expect(await gateway.wallet(account)).to.include({ avail: 1000n * RUB - charged, charged });
    await neverBelowZero(account);
  });

  it('keeps the money of many accounts apart', async () => {
    upstream.behave(async (request) => {
      // Every account asks for a cost of its own.
      const [prompt] = request.body.messages as { content: string }[];
      await chatAnswer('Hello.', { input: 0, output: Number(prompt?.content) })(request);
    });
    const accounts = await Promise.all(Array.from({ length: longer(8, 20) }, () => gateway.account()));
    const replies = accounts.flatMap((account, index) =>
      Array.from({ length: 8 }, (_, turn) => {
        const messages = [{ role: 'user', content: String(200 + 10 * index) }];
        return call(account, turn, { messages });
      }),
    );
    for (const { status } of await Promise.all(replies)) expect(status).to.equal(200);
    for (const [index, account] of accounts.entries()) {
      const each = BigInt(200 + 10 * index) * 5000n + 5000n;
      const charged = 8n * each;
      expect(await gateway.wallet(account)).to.include({ avail: 1000n * RUB - charged, charged });
    }
  });

  it('books top-ups and corrections of the command line while calls run', async () => {
    upstream.behave(chatAnswer('Hello.', { input: 0, output: 399 }));
    // More than the calls can spend, however long a busy machine takes for the commands.
    const account = await gateway.account('100000');
    let running = true;
    let answered = 0;
    const callers = Array.from({ length: 8 }, async (_, index) => {
      while (running) {
        const { status, text } = await call(account, index, { max_tokens: 600 });
        expect(status, text).to.equal(200);
        answered += 1;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    });
    let again = {};
    try {
      for (let turn = 0; turn < 4; turn += 1) {
        await Promise.all([
          command('wallet', 'topup', account.id, '100.5', '--payment-id', `race-${account.id}-${turn}`),
          command('wallet', 'adjust', account.id, '-10.25', '--reason', 'race'),
        ]);
      }
      again = await command('wallet', 'topup', account.id, '100.5', '--payment-id', `race-${account.id}-0`);
      await until(() => answered > 10);
    } finally {
      running = false;
      await Promise.all(callers);
    }
    const charged = BigInt(answered) * 2_000_000n;
    expect(again).to.include({ topped_up_total_rub: 100_402 });
    expect(await gateway.wallet(account)).to.include({
      topped: 100_402_000_000n,
      adjusted: -41_000_000n,
      charged,
      avail: 100_361_000_000n - charged,
    });
    await neverBelowZero(account);
  });

  itTimed(
    'settles the running calls of an account that is suspended, and refuses the next within a second',
    async () => {
      const account = await gateway.account();
      const answers = holdAnswers({ input: 0, output: 999 });
      const before = upstream.calls.length;
      const running = Array.from({ length: 4 }, (_, index) => call(account, index));
      await until(() => upstream.calls.length === before + running.length);
      try {
        await command('account', 'suspend', account.id);
        const suspendedAt = performance.now();
        for (const path of [MESSAGES, CHAT]) {
          await until(async () => {
            const reply = await send(gateway.url + path, { key: account.key, body: ask('hi', { max_tokens: 0 }) });
            // A body that is refused: nothing is held while the key still counts as good.
            return reply.status === 403;
          }, 1000);
        }
        expect(performance.now() - suspendedAt).to.be.below(1000);
      } finally {
        // Also before another attempt: nothing may stay held.
        answers.open();
        await Promise.allSettled(running);
      }
      for (const { status, text } of await Promise.all(running)) {
        expect(status).to.equal(200);
        expect(text).to.contain('Hello.');
      }
      expect(await gateway.wallet(account)).to.include({ status: 'suspended', held: 0n, charged: 20n * RUB });
      await command('account', 'resume', account.id);
      await until(async () => (await call(account, 0)).status === 200, 1500);
    },
  );

  it('tells every stream the balance right after its own settlement', async () => {
    upstream.behave(chatAnswer('Hello.', { input: 0, output: 199 }));
    const account = await gateway.account();
    const replies = await Promise.all(
      Array.from({ length: 50 }, () =>
        send(gateway.url + MESSAGES, { key: account.key, body: ask('hi', { stream: true, max_tokens: 1 }) }),
      ),
    );
    const balances = replies.map(({ text }) => Math.round(findBilling(parseEvents(text)).balance_rub * 1e6));
    // What is held by the others is off the balance, so each is one of the balances the journal has seen.
    const seen = new Set((await readBalances(account)).map(Number));
    for (const told of balances) expect(seen.has(told)).to.equal(true);
  });
}
