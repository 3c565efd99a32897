#!/usr/bin/env node
// The command line of Tollgate: the operator's access to accounts, keys and money, also alongside a running server.
import { cacheCompiledCode } from '../base/compile-cache.ts';

cacheCompiledCode();
const [{ survivePipes }, { runProgram }] = await Promise.all([import('./output.ts'), import('./program.ts')]);
survivePipes();
process.exitCode = await runProgram(process.argv.slice(2));
