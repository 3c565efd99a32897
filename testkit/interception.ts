// nock, enabled only while a test needs it: on import it patches the whole process, and every other test's real
// sockets would go through it.
import nock from 'nock';

nock.restore();

/** Call in a `describe`: between its first and last test, every request is intercepted, and none gets out. */
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
