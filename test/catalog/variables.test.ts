import { expect } from 'chai';
import { findForbiddenVariables, listVariables, substituteVariables } from '../../lib/catalog/variables.ts';
import { readConfig, VARIABLES } from '../../lib/config.ts';
import { variable } from './folder.ts';

describe('variables of a catalog', () => {
  const fill = (value: unknown, env: Readonly<Record<string, string | undefined>> = {}) => {
    const missing = new Set<string>();
    return [substituteVariables(value, env, missing), [...missing]];
  };

  it('are substituted in every string', () => {
    const value = { a: variable('A'), b: [`x-${variable('A')}-${variable('B_2')}`, 7, null, { c: true }] };
    expect(fill(value, { A: '1', B_2: '2' })).to.deep.equal([{ a: '1', b: ['x-1-2', 7, null, { c: true }] }, []]);
  });

  it('are inserted literally', () => {
    const text = `$& $1 ${variable('B')} "quoted" \\ \n`;
    expect(fill({ a: variable('A') }, { A: text })).to.deep.equal([{ a: text }, []]);
  });

  it('are missing if they are unset or empty', () => {
    expect(fill([variable('A'), variable('B'), variable('A')], { B: '' })).to.deep.equal([
      ['', '', ''],
      ['A', 'B'],
    ]);
  });

  it('are not substituted in similar texts', () => {
    const value = ['$A', '{A}', `$${'{1A}'}`, `$${'{A B}'}`, '${'];
    expect(fill(value, { A: '1' })).to.deep.equal([value, []]);
  });

  it('are found in settings', () => {
    expect([...listVariables({ a: [variable('A')], b: variable('B'), c: 7 })]).to.deep.equal(['A', 'B']);
  });

  describe('allowed in a catalog', () => {
    const defaults = readConfig({}).catalogVariables;
    const forbidden = (name: string, patterns: readonly string[] = defaults) =>
      findForbiddenVariables({ one: { settings: { keys: ['x', `y-${variable(name)}`] } } }, 'upstreams', patterns);
    const says = (name: string) => [
      `upstreams.one.settings.keys.1: ${name} is not among the variables that CATALOG_VARIABLES allows a catalog to name`,
    ];

    it('default to those that upstreams need', () => {
      const names = 'A_API_KEY B_2_SECRET C_SHOP_ID D_BASE_URL E_FOLDER F_SCOPE G_AUTH_URL H_CA'.split(' ');
      for (const name of names) expect(forbidden(name), name).to.deep.equal([]);
      for (const name of ['PATH', 'API_KEY', 'A_API_KEY_2', 'HOME', 'AWS_SESSION_TOKEN', 'SMTP_HOST', 'a_api_key']) {
        expect(forbidden(name), name).to.deep.equal(says(name));
      }
    });

    it('are those on the list and no others', () => {
      expect(forbidden('MY_KEY', ['MY_KEY', 'X'])).to.deep.equal([]);
      expect(forbidden('MY_KEY_2', ['MY_KEY'])).to.deep.equal(says('MY_KEY_2'));
      expect(forbidden('A_API_KEY', ['MY_KEY'])).to.deep.equal(says('A_API_KEY'));
      for (const pattern of ['*', 'UP_*', '*_UP', 'A*B*_UP', '*B*', 'UP_*B_*P']) {
        expect(forbidden('UP_AxB_UP', [pattern]).length, pattern).to.equal(pattern === 'A*B*_UP' ? 1 : 0);
      }
    });

    it("are never the service's own, whatever the list says", () => {
      for (const name of VARIABLES) {
        expect(forbidden(name, ['*', name]), name).to.deep.equal([
          `upstreams.one.settings.keys.1: ${name} belongs to the service itself and is never available to a catalog`,
        ]);
      }
      expect(VARIABLES).to.include.members(['DATABASE_URL', 'CATALOG_VARIABLES', 'KEY_PREFIX']);
    });

    it('are checked in every string', () => {
      const value = {
        a: variable('ONE'),
        b: { c: [variable('TWO'), 7, null, true] },
        d: `${variable('A')}${variable('B')}`,
      };
      const fields = findForbiddenVariables(value, 'top', []).map((line) => line.split(' ').slice(0, 2).join(' '));
      expect(fields).to.deep.equal(['top.a: ONE', 'top.b.c.0: TWO', 'top.d: A', 'top.d: B']);
    });
  });
});
