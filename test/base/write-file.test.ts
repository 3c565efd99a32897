// Files that are replaced as a whole.
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { writeWholeFile } from '../../lib/base/write-file.ts';

describe('a file written as a whole', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-write-'));
  after(() => rmSync(folder, { recursive: true }));
  const modeOf = (path: string) => statSync(path).mode & 0o777;

  it('is new with the given mode, and leaves nothing beside it', async () => {
    const path = join(folder, 'new.env');
    await writeWholeFile(path, 'A=1\n', 0o600);
    expect([readFileSync(path, 'utf8'), modeOf(path)]).to.deep.equal(['A=1\n', 0o600]);
    expect(readdirSync(folder)).to.deep.equal(['new.env']);
  });

  it('keeps its mode and the link to it when it is replaced', async () => {
    const [path, link] = [join(folder, 'real.json'), join(folder, 'link.json')];
    writeFileSync(path, '{}');
    chmodSync(path, 0o640);
    symlinkSync(path, link);
    await writeWholeFile(link, '{"a":1}');
    expect([readFileSync(path, 'utf8'), modeOf(path)]).to.deep.equal(['{"a":1}', 0o640]);
  });

  it('says in one line why it cannot be written', async () => {
    const thrown = await writeWholeFile(join(folder, 'none', 'x.json'), '{}').catch((error: unknown) => error);
    expect(thrown)
      .to.be.instanceOf(OperatorError)
      .with.property('message')
      .that.matches(/cannot be written \(ENOENT\)$/);
  });
});
