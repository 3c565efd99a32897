// The connect page: settings that agree with the documents, and a key that is shown once and watched until it is used.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { CLIENTS } from '../../lib/console/connect/clients.ts';
import { getFormat } from '../../lib/console/language.ts';
import { send, until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { setUpMember, setUpOwner } from '../../testkit/pages.ts';

const PAGE = '/account/connect';
const ORIGIN = 'http://127.0.0.1:8080';
const KEY = /tg-sk-\w{49}/;

describe('the settings of clients', () => {
  const sections = new Map(
    readFileSync('docs/clients.md', 'utf8')
      .split('\n## ')
      .map((text) => [text.split('\n', 1)[0], text]),
  );
  const to = {
    v1: `${ORIGIN}/api/v1`,
    api: `${ORIGIN}/api`,
    key: '$KEY',
    model: 'sandbox-standard',
    small: 'sandbox-lite',
  };

  for (const { id, heading, settings } of CLIENTS) {
    it(`of ${id} are those of the documents`, () => {
      const section = sections.get(heading) ?? '';
      const addresses = settings.flatMap(({ paste, fields }) => [
        ...(paste?.(to).split('\n') ?? []),
        ...(fields?.(to).map(([, value]) => value) ?? []),
      ]);
      const used = addresses.join('\n').match(/http:\/\/127[^\s"'`)|,]+/g) ?? [];
      expect(used).not.to.deep.equal([]);
      if (heading === 'Official SDKs') return;
      for (const address of used) expect(section).to.match(new RegExp(`${address}(?![\\w/])`));
      const variables = addresses.filter((line) => line.startsWith('export ') && line.includes(ORIGIN));
      for (const line of variables) expect(section).to.contain(line);
    });
  }

  it('are there for the chat front ends, agents and libraries that work', () => {
    const names = CLIENTS.map(({ name }) => name);
    expect(names).to.include.members([
      ...['Open WebUI', 'LibreChat', 'Claude Code', 'Codex CLI', 'opencode', 'Qwen Code', 'Cline', 'Continue', 'pi'],
      ...['Copilot CLI', 'OpenHands', 'aider', 'mini-swe-agent', 'llm', 'Agents SDK', 'Vercel AI SDK', 'pydantic-ai'],
      ...['LangChain', 'LiteLLM', 'LlamaIndex', 'Python', 'JavaScript'],
    ]);
  });

  it('say how long ago a key was used', () => {
    const { ago } = getFormat('ru', 'Europe/Moscow');
    expect([0, 59_000, 125_000, 7_200_000, 200_000_000].map(ago)).to.deep.equal([
      '0 секунд назад',
      '59 секунд назад',
      '2 минуты назад',
      '2 часа назад',
      '2 дня назад',
    ]);
  });
});

describe('the connect page', () => {
  let test: TestGateway;
  let account: TestAccount;
  let owner: Awaited<ReturnType<typeof setUpOwner>>;

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on' } });
    account = await test.account();
    owner = await setUpOwner(test, account.id);
  });
  after(() => test.stop());

  it('shows every client with the address that it needs', async () => {
    const { text } = await owner.get(`${PAGE}?client=codex`);
    for (const { id } of CLIENTS) expect(text).to.contain(`id="${id}"`);
    expect(text)
      .to.match(/id="codex" open/)
      .and.to.contain(`base_url = &quot;${test.url}/api/v1&quot;`);
    expect(text).to.contain(`ANTHROPIC_BASE_URL=${test.url}/api\n`).and.to.contain('Replace YOUR_KEY');
    expect((await owner.get(`${PAGE}?model=sandbox-heavy`)).text).to.contain('OPENAI_MODEL=sandbox-heavy');
    expect((await owner.get(`${PAGE}?model=%3Cb%3E`)).text).not.to.contain('<b>');
  });

  it('names the address and the model for any other program, before a key and after', async () => {
    const made = await owner.submit(PAGE, { name: 'any program' });
    for (const { text } of [await owner.get(PAGE), made]) {
      const [address = ''] = text.split('<h2>Key</h2>');
      const values = [...address.matchAll(/<p>[^<]+<code data-copy>([^<]+)</g)].map(([, value]) => value);
      expect(values).to.deep.equal([`${test.url}/api/v1`, `${test.url}/api`, 'smart']);
    }
  });

  it('creates a key, fills it in, shows it once, and sees its first request', async () => {
    const made = await owner.submit(PAGE, { name: 'Open WebUI' });
    const [key = ''] = KEY.exec(made.text) ?? [];
    expect([made.status, made.text.includes(`export OPENAI_API_KEY=${key}`)]).to.deep.equal([200, true]);
    const later = await owner.get(PAGE);
    expect(later.text).not.to.match(KEY);
    expect(later.text).to.contain('data-again').and.to.contain('Waiting for the first request');
    expect(later.text).to.contain(`…${key.slice(-4)}`);
    const body = { model: 'sandbox-lite', messages: [{ role: 'user', content: 'Hi' }] };
    expect((await send(`${test.url}/api/v1/chat/completions`, { key, body })).status).to.equal(200);
    await until(async () => (await owner.get(PAGE)).text.includes('The first request with the new key has arrived.'));
    expect((await owner.get(PAGE)).text)
      .to.match(/seconds? ago/)
      .and.not.to.contain('data-again');
  });

  it('keeps the chosen model and client beside a new key', async () => {
    const chosen = `${PAGE}?model=sandbox-lite&client=codex`;
    const { text } = await owner.submit(chosen, { name: 'chosen' });
    const [key = ''] = KEY.exec(text) ?? [];
    expect(text)
      .to.contain(`OPENAI_API_KEY=${key}\nexport OPENAI_MODEL=sandbox-lite`)
      .and.to.match(/id="codex" open/);
  });

  it('refuses invalid names and an eleventh key', async () => {
    const full = await test.account();
    const other = await setUpOwner(test, full.id);
    expect((await other.submit(PAGE, { name: 'a\tb' })).status).to.equal(400);
    for (let number = 2; number <= 10; number += 1) await other.submit(PAGE, { name: `key ${number}` });
    const refused = await other.submit(PAGE, { name: 'one more' });
    expect([refused.status, refused.text.includes('Revoke one to create another')]).to.deep.equal([400, true]);
  });

  it('gives a member a key of their own and shows it in their list', async () => {
    const member = await setUpMember(test, { account: account.id, role: 'member' });
    const { text } = await member.submit(PAGE, { name: 'my laptop' });
    const [key = ''] = KEY.exec(text) ?? [];
    expect(text)
      .to.contain(`…${key.slice(-4)}`)
      .and.not.to.contain('Open WebUI</td>');
  });

  it('is named by the 404 of a wrong base address', async () => {
    const { json } = await send(`${test.url}/v1/chat/completions`, { key: account.key, body: {} });
    expect(json.error.message).to.contain(`${test.url}${PAGE}`);
  });
});
