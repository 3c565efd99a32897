// Images in the playground: read, edited and animated under the rules of the API, at the quoted price.
import { connect } from 'node:net';
import { expect } from 'chai';
import { sniffWhole } from '../../lib/base/sniff.ts';
import {
  addTurn,
  NO_CONVERSATION,
  readConversation,
  writeConversation,
} from '../../lib/console/playground/conversation.ts';
import type { Charge } from '../../lib/money/decide.ts';
import type { Reply } from '../../testkit/client.ts';
import { joinText, parseEvents, until } from '../../testkit/client.ts';
import { type FilmUpstream, filmCatalog, startFilmUpstream } from '../../testkit/film-upstream.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { EDITS, FORM_TYPE, type FormPart, imageCatalog, sendForm } from '../../testkit/images.ts';
import { longer } from '../../testkit/long.ts';
import { hiddenFields, setUpOwner, unescapeHtml } from '../../testkit/pages.ts';
import { PNG, png } from '../media/sample-images.ts';

const PAGE = '/account/playground';
const MIB = 1024 * 1024;

const file = (content: Buffer, fileName = 'cat.png'): FormPart => ({
  name: 'image',
  content,
  fileName,
  type: 'image/png',
});
/** How a browser sends an empty file field. */
const NONE: FormPart = { name: 'image', content: '', fileName: '', type: 'application/octet-stream' };

