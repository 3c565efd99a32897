// `tollgate smart explain`, in both modes: the prompt on stdin, and the thresholds of the catalog.
import { closeSync, openSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { explain } from '../../lib/calls/smart/route.ts';
import { itLong } from '../../testkit/long.ts';
import { createRig, expectRefusal, parseObject, type Rig, runCommand, spawnCommand } from './command.ts';

const EXPLAIN = ['smart', 'explain'];
const PROMPT = 'Переведи: «напиши быструю сортировку на Go»';

const explained = (text: string, thresholds?: { standard: number; heavy: number }) =>
  explain({ messages: [{ role: 'user', content: [{ type: 'text', text }] }] }, thresholds);

describe('cli smart', () => {
  let rig: Rig;

  before(async () => {
    rig = await createRig();
  });

  after(() => rig.close());

  const run = (stdin: string | Buffer, ...options: string[]) =>
    runCommand([...EXPLAIN, ...options], rig.env, { stdin });
  const json = async (stdin: string | Buffer) => {
    const { code, stdout, stderr } = await run(stdin, '--json');
    expect([code, stderr]).to.deep.equal([0, '']);
    return parseObject(stdout);
  };

  it('prints tier, score and signals with their points', async () => {
    for (const text of [PROMPT, 'write a quicksort in Go', 'hi', 'x'.repeat(100_000)]) {
      expect(await json(text)).to.deep.equal(explained(text));
    }
    const { tier, signals } = await json(PROMPT);
    expect([tier, signals]).to.deep.equal(['lite', ['short', 'translate', 'given_text', 'wording']]);
  });

  itLong('prints points that add up, as a process', async () => {
    const { code, stdout, stderr } = await spawnCommand(EXPLAIN, rig.env, { stdin: PROMPT });
    expect([code, stderr]).to.deep.equal([0, '']);
    const { tier, score, base, details } = explained(PROMPT);
    expect(stdout).to.match(new RegExp(`^tier +${tier}$`, 'm'));
    expect(stdout).to.match(new RegExp(`^score +${score} \\(standard from 35, heavy from 65\\)$`, 'm'));
    expect(stdout).to.match(new RegExp(`^base +${base} *$`, 'm'));
    for (const { name, points, evidence } of details) {
      expect(stdout).to.match(new RegExp(`^${name} +${points} +${evidence[0]}`, 'm'));
    }
    expect(stdout).to.match(/^wording .*переведи/m);
  });

  it('drops the newline that echo adds, and nothing else', async () => {
    for (const end of ['\n', '\r\n']) expect(await json(`hi${end}`)).to.deep.equal(explained('hi'));
    const block = ' code:\n\n```\nx = 1\n```\n';
    expect(await json(`${block}\n`)).to.deep.equal(explained(block));
  });

  it('accepts binary input', async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x80, 0x0a]);
    expect(await json(bytes)).to.deep.equal(explained(bytes.subarray(0, 4).toString()));
  });

  it('uses the thresholds of the catalog', async () => {
    const folder = join(rig.folder, 'catalog');
    await mkdir(folder);
    const thresholds = { standard: 1, heavy: 2 };
    const smart = { lite: 'a', standard: 'a', heavy: 'a', thresholds };
    await writeFile(join(folder, 'smart.json'), JSON.stringify({ smart }));
    const env = { ...rig.env, CATALOG_DIR: folder };
    const { stdout } = await runCommand([...EXPLAIN, '--json'], env, { stdin: PROMPT });
    expect(parseObject(stdout)).to.deep.equal(explained(PROMPT, thresholds));
    expect(parseObject(stdout)).to.deep.include({ tier: 'heavy', thresholds });
    const broken = { ...rig.env, CATALOG_DIR: join(rig.folder, 'nowhere') };
    expectRefusal(await runCommand(EXPLAIN, broken, { stdin: PROMPT }), 1);
  });

  it('refuses an empty prompt', async () => {
    for (const stdin of ['', '\n', ' \t\r\n\u00a0\n']) {
      for (const options of [[], ['--json']]) {
        const result = await run(stdin, ...options);
        expectRefusal(result, 1);
        expect(result.stderr).to.equal('tollgate: there is no prompt on stdin\n');
      }
    }
  });

  it('refuses a prompt above the request limit', async () => {
    const result = await run(Buffer.alloc(48 * 1024 * 1024 + 1, 'a'));
    expectRefusal(result, 1);
    expect(result.stderr).to.contain('larger than 48 MiB');
  });

  itLong('does not read from a terminal', async () => {
    // The other end of a new terminal: it is one itself, and nothing ever comes from it.
    const terminal = openSync('/dev/ptmx', 'r+');
    try {
      const result = await spawnCommand(EXPLAIN, rig.env, { stdin: terminal });
      expectRefusal(result, 1);
      expect(result.stderr).to.contain('pass the prompt on stdin: tollgate smart explain < prompt.txt');
    } finally {
      closeSync(terminal);
    }
  });

  it('refuses arguments', async () => {
    expectRefusal(await runCommand([...EXPLAIN, 'hello'], rig.env), 2);
    expectRefusal(await runCommand(['smart'], rig.env), 2);
  });
});
