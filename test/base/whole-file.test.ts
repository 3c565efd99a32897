// Files that are all there, and the same ones cut short anywhere.
import { PhotonImage } from '@silvia-odwyer/photon-node';
import { expect } from 'chai';
import { type ImageFormat, sniff, sniffWhole } from '../../lib/base/sniff.ts';
import { createWholeCheck, isWholeFile } from '../../lib/base/whole-file.ts';
import { cpuMs } from '../../testkit/event-loop-ticks.ts';
import { FILM } from '../../testkit/film-upstream.ts';
import { itTimed } from '../../testkit/timed.ts';
import * as files from '../media/sample-images.ts';

const noise = Uint8Array.from({ length: 40 * 30 * 4 }, (_, at) => (at * 7919) % 256);
const photo = new PhotonImage(noise, 40, 30);
const JPEG = Buffer.from(photo.get_bytes_jpeg(90));
const segment = (marker: number, data: Buffer) => {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
};
/** A whole small image within the header of the large one. */
const WITH_THUMBNAIL = Buffer.concat([JPEG.subarray(0, 2), segment(0xe1, files.JPEG), JPEG.subarray(2)]);

const HEAD = Buffer.from('1a45dfa3874282847765626d', 'hex');
const cluster = Buffer.concat([Buffer.from('1f43b6754100', 'hex'), Buffer.alloc(256, 1)]);
const WEBM = Buffer.concat([HEAD, Buffer.from('185380674106', 'hex'), cluster]);
const LIVE_WEBM = Buffer.concat([HEAD, Buffer.from('1853806701ffffffffffffff', 'hex'), cluster]);

const box = (type: string, data = Buffer.alloc(0)) => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.length + 8);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, data]);
};
const largeBox = (type: string, data: Buffer) => {
  const head = Buffer.alloc(16);
  head.writeUInt32BE(1);
  head.write(type, 4, 'latin1');
  head.writeBigUInt64BE(BigInt(data.length + 16), 8);
  return Buffer.concat([head, data]);
};
const ftyp = box('ftyp', Buffer.from('isom\0\0\x02\0', 'latin1'));
const samples = Buffer.alloc(300, 3);

const WHOLE: readonly (readonly [what: string, file: Buffer, format: ImageFormat | 'mp4' | 'webm'])[] = [
  ['a PNG', files.png({ bytes: 400 }), 'png'],
  ['a PNG of a library', Buffer.from(photo.get_bytes()), 'png'],
  ['a JPEG of a library', JPEG, 'jpeg'],
  ['a JPEG with a thumbnail', WITH_THUMBNAIL, 'jpeg'],
  ['a small JPEG', files.JPEG, 'jpeg'],
  ['a GIF', files.GIF, 'gif'],
  ['a WebP of a library', Buffer.from(photo.get_bytes_webp()), 'webp'],
  ['a lossy WebP', files.WEBP_LOSSY, 'webp'],
  ['a film', FILM, 'mp4'],
  ['a film with the samples first', Buffer.concat([ftyp, box('mdat', samples), box('moov')]), 'mp4'],
  ['a film with a large box', Buffer.concat([ftyp, box('moov'), largeBox('mdat', samples)]), 'mp4'],
  ['a film in fragments', Buffer.concat([ftyp, box('moov'), box('moof'), box('mdat', samples)]), 'mp4'],
  ['a WebM', WEBM, 'webm'],
];

/** Up to which bytes a fragmented film is whole, too: a player shows it up to there. */
const ENDS_EARLIER = new Set(['a film in fragments']);

describe('whole files', () => {
  for (const [what, file, format] of WHOLE) {
    it(`are told from those that are cut short: ${what}`, () => {
      expect(isWholeFile(file, format)).to.equal(true);
      const step = Math.max(1, Math.floor(file.length / 500));
      const lengths = Array.from({ length: Math.ceil(file.length / step) }, (_, at) => at * step);
      for (const length of [...lengths, ...Array.from({ length: 64 }, (_, at) => file.length - 1 - at)]) {
        if (length < 0 || ENDS_EARLIER.has(what)) continue;
        expect(isWholeFile(file.subarray(0, length), format), `${length} of ${file.length}`).to.equal(false);
      }
    });

    it(`are known however they arrive: ${what}`, () => {
      for (const size of [1, 3, 7, 64]) {
        const check = createWholeCheck(format);
        for (let at = 0; at < file.length; at += size) {
          expect(check.isWhole() && !ENDS_EARLIER.has(what)).to.equal(false);
          check.push(file.subarray(at, at + size));
        }
        expect(check.isWhole()).to.equal(true);
      }
    });
  }

  it('may have something appended, but for films', () => {
    for (const [, file, format] of WHOLE.filter(([, , kind]) => ['png', 'jpeg', 'gif', 'webp'].includes(kind))) {
      expect(isWholeFile(Buffer.concat([file, Buffer.alloc(100, 7)]), format)).to.equal(true);
    }
    expect(isWholeFile(Buffer.concat([FILM, Buffer.alloc(3)]), 'mp4')).to.equal(false);
  });

  it('may end anywhere where they say no size', () => {
    expect(isWholeFile(LIVE_WEBM, 'webm')).to.equal(true);
    expect(isWholeFile(LIVE_WEBM.subarray(0, -50), 'webm')).to.equal(true);
    expect(isWholeFile(files.MP4, 'mp4')).to.equal(true);
    expect(isWholeFile(HEAD, 'webm')).to.equal(false);
  });

  it('are asked for where all bytes are there', () => {
    expect(sniffWhole(files.PNG)?.format).to.equal('png');
    const cut = files.PNG.subarray(0, -4);
    expect([sniff(cut)?.format, sniffWhole(cut)]).to.deep.equal(['png', undefined]);
  });

  it('never make rubbish fail otherwise than as not whole', () => {
    for (const [, file, format] of WHOLE) {
      for (let at = 8; at < Math.min(file.length, 200); at += 1) {
        const changed = Buffer.from(file);
        changed[at] = 0xff - (changed[at] as number);
        expect(isWholeFile(changed, format)).to.be.a('boolean');
      }
    }
  });

  itTimed('are not looked for in files of millions of tiny parts', () => {
    const parts = { jpeg: 'ffff', gif: '0101', webm: 'ec80' } as const;
    for (const [format, part] of Object.entries(parts)) {
      const bytes = Buffer.concat([Buffer.alloc(24), Buffer.alloc(16 * 1024 * 1024, part, 'hex')]);
      const before = cpuMs();
      expect(isWholeFile(bytes, format as keyof typeof parts), format).to.equal(false);
      expect(cpuMs() - before, format).to.be.below(1500);
    }
  });

  it('may be as large as images are', () => {
    // Every 256th byte of a scan is escaped, as in noise.
    const scan = Buffer.alloc(32 * 1024 * 1024, Buffer.concat([Buffer.alloc(254, 7), Buffer.from([0xff, 0])]));
    const sos = Buffer.from('ffd8ffda0008010100003f00', 'hex');
    expect(isWholeFile(Buffer.concat([sos, scan, Buffer.from('ffd9', 'hex')]), 'jpeg')).to.equal(true);
    const gif = Buffer.concat([Buffer.from('GIF89a\x01\0\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02', 'latin1')]);
    const blocks = Buffer.alloc(32 * 1024 * 1024, Buffer.concat([Buffer.from([255]), Buffer.alloc(255, 7)]));
    expect(isWholeFile(Buffer.concat([gif, blocks, Buffer.from([0, 0x3b])]), 'gif')).to.equal(true);
  });
});
