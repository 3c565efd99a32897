// Prints the files that a token of a streamed chat answer passes, in order, and their lines; `npm run -s token-path --
// FOLDER` those of another checkout. A file that a checkout lacks is left out.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FILES = [
  'lib/upstream/host/exchange.ts',
  'lib/stream/bytes.ts',
  'lib/upstream/host/frames.ts',
  'lib/stream/lines.ts',
  'lib/upstream/host/json-template-parser.ts',
  'lib/upstream/formats/chat/reply.ts',
  'lib/upstream/host/writer.ts',
  'lib/upstream/host/answer.ts',
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

const folder = process.argv[2] ?? '.';
const files = FILES.filter((file) => existsSync(join(folder, file)));
let total = 0;
for (const file of files) {
  const lines = readFileSync(join(folder, file), 'utf8').split('\n').length - 1;
  total += lines;
  console.log(`${String(lines).padStart(5)}  ${file}`);
}
console.log(`${String(total).padStart(5)}  in ${files.length} files`);
