// The catalogs that the README and the page on configuration show work as they are printed, beside the files that are shipped.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { checkCatalog } from '../../lib/catalog/check.ts';
import { readConfig } from '../../lib/config.ts';

const ROOT = new URL('../../', import.meta.url);

for (const [page, models] of [
  ['README.md', 1],
  ['docs/configuration.md', 2],
] as const)
  describe(`the catalog of ${page}`, () => {
    let folder: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'tollgate-readme-'));
    });
    afterEach(() => rmSync(folder, { recursive: true }));

    it('is valid beside the shipped files, and its variable switches its upstream on', async () => {
      const shipped = readdirSync(new URL('catalog/', ROOT));
      cpSync(new URL('catalog/', ROOT), folder, { recursive: true });
      const readme = readFileSync(new URL(page, ROOT), 'utf8');
      const [, example = ''] = /```jsonc\n(.*?)```/s.exec(readme) ?? [];
      const [, name = ''] = /`catalog\/(\w+\.json)`/.exec(readme) ?? [];
      expect(shipped).not.to.include(name);
      const check = () => checkCatalog(readConfig({ CATALOG_DIR: folder, OPENAI_API_KEY: 'sk-of-the-readme' }));
      const before = await check();
      writeFileSync(join(folder, name), example);
      const after = await check();
      expect(after.models).to.equal(before.models + models);
      expect(after.upstreams).to.equal(before.upstreams + 1);
      expect(after.warnings).to.deep.equal(before.warnings);
    });
  });
