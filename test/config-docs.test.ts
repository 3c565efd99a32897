// The table of docs/configuration.md against the variables that are read.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { readConfig, VARIABLES } from '../lib/config.ts';

const page = readFileSync(new URL('../docs/configuration.md', import.meta.url), 'utf8');

/** Whose defaults follow from another variable, or from where the code is. */
const RELATIVE = new Set(['PUBLIC_URL', 'CATALOG_DIR']);

/** The variables of the table, each with its default, if that is a value. */
function listDocumented(): readonly (readonly [name: string, byDefault: string | undefined])[] {
  return page.split('\n').flatMap((line) => {
    const [, names = '', defaults = ''] = /^\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) \| ([^|]*) \|/.exec(line) ?? [];
    const listed = names.match(/[A-Z_]+/g) ?? [];
    const values = defaults.replaceAll('`', '').split(', ');
    return listed.map((name, index) => {
      const value = listed.length === 1 ? values.join(',') : values[index];
      return [name, value === 'none' || value === 'empty' ? undefined : value] as const;
    });
  });
}

describe('docs/configuration.md', () => {
  it('lists every variable once', () => {
    expect(listDocumented().map(([name]) => name)).to.have.members(VARIABLES);
  });

  it('states the defaults that are in force', () => {
    const read = (env: Record<string, string>) => ({ ...readConfig(env), env: {}, ownerId: '' });
    const stated = listDocumented().filter(([name, value]) => value !== undefined && !RELATIVE.has(name));
    expect(stated.length).to.be.above(VARIABLES.length / 2);
    for (const [name, value = ''] of stated) expect(read({ [name]: value }), name).to.deep.equal(read({}));
  });
});
