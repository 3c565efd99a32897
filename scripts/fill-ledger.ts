// Fills an empty store with a large ledger: node scripts/fill-ledger.ts URL [ENTRIES]
// For trying `tollgate ledger verify`, `store backup` and `store copy` on it.
import { openStore } from '../lib/store/open.ts';
import { addAccounts, fillLedger } from './bench/fill.ts';

const [url = '', wanted = '2000000'] = process.argv.slice(2);
const filling = { entries: Number(wanted), wallets: 1000, calls: 20 };
const started = performance.now();
// Creates its tables.
await (await openStore(url)).close();
await addAccounts(url, filling);
const entries = await fillLedger(url, filling);
const seconds = Math.round((performance.now() - started) / 1000);
console.log(`${entries} entries of ${filling.wallets + 1} wallets in ${seconds} s`);
