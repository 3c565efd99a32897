// What payment providers remember, kept among the settings of the store under a name of each provider's own.
import type { SettingStore } from '../store/ports/settings.ts';
import type { HostMemory } from './contract.ts';

export function createMemory(settings: Pick<SettingStore, 'get' | 'set'>, provider: string): HostMemory {
  const nameOf = (name: string) => `payments/${provider}/${name}`;
  return {
    get: (name) => settings.get(nameOf(name)),
    set: (name, value) => settings.set(nameOf(name), value),
  };
}
