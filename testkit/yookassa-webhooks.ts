// The webhooks of a YooKassa: kept until a test sends them, or sent at once, twice, out of order, or never.
import type { ShopWebhook } from './yookassa-shop.ts';

export interface WebhookBoard {
  /** All that were triggered, in order. */
  readonly all: readonly ShopWebhook[];
  put(webhook: ShopWebhook): void;
  /** From now on each is sent automatically, repeatedly until it is answered 200. */
  flow(url: string): void;
  /** None is sent automatically any more. */
  hold(): void;
  /** Sends one, whatever it is, once; resolves with the status. */
  send(url: string, webhook: unknown, headers?: Readonly<Record<string, string>>): Promise<number>;
  /** Resolves once all automatic ones have been answered 200. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

const RETRY_MS = 20;

export function createWebhookBoard(): WebhookBoard {
  const all: ShopWebhook[] = [];
  const flowing = new Set<Promise<void>>();
  const life = new AbortController();
  let target: string | undefined;

  async function send(url: string, webhook: unknown, headers: Readonly<Record<string, string>> = {}): Promise<number> {
    const body = typeof webhook === 'string' ? webhook : JSON.stringify(webhook);
    const own = { 'content-type': 'application/json', connection: 'close', ...headers };
    const { status } = await fetch(url, { method: 'POST', headers: own, body, signal: life.signal });
    return status;
  }

  /** Keeps retrying; the vendor does so for a day. */
  async function insist(url: string, webhook: ShopWebhook): Promise<void> {
    while (!life.signal.aborted) {
      if ((await send(url, webhook).catch(() => 0)) === 200) return;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  return {
    all,
    put(webhook) {
      all.push(webhook);
      if (target === undefined) return;
      const going = insist(target, webhook).finally(() => flowing.delete(going));
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
