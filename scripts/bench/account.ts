// What a gateway under benchmark needs: a catalog with every model of the loads, and an account with a key and money.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAccounts } from '../../lib/accounts/accounts.ts';
import { readConfig } from '../../lib/config.ts';
import { AMOUNT_MAX } from '../../lib/money/money.ts';
import { openOwnStore } from '../../lib/store/open.ts';
import { MODELS } from './cases.ts';

export function writeBenchCatalog(folder: string, upstream: string, models: readonly string[] = MODELS): void {
  writeFileSync(
    join(folder, 'models.json'),
    JSON.stringify({
      upstreams: { up: { plugin: 'openai-compatible', settings: { baseUrl: `${upstream}/v1`, apiKey: 'bench-key' } } },
      models: models.map((id) => ({
        id,
        type: 'text',
        provider: 'Bench',
        routes: [{ upstream: 'up', model: id }],
        price: { input: '40', output: '240' },
      })),
    }),
  );
}

interface BenchAccount {
  readonly id: string;
  readonly key: string;
  /** A key with a budget that is never spent, in the place of another one. */
  readonly budgetKey: string;
}

/** Opens the store beside its gateway. */
export async function openBenchAccount(env: Readonly<Record<string, string | undefined>>): Promise<BenchAccount> {
  const config = readConfig(env);
  const store = await openOwnStore(config);
  const accounts = createAccounts({ store, keyPrefix: config.keyPrefix });
  const { id } = await accounts.create('bench');
  const { key } = await accounts.issueKey(id, 'bench');
  const replaced = await accounts.issueKey(id, 'budget', { budget: AMOUNT_MAX, reset: 'month' });
  const { key: budgetKey } = await accounts.rotateKey(replaced.id, 1);
  const op = { kind: 'topup', wallet: id, at: Date.now(), amount: 10n ** 14n, paymentId: id } as const;
  await store.ledger.apply([op]);
  await store.close();
  return { id, key, budgetKey };
}
