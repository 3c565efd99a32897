// Run as a process: opens a store and backs it up, with messages to its parent.
import { openStore } from '../../lib/store/open.ts';

const [url = '', file = ''] = process.argv.slice(2);
const store = await openStore(url, { existing: true });
process.send?.('opened');
await store.backup(file);
process.send?.('saved');
await store.close();
