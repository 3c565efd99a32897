import { setTimeout as sleep } from 'node:timers/promises';
import type { Request } from '@hapi/hapi';
import { expect } from 'chai';
import { createRequestState, getRequestState, measureStoreWait } from '../../lib/http/request-state.ts';
import { itTimed } from '../../testkit/timed.ts';

describe('state of a request', () => {
  it('is created once, with a unique id', () => {
    const ids = new Set(Array.from({ length: 1000 }, () => createRequestState().id));
    expect(ids.size).to.equal(1000);
    for (const id of ids) expect(id).to.match(/^req_[0-9a-f]{32}$/);
    const hapi = { app: {} } as unknown as Request;
    expect(getRequestState(hapi)).to.equal(getRequestState(hapi));
  });

  itTimed('has an id that starts with the time, so that later ids sort after it', () => {
    const from = Date.now();
    const times = Array.from({ length: 600 }, () => Number.parseInt(createRequestState().id.slice(4, 16), 16));
    for (const time of times) expect(time).to.be.within(from, Date.now());
    expect(new Set(Array.from({ length: 600 }, () => createRequestState().id.slice(16))).size).to.equal(600);
  });

  itTimed('adds up its waits for the store, including failed ones', async () => {
    const state = createRequestState();
    expect(state.waitedMs).to.equal(0);
    expect(await measureStoreWait(state, sleep(30, 'answer'))).to.equal('answer');
    const first = state.waitedMs;
    expect(first).to.be.at.least(20);
    const failed = measureStoreWait(
      state,
      sleep(30).then(() => Promise.reject(new Error('down'))),
    );
    expect(await failed.catch(({ message }: Error) => message)).to.equal('down');
    expect(state.waitedMs - first).to.be.at.least(20);
  });
});
