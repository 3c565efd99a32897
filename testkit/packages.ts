// The packages that a service needs: those in the lock file that are not development tools.
import { readFileSync } from 'node:fs';

/** Their folders, as `node_modules/name` from the root of the checkout. */
export function productionPackages(): readonly string[] {
  const text = readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Record<string, { readonly dev?: boolean }> };
  return Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && !dev)
    .map(([path]) => path);
}
