// A bank that signs: the suite passes its plugin, whichever way its webhooks are signed, and finds each seeded defect.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { collectPaymentChecks } from '../../../lib/upstream/check/payment.ts';
import { BANK, BANK_DEFECTS, BANK_FIXTURE } from './bank.ts';

const GUIDE = new URL('../../../docs/payments.md', import.meta.url);

/** How the plugin verifies, by the signature that the guide shows. */
const TOKEN = `const { Token, ...fields } = JSON.parse(body);
          const text = Object.entries({ ...fields, Password: secret }).sort(([one], [other]) => (one < other ? -1 : 1));
          const token = createHash('sha256').update(text.map(([, value]) => value).join('')).digest('hex');
          if (token !== Token) return 'rejected';`;
const CHECKSUM = `const { checksum, ...fields } = Object.fromEntries(new URLSearchParams(body));
          const text = Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1));
          const sum = mac(text.map(([name, value]) => name + ';' + value + ';').join('')).toUpperCase();
          if (sum !== checksum) return 'rejected';
          body = JSON.stringify({ orderId: fields.mdOrder });`;
const VERIFIES = "if (headers['x-signature'] !== mac(body)) return 'rejected';";

describe('the suite of payment plugins, at a bank that signs', function () {
  this.timeout(60_000);
  let root: string;
  let signs: readonly string[];
  let count = 0;

  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'tollgate-bank-check-'));
    await writeFile(join(root, 'package.json'), '{ "type": "module" }');
    const [, section = ''] = (await readFile(GUIDE, 'utf8')).split('### Signed webhooks');
    signs = [...section.matchAll(/```js\n(import .*?)```/gs)].map(([, text = '']) => text);
    expect(signs).to.have.length(3);
  });
  after(() => rm(root, { recursive: true }));

  interface Files {
    readonly plugin?: string;
    readonly sign?: string | undefined;
    readonly fixture?: object;
  }

  /** The failing checks, of all or one; each folder is new, as modules load once. */
  async function collectFailures(files: Files, only?: string): Promise<readonly string[]> {
    const { plugin = BANK, sign = signs[1], fixture = BANK_FIXTURE } = files;
    const folder = join(root, `${count++}`, 'bank');
    await mkdir(join(folder, 'fixtures'), { recursive: true });
    await writeFile(join(folder, 'index.js'), plugin);
    await writeFile(join(folder, 'fixtures', 'payment.json'), JSON.stringify(fixture));
    if (sign) await writeFile(join(folder, 'fixtures', 'sign.js'), sign);
    const failures: string[] = [];
    for (const { group, name, run } of await collectPaymentChecks(folder)) {
      const whole = `${group}: ${name}`;
      if (only === undefined || whole.startsWith(only)) {
        await run().catch((error: Error) => failures.push(`${whole}\n${error.message}`));
      }
    }
    return failures;
  }

  it('passes it, with a MAC in a header', async () => {
    expect(await collectFailures({})).to.deep.equal([]);
  });

  it('passes it with a token in the body, and with a checksum in a form', async () => {
    const token = {
      plugin: BANK.replace(VERIFIES, TOKEN),
      sign: signs[0]?.replace('{ password }', '{ secret: password }'),
    };
    expect(await collectFailures(token, 'webhook')).to.deep.equal([]);
    const fixture = { ...BANK_FIXTURE, notices: [{ body: 'mdOrder={{id}}&operation=deposited' }] };
    const checksum = { plugin: BANK.replace(VERIFIES, CHECKSUM), sign: signs[2], fixture };
    expect(await collectFailures(checksum, 'webhook')).to.deep.equal([]);
  });

  for (const { what, from, to, failing } of BANK_DEFECTS) {
    it(`finds one that ${what}`, async () => {
      expect(BANK.split(from)).to.have.length(2);
      const plugin = BANK.replace(from, () => to);
      const [found = ''] = await collectFailures({ plugin }, failing);
      expect(found.split('\n')[0]).to.equal(failing);
    });
  }

  it('says which path the fixture does not have, and which gap', async () => {
    const routes = BANK_FIXTURE.routes.filter(({ on }) => on?.[0] !== 'charge');
    const [lost = ''] = await collectFailures({ fixture: { ...BANK_FIXTURE, routes } }, 'charge: takes `DEPOSITED`');
    expect(lost).to.contain('no answer of charge to POST /v1/bindings/method-check-5/orders');
    const text = JSON.stringify(BANK_FIXTURE).replaceAll('"{{saved}}"', '"b-1"');
    const [constant = ''] = await collectFailures({ fixture: JSON.parse(text) }, 'fetch: says which method');
    expect(constant).to.contain('has {{saved}}');
  });

  it('lets a fixture say that a bank takes no keys, and what its answers do not say', async () => {
    const plugin = BANK.replace(
      "'x-request-id': post.key",
      "'x-request-id': post.body.requestNumber ?? post.body.orderNumber",
    );
    const says = 'start: sends the key of the order';
    expect((await collectFailures({ plugin }, says))[0]).to.contain('`idIsKey`');
    const reason = 'the bank refuses a second order with the same number';
    expect(await collectFailures({ plugin, fixture: { ...BANK_FIXTURE, idIsKey: reason } }, says)).to.deep.equal([]);
    const constant = BANK.replace('CURRENCIES.get(currency) ?? String(currency)', "'RUB'");
    const untold = { currency: 'a terminal of the bank has one currency' };
    const reads = 'fetch: takes currency from the answer';
    expect(await collectFailures({ plugin: constant }, reads)).to.have.length(1);
    expect(await collectFailures({ plugin: constant, fixture: { ...BANK_FIXTURE, untold } }, reads)).to.deep.equal([]);
  });

  it('finds one that takes a decline for a refusal, where the bank answers it otherwise', async () => {
    const plugin = BANK.replace(
      "throw broken('object');",
      "throw broken('object'); if (value.success === false) throw host.fault.make('request', 'refused');",
    );
    const charge = BANK_FIXTURE.routes.find(({ on }) => on?.[0] === 'charge');
    const declined = { ...charge, when: ['DECLINED'], reply: { ...charge?.reply, success: false } };
    const fixture = { ...BANK_FIXTURE, routes: [declined, ...BANK_FIXTURE.routes] };
    expect(await collectFailures({ fixture }, 'charge: takes `')).to.deep.equal([]);
    const [failure = ''] = await collectFailures({ plugin, fixture }, 'charge: takes `');
    expect(failure).to.match(/^charge: takes `DECLINED` for canceled\nrequest: refused/);
  });

  it('lets a fixture say why the body is not signed, and refuses a `sign` that signs nothing', async () => {
    const plugin = BANK.replace("time, body ?? ''].join", 'time].join');
    const fixture = { ...BANK_FIXTURE, bodyUnsigned: 'the bank signs the path alone' };
    expect(await collectFailures({ plugin, fixture }, 'start: signs the body')).to.deep.equal([]);
    const [idle = ''] = await collectFailures({ sign: 'export default () => ({});' }, 'webhook: is rejected without');
    expect(idle).to.contain('adds nothing that depends on the secret');
    const error: unknown = await collectFailures({ sign: 'export default 5;' }).catch((thrown: unknown) => thrown);
    expect(String(error)).to.match(/sign\.js: the default export is no function/);
  });
});
