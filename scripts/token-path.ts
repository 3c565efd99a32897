// Prints two walks through the code: the units that a token of a streamed chat answer passes, and the way of a held
// amount into the SQLite store and back. A unit is a file of which some function runs for every batch of an answer, one
// token each: measured, not listed (`token-files.ts`). `npm run -s token-path -- FOLDER` prints the walks of another
// checkout, without the functions that it lacks.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readWords } from './options.ts';
import { findTokenFiles } from './token-files.ts';

/** A function that the amount passes, and the type that carries it from there on. */
type Step = readonly [file: string, name: string, type: string];

const HELD: readonly Step[] = [
  ['lib/money/price.ts', 'textHold', 'Micro'],
  ['lib/calls/text/hold.ts', 'computeHold', 'Micro'],
  ['lib/calls/text/answer.ts', 'constructor', 'HoldRequest'],
  ['lib/calls/paid.ts', 'hold', 'HoldRequest'],
  ['lib/ledger/ledger.ts', 'hold', 'HoldOp'],
  ['lib/ledger/queue.ts', 'submit', 'Submission'],
  ['lib/ledger/lane.ts', 'add', 'Submission'],
  ['lib/ledger/lane.ts', 'take', 'Submission'],
  ['lib/ledger/queue.ts', 'commit', 'HoldOp'],
  ['lib/store/sqlite/remote-store.ts', 'callOn', 'HoldOp'],
  ['lib/store/sqlite/thread.ts', 'send', 'Request'],
  ['lib/store/sqlite/worker.ts', 'answer', 'Request'],
  ['lib/store/sqlite/database-calls.ts', 'run', 'HoldOp'],
  ['lib/store/sqlite/ledger.ts', 'apply', 'HoldOp'],
  ['lib/money/fold.ts', 'fold', 'Folded'],
  ['lib/money/fold.ts', 'applyOperation', 'HoldOp'],
  ['lib/money/decide.ts', 'decide', 'Decision'],
  ['lib/money/charge-rules.ts', 'decideStart', 'Decision'],
  ['lib/money/charge-rules.ts', 'createCharge', 'Charge'],
  ['lib/money/decision.ts', 'applyChange', 'Decision'],
  ['lib/store/sqlite/ledger.ts', 'createSaveBatch', 'Folded'],
  ['lib/store/sqlite/ledger.ts', 'createSaveWallet', 'Wallet'],
  ['lib/store/sqlite/ledger.ts', 'createAddCharge', 'Charge'],
  ['lib/store/sqlite/ledger.ts', 'createAddEntry', 'Entry'],
  ['lib/store/sqlite/thread.ts', 'answerCall', 'Reply'],
  ['lib/ledger/queue.ts', 'answer', 'Outcome'],
  ['lib/ledger/ledger.ts', 'start', 'Hold'],
];

const [folder = '.'] = readWords(['the folder of a checkout']);

await printToken();
console.log('');
printHeld();

async function printToken(): Promise<void> {
  console.log('A token of a streamed chat answer: lines and files');
  const files = await findTokenFiles(folder);
  for (const file of files) console.log(`${pad(countLines(file))}  ${file}`);
  console.log(`${pad(sum(files.map(countLines)))}  in ${files.length} files`);
}

function printHeld(): void {
  console.log('A held amount, into the SQLite store and back: steps, and the type that carries the amount on');
  const steps = HELD.filter(isThere);
  for (const [file, name, type] of steps) console.log(`  ${file.padEnd(38)}${name.padEnd(20)}${type}`);
  const files = new Set(steps.map(([file]) => file));
  const types = new Set(steps.map(([, , type]) => type));
  const lines = sum([...files].map(countLines));
  console.log(`${pad(lines)}  in ${files.size} files, with ${steps.length} steps and ${types.size} types`);
}

/** In this checkout each step has to be there: the list follows the code. */
function isThere(step: Step): boolean {
  const [file, name] = step;
  const path = join(folder, file);
  const isFound =
    existsSync(path) && new RegExp(`\\b${name}\\b(<.*>)?( = |\\(|: \\()`).test(readFileSync(path, 'utf8'));
  if (!isFound && folder === '.') throw new Error(`the walk of a held amount is out of date: ${file} has no ${name}`);
  return isFound;
}

function countLines(file: string): number {
  return readFileSync(join(folder, file), 'utf8').split('\n').length - 1;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function pad(count: number): string {
  return String(count).padStart(5);
}
