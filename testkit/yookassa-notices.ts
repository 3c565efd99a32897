// The notices of a YooKassa: kept until a test sends them, sent at once, twice, in another order, or never.
import type { Notice } from './yookassa-shop.ts';

export interface NoticeBoard {
  /** Every one that was caused, in order. */
  readonly all: readonly Notice[];
  put(notice: Notice): void;
  /** From now on each goes there by itself, again until it is answered 200. */
  flow(url: string): void;
  /** None goes by itself any more. */
  hold(): void;
  /** Sends one, whatever it is, once; resolves with the status. */
  send(url: string, notice: unknown, headers?: Readonly<Record<string, string>>): Promise<number>;
  /** Resolves when all that flow have been answered 200. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

const RETRY_MS = 20;

export function createNoticeBoard(): NoticeBoard {
  const all: Notice[] = [];
  const flowing = new Set<Promise<void>>();
  const life = new AbortController();
  let target: string | undefined;

  async function send(url: string, notice: unknown, headers: Readonly<Record<string, string>> = {}): Promise<number> {
    const body = typeof notice === 'string' ? notice : JSON.stringify(notice);
    const own = { 'content-type': 'application/json', connection: 'close', ...headers };
    const { status } = await fetch(url, { method: 'POST', headers: own, body, signal: life.signal });
    return status;
  }

  /** For a day, in the vendor's time. */
  async function insist(url: string, notice: Notice): Promise<void> {
    while (!life.signal.aborted) {
      if ((await send(url, notice).catch(() => 0)) === 200) return;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  return {
    all,
    put(notice) {
      all.push(notice);
      if (target === undefined) return;
      const going = insist(target, notice).finally(() => flowing.delete(going));
      flowing.add(going);
    },
    flow: (url) => {
      target = url;
    },
    hold: () => {
      target = undefined;
    },
    send,
    async settled() {
      await Promise.all(flowing);
    },
    async close() {
      life.abort();
      await Promise.all(flowing);
    },
  };
}
