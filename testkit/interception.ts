// nock, switched on only while a test asks for it: on import it patches the whole process, and every other test's real
// sockets would go through it.
import nock from 'nock';

nock.restore();

/** Call in a `describe`: between its first and last test every request is intercepted, and none leaves. */
export function interceptRequests(): void {
  before(() => {
    nock.activate();
    nock.disableNetConnect();
  });
  after(() => {
    nock.cleanAll();
    nock.enableNetConnect();
    nock.restore();
  });
}

export { nock };
