// A gateway whose clock is not that of its store, which the other gateways go by: people sign in there all the same.
import { expect } from 'chai';
import { HOUR_MS, MINUTE_MS } from '../../lib/base/durations.ts';
import { type TestClock, takeClock } from '../../testkit/clock.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { createVisitor, makeCode, PASSWORD, setUpOperator } from '../../testkit/pages.ts';

const EMAIL = 'op@example.com';
const STEP_MS = 30_000;

describe('pages of a gateway with another clock than its store', () => {
  let clock: TestClock;
  let test: TestGateway;
  let operator: Awaited<ReturnType<typeof setUpOperator>>;

  before(async () => {
    clock = takeClock();
    test = await startGateway({ catalog: { upstreams: {}, models: [] } });
    operator = await setUpOperator(test, EMAIL);
  });
  afterEach(() => clock.set(0));
  after(async () => {
    await test.stop();
    clock.restore();
  });

  it('keep people signed in, and ask for no further code', async () => {
    for (const aheadMs of [HOUR_MS, -HOUR_MS]) {
      clock.set(aheadMs);
      expect((await operator.get('/admin')).status).to.equal(200);
      const { status } = await operator.submit('/admin/accounts', { name: `acme ${aheadMs}` });
      expect(status).to.equal(303);
    }
  });

  it('take the codes of authenticator apps', async () => {
    const aheadMs = 10 * MINUTE_MS;
    clock.set(aheadMs);
    // Each code works once: this one is the next that the app will show.
    const code = makeCode(operator.secret, 1 - aheadMs / STEP_MS);
    const { status } = await createVisitor(test.url).submit('/login', { email: EMAIL, password: PASSWORD, code });
    expect(status).to.equal(303);
  });
});
