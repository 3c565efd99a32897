// How much memory a process of the benchmark holds after garbage collection.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const ROUNDS = 4;
const ROUND_MS = 20;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** What is left after several collections: finalizers release more between them. */
export async function heldMemory(): Promise<NodeJS.MemoryUsage> {
  for (let round = 0; round < ROUNDS; round += 1) {
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
  }
  return process.memoryUsage();
}
