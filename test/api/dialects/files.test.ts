// Documents and audio of a message: what is read of each shape, and what is refused, by the field that is wrong.
import { expect } from 'chai';
import { hasCitations, readAttachment } from '../../../lib/api/dialects/files.ts';
import { readMessages } from '../../../lib/api/dialects/messages.ts';
import { isFault } from '../../../lib/base/faults.ts';

type Block = Parameters<typeof readAttachment>[0];

const PDF = Buffer.from('%PDF-1.7\n');
const BINARY = Buffer.from([...PDF, 0xff, 0xfe, 0xe2]);
const WORDS = Buffer.from('words');
const base64 = (bytes: Buffer) => bytes.toString('base64');
const uri = (mediaType: string, bytes: Buffer) => `data:${mediaType};base64,${base64(bytes)}`;

const document = (source: unknown, more: object = {}): Block => ({ type: 'document', source, ...more });
const file = (more: unknown): Block => ({ type: 'file', file: more });
const inputFile = (more: object): Block => ({ type: 'input_file', ...more });
const audio = (more: unknown): Block => ({ type: 'input_audio', input_audio: more });

interface Read {
  readonly type: 'document' | 'audio';
  readonly mediaType: string;
  readonly bytes: Buffer;
}

const plain = (bytes: Buffer = WORDS): Read => ({ type: 'document', mediaType: 'text/plain', bytes });
const pdf = (bytes: Buffer = PDF): Read => ({ type: 'document', mediaType: 'application/pdf', bytes });
const sound = (mediaType: string): Read => ({ type: 'audio', mediaType, bytes: WORDS });

const IN_BASE64 = { type: 'base64', media_type: 'application/pdf', data: base64(PDF) };
const AS_TEXT = { type: 'text', media_type: 'text/plain', data: 'words' };
const PIECES = { ...plain(Buffer.from('a\n\nb')), pieces: ['a', 'b'] };

const RIGHT: Readonly<Record<string, readonly [block: Block, read: object]>> = {
  'a document in base64': [document(IN_BASE64), pdf()],
  'a document as text': [document(AS_TEXT), plain()],
  'a document in pieces': [
    document({
      type: 'content',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    }),
    PIECES,
  ],
  'a document in one piece': [document({ type: 'content', content: 'words' }), { ...plain(), pieces: ['words'] }],
  'the title of a document in base64': [document(IN_BASE64, { title: 'A' }), { ...pdf(), name: 'A' }],
  'the title of a document as text': [document(AS_TEXT, { title: 'A' }), { ...plain(), name: 'A' }],
  'the title of a document in pieces': [
    document({ type: 'content', content: 'words' }, { title: 'A' }),
    { ...plain(), pieces: ['words'], name: 'A' },
  ],
  'no empty title': [document(AS_TEXT, { title: '' }), plain()],
  'no title of another type': [document(AS_TEXT, { title: 5 }), plain()],
  'citations that are asked for': [
    document(AS_TEXT, { citations: { enabled: true } }),
    { ...plain(), citations: true },
  ],
  'citations that are switched off': [document(AS_TEXT, { citations: { enabled: false } }), plain()],
  'citations that are null': [document(AS_TEXT, { citations: null }), plain()],
  'citations that say nothing': [document(AS_TEXT, { citations: {} }), plain()],
  'a file by a data URI': [file({ file_data: uri('application/pdf', PDF) }), pdf()],
  'a file of text by a data URI': [file({ file_data: uri('Text/CSV', WORDS) }), { ...plain(), mediaType: 'text/csv' }],
  'a file of text in the charset that its data URI names': [
    file({ file_data: uri('text/csv;charset=windows-1251', Buffer.from([0xcf, 0xf0, 0xe8])) }),
    { ...plain(Buffer.from('При')), mediaType: 'text/csv' },
  ],
  'a file of text in UTF-16, by its beginning': [
    file({ file_data: base64(Buffer.from('\ufeffПри', 'utf16le')), filename: 'a.txt' }),
    { ...plain(Buffer.from('При')), name: 'a.txt' },
  ],
  'a file of text in UTF-8 whatever charset is named': [
    file({ file_data: uri('text/plain;charset=US-ASCII', Buffer.from('При')) }),
    plain(Buffer.from('При')),
  ],
  'a document of text in the charset that its type names': [
    document({ type: 'base64', media_type: 'text/plain; charset="koi8-r"', data: base64(Buffer.from([0xf0])) }),
    { ...plain(Buffer.from('П')), mediaType: 'text/plain; charset="koi8-r"' },
  ],
  'a file of text in UTF-16 that is named, which UTF-8 could be, too': [
    file({ file_data: uri('text/plain;charset=utf-16le', Buffer.from('Hi', 'utf16le')) }),
    plain(Buffer.from('Hi')),
  ],
  'a file of text with one byte of a beginning of UTF-16': [
    file({ file_data: uri('text/plain;charset=windows-1252', Buffer.from([0x61, 0xfe])) }),
    plain(Buffer.from('aþ')),
  ],
  'a file of text with the other': [
    file({ file_data: uri('text/plain;charset=windows-1252', Buffer.from([0xfe, 0x61])) }),
    plain(Buffer.from('þa')),
  ],
  'a document that is no text, byte by byte': [document({ ...IN_BASE64, data: base64(BINARY) }), pdf(BINARY)],
  'a recording by a data URI': [file({ file_data: uri('audio/wav', WORDS), filename: 'a.wav' }), sound('audio/wav')],
  'a bare file by its beginning': [file({ file_data: base64(PDF), filename: 'a.txt' }), { ...pdf(), name: 'a.txt' }],
  'a bare file of an unknown kind': [
    file({ file_data: base64(WORDS), filename: 'a.bin' }),
    { ...pdf(WORDS), name: 'a.bin' },
  ],
  'a bare file without a name': [file({ file_data: base64(WORDS), filename: '' }), pdf(WORDS)],
  'a bare file with a name of another type': [file({ file_data: base64(WORDS), filename: 5 }), pdf(WORDS)],
  'a file of the responses dialect': [
    inputFile({ file_data: uri('application/pdf', PDF), filename: 'a.pdf' }),
    { ...pdf(), name: 'a.pdf' },
  ],
  ...Object.fromEntries(
    ['txt', 'md', 'csv', 'json', 'html', 'htm', 'xml', 'TXT'].map((end) => [
      `a bare file by its name that ends in ${end}`,
      [file({ file_data: base64(WORDS), filename: `a.${end}` }), { ...plain(), name: `a.${end}` }] as const,
    ]),
  ),
  ...Object.fromEntries(
    [
      ['wav', 'audio/wav'],
      ['mp3', 'audio/mpeg'],
      ['m4a', 'audio/mp4'],
      ['FLAC', 'audio/flac'],
    ].map(([format, type = '']) => [
      `audio in ${format}`,
      [audio({ data: base64(WORDS), format }), sound(type)] as const,
    ]),
  ),
  'audio by a data URI, in the format that is named': [
    audio({ data: uri('audio/x-wav', WORDS), format: 'wav' }),
    sound('audio/wav'),
  ],
};

