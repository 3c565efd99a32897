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

    it('takes over a file that is written anew', async () => {
      await start();
      stage.folder.write(priced('300'));
      await stage.priceIs(300_000_000n);
    });

    it('takes over a file that was replaced by another name, as editors do', async () => {
      await start();
      stage.folder.write(priced('300'), 'models.json~');
      renameSync(file('models.json~'), file());
      await stage.priceIs(300_000_000n);
      renameSync(file(), file('old'));
      stage.folder.write(priced('400'));
      await stage.priceIs(400_000_000n);
    });

    it('takes over a file that comes and one that goes', async () => {
      await start();
      stage.folder.write({ models: [{ ...TEXT, id: 'text-2' }] }, 'more.json');
      await until(() => stage.live.current().models.length === 2, 3000);
      rmSync(file('more.json'));
      await until(() => stage.live.current().models.length === 1, 3000);
    });

    it('takes over a folder that a link swaps as a whole, again and again', async () => {
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

    it('takes over an edit of a file that is a link to elsewhere', async () => {
      const elsewhere = join(stage.folder.root, 'elsewhere.json');
      writeFileSync(elsewhere, JSON.stringify(priced('240')));
      rmSync(file());
      symlinkSync(elsewhere, file());
      await start();
      writeFileSync(elsewhere, JSON.stringify(priced('300')));
      await stage.priceIs(300_000_000n);
    });

    it('waits until a file that is written in steps is whole', async () => {
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

    it('reads an edit once, and nothing without one', async () => {
      await start();
      stage.folder.write(priced('300'));
      await stage.priceIs(300_000_000n);
      await sleep(300);
      expect(stage.lines.filter((line) => line === 'the catalog was reloaded')).to.have.length(1);
    });

    it('does not miss an edit from before it was watched', async () => {
      await stage.load();
      stage.folder.write(priced('300'));
      stage.live.watch();
      await stage.priceIs(300_000_000n);
    });

    it('survives a bad edit and a folder that is gone for a while', async () => {
      await start();
      stage.folder.write('{');
      await until(() => stage.lines.join().includes('not reloaded'), 3000);
      rmSync(stage.folder.catalog, { recursive: true });
      await until(() => stage.lines.filter((line) => line.includes('not reloaded')).length === 2, 3000);
      mkdirSync(stage.folder.catalog);
      stage.folder.write(priced('300'));
      await stage.priceIs(300_000_000n);
    });

    it('is left alone once it is closed', async () => {
      await start();
      const before = stage.live.current();
      await stage.live.close();
      stage.folder.write(priced('300'));
      await sleep(300);
      expect(stage.live.current()).to.equal(before);
    });
  });
});
