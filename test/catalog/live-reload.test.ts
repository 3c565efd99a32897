// Catalog reloads: what the log says, which upstreams stay open, and when replaced ones are closed.

import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { readModelNames } from '../../lib/catalog/read.ts';
import { until } from '../../testkit/client.ts';
import { catalogOf, TEXT, variable } from './folder.ts';
import { CatalogStage, made } from './stage.ts';

const SWITCHED_OFF = 'the edit switched an upstream or a payment provider off';

describe('a catalog reload', () => {
  const stage = new CatalogStage();
  const { up, content } = stage;
  beforeEach(() => stage.open());
  afterEach(() => {
    mock.timers.reset();
    return stage.close();
  });
  const counted = (words: string) => stage.lines.filter((line) => line.startsWith(words)).length;

  it('logs once that an edit switched an upstream or a payment provider off', async () => {
    const off = up(variable('UNSET'));
    stage.folder.write(content({ one: up('key-of-one'), two: off }));
    await stage.load();
    expect(counted(SWITCHED_OFF), 'at the start, which tells it otherwise').to.equal(0);
    const payments = { till: { plugin: 'sandbox', settings: { secret: variable('UNSET') } } };
    const edits = [
      [{ upstreams: { one: up('key-of-one'), two: off } }, 0],
      [{ upstreams: { one: up('key-of-one'), trial: { ...off, sandbox: true } } }, 0],
      [{ upstreams: { one: up('key-of-one'), two: off } }, 1],
      [{ upstreams: { one: up('key-of-one'), two: off } }, 1],
      [{ upstreams: { one: up('key-of-one'), two: up('key-of-two') } }, 1],
      [{ upstreams: { one: up('key-of-one'), two: off } }, 2],
      [{ upstreams: { one: up('key-of-one') }, payments }, 3],
    ] as const;
    for (const [edit, warnings] of edits) {
      stage.folder.write(catalogOf({ models: [TEXT], ...edit }));
      expect(await stage.live.reload(), stage.lines.at(-1)).to.equal(true);
      expect(counted(SWITCHED_OFF), JSON.stringify(edit)).to.equal(warnings);
    }
  });

  it('warns about dangling references at the start and at every reload', async () => {
    const lost = 'vision: nothing is not a model';
    stage.folder.write({ ...content({ one: up('key-of-one') }), vision: ['nothing'] });
    await stage.load();
    expect(counted(lost)).to.equal(1);
    await stage.live.reload();
    expect(counted(lost)).to.equal(2);
  });

  it('does not happen twice after a reload on request', async () => {
    stage.folder.write(content({ one: up('key-of-one') }));
    await stage.load({ lookEveryMs: 5 });
    stage.folder.write(content({ one: up('key-of-one') }, '300'));
    expect(await stage.live.reload()).to.equal(true);
    stage.live.watch();
    await sleep(100);
    expect(counted('the catalog was reloaded')).to.equal(1);
  });

  it('is not triggered by other files', async () => {
    stage.folder.write(content({ one: up('key-of-one') }));
    await stage.load({ lookEveryMs: 5 });
    stage.live.watch();
    stage.folder.write('notes', 'notes.txt');
    stage.folder.write('{', 'models.json.swp');
    await sleep(100);
    expect(stage.lines).to.deep.equal([]);
    stage.folder.write(content({ one: up('key-of-one') }, '300'));
    await until(() => counted('the catalog was reloaded') === 1);
  });

  it('keeps the reason and time of a failure until the next success', async () => {
    stage.folder.write(content({ one: up('key-of-one') }));
    await stage.load();
    expect(stage.live.failure()).to.equal(undefined);
    const before = Date.now();
    stage.folder.write('{ "models": [');
    expect(await stage.live.reload()).to.equal(false);
    const first = stage.live.failure();
    expect(first?.reason).to.contain(stage.folder.catalog).and.to.contain('JSON');
    expect(first?.at).to.be.within(before, Date.now());
    stage.folder.write(content({ other: { plugin: 'nowhere', settings: {} } }));
    expect(await stage.live.reload()).to.equal(false);
    expect(stage.live.failure()?.reason).to.contain('unknown plugin nowhere');
    stage.folder.write(content({ one: up('key-of-one') }, '300'));
    expect(await stage.live.reload()).to.equal(true);
    expect(stage.live.failure()).to.equal(undefined);
  });

  it('never quotes a secret in the reason', async () => {
    stage.folder.write(content({ one: up('key-of-one') }));
    await stage.load();
    stage.folder.write(content({ one: up('key-of-two', { refuse: 'key-of-two' }) }));
    expect(await stage.live.reload()).to.equal(false);
    stage.folder.write(content({ one: up('key-of-two', { refuse: true }) }));
    expect(await stage.live.reload()).to.equal(false);
    expect(stage.live.failure()?.reason).to.contain('refused [secret]').and.not.contain('key-of');
    stage.folder.write(content({ one: { plugin: 'key-of-one', settings: {} } }));
    expect(await stage.live.reload()).to.equal(false);
    expect(stage.live.failure()?.reason).to.contain('unknown plugin [secret]');
    expect(stage.lines.join()).not.to.contain('key-of');
  });

  it('does not repeat for an unchanged bad edit', async () => {
    stage.folder.write(content({ one: up('key-of-one') }));
    await stage.load({ lookEveryMs: 2 });
    stage.folder.write('{');
    expect(await stage.live.reload()).to.equal(false);
    stage.live.watch();
    await sleep(150);
    expect(counted('the catalog was not reloaded')).to.equal(1);
  });

  describe('with a changed upstream', () => {
    async function change(totalTimeoutMs: number): Promise<void> {
      stage.folder.write(content({ one: up('key-of-one') }));
      await stage.load({ totalTimeoutMs });
      mock.timers.enable({ apis: ['setTimeout'] });
      stage.folder.write(content({ one: up('key-of-1') }));
      await stage.live.reload();
    }
    const closed = () => made().map((provider) => provider.closed);

    it('closes the old one a second after the longest call', async () => {
      await change(5000);
      mock.timers.tick(5999);
      expect(closed()).to.deep.equal([0, 0]);
      mock.timers.tick(1);
      expect(closed()).to.deep.equal([1, 0]);
      await stage.live.close();
      expect(closed()).to.deep.equal([1, 1]);
    });

    it('closes it once if the service stops before', async () => {
      await change(5000);
      await stage.live.close();
      expect(closed()).to.deep.equal([1, 1]);
      mock.timers.tick(10_000);
      expect(closed()).to.deep.equal([1, 1]);
    });
  });

  it('lists all names of models, including the sandbox and models without a route', () => {
    const models = [
      { ...TEXT, aliases: ['small'] },
      { ...TEXT, id: 'text-2', routes: [] },
    ];
    stage.folder.write(catalogOf({ upstreams: { one: up('key-of-one') }, models }));
    const names = readModelNames(stage.configOf({}));
    for (const name of ['text-1', 'small', 'text-2', 'sandbox-lite']) expect(names.has(name), name).to.equal(true);
    expect(names.has('nothing')).to.equal(false);
  });
});
