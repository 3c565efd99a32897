// Every status of the video endpoints, for the test of replies against the API document.
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { type Reply, type SendOptions, until } from '../../testkit/client.ts';
import { filmCatalog, inState, startFilmUpstream, status } from '../../testkit/film-upstream.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { forgetReplies } from '../../testkit/repeats.ts';

export const VIDEOS = '/api/v1/videos';

export interface Showing {
  verify(path: string, status: number, options: SendOptions, url: string): Promise<Reply>;
  /** Announces a body of this length and sends only its first byte. */
  verifyPartly(status: number, partly: { account: TestAccount; length: number; url: string }): Promise<void>;
}

const ENV = { VIDEO_POLL_MS: '20', RATE_LIMIT_PER_MINUTE: '4', VIDEO_RATE_LIMIT_PER_MINUTE: '200' };
const FILM = { model: 'film-a', prompt: 'A red square' };

export async function showVideos({ verify, verifyPartly }: Showing): Promise<void> {
  const upstream = await startFilmUpstream();
  const timings = { bodyLimits: { idleMs: 500 } };
  const gateway = await startGateway({ catalog: filmCatalog(upstream.url), env: ENV, timings });
  const { url } = gateway;
  const post = (wanted: number, key: string | undefined, body: unknown = FILM) =>
    verify(VIDEOS, wanted, { body, ...(key !== undefined && { key }) }, url);
  const look = (wanted: number, key: string | undefined, id: string) =>
    verify(`${VIDEOS}?id=${id}`, wanted, key === undefined ? {} : { key }, url);
  try {
    const { key } = await gateway.account();
    const { id } = (await post(200, key)).json;
    await until(async () => (await look(200, key, id)).json.status === 'completed');
    upstream.behave({ look: inState('failed', { task_status_msg: 'no' }) });
    const failing = (await post(200, key, { ...FILM, size: '720x1280', resolution: '1080p' })).json.id;
    await until(async () => (await look(200, key, failing)).json.refunded === true);
    await post(400, key, { ...FILM, seconds: 3 });
    await post(503, key, { ...FILM, model: 'film-off' });
    await post(429, key);
    await showRefusals();
    await post(401, undefined);
    await post(402, (await gateway.account('0')).key);
    upstream.behave({ submit: status(500) });
    await post(502, (await gateway.account()).key);
    await look(400, key, '');
    await look(401, undefined, id);
    await look(404, (await gateway.account()).key, id);
    const headers = { 'idempotency-key': 'order-1' };
    const other = await gateway.account();
    upstream.behave({});
    const repeat = (wanted: number, body: object) => verify(VIDEOS, wanted, { key: other.key, headers, body }, url);
    await repeat(200, FILM);
    await repeat(422, { ...FILM, prompt: 'A blue square' });
    await forgetReplies(gateway.store);
    await repeat(409, FILM);
    const patient = await gateway.account();
    await verifyPartly(413, { account: patient, length: 48 * 1024 * 1024 + 1, url });
    await verifyPartly(408, { account: patient, length: 100, url });
    await verify(VIDEOS, 415, { body: 'hi', headers: { 'content-type': 'text/plain' }, key: patient.key }, url);
    await gateway.checkMoney();
    await showFailures(gateway, id);
  } finally {
    await gateway.stop();
    await upstream.close();
  }

  async function showRefusals(): Promise<void> {
    const suspended = await gateway.account();
    await gateway.store.accounts.setStatus(suspended.id, 'suspended');
    await post(403, suspended.key);
    await look(403, suspended.key, 'vid_1');
    const busy = await gateway.account();
    let last: Reply | undefined;
    for (let turn = 0; turn < 200; turn += 1) last = await look(404, busy.key, 'vid_1');
    expect(last?.status).to.equal(404);
    await look(429, busy.key, 'vid_1');
  }

  async function showFailures({ store, databaseUrl }: TestGateway, id: string): Promise<void> {
    const lost = await gateway.account();
    const account = await gateway.account();
    const job = await store.jobs.get(id);
    await store.jobs.put([{ ...(job as NonNullable<typeof job>), wallet: account.id, result: 'damaged' }]);
    await look(500, account.key, id);
    const database = new DatabaseSync(databaseUrl.slice('sqlite:'.length), { timeout: 5_000 });
    database.exec('PRAGMA foreign_keys = OFF');
    // The gateway knows a key for a second.
    await look(404, lost.key, 'vid_1');
    database.prepare('DELETE FROM wallets WHERE id = ?').run(lost.id);
    await post(500, lost.key);
    database.exec('ALTER TABLE jobs RENAME TO gone');
    database.close();
    await look(503, account.key, id);
  }
}
