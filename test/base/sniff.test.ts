import { expect } from 'chai';
import { type ImageFormat, readImageSize, sniff, sniffImage } from '../../lib/base/sniff.ts';
import { cpuMs } from '../../testkit/event-loop-ticks.ts';
import { itTimed } from '../../testkit/timed.ts';
import * as files from '../media/sample-images.ts';

const IMAGES: readonly (readonly [string, Buffer, ImageFormat, string, number, number])[] = [
  ['PNG', files.PNG, 'png', 'png', 2, 3],
  ['JPEG', files.JPEG, 'jpeg', 'jpg', 5, 7],
  ['GIF', files.GIF, 'gif', 'gif', 5, 7],
  ['lossy WebP', files.WEBP_LOSSY, 'webp', 'webp', 5, 7],
  ['lossless WebP', files.WEBP_LOSSLESS, 'webp', 'webp', 5, 7],
  ['extended WebP', files.WEBP_EXTENDED, 'webp', 'webp', 5, 7],
];

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const boxed = (brand: string) => latin1(`\0\0\0\x18ftyp${brand}\0\0\0\0isom`);

/** None of them is an image, whatever lies inside. */
const NEITHER: readonly (readonly [string, Buffer])[] = [
  ['nothing', Buffer.alloc(0)],
  ['one byte', latin1('\x89')],
  ['a cut signature', files.PNG.subarray(0, 7)],
  ['a PNG whose line ends were changed', latin1('\x89PNG\n\x1a\n')],
  ['SVG', files.SVG],
  ['SVG after a byte order mark', Buffer.concat([latin1('\xef\xbb\xbf'), files.SVG])],
  ['HTML', files.HTML],
  ['a space before a PNG', Buffer.concat([latin1(' '), files.PNG])],
  ['a zip before a JPEG', Buffer.concat([latin1('PK\x03\x04'), files.JPEG])],
  ['a PDF before a PNG', Buffer.concat([latin1('%PDF-1.7\n'), files.PNG])],
  ['HTML before a GIF', Buffer.concat([files.HTML, files.GIF])],
  ['gzip', latin1('\x1f\x8b\x08\0\0\0\0\0')],
  ['a GIF of another year', latin1('GIF88a\x05\0\x07\0')],
  ['RIFF with sound', latin1('RIFF\x24\0\0\0WAVEfmt ')],
  ['WEBP without RIFF', latin1('XXXX\x24\0\0\0WEBPVP8 ')],
  ['BMP', latin1('BM\x36\0\0\0\0\0\0\0\x36\0\0\0')],
  ['TIFF', latin1('II*\0\x08\0\0\0')],
  ['an icon', latin1('\0\0\x01\0\x01\0')],
  ['JPEG 2000', latin1('\0\0\0\x0cjP  \r\n\x87\n')],
  ...['avif', 'avio', 'avis', 'heic', 'heim', 'heis', 'heix', 'hevc', 'hevm', 'hevs', 'hevx', 'mif1', 'mif2'].map(
    (brand) => [`a still image in a box: ${brand}`, boxed(brand)] as const,
  ),
  ...['miaf', 'msf1', 'M4A ', 'M4B ', 'crx '].map((brand) => [`no film in a box: ${brand}`, boxed(brand)] as const),
  ['a box that is cut', latin1('\0\0\0\x18ftypis')],
  ['Matroska', latin1('\x1a\x45\xdf\xa3\x9f\x42\x82\x88matroska')],
  ['EBML without a type', latin1('\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01')],
];

