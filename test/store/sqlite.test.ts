// The store contract on SQLite files.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storeContract } from '../contract/store/contract.ts';

storeContract({
  name: 'sqlite',
  async create() {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-sqlite-'));
    return {
      url: `sqlite:${join(folder, 'data', 'tollgate.db')}`,
      remove: async () => rmSync(folder, { recursive: true, force: true }),
    };
  },
});
