// The parts of `node:http` we use, without an `import` of it: that would read every export of the module, and the
// getters of some load a WebSocket client (`lazyUndici` in Node's lib/http.js), a thirtieth of a start.
import assert from 'node:assert/strict';

const http = process.getBuiltinModule('node:http');
assert(http, 'Node has HTTP');

export const { createServer, STATUS_CODES } = http;
