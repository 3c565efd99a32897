// What every process of the service loads: a library that only some commands, pages or stores need is loaded by these.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { describeLong } from '../../testkit/long.ts';

const LIST = `
  await import('./lib/serve.ts');
  const { createRequire } = await import('node:module');
  const files = Object.keys(createRequire(process.cwd() + '/x.js').cache);
  const libraries = files.map((file) => /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(file)?.[1]);
  const loadsNodesUndici = process.moduleLoadList.some((name) => name.includes('deps/undici/undici'));
  console.log(JSON.stringify({ libraries: [...new Set(libraries)], loadsNodesUndici }));
`;

describeLong('the start of a process', () => {
  let loaded: { readonly libraries: readonly string[]; readonly loadsNodesUndici: boolean };

  before(async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', LIST]);
    loaded = JSON.parse(stdout);
  });

  it('loads the libraries that every call needs', () => {
    expect(loaded.libraries).to.include.members(['@hapi/hapi', 'joi', 'undici', 'pino']);
  });

  it('loads no library that only some commands, pages or stores need', () => {
    for (const library of ['mongodb', 'nodemailer', 'qrcode', 'prom-client', 'joi-to-json', 'lodash', 'commander']) {
      expect(loaded.libraries, library).to.not.include(library);
    }
  });

  it("does not load Node's own undici, which an import of node:http does", () => {
    expect(loaded.loadsNodesUndici).to.equal(false);
  });
});
