// The memory of payment providers, kept in the store's settings under a separate name for each provider.

import type { SettingStore } from '../store/ports/settings.ts';
import type { HostMemory } from '../upstream/contract/payment.ts';

export function createMemory(settings: Pick<SettingStore, 'get' | 'set'>, provider: string): HostMemory {
  const nameOf = (name: string) => `payments/${provider}/${name}`;
  return {
    get: (name) => settings.get(nameOf(name)),
    set: (name, value) => settings.set(nameOf(name), value),
  };
}
