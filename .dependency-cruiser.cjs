// Which way imports point: `npm run imports` checks it. Type imports count.

/** From the bottom up: a file imports only from its own layer and those below. */
const LAYERS = [
  [
    'lib/base62.ts',
    'lib/count.ts',
    'lib/for-each.ts',
    'lib/faults.ts',
    'lib/gate.ts',
    'lib/config.ts',
    'lib/operator-error.ts',
    'lib/package.ts',
    'lib/network.ts',
    'lib/fair-gate.ts',
    'lib/compile-cache.ts',
  ],
  ['lib/platform/'],
  ['lib/money/'],
  ['lib/stream/'],
  ['lib/store/'],
  ['lib/plugin/', 'lib/wire/', 'lib/ledger/', 'lib/accounts/', 'lib/users/', 'lib/media/'],
  ['lib/catalog/', 'lib/alerts/'],
  ['lib/call/', 'lib/smart/'],
  ['lib/text/', 'lib/images/', 'lib/videos/', 'lib/jobs/', 'lib/payments/'],
  ['lib/http/'],
  ['lib/api/', 'lib/web/', 'lib/metrics/'],
  ['lib/sandbox.ts', 'lib/chores.ts', 'lib/gateway.ts'],
  ['lib/workers/'],
  ['lib/main.ts', 'lib/serve.ts', 'lib/cli/'],
];

/** Rooms that others enter through one file only. */
const DOORS = [['lib/smart/', 'lib/smart/route.ts']];

/** What a plugin may import from us: types of one file. */
const CONTRACTS = { providers: 'lib/plugin/contract.ts', payments: 'lib/plugin/payment-contract.ts' };

const startsWith = (paths) => `^(?:${paths.map((path) => path.replaceAll('.', '\\.')).join('|')})`;

const layerRules = LAYERS.map((layer, at) => ({
  name: `nothing above ${layer[0]}`,
  severity: 'error',
  from: { path: startsWith(layer) },
  to: { path: '^lib/', pathNot: startsWith(LAYERS.slice(0, at + 1).flat()) },
}));

const doorRules = DOORS.map(([room, door]) => ({
  name: `only through ${door}`,
  severity: 'error',
  from: { path: '^lib/', pathNot: startsWith([room]) },
  to: { path: startsWith([room]), pathNot: startsWith([door]) },
}));

const contractRules = Object.entries(CONTRACTS).flatMap(([folder, contract]) => [
  {
    name: `plugins in ${folder} import only their contract`,
    severity: 'error',
    from: { path: `^${folder}/([^/]+)/` },
    to: {
      path: '^(?:lib|providers|payments|scripts|test|testkit)/',
      pathNot: [`^${folder}/$1/`, startsWith([contract])],
    },
  },
  {
    name: `plugins in ${folder} import only types of their contract`,
    severity: 'error',
    from: { path: `^${folder}/` },
    to: { path: startsWith([contract]), dependencyTypesNot: ['type-only'] },
  },
]);

module.exports = {
  forbidden: [
    { name: 'no circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'every file of lib has a layer',
      severity: 'error',
      from: { path: '^lib/', pathNot: startsWith(LAYERS.flat()) },
      to: {},
    },
    ...layerRules,
    ...doorRules,
    ...contractRules,
  ],
  options: { parser: 'swc', tsPreCompilationDeps: true, doNotFollow: { path: 'node_modules' } },
};
