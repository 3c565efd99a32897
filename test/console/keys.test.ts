// The keys of an account: created once, revoked by name, and invisible to others.
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { createAccounts } from '../../lib/accounts/accounts.ts';
import type { KeyLimits } from '../../lib/money/key-limits.ts';
import { findPeriod } from '../../lib/money/period.ts';
import { send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { formFields, hiddenFields, setUpOperator, setUpOwner } from '../../testkit/pages.ts';
import { itOnSqlite } from '../../testkit/test-store.ts';

const MONTHLY: Pick<KeyLimits, 'reset' | 'zone'> = { reset: 'month', zone: 'Europe/Moscow' };
const KEY = /tg-sk-\w{49}/;
/** A model that is not on sale, because its upstream has no key. */
const OFF_UPSTREAM = { plugin: 'anthropic', settings: { apiKey: ['$', '{OFF_API_KEY}'].join('') } };
const OFF_MODEL = { id: 'off', type: 'text', provider: 'Test', routes: [{ upstream: 'off', model: 'off' }] };
const OFF = { upstreams: { off: OFF_UPSTREAM }, models: [{ ...OFF_MODEL, price: { input: '1', output: '1' } }] };

describe('the page of keys', () => {
  let test: TestGateway;
  let account: TestAccount;
  let owner: Awaited<ReturnType<typeof setUpOwner>>;

  before(async () => {
    test = await startGateway({ catalog: OFF, env: { SANDBOX: 'on' } });
    account = await test.account();
    owner = await setUpOwner(test, account.id);
  });
  after(() => test.stop());

  it('creates a working key and shows it once', async () => {
    const reply = await owner.submit('/account/keys', { name: 'laptop <b>' });
    expect(reply.status).to.equal(200);
    const [key = ''] = KEY.exec(reply.text) ?? [];
    expect((await send(`${test.url}/api/v1/models`, { key })).status).to.equal(200);
    const later = await owner.get('/account/keys');
    expect(later.text).not.to.match(KEY);
    expect(later.text)
      .to.contain('laptop &lt;b&gt;')
      .and.to.contain(`…${key.slice(-4)}`);
    const [row] = await test.store.auditLog.page({ limit: 1 });
    expect(row).to.include({ action: 'key.issue', account: account.id });
    expect(JSON.stringify(row)).not.to.contain(key);
  });

  it('refuses invalid names and an eleventh key', async () => {
    for (const name of ['', '   ', 'x'.repeat(101), 'a\tb']) {
      expect((await owner.submit('/account/keys', { name })).status, JSON.stringify(name)).to.equal(400);
    }
    const full = await test.account();
    const other = await setUpOwner(test, full.id);
    for (let number = 2; number <= 10; number += 1) await other.submit('/account/keys', { name: `key ${number}` });
    expect((await other.get('/account/keys')).text).to.contain('Revoke one to create another');
    const keys = await test.store.keys.list(full.id);
    expect(keys).to.have.length(10);
  });

  it('revokes a key for good when its name is typed', async () => {
    const issued = await owner.submit('/account/keys', { name: 'old phone' });
    const [key = ''] = KEY.exec(issued.text) ?? [];
    const [before = '', shell = ''] = issued.text.split('<details><summary>Try it on the command line');
    expect(before).to.contain('<a class="button" href="/account/connect">Next: settings for your program</a>');
    expect([KEY.test(before), shell.includes(`Bearer ${key}`)]).to.deep.equal([true, true]);
    const { id = '' } = (await test.store.keys.list(account.id)).find(({ name }) => name === 'old phone') ?? {};
    const path = `/account/keys/${id}`;
    expect((await owner.submit(path, { name: 'old' })).status).to.equal(400);
    const done = await owner.submit(path, { name: 'old phone' });
    expect([done.status, done.headers.location]).to.deep.equal([303, '/account/keys?done=revoked']);
    expect((await owner.get('/account/keys?done=revoked')).text).to.contain('The key was revoked.');
    expect((await owner.get(path)).status).to.equal(404);
    // Within a second everywhere.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect((await send(`${test.url}/api/v1/models`, { key })).status).to.equal(401);
  });

  it('lists the keys that work, and the latest of those that do not', async () => {
    const rotating = await test.account();
    const visitor = await setUpOwner(test, rotating.id);
    for (let number = 1; number <= 25; number += 1) {
      await visitor.submit('/account/keys', { name: `key of day ${number}.` });
      const { id = '' } = (await test.store.keys.list(rotating.id)).at(-1) ?? {};
      await test.store.keys.revoke(id, Date.now());
    }
    const listNames = (text: string) => [...text.matchAll(/key of day (\d+)\./g)].map(([, number]) => Number(number));
    const { text } = await visitor.get('/account/keys');
    expect(text)
      .to.contain('test key')
      .and.to.match(/ended=all">More revoked and expired keys: 5</);
    expect(listNames(text)).to.deep.equal(Array.from({ length: 20 }, (_, at) => at + 6));
    const all = await visitor.get('/account/keys?ended=all');
    expect([listNames(all.text).length, all.text.includes('More revoked')]).to.deep.equal([25, false]);
  });

  it('lists thousands of keys that do not work in parts, and names few of them elsewhere', async () => {
    const rotating = await test.account();
    const visitor = await setUpOwner(test, rotating.id);
    const nameOf = (number: number) => `key of day ${number}.`;
    for (let number = 1; number <= 210; number += 1) {
      const key = { id: `key_rotated${number}`, account: rotating.id, name: nameOf(number), last4: 'Ab9z' };
      await test.store.keys.add({ ...key, hash: `${number}`.padStart(64, '0'), createdAt: number }, 10);
      await test.store.keys.revoke(key.id, Date.now());
    }
    const parts: (readonly [number, number | undefined, number])[] = [];
    let path: string | undefined = '/account/keys?ended=all';
    while (path !== undefined) {
      const { text } = await visitor.get(path);
      const numbers = [...text.matchAll(/key of day (\d+)\./g)].map(([, number]) => Number(number));
      parts.push([numbers.length, numbers[0], text.split('test key').length - 1]);
      path = /href="([^"]+)">More revoked/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(parts).to.deep.equal([
      [100, 111, 1],
      [100, 11, 0],
      [10, 1, 0],
    ]);
    const operator = await setUpOperator(test);
    const customer = `/admin/accounts/${rotating.id}`;
    for (const [reader, path] of [
      [visitor, '/account/calls'],
      [visitor, '/account/usage'],
      [operator, customer],
      [operator, `${customer}/calls`],
    ] as const) {
      const { text } = await reader.get(path);
      expect([path, text.split('key of day').length - 1]).to.deep.equal([path, 20]);
    }
    expect((await operator.get(customer)).text).to.contain('More revoked and expired keys: 190');
    const chosen = (await visitor.get('/account/calls?key=key_rotated7')).text;
    expect(chosen).to.contain('value="key_rotated7" selected');
  });

  it('limits a key to the models on sale that are ticked, none of them to all', async () => {
    const boxes = (text: string) =>
      [...text.matchAll(/<input name="models" type="checkbox" value="([^"]+)"( checked)?>/g)].map(
        ([, name, ticked]) => `${name}${ticked ?? ''}`,
      );
    const { text } = await owner.get('/account/keys');
    const all = (await send(`${test.url}/api/v1/models`, { key: account.key })).json.data as { id: string }[];
    expect(boxes(text)).to.deep.equal(all.map(({ id }) => id).filter((id) => id !== 'smart'));
    const [first = '', second = ''] = boxes(text);
    const tick = async (path: string, names: readonly string[]) => {
      const page = await owner.get(path);
      const fields = [...Object.entries(formFields(page.text, path)).filter(([name]) => name !== 'models')];
      const body = new URLSearchParams([...fields, ...names.map((name) => ['models', name])]).toString();
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      return owner.get(path, { method: 'POST', body, headers });
    };
    const { id } = await createAccounts({ store: test.store, keyPrefix: 'tg-' }).issueKey(account.id, 'ticked');
    const path = `/account/keys/${id}/limits`;
    const readLimit = async () => (await test.store.keys.get(id))?.limits.models;
    expect((await tick(path, [second, first])).status).to.equal(303);
    expect(await readLimit()).to.have.members([first, second]);
    expect(boxes((await owner.get(path)).text)).to.include.members([`${first} checked`, `${second} checked`]);
    expect((await owner.get('/account/keys')).text).to.contain([first, second].toSorted().join(', '));
    expect((await tick(path, [])).status).to.equal(303);
    expect(await readLimit()).to.equal(null);
    // As programs send them.
    expect((await tick(path, [`${first}, ${second}`])).status).to.equal(303);
    expect(await readLimit()).to.have.members([first, second]);
    // A model that the catalog has no more, with a comma in its name.
    const odd = 'a,b';
    const limits = (await test.store.keys.get(id))?.limits as KeyLimits;
    await test.store.keys.put(id, { ...limits, models: [odd, first] });
    expect((await tick(path, [odd, second])).status).to.equal(303);
    expect(await readLimit()).to.have.members([odd, second]);
  });

  it('creates a key with limits, shows and changes them, and refuses invalid ones', async () => {
    const day = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10);
    const wish = { name: 'limited', budget: '12,50', reset: 'month', expires: day, models: '' };
    expect((await owner.submit('/account/keys', wish)).status).to.equal(200);
    const row = (await test.store.keys.list(account.id)).find(({ name }) => name === 'limited');
    expect(row?.limits).to.deep.include({ budget: 12_500_000n, reset: 'month', models: null });
    expect(row?.limits.expiresAt).to.equal(Date.parse(`${day}T00:00:00+03:00`));
    await test.store.ledger.apply([paid(row?.id ?? '', 3_000_000n)]);
    const shown = (await owner.get('/account/keys')).text;
    expect(shown)
      .to.contain('<meter min="0" max="12500000" value="3000000"')
      .and.to.match(/3\.00.* \/ .*12\.50.*every month/);
    const path = `/account/keys/${row?.id}/limits`;
    expect((await owner.get(path)).text)
      .to.contain(`value="${day}"`)
      .and.to.contain('value="12.50"');
    const more = {
      users: '3,50',
      users_reset: 'day',
      per_minute: '9',
      at_once: '2',
      wait: '5',
      addresses: '10.0.0.0/8, ::1',
    };
    expect((await owner.submit(path, { ...wish, ...more })).status).to.equal(303);
    expect((await test.store.keys.get(row?.id ?? ''))?.limits).to.deep.include({
      endUsers: { cap: 3_500_000n, reset: 'day' },
      requests: { perMinute: 9, atOnce: 2, waitSeconds: 5, addresses: ['10.0.0.0/8', '::1'] },
    });
    expect((await owner.get('/account/keys')).text).to.match(/3\.50.*per end user, every day/);
    const filled = (await owner.get(path)).text;
    for (const value of ['3.50', '9', '2', '5', '10.0.0.0/8, ::1']) expect(filled).to.contain(`value="${value}"`);
    const kept = (await test.store.keys.get(row?.id ?? ''))?.limits;
    const wrong: Record<string, string>[] = [
      { users: '0' },
      { per_minute: '0', at_once: '', wait: '', addresses: '' },
      { at_once: '1.5', per_minute: '', wait: '', addresses: '' },
      { wait: '5', per_minute: '', at_once: '', addresses: '' },
      { addresses: 'home', per_minute: '', at_once: '', wait: '' },
      { budget: 'x' },
      { budget: '0' },
      { reset: 'year' },
      { expires: '2001-01-01' },
    ];
    for (const change of wrong) {
      const [name = ''] = Object.keys(change);
      for (const at of [path, '/account/keys']) {
        const { status, text } = await owner.submit(at, { ...wish, ...change });
        const [, marked] = /<input id="(\w+)"[^>]* autofocus [^>]*aria-invalid="true"/.exec(text) ?? [];
        const told = [400, name === 'reset' ? 'budget' : name];
        expect([status, marked], `${at} ${JSON.stringify(change)}`).to.deep.equal(told);
      }
    }
    const unknown = await owner.submit(path, { ...wish, models: 'none-such' });
    expect([unknown.status, unknown.text.includes('role="alert">Unknown model: none-such.<')]).to.deep.equal([
      400,
      true,
    ]);
    expect((await test.store.keys.get(row?.id ?? ''))?.limits).to.deep.equal(kept);
    const done = await owner.submit(path, { budget: '', reset: 'none', expires: '', models: '' });
    expect([done.status, done.headers.location]).to.deep.equal([303, '/account/keys']);
    expect((await test.store.keys.get(row?.id ?? ''))?.limits).to.deep.include({ budget: null, expiresAt: null });
    expect((await test.store.auditLog.page({ limit: 1 }))[0]).to.include({ action: 'key.limit', target: row?.id });
  });

  it('rotates a key, which keeps working for some hours', async () => {
    await owner.submit('/account/keys', { name: 'to rotate', budget: '5', reset: 'day' });
    const of = async () => (await test.store.keys.list(account.id)).filter(({ name }) => name === 'to rotate');
    const [old] = await of();
    const path = `/account/keys/${old?.id}`;
    for (const hours of ['', '0', '1.5', '721', 'x']) {
      const csrf = /name="csrf" value="([^"]+)"/.exec((await owner.get(`${path}/limits`)).text)?.[1] ?? '';
      const { status, text } = await owner.post(`${path}/rotate`, { csrf, hours });
      expect([status, text.includes('a whole number of hours, from 1 to 720')], hours).to.deep.equal([400, true]);
    }
    const csrf = /name="csrf" value="([^"]+)"/.exec((await owner.get(`${path}/limits`)).text)?.[1] ?? '';
    const before = Date.now();
    const reply = await owner.post(`${path}/rotate`, { csrf, hours: '2' });
    const [key = ''] = KEY.exec(reply.text) ?? [];
    expect((await send(`${test.url}/api/v1/models`, { key })).status).to.equal(200);
    const rows = await of();
    const fresh = rows.find(({ id }) => id !== old?.id);
    expect(fresh?.limits).to.deep.include({ budget: 5_000_000n, reset: 'day', expiresAt: null });
    expect(rows.find(({ id }) => id === old?.id)?.limits.expiresAt).to.be.within(
      before + 7_200_000,
      Date.now() + 7_200_000,
    );
    // Both keys share the budget and its changes.
    const day = { reset: 'day', zone: 'Europe/Moscow' } as const;
    await test.store.ledger.apply([paid(fresh?.id ?? '', 2_000_000n, { ...day, sum: old?.id ?? '' })]);
    const bars = (await owner.get('/account/keys')).text.match(/<meter min="0" max="5000000" value="2000000"/g);
    expect(bars).to.have.length(2);
    expect((await owner.get(`/account/keys/${fresh?.id}/limits`)).text).to.contain(`shared with …${old?.last4}:`);
    expect((await owner.get(`${path}/limits?lang=ru`)).text).to.contain(`Бюджет общий с …${fresh?.last4}:`);
    await owner.get('/account/keys?lang=en');
    await owner.submit(`/account/keys/${fresh?.id}/limits`, { budget: '7', reset: 'day', expires: '', models: '' });
    expect((await of()).map(({ limits }) => limits.budget)).to.deep.equal([7_000_000n, 7_000_000n]);
    const foreign = await test.account();
    expect((await owner.get(`/account/keys/${foreign.keyId}/limits`)).status).to.equal(404);
    expect((await owner.post(`/account/keys/${foreign.keyId}/rotate`, { csrf, hours: '2' })).status).to.equal(404);
    expect((await test.store.keys.get(foreign.keyId))?.limits.expiresAt).to.equal(null);
  });

  it('keeps the expiry of a rotated key when an older form of its limits is sent', async () => {
    await owner.submit('/account/keys', { name: 'leaked' });
    const of = async () => (await test.store.keys.list(account.id)).filter(({ name }) => name === 'leaked');
    const [old] = await of();
    const path = `/account/keys/${old?.id}`;
    const older = hiddenFields((await owner.get(`${path}/limits`)).text, `${path}/limits`);
    const { csrf = '' } = older;
    expect((await owner.post(`${path}/rotate`, { csrf, hours: '1' })).status).to.equal(200);
    const end = (await test.store.keys.get(old?.id ?? ''))?.limits.expiresAt;
    const wish = { budget: '3', reset: 'none', expires: '', models: '' };
    expect((await owner.post(`${path}/limits`, { ...older, ...wish })).status).to.equal(303);
    expect((await test.store.keys.get(old?.id ?? ''))?.limits).to.deep.include({ budget: 3_000_000n, expiresAt: end });
    // The current form may still change it.
    expect((await owner.submit(`${path}/limits`, wish)).status).to.equal(303);
    expect((await test.store.keys.get(old?.id ?? ''))?.limits.expiresAt).to.equal(null);
  });

  it('changes only what was changed in a form, which others may have opened before', async () => {
    await owner.submit('/account/keys', { name: 'of two' });
    const [row] = (await test.store.keys.list(account.id)).filter(({ name }) => name === 'of two');
    const path = `/account/keys/${row?.id}/limits`;
    const open = async () => formFields((await owner.get(path)).text, path);
    const [mine, theirs] = [await open(), await open()];
    const theirWish = { budget: '100', reset: 'month', at_once: '2' };
    expect((await owner.post(path, { ...theirs, ...theirWish })).status).to.equal(303);
    // Refused once, and then as it is shown again.
    const refused = await owner.post(path, { ...mine, per_minute: 'x', users: '5' });
    expect(refused.status).to.equal(400);
    expect((await owner.post(path, { ...formFields(refused.text, path), per_minute: '7' })).status).to.equal(303);
    expect((await test.store.keys.get(row?.id ?? ''))?.limits).to.deep.include({
      budget: 100_000_000n,
      reset: 'month',
      endUsers: { cap: 5_000_000n, reset: 'month' },
      requests: { perMinute: 7, atOnce: 2 },
    });
    // A form that was open while the service was updated says nothing of what it showed.
    const { shown: _shown, ...older } = mine;
    expect((await owner.post(path, older)).status).to.equal(303);
    expect((await test.store.keys.get(row?.id ?? ''))?.limits.budget).to.equal(null);
  });

  itOnSqlite('reports a key that is revoked while its form is read', async () => {
    const forms: readonly (readonly [what: string, fields: Readonly<Record<string, string>>])[] = [
      ['limits', { budget: '3', reset: 'none', expires: '', models: '' }],
      ['rotate', { hours: '2' }],
    ];
    const db = new DatabaseSync(test.databaseUrl.replace('sqlite:', ''), { timeout: 5000 });
    for (const [what, fields] of forms) {
      await owner.submit('/account/keys', { name: `too late for ${what}` });
      const [row] = (await test.store.keys.list(account.id)).filter(({ name }) => name === `too late for ${what}`);
      const path = `/account/keys/${row?.id}/limits`;
      const hidden = hiddenFields((await owner.get(path)).text, path);
      // The page has read the old key, and its change waits for this one.
      db.exec('BEGIN IMMEDIATE');
      db.prepare('UPDATE keys SET revoked_at = ? WHERE id = ?').run(Date.now(), row?.id ?? '');
      const answered = owner.post(path.replace(/limits$/, what), { ...hidden, ...fields });
      await new Promise((resolve) => setTimeout(resolve, 500));
      db.exec('COMMIT');
      const { status, text } = await answered;
      expect(status, what).to.equal(400);
      expect(text).to.contain('has just expired or been revoked').and.to.contain('href="/account/keys"');
    }
    db.close();
  });

  /** A call that the key's budget pays for. */
  function paid(
    key: string,
    amount: bigint,
    { sum = key, ...rhythm }: Partial<typeof MONTHLY> & { sum?: string } = {},
  ) {
    const at = Date.now();
    const period = findPeriod(at, { ...MONTHLY, ...rhythm }).start;
    const call = { kind: 'charge', chargeKind: 'image', model: 'm', prices: '{}', chargeId: `call-${key}` } as const;
    return {
      ...call,
      wallet: account.id,
      key,
      at,
      amount,
      budget: { ...(sum !== key && { key: sum }), period, limit: 12_500_000n },
    };
  }

  it('treats keys of another account as unknown', async () => {
    const foreign = await test.account();
    expect((await owner.get(`/account/keys/${foreign.keyId}`)).status).to.equal(404);
    expect((await owner.get(`/account/keys?account=${foreign.id}`)).status).to.equal(404);
    const own = await owner.get('/account/keys');
    const csrf = /name="csrf" value="([^"]+)"/.exec(own.text)?.[1] ?? '';
    const revoke = await owner.post(`/account/keys/${foreign.keyId}`, { csrf, name: 'test key' });
    expect(revoke.status).to.equal(404);
    const issue = await owner.post(`/account/keys?account=${foreign.id}`, { csrf, name: 'mine' });
    expect(issue.status).to.equal(404);
    expect(await test.store.keys.list(foreign.id)).to.have.length(1);
  });

  it('leads from a rotated key to its list in the other language', async () => {
    const limits = `/account/keys/${account.keyId}/limits`;
    const rotated = await owner.submit(limits, { hours: '1' }, { action: limits.replace('limits', 'rotate') });
    expect(rotated.text).to.contain('tg-sk-').and.to.contain('href="/account/keys?lang=ru"');
    expect((await test.store.auditLog.page({ limit: 1 }))[0]).to.include({
      action: 'key.rotate',
      target: account.keyId,
    });
  });

  it('follows the account that a member of several has chosen', async () => {
    const second = await test.account();
    const user = await test.store.users.find(owner.email);
    await test.store.users.join({ user: user?.id ?? '', account: second.id, role: 'owner' });
    const page = await owner.get(`/account/keys?account=${second.id}`);
    expect(page.text)
      .to.contain(`<a href="/account?account=${second.id}">Overview`)
      .and.to.contain(`<a class="brand" href="/account?account=${second.id}">`);
    await owner.submit(`/account/keys?account=${second.id}`, { name: 'of the second' });
    expect((await test.store.keys.list(second.id)).map(({ name }) => name)).to.include('of the second');
    // The other account does not have this key.
    const key = await owner.get(`/account/keys/${second.keyId}/limits?account=${second.id}`);
    expect(key.text).to.contain('<form method="get" action="/account/keys" class="switch">');
  });

  it('has both languages and remembers the choice', async () => {
    expect((await owner.get('/account/keys?lang=ru')).text)
      .to.contain('<html lang="ru">')
      .and.to.contain('Создать ключ');
    expect((await owner.get('/account/keys')).text).to.contain('Создать ключ');
    expect((await owner.get('/account/keys?lang=en')).text).to.contain('Create a key');
  });
});
