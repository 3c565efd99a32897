// Prints two walks through the code: the files that a token of a streamed chat answer passes, and the way of a held
// amount into the SQLite store and back. `npm run -s token-path -- FOLDER` prints those of another checkout, without the
// files and functions that it lacks.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const TOKEN: readonly string[] = [
  'lib/upstream/host/exchange.ts',
  'lib/stream/bytes.ts',
  'lib/upstream/host/frames.ts',
  'lib/stream/lines.ts',
  'lib/upstream/host/json-template-parser.ts',
  'lib/upstream/formats/chat/reply.ts',
  'lib/upstream/host/writer.ts',
  // Before there was a list of transforms.
  'lib/stream/drive.ts',
  'lib/stream/pipeline.ts',
  'lib/calls/text/attempt.ts',
  'lib/calls/text/pipeline.ts',
  'lib/calls/text/watch.ts',
  'lib/stream/guard.ts',
  'lib/stream/meter.ts',
  'lib/calls/text/delivery.ts',
  'lib/api/dialects/chat/render.ts',
  'lib/http/sse-reply.ts',
];

/** A function that has the amount in its hands, and the type that carries it from there on. */
type Stay = readonly [file: string, name: string, shape: string];

const HELD: readonly Stay[] = [
  ['lib/money/price.ts', 'textHold', 'Micro'],
  ['lib/calls/text/hold.ts', 'computeHold', 'Micro'],
  ['lib/calls/text/answer.ts', 'constructor', 'HoldRequest'],
  ['lib/calls/paid.ts', 'run', 'HoldRequest'],
  ['lib/ledger/ledger.ts', 'hold', 'HoldOp'],
  ['lib/ledger/ledger.ts', 'submitStart', 'HoldOp'],
  ['lib/ledger/queue.ts', 'submit', 'Submission'],
  ['lib/ledger/lane.ts', 'add', 'Submission'],
  ['lib/ledger/lane.ts', 'take', 'Submission'],
  ['lib/ledger/queue.ts', 'commit', 'Submission'],
  ['lib/store/sqlite/store.ts', 'createApply', 'HoldOp'],
  ['lib/store/sqlite/remote-store.ts', 'callOn', 'HoldOp'],
  ['lib/store/sqlite/thread.ts', 'send', 'Request'],
  ['lib/store/sqlite/worker.ts', 'answer', 'Request'],
  ['lib/store/sqlite/database-calls.ts', 'run', 'HoldOp'],
  ['lib/store/sqlite/ledger.ts', 'apply', 'HoldOp'],
  ['lib/money/fold.ts', 'fold', 'Folded'],
  ['lib/money/decide.ts', 'decide', 'Decision'],
  ['lib/money/charge-rules.ts', 'decideStart', 'Decision'],
  ['lib/money/charge-rules.ts', 'createCharge', 'Charge'],
  ['lib/money/decision.ts', 'applyChange', 'Decision'],
  ['lib/store/sqlite/ledger.ts', 'createSaveBatch', 'Folded'],
  ['lib/store/sqlite/ledger.ts', 'createSaveWallet', 'Wallet'],
  ['lib/store/sqlite/ledger.ts', 'createAddCharge', 'Charge'],
  ['lib/store/sqlite/ledger.ts', 'createAddEntry', 'Entry'],
  ['lib/store/sqlite/outcomes.ts', 'encodeOutcome', 'EncodedOutcome'],
  ['lib/store/sqlite/thread.ts', 'answerCall', 'Reply'],
  ['lib/store/sqlite/outcomes.ts', 'decodeOutcome', 'Outcome'],
  ['lib/ledger/queue.ts', 'answer', 'Outcome'],
  ['lib/ledger/ledger.ts', 'toHold', 'Hold'],
];

const folder = process.argv[2] ?? '.';

printToken();
console.log('');
printHeld();

function printToken(): void {
  console.log('A token of a streamed chat answer: lines and files');
  const files = TOKEN.filter((file) => existsSync(join(folder, file)));
  for (const file of files) console.log(`${pad(countLines(file))}  ${file}`);
  console.log(`${pad(sum(files.map(countLines)))}  in ${files.length} files`);
}

function printHeld(): void {
  console.log('A held amount, into the SQLite store and back: stays, and the type that carries the amount on');
  const stays = HELD.filter(isThere);
  for (const [file, name, shape] of stays) console.log(`  ${file.padEnd(38)}${name.padEnd(20)}${shape}`);
  const files = new Set(stays.map(([file]) => file));
  const shapes = new Set(stays.map(([, , shape]) => shape));
  const lines = sum([...files].map(countLines));
  console.log(`${pad(lines)}  in ${files.size} files, with ${stays.length} stays and ${shapes.size} shapes`);
}

/** In this checkout each stay has to be there: the list follows the code. */
function isThere(stay: Stay): boolean {
  const [file, name] = stay;
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
