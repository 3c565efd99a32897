// Every status of the token count endpoints, for the test of replies against the API document.
import { ask, COUNTS, type Reply, type SendOptions, send } from '../../testkit/client.ts';
import type { TestAccount, TestGateway } from '../../testkit/gateway.ts';

export interface Counting {
  readonly gateway: TestGateway;
  verify(path: string, status: number, reply: Reply): void;
  suspended(): Promise<TestAccount>;
  /** Announces a body of this length and sends only its first byte. */
  sendPartly(path: string, account: TestAccount, length: number): Promise<Reply>;
}

export async function showCounts(counting: Counting): Promise<void> {
  for (const path of COUNTS) await showCount(path, counting);
}

async function showCount(path: string, { gateway, verify, suspended, sendPartly }: Counting): Promise<void> {
  const account = await gateway.account();
  const other = await suspended();
  const counted = async (status: number, options: SendOptions) => {
    verify(path, status, await send(gateway.url + path, options));
  };
  await counted(200, { key: account.key, body: ask('hi') });
  await counted(400, { key: account.key, body: ask('hi', { model: 'nope' }) });
  await counted(401, { body: ask('hi') });
  await counted(403, { key: other.key, body: ask('hi') });
  await counted(415, { key: account.key, body: 'hi', headers: { 'content-type': 'text/plain' } });
  await counted(400, { key: account.key, body: '{' });
  verify(path, 413, await sendPartly(path, account, 48 * 1024 * 1024 + 1));
  await counted(429, { key: account.key, body: ask('hi') });
  // There is room for one of them; the rest of its body does not come.
  const large = await gateway.account();
  const announced = [1, 2].map(() => sendPartly(path, large, 40 * 1024 * 1024));
  const [late, refused] = (await Promise.all(announced)).sort((one, two) => one.status - two.status);
  verify(path, 408, late as Reply);
  verify(path, 503, refused as Reply);
}
