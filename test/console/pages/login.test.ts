// The sign-in page, and the code that operators enter again: how input is read, and which sessions end.
import { expect } from 'chai';
import { MINUTE_MS } from '../../../lib/base/durations.ts';
import { csrfToken } from '../../../lib/console/forms.ts';
import { createDevices } from '../../../lib/users/devices.ts';
import { hashPassword } from '../../../lib/users/password.ts';
import { hashToken } from '../../../lib/users/token.ts';
import { startGateway, type TestGateway } from '../../../testkit/gateway.ts';
import { createVisitor, hiddenFields, makeCode, PASSWORD, setUpOperator, setUpOwner } from '../../../testkit/pages.ts';

const ACCOUNTS = '/admin/accounts';

describe('the sign-in page', () => {
  let test: TestGateway;

  before(async () => {
    test = await startGateway({ catalog: { upstreams: {}, models: [] } });
  });
  after(() => test.stop());

  const owner = async () => setUpOwner(test, (await test.account()).id);
  const signIn = (email: string, password: string, visitor = createVisitor(test.url)) =>
    visitor.submit('/login', { email, password, code: '' });

  it('keeps spaces of a password, and trims an address', async () => {
    const { email } = await owner();
    const user = await test.store.users.find(email);
    if (!user) throw new Error('there is no owner');
    await test.store.users.change({ ...user, password: await hashPassword(' rain and tulips ') });
    expect((await signIn(email, 'rain and tulips')).status).to.equal(401);
    expect((await signIn(` ${email.toUpperCase()} `, ' rain and tulips ')).status).to.equal(303);
  });

  it('repeats only the address after an error', async () => {
    const reply = await signIn('<ann@example.com>', 'rain and tulips');
    expect(reply.status).to.equal(401);
    expect(reply.text).to.contain('value="&lt;ann@example.com&gt;"').and.not.to.contain('rain and tulips');
  });

  it('ends the session that the new one replaces, and no other', async () => {
    const { email } = await owner();
    const here = createVisitor(test.url);
    const elsewhere = createVisitor(test.url);
    for (const visitor of [here, elsewhere]) await signIn(email, PASSWORD, visitor);
    const before = here.cookies.get('session') ?? '';
    await signIn(email, PASSWORD, here);
    expect((await createVisitor(test.url, { session: before }).get('/account')).status).to.equal(303);
    for (const visitor of [here, elsewhere]) expect((await visitor.get('/account')).status).to.equal(200);
  });

  it('refuses a form without its guarding cookie, or with two of them', async () => {
    const { email } = await owner();
    const fields = { email, password: PASSWORD, csrf: csrfToken('') };
    const path = '/login';
    expect((await createVisitor(test.url).post(path, fields)).status).to.equal(403);
    const two = { headers: { cookie: 'form=one; form=two' } };
    expect((await createVisitor(test.url).post(path, fields, two)).status).to.equal(403);
    expect((await createVisitor(test.url).post(path, fields, { headers: { cookie: 'form=' } })).status).to.equal(403);
  });

  const leadBack = async (path: string) => {
    const { status, headers } = await createVisitor(test.url).post(path, {});
    return [status, new URL(headers.location ?? '', test.url).searchParams.get('next')];
  };

  it('says that a form was not sent because its session had ended', async () => {
    const visitor = createVisitor(test.url);
    const tellsAfter = async (path: string) => {
      const { headers } = await visitor.post(path, {});
      return (await visitor.get(headers.location ?? '')).text.includes('the form was not sent');
    };
    expect([await tellsAfter('/account/wallet'), await tellsAfter('/logout')]).to.deep.equal([true, false]);
    const { headers } = await visitor.get('/account/wallet');
    expect((await visitor.get(headers.location ?? '')).text).to.not.contain('the form was not sent');
    const wrong = await visitor.submit(
      '/login?next=%2Faccount&unsent=yes',
      {
        ...{ email: 'nobody@example.com', password: PASSWORD, code: '' },
      },
      { action: '/login?next=%2Faccount' },
    );
    expect(wrong.text).to.contain('Wrong email').and.not.contain('the form was not sent');
  });

  it('returns from a form to its page without what the form before has done', async () => {
    expect(await leadBack('/account/wallet?done=removed')).to.deep.equal([303, '/account/wallet']);
  });

  it('returns from a form to the account or the model that it was about', async () => {
    const wallet = '/account/wallet?account=acc_1';
    expect(await leadBack(`${wallet}&done=removed`)).to.deep.equal([303, wallet]);
    const model = '/admin/catalog/model?id=a%2Fb';
    expect(await leadBack(model)).to.deep.equal([303, model]);
  });

  it('returns from a form without a page of its own to the page that it is on', async () => {
    for (const [form, place] of [
      ['/account/people/invitation', '/account/people'],
      ['/account/keys/key_1/rotate', '/account/keys'],
      ['/account/playground/text', '/account/playground'],
    ] as const) {
      expect(await leadBack(form)).to.deep.equal([303, place]);
    }
  });

  it('returns to a page however its path is spelled', async () => {
    const reply = await createVisitor(test.url).get('/%61ccount/%77allet?done=removed');
    expect(reply.headers.location).to.equal('/login?next=%2Faccount%2Fwallet%3Fdone%3Dremoved');
  });

  describe('for an operator', () => {
    let operator: Awaited<ReturnType<typeof setUpOperator>>;

    before(async () => {
      operator = await setUpOperator(test);
    });
    beforeEach(async () => {
      // A current code works again.
      const user = await test.store.users.find('op@example.com');
      if (user) await test.store.users.change({ ...user, totpStep: -1 });
    });

    async function grow(visitor: Pick<typeof operator, 'cookies'>, minutes: number): Promise<void> {
      const at = Date.now();
      const session = hashToken(visitor.cookies.get('session') ?? '');
      await test.store.sessions.touch(session, { seenAt: at, provenAt: at - minutes * MINUTE_MS });
    }
    const create = (visitor: typeof operator | ReturnType<typeof createVisitor>, code?: string) =>
      visitor.submit(ACCOUNTS, { name: 'new one', ...(code !== undefined && { code }) });

    it('allows changes for ten minutes', async () => {
      const visitor = createVisitor(test.url);
      const code = makeCode(operator.secret);
      await visitor.submit('/login', { email: 'op@example.com', password: PASSWORD, code });
      expect((await visitor.get(ACCOUNTS)).text).not.to.contain('name="code"');
      expect((await create(visitor)).status).to.equal(303);
    });

    it('asks for a code later, once per ten minutes', async () => {
      await grow(operator, 11);
      expect((await operator.get(ACCOUNTS)).text).to.contain('name="code"');
      expect((await create(operator)).status).to.equal(403);
      expect((await create(operator, makeCode(operator.secret))).status).to.equal(303);
      expect((await operator.get(ACCOUNTS)).text).not.to.contain('name="code"');
      expect((await create(operator)).status).to.equal(303);
    });

    it('asks for no other code on the page that follows, such as after a mistake', async () => {
      await grow(operator, 11);
      const code = makeCode(operator.secret);
      const refused = await operator.submit(ACCOUNTS, { name: '', code });
      expect([refused.status, refused.text.includes('name="code"')]).to.deep.equal([400, false]);
    });

    it('throttles guesses of the code', async () => {
      await grow(operator, 11);
      const user = await test.store.users.find('op@example.com');
      const device = await createDevices(test).find(user, operator.cookies.get('device'));
      const rule = { now: Date.now(), since: 0, waitsMs: [0] };
      for (let guess = 0; guess < 15; guess += 1) await test.store.sessions.count(`device:${device?.hash}`, rule);
      const reply = await create(operator, makeCode(operator.secret));
      expect([reply.status, Number(reply.headers['retry-after'])]).to.satisfy(
        ([status, seconds]: [number, number]) => status === 429 && seconds > 20 && seconds <= 32,
      );
      await test.store.sessions.forget(`device:${device?.hash}`);
      expect((await create(operator, makeCode(operator.secret))).status).to.equal(303);
    });

    it('asks for a code however the path of the form is spelled', async () => {
      await grow(operator, 11);
      const { csrf = '' } = hiddenFields((await operator.get(ACCOUNTS)).text, ACCOUNTS);
      const count = (await test.store.accounts.list()).length;
      for (const path of [
        '/%61dmin/accounts',
        '/admin/%61ccounts',
        '/admin/../%61dmin/accounts',
        '/%61dmin/accounts/',
      ]) {
        expect((await operator.post(path, { name: 'new one', csrf })).status, path).to.equal(403);
        expect((await operator.get(path)).text, path).to.contain('<form method="post" action="/admin/accounts"');
      }
      expect(await test.store.accounts.list()).to.have.length(count);
    });

    it('leads to operator pages, also from owner pages if the operator owns no account', async () => {
      const to = async (path: string) => {
        const { status, headers } = await operator.get(path);
        return [status, headers.location];
      };
      expect(await to('/account')).to.deep.equal([303, '/admin']);
      expect(await to('/account/keys')).to.deep.equal([303, '/admin']);
      expect(await to('/account?account=acc_none')).to.deep.equal([404, undefined]);
    });
  });
});
