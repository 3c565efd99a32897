// Whether a thread that yields does so alone, whether the threads that it starts inherit it, and which threads are V8's.
import { execFileSync } from 'node:child_process';
import { getPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';

const YIELD = `
  const { parentPort, Worker } = require('node:worker_threads');
  const { getPriority } = require('node:os');
  import(${JSON.stringify(new URL('../../lib/platform/thread-priority.ts', import.meta.url).href)}).then((platform) => {
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
});

describe('lowerEngineThreads', () => {
  const LOWER = `
    const { readdirSync } = require('node:fs');
    const { getPriority } = require('node:os');
    const { Worker } = require('node:worker_threads');
    import(${JSON.stringify(new URL('../../lib/platform/thread-priority.ts', import.meta.url).href)}).then((platform) => {
      const ids = readdirSync('/proc/self/task').map(Number);
      platform.lowerEngineThreads();
      const all = ids.map((id) => [id === process.pid, getPriority(id)]);
      new Worker("require('node:worker_threads').parentPort.postMessage(require('node:os').getPriority())", { eval: true })
        .once('message', (own) => console.log(JSON.stringify({ all, own })));
    });
  `;

  it('concerns the threads that are there, but neither the main one nor those that it starts later', function () {
    if (process.platform !== 'linux') this.skip();
    const before = getPriority();
    const { all, own } = JSON.parse(execFileSync(process.execPath, ['-e', LOWER], { encoding: 'utf8' }));
    expect(all.length).to.be.above(2);
    const lower = Math.max(10, before);
    for (const [isMain, priority] of all) expect(priority).to.equal(isMain ? before : lower);
    expect(own).to.equal(before);
  });
});
