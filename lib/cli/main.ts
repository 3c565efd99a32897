#!/usr/bin/env node
// The command line of Tollgate: the operator's way to accounts, keys and money, also beside a running server.
import { keepCompiled } from '../compile-cache.ts';

keepCompiled();
const { runProgram } = await import('./program.ts');
process.exitCode = await runProgram(process.argv.slice(2));
