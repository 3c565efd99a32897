// Whether a thread keeps to the heap that it is given, in a process that was started with flags for the size of heaps.
import { setFlagsFromString } from 'node:v8';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { limitHeap } from '../../lib/platform/thread-heap.ts';

const MIB = 1024 * 1024;
const LIMITS = { maxYoungGenerationSizeMb: 8 };

/** Makes garbage of which much lives for a while, so that the room for young objects grows as far as it may. */
const GROW = `
  const { getHeapSpaceStatistics } = require('node:v8');
  const { parentPort } = require('node:worker_threads');
  for (let round = 0; round < 60; round += 1) Array.from({ length: 60_000 }, (_, at) => ({ at, list: [at] }));
  const { physical_space_size } = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  parentPort.postMessage(physical_space_size);
`;

describe('limitHeap', () => {
  beforeEach(() => setFlagsFromString('--max-semi-space-size=32'));
  after(() => setFlagsFromString('--max-semi-space-size=0'));

  const youngBytes = (resourceLimits: ResourceLimits) =>
    new Promise<number>((resolve, reject) => {
      new Worker(GROW, { eval: true, execArgv: [], resourceLimits }).once('message', resolve).once('error', reject);
    });

  it('keeps a thread to its limit, whatever the flags of the process', async () => {
    expect(await youngBytes(limitHeap(LIMITS))).to.be.at.most(LIMITS.maxYoungGenerationSizeMb * MIB);
  });

  it('is needed: without it the flag counts', async () => {
    expect(await youngBytes(LIMITS)).to.be.above(LIMITS.maxYoungGenerationSizeMb * MIB);
  });
});
