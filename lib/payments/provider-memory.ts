// The memory of payment plugins, kept in the store's settings under a separate prefix per provider.
import type { SettingStore } from '../store/ports/settings.ts';
import type { HostMemory } from '../upstream/contract/payment.ts';

export function createProviderMemory(settings: Pick<SettingStore, 'get' | 'set'>, provider: string): HostMemory {
  const settingName = (name: string) => `payments/${provider}/${name}`;
  return {
    get: (name) => settings.get(settingName(name)),
    set: (name, value) => settings.set(settingName(name), value),
  };
}
