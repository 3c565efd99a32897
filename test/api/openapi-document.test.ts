// The API document is made on a thread, once.
import Hapi from '@hapi/hapi';
import { expect } from 'chai';
import { openapiRoute } from '../../lib/api/routes/openapi.ts';

describe('the thread of the API document', () => {
  it('makes it once, and again after a failure', async () => {
    let asked = 0;
    // A function cannot be sent to a thread.
    const urls: readonly unknown[] = [() => 'no text', 'https://gateway.example'];
    const server = Hapi.server();
    server.route(openapiRoute({ publicUrl: () => urls[asked++] as string }));
    const get = () => server.inject({ url: '/openapi.json', auth: { strategy: 'none', credentials: {} } });
    expect((await get()).statusCode).to.equal(500);
    const [one, other] = await Promise.all([get(), get()]);
    expect(JSON.parse(one.payload).servers).to.deep.equal([{ url: 'https://gateway.example' }]);
    expect(other.payload).to.equal(one.payload);
    expect(asked).to.equal(2);
  });
});
