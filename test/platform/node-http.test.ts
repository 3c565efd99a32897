// What an import of Node's HTTP loads, by what the process says that it has loaded.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const OURS = fileURLToPath(new URL('../../lib/platform/node-http.ts', import.meta.url));

/** The builtin modules of a process that imports one thing. */
function loadedBy(specifier: string): string {
  const program = `import { createServer, STATUS_CODES } from ${JSON.stringify(specifier)};
    if (STATUS_CODES[404] !== 'Not Found') throw new Error('these are not the words of HTTP');
    createServer().listen(0, function () { this.close(); });
    console.log(process.moduleLoadList.join());`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  });
  expect(status, stderr).to.equal(0);
  return stdout;
}

const CLIENT = 'internal/deps/undici/undici';

describe('node-http', () => {
  it('has what we use of it and loads no client', () => {
    expect(loadedBy(OURS)).to.contain('_http_server').and.not.contain(CLIENT);
  });

  it('is needed: an import of all of it loads one', () => {
    expect(loadedBy('node:http')).to.contain(CLIENT);
  });
});