const NO_LINK = /must be a document in base64 or as text/;
const NO_BASE64 = /must be base64 in the standard alphabet/;
const NO_FORMAT = /must be the format of the audio/;
const NO_PIECE = /must be a text that is not empty/;
const NO_PIECES = /must be an array of texts, not empty/;

const WRONG: Readonly<Record<string, readonly [block: Block, field: string, words: RegExp]>> = {
  'a document without a source': [document(undefined), 'b.source', /must be an object/],
  'a document by a link': [document({ type: 'url', url: 'https://a.example/' }), 'b.source', NO_LINK],
  'a document by a file id': [document({ type: 'file', file_id: 'f' }), 'b.source', NO_LINK],
  'a document without data': [document({ ...IN_BASE64, data: undefined }), 'b.source.data', /must be a string/],
  'a text without data': [document({ ...AS_TEXT, data: 5 }), 'b.source.data', /must be a string/],
  'a document without a type': [
    document({ ...IN_BASE64, media_type: undefined }),
    'b.source.media_type',
    /must be a string/,
  ],
  'a document in other characters': [document({ ...IN_BASE64, data: 'a b=' }), 'b.source.data', NO_BASE64],
  'an empty document': [document({ ...IN_BASE64, data: '' }), 'b.source.data', NO_BASE64],
  'citations of another type': [document(AS_TEXT, { citations: 'yes' }), 'b.citations', /`enabled` is true or false/],
  'citations enabled by a word': [
    document(AS_TEXT, { citations: { enabled: 'yes' } }),
    'b.citations',
    /`enabled` is true or false/,
  ],
  'no pieces': [document({ type: 'content', content: [] }), 'b.source.content', NO_PIECES],
  'pieces that are no list': [document({ type: 'content', content: {} }), 'b.source.content', NO_PIECES],
  'an empty piece': [
    document({ type: 'content', content: [{ text: 'a' }, { text: ' ' }] }),
    'b.source.content[1]',
    NO_PIECE,
  ],
  'a piece that is no text': [document({ type: 'content', content: ['a'] }), 'b.source.content[0]', NO_PIECE],
  'a file that is no object': [file('f'), 'b.file', /must be an object/],
  'a file by its id': [file({ file_id: 'f' }), 'b.file.file_data', NO_LINK],
  'an empty file': [file({ file_data: '' }), 'b.file.file_data', NO_LINK],
  'a file in other characters': [file({ file_data: '*' }), 'b.file.file_data', NO_BASE64],
  'a file of text in a charset that nothing names': [
    file({ file_data: base64(Buffer.from([0xcf, 0xf0, 0xe8])), filename: 'a.csv' }),
    'b.file.file_data',
    /cannot be read: send the text in UTF-8/,
  ],
  'a file of text in an unknown charset': [
    file({ file_data: uri('text/csv;charset=dos', Buffer.from([0xcf])) }),
    'b.file.file_data',
    /cannot be read: send the text in UTF-8/,
  ],
  'a document of text in a charset that nothing names': [
    document({ type: 'base64', media_type: 'text/plain', data: base64(Buffer.from([0xcf])) }),
    'b.source.data',
    /cannot be read: send the text in UTF-8/,
  ],
  'a data URI of a file without base64': [
    file({ file_data: 'data:text/plain,a' }),
    'b.file.file_data',
    /must be a data URI in base64/,
  ],
  'a file of the responses dialect by a link': [inputFile({ file_url: 'https://a.example/' }), 'b.file_data', NO_LINK],
  'audio that is no object': [audio('a'), 'b.input_audio', /must be an object/],
  'audio without data': [audio({ format: 'wav' }), 'b.input_audio.data', /must be audio in base64/],
  'empty audio': [audio({ data: '', format: 'wav' }), 'b.input_audio.data', /must be audio in base64/],
  'audio in other characters': [audio({ data: '*', format: 'wav' }), 'b.input_audio.data', NO_BASE64],
  'audio without a format': [audio({ data: base64(WORDS) }), 'b.input_audio.format', NO_FORMAT],
  'audio in a format with a sign': [audio({ data: base64(WORDS), format: 'a/b' }), 'b.input_audio.format', NO_FORMAT],
  'audio in a format of 17 letters': [
    audio({ data: base64(WORDS), format: 'a'.repeat(17) }),
    'b.input_audio.format',
    NO_FORMAT,
  ],
  ...Object.fromEntries(
    [
      ...['audio', 'audio_url', 'video', 'video_url', 'input_video', 'media', 'pdf', 'document_url', 'input_document'],
      ...['file_url', 'file_id', 'image_file', 'inline_data', 'inlineData', 'fileData', 'container_upload'],
    ].map((type) => [
      `a block of type ${type}`,
      [{ type }, 'b.type', new RegExp(`must not be ${type}: no model takes it here`)] as const,
    ]),
  ),
};

