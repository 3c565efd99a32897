// What a test run has once, however many processes its files are spread over: mocha loads it first.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { keepCompiled } from '../lib/compile-cache.ts';
import type { ReplicaSet } from './replica-set.ts';

// The threads of every store that a test opens compile the same files.
keepCompiled();

let set: Promise<ReplicaSet> | undefined;

/** Most files need no MongoDB: the first request starts it. */
const desk = createServer(async (_, response) => {
  try {
    set ??= import('./replica-set.ts').then(({ startReplicaSet }) => startReplicaSet({ members: 1 }));
    response.end((await set).url('test'));
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
});

export async function mochaGlobalSetup(): Promise<void> {
  desk.listen(0, '127.0.0.1');
  await once(desk, 'listening');
  // Lets a run that is interrupted from the keyboard end.
  desk.unref();
  process.env.MONGODB_TEST_DESK = `http://127.0.0.1:${(desk.address() as AddressInfo).port}`;
}

export async function mochaGlobalTeardown(): Promise<void> {
  desk.close();
  desk.closeAllConnections();
  await (await set)?.stop();
}
