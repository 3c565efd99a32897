// Whether a thread that yields does so alone, and whether the threads that it starts inherit it.
import { spawnSync } from 'node:child_process';
import { getPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';

const PLATFORM = new URL('../../lib/platform/thread-priority.ts', import.meta.url).href;

const YIELD = `
  const { parentPort, Worker } = require('node:worker_threads');
  const { getPriority } = require('node:os');
  import(${JSON.stringify(PLATFORM)}).then((platform) => {
    platform.yieldToOthers();
    const child = new Worker("require('node:worker_threads').parentPort.postMessage(require('node:os').getPriority())", { eval: true });
    child.once('message', (inherited) => parentPort.postMessage([getPriority(), inherited]));
  });
`;

describe('yieldToOthers', () => {
  it('concerns the thread and those that it starts', async function () {
    if (process.platform !== 'linux') this.skip();
    const before = getPriority();
    const worker = new Worker(YIELD, { eval: true });
    const priorities = await new Promise((resolve, reject) => {
      worker.once('message', resolve).once('error', reject);
    });
    const lower = Math.min(19, Math.max(10, before));
    expect(priorities).to.deep.equal([lower, lower]);
    expect(getPriority()).to.equal(before);
  });

  it('leaves a thread as it is that yields more already', function () {
    if (process.platform !== 'linux') this.skip();
    const program = `import { getPriority } from 'node:os';
      import { yieldToOthers } from ${JSON.stringify(PLATFORM)};
      yieldToOthers();
      console.log(getPriority());`;
    const { stdout } = spawnSync('nice', ['-n', '15', process.execPath, '--input-type=module', '-e', program], {
      encoding: 'utf8',
    });
    expect(Number(stdout)).to.equal(Math.min(19, getPriority() + 15));
  });
});
