// Form bodies over real sockets: any chunks, any parts, limits, and invalid forms.
import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { type Fault, isFault } from '../../lib/base/faults.ts';
import { GONE } from '../../lib/calls/context.ts';
import type { BodyLimits } from '../../lib/http/body.ts';
import { type Form, type FormOptions, isForm, readForm } from '../../lib/http/form.ts';
import { createMemoryQuota, type MemoryQuota } from '../../lib/http/memory-quota.ts';
import { watchTicks } from '../../testkit/event-loop-ticks.ts';
import { longer } from '../../testkit/long.ts';
import { itTimed } from '../../testkit/timed.ts';

const BOUNDARY = '----WebKitFormBoundaryAbC';
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;
const MEBIBYTE = 1024 * 1024;

interface Part {
  readonly head: string;
  readonly content: Buffer | string;
}

const text = (name: string, content: string): Part => ({
  head: `content-disposition: form-data; name="${name}"`,
  content,
});
const file = (name: string, content: Buffer, type = 'application/octet-stream'): Part => ({
  head: `Content-Disposition: form-data; name="${name}"; filename="a.png"\r\nContent-Type: ${type}`,
  content,
});

function encode(parts: readonly Part[], boundary = BOUNDARY): Buffer {
  const pieces = parts.flatMap(({ head, content }) => [
    Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

describe('form', () => {
  let server: Server;
  let budget: MemoryQuota;
  let options: Partial<FormOptions>;
  let limits: BodyLimits;
  let controller: AbortController;
  let answer: (result: Form | unknown) => void;

  before((next) => {
    server = createServer({ keepAliveTimeout: 1 }, (request, response) => {
      const share = budget.reserve('key');
      const whole: FormOptions = {
        type: String(request.headers['content-type']),
        signal: controller.signal,
        reservation: share,
        limits,
        classifyPart: (name, isFile) =>
          /^(?:prompt|note)$/.test(name) ? 'text' : name.startsWith('image') && isFile ? 'file' : 'other',
        fileBytesMax: MEBIBYTE,
        textBytesMax: 1000,
        ...options,
      };
      void readForm(request, whole)
        .catch((error: unknown) => error)
        .then((result) => {
          answer(result);
          share.releaseAll();
          response.shouldKeepAlive = false;
          response.end();
          request.resume();
        });
    });
    server.listen(0, '127.0.0.1', next);
  });
  beforeEach(() => {
    budget = createMemoryQuota({ bytesMax: 32 * MEBIBYTE, ownerBytesMax: 16 * MEBIBYTE });
    [options, limits, controller] = [{}, {}, new AbortController()];
  });
  afterEach(() => expect(budget.used()).to.equal(0));
  after((next) => {
    server.closeAllConnections();
    server.close(() => next());
  });

  /** Sends chunks, a turn between them, and resolves with what was read. */
  function send(
    chunks: readonly Buffer[],
    { type = TYPE, length = true, end = true } = {},
  ): { socket: Socket; result: Promise<unknown> } {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined).setNoDelay(true);
    const result = new Promise<unknown>((resolve) => {
      answer = resolve;
    });
    const total = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    const framing = length ? `content-length: ${total}` : 'transfer-encoding: chunked';
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-type: ${type}\r\n${framing}\r\n\r\n`);
    void (async () => {
      for (const chunk of chunks) {
        if (length) socket.write(chunk);
        else if (chunk.length > 0)
          socket.write(Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]));
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (!length && end) socket.write('0\r\n\r\n');
    })();
    return { socket, result };
  }
  const read = async (body: Buffer, more: { type?: string; length?: boolean } = {}) =>
    (await send([body], more).result) as Form;
  const refused = async (body: Buffer, more: { type?: string; length?: boolean } = {}) => {
    const result = await send([body], more).result;
    expect(isFault(result), String(result)).to.equal(true);
    const { message, data } = result as Fault;
    return [data?.code, message];
  };
  const contents = ({ texts, files }: Form) => [
    texts.map(({ name, text: value }) => [name, value]),
    files.map(({ name, bytes, isCut }) => [name, bytes.toString('latin1'), isCut]),
  ];

  it('is recognised by its content type', () => {
    for (const type of [TYPE, 'multipart/form-data', 'Multipart/Form-Data ; boundary="x"'])
      expect(isForm(type)).to.equal(true);
    for (const type of [undefined, '', 'application/json', 'multipart/mixed; boundary=x', 'multipart/form-datax']) {
      expect(isForm(type), type).to.equal(false);
    }
  });

  it('contains its texts and files, with and without an announced length', async () => {
    const png = randomBytes(300_000);
    const body = encode([
      text('prompt', 'Рисуй 🎨'),
      file('image[]', png),
      file('image[]', Buffer.alloc(0)),
      text('note', ''),
    ]);
    for (const length of [true, false]) {
      const form = await read(body, { length });
      expect(form.texts).to.deep.equal([
        { name: 'prompt', text: 'Рисуй 🎨' },
        { name: 'note', text: '' },
      ]);
      expect(form.files.map(({ name, bytes }) => [name, bytes.length])).to.deep.equal([
        ['image[]', 300_000],
        ['image[]', 0],
      ]);
      expect(form.files[0]?.bytes.equals(png)).to.equal(true);
    }
  });

  it('is the same wherever it is split into chunks', async function () {
    this.timeout(120_000);
    // Nearly a boundary, over and over.
    const tricky = Buffer.from(`\r\n--\r\n${BOUNDARY}\r\n--${BOUNDARY.slice(0, -1)}\r\r\n\r\n--x\r`);
    const body = encode([
      text('prompt', 'hi'),
      file('image', tricky),
      file('image[]', tricky.subarray(0, 9), 'image/png'),
    ]);
    const expected = contents(await read(body));
    expect(expected[1]).to.deep.equal([
      ['image', tricky.toString('latin1'), false],
      ['image[]', tricky.toString('latin1', 0, 9), false],
    ]);
    for (let at = 1; at < body.length; at += longer(5, 1)) {
      const { result } = send([body.subarray(0, at), body.subarray(at)]);
      expect(contents((await result) as Form), `cut at ${at}`).to.deep.equal(expected);
    }
    const bytes = [...body].map((byte) => Buffer.from([byte]));
    expect(contents((await send(bytes).result) as Form)).to.deep.equal(expected);
    expect(contents((await send(bytes, { length: false }).result) as Form)).to.deep.equal(expected);
  });

  it('keeps the bytes of any files', async function () {
    this.timeout(60_000);
    const piece = fc.constantFrom('\r\n', '--', BOUNDARY, '\r', '\n', '-', 'x', '\0');
    const content = fc.array(piece, { maxLength: 12 }).map((pieces) => Buffer.from(pieces.join('')));
    const usable = content.filter((bytes) => !`\r\n${bytes.toString()}\r\n`.includes(`\r\n--${BOUNDARY}`));
    await fc.assert(
      fc.asyncProperty(fc.array(usable, { minLength: 1, maxLength: 4 }), fc.nat(), async (files, cut) => {
        const body = encode(files.map((bytes) => file('image', bytes)));
        const at = cut % body.length;
        const form = (await send([body.subarray(0, at), body.subarray(at)]).result) as Form;
        expect(form.files.map(({ bytes }) => bytes.toString('latin1'))).to.deep.equal(
          files.map((bytes) => bytes.toString('latin1')),
        );
      }),
      { numRuns: longer(50, 150) },
    );
  });

  it('drops unknown parts, and recognises a file by its type if it has no name', async () => {
    const body = encode([
      file('mask', Buffer.alloc(500_000)),
      text('user', 'x'.repeat(5000)),
      { head: 'content-disposition: form-data; name="image"\r\ncontent-type: image/png', content: 'bytes' },
      {
        head: 'content-disposition: form-data; name="prompt"; filename="prompt.txt"\r\ncontent-type: text/plain',
        content: 'hi',
      },
      {
        head: 'content-disposition: form-data; name="image"\r\ncontent-type: application/octet-stream',
        content: 'raw',
      },
      file('image', Buffer.from('named'), 'text/plain'),
      { head: 'x-nothing: 1', content: 'lost' },
    ]);
    expect(contents(await read(body))).to.deep.equal([
      [['prompt', 'hi']],
      [
        ['image', 'bytes', false],
        ['image', 'raw', false],
        ['image', 'named', false],
      ],
    ]);
  });

  it('recognises a file by its name where texts are also accepted', async () => {
    options = { classifyPart: (_name, isFile) => (isFile ? 'file' : 'text') };
    const typed = (type: string) => ({
      head: `content-disposition: form-data; name="image"\r\ncontent-type: ${type}`,
      content: type,
    });
    const types = ['image/webp', 'application/octet-stream', 'text/plain'];
    const body = encode([
      file('image', Buffer.from('named'), 'text/plain'),
      text('image', 'a link'),
      ...types.map(typed),
    ]);
    const form = await read(body);
    expect(form.files.map(({ fileName }) => fileName)).to.deep.equal(['a.png', undefined, undefined]);
    expect(contents(form)).to.deep.equal([
      [
        ['image', 'a link'],
        ['image', 'text/plain'],
      ],
      [
        ['image', 'named', false],
        ['image', 'image/webp', false],
        ['image', 'application/octet-stream', false],
      ],
    ]);
  });

  it('ignores preamble and epilogue', async () => {
    const body = encode([text('prompt', 'hi')]);
    const around = Buffer.concat([Buffer.from('a preamble\r\n'), body, Buffer.from('an epilogue\r\n')]);
    expect(contents(await read(around))).to.deep.equal([[['prompt', 'hi']], []]);
    expect(contents(await read(encode([])))).to.deep.equal([[], []]);
  });

  it('truncates a file at its limit and keeps the others', async () => {
    const form = await read(encode([file('image', Buffer.alloc(MEBIBYTE + 1)), file('image', Buffer.alloc(MEBIBYTE))]));
    expect(form.files.map(({ bytes, isCut }) => [bytes.length, isCut])).to.deep.equal([
      [MEBIBYTE, true],
      [MEBIBYTE, false],
    ]);
  });

  describe('is refused', () => {
    const whole = encode([text('prompt', 'hi'), file('image', Buffer.from('bytes'))]);
    const early = 'The request body is not valid form data: it ends too early.';
    const rows: Readonly<Record<string, readonly [body: Buffer, says: string, type?: string]>> = {
      'when it is empty': [Buffer.alloc(0), early],
      'when it is something else': [Buffer.from('{"prompt":"hi"}'), early],
      'when its boundary is another one': [whole, early, 'multipart/form-data; boundary=other'],
      'without a boundary': [whole, 'no usable boundary', 'multipart/form-data'],
      'with a boundary that is too long': [
        whole,
        'no usable boundary',
        `multipart/form-data; boundary=${'x'.repeat(300)}`,
      ],
      'with too many parts': [encode(Array(65).fill(text('note', 'x'))), 'more than 64 parts'],
    };
    for (const [name, [body, says, type]] of Object.entries(rows)) {
      it(name, async () => {
        const [code, message] = await refused(body, type === undefined ? {} : { type });
        expect(code).to.equal('invalid_form');
        expect(message).to.contain(says);
      });
    }

    it('if it breaks off anywhere', async function () {
      this.timeout(60_000);
      for (let at = 0; at < whole.length - '--\r\n'.length; at += longer(5, 1)) {
        expect(await refused(whole.subarray(0, at)), `cut at ${at}`).to.deep.equal(['invalid_form', early]);
      }
    });

    it('with a text that is too long', async () => {
      expect(await refused(encode([text('prompt', 'x'.repeat(1001))]))).to.deep.equal([
        'invalid_field',
        'Invalid `prompt`: is too long.',
      ]);
    });

    it('for its first mistake, as soon as that arrives', async () => {
      const wrong = encode([text('prompt', 'x'.repeat(1001)), ...Array(64).fill(text('note', 'x'))]);
      const { socket, result } = send([wrong.subarray(0, -1)], { length: false, end: false });
      expect(((await result) as Fault).message).to.equal('Invalid `prompt`: is too long.');
      socket.destroy();
    });

    it('with a text that is too long, by its name truncated and sanitized', async () => {
      options = { classifyPart: () => 'text' };
      const name = `image[<i>]${'x'.repeat(60)}`;
      const [, message] = await refused(encode([text(name, 'x'.repeat(1001))]));
      expect(message).to.equal(`Invalid \`image[?i?]${'x'.repeat(40)}\`: is too long.`);
    });

    it('with too many parts', async () => {
      const form = await read(encode(Array(64).fill(text('note', 'x'))));
      expect(form.texts).to.have.length(64);
    });

    it('in the part with too many headers', async () => {
      const form = (before: number) => {
        const head = `${'x-more: 1\r\n'.repeat(before)}content-disposition: form-data; name="prompt"`;
        return read(encode([{ head, content: 'hi' }]));
      };
      expect((await form(15)).texts).to.have.length(1);
      expect((await form(16)).texts).to.have.length(0);
    });

    it('with headers that are too long', async () => {
      const head = `content-disposition: form-data; name="prompt"\r\nx-long: ${'x'.repeat(9000)}`;
      expect(contents(await read(encode([{ head, content: 'hi' }])))).to.deep.equal([[['prompt', 'hi']], []]);
      const late = `x-long: ${'x'.repeat(9000)}\r\ncontent-disposition: form-data; name="prompt"`;
      expect(contents(await read(encode([{ head: late, content: 'hi' }])))).to.deep.equal([[], []]);
    });
  });

  describe('with the limits of every body', () => {
    const whole = encode([text('prompt', 'hi'), file('image', Buffer.alloc(200_000))]);
    const codeOf = async (result: Promise<unknown>) => {
      const reason = await result;
      return isFault(reason) ? reason.data?.code : reason;
    };

    it('is refused if it stalls', async () => {
      limits = { idleMs: 50 };
      const { socket, result } = send([whole.subarray(0, 1000)], { length: false, end: false });
      expect(await codeOf(result)).to.equal('body_timeout');
      socket.destroy();
    });

    it('is refused if it is too long', async () => {
      limits = { bytesMax: 100_000 };
      for (const length of [true, false])
        expect(await codeOf(send([whole], { length }).result)).to.equal('body_too_large');
    });

    it('is refused if there is no room', async () => {
      budget = createMemoryQuota({ bytesMax: 150_000, ownerBytesMax: 150_000 });
      for (const length of [true, false]) expect(await codeOf(send([whole], { length }).result)).to.equal('no_room');
    });

    it('rejects with GONE if the client leaves', async () => {
      const { socket, result } = send([whole.subarray(0, 100_000)], { length: false, end: false });
      setTimeout(() => socket.destroy(), 50);
      expect(await codeOf(result)).to.equal(GONE);
    });

    it('rejects when its signal aborts', async () => {
      const { socket, result } = send([whole.subarray(0, 100_000)], { length: false, end: false });
      setTimeout(() => controller.abort('over'), 50);
      expect(await codeOf(result)).to.equal('over');
      socket.destroy();
    });
  });

  itTimed('does not block the event loop, however long it is', async function () {
    this.timeout(60_000);
    budget = createMemoryQuota({ bytesMax: 128 * MEBIBYTE, ownerBytesMax: 64 * MEBIBYTE });
    options = { fileBytesMax: 8 * MEBIBYTE, textBytesMax: 12 * MEBIBYTE };
    const files = Array.from({ length: 4 }, () => file('image', Buffer.alloc(8 * MEBIBYTE, '\r\n--')));
    const bodies = [
      encode(files),
      encode([text('prompt', 'я'.repeat(6 * MEBIBYTE))]),
      encode([text('prompt', 'a'.repeat(12 * MEBIBYTE))]),
    ];
    for (const body of longer(bodies.slice(0, 1), bodies)) {
      let worstMs = Number.POSITIVE_INFINITY;
      // What a collection of garbage falls into is tried again.
      for (let tries = 0; tries < 3 && worstMs >= 50; tries += 1) {
        const ticks = watchTicks();
        await read(body);
        ticks.stop();
        worstMs = Math.min(worstMs, ticks.worstMs());
      }
      expect(worstMs).to.be.below(50);
    }
  });
});
