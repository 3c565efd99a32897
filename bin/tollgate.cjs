#!/usr/bin/env node
// The command of the package: refuses a Node that is too old in one line, in syntax that such a Node can read.
'use strict';
// As in package.json; earlier ones lack parts of `node:crypto` and `node:sqlite`, or have bugs there.
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < 24 || (major === 24 && minor < 14) || (major === 25 && minor < 5)) {
  process.stderr.write(`tollgate: Node 24.14, 25.5 or newer is needed, and this is Node ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  // As `npm start` does in a checkout; the environment wins.
  if (require('node:fs').existsSync('.env')) process.loadEnvFile('.env');
  void import('../dist/lib/cli/main.js');
}
