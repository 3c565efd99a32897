// The vendors to choose from on pages: each has a plugin that takes an address and a key, and nothing else.
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { listVendors } from '../../lib/catalog/vendors.ts';
import { loadPlugins } from '../../lib/upstream/host/loader.ts';
import { checkSettings } from '../../lib/upstream/host/settings.ts';

describe('the vendors to choose from', () => {
  it('need an address and a key', async () => {
    const shipped = fileURLToPath(new URL('../../providers', import.meta.url));
    const plugins = await loadPlugins({ shipped, path: [] });
    for (const { id, plugin: name, baseUrl = 'https://own.example/v1' } of listVendors()) {
      const plugin = plugins.get(name);
      if (!plugin) throw new Error(`${id}: there is no plugin ${name}`);
      const { settings } = checkSettings({ plugin, upstream: id, settings: { baseUrl, apiKey: 'key-of-it' } });
      expect(settings, id).to.include({ baseUrl, apiKey: 'key-of-it' });
    }
    expect(listVendors().some(({ title, baseUrl }) => title !== '' && baseUrl === undefined)).to.equal(false);
  });
});
