// What is used of `node:http`, without an `import` of it: that reads every export of the module, and the getters of some
// of them load a client of web sockets (`lazyUndici` in Node's lib/http.js), a thirtieth of a start.
import assert from 'node:assert/strict';

const http = process.getBuiltinModule('node:http');
assert(http, 'Node has HTTP');

export const { createServer, STATUS_CODES } = http;
