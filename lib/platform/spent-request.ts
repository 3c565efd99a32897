// What Node and hapi keep of a request until its reply ends, although nothing reads it once a stream has started: the
// head of the request as text and as fields, the head of the reply, and hapi's places for cookies, queries and plugins.
// Node only checks that the reply has a head (`_header` in its lib/_http_outgoing.js).
import type { Request } from '@hapi/hapi';

const NOTHING = Object.freeze({});
const NONE: never[] = [];

/** What hapi's request has of it; none of it is read after `h.abandon`. */
const SPENT = {
  headers: NOTHING,
  query: NOTHING,
  params: NOTHING,
  paramsArray: NONE,
  pre: NOTHING,
  preResponses: NOTHING,
  plugins: NOTHING,
  orig: NOTHING,
  logs: NONE,
  _states: NOTHING,
};

/** Frees more than a kilobyte of an open stream, whose headers have been sent. */
export function letGoOfHead(request: Request): void {
  const { req, res } = request.raw;
  req.headers = {};
  req.rawHeaders = NONE;
  if (res.headersSent) Object.assign(res, { _header: 'sent' });
  Object.assign(request, SPENT);
}