describe('media sniff', () => {
  for (const [name, bytes, format, extension, width, height] of IMAGES) {
    it(`detects ${name} and its size`, () => {
      const expected = { kind: 'image', format, mediaType: `image/${format}`, extension };
      expect(sniff(bytes)).to.deep.equal(expected);
      expect(sniffImage(bytes)).to.deep.equal(expected);
      expect(readImageSize(bytes, format)).to.deep.equal({ width, height });
    });

    it(`reads no size beyond the end of a truncated ${name}`, () => {
      for (let end = 0; end < bytes.length; end++) {
        const size = readImageSize(bytes.subarray(0, end), format);
        if (size) expect(size).to.deep.equal({ width, height });
      }
      expect(readImageSize(bytes.subarray(0, 9), format)).to.equal(undefined);
    });
  }

  it('reads no size of a WebP of another kind, or without the mark of its first frame', () => {
    const other = Buffer.concat([files.WEBP_LOSSY.subarray(0, 12), latin1('ALPH'), files.WEBP_LOSSY.subarray(16)]);
    const unmarked = Buffer.from(files.WEBP_LOSSY);
    unmarked[24] = 2;
    for (const bytes of [other, unmarked]) expect(readImageSize(bytes, 'webp')).to.equal(undefined);
  });

  it('detects videos', () => {
    const kinds = [files.MP4, files.QUICKTIME, files.WEBM, boxed('mp42'), boxed('isom')].map((bytes) => sniff(bytes));
    expect(kinds.map((sniffed) => [sniffed?.kind, sniffed?.mediaType, sniffed?.extension])).to.deep.equal([
      ['video', 'video/mp4', 'mp4'],
      ['video', 'video/quicktime', 'mov'],
      ['video', 'video/webm', 'webm'],
      ['video', 'video/mp4', 'mp4'],
      ['video', 'video/mp4', 'mp4'],
    ]);
    expect(sniffImage(files.MP4)).to.equal(undefined);
  });

  for (const [name, bytes] of NEITHER) {
    it(`does not detect ${name}`, () => expect(sniff(bytes)).to.equal(undefined));
  }

  it('detects WebM by its first elements only', () => {
    const headed = (bytes: number) =>
      Buffer.concat([latin1('\x1a\x45\xdf\xa3\x9f'), Buffer.alloc(bytes - 5, 1), latin1('\x42\x82\x84webm')]);
    expect(sniff(headed(57))).to.include({ format: 'webm' });
    expect(sniff(headed(58))).to.equal(undefined);
  });

  it('detects QuickTime by its whole brand', () => {
    expect(sniff(boxed('qt  '))).to.include({ format: 'quicktime', mediaType: 'video/quicktime' });
    expect(sniff(boxed('qtxx'))).to.include({ format: 'mp4' });
  });

  it('finds the frame of a JPEG after tables, fill bytes and markers without a length', () => {
    const frame = 'ffc2000b0800070005010111';
    for (const before of ['ffc40004aaaa', 'ffc80004aaaa', 'ffcc0004aaaa', 'ffff', 'ff01', 'ffd0', 'ffd7', 'fffe0002']) {
      const bytes = Buffer.from(`ffd8${before}${frame}00`, 'hex');
      expect(readImageSize(bytes, 'jpeg'), before).to.deep.equal({ width: 5, height: 7 });
    }
    for (const end of ['ffda', 'ffd9', '00ff']) {
      expect(readImageSize(Buffer.from(`ffd8${end}${frame}00`, 'hex'), 'jpeg'), end).to.equal(undefined);
    }
  });

  it('respects the offset of a view into a larger buffer', () => {
    const around = Buffer.concat([Buffer.alloc(33, 0xff), files.PNG, Buffer.alloc(33, 0xff)]);
    const view = new Uint8Array(around.buffer, around.byteOffset + 33, files.PNG.length);
    expect(sniff(view)?.format).to.equal('png');
    expect(readImageSize(view, 'png')).to.deep.equal({ width: 2, height: 3 });
  });

  it('reports an unknown size for an image without width or height', () => {
    expect(readImageSize(files.png({ width: 0 }), 'png')).to.equal(undefined);
    expect(readImageSize(latin1('GIF89a\0\0\x05\0'), 'gif')).to.equal(undefined);
  });

  itTimed('walks a JPEG of many tiny segments quickly', () => {
    const segments = Buffer.alloc(8 * 1024 * 1024, 'fffe0002', 'hex');
    const before = cpuMs();
    expect(readImageSize(Buffer.concat([latin1('\xff\xd8'), segments]), 'jpeg')).to.equal(undefined);
    expect(readImageSize(Buffer.alloc(8 * 1024 * 1024, 0xff), 'jpeg')).to.equal(undefined);
    expect(cpuMs() - before).to.be.below(100);
  });
});
