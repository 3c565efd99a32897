// No key of the management API changes an operator, however the request spells their address.
import { expect } from 'chai';
import { VERBS } from '../../../lib/manage/verbs.ts';
import { setUpOperator } from '../../../testkit/pages.ts';
import { type ManagementStage, openManagementStage } from './stage.ts';

describe('operators and the management API', () => {
  let stage: ManagementStage;

  before(async () => {
    stage = await openManagementStage();
    await setUpOperator(stage.gateway, 'op@example.com');
    // Another one, so that the rule of the last operator is not what refuses.
    const { users } = stage.gateway.store;
    const operator = await users.find('op@example.com');
    if (operator) await users.add({ ...operator, id: 'usr_other', email: 'other@example.com', version: 1 });
  });
  after(() => stage.gateway.stop());

  const changes = VERBS.filter(
    ({ route: { method, path } }) => method === 'POST' && path.includes('{user}') && !path.includes('{account}'),
  );
  const spellings = {
    'its letters in capitals': 'OP@Example.COM',
    'blanks around it': ' op@example.com ',
    'a wide letter in the domain': 'op@ｅxample.com',
    'another full stop': 'op@example。com',
    'a soft hyphen': 'op@exam\u00adple.com',
  };

  for (const { words, route } of changes) {
    it(`are not changed by ${words}`, async () => {
      const key = await stage.managementKey();
      const { users } = stage.gateway.store;
      const before = await users.find('op@example.com');
      for (const [what, user] of Object.entries({ ...spellings, 'their id': String(before?.id) })) {
        const path = `/manage${route.path.replace('{user}', encodeURIComponent(user))}`;
        const { status, json } = await stage.ask(key, path, {});
        expect([what, status]).to.deep.equal([what, 409]);
        expect(json.error.message, what).to.contain('op@example.com is an operator');
      }
      expect(await users.find('op@example.com')).to.deep.equal(before);
    });
  }

  it('are all verbs about a person', () => {
    expect(changes.map(({ words }) => words)).to.include.members(['user suspend', 'user remove', 'user sessions end']);
  });
});