describe('files of a message', () => {
  for (const [name, [block, read]] of Object.entries(RIGHT)) {
    it(`are read: ${name}`, () => {
      const { bytes, ...rest } = readAttachment(block, 'b') as Read;
      expect({ ...rest, bytes: Buffer.from(bytes) }).to.deep.equal(read);
    });
  }

  for (const [name, [block, field, words]] of Object.entries(WRONG)) {
    it(`are refused, with the field: ${name}`, () => {
      let refused: unknown;
      try {
        readAttachment(block, 'b');
      } catch (error) {
        refused = error;
      }
      if (!isFault(refused)) throw refused ?? new Error('taken');
      expect(refused.output.statusCode).to.equal(400);
      expect(refused.message).to.match(words).and.to.contain(field);
    });
  }

  it('are not what other blocks are', () => {
    for (const type of ['text', 'image', 'tool_use', 'documents', 'my_audio', 'file_citation', 'media_type', ''])
      expect(readAttachment({ type }, 'b')).to.be.undefined;
  });

  it('are cited only where that is switched on', () => {
    const asked = [undefined, null, true, {}, { enabled: false }, { enabled: 'true' }, { enabled: true }];
    expect(asked.map((citations) => hasCitations({ type: 'document', citations }))).to.deep.equal([
      ...Array.from({ length: 6 }, () => false),
      true,
    ]);
  });
});

describe('a document in a message', () => {
  const source = { type: 'base64', media_type: 'application/pdf', data: PDF.toString('base64') };
  const read = (more: object) => {
    const content = [
      { type: 'document', source, ...more },
      { type: 'text', text: 'hi' },
    ];
    return readMessages([{ role: 'user', content }]).messages[0]?.content ?? [];
  };

  it('carries a marker of the prompt cache, which null is not', () => {
    expect(read({ cache_control: { type: 'ephemeral' } })[0]).to.deep.include({ cache: { ttl: '5m' } });
    expect(read({ cache_control: null })[0]).to.not.have.property('cache');
  });

  it('has words before it only if they say something', () => {
    expect(read({ context: 'From Ann.' })[0]).to.deep.equal({ type: 'text', text: 'From Ann.' });
    for (const context of [' ', '\n', null]) expect(read({ context })[0]).to.include({ type: 'document' });
  });
});
