// The sections of a catalog whose entries are opened with plugins: upstreams and payment providers.
import { fileURLToPath } from 'node:url';
import type { Config } from '../config.ts';
import type { PaymentPlugin, PaymentProvider } from '../upstream/contract/payment.ts';
import type { Provider } from '../upstream/contract/provider.ts';
import { loadPlugins, PAYMENT_CONTRACTS } from '../upstream/host/loader.ts';
import type { Section } from './opened.ts';

export interface Sections {
  readonly upstreams: Section<Provider>;
  readonly payments: Section<PaymentProvider>;
}

export const SHIPPED_PROVIDERS = fileURLToPath(new URL('../../providers/', import.meta.url));
const SHIPPED_PAYMENTS = fileURLToPath(new URL('../../payments/', import.meta.url));

export async function loadSections({
  providersPath,
  paymentsPath,
}: Pick<Config, 'providersPath' | 'paymentsPath'>): Promise<Sections> {
  const variable = 'PAYMENTS_PATH';
  const providers = await loadPlugins({ shipped: SHIPPED_PROVIDERS, path: providersPath });
  const payments = await loadPlugins<PaymentPlugin>({
    shipped: SHIPPED_PAYMENTS,
    path: paymentsPath,
    variable,
    contracts: PAYMENT_CONTRACTS,
  });
  return {
    upstreams: { name: 'upstreams', title: 'Upstream', variable: 'PROVIDERS_PATH', plugins: providers },
    payments: { name: 'payments', title: 'Payment provider', variable, plugins: payments },
  };
}
