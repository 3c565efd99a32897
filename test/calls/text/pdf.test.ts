// Pages of a PDF: counted in plain and compressed objects, and bounded for files made to mislead.
import { deflateSync } from 'node:zlib';
import { expect } from 'chai';
import { countPages } from '../../../lib/calls/text/pdf.ts';
import { itTimed } from '../../../testkit/timed.ts';

const pdf = (...parts: readonly (string | Buffer)[]) =>
  Buffer.concat([Buffer.from('%PDF-1.7\n'), ...parts.map((part) => Buffer.from(part as string, 'latin1'))]);
const page = '1 0 obj <</Type /Page /Parent 2 0 R>> endobj\n';
const tree = (count: number) => `2 0 obj <</Type/Pages/Kids[1 0 R]/Count ${count}>> endobj\n`;
const compressed = (objects: string | Buffer) => [
  '3 0 obj <</Type /ObjStm /N 2 /First 9 /Filter /FlateDecode>> stream\r\n',
  deflateSync(objects),
  '\nendstream endobj\n',
];

describe('pages of a PDF', () => {
  it('are counted where they are', () => {
    expect(countPages(pdf(page, tree(1)))).to.equal(1);
    expect(countPages(pdf(page, page, page))).to.equal(3);
    expect(countPages(pdf(page, tree(12)))).to.equal(12);
    expect(countPages(pdf(...compressed(page.repeat(40) + tree(40)), tree(2)))).to.equal(40);
    expect(countPages(pdf(...compressed(page.repeat(4)), ...compressed(page.repeat(5))))).to.equal(9);
  });

  it('are estimated by bytes where nothing says how many', () => {
    expect(countPages(pdf())).to.equal(1);
    expect(countPages(pdf(Buffer.alloc(120_000)))).to.equal(3);
    expect(countPages(pdf('/Type /ObjStm', Buffer.alloc(120_000), page))).to.equal(3);
    const [head = '', , end = ''] = compressed('');
    expect(countPages(pdf(head, 'no zlib', end, Buffer.alloc(120_000)))).to.equal(3);
  });

  itTimed('take little of files made to mislead', () => {
    const bomb = compressed(Buffer.alloc(4 * 1024 * 1024));
    const files = [
      pdf(...bomb),
      pdf(...Array(2000).fill(bomb).flat()),
      pdf('/Type/Page'.repeat(400_000)),
      pdf('/Count 9 '.repeat(400_000)),
      pdf('/Type/ObjStm'.repeat(300_000)),
      pdf('/Type/ObjStm stream\n'.repeat(200_000)),
      pdf('/Type/ObjStm stream\n'.repeat(200_000), 'endstream'),
      pdf(`/Type${' '.repeat(4_000_000)}`),
      pdf(`/Count${' '.repeat(4_000_000)}`),
    ];
    for (const [at, file] of files.entries()) {
      // The clock would count what others do on the machine.
      const before = process.cpuUsage();
      expect(countPages(file)).to.be.at.least(1);
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1000, `file ${at}`).to.be.below(1000);
    }
  });
});