describe('images in the playground', function () {
  this.timeout(30_000);
  let upstream: FilmUpstream;
  let test: TestGateway;
  let account: TestAccount;
  let owner: Awaited<ReturnType<typeof setUpOwner>>;

  before(async () => {
    upstream = await startFilmUpstream();
    const films = filmCatalog(upstream.url) as { upstreams: object; models: object[] };
    const images = imageCatalog(upstream.url) as { upstreams: object; models: { id: string }[] };
    const models = images.models.filter(({ id }) => id !== 'film');
    test = await startGateway({
      catalog: {
        ...images,
        upstreams: { ...images.upstreams, ...films.upstreams },
        models: [...models, ...films.models],
      },
      env: { VIDEO_POLL_MS: '1000', BODY_MEMORY_MB: '128' },
    });
    account = await test.account('100000');
    owner = await setUpOwner(test, account.id);
  });
  after(async () => {
    await test.checkMoney();
    await test.stop();
    await upstream.close();
  });

  it('are shown where a text answer has them, on the page and in a stream', async () => {
    const { csrf = '' } = hiddenFields((await owner.get(PAGE)).text, PAGE);
    const fields = {
      kind: 'text',
      model: 'words',
      max_tokens: '700',
      key: account.keyId,
      prompt: 'A red dot [[draw]]',
    };
    const { text } = await owner.submit(PAGE, { ...fields, do: 'send' });
    const [, base64 = ''] = /<img src="data:image\/png;base64,([^"]+)" alt="A red dot/.exec(text) ?? [];
    expect(sniffWhole(Buffer.from(base64, 'base64'))?.format).to.equal('png');
    const events = parseEvents((await owner.post(`${PAGE}/text`, { csrf, ...fields })).text);
    const [drawn] = events.flatMap(({ data }) => data?.choices?.[0]?.delta?.images ?? []);
    expect(drawn.image_url.url).to.equal(`data:image/png;base64,${base64}`);
  });

  const FIELDS = {
    text: { kind: 'text', model: 'words', prompt: 'What is this?', max_tokens: '700' },
    image: { kind: 'image', model: 'sketch', prompt: 'Paint it blue', size: '1024x1024' },
    video: { kind: 'video', model: 'film-a', prompt: 'Let it move', seconds: '', resolution: '', aspect: '' },
  } as const;
  type Kind = keyof typeof FIELDS;

  /** The response to a form of which only the head was sent. */
  async function answerTo(line: string, headers: readonly string[]): Promise<string> {
    const { port, host } = new URL(test.url);
    const socket = connect(Number(port), '127.0.0.1').setEncoding('utf8');
    socket.write(`POST ${[line, `host: ${host}`, `content-type: ${FORM_TYPE}`, ...headers].join('\r\n')}\r\n\r\n`);
    let text = '';
    for await (const part of socket) {
      text += part;
      if (text.includes('</html>')) break;
    }
    return text;
  }

  const formParts = (kind: Kind, more: object = {}): FormPart[] =>
    Object.entries({ ...FIELDS[kind], key: account.keyId, do: 'send', ...more }).map(([name, content]) => ({
      name,
      content: String(content),
    }));
  const ask = (kind: Kind, files: readonly FormPart[], more: object = {}) =>
    owner.upload(`${PAGE}?kind=${kind}`, [...formParts(kind, more), ...files], { action: PAGE });
  const priceIn = ({ text }: Reply) => /<section id="price"[\s\S]*?<strong class="big">₽([^<]+)</.exec(text)?.[1];
  const lastCharge = async (): Promise<Charge | undefined> =>
    (await test.store.ledger.charges(account.id, { limit: 1 }))[0];
  const rub = (amount = 0n) => (Number(amount) / 1e6).toFixed(2);

  it('are read by a vision model at the quoted price', async () => {
    const files = [file(PNG), file(png({ width: 9, height: 9 }), ''), file(png({ width: 5, height: 7 }), 'b.gif')];
    const shown = await ask('text', files, { do: 'price' });
    expect(shown.status).to.equal(200);
    expect(shown.text).to.contain('<dd>eye</dd>').and.to.contain('name="images" value="3"');
    expect(shown.text).to.contain('Choose them again');
    const without = priceIn(await ask('text', [NONE], { do: 'price' }));
    const reply = await ask('text', files);
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.text).to.contain('1. PNG, 2x3 pixels').and.to.contain('3. PNG, 5x7 pixels');
    const charge = await lastCharge();
    expect(charge).to.include({ kind: 'text', model: 'words', state: 'settled' });
    expect(priceIn(shown)).to.equal(rub(charge?.reserved));
    // A thousand tokens each, at 1000 RUB a million.
    expect(Number(priceIn(shown)) - Number(without)).to.be.closeTo(3, 0.001);
  });

  it('need only their number for a quote', async () => {
    const counted = await ask('text', [], { do: 'price', images: '2' });
    const seen = await ask('text', [file(PNG), file(PNG)], { do: 'price' });
    expect(priceIn(counted)).to.equal(priceIn(seen));
    expect(priceIn(await owner.get(`${PAGE}?${new URLSearchParams({ ...FIELDS.text, images: '2' })}`))).to.equal(
      priceIn(seen),
    );
  });

  it('of an earlier turn are sent again with it, quoted and counted', async () => {
    const turn = { asked: 'What is it?', images: 1, answered: 'A cat.', model: 'words', charged: '1', ms: 1 };
    const turns = writeConversation(addTurn(NO_CONVERSATION, { ...turn, input: 1, output: 1, call: 'req_1' }));
    const files = [file(PNG), file(png({ width: 9, height: 9 }))];
    const without = await ask('text', [NONE], { do: 'price', turns });
    const shown = await ask('text', [], { do: 'price', turns, kept: 'req_1', images: '1' });
    expect(Number(priceIn(shown)) - Number(priceIn(without))).to.be.closeTo(2, 0.001);
    expect(without.text).to.contain('(images attached: 1; no longer sent');
    const before = await test.wallet(account);
    const lost = await ask('text', [NONE], { turns, kept: 'req_1' });
    expect([lost.status, lost.text.includes('Choose them again')]).to.deep.equal([400, true]);
    expect((await test.wallet(account)).seq).to.equal(before.seq);
    const reply = await ask('text', files, { turns, kept: 'req_1' });
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.text).to.contain('1. PNG, 9x9 pixels');
    expect(priceIn(shown)).to.equal(rub((await lastCharge())?.reserved));
    const next = readConversation(unescapeHtml(/name="turns" value="([^"]*)"/.exec(reply.text)?.[1] ?? ''));
    expect(next?.turns.map(({ images }) => images)).to.deep.equal([1, 1]);
    // A thousand tokens for each of both.
    expect(next?.turns[1]?.input).to.be.within(2000, 2100);
    const five = Array(4).fill(file(PNG));
    expect((await ask('text', [...five, file(PNG)], { turns, kept: 'req_1' })).text).to.contain('at most four images');
  });

  it('are sent with a streamed text call', async () => {
    const csrf = { name: 'csrf', content: /name="csrf" value="([^"]+)"/.exec((await owner.get(PAGE)).text)?.[1] ?? '' };
    const events = parseEvents((await owner.send(`${PAGE}/text`, [...formParts('text'), csrf, file(PNG)])).text);
    expect(joinText(events)).to.contain('1. PNG, 2x3 pixels');
    expect(events.at(-1)?.event).to.equal('outcome');
    expect(events.at(-1)?.data.html).to.contain('<dd>eye</dd>');
  });

  it('are edited, at the price and under the kind of an edit', async () => {
    const shown = await ask('image', [file(png({ width: 64, height: 64 }))], { do: 'price' });
    const reply = await ask('image', [file(png({ width: 64, height: 64 })), file(PNG)]);
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.text).to.match(/<img src="\/media\/[^"]+\.png" alt="Paint it blue">/);
    const charge = await lastCharge();
    expect(charge).to.include({ kind: 'edit', model: 'sketch', key: account.keyId, state: 'settled' });
    expect([priceIn(shown), rub(charge?.charged)]).to.deep.equal(['5.00', '5.00']);
    expect((await ask('image', [NONE])).status).to.equal(200);
    expect((await lastCharge())?.kind).to.equal('image');
    const none = await ask('image', [file(PNG)], { do: 'price', model: 'plain' });
    expect([priceIn(none), none.text.includes('does not edit')]).to.deep.equal([undefined, true]);
  });

  it('start a video', async () => {
    const shown = await ask('video', [file(PNG)], { do: 'price' });
    const reply = await ask('video', [file(PNG)]);
    expect(reply.status, reply.text).to.equal(303);
    const sent = JSON.parse([...upstream.begun.values()].at(-1) ?? '{}');
    expect(Buffer.from(sent.image, 'base64').equals(PNG)).to.equal(true);
    expect(priceIn(shown)).to.equal(rub((await lastCharge())?.charged));
    const place = reply.headers.location ?? '';
    await until(async () => !(await owner.get(place)).text.includes('data-again'), 10_000);
  });

  describe('are refused with an explanation and without a charge', () => {
    for (const [name, kind, files, more, status, words] of [
      ['five for a text', 'text', Array(5).fill(file(PNG)), {}, 400, 'at most four images'],
      ['five to edit', 'image', Array(5).fill(file(PNG)), {}, 400, 'at most four images'],
      ['two for a video', 'video', Array(2).fill(file(PNG)), {}, 400, 'at most one image'],
      ['one that is none', 'image', [file(Buffer.from('<svg/>'))], {}, 400, 'not a PNG, JPEG, GIF or WebP'],
      ['an empty file', 'text', [file(Buffer.alloc(0))], {}, 400, 'not a PNG, JPEG, GIF or WebP'],
      ['one that is too large', 'text', [file(png({ bytes: 8 * MIB + 1 }))], {}, 400, 'larger than 8 MiB'],
      ['a model that does not edit', 'image', [file(PNG)], { model: 'plain' }, 400, 'does not edit'],
      ['those that the page has lost', 'text', [NONE], { images: '1' }, 400, 'Choose them again'],
      ['an unknown key', 'image', [file(PNG)], { key: 'key_unknown' }, 401, 'unknown or revoked'],
    ] as const) {
      it(name, async () => {
        const before = await test.wallet(account);
        const reply = await ask(kind, files, more);
        expect(reply.text).to.contain(words);
        expect(reply.status).to.equal(status);
        expect((await test.wallet(account)).seq).to.equal(before.seq);
      });
    }

    it('lets the user send without them', async () => {
      const { text } = await ask('text', [NONE], { images: '1' });
      expect(text).to.contain('name="images" value="0"');
    });

    it('a body above 48 MiB or from another site, unread', async () => {
      const whole = await ask('image', Array(7).fill(file(png({ bytes: 7 * MIB }))));
      expect(whole.status).to.equal(413);
      const parts = [...formParts('image'), file(PNG)];
      expect((await owner.send(PAGE, parts)).status).to.equal(403);
      const csrf = /name="csrf" value="([^"]+)"/.exec((await owner.get(PAGE)).text)?.[1] ?? '';
      const foreign = { 'sec-fetch-site': 'cross-site' };
      const reply = await owner.send(PAGE, [...parts, { name: 'csrf', content: csrf }], foreign);
      expect(reply.status).to.equal(403);
    });

    it('a long form for an empty wallet, unread', async () => {
      const never = await test.account('0');
      const person = await setUpOwner(test, never.id);
      const cookie = `cookie: session=${person.cookies.get('session')}`;
      for (const path of [PAGE, `${PAGE}/text`]) {
        for (const length of [`content-length: ${40 * MIB}`, 'transfer-encoding: chunked']) {
          const refused = await answerTo(`${path} HTTP/1.1`, [cookie, length]);
          expect(refused)
            .to.match(/^HTTP\/1.1 402 /)
            .and.to.contain('connection: close')
            .and.to.contain('id="answer"')
            .and.to.contain('never been topped up')
            .and.to.contain('href="/account/wallet"');
        }
      }
      const foreign = await answerTo(`${PAGE} HTTP/1.1`, [
        cookie,
        'content-length: 99999',
        'origin: https://x.example',
      ]);
      expect(foreign).to.match(/^HTTP\/1.1 403 /);
      const parts = [...formParts('image', { key: never.keyId }), file(PNG)];
      const short = await person.upload(PAGE, parts);
      expect([short.status, short.text.includes('Paint it blue')]).to.deep.equal([402, true]);
      expect((await person.get(PAGE)).text).to.contain('The wallet is empty');
      expect((await owner.get(PAGE)).text).not.to.contain('The wallet is empty');
    });

    it('forms with files on pages that take none', async () => {
      const parts = [{ name: 'name', content: 'laptop' }, file(PNG)];
      expect((await owner.upload('/account/keys', parts)).status).to.equal(415);
    });
  });

  it('release their memory, however the call ends', async () => {
    const large = file(png({ bytes: 8 * MIB }));
    // Two of them exceed the memory of one user: if one leaked, the next would be refused.
    const endings = [{ prompt: '[[fail]]' }, {}];
    const others = [{ csrf: 'wrong' }, { do: 'price' }, { key: 'key_unknown' }, { do: 'price' }];
    for (const more of longer<readonly object[]>(endings, [...endings, ...others])) {
      const { status } = await ask('image', Array(4).fill(large), more);
      expect(status).to.be.oneOf([200, 401, 403, 502]);
    }
  });

  it('count as many bytes as in an API call', async () => {
    const parts = [
      { name: 'model', content: 'sketch' },
      { name: 'prompt', content: 'x' },
    ];
    const reply = await sendForm(test.url, account.key, [...parts, file(PNG)]);
    expect(reply.status, `${EDITS}: ${reply.text}`).to.equal(200);
    const api = await lastCharge();
    await ask('image', [file(PNG)], { prompt: 'x' });
    const page = await lastCharge();
    expect([page?.kind, page?.charged, page?.prices]).to.deep.equal([api?.kind, api?.charged, api?.prices]);
  });
});
