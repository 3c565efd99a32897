#!/usr/bin/env node
// The command line of Tollgate: the operator's way to accounts, keys and money, also beside a running server.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

if (import.meta.url.endsWith('.ts')) {
  // From a checkout, stripping the types takes half of a short command's time, in every thread; threads of a store
  // learn of the cache by the variable only. A folder that cannot be written is no error.
  process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../../.cache/compile', import.meta.url));
  enableCompileCache(process.env.NODE_COMPILE_CACHE);
}

const { runProgram } = await import('./program.ts');
process.exitCode = await runProgram(process.argv.slice(2));
