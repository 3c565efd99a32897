#!/usr/bin/env node
// The command of the package: refuses a Node that is too old in one line, in syntax that such a Node can read.
'use strict';
const needed = /\d+\.\d+/.exec(require('../package.json').engines.node)[0];
const found = process.versions.node;
const [major, minor] = needed.split('.').map(Number);
const [foundMajor, foundMinor] = found.split('.').map(Number);

if (foundMajor < major || (foundMajor === major && foundMinor < minor)) {
  process.stderr.write(`tollgate: Node ${needed} or newer is needed, and this is Node ${found}.\n`);
  process.exitCode = 1;
} else {
  // As `npm start` does in a checkout; the environment wins.
  if (require('node:fs').existsSync('.env')) process.loadEnvFile('.env');
  import('../dist/lib/cli/main.js');
}
