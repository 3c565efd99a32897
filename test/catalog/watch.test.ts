import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../testkit/client.ts';
import { TEXT } from './folder.ts';
import { CatalogStage, type LoadOptions } from './stage.ts';

describe('live catalog', () => {
  const stage = new CatalogStage();
  const { up, content } = stage;
  beforeEach(() => stage.open());
  afterEach(() => stage.close());

  describe('watched', () => {
    const priced = (price: string) => content({ one: up('key-of-one') }, price);
    beforeEach(() => stage.folder.write(priced('240')));
    const start = async (options: LoadOptions = {}) => {
      await stage.load(options);
      stage.live.watch();
    };
    const file = (name = 'models.json') => join(stage.folder.catalog, name);

    it('reloads a rewritten file', async () => {
      await start();
      stage.folder.write(priced('300'));
      await stage.priceIs(300_000_000n);
    });

    it('reloads a file replaced by a rename, as editors do', async () => {
      await start();
      stage.folder.write(priced('300'), 'models.json~');
      renameSync(file('models.json~'), file());
      await stage.priceIs(300_000_000n);
      renameSync(file(), file('old'));
      stage.folder.write(priced('400'));
      await stage.priceIs(400_000_000n);
    });

    it('reloads after a file is added or removed', async () => {
      await start();
      stage.folder.write({ models: [{ ...TEXT, id: 'text-2' }] }, 'more.json');
      await until(() => stage.live.current().models.length === 2);
      rmSync(file('more.json'));
      await until(() => stage.live.current().models.length === 1);
    });

    it('reloads a folder swapped by a symlink, repeatedly', async () => {
      const linked = join(stage.folder.root, 'linked');
      const swap = (name: string, price: string) => {
        mkdirSync(join(stage.folder.root, name));
        writeFileSync(join(stage.folder.root, name, 'models.json'), JSON.stringify(priced(price)));
        symlinkSync(name, `${linked}-new`);
        renameSync(`${linked}-new`, linked);
      };
      swap('first', '240');
      await start({ catalogDir: linked });
      swap('second', '300');
      await stage.priceIs(300_000_000n);
      swap('third', '400');
      await stage.priceIs(400_000_000n);
    });

    it('reloads after an edit of a linked file', async () => {
      const elsewhere = join(stage.folder.root, 'elsewhere.json');
      writeFileSync(elsewhere, JSON.stringify(priced('240')));
      rmSync(file());
      symlinkSync(elsewhere, file());
      await start();
      writeFileSync(elsewhere, JSON.stringify(priced('300')));
      await stage.priceIs(300_000_000n);
    });

    it('waits until a file written in steps is complete', async () => {
      await start();
      const text = JSON.stringify(priced('300'));
      writeFileSync(file(), '');
      for (let at = 0; at < text.length; at += 60) {
        appendFileSync(file(), text.slice(at, at + 60));
        await sleep(25);
      }
      await stage.priceIs(300_000_000n);
      expect(stage.lines.join()).not.to.contain('not reloaded');
    });

    it('reloads once per edit', async () => {
      await start();
      stage.folder.write(priced('300'));
      await stage.priceIs(300_000_000n);
      await sleep(300);
      expect(stage.lines.filter((line) => line === 'the catalog was reloaded')).to.have.length(1);
    });

    it('does not miss an edit made before it was watched', async () => {
      await stage.load();
      stage.folder.write(priced('300'));
      stage.live.watch();
      await stage.priceIs(300_000_000n);
    });

    it('survives a bad edit and a missing folder', async () => {
      await start();
      stage.folder.write('{');
      await until(() => stage.lines.join().includes('not reloaded'));
      rmSync(stage.folder.catalog, { recursive: true });
      await until(() => stage.lines.filter((line) => line.includes('not reloaded')).length === 2);
      mkdirSync(stage.folder.catalog);
      stage.folder.write(priced('300'));
      await stage.priceIs(300_000_000n);
    });

    it('does not reload after it is closed', async () => {
      await start();
      const before = stage.live.current();
      await stage.live.close();
      stage.folder.write(priced('300'));
      await sleep(300);
      expect(stage.live.current()).to.equal(before);
    });
  });
});
