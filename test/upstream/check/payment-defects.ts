// Defects of the payment plugin that the guide shows, each with a check that has to find it.

export interface Defect {
  readonly what: string;
  readonly from: string | RegExp;
  readonly to: string;
  /** A check that has to fail. */
  readonly failing: string;
}

/** How the guide's plugin sends its secret. */
const BEARER = `authorization: \`Bearer \${secret}\`, `;

export const DEFECTS: readonly Defect[] = [
  {
    what: 'credits before it is paid',
    from: "['new', 'pending']",
    to: "['new', 'succeeded']",
    failing: 'fetch: takes `new` for pending',
  },
  {
    what: 'takes an unknown state for paid',
    from: 'STATES.get(state)',
    to: "STATES.get(state) ?? 'succeeded'",
    failing: 'fetch: takes no unknown state for paid or declined',
  },
  {
    what: 'takes an unknown state for declined',
    from: 'STATES.get(state)',
    to: "STATES.get(state) ?? 'canceled'",
    failing: 'find: takes no unknown state for paid or declined',
  },
  {
    what: 'takes kopecks for roubles',
    from: /BigInt\(kopecks\) \* MICRO_PER_KOPECK/,
    to: 'BigInt(kopecks) * 1_000_000n',
    failing: 'fetch: takes the sum from the answer',
  },
  {
    what: 'counts money in doubles',
    from: /BigInt\(kopecks\) \* MICRO_PER_KOPECK/,
    to: 'kopecks * 10_000',
    failing: 'fetch: takes the sum from the answer',
  },
  {
    what: 'says of every sum that it is the one that was ordered',
    from: /BigInt\(kopecks\) \* MICRO_PER_KOPECK/,
    to: '1_234_560_000n',
    failing: 'fetch: takes the sum from the answer',
  },
  {
    what: 'says of every currency that it is roubles',
    from: 'MICRO_PER_KOPECK, currency,',
    to: "MICRO_PER_KOPECK, currency: 'RUB',",
    failing: 'fetch: takes currency from the answer: USD',
  },
  {
    what: 'never says that it is a test',
    from: 'test: test === true',
    to: 'test: false',
    failing: 'fetch: takes test from the answer: true',
  },
  {
    what: 'always says that it is a test',
    from: 'test: test === true',
    to: 'test: true',
    failing: 'fetch: takes test from the answer: false',
  },
  {
    what: 'says of every payment that it is to the own shop',
    from: 'shop: paidTo, test:',
    to: 'shop, test:',
    failing: 'fetch: takes shop from the answer: another-shop',
  },
  {
    what: 'takes what another order paid',
    from: 'item?.order === id',
    to: 'item',
    failing: 'find: finds no payment of another order',
  },
  {
    what: 'says of every payment that it is of this order',
    from: "order: typeof order === 'string' ? order : null",
    to: "order: 'pay_0190check0000000000000000000000000001'",
    failing: 'fetch: takes order from the answer: pay_another',
  },
  {
    what: 'has no reason of a decline',
    from: "{ kind: REASONS.get(why) ?? 'soft', code: String(why ?? 'declined') }",
    to: 'null',
    failing: 'fetch: takes `declined` for canceled',
  },
  {
    what: 'sends no key',
    from: "if (key) headers['idempotency-key'] = key;",
    to: '',
    failing: 'start: sends the key of the order, the same in a repeat',
  },
  {
    what: 'sends another key each time',
    from: '= key;',
    to: '= key + Math.random();',
    failing: 'start: sends the key of the order, the same in a repeat',
  },
  ...[
    { what: 'adds to the key', to: "= key + '-1';" },
    { what: 'adds the time to the key', to: '= key + Date.now();' },
    { what: 'adds something before the key', to: "= 'order ' + key;" },
  ].map((defect) => ({
    ...defect,
    from: '= key;',
    failing: 'refund: sends the key of the order, the same in a repeat',
  })),
  ...[
    { what: 'takes every decline for one that may be tried again', from: "REASONS.get(why) ?? 'soft'", to: "'soft'" },
    { what: 'loses the words of a decline', from: "String(why ?? 'declined')", to: "'declined'" },
  ].map((defect) => ({ ...defect, failing: 'fetch: takes the reason of a decline from the answer' })),
  ...['console.log', 'console.warn', 'process.stdout.write', 'host.log.warn'].map((print) => ({
    what: `shows its secret by ${print}`,
    from: "if (key) headers['idempotency-key'] = key;",
    to: `if (key) headers['idempotency-key'] = key; ${print}('asking with ' + JSON.stringify(headers));`,
    failing: 'start: keeps the secret out of URLs',
  })),
  ...[
    { what: 'sends payers to any host of a domain', to: "redirectHosts: ['pay.acme.example', '*.acme.example']" },
    { what: 'sends payers to hosts of others', to: "redirectHosts: ['pay.acme.example', 'acme.example.com']" },
  ].map((defect) => ({
    ...defect,
    from: "redirectHosts: ['pay.acme.example']",
    failing: 'start: sends payers to no hosts but those of its vendor',
  })),
  {
    what: 'sends payers wherever an answer says',
    from: "if (typeof answer.id !== 'string' ||",
    to: "this.redirectHosts.push(new URL(answer.link).host);\nif (typeof answer.id !== 'string' ||",
    failing: 'start: sends payers to no hosts but those of its vendor',
  },
  {
    what: 'asks for another sum',
    from: 'kopecks: Number(amount / MICRO_PER_KOPECK), currency',
    to: 'kopecks: Number(amount / MICRO_PER_KOPECK) + 1, currency',
    failing: 'start: asks for the sum of the order, and names it',
  },
  {
    what: 'does not name its order',
    from: '{ order: id, kopecks',
    to: '{ kopecks',
    failing: 'start: asks for the sum of the order, and names it',
  },
  {
    what: 'gives another sum back',
    from: 'payment: of, kopecks: Number(amount / MICRO_PER_KOPECK)',
    to: 'payment: of, kopecks: 5',
    failing: 'refund: asks for the sum of the order, and names it',
  },
  {
    what: 'has its secret in the URL',
    from: 'host.json(baseUrl + path,',
    to: "host.json(baseUrl + path + (path.includes('?') ? '&' : '?') + 'secret=' + secret,",
    failing: 'fetch: keeps the secret out of URLs',
  },
  ...[
    { what: 'does not say who asks', to: '' },
    { what: 'says who asks without the secret', to: "authorization: 'Bearer anybody', " },
    { what: 'proves who asks with orders alone', to: `...(method === 'POST' && { ${BEARER}}), ` },
    { what: 'says another secret each time', to: `${BEARER.replace('secret', 'secret + Math.random()')}` },
  ].map((defect) => ({ ...defect, from: BEARER, failing: 'fetch: proves who asks, by the secret of the settings' })),
  {
    what: 'proves who asks with everything but refunds',
    from: BEARER,
    to: `...(path !== '/refunds' && { ${BEARER}}), `,
    failing: 'refund: proves who asks, by the secret of the settings',
  },
  ...[
    { what: 'says nothing of refunds', from: 'refunds: refunds.map(base)', to: 'refunds: []' },
    { what: 'says the first refund only', from: 'refunds.map(base)', to: 'refunds.slice(0, 1).map(base)' },
    { what: 'says the last refund only', from: 'refunds.map(base)', to: 'refunds.slice(-1).map(base)' },
    {
      what: 'says only the refunds that were made',
      from: 'refunds.map(base)',
      to: "refunds.map(base).filter(({ status }) => status === 'succeeded')",
    },
    {
      what: 'takes a refund that is on its way for one that was made',
      from: 'refunds.map(base)',
      to: "refunds.map(base).map((one) => ({ ...one, status: 'succeeded' }))",
    },
    {
      what: 'says of each refund that all went back',
      from: 'refunds.map(base)',
      to: 'refunds.map(base).map((one) => ({ ...one, amount: state.amount }))',
    },
    {
      what: 'does not say which refund is ours',
      from: 'refunds.map(base)',
      to: 'refunds.map(base).map((one) => ({ ...one, order: null }))',
    },
    {
      what: 'gives all refunds one id',
      from: 'refunds.map(base)',
      to: 'refunds.map(base).map((one) => ({ ...one, id: state.id }))',
    },
    {
      what: 'says one refund of the whole sum instead of several',
      from: 'refunds.map(base)',
      to: 'refunds.map(base).reduce((all, one) => [{ ...one, amount: one.amount + (all[0]?.amount ?? 0n) }], [])',
    },
  ].map((defect) => ({
    ...defect,
    failing: 'fetch: says each refund of a payment: its id, its sum, its state, and which of ours it is',
  })),
  {
    what: 'says of a payment what is left of it',
    from: 'refunds: refunds.map(base), reason };',
    to: 'amount: refunds.map(base).reduce((left, { amount }) => left - amount, state.amount), refunds: refunds.map(base), reason };',
    failing: 'fetch: says of a payment that went back what was paid, and that it was',
  },
  {
    what: 'takes a payment that went back for one that never was',
    from: 'refunds: refunds.map(base), reason };',
    to: "status: refunds.length === 1 ? 'canceled' : state.status, refunds: refunds.map(base), reason };",
    failing: 'fetch: says of a payment that went back what was paid, and that it was',
  },
  {
    what: 'says refunds that there are not',
    from: 'refunds.map(base)',
    to: '[...refunds, answer].map(base)',
    failing: 'fetch: says of a payment that nothing went back of it',
  },
  {
    what: 'takes an unknown state of a refund for made',
    from: 'refunds.map(base)',
    to: "refunds.map((one) => base({ ...one, state: STATES.has(one.state) ? one.state : 'paid' }))",
    failing: 'fetch: takes no unknown state of a refund for made or refused',
  },
  {
    what: 'takes a refund that it asked for as made, whatever the answer',
    from: "return base(await ask('POST', '/refunds', { signal, key, body }))",
    to: "return base({ ...(await ask('POST', '/refunds', { signal, key, body })), state: 'paid' })",
    failing: 'refund: takes no unknown state for made or refused',
  },
  {
    what: 'does not say which of ours it gave back',
    from: "return base(await ask('POST', '/refunds', { signal, key, body }))",
    to: "return { ...base(await ask('POST', '/refunds', { signal, key, body })), order: null }",
    failing: 'refund: says what became of it',
  },
  {
    what: 'has a secret that the gateway does not know as one',
    from: '.meta({ secret: true })',
    to: '',
    failing: 'provider: has a secret where it takes real money',
  },
  {
    what: 'sends payers anywhere',
    from: "redirectHosts: ['pay.acme.example']",
    to: "redirectHosts: ['pay.acme.test']",
    failing: 'start: resolves to a link that the payer may follow',
  },
  {
    what: 'throws at rubbish in a webhook',
    from: /try \{\n(.*?)\} catch \{\n\s*return 'rejected';\n\s*\}/s,
    to: '$1',
    failing: 'webhook: is rejected, not thrown at, where it is rubbish',
  },
  {
    what: 'takes every webhook for one of a payment',
    from: /notice\(\{ body \}\) \{/,
    to: "notice() { return { fetch: ['any'] };",
    failing: 'webhook: names the payment that it is of, and nothing it says changes that',
  },
  {
    what: 'takes what is no text for the id of a payment',
    from: "return typeof id === 'string' ? { fetch: [id] } : 'rejected';",
    to: 'return { fetch: [id] };',
    failing: 'webhook: is rejected, not thrown at, where it is rubbish',
  },
  {
    what: 'believes the state of a webhook',
    from: "return typeof id === 'string' ?",
    to: 'return JSON.parse(body).kopecks > 1 ?',
    failing: 'webhook: names the payment that it is of, and nothing it says changes that',
  },
  {
    what: 'ignores an abort',
    from: '{ method, headers, signal,',
    to: '{ method, headers, signal: new AbortController().signal,',
    failing: 'start: ends at its abort, and its connection with it',
  },
  {
    what: 'asks again by itself',
    from: /const \{ value \} = await (host\.json\(.*\));\n/,
    to: 'const go = () => $1;\nconst { value } = await go().catch(go);\n',
    failing: 'start: is done once when the answer is lost, and nobody knows what came of it',
  },
  {
    what: 'says that a lost order never began',
    from: /const \{ value \} = await (host\.json\(.*\));\n/,
    to: "const { value } = await $1.catch(() => { throw host.fault.make('request', 'refused'); });\n",
    failing: 'start: is done once when the answer is lost, and nobody knows what came of it',
  },
  {
    what: 'takes an answer without a link',
    from: "|| typeof answer.link !== 'string'",
    to: '',
    failing: 'start: takes no rubbish for an answer',
  },
  {
    what: 'throws errors of its own',
    from: "host.fault.make('protocol', `the answer",
    to: "new Error('protocol', `the answer",
    failing: 'fetch: takes no rubbish for an answer',
  },
  {
    what: 'reads what is not there',
    from: "if (typeof value !== 'object' || value === null) throw broken('object');",
    to: '',
    failing: 'fetch: takes no rubbish for an answer',
  },
  {
    what: 'remembers keys longer than anybody',
    from: 'keysLiveMs: 24 *',
    to: 'keysLiveMs: 48 *',
    failing: 'provider: knows how long keys live, a day at most',
  },
  {
    what: 'remembers keys for less than the gateway needs',
    from: 'keysLiveMs: 24 * 3_600_000',
    to: 'keysLiveMs: 300_000',
    failing: 'provider: knows how long keys live, a day at most',
  },
  {
    what: 'has no way to pay',
    from: "methods: ['card']",
    to: 'methods: []',
    failing: 'provider: has a way to pay, and knows its shop',
  },
  {
    what: 'sends payers to a URL',
    from: "redirectHosts: ['pay.acme.example']",
    to: "redirectHosts: ['pay.acme.example', 'pay.acme.example/cards']",
    failing: 'provider: sends payers to hosts, not to URLs',
  },
  {
    what: 'takes less at most than at least',
    from: "methods: ['card'],",
    to: "methods: ['card'], limits: { card: { min: 200_000_000n, max: 100_000_000n } },",
    failing: 'provider: has limits the right way round',
  },
  ...['start: takes status 401 for auth', 'fetch: says `missing` of a payment that the vendor does not have'].map(
    (failing) => ({
      what: `says of every refusal that it is a failure: ${failing}`,
      from: /const \{ value \} = await (host\.json\(.*\));\n/,
      to: "const { value } = await $1.catch(() => { throw host.fault.make('server', 'failed'); });\n",
      failing,
    }),
  ),
];
