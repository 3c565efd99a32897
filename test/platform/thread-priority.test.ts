// Whether a thread that yields does so alone, and whether the threads that it starts inherit it.
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
