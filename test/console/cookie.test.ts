// The cookies of the pages: their attributes on https and on loopback; a name sent twice counts as none.
import { expect } from 'chai';
import type { Reply } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { createVisitor, PASSWORD, setUpOwner } from '../../testkit/pages.ts';

const TOKEN = /^[\w-]{43}$/;

describe('cookies', () => {
  for (const { scheme, env, prefix, secure } of [
    { scheme: 'http', env: {}, prefix: '', secure: '' },
    { scheme: 'https', env: { PUBLIC_URL: 'https://gate.example.com' }, prefix: '__Host-', secure: '; Secure' },
  ]) {
    describe(`over ${scheme}`, () => {
      let test: TestGateway;
      let email: string;

      before(async () => {
        test = await startGateway({ catalog: { upstreams: {}, models: [] }, env });
        email = (await setUpOwner(test, (await test.account()).id)).email;
      });
      after(() => test.stop());

      /** Cookies by name, and their attributes. */
      const setIn = (headers: Reply['headers']) => {
        const lines = headers['set-cookie'] ?? [];
        const pairs = lines.map((line) => /^([^=]+)=([^;]*)(.*)$/.exec(line)?.slice(1) ?? []);
        return pairs.map(([name = '', value = '', attributes = '']) => ({ name, value, attributes }));
      };
      const attributes = `; Path=/; HttpOnly; SameSite=Lax${secure}`;

      it('are bound to the host and hidden from scripts', async () => {
        const [form] = setIn((await createVisitor(test.url).get('/login')).headers);
        expect([form?.name, form?.attributes]).to.deep.equal([`${prefix}form`, attributes]);
        expect(form?.value).to.match(TOKEN);
        const [lang, ...others] = setIn((await createVisitor(test.url).get('/login?lang=ru')).headers);
        expect(lang).to.deep.equal({ name: `${prefix}lang`, value: 'ru', attributes });
        expect(others.map(({ name }) => name)).to.deep.equal([`${prefix}form`]);
      });

      it('sign in and out', async () => {
        const person = createVisitor(test.url);
        const signedIn = await person.submit('/login', { email, password: PASSWORD, code: '' });
        const [session, device, ...more] = setIn(signedIn.headers);
        expect([session?.name, session?.attributes]).to.deep.equal([`${prefix}session`, attributes]);
        expect(more).to.deep.equal([]);
        const lasting = attributes.replace('Lax', 'Lax; Max-Age=34560000');
        expect([device?.name, device?.attributes]).to.deep.equal([`${prefix}device`, lasting]);
        expect(device?.value).to.match(TOKEN).and.not.equal(session?.value);
        const statusWith = async (cookie: string) =>
          (await createVisitor(test.url).get('/account', { headers: { cookie } })).status;
        const cookie = `${prefix}session=${session?.value}`;
        expect(await statusWith(cookie)).to.equal(200);
        expect(await statusWith(`other=1;  ${cookie}; session-x=2`)).to.equal(200);
        // The other one may have been set for the whole domain.
        expect(await statusWith(`${cookie}; ${prefix}session=${'A'.repeat(43)}`)).to.equal(303);
        expect(await statusWith(`${cookie}; ${cookie}`)).to.equal(303);
        expect(await statusWith(cookie.replace(prefix, prefix === '' ? '__Host-' : ''))).to.equal(303);
        const out = await person.submit('/account', {}, { action: '/logout' });
        const gone = { name: `${prefix}session`, value: '', attributes: attributes.replace('Lax', 'Lax; Max-Age=0') };
        expect(setIn(out.headers)).to.deep.equal([gone]);
        // The device stays known.
        const again = await person.submit('/login', { email, password: PASSWORD, code: '' });
        expect(setIn(again.headers)[1]).to.deep.equal(device);
      });
    });
  }
});
