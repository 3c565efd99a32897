// A process that uses a store and never closes it: `thread-child.ts <path>`.
import { openSqliteStore } from '../../../lib/store/sqlite/store.ts';

const store = await openSqliteStore(process.argv[2] as string);
await store.settings.set('name', 'written');
console.log('written');
