// A worker as a process of its own, of which the test is the primary: what it tells, what it obeys, and how it ends.
import cluster, { type Worker } from 'node:cluster';
import { EventEmitter, once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { type ToPrimary, type ToWorker, WORKER_VARIABLE } from '../../lib/workers/messages.ts';
import { CHAT, send } from '../../testkit/client.ts';
import { type Books, type Home, makeHome, openBooks } from '../../testkit/process.ts';

const EXEC = fileURLToPath(new URL('../../lib/main.ts', import.meta.url));

const DELAY_MS = 300;
const ENV = { SANDBOX: 'on', METRICS_PORT: '0', LOG_LEVEL: 'fatal', SHUTDOWN_DELAY_MS: String(DELAY_MS) };

describe('a worker', () => {
  let home: Home;
  let books: Books;
  let worker: Worker;
  let told: EventEmitter;
  let url: string;

  const tell = (message: ToWorker) => worker.send(message);

  before(async () => {
    home = makeHome({});
    books = await openBooks(home);
  });
  after(async () => {
    await books.close();
    home.remove();
  });
  beforeEach(async function () {
    this.timeout(60_000);
    cluster.setupPrimary({ exec: EXEC });
    told = new EventEmitter();
    const terms = JSON.stringify({ group: 'own_test', port: 0, isFirst: true });
    worker = cluster.fork({ ...home.env, ...ENV, [WORKER_VARIABLE]: terms });
    worker.on('message', (message: ToPrimary) => void told.emit(message.kind, message));
    const [{ report }] = await once(told, 'ready');
    url = `http://127.0.0.1:${report.port}`;
  });
  afterEach(() => {
    worker.process.kill('SIGKILL');
  });

  it('asks the primary for its limits, tells its metrics, and stops when it is told to', async () => {
    const { key } = await books.account();
    told.on('hits', ({ id, hits }) => tell({ kind: 'verdicts', id, verdicts: hits.map(() => -7) }));
    const body = { model: 'sandbox-lite', messages: [{ role: 'user', content: 'Hello!' }] };
    const limited = await send(`${url}${CHAT}`, { key, body });
    expect([limited.status, limited.headers['retry-after']]).to.deep.equal([429, '7']);
    tell({ kind: 'scrape' });
    const [{ metrics, readiness }] = await once(told, 'scraped');
    expect(metrics).to.be.an('array').that.is.not.empty;
    expect(readiness).to.be.an('object');
    tell({ kind: 'stop' });
    expect(await once(worker, 'exit')).to.deep.equal([0, null]);
  });

  it('ends in its time when the primary is gone', async () => {
    const from = performance.now();
    worker.process.disconnect();
    expect(await once(worker, 'exit')).to.deep.equal([0, null]);
    expect(performance.now() - from, 'its calls may end').to.be.at.least(DELAY_MS);
  });
});
