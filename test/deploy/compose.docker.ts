// The Compose files as docs/operations/ says, with real Docker: `npm run test:deploy`. It needs some minutes and 8 GB.
import { expect } from 'chai';
import { MESSAGES, send } from '../../testkit/client.ts';
import { freePorts } from '../../testkit/cluster.ts';
import { type Compose, createCompose, findDockerProblem } from '../../testkit/docker.ts';

/** First starts of the replica set, each from nothing; 20 before a release. */
const STARTS = Number(process.env.DEPLOY_STARTS ?? 2);
const CALLERS = 20;
/** What each call of this test costs: the minimum. */
const CALL_RUB = 0.5;

const problem = findDockerProblem();
if (problem !== undefined)
  console.log(`\n!!! The Compose files were NOT run: there is no Docker here.\n!!! ${problem}\n`);

interface Customer {
  readonly account: string;
  readonly key: string;
}

async function createCustomer({ tollgate }: Compose): Promise<Customer> {
  const { account_id: account } = await tollgate('account', 'create', '--name', 'Anna');
  await tollgate('wallet', 'topup', String(account), '100000', '--payment-id', 'first');
  const { key } = await tollgate('key', 'issue', String(account), '--name', 'test');
  return { account: String(account), key: String(key) };
}

const ask = (url: string, key: string) =>
  send(`${url}${MESSAGES}`, {
    key,
    body: { model: 'sandbox-lite', max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] },
  });

/** Calls without a pause while `work` runs; resolves to how many there were by status, with the text of all but 200. */
async function callBeside(url: string, key: string, work: () => Promise<unknown>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  let isOver = false;
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!isOver) {
      const { status, text } = await ask(url, key).catch((error: Error) => ({ status: 0, text: error.message }));
      const name = status === 200 ? '200' : `${status} ${text}`;
      counts[name] = (counts[name] ?? 0) + 1;
    }
  });
  await work().finally(() => {
    isOver = true;
  });
  await Promise.all(callers);
  return counts;
}

async function openSetupLinks(compose: Compose, services: readonly string[]): Promise<readonly number[]> {
  const logs = await Promise.all(services.map((service) => compose.logs(service)));
  const links = logs.map((text) => /http\S+\/setup\?token=\S+/.exec(text)?.[0] ?? 'no link');
  return Promise.all(links.map(async (link) => (await send(link)).status));
}

