// The server's limit for clients that read nothing, beside that of a stream.
import { connect } from 'node:net';
import { expect } from 'chai';
import { styleAt } from '../../lib/api/response-styles.ts';
import { createHttp } from '../../lib/http/server.ts';
import { SseReply } from '../../lib/http/sse-reply.ts';
import { until } from '../../testkit/client.ts';
import { itTimed } from '../../testkit/timed.ts';

describe('clients that read nothing', () => {
  itTimed('are disconnected from a stream after the time of the server, and no sooner', async () => {
    const stallMs = 800;
    const http = createHttp({ styleAt, host: '127.0.0.1', port: 0, stallMs });
    let tookMs = 0;
    http.server.route({
      method: 'GET',
      path: '/',
      handler({ raw: { res } }, h) {
        const startedAt = performance.now();
        res.once('close', () => {
          tookMs = performance.now() - startedAt;
        });
        const reply = new SseReply(res, { headers: {}, stallMs });
        reply.open();
        void reply.write('x'.repeat(50_000_000));
        return h.abandon;
      },
    });
    await http.start();
    const lazy = connect(Number(http.server.info.port), '127.0.0.1').pause();
    lazy.on('error', () => undefined).write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await until(() => tookMs > 0);
    expect(tookMs).to.be.within(stallMs - 5, 5 * stallMs);
    lazy.destroy();
    await http.close(async () => undefined);
  });
});
