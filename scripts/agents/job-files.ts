// A job with files that are no text: five screenshots and a PDF, which the program has to show to the model.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { callTool, canDoJob, findTool, type Job, READ, SHORT_ANSWER } from './job.ts';

const SCREENSHOTS = ['login.png', 'list.png', 'order.png', 'payment.png', 'receipt.png'];
const FILES = [...SCREENSHOTS, 'manual.pdf'];
const CLOSING = 'I have seen all six files.';

export const files: Job = {
  prompt: `Look at ${SCREENSHOTS.join(', ')} and read manual.pdf. Do the screenshots follow the manual?`,
  closing: CLOSING,

  write(folder) {
    mkdirSync(folder, { recursive: true });
    for (const [at, name] of SCREENSHOTS.entries()) writeFileSync(join(folder, name), makePng(1280, 800, at));
    writeFileSync(join(folder, 'manual.pdf'), makePdf('Log in, choose from the list, order, pay, keep the receipt.'));
  },

  nextCall({ tools, calls }, { folder }) {
    const file = FILES[calls];
    return file === undefined
      ? undefined
      : callTool(findTool(tools, READ), { file: join(folder, file), command: 'view' });
  },

  say({ tools, files: seen }) {
    if (!canDoJob(tools)) return SHORT_ANSWER;
    return seen >= FILES.length ? CLOSING : `I have seen ${seen} of ${FILES.length} files.`;
  },

  isDone: () => true,
};

/** Stripes, another colour each time. */
function makePng(width: number, height: number, seed: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits a channel, red, green and blue.
  header.set([8, 2], 8);
  const row = (y: number) => {
    const pixels = Buffer.alloc(1 + 3 * width);
    for (let x = 0; x < width; x += 1) pixels.set([40 * seed, (x >> 4) * 3, (y >> 5) * 9], 1 + 3 * x);
    return pixels;
  };
  const rows = Buffer.concat(Array.from({ length: height }, (_, y) => row(y)));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, makeChunk('IHDR', header), makeChunk('IDAT', deflateSync(rows)), makeChunk('IEND')]);
}

function makeChunk(type: string, data = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

/** One page with one line. */
function makePdf(line: string): string {
  const content = `BT /F1 12 Tf 72 720 Td (${line}) Tj ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, at) => {
    const offset = text.length;
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${offset}`.padStart(10, '0');
  });
  const table = ['0000000000 65535 f ', ...offsets.map((offset) => `${offset} 00000 n `)].join('\n');
  const size = objects.length + 1;
  return `${text}xref\n0 ${size}\n${table}\ntrailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
}
