// Keeps compiled code between starts of a checkout, where stripping the types takes half of the time until it is ready.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Call before anything large is imported. A folder that cannot be written is no error. */
export function keepCompiled(): void {
  if (!import.meta.url.endsWith('.ts')) return;
  // The threads of a store only see the variable.
  process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../.cache/compile', import.meta.url));
  enableCompileCache(process.env.NODE_COMPILE_CACHE);
}
