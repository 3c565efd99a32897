// The contract suite of payment plugins: the shipped ones and that of the guide pass, and each defect is found.
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { collectPaymentChecks } from '../../../lib/plugin/check/payment.ts';

const PAYMENTS = fileURLToPath(new URL('../../../payments/', import.meta.url));
const GUIDE = new URL('../../../docs/payments.md', import.meta.url);

interface Defect {
  readonly what: string;
  readonly from: string | RegExp;
  readonly to: string;
  /** A check that has to fail. */
  readonly failing: string;
}

const DEFECTS: readonly Defect[] = [
  {
    what: 'credits before it is paid',
    from: "['new', 'pending']",
    to: "['new', 'succeeded']",
    failing: 'fetch: takes `new` for pending',
  },
  {
    what: 'takes an unknown state for paid',
    from: 'STATES.get(state)',
    to: "STATES.get(state) ?? 'succeeded'",
    failing: 'fetch: takes no unknown state for paid or declined',
  },
  {
    what: 'takes an unknown state for declined',
    from: 'STATES.get(state)',
    to: "STATES.get(state) ?? 'canceled'",
    failing: 'find: takes no unknown state for paid or declined',
  },
  {
    what: 'takes kopecks for roubles',
    from: /BigInt\(kopecks\) \* MICRO_PER_KOPECK/,
    to: 'BigInt(kopecks) * 1_000_000n',
    failing: 'fetch: takes the sum from the answer',
  },
  {
    what: 'counts money in doubles',
    from: /BigInt\(kopecks\) \* MICRO_PER_KOPECK/,
    to: 'kopecks * 10_000',
    failing: 'fetch: takes the sum from the answer',
  },
  {
    what: 'says of every sum that it is the one that was ordered',
    from: /BigInt\(kopecks\) \* MICRO_PER_KOPECK/,
    to: '1_234_560_000n',
    failing: 'fetch: takes the sum from the answer',
  },
  {
    what: 'says of every currency that it is roubles',
    from: 'MICRO_PER_KOPECK, currency,',
    to: "MICRO_PER_KOPECK, currency: 'RUB',",
    failing: 'fetch: takes currency from the answer: USD',
  },
  {
    what: 'never says that it is a test',
    from: 'test: test === true',
    to: 'test: false',
    failing: 'fetch: takes test from the answer: true',
  },
  {
    what: 'always says that it is a test',
    from: 'test: test === true',
    to: 'test: true',
    failing: 'fetch: takes test from the answer: false',
  },
  {
    what: 'says of every payment that it is to the own shop',
    from: 'shop: paidTo, test:',
    to: 'shop, test:',
    failing: 'fetch: takes shop from the answer: another-shop',
  },
  {
    what: 'takes what another order paid',
    from: 'item?.order === id',
    to: 'item',
    failing: 'find: finds no payment of another order',
  },
  {
    what: 'says of every payment that it is of this order',
    from: "order: typeof order === 'string' ? order : null",
    to: "order: 'pay_0190check0000000000000000000000000001'",
    failing: 'fetch: takes order from the answer: pay_another',
  },
  {
    what: 'has no reason of a decline',
    from: "{ kind: 'soft', code: String(why ?? 'declined') }",
    to: 'null',
    failing: 'fetch: takes `declined` for canceled',
  },
  {
    what: 'sends no key',
    from: "if (key) headers['idempotency-key'] = key;",
    to: '',
    failing: 'start: sends the key of the order, the same in a repeat',
  },
  {
    what: 'sends another key each time',
    from: '= key;',
    to: '= key + Math.random();',
    failing: 'start: sends the key of the order, the same in a repeat',
  },
  {
    what: 'asks for another sum',
    from: 'kopecks: Number(amount / MICRO_PER_KOPECK), currency',
    to: 'kopecks: Number(amount / MICRO_PER_KOPECK) + 1, currency',
    failing: 'start: asks for the sum of the order, and names it',
  },
  {
    what: 'does not name its order',
    from: '{ order: id, kopecks',
    to: '{ kopecks',
    failing: 'start: asks for the sum of the order, and names it',
  },
  {
    what: 'gives another sum back',
    from: 'payment: of, kopecks: Number(amount / MICRO_PER_KOPECK)',
    to: 'payment: of, kopecks: 5',
    failing: 'refund: asks for the sum of the order, and names it',
  },
  {
    what: 'has its secret in the URL',
    from: 'host.json(baseUrl + path,',
    to: "host.json(baseUrl + path + (path.includes('?') ? '&' : '?') + 'secret=' + secret,",
    failing: 'fetch: keeps the secret out of URLs',
  },
  {
    what: 'has a secret that the gateway does not know as one',
    from: '.meta({ secret: true })',
    to: '',
    failing: 'provider: has a secret where it takes real money',
  },
  {
    what: 'sends payers anywhere',
    from: "redirectHosts: ['pay.acme.example']",
    to: "redirectHosts: ['pay.acme.test']",
    failing: 'start: resolves to a link that the payer may follow',
  },
  {
    what: 'throws at rubbish in a notice',
    from: /try \{\n(.*?)\} catch \{\n\s*return 'rejected';\n\s*\}/s,
    to: '$1',
    failing: 'notice: is rejected, not thrown at, where it is rubbish',
  },
  {
    what: 'takes every notice for one of a payment',
    from: /notice\(\{ body \}\) \{/,
    to: "notice() { return { fetch: ['any'] };",
    failing: 'notice: names the payment that it is of, and nothing it says changes that',
  },
  {
    what: 'believes the state of a notice',
    from: "return typeof id === 'string' ?",
    to: 'return JSON.parse(body).kopecks > 1 ?',
    failing: 'notice: names the payment that it is of, and nothing it says changes that',
  },
  {
    what: 'ignores an abort',
    from: '{ method, headers, signal,',
    to: '{ method, headers, signal: new AbortController().signal,',
    failing: 'start: ends at its abort, and its connection with it',
  },
  {
    what: 'asks again by itself',
    from: /const \{ value \} = await (host\.json\(.*\));\n/,
    to: 'const go = () => $1;\nconst { value } = await go().catch(go);\n',
    failing: 'start: is done once when the answer is lost, and nobody knows what came of it',
  },
  {
    what: 'says that a lost order never began',
    from: /const \{ value \} = await (host\.json\(.*\));\n/,
    to: "const { value } = await $1.catch(() => { throw host.fault.make('request', 'refused'); });\n",
    failing: 'start: is done once when the answer is lost, and nobody knows what came of it',
  },
  {
    what: 'takes an answer without a link',
    from: "|| typeof answer.link !== 'string'",
    to: '',
    failing: 'start: takes no rubbish for an answer',
  },
  {
    what: 'throws errors of its own',
    from: "host.fault.make('protocol', `the answer",
    to: "new Error('protocol', `the answer",
    failing: 'fetch: takes no rubbish for an answer',
  },
  {
    what: 'reads what is not there',
    from: "if (typeof value !== 'object' || value === null) throw broken('object');",
    to: '',
    failing: 'fetch: takes no rubbish for an answer',
  },
  {
    what: 'remembers keys longer than anybody',
    from: 'keysLiveMs: 24 *',
    to: 'keysLiveMs: 48 *',
    failing: 'provider: knows how long keys live, a day at most',
  },
];

describe('the suite of payment plugins', function () {
  this.timeout(60_000);
  let folder: string;
  let source: string;
  let fixture: string;

  before(async () => {
    const guide = await readFile(GUIDE, 'utf8');
    [, source = ''] = /```js\n(export default \{.*?)```/s.exec(guide) ?? [];
    [, fixture = ''] = /```json\n(\{\n {2}"settings".*?)```/s.exec(guide) ?? [];
    folder = await mkdtemp(join(tmpdir(), 'tollgate-payment-check-'));
  });
  after(() => rm(folder, { recursive: true }));

  let count = 0;
  async function write(text: string, more: string | null = fixture): Promise<string> {
    count += 1;
    const own = join(folder, String(count), 'acme');
    await mkdir(join(own, 'fixtures'), { recursive: true });
    await writeFile(join(own, 'index.mjs'), text);
    await writeFile(join(own, 'index.js'), "export { default } from './index.mjs';");
    if (more !== null) await writeFile(join(own, 'fixtures', 'payment.json'), more);
    return own;
  }

  async function failuresOf(own: string, only?: string): Promise<readonly string[]> {
    const failures: string[] = [];
    const checks = await collectPaymentChecks(own);
    for (const { group, name, run } of checks.filter((each) => only === undefined || each.group === only)) {
      await run().catch(() => failures.push(`${group}: ${name}`));
    }
    return failures;
  }

  for (const name of ['sandbox', 'yookassa']) {
    it(`passes ${name}`, async () => {
      expect(await failuresOf(join(PAYMENTS, name))).to.deep.equal([]);
    });
  }

  it('passes the plugin that the guide shows', async () => {
    expect(await failuresOf(await write(source))).to.deep.equal([]);
  });

  for (const { what, from, to, failing } of DEFECTS) {
    it(`finds one that ${what}`, async () => {
      const changed = source.replace(from, to);
      expect(changed).not.to.equal(source);
      const [group] = failing.split(': ');
      expect(await failuresOf(await write(changed), group)).to.include(failing);
    });
  }

  it('needs a fixture that says what is compared before a credit', async () => {
    for (const gap of ['currency', 'shop', 'test', 'order', 'kopecks']) {
      const without = fixture.replaceAll(`"{{${gap}}}"`, gap === 'kopecks' ? '123456' : '"RUB"');
      expect((await failuresOf(await write(source, without), 'fetch')).join(), gap).to.match(/fetch: takes/);
    }
  });

  it('says what is wrong with a fixture', async () => {
    for (const [text, says] of [
      [null, /fixtures\/payment\.json does not exist/],
      ['{}', /"states" is required.*"routes" is required.*"notices" is required/],
      [fixture.replace('"declined": "canceled"', '"declined": "pending"'), /no word of `states` means canceled/],
      [fixture.replace('"GET"', '"FETCH"'), /"routes\[1\]\.method" must be one of/],
    ] as const) {
      const error: unknown = await collectPaymentChecks(await write(source, text)).catch((thrown: unknown) => thrown);
      expect(String(error)).to.match(says);
    }
  });

  it('finds that a provider without a vendor takes real money', async () => {
    const own = join(folder, 'changed', 'sandbox');
    await cp(join(PAYMENTS, 'sandbox'), own, { recursive: true });
    const index = join(own, 'index.ts');
    await writeFile(index, (await readFile(index, 'utf8')).replace('live: false', 'live: true'));
    expect(await failuresOf(own)).to.include('payments: takes no real money');
  });
});
