// The stops of a tour at parts of pages that a query or an unusual account shows.
import type { Stop } from './page-tour.ts';

const PHASES = ['created', 'pending', 'credited', 'disputed', 'failed', 'partly_refunded', 'refunded', 'waiting'];
const LONG_AGO = 'from=2020-01-01&to=2020-03-31';

/** What a page says after a change, its filters and its other parts. */
const OF_OWNER: Readonly<Record<string, readonly string[]>> = {
  calls: ['kind=image', 'state=done', 'state=failed', 'whole=yes', 'id=req_none', 'before=none', LONG_AGO],
  keys: ['done=revoked', 'ended=all'],
  'keys/management': ['done=revoked'],
  models: [
    ...['sandbox-lite', 'smart', 'sandbox-vision', 'sandbox-embedding', 'sandbox-image', 'sandbox-video'].map(
      (model) => `model=${model}&characters=8000&answer=600&max=900&seconds=5&images=2&cached=50`,
    ),
    'model=none',
    'model=sandbox-lite&characters=many',
  ],
  papers: ['done=details', 'before=1-x', 'before=x'],
  people: ['done=saved', 'done=removed', 'done=revoked', 'done=none'],
  playground: ['prompt=Hi&model=sandbox-heavy', 'kind=image&prompt=Hi'],
  settings: ['done=saved', 'done=password', 'done=sessions', 'done=app_off'],
  'settings/alerts': ['done=saved', 'done=tested'],
  statement: ['month=2020-01', 'month=x'],
  usage: [
    ...['charged', 'calls', 'tokens', 'failed'].map((show) => `show=${show}`),
    ...['key', 'kind', 'member', 'user', 'run'].map((by) => `by=${by}`),
    ...['hour', 'day', 'month'].map((unit) => `unit=${unit}&${LONG_AGO}`),
    'compare=yes&by=model',
    ...['by=key&split=model&kind=text', 'by=day&split=kind', 'by=model&split=model'],
    'model=sandbox-lite&kind=text',
    'model=sandbox-heavy',
    'from=2020-02-01&to=2020-01-01',
  ],
  wallet: [...['removed', 'auto', 'auto_off', 'promo'].map((done) => `done=${done}`), 'before=3', 'payments=x'],
};

const OF_OPERATOR: Readonly<Record<string, readonly string[]>> = {
  accounts: ['q=sandbox', 'filter=silent', 'filter=unpaid', 'sort=balance', 'sort=name', 'page=2', 'q=@example.com'],
  alerts: ['done=tested'],
  audit: ['before=4'],
  calls: [
    ...['outcome=failed', 'model=sandbox-lite', 'ending=answered', 'ending=failed', 'faults=yes', 'reason=500'],
    ...['upstream=none', 'before=1 0 x', 'from=2020-01-01T00:00', 'to=2020-01-01T00:00'],
  ],
  catalog: ['done=saved'],
  'management-keys': ['done=revoked'],
  notices: ['only=ours', 'done=done', 'done=again', 'done=rejected', 'done=gone', 'before=ntc_1'],
  papers: ['done=saved'],
  'papers/bank': [
    ...['done=imported&added=3&known=2', 'done=credited&count=2', 'done=credited&count=2&left=1', 'done=dismissed'],
    ...['done=reopened', 'before=1-x'],
  ],
  payments: [...PHASES.map((phase) => `phase=${phase}`), 'before=x'],
  'payments/all': ['from=2020-01-01&to=2020-01-31', 'before=x'],
  people: ['q=example'],
  promo: ['done=done', 'after=SPRING'],
};

export function listQueryStops(account: string, payment: string): readonly Stop[] {
  return [
    ...makeStops('newcomer', '/account/', ['papers', 'statement', 'connect', 'people', 'settings', 'settings/alerts']),
    ...makeStops('stopped', '/account/', ['keys', 'wallet', 'papers', 'playground']),
    ...Object.entries(OF_OWNER).flatMap(([page, queries]) => makeStops('owner', `/account/${page}?`, queries)),
    ...Object.entries(OF_OPERATOR).flatMap(([page, queries]) => makeStops('operator', `/admin/${page}?`, queries)),
    ...makeStops('operator', `/admin/accounts/${account}?`, ['done=done', 'done=exists', 'done=corrected']),
    ...makeStops('operator', `/admin/accounts/${account}/calls?`, ['whole=yes', 'kind=image', 'before=none']),
    ...makeStops('operator', `/admin/payments/${payment}?`, ['done=done', 'done=exists', 'done=looked']),
    ...makeStops('operator', '/admin?', ['span=month', 'day=2020-01-01']),
  ];
}

function makeStops(as: Stop['as'], start: string, ends: readonly string[]): readonly Stop[] {
  return ends.map((end) => ({ as, route: start, path: `${start}${end}`, name: `${start}${end}` }));
}
