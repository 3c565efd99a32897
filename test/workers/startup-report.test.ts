import { expect } from 'chai';
import { readConfig } from '../../lib/config.ts';
import { findClientUrl } from '../../lib/workers/startup-report.ts';

describe('the address of the example that the start prints', () => {
  const rows: readonly (readonly [Record<string, string>, string])[] = [
    [{}, 'http://127.0.0.1:9000'],
    [{ HOST: '0.0.0.0' }, 'http://127.0.0.1:9000'],
    [{ HOST: '::' }, 'http://[::1]:9000'],
    [{ HOST: '10.0.0.7' }, 'http://10.0.0.7:9000'],
    [{ HOST: 'fd00::7' }, 'http://[fd00::7]:9000'],
    [{ HOST: '0.0.0.0', PUBLIC_URL: 'https://ai.example.com/gate/' }, 'https://ai.example.com/gate'],
  ];
  for (const [env, expected] of rows) {
    it(`is ${expected} with ${JSON.stringify(env)}`, () => {
      expect(findClientUrl(readConfig(env), 9000)).to.equal(expected);
    });
  }
});
