// What a process of the benchmark holds, once its garbage is collected.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const ROUNDS = 4;
const ROUND_MS = 20;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** What is left after several collections: finalizers free more of it between them. */
export async function heldMemory(): Promise<NodeJS.MemoryUsage> {
  for (let round = 0; round < ROUNDS; round += 1) {
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
  }
  return process.memoryUsage();
}
