// The smallest valid files of each format, and ways to enlarge them.
import { crc32, deflateSync } from 'node:zlib';

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length);
  body.copy(whole, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}

/** A grey image, with a comment that brings it to a number of bytes. */
export function png({ width = 2, height = 3, bytes = 0 } = {}): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  const parts = (fill: number) => [
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    ...(fill > 0 ? [chunk('teXt', Buffer.alloc(fill, 0x41))] : []),
    chunk('IDAT', deflateSync(Buffer.alloc((width + 1) * height))),
    chunk('IEND', Buffer.alloc(0)),
  ];
  const plain = Buffer.concat(parts(0));
  return bytes === 0 ? plain : Buffer.concat(parts(bytes - plain.length - 12));
}

/** Comment, frame header, and an end: what a reader of headers needs. */
export const JPEG = Buffer.from(
  'ffd8ffe000104a46494600010100000100010000fffe000468 69ffffc0000b080007000501011100ffd9'.replace(' ', ''),
  'hex',
);
export const GIF = Buffer.from('47494638396105000700800000000000ffffff2c00000000050007000002024401003b', 'hex');
export const WEBP_LOSSY = Buffer.from(
  '524946462400000057454250565038201800000030 01009d012a0500070000'.replace(' ', '').padEnd(88, '0'),
  'hex',
);
export const WEBP_LOSSLESS = Buffer.from('524946461a000000574542505650384c0d0000002f04800100'.padEnd(68, '0'), 'hex');
export const WEBP_EXTENDED = Buffer.from('524946461600000057454250565038580a00000000000000040000060000', 'hex');
export const PNG = png();

/** The last box goes on to the end of the file, whatever is appended. */
export const MP4 = Buffer.concat([
  Buffer.from('000000186674797069736f6d000002000101010101010101', 'hex'),
  Buffer.from('000000086d6f6f76000000006d646174', 'hex'),
  Buffer.alloc(76, 1),
]);
export const QUICKTIME = Buffer.concat([Buffer.from('000000146674797071742020', 'hex'), Buffer.alloc(100, 1)]);
export const WEBM = Buffer.concat([
  Buffer.from('1a45dfa39f4286810142f7810142f2810442f381084282847765626d42878104', 'hex'),
  Buffer.alloc(100, 1),
]);
export const SVG = Buffer.from(
  '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="5" height="7"></svg>',
);
export const HTML = Buffer.from('<!doctype html><html><body><img src="x.png"></body></html>');
