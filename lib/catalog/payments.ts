// The payment providers in force, and the combinations that are refused.

import { OperatorError } from '../base/operator-error.ts';
import type { Config } from '../config.ts';
import type { PaymentProvider } from '../upstream/contract/payment.ts';
import { guardMethods } from '../upstream/host/plugin-run.ts';
import { listCatalogFiles, readCatalogFiles } from './files.ts';
import type { Opened } from './opened.ts';
import { type CatalogFile, describeMistake, type PaymentEntry } from './schema.ts';

/** A payment provider that is switched on. */
export interface OpenPayment {
  /** The name in the catalog, in paths and in the ids of ledger entries. */
  readonly name: string;
  readonly provider: PaymentProvider;
  readonly shortfall: PaymentEntry['shortfall'];
}

/** The shortfall rule of a provider, whether or not it is switched on. Throws an `OperatorError`. */
export function readShortfallRule(
  { catalogDir, catalogVariables }: Pick<Config, 'catalogDir' | 'catalogVariables'>,
  provider: string,
): PaymentEntry['shortfall'] {
  const { payments } = readCatalogFiles(listCatalogFiles(catalogDir), catalogVariables);
  return payments[provider]?.shortfall ?? 'suspend';
}

/** What is in force besides payment providers. */
interface PaymentTerms {
  readonly sandbox: boolean;
  /** An upstream that costs real money, if there is one. */
  readonly costly: string | undefined;
}

interface PaymentsInForce {
  readonly payments: ReadonlyMap<string, OpenPayment>;
  /** Warnings for the operator, one line each. */
  readonly warnings: readonly string[];
}

/** Throws an `OperatorError` that names the entry. */
export function choosePayments(
  file: CatalogFile,
  opened: ReadonlyMap<string, Opened<PaymentProvider>>,
  { sandbox, costly }: PaymentTerms,
): PaymentsInForce {
  const refuse = (name: string, mistake: string) => {
    return new OperatorError(describeMistake(file, `payments.${name}`, `payments.${name}: ${mistake}`));
  };
  const live = [...opened].find(([, { open }]) => open.provider.live)?.[0];
  const payments = new Map<string, OpenPayment>();
  const warnings: string[] = [];
  for (const [name, { open }] of opened) {
    const { provider, lacksSecret } = open;
    if (provider.live && lacksSecret) throw refuse(name, 'it takes real money, but has an empty secret or none');
    if (provider.live && sandbox) {
      throw refuse(
        name,
        'it takes real money, which the sandbox must not: set SANDBOX=off or a variable of an upstream',
      );
    }
    if (!provider.live && live !== undefined) {
      throw refuse(name, `its money is not real, and ${live} takes real money: switch one of the two off`);
    }
    if (!provider.live && costly !== undefined) {
      const mistake = `its money is not real, and the upstream ${costly} costs real money`;
      if (!file.payments[name]?.sandbox) {
        const ways = `give it the secret of a real shop, or switch the upstream off (SANDBOX=on is for trials)`;
        throw refuse(name, `${mistake}: ${ways}`);
      }
      warnings.push(`payments.${name} is off: ${mistake}`);
      continue;
    }
    const guarded = guardMethods(provider, { title: 'Payment provider', name });
    payments.set(name, { name, provider: guarded, shortfall: file.payments[name]?.shortfall ?? 'suspend' });
  }
  return { payments, warnings };
}
