// Starts the service.
import { cacheCompiledCode } from './base/compile-cache.ts';

cacheCompiledCode();
const { serve } = await import('./serve.ts');
serve();
