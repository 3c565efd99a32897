// The images and videos of an account's last day, in the playground.
import { expect } from 'chai';
import { send } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { setUpMember, setUpOwner, type Visitor } from '../../testkit/pages.ts';

const PAGE = '/account/playground';

describe('the last images and videos in the playground', () => {
  let test: TestGateway;

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on' } });
  });
  after(async () => {
    await test.checkMoney();
    await test.stop();
  });

  it('are shown for a day to those who see all calls', async () => {
    const { id, key } = await test.account();
    const maker = await setUpOwner(test, id, 'maker@example.com');
    const page = async (kind: string, by: Visitor = maker) => (await by.get(`${PAGE}?kind=${kind}&lang=en`)).text;
    expect(await page('image')).to.not.contain('The last 24 hours');
    const made = await send(`${test.url}/api/v1/images/generations`, {
      key,
      body: { model: 'sandbox-image', prompt: 'A red square' },
    });
    const { pathname } = new URL(made.json.data[0].url);
    for (const kind of ['image', 'video'])
      expect(await page(kind)).to.match(
        new RegExp(`<ul class="strip"><li><a href="${pathname}"><img src="${pathname}" alt="Image, [^"]+"`),
      );
    expect(await page('text')).to.not.contain('class="strip"');
    expect((await maker.get(`${PAGE}?kind=image&lang=ru`)).text).to.contain('<h2>За последние 24 часа</h2>');
    const member = await setUpMember(test, { account: id, role: 'member' }, 'member-of-maker@example.com');
    expect(await page('image', member)).to.not.contain('class="strip"');
    const stranger = await setUpOwner(test, (await test.account()).id, 'stranger@example.com');
    expect(await page('image', stranger)).to.not.contain(pathname);
  });
});
