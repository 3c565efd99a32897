// The client of Telegram's Bot API against a server on loopback: which failures end a chat, waits, and what is heard.
import { expect } from 'chai';
import { createTelegramBot, TelegramFailure } from '../../lib/alerts/telegram-bot.ts';
import { BOT_TOKEN, startTelegram, type TelegramServer } from '../../testkit/telegram.ts';
import { rejection } from '../contract/store/context.ts';

const { signal } = new AbortController();

describe('the client of the Telegram bot', () => {
  let telegram: TelegramServer;
  let now: number;
  before(async () => {
    telegram = await startTelegram();
  });
  beforeEach(() => {
    now = 1_800_000_000_000;
  });
  after(() => telegram.stop());

  const open = () => createTelegramBot({ token: BOT_TOKEN, api: telegram.url, now: () => now });

  for (const [says, status, isClosed] of [
    ['Forbidden: bot was blocked by the user', 403, true],
    ['Bad Request: chat not found', 400, true],
    ["Bad Request: can't parse entities", 400, false],
    ['Unauthorized', 401, false],
    ['Not Found: chat not found', 404, false],
    ['Too Many Requests: retry after 2', 429, false],
    ['no answer', undefined, false],
  ] as const) {
    it(`takes a chat for ${isClosed ? 'closed' : 'open'} after ${status ?? ''} ${says}`, () => {
      const failure = new TelegramFailure(says, status === undefined ? {} : { status });
      expect(failure.isChatClosed).to.equal(isClosed);
    });
  }

  it('asks nobody while Telegram wants it to wait', async () => {
    const bot = open();
    telegram.throttle(60);
    const { status, retryAfterMs = 0 } = (await rejection(bot.send('7', 'one', signal))) as TelegramFailure;
    expect(status).to.equal(429);
    expect(retryAfterMs).to.be.within(1000, 60_000);
    telegram.throttle(0);
    const asked = telegram.asked.sendMessage;
    now += retryAfterMs - 1;
    expect(await rejection(bot.send('7', 'two', signal))).to.include({ status: 429, retryAfterMs: 1 });
    expect(telegram.asked.sendMessage).to.equal(asked);
    now += 1;
    await bot.send('7', 'three', signal);
    expect(telegram.sent.map(({ text }) => text)).to.deep.equal(['three']);
  });

  it('hears what arrives while it waits longer than for other answers, and confirms what it has heard', async () => {
    const bot = open();
    const hearing = bot.listen(undefined, 30, signal);
    setTimeout(() => telegram.write(7, 'hello', { last_name: 'Petrova' }), 20);
    const { messages, next = 0 } = await hearing;
    expect(messages).to.deep.equal([
      { id: next - 1, chat: '7', name: 'Anna Petrova (@anna)', language: 'en', text: 'hello' },
    ]);
    expect(await bot.listen(next, 0, signal)).to.deep.equal({ messages: [], next });
  });

  it('hears only texts in private chats, whoever they are from', async () => {
    const bot = open();
    const chat = { id: 7, type: 'private' };
    telegram.arrive({ chat: { id: -1, type: 'group' }, text: 'in a group', from: { first_name: 'Anna' } });
    telegram.arrive({ chat, from: { first_name: 'Anna' } });
    telegram.arrive({ chat, text: 'a', from: { username: 'anna' } });
    telegram.arrive({ chat, text: 'b' });
    telegram.arrive({ chat, text: 'c', from: { first_name: 'x'.repeat(101) } });
    const { messages, next } = await bot.listen(undefined, 0, signal);
    expect(messages.map(({ name, text }) => [name, text])).to.deep.equal([
      ['@anna', 'a'],
      ['', 'b'],
      ['x'.repeat(100), 'c'],
    ]);
    await bot.listen(next, 0, signal);
  });

  it('stops listening at once when it is told to', async () => {
    const ending = new AbortController();
    const hearing = rejection(open().listen(undefined, 30, ending.signal));
    setTimeout(() => ending.abort(new Error('enough')), 20);
    expect(await hearing).to.include({ message: 'enough' });
  });

  it('says what cut the connection, and never the token', async () => {
    telegram.isDown = true;
    try {
      const failure = (await rejection(open().readName(signal))) as TelegramFailure;
      expect(failure).to.include({ name: 'TelegramFailure', status: undefined, retryAfterMs: undefined });
      expect(failure.message).to.match(/^Telegram does not answer \(\w*SOCKET\w*|ECONNRESET\)$/);
      expect(JSON.stringify([failure.message, failure.stack, failure.cause])).not.to.contain(BOT_TOKEN);
    } finally {
      telegram.isDown = false;
    }
  });
});