(problem === undefined ? describe : describe.skip)('docker-compose.yml', function () {
  this.timeout(900_000);
  // Each step needs what the one before it has left.
  this.bail(true);
  let compose: Compose;
  let url: string;
  let customer: Customer;
  const gateways = ['gateway-1', 'gateway-2'];
  /** As the documentation restarts them. */
  const restartInTurn = async (option = '') => {
    for (const gateway of gateways) {
      await compose.shell(`docker compose up -d ${option} --no-deps --wait ${gateway} && sleep 3`);
    }
  };
  before(async () => {
    const [port = 0] = await freePorts(1);
    url = `http://127.0.0.1:${port}`;
    compose = createCompose({ files: ['docker-compose.yml'], port, gateway: 'gateway-1' });
    compose.set('RATE_LIMIT_PER_MINUTE=100000');
  });
  after(() => compose?.remove());

  it(`starts from nothing, ${STARTS} times, without an upstream`, async () => {
    for (let start = 1; start <= STARTS; start += 1) {
      if (start > 1) await compose.compose('down', '--volumes', '--timeout', '1');
      await compose.compose('up', '-d', '--wait');
      expect((await send(`${url}/login`)).status).to.equal(200);
    }
  });

  it('prints setup links that both open through the proxy', async () => {
    expect(await openSetupLinks(compose, gateways)).to.deep.equal([200, 200]);
  });

  it('recreates nothing at an unchanged up', async () => {
    const before = await compose.containers();
    await compose.compose('up', '-d', '--wait');
    const { 'replica-set': _, ...after } = await compose.containers();
    expect(before).to.include(after);
    expect(Object.keys(after)).to.include.members([...gateways, 'proxy']);
  });

  it('takes changed settings one gateway after the other, with calls under way', async () => {
    compose.set('SANDBOX=on');
    await restartInTurn();
    customer = await createCustomer(compose);
    compose.set('LOG_LEVEL=warn');
    const counts = await callBeside(url, customer.key, () => restartInTurn());
    expectAllAnswered(counts);
  });

  it('is updated and rolled back as the documentation says, and loses no call', async () => {
    const { TOLLGATE_TAG: tag = '' } = Object.fromEntries(
      (await compose.shell('grep -h ^TOLLGATE_TAG= .env'))
        .trim()
        .split('\n')
        .map((line) => line.split('=')),
    );
    const updated = await callBeside(url, customer.key, async () => {
      // Another image of its own.
      await compose.shell("printf 'LABEL next=1\\n' >> Dockerfile");
      compose.set(`TOLLGATE_TAG=${tag}-next`);
      await compose.compose('build');
      await restartInTurn();
    });
    expectAllAnswered(updated);
    expect(await listImages()).to.deep.equal([`tollgate:${tag}-next`, `tollgate:${tag}-next`]);
    const rolledBack = await callBeside(url, customer.key, async () => {
      compose.set(`TOLLGATE_TAG=${tag}`);
      await restartInTurn('--no-build');
    });
    expectAllAnswered(rolledBack);
    expect(await listImages()).to.deep.equal([`tollgate:${tag}`, `tollgate:${tag}`]);
    expect(await compose.tollgate('ledger', 'verify')).to.include({ ok: true, drift_rub: 0 });
  });

  function expectAllAnswered({ 200: done = 0, ...others }: Record<string, number>): void {
    expect(done).to.be.above(100);
    expect(others).to.deep.equal({});
  }

  async function listImages(): Promise<readonly string[]> {
    const words = ['ps', '--format', '{{.Service}} {{.Image}}', ...gateways];
    const lines = (await compose.compose(...words)).trim().split('\n');
    return lines.map((line) => line.split(' ')[1] ?? '').sort();
  }

  it('lets calls wait when the primary is killed, and charges exactly those that it answers', async () => {
    const find = `docker compose exec -T mongo-1 mongosh --quiet -u admin -p "$(grep ^MONGODB_ADMIN_PASSWORD= .env | cut -d= -f2)" \
      'mongodb://mongo-1,mongo-2,mongo-3/?replicaSet=tollgate' --eval 'db.hello().primary'`;
    const answer = (await compose.shell(find)).trim().split('\n').at(-1) ?? '';
    const primary = answer.split(':')[0] ?? '';
    const before = await countCharged();
    const counts = await callBeside(url, customer.key, async () => {
      await compose.compose('kill', primary);
      await new Promise((resolve) => setTimeout(resolve, 15_000));
      await compose.compose('start', primary);
    });
    // On a busy machine an election may take longer than a call waits.
    expect(Object.keys(counts))
      .to.include('200')
      .and.to.satisfy((names: string[]) => names.every(isAnswer));
    expect((await countCharged()) - before).to.equal(counts[200]);
    expect(await compose.tollgate('ledger', 'verify')).to.include({ ok: true, drift_rub: 0 });
  });

  it('limits the heap by the memory of the container', async () => {
    const limit = 'require("v8").getHeapStatistics().heap_size_limit';
    const bytes = await compose.compose('exec', '-T', 'gateway-1', 'sh', '-c', `${await heapOption()} -p '${limit}'`);
    expect(Number(bytes) / 2 ** 20).to.be.within(500, 800);
  });

  const isAnswer = (name: string) => ['200', '503'].includes(name.slice(0, 3));
  async function countCharged(): Promise<number> {
    const { charged_rub: charged } = await compose.tollgate('wallet', 'show', customer.account);
    return Number(charged) / CALL_RUB;
  }

  /** The command of the container with its first option. */
  async function heapOption(): Promise<string> {
    const text = await compose.compose('exec', '-T', 'gateway-1', 'sh', '-c', 'tr "\\0" " " < /proc/1/cmdline');
    return /node --max-old-space-size-percentage=\d+/.exec(text)?.[0] ?? 'node';
  }

  it('is backed up and restored as the documentation says', async () => {
    const wallet = await compose.tollgate('wallet', 'show', customer.account);
    await compose.shell(`docker compose exec -T gateway-1 tollgate store backup /backup/tollgate.db
      docker compose cp gateway-1:/backup/tollgate.db .
      docker compose exec -T gateway-1 rm -rf /backup/tollgate.db
      docker compose stop gateway-1 gateway-2
      docker compose exec -T mongo-1 mongosh -u admin -p "$(grep ^MONGODB_ADMIN_PASSWORD= .env | cut -d= -f2)" \
        "mongodb://mongo-1,mongo-2,mongo-3/tollgate?replicaSet=tollgate&authSource=admin" --eval 'db.dropDatabase()'
      tar -c tollgate.db* | docker compose run --rm --no-deps -T gateway-1 tar -x -C /backup
      docker compose run --rm --no-deps -T gateway-1 tollgate store copy sqlite:/backup/tollgate.db --to-env DATABASE_URL
      docker compose run --rm --no-deps -T gateway-1 tollgate ledger verify
      docker compose up -d --wait`);
    expect(await compose.tollgate('wallet', 'show', customer.account)).to.deep.equal(wallet);
    expect((await ask(url, customer.key)).status).to.equal(200);
  });

  it('keeps TLS at a later up', async () => {
    compose.set('PROXY_DOMAIN=ai.example.com');
    compose.set('COMPOSE_FILE=docker-compose.yml:docker-compose.tls.yml');
    expect(await compose.compose('config'))
      .to.match(/published: "443"/)
      .and.to.include('ai.example.com');
  });
});

(problem === undefined ? describe : describe.skip)('docker-compose.small.yml', function () {
  this.timeout(600_000);
  let compose: Compose;
  let url: string;
  before(async () => {
    const [port = 0] = await freePorts(1);
    url = `http://127.0.0.1:${port}`;
    compose = createCompose({ files: ['docker-compose.small.yml'], port, gateway: 'gateway' });
    compose.set('SANDBOX=on');
  });
  after(() => compose?.remove());

  it('starts, takes a paid call, and keeps its data when it is killed', async () => {
    await compose.compose('up', '-d', '--wait');
    expect(await openSetupLinks(compose, ['gateway'])).to.deep.equal([200]);
    const { account, key } = await createCustomer(compose);
    expect((await ask(url, key)).status).to.equal(200);
    const wallet = await compose.tollgate('wallet', 'show', account);
    await compose.compose('kill', 'gateway');
    await compose.compose('up', '-d', '--wait');
    expect(await compose.tollgate('wallet', 'show', account)).to.deep.equal(wallet);
    expect((await ask(url, key)).status).to.equal(200);
    expect(await compose.tollgate('ledger', 'verify')).to.include({ ok: true });
  });
});
