// Every route of the server and every kind of credential: who gets in is what the table of verbs says, and nothing else.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { hashKey } from '../../../lib/accounts/key.ts';
import { OPERATOR_SCOPES } from '../../../lib/accounts/management-keys.ts';
import { MANAGE, OWN } from '../../../lib/api/management/routes.ts';
import { listRoutes } from '../../../lib/http/late-routes.ts';
import { VERBS } from '../../../lib/manage/verbs.ts';
import { send } from '../../../testkit/client.ts';
import { longer } from '../../../testkit/long.ts';
import { type ManagementStage, openManagementStage } from './stage.ts';

interface Route {
  readonly method: string;
  readonly path: string;
}

describe('the routes of the server and their credentials', () => {
  let stage: ManagementStage;
  let routes: readonly Route[];
  /** By name: `none`, `api`, `api-of-other`, `own`, `scope:keys`, and wrong keys. */
  const credentials: Record<string, string | undefined> = { none: undefined };

  before(async () => {
    stage = await openManagementStage();
    const { gateway } = stage;
    routes = listRoutes(gateway.gateway.server)
      .filter(({ method, realm }) => method !== '*' && method !== 'options' && realm.plugin === 'api')
      .map(({ method, path }) => ({ method: method.toUpperCase(), path }));
    const account = await gateway.account();
    credentials.api = account.key;
    credentials.own = await stage.ownKey(account.id);
    for (const scope of OPERATOR_SCOPES) credentials[`scope:${scope}`] = await stage.managementKey([scope]);
    const key = String(credentials['scope:accounts']);
    credentials.wrong = `${key.slice(0, -7)}${key.at(-7) === 'a' ? 'b' : 'a'}${key.slice(-6)}`;
    const revoked = await stage.managementKey();
    const row = await gateway.store.management.findKey(hashKey(revoked));
    await gateway.store.management.revokeKey(row?.id ?? '', 5);
    credentials.revoked = revoked;
  });
  after(() => stage.gateway.stop());

  /** Objects that do not exist, so that nothing changes whoever gets in. */
  const fill = (path: string) => path.replaceAll(/\{\w+\}/g, 'none');

  async function statusOf({ method, path }: Route, key: string | undefined): Promise<number> {
    const headers = { 'idempotency-key': randomUUID() };
    const body = method === 'POST' ? {} : undefined;
    return (await send(`${stage.gateway.url}${fill(path)}`, { method, key, headers, body })).status;
  }

  const isManaged = ({ path }: Route) => path.startsWith(`${MANAGE}/`) || path.startsWith(`${OWN}/`);

  it('are the verbs of the table, each once', () => {
    const wanted = VERBS.flatMap(({ route: { method, path, own } }) => [
      `${method} ${MANAGE}${path}`,
      ...(own === undefined ? [] : [`${method} ${OWN}${own}`]),
    ]);
    const found = routes.filter(isManaged).map(({ method, path }) => `${method} ${path}`);
    expect(found.toSorted()).to.deep.equal(wanted.toSorted());
  });

  it('let in exactly the scope of the verb, and no API key', async () => {
    const slow = VERBS.filter(({ isSlow }) => isSlow).map(({ route: { path } }) => `${MANAGE}${path}`);
    for (const [turn, route] of routes.filter(isManaged).entries()) {
      const verb = VERBS.find(
        ({ route: { method, path, own } }) =>
          [`${MANAGE}${path}`, own && `${OWN}${own}`].includes(route.path) && method === route.method,
      );
      const isOwn = route.path.startsWith(`${OWN}/`);
      const wanted = isOwn ? 'own' : `scope:${verb?.route.scope}`;
      // In `npm test` a third of those that do not let in, in turn.
      const some = Object.entries(credentials).filter(
        ([name], at) => name === wanted || longer((at + turn) % 3 === 0, true),
      );
      for (const [name, key] of some) {
        if (name === wanted && slow.includes(route.path)) continue;
        const what = `${route.method} ${route.path} with ${name}`;
        const status = await statusOf(route, key);
        if (name === wanted) expect(status, what).to.be.oneOf([200, 400, 404, 409]);
        else expect(status, what).to.equal(/^(own|scope:)/.test(name) ? 403 : status === 429 ? 429 : 401);
      }
    }
  }).timeout(60_000);

  it('of the rest of the API let in no management key', async () => {
    for (const route of routes.filter((each) => !isManaged(each))) {
      const isPublic = (await statusOf(route, undefined)) !== 401;
      for (const name of longer(['scope:topup'], ['own', 'scope:accounts', 'scope:topup'])) {
        const status = await statusOf(route, credentials[name]);
        if (!isPublic) expect(status, `${route.method} ${route.path} with ${name}`).to.equal(401);
      }
    }
  });

  it('hide objects of other accounts from an owner, whose own objects they show', async () => {
    const { gateway, ask } = stage;
    const [mine, other] = [await gateway.account(), await gateway.account()];
    const key = await stage.ownKey(mine.id);
    for (const path of ['limits', 'rotate', 'revoke']) {
      const body = path === 'limits' ? { budget_rub: 5 } : {};
      const { status, json } = await ask(key, `/account/keys/${other.keyId}/${path}`, body);
      expect([path, status, json.error.message]).to.deep.equal([
        path,
        404,
        `Not found: the account has no key "${other.keyId}".`,
      ]);
      expect((await ask(key, `/account/keys/${mine.keyId}/${path}`, body)).status, path).to.equal(200);
    }
    expect((await gateway.store.keys.get(other.keyId))?.revokedAt).to.equal(null);
    const holds = await stage.managementKey(['holds']);
    const held = await ask(holds, '/manage/holds', { account: other.id, amount_rub: 5, reason: 'job' });
    const foreign = await ask(key, `/account/calls/${held.json.hold_id}`);
    expect([foreign.status, foreign.json.error.message]).to.deep.equal([
      404,
      `Not found: the account has no call "${held.json.hold_id}".`,
    ]);
    const own = await ask(holds, '/manage/holds', { account: mine.id, amount_rub: 5, reason: 'job' });
    const { status, json: call } = await ask(key, `/account/calls/${own.json.hold_id}`);
    expect([status, call.state, 'attempts' in call]).to.deep.equal([200, 'held', false]);
    expect((await ask(key, '/account/wallet')).json).to.include({ account_id: mine.id });
    expect((await ask(key, `/account/usage?account=${other.id}`)).status).to.equal(400);
    await gateway.store.accounts.setStatus(mine.id, 'suspended');
    expect((await ask(key, '/account/wallet')).status).to.equal(403);
  });

  it('count wrong keys by network, check addresses and expiry, and limit each key', async () => {
    const small = await openManagementStage({ MANAGEMENT_RATE_LIMIT_PER_MINUTE: '2' });
    const { ask, gateway } = small;
    try {
      const wrong = await Promise.all(Array.from({ length: 32 }, () => ask('tg-mk-no', '/manage/accounts')));
      expect(wrong.map(({ status }) => status).filter((status) => status === 429)).to.have.length(2);
      const elsewhere = await small.managementKey(['accounts'], { addresses: ['203.0.113.7'] });
      expect((await ask(elsewhere, '/manage/accounts')).status).to.equal(403);
      const key = await small.managementKey(['accounts'], { addresses: ['127.0.0.1'], expiresAt: Date.now() + 1e6 });
      const all = await Promise.all([1, 2, 3].map(() => ask(key, '/manage/accounts')));
      expect(all.map(({ status }) => status).toSorted()).to.deep.equal([200, 200, 429]);
      // What a key may not do counts, too.
      const narrow = await small.managementKey(['usage']);
      const refused = await Promise.all([1, 2, 3].map(() => ask(narrow, '/manage/accounts')));
      expect(refused.map(({ status }) => status).toSorted()).to.deep.equal([403, 403, 429]);
      // The keys of an account share its limit, whoever else made one.
      const [mine, other] = [await gateway.account(), await gateway.account()];
      const keys = [mine, mine, mine, other].map(({ id }) => small.ownKey(id));
      const shared = await Promise.all(keys.map(async (own) => ask(await own, '/account/keys')));
      expect(shared.map(({ status }) => status).toSorted()).to.deep.equal([200, 200, 200, 429]);
      expect(shared.at(-1)?.status).to.equal(200);
      const row = await gateway.store.management.findKey(hashKey(key));
      if (row) await gateway.store.management.putKeys([{ ...row, expiresAt: 5 }]);
      const expired = await ask(key, '/manage/accounts');
      expect([expired.status, expired.json.error.message]).to.deep.equal([
        401,
        'The API key has expired: it was valid until 1970-01-01T00:00:00.005Z.',
      ]);
    } finally {
      await gateway.stop();
    }
  });
});
