// Opens a store, or creates the folder of its media files, and reports to its parent how that was refused.
import { makeMediaFolder, openStore } from '../../lib/store/open.ts';

const [, , databaseUrl = '', dataDir] = process.argv;
try {
  if (dataDir !== undefined) await makeMediaFolder({ databaseUrl, dataDir });
  else await (await openStore(databaseUrl)).close();
  process.send?.({ name: 'none', message: 'it was not refused' });
} catch (error) {
  if (!(error instanceof Error)) throw error;
  process.send?.({ name: error.name, message: error.message });
}
process.disconnect?.();
