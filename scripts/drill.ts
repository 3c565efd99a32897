// The drill of docs/operations/backup.md on both stores, with the output of every command: npm run drill
import { startCluster } from '../testkit/cluster.ts';
import { runDrill } from '../testkit/drill.ts';
import { readOptions } from './options.ts';

readOptions({});
console.log('# SQLite');
await runDrill({ say: console.log });
console.log('\n# MongoDB');
const cluster = await startCluster();
try {
  await runDrill({ mongoUrl: cluster.url, say: console.log });
} finally {
  await cluster.stop();
}
