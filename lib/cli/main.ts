#!/usr/bin/env node
// The command line of Tollgate: the operator's way to accounts, keys and money, also beside a running server.
import { runProgram } from './program.ts';

process.exitCode = await runProgram(process.argv.slice(2));
