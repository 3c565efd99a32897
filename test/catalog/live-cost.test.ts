// An upstream that costs real money takes effect once that is recorded: at a start, at a reload, and after failures.
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { until } from '../../testkit/client.ts';
import { makeGate } from '../../testkit/faulty-store.ts';
import { CatalogStage, made } from './stage.ts';

describe('upstreams that cost real money', () => {
  const stage = new CatalogStage();
  const { up } = stage;
  const trial = () => stage.content({ one: { ...up('key-of-fake'), sandbox: true } });
  const real = (price = '300') => stage.content({ one: up('key-of-one') }, price);
  const price = () => stage.model().price.output;
  let noted: string[];
  let failures: Error[];
  let gate: Promise<void>;

  beforeEach(() => {
    stage.open();
    [noted, failures, gate] = [[], [], Promise.resolve()];
  });
  afterEach(() => stage.close());

  async function noteCost(upstream: string): Promise<void> {
    await gate;
    const failure = failures.shift();
    if (failure) throw failure;
    noted.push(upstream);
  }
  const load = (sandbox: boolean) => stage.load({ sandbox, noteCost, lookEveryMs: 20 });
  const lines = (words: string) => stage.lines.filter((line) => line.includes(words));

  it('are recorded once, first of all at the start', async () => {
    const { opened, open } = makeGate();
    gate = opened;
    stage.folder.write(real());
    const loading = load(false);
    expect(await Promise.race([loading, new Promise((resolve) => setTimeout(resolve, 100, 'waits'))])).to.equal(
      'waits',
    );
    open();
    await loading;
    stage.folder.write(real('400'));
    expect(await stage.live.reload()).to.equal(true);
    expect(noted).to.deep.equal(['one']);
  });

  it('end a start that cannot record them with one line for the operator, and everything closed', async () => {
    failures.push(new Error('disk full'));
    stage.folder.write(real());
    const error: unknown = await load(false).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(OperatorError);
    expect((error as Error).message).to.match(
      /^the store could not record that the upstream one costs real money.*full$/,
    );
    expect(made().map(({ closed }) => closed)).to.deep.equal([1]);
  });

  it('are not recorded if there are none', async () => {
    failures.push(new Error('nobody asks'));
    stage.folder.write(trial());
    await load(true);
    stage.folder.write(stage.content({ one: { ...up('key-of-fake'), sandbox: true } }, '300'));
    expect(await stage.live.reload()).to.equal(true);
    expect(noted).to.deep.equal([]);
  });

  describe('switched on by an edit', () => {
    beforeEach(async () => {
      stage.folder.write(trial());
      await load(true);
      stage.folder.write(real());
    });

    it('take effect after they are recorded', async () => {
      const { opened, open } = makeGate();
      gate = opened;
      const reloading = stage.live.reload();
      await until(() => made().length === 2);
      expect(price()).to.equal(240_000_000n);
      open();
      expect(await reloading).to.equal(true);
      expect([price(), noted]).to.deep.equal([300_000_000n, ['one']]);
    });

    it('leave the old catalog in force while they cannot be recorded, and take effect later by themselves', async () => {
      failures.push(...['first', 'second'].map((words) => new Error(words)));
      const before = stage.live.current();
      expect(await stage.live.reload()).to.equal(false);
      expect(stage.live.current()).to.equal(before);
      expect(lines('the old one stays in force; trying again soon: ').length).to.equal(1);
      expect(lines('costs real money').at(0)).to.contain('first');
      expect(made().map(({ closed }) => closed)).to.deep.equal([0, 1]);
      stage.live.watch();
      await stage.priceIs(300_000_000n);
      expect(lines('second').length).to.equal(1);
      expect(made().map(({ closed }) => closed)).to.deep.equal([0, 1, 1, 0]);
      expect(noted).to.deep.equal(['one']);
    });

    it('are not retried after an edit that removes them', async () => {
      failures.push(new Error('first'));
      expect(await stage.live.reload()).to.equal(false);
      stage.folder.write(trial());
      expect(await stage.live.reload()).to.equal(true);
      const reloads = lines('the catalog was reloaded').length;
      stage.live.watch();
      await new Promise((resolve) => setTimeout(resolve, 20 * 15));
      expect(lines('the catalog was reloaded').length).to.equal(reloads);
    });

    it('are opened once by two concurrent reloads', async () => {
      const { opened, open } = makeGate();
      gate = opened;
      const reloads = [stage.live.reload(), stage.live.reload()];
      await until(() => made().length === 2);
      await new Promise((resolve) => setTimeout(resolve, 50));
      open();
      expect(await Promise.all(reloads)).to.deep.equal([true, true]);
      expect(made().map(({ closed }) => closed)).to.deep.equal([0, 0]);
      expect(noted).to.deep.equal(['one']);
    });

    for (const fails of [false, true]) {
      it(`are closed where the service stops while they are recorded, and that ${fails ? 'fails' : 'succeeds'}`, async () => {
        const { opened, open } = makeGate();
        gate = opened;
        if (fails) failures.push(new Error('closed'));
        const reloading = stage.live.reload();
        await until(() => made().length === 2);
        await stage.live.close();
        open();
        expect(await reloading).to.equal(false);
        expect(made().map(({ closed }) => closed)).to.deep.equal([1, 1]);
        expect(lines('trying again')).to.deep.equal([]);
      });
    }
  });
});
