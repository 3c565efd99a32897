// The texts of a form: what undoes their transfer encoding, and in which characters they are read.
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { readForm } from '../../lib/http/form.ts';
import { createMemoryQuota } from '../../lib/http/memory-quota.ts';

const BOUNDARY = 'AbC';

/** Reads a form that has one text of each pair of headers and content. */
async function read(...parts: readonly (readonly [headers: readonly string[], content: string | Buffer])[]) {
  const pieces = parts.flatMap(([headers, content]) => [
    `--${BOUNDARY}\r\n`,
    ['content-disposition: form-data; name="prompt"', ...headers].map((line) => `${line}\r\n`).join(''),
    '\r\n',
    content,
    '\r\n',
  ]);
  const bytes = Buffer.concat([...pieces, `--${BOUNDARY}--\r\n`].map((piece) => Buffer.from(piece)));
  const request = Object.assign(Readable.from([bytes]), { headers: { 'content-length': `${bytes.length}` } });
  const form = await readForm(request as unknown as IncomingMessage, {
    type: `multipart/form-data; boundary=${BOUNDARY}`,
    signal: new AbortController().signal,
    reservation: createMemoryQuota({ bytesMax: 10_000, ownerBytesMax: 10_000 }).reserve('key'),
    classifyPart: () => 'text',
    fileBytesMax: 0,
    textBytesMax: 1000,
  });
  return form.texts.map(({ text }) => text);
}

const encoding = (name: string) => [`content-transfer-encoding: ${name}`];
const type = (charset: string) => [`content-type: text/plain; charset=${charset}`];

const GARDEN = Buffer.from([0xf1, 0xe0, 0xe4]);

describe('texts of a form', () => {
  it('are without their transfer encoding', async () => {
    const written = 'Дом = 2 этажа\r\nи сад';
    const quoted = '=D0=94=D0=BE=D0=BC =3D 2 =D1=8D=D1=82=\r\n=D0=B0=d0=b6= \r\n=D0=B0\r\n=D0=B8 =D1=81=D0=B0=D0=B4';
    const lines = Buffer.from(written).toString('base64').replace(/.{12}/g, '$&\r\n');
    for (const content of [quoted, `${quoted}\r\n`, `${quoted}=\r\n\r\n`])
      expect(await read([encoding('quoted-printable'), content]), content).to.deep.equal([written]);
    expect(await read([encoding('Quoted-Printable'), 'ab=zz=4'])).to.deep.equal(['ab=zz=4']);
    expect(await read([encoding('quoted-printable'), 'сад =3D'])).to.deep.equal(['сад =']);
    expect(await read([encoding('base64'), lines])).to.deep.equal([written]);
    for (const name of ['7bit', '8bit', 'binary', 'x-other'])
      expect(await read([encoding(name), 'сад=20']), name).to.deep.equal(['сад=20']);
  });

  it('are in the characters that they declare', async () => {
    expect(await read([type('utf-16le'), Buffer.from('сад 🎨', 'utf16le')])).to.deep.equal(['сад 🎨']);
    expect(await read([type('UTF-8'), 'сад 🎨'], [[], 'сад'])).to.deep.equal(['сад 🎨', 'сад']);
  });

  for (const [name, headers, content] of [
    ['in another encoding', [], GARDEN],
    ['in another encoding that is declared', type('windows-1251'), GARDEN],
    ['in another encoding, in base64', encoding('base64'), GARDEN.toString('base64')],
    ['in another encoding, in quoted-printable', encoding('quoted-printable'), '=F1=E0=E4'],
  ] as const) {
    it(`are refused ${name}`, async () => {
      const refused = await read([headers, content]).catch((error: Error) => error);
      expect(refused).to.have.property(
        'message',
        'Invalid `prompt`: has characters that cannot be read: send it in UTF-8.',
      );
    });
  }
});
