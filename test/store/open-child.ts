// Opens a store and tells its parent how it was refused.
import { openStore } from '../../lib/store/open.ts';

const [, , url = ''] = process.argv;
try {
  await (await openStore(url)).close();
  process.send?.({ name: 'none', message: 'it was opened' });
} catch (error) {
  if (!(error instanceof Error)) throw error;
  process.send?.({ name: error.name, message: error.message });
}
process.disconnect?.();
