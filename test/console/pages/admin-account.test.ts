// Accounts on operator pages: found, suspended, topped up, corrected and given another owner, with every action logged.
import { expect } from 'chai';
import { AMOUNT_MAX, MICRO_PER_RUB } from '../../../lib/money/money.ts';
import type { User } from '../../../lib/store/ports/users.ts';
import { send, until } from '../../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../../testkit/gateway.ts';
import { hiddenFields, setUpOperator, setUpOwner, unescapeHtml } from '../../../testkit/pages.ts';

const LIST = '/admin/accounts';

describe('the pages of accounts', () => {
  let test: TestGateway;
  let operator: Awaited<ReturnType<typeof setUpOperator>>;
  let account: TestAccount;
  let path: string;

  before(async () => {
    test = await startGateway({ catalog: { upstreams: {}, models: [] } });
    operator = await setUpOperator(test);
  });
  beforeEach(async () => {
    account = await test.account('0');
    path = `${LIST}/${account.id}`;
  });
  after(async () => {
    await test.checkMoney();
    await test.stop();
  });

  const submit = (fields: Readonly<Record<string, string>>) => operator.submit(path, fields);
  const lastDeed = async () => (await test.store.auditLog.page({ limit: 1 }))[0];
  const sums = async () => {
    const { avail, topped, adjusted } = await test.wallet(account);
    return { avail, topped, adjusted };
  };

  it('say of a new account that nobody has access, and draw no empty chart', async () => {
    const made = await operator.submit(LIST, { name: 'Nobody yet' });
    const page = String(made.headers.location);
    const { text } = await operator.get(page);
    expect(text).to.contain('No keys yet.').and.to.contain('Nobody has access yet: invite the owner.');
    expect(text).not.to.contain('class="chart"');
    await setUpOwner(test, page.slice(LIST.length + 1), 'somebody@example.com');
    const shared = (await operator.get(page)).text;
    expect(shared).to.contain('somebody@example.com</a> (owner)').and.not.to.contain('Nobody has access');
  });

  it('rename an account', async () => {
    expect((await submit({ change: 'rename', name: 'Acme' })).status).to.equal(303);
    expect((await operator.get(path)).text).to.contain('<h1>Acme</h1>');
    const detail = JSON.stringify({ name: 'Acme', before: 'test' });
    expect(await lastDeed()).to.include({ action: 'account.rename', account: account.id, detail });
    const empty = await submit({ change: 'rename', name: '\u0007' });
    expect([empty.status, empty.text.includes('1 to 100 characters')]).to.deep.equal([400, true]);
    expect((await operator.get(`${path}?lang=ru`)).text).to.contain('<button>Переименовать</button>');
    await operator.get(`${path}?lang=en`);
  });

  it('find accounts by part of the name or id, newest first', async () => {
    const made: string[] = [];
    for (const name of ['Lamp & Tulip', 'Tulip Two']) {
      const { headers } = await operator.submit(LIST, { name });
      made.push(String(headers.location).slice(LIST.length + 1));
    }
    const found = async (wanted: string) => {
      const { text } = await operator.get(`${LIST}?q=${encodeURIComponent(wanted)}`);
      return [...text.matchAll(/href="\/admin\/accounts\/(acc_\w+)"/g)].map(([, id]) => id);
    };
    const [lamp, two] = made;
    expect(await found(' TULIP ')).to.deep.equal([two, lamp]);
    expect(await found('lamp &')).to.deep.equal([lamp]);
    expect(await found(two?.slice(4, 24).toUpperCase() ?? '')).to.deep.equal([two]);
    expect((await found('')).slice(0, 3)).to.deep.equal([two, lamp, account.id]);
    expect((await operator.get(`${LIST}?q=%25`)).text).to.contain('No customers found.');
    expect(await lastDeed()).to.include({ action: 'account.create', target: two, account: two });
    for (const name of ['', 'x'.repeat(101)]) expect((await operator.submit(LIST, { name })).status).to.equal(400);
  });

  it('keep a note about an account, which its owner does not see', async () => {
    const owner = await setUpOwner(test, account.id);
    const note = 'Pays by invoice.\r\nCall <Vera> first.';
    expect((await submit({ change: 'note', note })).headers.location).to.equal(`${path}?done=done`);
    const { text } = await operator.get(path);
    expect(text)
      .to.contain('Pays by invoice.\nCall &lt;Vera&gt; first.</textarea>')
      .and.to.contain('Only operators see it.');
    expect(await lastDeed()).to.include({
      action: 'account.note',
      account: account.id,
      detail: JSON.stringify({ note: 'Pays by invoice.\nCall <Vera> first.' }),
    });
    const exported = await owner.get('/account/settings/export');
    expect(exported.status).to.equal(200);
    expect(exported.text).not.to.contain('Pays by invoice');
    expect((await submit({ change: 'note', note: 'x'.repeat(2001) })).text).to.contain(
      'A note has at most 2,000 characters.',
    );
    expect((await submit({ change: 'note', note: '' })).status).to.equal(303);
    expect((await operator.get(path)).text).not.to.contain('Pays by invoice');
  });

  it('do not lose the note of another operator', async () => {
    await submit({ change: 'note', note: 'first' });
    const late = await submit({ change: 'note', note: 'mine', before: '' });
    expect(late.status).to.equal(400);
    expect(late.text).to.contain('It is now: “first”').and.to.contain('mine</textarea>');
    expect(hiddenFields(late.text, path).change).to.equal('note');
    expect((await submit({ change: 'note', note: 'mine' })).status).to.equal(303);
    expect((await operator.get(path)).text).to.contain('mine</textarea>');
  });

  it('save one of several notes that come at the same moment', async () => {
    const notes = ['one', 'two', 'three', 'four'];
    const ends = await Promise.all(notes.map((note) => submit({ change: 'note', note, before: '' })));
    expect(ends.filter(({ status }) => status === 303)).to.have.length(1);
    const saved = notes[ends.findIndex(({ status }) => status === 303)];
    for (const { status, text } of ends) if (status === 400) expect(text).to.contain(`It is now: “${saved}”`);
    expect((await operator.get(path)).text).to.contain(`${saved}</textarea>`);
  });

  it('suspend an account, whose keys are then refused, and resume it', async () => {
    const owner = await setUpOwner(test, account.id);
    const readStatus = async () => (await send(`${test.url}/api/v1/models`, { key: account.key })).status;
    for (const [change, status, action] of [
      ['suspend', 'suspended', 'account.suspend'],
      ['resume', 'active', 'account.resume'],
    ] as const) {
      const { headers } = await submit({ change });
      expect(headers.location).to.equal(`${path}?done=done`);
      expect((await test.store.accounts.get(account.id))?.status).to.equal(status);
      expect(await lastDeed()).to.include({ action, target: account.id, account: account.id });
      const isSuspended = change === 'suspend';
      await until(async () => (await readStatus()) === (isSuspended ? 403 : 200));
      expect((await owner.get('/account')).text.includes('role="alert"')).to.equal(isSuspended);
      expect((await operator.get(path)).text).to.contain(`<dd>${status}</dd>`);
    }
    expect((await submit({ change: 'close' })).status).to.equal(403);
  });

  it('record a payment once, and refuse invalid ones', async () => {
    const topup = (amount: string, payment: string) => submit({ change: 'topup', amount, payment });
    for (const [amount, payment, words] of [
      ['much', 'bank-7', 'Enter an amount in RUB'],
      ['0', 'bank-7', 'Enter an amount in RUB'],
      [String(AMOUNT_MAX / MICRO_PER_RUB + 1n), 'bank-7', 'Enter an amount in RUB'],
      ['1000', '', 'is empty, too long'],
      ['1000', 'x'.repeat(201), 'is empty, too long'],
      ['1000', 'a\u0007b', 'or has invisible characters'],
      ['1000', 'inv-7\u200b', 'or has invisible characters'],
      ['999.99', 'bank-7', 'The first payment must be at least ₽1,000.00.'],
    ] as const) {
      const { status, text } = await topup(amount, payment);
      expect([status, text.includes(words)], `${amount} ${words}`).to.deep.equal([400, true]);
    }
    expect(await sums()).to.deep.equal({ avail: 0n, topped: 0n, adjusted: 0n });
    const id = `bank-${account.id}`;
    for (const end of ['done', 'exists']) {
      expect((await topup('1000', id)).headers.location).to.equal(`${path}?done=${end}`);
      const deed = await lastDeed();
      expect(deed).to.include({ action: 'wallet.topup', target: account.id, account: account.id });
      expect(JSON.parse(deed?.detail ?? '')).to.deep.equal({
        ...{ rub_micro: '1000000000', status: end, paymentId: id },
      });
    }
    expect((await topup('1001', id)).text).to.contain('already recorded with another amount');
    expect(await sums()).to.deep.equal({ avail: 1_000_000_000n, topped: 1_000_000_000n, adjusted: 0n });
    expect((await operator.get(`${path}?done=exists`)).text).to.contain('nothing changed');
  });

  it('correct a balance once, however often a form is sent', async () => {
    const { text } = await operator.get(path);
    const [adjust = ''] = /adj_[0-9a-f]{24}/.exec(text) ?? [];
    const { csrf = '' } = hiddenFields(text, path);
    const form = { csrf, change: 'adjust', adjust, amount: '5', reason: 'a gift' };
    const replies = await Promise.all([1, 2, 3].map(() => operator.post(path, form)));
    const ends = replies.map(({ headers }) => String(headers.location).split('=').at(-1));
    expect(ends.sort()).to.deep.equal(['corrected', 'corrected', 'done']);
    expect((await operator.post(path, { ...form, amount: '6' })).status).to.equal(400);
    expect(await sums()).to.deep.equal({ avail: 5_000_000n, topped: 0n, adjusted: 5_000_000n });
  });

  it('correct a balance in both directions, never below zero', async () => {
    const adjust = (amount: string, reason = 'a mistake of ours') => submit({ change: 'adjust', amount, reason });
    expect((await adjust('-1')).text).to.contain('balance cannot fall below zero');
    expect((await adjust('5', '')).text).to.contain('is empty, too long');
    expect((await adjust('--5')).text).to.contain('Enter an amount in RUB');
    for (const amount of ['5', '5', '−2,50', '-0.5']) {
      expect((await adjust(amount)).headers.location, amount).to.equal(`${path}?done=done`);
    }
    expect(await sums()).to.deep.equal({ avail: 7_000_000n, topped: 0n, adjusted: 7_000_000n });
    const deed = await lastDeed();
    const { rub_micro, reason } = JSON.parse(deed?.detail ?? '');
    expect([deed?.action, rub_micro]).to.deep.equal(['wallet.adjust', '-500000']);
    expect(reason).to.be.a('string').and.to.not.equal('');
  });

  it('correct once per form, even if it is sent twice', async () => {
    const before = (await sums()).adjusted;
    const form = async () =>
      /name="adjust" value="(adj_[0-9a-f]{24})"/.exec((await operator.get(path)).text)?.[1] ?? '';
    const adjust = await form();
    const send = (amount: string) => submit({ change: 'adjust', amount, reason: 'once', adjust });
    for (const end of ['done', 'corrected']) {
      expect((await send('3')).headers.location).to.equal(`${path}?done=${end}`);
    }
    expect((await operator.get(`${path}?done=corrected`)).text).to.contain('already made: nothing changed');
    const other = await send('4');
    expect([other.status, other.text.includes('already made another correction')]).to.deep.equal([400, true]);
    expect((await sums()).adjusted - before).to.equal(3_000_000n);
    expect(await form()).to.not.equal(adjust);
  });

  it('invite another owner, and list the owners', async () => {
    const { email } = await setUpOwner(test, account.id);
    const { email: other } = await setUpOwner(test, (await test.account('0')).id);
    expect((await submit({ change: 'invite', email: 'no address' })).text).to.contain('Enter a valid email address');
    const again = await submit({ change: 'invite', email });
    expect([again.status, again.text.includes('already belongs to the account')]).to.deep.equal([400, true]);
    // Nobody becomes an owner without accepting.
    expect((await submit({ change: 'invite', email: ` ${other.toUpperCase()}` })).text).to.contain('/setup?token=');
    const known = await test.store.users.find(email);
    const invited = await test.store.users.find(other);
    const members = (await test.store.users.listAccountMembers(account.id)).map((member) => member.user);
    expect(members).to.deep.equal([known?.id]);
    expect((await operator.get(path)).text)
      .to.contain(`<li><a href="/admin/people/${known?.id}">${email}</a> (owner)</li>`)
      .and.to.contain(account.key.slice(-4))
      .and.not.to.contain(other);
    await test.store.users.suspend(invited as User, Date.now());
    const suspended = await submit({ change: 'invite', email: other });
    expect([suspended.status, suspended.text.includes('This user is suspended')]).to.deep.equal([400, true]);
    await test.store.users.suspend(known as User, Date.now());
    expect((await operator.get(path)).text).to.contain(`${email}</a> (owner, suspended)</li>`);
  });

  it('limit the requests of the account, or remove its limits', async () => {
    const limits = {
      change: 'limits',
      per_minute: '300',
      at_once: '20',
      wait: '10',
      addresses: '10.0.0.0/8, 192.0.2.7',
    };
    const requests = async () => (await test.store.accounts.get(account.id))?.requests;
    expect((await submit(limits)).status).to.equal(303);
    const set = { perMinute: 300, atOnce: 20, waitSeconds: 10, addresses: ['10.0.0.0/8', '192.0.2.7'] };
    expect(await requests()).to.deep.equal(set);
    expect((await operator.get(path)).text).to.contain('value="10.0.0.0/8, 192.0.2.7"');
    const [deed] = await test.store.auditLog.page({ limit: 1 });
    expect(deed).to.include({ action: 'account.limit', account: account.id, detail: JSON.stringify(set) });
    for (const wrong of [{ per_minute: '0' }, { at_once: '1.5' }, { wait: '61' }, { addresses: 'here' }]) {
      const { status, text } = await submit({ ...limits, ...wrong });
      expect([status, text.includes('aria-invalid')], JSON.stringify(wrong)).to.deep.equal([400, true]);
    }
    expect(await requests()).to.deep.equal(set);
    // A form that was opened before keeps what it has not changed.
    const { text: opened } = await operator.get(path);
    const [, shown = ''] = /value="limits">.*?name="shown" value="([^"]*)"/s.exec(opened) ?? [];
    expect((await submit({ ...limits, per_minute: '400' })).status).to.equal(303);
    expect((await submit({ ...limits, at_once: '30', shown: unescapeHtml(shown) })).status).to.equal(303);
    expect(await requests()).to.deep.equal({ ...set, perMinute: 400, atOnce: 30 });
    const none = { per_minute: '', at_once: '', wait: '', addresses: '' };
    expect((await submit({ ...limits, ...none })).status).to.equal(303);
    expect(await requests()).to.equal(undefined);
  });

  it('answer 404 for an unknown account', async () => {
    expect((await operator.get(`${LIST}/acc_none`)).status).to.equal(404);
  });
});
