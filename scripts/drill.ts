// The drill of docs/operations.md on both stores, with what every command prints: npm run drill
import { startCluster } from '../test/helpers/cluster.ts';
import { runDrill } from '../test/helpers/drill.ts';

console.log('# SQLite');
await runDrill({ say: console.log });
console.log('\n# MongoDB');
const cluster = await startCluster();
try {
  await runDrill({ mongoUrl: cluster.url, say: console.log });
} finally {
  await cluster.stop();
}
