// Every status of the token count endpoint, for the test of replies against the API document.
import { ask, type Reply, type SendOptions, send } from '../../testkit/client.ts';
import type { TestAccount, TestGateway } from '../../testkit/gateway.ts';

export const COUNT = '/api/v1/messages/count_tokens';

export interface Counting {
  readonly gateway: TestGateway;
  verify(status: number, reply: Reply): void;
  suspended(): Promise<TestAccount>;
  /** Announces a body of this length and sends only its first byte. */
  sendPartly(path: string, account: TestAccount, length: number): Promise<Reply>;
}

export async function showCounts({ gateway, verify, suspended, sendPartly }: Counting): Promise<void> {
  const account = await gateway.account();
  const other = await suspended();
  const counted = async (status: number, options: SendOptions) => {
    verify(status, await send(gateway.url + COUNT, options));
  };
  await counted(200, { key: account.key, body: ask('hi') });
  await counted(400, { key: account.key, body: ask('hi', { model: 'nope' }) });
  await counted(401, { body: ask('hi') });
  await counted(403, { key: other.key, body: ask('hi') });
  await counted(415, { key: account.key, body: 'hi', headers: { 'content-type': 'text/plain' } });
  await counted(400, { key: account.key, body: '{' });
  verify(413, await sendPartly(COUNT, account, 48 * 1024 * 1024 + 1));
  await counted(429, { key: account.key, body: ask('hi') });
  // There is room for one of them; the rest of its body does not come.
  const large = await gateway.account();
  const announced = [1, 2].map(() => sendPartly(COUNT, large, 40 * 1024 * 1024));
  const [late, refused] = (await Promise.all(announced)).sort((one, two) => one.status - two.status);
  verify(408, late as Reply);
  verify(503, refused as Reply);
}
