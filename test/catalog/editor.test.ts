// How a version of the catalog is saved from pages: what is kept, in which order, and when nothing is.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createCatalogEditor } from '../../lib/catalog/editor.ts';
import { variable } from './folder.ts';

const SECRET = 'CONSOLE_ONE_0A_API_KEY';
const PART = { upstreams: { one: { plugin: 'any', settings: { apiKey: variable(SECRET) } } } };

/** An editor on a store that notes what it is told. */
function open({ keepsSecrets = true, problem = '', now = 0 } = {}) {
  const versions: { seq: number; text: string }[] = [];
  const settings = new Map<string, string>();
  const events: string[] = [];
  const tried: { secrets: object }[] = [];
  const store = {
    catalogVersions: {
      last: async () => versions[0]?.seq ?? 0,
      page: async () => versions.slice(0, 1),
      add: async (version: { seq: number; text: string }) => {
        events.push(`version ${version.seq}`);
        versions.unshift(version);
        return true;
      },
    },
    settings: {
      get: async (name: string) => settings.get(name),
      set: async (name: string, value: string) => {
        await sleep(1);
        events.push(`secret ${value}`);
        settings.set(name, value);
      },
    },
  };
  const live = {
    tryLayer: async (layer: { secrets: object }) => {
      tried.push(layer);
      return problem === '' ? {} : { problem };
    },
    reload: async () => events.push('reload') > 0,
  };
  const editor = createCatalogEditor({ store, live, keepsSecrets, now: () => now } as never);
  const save = (seen: number, more: object = { secrets: { [SECRET]: 'key' } }) =>
    editor.save({ seen, part: PART, user: 'usr_1', note: 'one', ...more } as never);
  return { editor, save, events, tried, settings };
}

describe('a version of the catalog from pages', () => {
  it('is saved after its secrets, and then loaded', async () => {
    const { save, events } = open();
    expect(await save(0)).to.deep.equal({ status: 'saved', version: 1 });
    expect(events).to.deep.equal(['secret key', 'version 1', 'reload']);
  });

  it('is tried with the secrets that are kept', async () => {
    const { editor, save, tried } = open();
    await save(0);
    await editor.tryPart(PART as never);
    expect(tried.map(({ secrets }) => secrets)).to.deep.equal([{ [SECRET]: 'key' }, { [SECRET]: 'key' }]);
    expect(await save(1, {})).to.deep.equal({ status: 'saved', version: 2 });
  });

  it('changes nothing after another one that its author has not seen, or with a mistake', async () => {
    const late = open();
    expect(await late.save(5)).to.deep.equal({ status: 'changed' });
    const wrong = open({ problem: 'no such plugin' });
    expect(await wrong.save(0)).to.deep.equal({ status: 'refused', problem: 'no such plugin' });
    expect([late.events, wrong.events]).to.deep.equal([[], []]);
  });

  it('keeps no secret where there is no key to seal it with', async () => {
    const { save, events } = open({ keepsSecrets: false });
    const error = await save(0).catch((reason: unknown) => reason);
    expect(error).to.have.property('message', 'secrets cannot be kept without a key');
    expect(events).to.deep.equal([]);
  });

  it('that a gateway cannot load is said for five minutes after the last report', async () => {
    const found = async (now: number) => {
      const { editor, save, settings } = open({ now });
      await save(0);
      settings.set('catalog/console-failure', JSON.stringify({ version: 1, at: 0, reportedAt: 1000, reason: 'bad' }));
      return (await editor.failure())?.reason;
    };
    expect([await found(301_000), await found(301_001)]).to.deep.equal(['bad', undefined]);
  });
});
